"""Masking: masks that hide other keys, or hide them otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from attnviz.checks.causes.mistake import Mistake, Setting, passed_on
from attnviz.checks.masks import OtherMask, others_than, seen_in
from attnviz.checks.nodes import Node, Nodes, exact_nodes
from attnviz.checks.rounding import Precision, Rounded
from attnviz.checks.stages import later_than_scores
from attnviz.core.operations.scores import Hide
from attnviz.core.trace import Trace

_FINITE = (-1.0, -10.0)
"""The numbers that people write in the place of −∞."""


def maskings(setting: Setting) -> Iterator[Mistake]:
    """Masks got wrong."""
    if not setting.makes("masked") or len(setting.nodes["masked"].inputs) != 2:
        return
    mask = setting.trace["mask"].value
    for other in setting.masks:
        if other.value.dtype == bool and (other.value != seen_in(mask)).any():
            yield Mistake(other.id, "masked", other.about, _hiding(setting, other.value))
        if other.id == "mask not applied" and isinstance(setting.operation("masked"), Hide):
            yield from _raised(setting, other, seen_in(mask))
    inputs, seen = setting.nodes["masked"].inputs, seen_in(mask)
    if not isinstance(setting.operation("masked"), Hide) or seen.all():
        return
    if setting.compared & set(later_than_scores()) and setting.makes("attention"):
        yield Mistake("mask after the softmax", "masked", "", _masked_after(setting))
    yield Mistake("mask multiplied", "masked", "", {"masked": Node(inputs, _multiplied)})
    for id, other in _shifted(seen):
        if (other != seen).any():
            yield Mistake(id, "masked", "", _hiding(setting, other))
    yield Mistake("mask added as 0 and 1", "masked", "", {"masked": Node(inputs, _added)})
    for number in _FINITE:
        about = f"−{-number:g}"
        for id, is_added in (("mask with a finite number", False), ("mask adds a finite number", True)):
            yield Mistake(id, "masked", about, {"masked": Node(inputs, partial(_finite, number, is_added))})


def _raised(setting: Setting, rest: OtherMask, seen: np.ndarray) -> Iterator[Mistake]:
    """A mask in which 1 hides that is added as it is, to scores that the other masks leave."""
    raised = rest.value & ~seen
    if raised.any():
        node = Node(setting.nodes["masked"].inputs, partial(_added_where_it_hides, rest.value, raised))
        yield Mistake("mask added where it hides", "masked", rest.about, {"masked": node})


def _hiding(setting: Setting, seen: np.ndarray) -> Nodes:
    """The stages that read the mask with another one in its place."""
    value = seen if setting.trace["mask"].value.dtype == bool else np.where(seen, 0, -np.inf)
    taken = Node.constant(Rounded.unrounded(value))
    reading = [name for name, node in setting.nodes.items() if "mask" in node.inputs]
    return {name: setting.nodes[name].reading("mask", taken) for name in reading}


def _shifted(seen: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Other masks that people make of one, by what went wrong."""
    further, fewer = seen.copy(), np.zeros_like(seen)
    further[..., 1:] |= seen[..., :-1]
    fewer[..., :-1] = seen[..., :-1] & seen[..., 1:]
    n_queries, n_keys = seen.shape[-2:]
    yield "mask off by one", further
    if n_queries > 1:
        yield "mask hides the token itself", fewer
    if n_queries == n_keys:
        yield "mask transposed", seen.swapaxes(-1, -2)
    corners = [np.tri(n_queries, n_keys, shift, dtype=bool) for shift in (0, n_keys - n_queries)]
    for one, other in (corners, corners[::-1]):
        if n_queries != n_keys and (seen == one).all():
            yield "mask of the other corner", np.broadcast_to(other, seen.shape)


def _multiplied(given: list[Rounded], precision: Precision) -> Rounded:
    scaled, mask = given
    return scaled.map(lambda array: np.where(mask.value, array, 0))


def _added(given: list[Rounded], precision: Precision) -> Rounded:
    scaled, mask = given
    return Rounded(scaled.value + mask.value, scaled.error + precision.unit * np.abs(scaled.value))


def _added_where_it_hides(
    visible: np.ndarray, raised: np.ndarray, given: list[Rounded], precision: Precision
) -> Rounded:
    scaled, _ = given
    value = np.where(visible, scaled.value + raised, -np.inf)
    return Rounded(value, scaled.error + precision.unit * np.abs(scaled.value))


def _finite(number: float, is_added: bool, given: list[Rounded], precision: Precision) -> Rounded:
    scaled, mask = given
    hidden = scaled.value + number if is_added else number
    of_hidden = scaled.error + precision.unit * np.abs(scaled.value + number) if is_added else 0.0
    return Rounded(np.where(mask.value, scaled.value, hidden), np.where(mask.value, scaled.error, of_hidden))


def of_the_mask(trace: Trace) -> dict[str, Mistake]:
    """Mistakes with a mask that selects, each by its id; none where it hides nothing."""
    masks, sizes = others_than(trace["mask"].value), {"h": len(trace["masked"].value)}
    return {each.id: each for each in maskings(Setting(trace, exact_nodes(trace), masks, {"attention"}, sizes))}


def _masked_after(setting: Setting) -> Nodes:
    attention, (scaled, mask) = setting.nodes["attention"], setting.nodes["masked"].inputs

    def shares(given: list[Rounded], precision: Precision) -> Rounded:
        *inputs, seen = given
        made = attention.made(inputs, precision)
        return made.map(lambda array: np.where(seen.value, array, 0))

    return {
        "masked": Node((scaled,), passed_on),
        "attention": Node((*attention.inputs, mask), shares),
    }
