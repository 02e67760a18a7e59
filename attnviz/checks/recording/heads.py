"""All heads of a recording: the attention of each layer, why a layer has none, and statistics of each head."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from attnviz.checks.read.files import Arrays
from attnviz.checks.read.names import stage_named
from attnviz.checks.recording.recorded import Recorded, check_words
from attnviz.checks.report.compare_arrays import compare

SEPARATORS = ("[SEP]", "</s>", "<|endoftext|>", "<eos>", "<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|end|>")
_NO_WEIGHTS = (
    "No attention weights were recorded: Hugging Face’s models return them with attn_implementation='eager', "
    "nn.MultiheadAttention with need_weights=True."
)
_COMPUTED = "computed by attnviz, which gives the recorded output"
_MEAN = "the mean of all heads, as the module returned it"


@dataclass(frozen=True, eq=False)
class LayerHeads:
    """The attention of a layer's heads, or why there is none.

    Attributes
    ----------
    path : str
        The module's name in the model.
    attention : ndarray (heads, queries, keys), optional
    queries, keys : tuple of str
        Words, or numbers from 1.
    is_shared : bool
        Whether queries and keys are one text.
    note : str
        Where the weights come from, if not from the module; without weights the reason.
    """

    path: str
    attention: np.ndarray | None = None
    queries: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    is_shared: bool = False
    note: str = ""
    statistics: dict[str, np.ndarray] = field(default_factory=dict)  # from `statistics_of`; NaN where there is none


def heads_of(recorded: Recorded) -> list[LayerHeads]:
    """The heads of each layer; weights that weren't recorded are those of attnviz's pass, where that agrees.

    OwnArraysError if words are given that fit no layer.
    """
    check_words(recorded)
    return [_layer(recorded, at, path) for at, path in enumerate(recorded.paths)]


def _layer(recorded: Recorded, at: int, path: str) -> LayerHeads:
    try:
        arrays = recorded[at]
        attention, note = _weights(arrays)
    except ValueError as error:  # unread, or no pass of attnviz's
        return LayerHeads(path, note=str(error))
    if attention is None:
        heard = recorded.notes.get(path, "")
        return LayerHeads(path, note=heard if "weights were not heard" in heard else note)
    n_queries, n_keys = attention.shape[1:]
    is_shared = "context" not in arrays and n_queries <= n_keys
    queries, keys = _words(arrays, n_queries, n_keys)
    values = statistics_of(attention, is_shared=is_shared, keys=keys)
    return LayerHeads(path, attention, queries, keys, is_shared, note, values)


def _weights(arrays: Arrays) -> tuple[np.ndarray | None, str]:
    """The weights of a layer, and a note on them."""
    by_stage = {stage_named(name): array for name, array in arrays.items()}
    recorded = by_stage.get("attention")
    if recorded is not None and recorded.ndim == 3:
        weights, note = recorded, ""
    elif (computed := _computed(arrays, by_stage)) is not None:
        weights, note = computed, _COMPUTED
    elif recorded is not None and recorded.ndim == 2:
        weights, note = recorded[None], _MEAN
    else:
        return None, _NO_WEIGHTS
    if not np.isfinite(weights).all():
        return None, "Its attention weights have NaN or infinite numbers."
    return weights.astype(np.float64), note


def _computed(arrays: Arrays, stages: Collection[str]) -> np.ndarray | None:
    """The weights of attnviz's pass, if what the module made of its weights is there and agrees."""
    if not {"concat", "output"} & set(stages):
        return None
    trace, first = (found := compare(None, arrays)).trace, found.first
    return trace["attention"].value if trace is not None and first is None and "attention" in trace else None


def _words(arrays: Arrays, n_queries: int, n_keys: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    def fitting(name: str, n: int) -> tuple[str, ...] | None:
        words = tuple(map(str, arrays.get(name, ())))
        return words[-n:] if len(words) >= n else None

    numbers = tuple(map(str, range(1, max(n_queries, n_keys) + 1)))
    of_keys = "tokens" if arrays.keys().isdisjoint(("context", "context_tokens")) else "context_tokens"
    keys = fitting(of_keys, n_keys) or numbers[:n_keys]
    if "context" not in arrays and n_queries < n_keys:  # the new tokens stand last
        return fitting("tokens", n_queries) or keys[-n_queries:], keys
    return fitting("tokens", n_queries) or numbers[:n_queries], keys


def statistics_of(attention: np.ndarray, *, is_shared: bool, keys: Sequence[str] = ()) -> dict[str, np.ndarray]:
    """Statistics of each head, each a mean over queries.

    Parameters
    ----------
    attention : ndarray (heads, queries, keys)
        A key that no head gives weight from a query counts as hidden from it.
    is_shared : bool
        Whether queries are the last of the keys' tokens.
    keys : sequence of str
        The keys' words, of which separators are read.

    Returns
    -------
    dict of str to ndarray (heads,)
        entropy, in bits; spread, the entropy over its largest for the visible keys (Attention is spread evenly at 1);
        the weight on the token itself, on the one before, on the first, on the last, and on separators; and the mean
        distance in tokens. NaN where there is no such number, as of a last token that only itself sees.
    """
    _, n_queries, n_keys = attention.shape
    is_visible = np.asarray((attention > 0).any(axis=0))
    at = np.arange(n_queries) + (n_keys - n_queries if is_shared else 0)
    counted = np.asarray(is_visible.any(axis=1))
    if is_shared:  # padding is hidden from all queries; as a query it tells nothing
        counted &= is_visible[:, at].any(axis=0)
    totals = attention.sum(axis=-1, keepdims=True)
    shares = np.divide(attention, totals, out=np.zeros_like(attention), where=totals > 0)
    entropy = -(shares * np.log2(np.where(shares > 0, shares, 1))).sum(axis=-1)
    largest = np.log2(np.maximum(is_visible.sum(axis=1), 1))
    distance = (shares * np.abs(at[:, None] - np.arange(n_keys))).sum(axis=-1)
    is_last = np.zeros(n_keys, bool)
    is_last[np.flatnonzero(is_visible.any(axis=0))[-1:]] = True
    is_separator = np.array([at > 0 and word in SEPARATORS for at, word in enumerate(keys)] or is_last * False)
    nothing = np.full(len(attention), np.nan)

    def mean(values: np.ndarray, queries: np.ndarray) -> np.ndarray:
        return values[:, queries].mean(axis=1) if queries.any() else nothing

    def on(position: np.ndarray) -> np.ndarray:
        """The weight on a position for each query, which exists from 0 on."""
        return mean(attention[:, np.arange(n_queries), np.maximum(position, 0)], counted & (position >= 0))

    def on_all(positions: np.ndarray) -> np.ndarray:
        """The weight on some keys, of the queries that see any of them, if those are several."""
        sees = counted & is_visible[:, positions].any(axis=1)
        return mean(attention[:, :, positions].sum(axis=-1), sees) if sees.sum() > 1 else nothing

    return {
        "entropy": mean(entropy, counted),
        "spread": mean(entropy / np.where(largest > 0, largest, 1), counted & (largest > 0)),
        "itself": on(at) if is_shared else nothing,
        "previous": on(at - 1) if is_shared else nothing,
        "first": on(np.zeros(n_queries, int)),
        "last": on_all(is_last),
        "separator": on_all(is_separator),
        "distance": mean(distance, counted) if is_shared else nothing,
    }
