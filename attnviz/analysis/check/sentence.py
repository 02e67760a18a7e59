"""Sentence: the words that came with someone's arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from attnviz.analysis.check.files import as_array, texts_in
from attnviz.core.tokens import labels
from attnviz.core.trace import Trace

_OF_QUERIES = ("tokens", "words", "words_query", "words_token")
_OF_KEYS = ("context_tokens", "context_words", "words_key", "words_context_token")

Texts = Mapping[str, tuple[str, ...]]


def of_words(given: Mapping[str, object]) -> dict:
    """What is called as words are."""
    return {name: given[name] for name in (*_OF_QUERIES, *_OF_KEYS) if name in given}


def without_words(arrays: Mapping[str, np.ndarray]) -> tuple[Texts, dict[str, np.ndarray]]:
    """The words among the arrays, by their names, and the other arrays."""
    texts = texts_in({name: as_array(name, array) for name, array in of_words(arrays).items()})
    return texts, {name: array for name, array in arrays.items() if name not in texts}


def words_of(trace: Trace, texts: Texts) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """A pass's queries and its keys in the words that came; counted from 1 on, where not as many came."""
    words, *others = (_words(texts, names, n) for names, n in _sides(trace))
    return words, *(others or [words])


def unfitting(trace: Trace, texts: Texts) -> Iterator[tuple[str, int, int]]:
    """The names of words of which there are more or fewer than tokens, how many they are, and the tokens."""
    for names, n in _sides(trace):
        given = {name: len(texts[name]) for name in names if name in texts}
        if given and n not in given.values():
            name, n_words = next(iter(given.items()))
            yield name, n_words, n


def spoken(trace: Trace, queries: tuple[str, ...], keys: tuple[str, ...]) -> Trace:
    """A pass with the words of its queries and keys."""
    own, others = labels(queries), labels(keys)
    return trace.labelled(token=own, query=own, key=others, context_token=others)


def _sides(trace: Trace) -> list[tuple[tuple[str, ...], int]]:
    """What words may be called and how many they are: of the queries, and of the keys where these are others."""
    _, n_queries, n_keys = trace["attention"].shape
    crosses = "context" in trace or n_queries != n_keys
    return [(_OF_QUERIES, n_queries), (_OF_KEYS, n_keys)][: 1 + crosses]


def _words(texts: Texts, names: tuple[str, ...], n: int) -> tuple[str, ...]:
    fitting = (texts[name] for name in names if len(texts.get(name, ())) == n)
    return tuple(word or str(place) for place, word in enumerate(next(fitting, ("",) * n), start=1))
