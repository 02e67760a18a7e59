"""Mistakes with masks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from attnviz.checks.causes.cause import HIDDEN, SOFTMAX, Cause, Mistake, Setting, mask_clause, passed_on, plain
from attnviz.checks.explain.nodes import Node, Nodes, exact_nodes
from attnviz.checks.read.masks import OtherMask, others_than, seen_in
from attnviz.checks.read.rounding import Precision, Rounded
from attnviz.checks.read.stages import stages_after_scores
from attnviz.core.operations.scores import Hide
from attnviz.core.trace import Trace

CAUSES: dict[str, Cause] = {
    "mask inverted": Cause(
        mask_clause("was applied the other way round"), "scores = scores.masked_fill(mask, -torch.inf)", HIDDEN
    ),
    "mask not applied": Cause(mask_clause("was not applied"), SOFTMAX, f"{HIDDEN}; {SOFTMAX}"),
    "mask multiplied": Cause(
        plain("the scores were multiplied by the mask, so that a hidden key kept a score of 0"),
        "scores = scores * mask",
        HIDDEN,
    ),
    "mask off by one": Cause(
        plain("the mask reached one key too far, so that a query saw the key after those it may see"),
        "mask = torch.ones(t, t).tril(1).bool()",
        "mask = torch.ones(t, t).tril().bool()",
    ),
    "mask hides the token itself": Cause(
        plain("the mask ended one key too early, so that a query didn't see the last key that it may see"),
        "mask = torch.ones(t, t).tril(-1).bool()",
        "mask = torch.ones(t, t).tril().bool()",
    ),
    "mask transposed": Cause(
        plain("the mask was used transposed, with queries and keys exchanged"),
        "scores = scores.masked_fill(~mask.T, -torch.inf)",
        HIDDEN,
    ),
    "mask of the other corner": Cause(
        plain("the causal mask began in the other corner, as there are more keys than queries or fewer"),
        "mask = torch.ones(n_queries, n_keys).tril().bool()",
        "mask = torch.ones(n_queries, n_keys).tril(n_keys - n_queries).bool()",
    ),
    "mask of another layer": Cause(
        plain("the mask was that of layer {}"),
        "scores = scores.masked_fill(~masks[{about}], -torch.inf)",
        "scores = scores.masked_fill(~masks[layer], -torch.inf)",
    ),
    "mask added as 0 and 1": Cause(
        plain("the mask was added to the scores as 0 and 1"),
        "scores = scores + mask",
        HIDDEN,
    ),
    "mask added where it hides": Cause(
        mask_clause("was added to the scores as it is, so that the score of a hidden key rose by 1"),
        "scores = scores + ~mask",
        HIDDEN,
    ),
    "mask with a finite number": Cause(
        plain("hidden scores were set to {}, not to −∞, so that hidden keys kept a share"),
        "scores = scores.masked_fill(~mask, {about})",
        HIDDEN,
    ),
    "mask adds a finite number": Cause(
        plain("{} was added to hidden scores, not −∞, so that hidden keys kept a share"),
        "scores = scores + (~mask) * {about}",
        HIDDEN,
    ),
    "mask after the softmax": Cause(
        plain("the mask was applied after the softmax, so that rows no longer add up to 1"),
        f"{SOFTMAX} * mask",
        f"{HIDDEN}; {SOFTMAX}",
    ),
}


_FINITE = (-1.0, -10.0)  # what people add or write instead of −∞


def mask_mistakes(setting: Setting) -> Iterator[Mistake]:
    """Mistakes with masks."""
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
    if setting.compared & set(stages_after_scores()) and setting.makes("attention"):
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
    """A mask of ones where it hides, added as it is to scores."""
    raised = rest.value & ~seen
    if raised.any():
        node = Node(setting.nodes["masked"].inputs, partial(_added_where_it_hides, rest.value, raised))
        yield Mistake("mask added where it hides", "masked", rest.about, {"masked": node})


def _hiding(setting: Setting, seen: np.ndarray) -> Nodes:
    """The nodes that read the mask, with another mask."""
    value = seen if setting.trace["mask"].value.dtype == bool else np.where(seen, 0, -np.inf)
    taken = Node.constant(Rounded.unrounded(value))
    reading = [name for name, node in setting.nodes.items() if "mask" in node.inputs]
    return {name: setting.nodes[name].reading("mask", taken) for name in reading}


def _shifted(seen: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Wrong masks that people construct, by the id of the mistake."""
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


def mask_mistakes_by_id(trace: Trace) -> dict[str, Mistake]:
    """Mistakes with a Boolean mask by their ids; empty if it hides nothing."""
    masks, sizes = others_than(trace["mask"].value), {"h": len(trace["masked"].value)}
    return {each.id: each for each in mask_mistakes(Setting(trace, exact_nodes(trace), masks, {"attention"}, sizes))}


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
