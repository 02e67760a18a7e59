"""Sentence: the words that came with someone's arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from attnviz.checks.files import as_array, texts_in
from attnviz.checks.names import named
from attnviz.core.tokens import labels
from attnviz.core.trace import Trace

_OF_QUERIES = ("tokens", "words", "words_query", "words_token")
OF_KEYS = ("context_tokens", "context_words", "words_key", "words_context_token")

Texts = Mapping[str, tuple[str, ...]]


def of_words(given: Mapping[str, object]) -> dict:
    """What is called as words are."""
    return {name: given[name] for name in (*_OF_QUERIES, *OF_KEYS) if name in given}


def without_words(arrays: Mapping[str, np.ndarray]) -> tuple[Texts, dict[str, np.ndarray]]:
    """The words among the arrays, by their names, and the other arrays."""
    texts = texts_in({name: as_array(name, array) for name, array in of_words(arrays).items()}, math.inf)
    return texts, {name: array for name, array in arrays.items() if name not in texts}


def words_of(trace: Trace, texts: Texts, names: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of a pass's queries and of its keys; numbers where none of the right count came.

    Keys have the queries' words where both are made of `x`. Else they have words of their own. Where none came for
    them, they are taken for the queries if there are as many and no array is a context.

    Parameters
    ----------
    trace : Trace
    texts : mapping of str to tuple of str
    names : iterable of str
        Of the arrays that came, some of which the pass may not begin with.
    """
    _, n_queries, n_keys = trace["attention"].shape
    queries = _fitting(texts, _OF_QUERIES, n_queries)
    if _is_of_x(trace):
        return queries, queries
    is_one = n_queries == n_keys and not _has_context(names) and not any(name in texts for name in OF_KEYS)
    return queries, queries if is_one else _fitting(texts, OF_KEYS, n_keys)


def unfitting(trace: Trace, texts: Texts) -> Iterator[tuple[str, int, int]]:
    """The names of words of which there are more or fewer than queries or keys, how many they are, and of these."""
    _, n_queries, n_keys = trace["attention"].shape
    sides = ((_OF_QUERIES, n_queries), (OF_KEYS, n_keys))
    for names, n in sides[: 1 if _is_of_x(trace) else 2]:
        given = {name: len(texts[name]) for name in names if name in texts}
        if given and n not in given.values():
            name, n_words = next(iter(given.items()))
            yield name, n_words, n


def contradicted(trace: Trace, texts: Texts) -> str:
    """The name of words of keys that aren't the queries', though both are made of `x`; empty where there are none."""
    own = {texts[name] for name in _OF_QUERIES if name in texts}
    others = (name for name in OF_KEYS if name in texts and texts[name] not in own)
    return next(others, "") if _is_of_x(trace) else ""


def spoken(trace: Trace, queries: tuple[str, ...], keys: tuple[str, ...]) -> Trace:
    """A pass with the words of its queries and keys."""
    own, others = labels(queries), labels(keys)
    trace = trace.labelled(query=own, key=others)
    if "context" in trace and len(trace["context"].value) == len(others):
        trace = trace.labelled(context_token=others)
    if "x" in trace:  # of which keys may be made, and queries given
        sides = (others, own) if trace["q"].is_given else (own, others)
        fitting = [side for side in sides if len(side) == len(trace["x"].value)]
        trace = trace.labelled(token=fitting[0]) if fitting else trace
    return trace


def _is_of_x(trace: Trace) -> bool:
    """Whether queries and keys are made of one input."""
    made = all(name not in trace or not trace[name].is_given for name in "qk")
    return made and "x" in trace and "context" not in trace


def _has_context(names: Iterable[str]) -> bool:
    return any(known.stage == "context" for known in map(named, names) if known)


def _fitting(texts: Texts, names: tuple[str, ...], n: int) -> tuple[str, ...]:
    fitting = (texts[name] for name in names if len(texts.get(name, ())) == n)
    return tuple(word or str(place) for place, word in enumerate(next(fitting, ("",) * n), start=1))
