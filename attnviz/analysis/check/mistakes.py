"""Mistakes: what people get wrong in attention, each as other steps of a pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from attnviz.analysis.check.masks import OtherMask, others_than, seen_in
from attnviz.analysis.check.nodes import Node, Nodes, exact_nodes
from attnviz.analysis.check.rounding import Precision, Rounded, applied
from attnviz.analysis.check.stages import later_than_scores
from attnviz.core.operations.hide import Hide
from attnviz.core.operations.operation import Operation
from attnviz.core.operations.projection import Projection
from attnviz.core.operations.scale import Scale
from attnviz.core.parameters import banded
from attnviz.core.trace import Trace


@dataclass(frozen=True)
class Mistake:
    """One thing that went wrong.

    Attributes
    ----------
    id : str
        Such as "unscaled".
    stage : str
        The first stage that it changes.
    about : str
        What it was done to, or by: the parameters, or a number.
    nodes : mapping of stages to Node
        The stages that are made otherwise.
    """

    id: str
    stage: str
    about: str
    nodes: Nodes


def mistakes_in(trace: Trace, nodes: Nodes, masks: Sequence[OtherMask], compared: set[str]) -> Iterator[Mistake]:
    """All that might have gone wrong in this pass, what is likeliest first.

    Parameters
    ----------
    trace : Trace
    nodes : mapping of stages to Node
        Those of the pass, perhaps with mistakes already: another one is made on top.
    masks : sequence of OtherMask
        What the mask may have been taken for.
    compared : set of stages
        What there is to tell mistakes from each other.
    """
    yield from _scalings(trace)
    yield from _masks(trace, nodes, masks, compared)
    yield from _axes(trace)
    yield from _batches(trace)
    yield from _transposed(trace, nodes)
    yield from _splits(trace, nodes)
    yield from _biases(trace, nodes)


def _scalings(trace: Trace) -> Iterator[Mistake]:
    if "scaled" not in trace or trace["scaled"].is_given:
        return
    scale = trace["scaled"].operation
    if scale.factor is not None:
        return
    d_k, n_heads = scale.d_k, trace["scores"].shape[0]
    d_model = trace["x"].shape[-1] if "x" in trace else n_heads * d_k
    divisors = {"unscaled": 1.0, "√d_model": d_model**0.5, "d_k": d_k, "d_model": d_model}
    for about, divisor in divisors.items():
        if divisor != d_k**0.5:
            node = Node.of(Scale(d_k, 1 / divisor), trace["scaled"].inputs)
            id = "unscaled" if about == "unscaled" else "scaled otherwise"
            yield Mistake(id, "scaled", "" if about == "unscaled" else about, {"scaled": node})


def _masks(trace: Trace, nodes: Nodes, masks: Sequence[OtherMask], compared: set[str]) -> Iterator[Mistake]:
    if "masked" not in trace or trace["masked"].is_given:
        return
    mask = trace["mask"].value
    reading = [name for name, node in nodes.items() if "mask" in node.inputs]
    for other in masks:
        if other.value.dtype == bool and (other.value != seen_in(mask)).any():
            value = other.value if mask.dtype == bool else np.where(other.value, 0, -np.inf)
            taken = Node.constant(Rounded.unrounded(value))
            changed = {name: nodes[name].reading("mask", taken) for name in reading}
            yield Mistake(other.id, "masked", other.about, changed)
    hide, inputs = trace["masked"].operation, trace["masked"].inputs
    if not isinstance(hide, Hide) or mask.all():
        return
    if compared & set(later_than_scores()):
        yield Mistake("mask after the softmax", "masked", "", _masked_after(trace))
    yield Mistake("mask multiplied", "masked", "", {"masked": Node(inputs, _multiplied)})
    yield Mistake("mask off by one", "masked", "", {"masked": Node(inputs, partial(_one_further, hide))})


def _multiplied(given: list[Rounded], precision: Precision) -> Rounded:
    scaled, mask = given
    return scaled.map(lambda array: np.where(mask.value, array, 0))


def _one_further(hide: Operation, given: list[Rounded], precision: Precision) -> Rounded:
    """Each query sees the key after each that it may see, too."""
    scaled, mask = given
    further = mask.value.copy()
    further[..., 1:] |= mask.value[..., :-1]
    return applied(hide, [scaled, Rounded.unrounded(further)], precision)


def of_the_mask(trace: Trace) -> dict[str, Mistake]:
    """Mistakes with a mask that selects, each by its id; none where it hides nothing."""
    others = others_than(trace["mask"].value)
    found = _masks(trace, exact_nodes(trace), others, {"attention"})
    return {each.id: each for each in found}


def _masked_after(trace: Trace) -> Nodes:
    softmax = trace["attention"].operation

    def after(given: list[Rounded], precision: Precision) -> Rounded:
        shares = applied(softmax, given[:1], precision)
        return shares.map(lambda array: np.where(given[1].value, array, 0))

    return {
        "masked": Node(trace["masked"].inputs[:1], lambda given, precision: given[0]),
        "attention": Node(("masked", "mask"), after),
    }


def _axes(trace: Trace) -> Iterator[Mistake]:
    if "attention" not in trace or trace["attention"].is_given:
        return
    hides = np.isneginf(trace["masked"].value) if "masked" in trace else np.zeros((1, 1, 1), dtype=bool)
    for axis, about in ((-2, "queries"), (-3, "heads")):
        for filling in (0.0, np.nan, 1 / hides.shape[axis]) if hides.all(axis=axis).any() else (0.0,):
            along = partial(_along, trace["attention"].operation, axis, filling)
            yield Mistake("softmax along the wrong axis", "attention", about, {"attention": Node(("masked",), along)})


def _along(softmax: Operation, axis: int, filling: float, given: list[Rounded], precision: Precision) -> Rounded:
    """The softmax along an axis, and what is in its place where that has no key to see."""
    (masked,) = given
    shares = applied(softmax, [masked.map(lambda each: each.swapaxes(axis, -1))], precision)
    shares = shares.map(lambda each: each.swapaxes(axis, -1))
    nothing = np.isneginf(masked.value).all(axis=axis, keepdims=True)
    return Rounded(np.where(nothing, filling, shares.value), shares.error)


def _batches(trace: Trace) -> Iterator[Mistake]:
    """The tokens of a sentence as a batch of sentences of one token each."""
    if "attention" not in trace or trace["attention"].is_given or "context" in trace:
        return
    *_, n, n_keys = shape = trace["attention"].shape
    if n == n_keys > 1:
        itself = Rounded.unrounded(np.broadcast_to(np.eye(n), shape))
        alone = Node(trace["attention"].inputs, lambda given, precision: itself)
        yield Mistake("attention along the batch", "attention", "", {"attention": alone})


def _transposed(trace: Trace, nodes: Nodes) -> Iterator[Mistake]:
    projected = [stage for stage in trace.stages if isinstance(stage.operation, Projection)]
    made = {stage.name: stage.inputs[1] for stage in projected if _is_square(trace, stage.inputs[1])}
    for stages in _each_and_all(tuple(made), ("q", "k", "v"), ("q", "k", "v", "output")):
        changed = {each: nodes[each].with_input(made[each], _retransposed) for each in stages}
        yield Mistake("transposed", stages[0], _listed(made[each] for each in stages), changed)


def _splits(trace: Trace, nodes: Nodes) -> Iterator[Mistake]:
    if "q" in trace and trace["q"].shape[0] == 1:
        return
    made = tuple(each for each in "qkv" if each in trace and isinstance(trace[each].operation, Projection))
    for stages in _each_and_all(made, ("q", "k", "v")):
        changed = {each: nodes[each].then(_split_without_transposing) for each in stages}
        yield Mistake("heads split without transposing", stages[0], _listed(stages), changed)
    if "concat" in trace and not trace["concat"].is_given:
        joined = nodes["concat"].then(partial(_joined_without_transposing, shape=trace["heads"].shape))
        yield Mistake("heads joined without transposing", "concat", "", {"concat": joined})


def _biases(trace: Trace, nodes: Nodes) -> Iterator[Mistake]:
    made = {stage: name for stage, node in nodes.items() for name in node.inputs if name.startswith("b_")}
    for stages in _each_and_all(tuple(made), ("q", "k", "v"), ("q", "k", "v", "output")):
        changed = {each: nodes[each].without_input(made[each]) for each in stages}
        yield Mistake("bias forgotten", stages[0], _listed(made[each] for each in stages), changed)


def _each_and_all(present: tuple[str, ...], *together: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Each alone, and each of the groups as far as it is there, no two alike."""
    groups = [(each,) for each in present]
    groups += [tuple(each for each in group if each in present) for group in together]
    return [group for group in dict.fromkeys(groups) if group]


def _is_square(trace: Trace, name: str) -> bool:
    shape = trace[name].shape
    return shape[0] == shape[1] if len(shape) == 2 else shape[1] == shape[0] * shape[2]


def _retransposed(w: np.ndarray) -> np.ndarray:
    """A square matrix, or one in bands, the other way round."""
    return w.T if w.ndim == 2 else banded(_side_by_side(w).T, len(w))


def _side_by_side(heads: np.ndarray) -> np.ndarray:
    return heads.swapaxes(0, 1).reshape(heads.shape[1], -1)


def _split_without_transposing(heads: np.ndarray) -> np.ndarray:
    return _side_by_side(heads).reshape(heads.shape)


def _joined_without_transposing(concat: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    n_heads, n, length = shape
    return concat.reshape(n, n_heads, length).swapaxes(0, 1).reshape(concat.shape)


def _listed(names: Iterator[str] | tuple[str, ...]) -> str:
    return " ".join(names)
