"""PyTorch's scaled_dot_product_attention, with its name and conventions."""

from __future__ import annotations

import numpy as np

from attnviz.core.arguments import check_bool, check_choice, check_int, quoted
from attnviz.core.errors import ArrayError
from attnviz.core.projected_inputs import (
    Projections,
    Tokens,
    batch_masks,
    restrict_mask,
    visible_keys,
    with_batch_axes,
    with_tokens,
)
from attnviz.core.trace import Trace

CORNERS = ("upper left", "lower right")
_NAMES = ("query", "key", "value")


def scaled_dot_product_attention(
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    attn_mask: np.ndarray | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
    causal_corner: str = "upper left",
    softcap: float | None = None,
    window: int | None = None,
    sinks: np.ndarray | None = None,
    past: tuple[np.ndarray, np.ndarray] | None = None,
    tokens: Tokens | None = None,
) -> Trace:
    """The pass of queries, keys and values, as in `torch.nn.functional.scaled_dot_product_attention`.

    The arguments up to `enable_gqa` are PyTorch's; those after it are additions of current models. Arrays or tensors
    may be float16, bfloat16, float32 or float64; everything is computed in float64.

    Parameters
    ----------
    query : ndarray (batch, heads, queries, d_k)
        The batch may be left out, or the batch and the heads.
    key : ndarray (batch, heads, keys, d_k)
        With the axes that `query` has.
    value : ndarray (batch, heads, keys, d_v)
        As `key`.
    attn_mask : ndarray, optional
        Broadcasts to (batch, heads, queries, keys). Boolean, True where the key is visible; or float, added to the
        scaled scores. (Beware: in `torch.nn.MultiheadAttention` True hides.)
    dropout_p : float
        Only 0 is allowed: dropout would make the numbers random.
    is_causal : bool
        Whether query i sees only keys 0 to i; not together with `attn_mask`.
    scale : float, optional
        The factor of the scores; 1 / sqrt(d_k) by default.
    enable_gqa : bool
        Whether `key` and `value` may have fewer heads, each of which is shared by a group of neighbouring query heads.
    causal_corner : {"upper left", "lower right"}
        If queries and new keys differ in number: whether the first of both are aligned, as in PyTorch, or the last, as
        in FlashAttention since 2.1.
    softcap : float, optional
        The limit c: scaled scores become c tanh(scaled / c), before the mask (Gemma 2).
    window : int, optional
        How many keys a query sees: its own and those right before it (Mistral).
    sinks : ndarray (heads,), optional
        An extra score for each head in its softmax, without a value (gpt-oss).
    past : (ndarray, ndarray), optional
        Cached keys and values of earlier tokens, which precede `key` and `value`. A causal query sees all of them.
    tokens : sequence of str, or two of them, optional
        A word for each key, of which the last are the queries'; or a pair, words of the queries and of the keys.

    Returns
    -------
    Trace
        q, k, v, scores, scaled, mask, masked, attention, heads and concat, and the stages of further options. PyTorch
        returns the stage heads. For a batch it is the pass of the first sentence; `batch` has all of them.

    Raises
    ------
    ArrayError
        If shapes don't fit each other, an argument has an invalid value, or a number is not finite.

    References
    ----------
    Vaswani et al. 2017, "Attention Is All You Need", equation 1. Groups: Ainslie et al. 2023, "GQA". Softcap: Gemma
    Team 2024, "Gemma 2", section 2. Window: Jiang et al. 2023, "Mistral 7B". Sinks: OpenAI 2025, "gpt-oss-120b &
    gpt-oss-20b Model Card".

    Examples
    --------
    >>> import numpy as np
    >>> from attnviz import scaled_dot_product_attention
    >>> q, k, v = np.random.default_rng(0).normal(size=(3, 2, 4, 5, 8))  # 2 sentences, 4 heads, 5 tokens
    >>> trace = scaled_dot_product_attention(q, k, v, is_causal=True, tokens="the cat sat on it".split())
    >>> trace["attention"][0, 1].round(2)  # of the second token, in the first head
    array([0.52, 0.48, 0.  , 0.  , 0.  ])
    >>> np.stack([each["heads"] for each in trace.batch]).shape  # what PyTorch returns
    (2, 4, 5, 8)
    """
    if isinstance(dropout_p, np.ndarray) or dropout_p != 0:
        raise ArrayError(f"dropout_p must be 0, as dropout makes the numbers random; got {quoted(dropout_p)}.")
    check_bool("is_causal", is_causal)
    check_bool("enable_gqa", enable_gqa)
    check_choice("causal_corner", causal_corner, CORNERS)
    if is_causal and attn_mask is not None:
        raise ArrayError(
            "is_causal=True takes no attn_mask besides, as in PyTorch. Put the causal mask into attn_mask."
        )
    given = _projections(query, key, value, enable_gqa)
    n_new = given.n_keys
    if past is not None:
        if not isinstance(past, (tuple, list)) or len(past) != 2:
            raise ArrayError(f"past must be a pair, kept keys and kept values; got {type(past).__name__}.")
        k, v = (with_batch_axes(f"past[{n}]", past[n], "keys", d) for n, d in enumerate(("d_k", "d_v")))
        given = given.after(k, v, names=("past[0]", "past[1]"))
    masks = batch_masks("attn_mask", attn_mask, (len(given.q), given.n_heads, given.n_queries, given.n_keys))
    if is_causal or window is not None:
        offset = _offset(causal_corner, given, n_new)
        seen = visible_keys(given.n_queries, given.n_keys, offset, left=_keys_before(window), right=0)
        masks = [restrict_mask(mask, seen) for mask in masks]
    elif causal_corner != CORNERS[0]:
        raise ArrayError(f"causal_corner={causal_corner!r} needs is_causal=True or a window; got neither.")
    batch = given.passes(masks, scale=scale, softcap=softcap, sinks=sinks)
    trace = with_tokens(batch[0], tokens, given.n_queries, given.n_keys)
    return trace.with_batch(batch) if np.ndim(query) == 4 else trace


def _projections(query: np.ndarray, key: np.ndarray, value: np.ndarray, enable_gqa: bool) -> Projections:
    given = Projections(
        with_batch_axes("query", query, "queries", "d_k"),
        with_batch_axes("key", key, "keys", "d_k"),
        with_batch_axes("value", value, "keys", "d_v"),
        _NAMES,
    )
    if given.n_groups != given.n_heads and not enable_gqa:
        raise ArrayError(
            f"key and value must have as many heads as query; got {given.n_groups} for {given.n_heads}. "
            "Set enable_gqa=True for groups of heads that share them."
        )
    return given


def _offset(corner: str, given: Projections, n_new: int) -> int:
    """The place of the first query among the keys."""
    return given.n_keys - (n_new if corner == CORNERS[0] else given.n_queries)


def _keys_before(window: int | None) -> int | None:
    """How many keys a query sees before its own place."""
    if window is None:
        return None
    check_int("window", window, 1, "the keys that a query sees, its own counted")
    return int(window) - 1
