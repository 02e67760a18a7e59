"""Token words: the words that came with a user's arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from attnviz.checks.read.files import as_array, texts_in
from attnviz.checks.read.names import named
from attnviz.core.tokens import labels
from attnviz.core.trace import Trace

_OF_QUERIES = ("tokens", "words", "words_query", "words_token")
OF_KEYS = ("context_tokens", "context_words", "words_key", "words_context_token")

Texts = Mapping[str, tuple[str, ...]]


def words_in(given: Mapping[str, object]) -> dict:
    """The entries whose names are those of words."""
    return {name: given[name] for name in (*_OF_QUERIES, *OF_KEYS) if name in given}


def without_words(arrays: Mapping[str, np.ndarray]) -> tuple[Texts, dict[str, np.ndarray]]:
    """The words among the arrays, and the other arrays."""
    texts = texts_in({name: as_array(name, array) for name, array in words_in(arrays).items()}, math.inf)
    return texts, {name: array for name, array in arrays.items() if name not in texts}


def words_of(trace: Trace, texts: Texts, names: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of a pass's queries and keys; numbers if no words have the right count.

    Keys share the queries' words if both come from `x`. If keys have no words of their own, they share them too,
    provided the counts match and no array is a context. `names` are those of the given arrays.
    """
    _, n_queries, n_keys = trace["attention"].shape
    queries = _fitting(texts, _OF_QUERIES, n_queries)
    if _is_of_x(trace):
        return queries, queries
    is_one = (
        n_queries == n_keys
        and all(known.stage != "context" for known in map(named, names) if known)
        and not any(name in texts for name in OF_KEYS)
    )
    return queries, queries if is_one else _fitting(texts, OF_KEYS, n_keys)


def wrong_counts(trace: Trace, texts: Texts) -> Iterator[tuple[str, int, int]]:
    """Words whose count matches neither queries nor keys: their name, their count and the expected one."""
    _, n_queries, n_keys = trace["attention"].shape
    sides = ((_OF_QUERIES, n_queries), (OF_KEYS, n_keys))
    for names, n in sides[: 1 if _is_of_x(trace) else 2]:
        given = {name: len(texts[name]) for name in names if name in texts}
        if given and n not in given.values():
            name, n_words = next(iter(given.items()))
            yield name, n_words, n


def conflicting_words(trace: Trace, texts: Texts) -> str:
    """The name of key words that contradict the query words although both come from `x`; "" if none do."""
    own = {texts[name] for name in _OF_QUERIES if name in texts}
    others = (name for name in OF_KEYS if name in texts and texts[name] not in own)
    return next(others, "") if _is_of_x(trace) else ""


def with_words(trace: Trace, queries: tuple[str, ...], keys: tuple[str, ...]) -> Trace:
    """A pass labelled with the words of its queries and keys."""
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
    """Whether queries and keys come from one input."""
    made = all(name not in trace or not trace[name].is_given for name in "qk")
    return made and "x" in trace and "context" not in trace


def _fitting(texts: Texts, names: tuple[str, ...], n: int) -> tuple[str, ...]:
    fitting = (texts[name] for name in names if len(texts.get(name, ())) == n)
    return tuple(word or str(place) for place, word in enumerate(next(fitting, ("",) * n), start=1))
