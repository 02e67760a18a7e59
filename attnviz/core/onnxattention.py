"""ONNX's operator Attention, with its names and conventions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attnviz.core.arguments import quoted
from attnviz.core.arrays import as_numpy, mask_array
from attnviz.core.errors import ArrayError
from attnviz.core.projected_inputs import (
    Projections,
    batch_masks,
    n_axes_of,
    restrict_mask,
    visible_keys,
    with_batch_axes,
)
from attnviz.core.trace import Trace

_STAGES = (("scaled",), ("capped", "scaled"), ("masked",), ("attention",))
"""For each qk_matmul_output_mode the candidate stages; the first that exists is returned."""

_PRECISIONS = (1, 10, 11, 16)


class OnnxAttention(NamedTuple):
    """What `onnx_attention` returns: the four outputs of the operator, in the precision of Q, and the pass.

    Attributes
    ----------
    Y : ndarray (batch, heads, queries, d_v) or (batch, queries, heads * d_v)
        The output, with as many axes as Q has.
    present_key : ndarray (batch, groups, keys, d_k)
        The cached keys and the new ones.
    present_value : ndarray (batch, groups, keys, d_v)
        The cached values and the new ones.
    qk_matmul_output : ndarray (batch, heads, queries, keys)
        The scores or attention weights, as `qk_matmul_output_mode` chooses.
    trace : Trace
        The pass of the first sentence; its `batch` has all of them.
    """

    Y: np.ndarray
    present_key: np.ndarray
    present_value: np.ndarray
    qk_matmul_output: np.ndarray
    trace: Trace


def onnx_attention(
    Q: np.ndarray,  # noqa: N803
    K: np.ndarray,  # noqa: N803
    V: np.ndarray,  # noqa: N803
    attn_mask: np.ndarray | None = None,
    past_key: np.ndarray | None = None,
    past_value: np.ndarray | None = None,
    nonpad_kv_seqlen: np.ndarray | None = None,
    *,
    is_causal: int = 0,
    kv_num_heads: int | None = None,
    q_num_heads: int | None = None,
    qk_matmul_output_mode: int = 0,
    scale: float | None = None,
    softcap: float = 0.0,
    softmax_precision: int | None = None,
    left_window_size: int = -1,
    right_window_size: int = -1,
) -> OnnxAttention:
    """ONNX's operator Attention (opsets 23 to 25), with every stage kept.

    Parameters
    ----------
    Q : ndarray (batch, heads, queries, d_k) or (batch, queries, heads * d_k)
        The queries, of float16, bfloat16, float32 or float64; everything is computed in float64.
    K : ndarray (batch, groups, keys, d_k) or (batch, keys, groups * d_k)
        The keys.
    V : ndarray (batch, groups, keys, d_v) or (batch, keys, groups * d_v)
        The values.
    attn_mask : ndarray, optional
        Broadcasts to (batch, heads, queries, keys), cached keys included; keys beyond its last axis are hidden.
        Boolean, True where the key is visible; or float, added to the scaled scores.
    past_key, past_value : ndarray (batch, groups, kept keys, d_k or d_v), optional
        The cached keys and values of earlier tokens, which come first.
    nonpad_kv_seqlen : ndarray of int (batch,), optional
        How many keys each sentence has; the others are padding.
    is_causal : int
        Whether a query sees no later key. Query i stands at key i after the cached ones; with `nonpad_kv_seqlen` the
        last query stands at the last key that is not padding.
    kv_num_heads, q_num_heads : int, optional
        How many groups and heads; required for arrays of three axes.
    qk_matmul_output_mode : {0, 1, 2, 3}
        The scores in `qk_matmul_output`: scaled, capped, masked, or after softmax.
    scale : float, optional
        The factor of the scores; 1 / sqrt(d_k) by default.
    softcap : float
        The limit c: scaled scores become c tanh(scaled / c); 0 for none.
    softmax_precision : {1, 10, 11, 16}, optional
        ONNX's number of a float type. It has no effect, as everything is computed in float64.
    left_window_size, right_window_size : int
        How many keys a query sees before and after its own place; -1 for all.

    Returns
    -------
    OnnxAttention
        The operator's outputs, and the pass.

    Raises
    ------
    ArrayError
        If shapes don't fit each other, an attribute has an invalid value, or a number is not finite.

    References
    ----------
    https://onnx.ai/onnx/operators/onnx__Attention.html

    Examples
    --------
    >>> import numpy as np
    >>> from attnviz import onnx_attention
    >>> x = np.ones((1, 3, 8), dtype=np.float32)
    >>> found = onnx_attention(x, x, x, is_causal=1, q_num_heads=2, kv_num_heads=2, qk_matmul_output_mode=3)
    >>> found.Y.shape, found.qk_matmul_output[0, 0, 1].tolist()
    ((1, 3, 8), [0.5, 0.5, 0.0])
    """
    _check(qk_matmul_output_mode, softmax_precision, left_window_size, right_window_size)
    if isinstance(is_causal, str) or is_causal not in (0, 1):
        raise ArrayError(f"is_causal must be 0 or 1; got {quoted(is_causal)}.")
    has_heads = n_axes_of("Q", Q) == 4
    given = Projections(
        _split("Q", Q, q_num_heads, "queries", "d_k"),
        _split("K", K, kv_num_heads, "keys", "d_k"),
        _split("V", V, kv_num_heads, "keys", "d_v"),
        ("Q", "K", "V"),
    )
    n_past = 0
    if past_key is not None or past_value is not None:
        past_key, past_value = _cached(past_key, past_value, nonpad_kv_seqlen)
        given, n_past = given.after(past_key, past_value, ("past_key", "past_value")), past_key.shape[2]
    masks = batch_masks(
        "attn_mask", _padded(attn_mask, given.n_keys), (len(given.q), given.n_heads, given.n_queries, given.n_keys)
    )
    lengths = _lengths(nonpad_kv_seqlen, given)
    for place, length in enumerate(lengths):
        offset = n_past if nonpad_kv_seqlen is None else length - given.n_queries
        left, right = (None if size < 0 else size for size in (left_window_size, right_window_size))
        seen = visible_keys(given.n_queries, given.n_keys, offset, left=left, right=0 if is_causal else right)
        seen &= np.arange(given.n_keys) < length
        if not seen.all():
            masks[place] = restrict_mask(masks[place], seen)
    batch = given.passes(masks, scale=scale, softcap=softcap or None)
    dtype = (Q if isinstance(Q, np.ndarray) else np.asarray(as_numpy(Q))).dtype
    y = np.stack([each["heads" if has_heads else "concat"].value for each in batch])
    stage = next(name for name in _STAGES[qk_matmul_output_mode] if name in batch[0])
    scores = np.stack([each[stage].value for each in batch])
    y, k, v, scores = (each.astype(dtype) for each in (y, given.k, given.v, scores))
    return OnnxAttention(y, k, v, scores, batch[0].with_batch(batch))


def _check(mode: int, precision: int | None, *windows: int) -> None:
    if isinstance(mode, bool) or not isinstance(mode, int | np.integer) or mode not in range(len(_STAGES)):
        raise ArrayError(f"qk_matmul_output_mode must be 0, 1, 2 or 3; got {quoted(mode)}.")
    if precision is not None and precision not in _PRECISIONS:
        raise ArrayError(f"softmax_precision must be 1, 10, 11 or 16, a float type of ONNX; got {precision!r}.")
    for side, size in zip(("left", "right"), windows, strict=True):
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < -1:
            raise ArrayError(f"{side}_window_size must be -1, for all keys, or a number of them; got {quoted(size)}.")


def _split(name: str, array: np.ndarray, n_heads: int | None, rows: str, columns: str) -> np.ndarray:
    """The array as (batch, heads, rows, columns); heads side by side are split."""
    if (n_axes := n_axes_of(name, array)) == 4:
        return with_batch_axes(name, array, rows, columns)
    if n_axes != 3:
        raise ArrayError(f"{name} must be an array of three axes or four; got {n_axes} of {type(array).__name__}.")
    n_sentences, n_rows, width = np.shape(array)
    attribute = "q_num_heads" if name == "Q" else "kv_num_heads"
    if not isinstance(n_heads, int | np.integer) or n_heads < 1 or width % n_heads:
        came = f"{quoted(n_heads)} for {np.shape(array)}"
        raise ArrayError(f"{attribute} must divide the last axis of {name}; got {came}.")
    array = with_batch_axes(name, array, rows, columns)
    return array.reshape(n_sentences, n_rows, n_heads, width // n_heads).swapaxes(1, 2)


def _cached(
    past_key: np.ndarray | None, past_value: np.ndarray | None, lengths: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    if past_key is None or past_value is None:
        raise ArrayError("past_key and past_value belong together; got one of them.")
    if lengths is not None:
        raise ArrayError("nonpad_kv_seqlen counts keys that are all in K; got past_key, too.")
    return with_batch_axes("past_key", past_key, "keys", "d_k"), with_batch_axes(
        "past_value", past_value, "keys", "d_v"
    )


def _padded(mask: np.ndarray | None, n_keys: int) -> np.ndarray | None:
    """The mask, extended so that the keys beyond it are hidden."""
    if mask is None:
        return None
    mask = mask_array("attn_mask", mask)
    if mask.shape[-1] >= n_keys:
        return mask
    hidden = False if mask.dtype == bool else -np.inf
    return np.pad(mask, [(0, 0)] * (mask.ndim - 1) + [(0, n_keys - mask.shape[-1])], constant_values=hidden)


def _lengths(nonpad: np.ndarray | None, given: Projections) -> list[int]:
    """How many keys of each sentence are not padding."""
    if nonpad is None:
        return [given.n_keys] * len(given.q)
    lengths = np.asarray(as_numpy(nonpad))
    if lengths.shape != (len(given.q),) or lengths.dtype.kind not in "iu":
        raise ArrayError(
            f"nonpad_kv_seqlen must be whole numbers, one for each of {len(given.q)} sentences; "
            f"got {lengths.dtype} {lengths.shape}."
        )
    if lengths.min() < 0 or lengths.max() > given.n_keys:
        raise ArrayError(f"nonpad_kv_seqlen must be from 0 to the {given.n_keys} keys; got {lengths.tolist()[:8]}.")
    return lengths.tolist()
