"""Mistakes with matrices and biases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np

from attnviz.checks.causes.cause import Cause, Mistake, Setting, each_and_all, letter_slots, plain, symbols_clause
from attnviz.checks.causes.heads import side_by_side
from attnviz.checks.explain.nodes import Node
from attnviz.checks.read.rounding import Precision, Rounded
from attnviz.checks.report.words import SYMBOLS
from attnviz.core.operations.linear import Projection
from attnviz.core.parameters import banded
from attnviz.explain.wording import listed

_PROJECTED = "{product} = {of} @ w_{part}.T + b_{part}"
# Product and factor of each matrix that doesn't make q, k or v from x
_PRODUCTS = {"o": ("out", "concat"), "hidden": ("hidden", "x"), "mlp": ("out", "hidden")}
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


def _product_slots(about: str) -> Mapping[str, str]:
    """The first matrix, its factor and their product."""
    part = about.split()[0].partition("_")[2]
    product, factor = _PRODUCTS.get(part, (part, "x"))
    return {"part": part, "product": product, "of": factor}


def _cut_slots(about: str) -> Mapping[str, str]:
    lies, read = (_CUTS[each] for each in about.split())
    return {"lies": lies, "read": read}


def _cut_clause(about: str) -> str:
    lies, read = (_LAID_OUT[each] for each in about.split())
    return f"the fused matrix, which holds {lies}, was cut as if it held {read}"


CAUSES: dict[str, Cause] = {
    "transposed": Cause(
        symbols_clause("used transposed"),
        "{product} = {of} @ w_{part}",
        "{product} = {of} @ w_{part}.T",
        slots=_product_slots,
    ),
    "matrices swapped": Cause(
        lambda about: f"{listed([SYMBOLS[each] for each in about.split()])} were exchanged",
        "{letter}, {other} = x @ w_{other}.T, x @ w_{letter}.T",
        "{letter}, {other} = x @ w_{letter}.T, x @ w_{other}.T",
        slots=letter_slots,
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
    "bias forgotten": Cause(
        symbols_clause("not added"), "{product} = {of} @ w_{part}.T", _PROJECTED, slots=_product_slots
    ),
    "bias added twice": Cause(
        symbols_clause("added twice"), f"{_PROJECTED} + b_{{part}}", _PROJECTED, slots=_product_slots
    ),
    "fused matrix cut otherwise": Cause(
        _cut_clause,
        "{read}",
        "{lies}",
        slots=_cut_slots,
    ),
}


_TOGETHER = (("q", "k", "v"), ("q", "k", "v", "output"))


def matrix_mistakes(setting: Setting) -> Iterator[Mistake]:
    """Mistakes with matrices and biases."""
    yield from _transposed(setting)
    yield from _swapped(setting)
    yield from _biases(setting)
    yield from _fused(setting)


def _projected(setting: Setting, *stages: str) -> dict[str, str]:
    """The matrix of each stage that is a projection."""
    return {each: setting.nodes[each].inputs[1] for each in stages if isinstance(setting.operation(each), Projection)}


def _transposed(setting: Setting) -> Iterator[Mistake]:
    projected = _projected(setting, "q", "k", "v", "output", "hidden", "mlp")
    made = {stage: w for stage, w in projected.items() if _is_square(setting.trace[w].shape)}
    transposed = {each: setting.nodes[each].with_input(w, _transpose_bands) for each, w in made.items()}
    for stages in each_and_all(tuple(made), *_TOGETHER):
        changed = {each: transposed[each] for each in stages}
        yield Mistake("transposed", stages[0], _listed(made[each] for each in stages), changed)


def _swapped(setting: Setting) -> Iterator[Mistake]:
    """Queries, keys and values, or their matrices, exchanged."""
    nodes, made = setting.nodes, _projected(setting, "q", "k", "v")
    for one, other in (("q", "k"), ("k", "v"), ("q", "v")):
        if not {one, other} <= {*made} or nodes[one].inputs[0] != nodes[other].inputs[0]:
            continue
        if setting.trace[one].shape == setting.trace[other].shape:
            about = f"{made[one]} {made[other]}"
            yield Mistake("matrices swapped", one, about, {one: nodes[other], other: nodes[one]})
    if setting.makes("scores") and _are_square(setting.trace["scores"].shape):
        yield Mistake("q and k swapped", "scores", "", {"scores": nodes["scores"].then(_transpose)})
    if setting.makes("heads"):
        shares, _ = nodes["heads"].inputs
        if _are_square(setting.trace["attention"].shape):
            transposed = nodes["heads"].with_input(shares, _transpose)
            yield Mistake("attention transposed", "heads", "", {"heads": transposed})
        read = setting.trace["heads"].inputs[1]  # `v` may be the node of values that are only read otherwise
        if "k" in nodes and setting.trace["k"].shape == setting.trace[read].shape:
            yield Mistake("keys for values", "heads", "", {"heads": Node((shares, "k"), nodes["heads"].make)})


def _biases(setting: Setting) -> Iterator[Mistake]:
    as_they_are = [stage for stage in setting.trace.stages if setting.is_as_it_is(stage.name)]
    made = {stage.name: name for stage in as_they_are for name in stage.inputs if name.startswith("b_")}
    left_out = {each: setting.nodes[each].without_input(b) for each, b in made.items()}
    twice = {each: setting.nodes[each].with_input(b, lambda bias: 2 * bias) for each, b in made.items()}
    for stages in each_and_all(tuple(made), *_TOGETHER):
        about = _listed(made[each] for each in stages)
        yield Mistake("bias forgotten", stages[0], about, {each: left_out[each] for each in stages})
        yield Mistake("bias added twice", stages[0], about, {each: twice[each] for each in stages})


def _fused(setting: Setting) -> Iterator[Mistake]:
    """A fused matrix of Q, K and V split in another order than it has."""
    made = _projected(setting, "q", "k", "v")
    widths = {setting.trace[w].shape[1:] for w in made.values()}
    inputs = [setting.trace[each].inputs for each in made]
    if len(made) < 3 or len(widths) > 1 or len({x for x, *_ in inputs}) > 1 or len({*map(len, inputs)}) > 1:
        return
    n_heads, *n_groups = (setting.trace[w].shape[0] for w in made.values())
    if not all(map(setting.is_as_it_is, made)) or len({*n_groups}) > 1 or n_heads % n_groups[0]:
        return
    orders = _orders(n_heads, n_groups[0])
    for lies, order in orders.items():
        for read, other in orders.items():
            if order != other:
                taken = dict(zip(other, order, strict=True))
                changed = {
                    each: _recut(setting, each, [taken[own] for own in order if own[0] == each]) for each in made
                }
                yield Mistake("fused matrix cut otherwise", "q", f"{lies} {read}", changed)


def _orders(n_heads: int, n_groups: int) -> dict[str, list[tuple[str, int]]]:
    """The orders in which columns of heads and groups may lie in a fused matrix."""
    heads, groups, shared = range(n_heads), range(n_groups), n_heads // n_groups
    queries = {group: [("q", head) for head in heads[group * shared : (group + 1) * shared]] for group in groups}
    in_turn = "by-heads" if shared == 1 else "by-groups"
    return {
        "in-three": [*(("q", head) for head in heads), *((each, group) for each in "kv" for group in groups)],
        in_turn: [each for group in groups for each in (*queries[group], ("k", group), ("v", group))],
        "q-then-kv": [*(("q", head) for head in heads), *((each, group) for group in groups for each in "kv")],
    }


def _recut(setting: Setting, stage: str, taken: list[tuple[str, int]]) -> Node:
    """A projection by the columns that were wrongly taken for its own."""
    nodes = {each: setting.nodes[each] for each, _ in taken}
    inputs = tuple(dict.fromkeys(name for node in nodes.values() for name in node.inputs))

    def project(given: list[Rounded], precision: Precision) -> Rounded:
        arrays = dict(zip(inputs, given, strict=True))
        made = {each: node.made([arrays[name] for name in node.inputs], precision) for each, node in nodes.items()}
        return Rounded(
            np.stack([made[each].value[at] for each, at in taken]),
            np.stack([made[each].error[at] for each, at in taken]),
        )

    return Node(inputs, project)


def _is_square(shape: tuple[int, ...]) -> bool:
    return shape[0] == shape[1] if len(shape) == 2 else shape[1] == shape[0] * shape[2]


def _are_square(shape: tuple[int, ...]) -> bool:
    return shape[-1] == shape[-2] > 1


def _transpose_bands(w: np.ndarray) -> np.ndarray:
    """A square matrix, or one split into heads, transposed."""
    return w.T if w.ndim == 2 else banded(side_by_side(w).T, len(w))


_transpose = partial(np.swapaxes, axis1=-1, axis2=-2)


def _listed(names: Iterator[str]) -> str:
    return " ".join(names)
