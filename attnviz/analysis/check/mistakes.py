"""Mistakes: what people get wrong in attention, each as other steps of a pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from attnviz.analysis.check.formats import FLOAT64
from attnviz.analysis.check.masks import OtherMask, others_than, seen_in
from attnviz.analysis.check.rounding import Precision, Rounded, applied
from attnviz.analysis.check.stages import later_than_scores
from attnviz.core.operations.hide import Hide
from attnviz.core.operations.operation import Operation
from attnviz.core.operations.projection import Projection
from attnviz.core.operations.scale import Scale
from attnviz.core.parameters import banded
from attnviz.core.stage import Stage
from attnviz.core.trace import Trace


@dataclass(frozen=True, eq=False)
class Node:
    """How a stage is made: of which stages, and by what."""

    inputs: tuple[str, ...]
    make: Callable[[list[Rounded], Precision], Rounded]


_EXACT = Precision(FLOAT64, is_rough=True)

Nodes = Mapping[str, Node]


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


def nodes_of(trace: Trace, given: Callable[[Stage], Rounded]) -> Nodes:
    """The stages of a pass as nodes.

    Parameters
    ----------
    trace : Trace
    given : callable
        How far each given stage was rounded before it came to us.
    """
    return {
        stage.name: _constant(given(stage)) if stage.is_given else _operation(stage.operation, stage.inputs)
        for stage in trace.stages
    }


def evaluated(
    nodes: Nodes, precision: Precision, wanted: set[str], before: tuple[Nodes, Mapping[str, Rounded]] | None = None
) -> dict[str, Rounded]:
    """The stages that the wanted ones need, in their order; those that nothing changed, from `before`."""
    needed = set(wanted)
    for name in reversed(nodes):
        if name in needed:
            needed |= set(nodes[name].inputs)
    old_nodes, old = before or ({}, {})
    found: dict[str, Rounded] = {}
    for name, node in nodes.items():
        if name not in needed:
            continue
        same = node is old_nodes.get(name) and all(found[each] is old.get(each) for each in node.inputs)
        found[name] = old[name] if same and name in old else node.make([found[i] for i in node.inputs], precision)
    return found


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
            node = _operation(Scale(d_k, 1 / divisor), trace["scaled"].inputs)
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
            taken = _constant(Rounded.unrounded(value))
            changed = {name: _reading_instead(nodes[name], "mask", taken) for name in reading}
            yield Mistake(other.id, "masked", other.about, changed)
    if isinstance(trace["masked"].operation, Hide) and not mask.all() and compared & set(later_than_scores()):
        yield Mistake("mask after the softmax", "masked", "", _masked_after(trace))
    if isinstance(trace["masked"].operation, Hide) and not mask.all():
        inputs = trace["masked"].inputs
        yield Mistake("mask multiplied", "masked", "", {"masked": Node(inputs, _multiplied)})
        yield Mistake(
            "mask off by one", "masked", "", {"masked": Node(inputs, partial(_one_further, trace["masked"].operation))}
        )


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
    """What people get wrong with a mask that selects, each by its id; none where it hides nothing."""
    others = others_than(trace["mask"].value)
    found = _masks(trace, exact_nodes(trace), others, {"attention"})
    return {each.id: each for each in found}


def attention_with(trace: Trace, nodes: Nodes) -> np.ndarray:
    """The attention of a pass some of whose stages are made otherwise."""
    made = evaluated({**exact_nodes(trace), **nodes}, _EXACT, {"attention"})
    return made["attention"].value


def exact_nodes(trace: Trace) -> Nodes:
    """The stages of a pass as nodes, whose numbers were never rounded."""
    return nodes_of(trace, lambda stage: Rounded.unrounded(stage.value))


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
        changed = {each: _with_input(nodes[each], made[each], _retransposed) for each in stages}
        yield Mistake("transposed", stages[0], _listed(made[each] for each in stages), changed)


def _splits(trace: Trace, nodes: Nodes) -> Iterator[Mistake]:
    if "q" in trace and trace["q"].shape[0] == 1:
        return
    made = tuple(each for each in "qkv" if each in trace and isinstance(trace[each].operation, Projection))
    for stages in _each_and_all(made, ("q", "k", "v")):
        changed = {each: _then(nodes[each], _split_without_transposing) for each in stages}
        yield Mistake("heads split without transposing", stages[0], _listed(stages), changed)
    if "concat" in trace and not trace["concat"].is_given:
        joined = _then(nodes["concat"], partial(_joined_without_transposing, shape=trace["heads"].shape))
        yield Mistake("heads joined without transposing", "concat", "", {"concat": joined})


def _biases(trace: Trace, nodes: Nodes) -> Iterator[Mistake]:
    made = {stage: name for stage, node in nodes.items() for name in node.inputs if name.startswith("b_")}
    for stages in _each_and_all(tuple(made), ("q", "k", "v"), ("q", "k", "v", "output")):
        changed = {each: _without_input(nodes[each], made[each]) for each in stages}
        yield Mistake("bias forgotten", stages[0], _listed(made[each] for each in stages), changed)


def _each_and_all(present: tuple[str, ...], *together: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Each alone, and each of the groups as far as it is there, no two alike."""
    groups = [(each,) for each in present]
    groups += [tuple(each for each in group if each in present) for group in together]
    return [group for group in dict.fromkeys(groups) if group]


def _constant(value: Rounded) -> Node:
    return Node((), lambda given, precision: value)


def _operation(operation: Operation, inputs: tuple[str, ...]) -> Node:
    return Node(inputs, partial(applied, operation))


def _with_input(node: Node, name: str, change: Callable[[np.ndarray], np.ndarray]) -> Node:
    at = node.inputs.index(name)
    return Node(
        node.inputs,
        lambda given, precision: node.make([*given[:at], given[at].map(change), *given[at + 1 :]], precision),
    )


def _reading_instead(node: Node, name: str, other: Node) -> Node:
    at = node.inputs.index(name)
    return Node(
        node.inputs,
        lambda given, precision: node.make([*given[:at], other.make([], precision), *given[at + 1 :]], precision),
    )


def _without_input(node: Node, name: str) -> Node:
    at = node.inputs.index(name)
    rest = node.inputs[:at] + node.inputs[at + 1 :]
    return Node(rest, node.make)


def _then(node: Node, change: Callable[[np.ndarray], np.ndarray]) -> Node:
    return Node(node.inputs, lambda given, precision: node.make(given, precision).map(change))


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
