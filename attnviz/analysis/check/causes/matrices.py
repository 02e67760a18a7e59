"""Matrices: projections by other matrices or biases than those that were meant."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from attnviz.analysis.check.causes.heads import side_by_side
from attnviz.analysis.check.causes.mistake import Mistake, Setting, each_and_all
from attnviz.analysis.check.nodes import Node
from attnviz.analysis.check.rounding import Precision, Rounded
from attnviz.core.operations.projection import Projection
from attnviz.core.parameters import banded

_TOGETHER = (("q", "k", "v"), ("q", "k", "v", "output"))


def matrices(setting: Setting) -> Iterator[Mistake]:
    """Matrices and biases got wrong."""
    yield from _transposed(setting)
    yield from _swapped(setting)
    yield from _biases(setting)
    yield from _fused(setting)


def _projected(setting: Setting, *stages: str) -> dict[str, str]:
    """The matrix of each of the stages that the pass projects."""
    return {each: setting.nodes[each].inputs[1] for each in stages if isinstance(setting.operation(each), Projection)}


def _transposed(setting: Setting) -> Iterator[Mistake]:
    projected = _projected(setting, "q", "k", "v", "output", "hidden", "mlp")
    made = {stage: w for stage, w in projected.items() if _is_square(setting.trace[w].shape)}
    for stages in each_and_all(tuple(made), *_TOGETHER):
        changed = {each: setting.nodes[each].with_input(made[each], _retransposed) for each in stages}
        yield Mistake("transposed", stages[0], _listed(made[each] for each in stages), changed)


def _swapped(setting: Setting) -> Iterator[Mistake]:
    """Queries, keys and values, or their matrices, in the place of each other."""
    nodes, made = setting.nodes, _projected(setting, "q", "k", "v")
    for one, other in (("q", "k"), ("k", "v"), ("q", "v")):
        if not {one, other} <= {*made} or nodes[one].inputs[0] != nodes[other].inputs[0]:
            continue
        if setting.trace[one].shape == setting.trace[other].shape:
            about = f"{made[one]} {made[other]}"
            yield Mistake("matrices swapped", one, about, {one: nodes[other], other: nodes[one]})
    if setting.makes("scores") and _are_square(setting.trace["scores"].shape):
        yield Mistake("q and k swapped", "scores", "", {"scores": nodes["scores"].then(_turned_over)})
    if setting.makes("heads"):
        shares, v = nodes["heads"].inputs
        if _are_square(setting.trace["attention"].shape):
            turned = nodes["heads"].with_input(shares, _turned_over)
            yield Mistake("attention transposed", "heads", "", {"heads": turned})
        if "k" in nodes and setting.trace["k"].shape == setting.trace[v].shape:
            yield Mistake("keys for values", "heads", "", {"heads": Node((shares, "k"), nodes["heads"].make)})


def _biases(setting: Setting) -> Iterator[Mistake]:
    as_they_are = [stage for stage in setting.trace.stages if setting.is_as_it_is(stage.name)]
    made = {stage.name: name for stage in as_they_are for name in stage.inputs if name.startswith("b_")}
    for stages in each_and_all(tuple(made), *_TOGETHER):
        about = _listed(made[each] for each in stages)
        left_out = {each: setting.nodes[each].without_input(made[each]) for each in stages}
        twice = {each: setting.nodes[each].with_input(made[each], lambda bias: 2 * bias) for each in stages}
        yield Mistake("bias forgotten", stages[0], about, left_out)
        yield Mistake("bias added twice", stages[0], about, twice)


def _fused(setting: Setting) -> Iterator[Mistake]:
    """Q, K and V that lie in one matrix, taken apart otherwise than they lie in it."""
    made = _projected(setting, "q", "k", "v")
    shapes = {setting.trace[w].shape for w in made.values()}
    inputs = [setting.trace[each].inputs for each in made]
    if len(made) < 3 or len(shapes) > 1 or len({x for x, *_ in inputs}) > 1 or len({*map(len, inputs)}) > 1:
        return
    if not all(map(setting.is_as_it_is, made)):
        return
    orders = _orders(next(iter(shapes))[0])
    for lies, order in orders.items():
        for read, other in orders.items():
            if order != other:
                taken = dict(zip(other, order, strict=True))
                changed = {each: _recut(setting, each, made, taken) for each in made}
                yield Mistake("fused matrix cut otherwise", "q", f"{lies} {read}", changed)


def _orders(n_heads: int) -> dict[str, list[tuple[str, int]]]:
    """In which order the columns of the heads lie in a fused matrix."""
    heads = range(n_heads)
    return {
        "in-three": [(each, head) for each in "qkv" for head in heads],
        "by-heads": [(each, head) for head in heads for each in "qkv"],
        "q-then-kv": [*(("q", head) for head in heads), *((each, head) for head in heads for each in "kv")],
    }


def _recut(setting: Setting, stage: str, made: dict[str, str], taken: dict[tuple[str, int], tuple[str, int]]) -> Node:
    """A projection by those columns that are taken for its own."""
    node, heads = setting.nodes[stage], range(setting.trace[made[stage]].shape[0])
    ws = tuple(made.values())
    bs = tuple(name for each in made for name in setting.nodes[each].inputs[2:])
    places = {each: at for at, each in enumerate(made)}

    def columns(arrays: list[Rounded]) -> Rounded:
        found = [(arrays[places[other]], at) for other, at in (taken[stage, head] for head in heads)]
        return Rounded(
            np.stack([each.value[at] for each, at in found]), np.stack([each.error[at] for each, at in found])
        )

    def project(given: list[Rounded], precision: Precision) -> Rounded:
        x, *rest = given
        parts = [columns(rest[: len(ws)])] + ([columns(rest[len(ws) :])] if bs else [])
        return node.make([x, *parts], precision)

    return Node((node.inputs[0], *ws, *bs), project)


def _is_square(shape: tuple[int, ...]) -> bool:
    return shape[0] == shape[1] if len(shape) == 2 else shape[1] == shape[0] * shape[2]


def _are_square(shape: tuple[int, ...]) -> bool:
    return shape[-1] == shape[-2] > 1


def _retransposed(w: np.ndarray) -> np.ndarray:
    """A square matrix, or one in bands, the other way round."""
    return w.T if w.ndim == 2 else banded(side_by_side(w).T, len(w))


_turned_over = partial(np.swapaxes, axis1=-1, axis2=-2)


def _listed(names: Iterator[str]) -> str:
    return " ".join(names)
