"""Mistakes with masks."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from attnviz.checks.causes.cause import HIDDEN, SOFTMAX, Causes, Change, Mistake, MistakeContext, change, mask_phrase
from attnviz.checks.explain.nodes import Node, nodes_of
from attnviz.checks.read.layouts import stages_after_scores
from attnviz.checks.read.masks import seen_in, wrong_masks
from attnviz.checks.read.rounding import Precision, Rounded
from attnviz.core.operations.scores import Hide
from attnviz.core.trace import Trace

CAUSES = Causes()
_FINITE = (-1.0, -10.0)  # what people add or write instead of −∞


def _with_mask(context: MistakeContext, visible: np.ndarray, **slots: str) -> Iterator[Change]:
    """The stages that read the mask with another one, if it differs."""
    mask = context.trace["mask"].value
    if (visible != seen_in(mask)).any():
        other = Node.constant(Rounded(visible if mask.dtype == bool else np.where(visible, 0, -np.inf)))
        reading = {name: node for name, node in context.nodes.items() if "mask" in node.inputs}
        yield change({name: node.with_constant("mask", other) for name, node in reading.items()}, **slots)


def _with_wrong_mask(context: MistakeContext, id: str) -> Iterator[Change]:
    for mask in context.wrong_masks if context.has_mask else ():
        if mask.id == id and mask.value.dtype == bool:
            yield from _with_mask(context, mask.value, mask=mask_phrase(mask.name), layer=mask.name)


@CAUSES.add("{mask} was applied the other way round", "scores = scores.masked_fill(mask, -torch.inf)", HIDDEN)
def mask_inverted(context: MistakeContext) -> Iterator[Change]:
    return _with_wrong_mask(context, "mask inverted")


@CAUSES.add("{mask} was not applied", SOFTMAX, f"{HIDDEN}; {SOFTMAX}")
def mask_not_applied(context: MistakeContext) -> Iterator[Change]:
    return _with_wrong_mask(context, "mask not applied")


@CAUSES.add(
    "{mask} was added to the scores as it is, so that the score of a hidden key rose by 1",
    "scores = scores + ~mask",
    HIDDEN,
)
def mask_added_where_it_hides(context: MistakeContext) -> Iterator[Change]:
    def raised(visible: np.ndarray, scaled: np.ndarray, seen: np.ndarray) -> np.ndarray:
        return np.where(visible, scaled + (visible & ~seen), -np.inf)

    for mask in context.wrong_masks if context.has_mask and context.having(Hide, "masked") else ():
        if mask.id == "mask not applied" and (mask.value & ~seen_in(context.trace["mask"].value)).any():
            yield _masked_by(context, partial(raised, mask.value), mask=mask_phrase(mask.name))


def _masked_by(context: MistakeContext, masked: Callable[[np.ndarray, np.ndarray], np.ndarray], **slots: str) -> Change:
    """Masked scores by a function of the scaled scores and the mask, which rounds once more."""

    def make(values: Sequence[Rounded], precision: Precision) -> Rounded:
        scaled, mask = values
        return Rounded(masked(scaled.value, mask.value), scaled.error + precision.unit * np.abs(scaled.value))

    return change({"masked": Node(context.nodes["masked"].inputs, make)}, **slots)


@CAUSES.add(
    "the mask was that of layer {layer}",
    "scores = scores.masked_fill(~masks[{layer}], -torch.inf)",
    "scores = scores.masked_fill(~masks[layer], -torch.inf)",
)
def mask_of_another_layer(context: MistakeContext) -> Iterator[Change]:
    return _with_wrong_mask(context, "mask of another layer")


@CAUSES.add(
    "the mask was applied after the softmax, so that rows no longer add up to 1",
    f"{SOFTMAX} * mask",
    f"{HIDDEN}; {SOFTMAX}",
)
def mask_after_the_softmax(context: MistakeContext) -> Iterator[Change]:
    if context.seen is None or context.compared.isdisjoint(stages_after_scores()) or not context.makes("attention"):
        return
    attention, (scaled, mask) = context.nodes["attention"], context.nodes["masked"].inputs

    def weights(values: Sequence[Rounded], precision: Precision) -> Rounded:
        *inputs, seen = values
        return attention.made(inputs, precision).map(lambda array: np.where(seen.value, array, 0))

    yield change({"masked": Node.passing_on((scaled,)), "attention": Node((*attention.inputs, mask), weights)})


@CAUSES.add(
    "the scores were multiplied by the mask, so that a hidden key kept a score of 0", "scores = scores * mask", HIDDEN
)
def mask_multiplied(context: MistakeContext) -> Iterator[Change]:
    return _hidden_scores(context, (0.0,))


@CAUSES.add(
    "the mask reached one key too far, so that a query saw the key after those it may see",
    "mask = torch.ones(t, t).tril(1).bool()",
    "mask = torch.ones(t, t).tril().bool()",
)
def mask_off_by_one(context: MistakeContext) -> Iterator[Change]:
    if context.seen is not None:
        further = context.seen.copy()
        further[..., 1:] |= context.seen[..., :-1]
        yield from _with_mask(context, further)


@CAUSES.add(
    "the mask ended one key too early, so that a query didn't see the last key that it may see",
    "mask = torch.ones(t, t).tril(-1).bool()",
    "mask = torch.ones(t, t).tril().bool()",
)
def mask_hides_the_token_itself(context: MistakeContext) -> Iterator[Change]:
    if context.seen is not None and context.seen.shape[-2] > 1:
        fewer = np.zeros_like(context.seen)
        fewer[..., :-1] = context.seen[..., :-1] & context.seen[..., 1:]
        yield from _with_mask(context, fewer)


@CAUSES.add(
    "the mask was used transposed, with queries and keys exchanged",
    "scores = scores.masked_fill(~mask.T, -torch.inf)",
    HIDDEN,
)
def mask_transposed(context: MistakeContext) -> Iterator[Change]:
    if context.seen is not None and context.seen.shape[-2] == context.seen.shape[-1]:
        yield from _with_mask(context, context.seen.swapaxes(-1, -2))


@CAUSES.add(
    "the causal mask began in the other corner, as there are more keys than queries or fewer",
    "mask = torch.ones(n_queries, n_keys).tril().bool()",
    "mask = torch.ones(n_queries, n_keys).tril(n_keys - n_queries).bool()",
)
def causal_mask_in_wrong_corner(context: MistakeContext) -> Iterator[Change]:
    if context.seen is not None:
        n_queries, n_keys = context.seen.shape[-2:]
        corners = [np.tri(n_queries, n_keys, shift, dtype=bool) for shift in (0, n_keys - n_queries)]
        for right, wrong in (corners, corners[::-1]):
            if n_queries != n_keys and (context.seen == right).all():
                yield from _with_mask(context, np.broadcast_to(wrong, context.seen.shape))


@CAUSES.add("the mask was added to the scores as 0 and 1", "scores = scores + mask", HIDDEN)
def mask_added_as_0_and_1(context: MistakeContext) -> Iterator[Change]:
    if context.seen is not None:
        yield _masked_by(context, np.add)


@CAUSES.add(
    "hidden scores were set to {number}, not to −∞, so that hidden keys kept a share",
    "scores = scores.masked_fill(~mask, {number})",
    HIDDEN,
)
def mask_with_a_finite_number(context: MistakeContext) -> Iterator[Change]:
    return _hidden_scores(context, _FINITE)


@CAUSES.add(
    "{number} was added to hidden scores, not −∞, so that hidden keys kept a share",
    "scores = scores + (~mask) * {number}",
    HIDDEN,
)
def mask_adds_a_finite_number(context: MistakeContext) -> Iterator[Change]:
    return _hidden_scores(context, _FINITE, is_added=True)


def _hidden_scores(context: MistakeContext, numbers: Sequence[float], is_added: bool = False) -> Iterator[Change]:
    """Hidden scores set to a number, or with one added."""

    def make(number: float, values: Sequence[Rounded], precision: Precision) -> Rounded:
        scaled, mask = values
        hidden = scaled.value + number if is_added else np.array(number)
        error = scaled.error + precision.unit * np.abs(hidden) if is_added else np.zeros(())
        return Rounded(np.where(mask.value, scaled.value, hidden), np.where(mask.value, scaled.error, error))

    for number in numbers if context.seen is not None else ():
        yield change({"masked": Node(context.nodes["masked"].inputs, partial(make, number))}, number=f"−{-number:g}")


def mask_mistakes(trace: Trace) -> dict[str, Mistake]:
    """Mistakes with a Boolean mask by their ids; empty if it hides nothing."""
    masks, sizes = wrong_masks(trace["mask"].value), {"h": len(trace["masked"].value)}
    context = MistakeContext(trace, nodes_of(trace), masks, {"attention"}, sizes)
    return {each.id: each for each in CAUSES.mistakes(context)}
