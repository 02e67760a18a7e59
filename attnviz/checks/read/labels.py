"""Labels: what stages and the user's arrays are called in a sentence, and the words of a pass's queries and keys."""

import math
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from attnviz.checks.read.decode_steps import CACHE_STAGES
from attnviz.checks.read.files import as_array, texts_in
from attnviz.checks.read.names import KEY_WORDS, QUERY_WORDS, WORD_NAMES, stage_named
from attnviz.core.tokens import labels
from attnviz.core.trace import Trace
from attnviz.explain.steps import full_title

MAX_NAME_CHARACTERS = 40

# How parameters, queries, keys and values are written
SYMBOLS = {f"{kind.lower()}_{letter}": f"{kind}_{letter.upper()}" for kind in "Wb" for letter in "qkvo"}
SYMBOLS |= {letter: letter.upper() for letter in "qkv"}


def shortened(name: str) -> str:
    """A user's name for an array, shortened for a sentence."""
    return name if len(name) <= MAX_NAME_CHARACTERS else f"{name[: MAX_NAME_CHARACTERS - 3]}..."


def title(stage: str) -> str:
    """The name of a stage within a sentence."""
    if stage in CACHE_STAGES:
        return f"{'values' if stage.endswith('value') else 'keys'} of the cache"
    if stage in SYMBOLS or stage == "x":
        return SYMBOLS.get(stage, "x")
    return " ".join(each if each.isupper() else each.lower() for each in full_title(stage).split())


# --- Words of queries and keys

Texts = Mapping[str, tuple[str, ...]]


def words_in(entries: Mapping[str, object]) -> dict:
    """The entries whose names are those of words."""
    return {name: entries[name] for name in WORD_NAMES if name in entries}


def without_words(arrays: Mapping[str, np.ndarray]) -> tuple[Texts, dict[str, np.ndarray]]:
    """The words among the arrays, and the other arrays."""
    texts = texts_in({name: as_array(name, array) for name, array in words_in(arrays).items()}, math.inf)
    return texts, {name: array for name, array in arrays.items() if name not in texts}


def words_of(trace: Trace, texts: Texts, names: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of a pass's queries and keys; numbers if no words have the right count.

    Keys share the queries' words if both come from `x`. If keys have no words of their own, they share them too,
    provided the counts match and none of the arrays' `names` is that of a context.
    """

    def fitting(words: tuple[str, ...], n: int) -> tuple[str, ...]:
        texts_of_n = (texts[name] for name in words if len(texts.get(name, ())) == n)
        return tuple(word or str(number) for number, word in enumerate(next(texts_of_n, ("",) * n), start=1))

    _, n_queries, n_keys = trace["attention"].shape
    queries = fitting(QUERY_WORDS, n_queries)
    has_context = "context" in map(stage_named, names)
    if _is_made_of_x(trace) or (n_queries == n_keys and not has_context and texts.keys().isdisjoint(KEY_WORDS)):
        return queries, queries
    return queries, fitting(KEY_WORDS, n_keys)


def wrong_counts(trace: Trace, texts: Texts) -> Iterator[tuple[str, int, int]]:
    """Words whose count matches neither queries nor keys: their name, their count and the expected one."""
    _, n_queries, n_keys = trace["attention"].shape
    sides = ((QUERY_WORDS, n_queries), (KEY_WORDS, n_keys))
    for names, n in sides[: 1 if _is_made_of_x(trace) else 2]:
        counts = {name: len(texts[name]) for name in names if name in texts}
        if counts and n not in counts.values():
            yield (*next(iter(counts.items())), n)


def conflicting_words(trace: Trace, texts: Texts) -> str:
    """The name of key words that contradict the query words although both come from `x`; "" if none do."""
    queries = {texts[name] for name in QUERY_WORDS if name in texts}
    others = (name for name in KEY_WORDS if name in texts and texts[name] not in queries)
    return next(others, "") if _is_made_of_x(trace) else ""


def with_words(trace: Trace, queries: tuple[str, ...], keys: tuple[str, ...]) -> Trace:
    """A pass labelled with the words of its queries and keys."""
    query_labels, key_labels = labels(queries), labels(keys)
    trace = trace.labelled(query=query_labels, key=key_labels)
    if "context" in trace and len(trace["context"].value) == len(key_labels):
        trace = trace.labelled(context_token=key_labels)
    if "x" in trace:  # x may make keys alone, where queries are given
        sides = (key_labels, query_labels) if trace["q"].is_given else (query_labels, key_labels)
        fitting = [side for side in sides if len(side) == len(trace["x"].value)]
        trace = trace.labelled(token=fitting[0]) if fitting else trace
    return trace


def _is_made_of_x(trace: Trace) -> bool:
    """Whether queries and keys come from one input."""
    return "x" in trace and "context" not in trace and not any(n in trace and trace[n].is_given for n in "qk")
