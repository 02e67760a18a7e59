"""Matrices: projections by other matrices or biases than those that were meant, in words and code."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.checks.wording.causes.cause import Cause, of, of_letters, plain
from attnviz.checks.wording.words import SYMBOLS
from attnviz.explain.wording import listed

_PROJECTED = "{product} = {of} @ w_{part}.T + b_{part}"
_PRODUCTS = {"o": ("out", "concat"), "hidden": ("hidden", "x"), "mlp": ("out", "hidden")}
"""The product of each matrix, and its factor, where it isn't x that makes q, k or v."""

_LAID_OUT = {
    "in-three": "all of Q, then all of K and V",
    "by-heads": "Q, K and V of each head in turn",
    "by-groups": "the queries of each group and then its K and V",
    "q-then-kv": "all of Q, then K and V of each head in turn",
}
_CUTS = {
    "in-three": "q, k, v = (x @ w_qkv.T).chunk(3, dim=-1)",
    "by-heads": "q, k, v = (x @ w_qkv.T).view(n, t, n_heads, 3, d_k).unbind(dim=-2)",
    "by-groups": "q, k, v = (x @ w_qkv.T).view(n, t, n_groups, -1, d_k).split([n_heads // n_groups, 1, 1], dim=-2)",
    "q-then-kv": "q, kv = (x @ w_qkv.T).split([d_model, 2 * d_model], dim=-1); k, v = kv.view(n, t, n_heads, 2, d_k)"
    ".unbind(dim=-2)",
}


def _product(about: str) -> Mapping[str, str]:
    """The first matrix, what it is multiplied with, and what comes of it."""
    part = about.split()[0].partition("_")[2]
    product, of = _PRODUCTS.get(part, (part, "x"))
    return {"part": part, "product": product, "of": of}


def _cuts(about: str) -> Mapping[str, str]:
    lies, read = (_CUTS[each] for each in about.split())
    return {"lies": lies, "read": read}


def _of_a_cut(about: str) -> str:
    lies, read = (_LAID_OUT[each] for each in about.split())
    return f"the fused matrix, which holds {lies}, was cut as if it held {read}"


CAUSES: dict[str, Cause] = {
    "transposed": Cause(
        of("used transposed"), "{product} = {of} @ w_{part}", "{product} = {of} @ w_{part}.T", slots=_product
    ),
    "matrices swapped": Cause(
        lambda about: f"{listed([SYMBOLS[each] for each in about.split()])} were exchanged",
        "{letter}, {other} = x @ w_{other}.T, x @ w_{letter}.T",
        "{letter}, {other} = x @ w_{letter}.T, x @ w_{other}.T",
        slots=of_letters,
    ),
    "q and k swapped": Cause(
        plain("queries and keys were exchanged in the scores, which are transposed"),
        "scores = k @ q.transpose(-2, -1)",
        "scores = q @ k.transpose(-2, -1)",
    ),
    "attention transposed": Cause(
        plain("the attention was transposed before it was multiplied by V"),
        "heads = attention.transpose(-2, -1) @ v",
        "heads = attention @ v",
    ),
    "keys for values": Cause(
        plain("the attention was multiplied by K, not by V"), "heads = attention @ k", "heads = attention @ v"
    ),
    "bias forgotten": Cause(of("not added"), "{product} = {of} @ w_{part}.T", _PROJECTED, slots=_product),
    "bias added twice": Cause(of("added twice"), f"{_PROJECTED} + b_{{part}}", _PROJECTED, slots=_product),
    "fused matrix cut otherwise": Cause(
        _of_a_cut,
        "{read}",
        "{lies}",
        slots=_cuts,
    ),
}
