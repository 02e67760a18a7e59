"""Mistakes with masks."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import numpy as np

from attnviz.checks.causes.cause import (
    HIDDEN,
    MASK_OF_ANOTHER,
    SOFTMAX,
    Cause,
    Causes,
    Change,
    Mistake,
    MistakeContext,
    change,
    mask_phrase,
)
from attnviz.checks.passes.fitted_scale import Fit, simple
from attnviz.checks.passes.nodes import Node, nodes_of
from attnviz.checks.read.layouts import score_stages, stages_after_scores
from attnviz.checks.read.masks import HIDES, as_added, band, distances_back, seen_in, window_of, wrong_masks
from attnviz.checks.read.rounding import Precision, Rounded
from attnviz.core.operations.scores import LIMITS, Hide, Softcap
from attnviz.core.trace import Trace

CAUSES = Causes()
_FINITE = (-1.0, -10.0)  # what people add or write instead of −∞


def _with_mask(context: MistakeContext, other: np.ndarray, **slots: str) -> Iterator[Change]:
    """The stages that read the mask with another one, if it differs."""
    mask = context.trace["mask"].value
    other = other if mask.dtype == bool else as_added(other)
    if other.dtype == mask.dtype and (other != mask).any():
        node = Node.constant(Rounded(other))
        reading = {name: each for name, each in context.nodes.items() if "mask" in each.inputs}
        yield change({name: each.with_constant("mask", node) for name, each in reading.items()}, **slots)


def _with_wrong_mask(context: MistakeContext, id: str) -> Iterator[Change]:
    for mask in context.wrong_masks if context.has_mask else ():
        if mask.id == id:
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

    for mask in context.wrong_masks if context.has_mask and context.made_by(Hide, "masked") else ():
        if mask.id == "mask not applied" and (mask.value & ~seen_in(context.trace["mask"].value)).any():
            yield _masked_by(context, partial(raised, mask.value), mask=mask_phrase(mask.name))


def _hiding(context: MistakeContext) -> np.ndarray | None:
    """Which keys are visible: by the mask or, if that hides none, by a causal one, which the arrays may lack."""
    if context.seen is not None or not context.made_by(Hide, "masked"):
        return context.seen
    *_, n_queries, n_keys = context.trace["masked"].shape
    return np.tri(n_queries, n_keys, n_keys - n_queries, dtype=bool) if n_queries > 1 else None


def _masked_by(context: MistakeContext, scores: Callable[[np.ndarray, np.ndarray], np.ndarray], **slots: str) -> Change:
    """Masked scores by a function of the scaled scores and the mask, which rounds once more."""

    def make(values: Sequence[Rounded], precision: Precision) -> Rounded:
        scaled, mask = values
        masked = scores(scaled.value, mask.value)
        if precision.is_rough:
            return Rounded(masked)
        largest = np.maximum(np.abs(scaled.value), np.where(np.isfinite(masked), np.abs(masked), 0))
        return Rounded(masked, scaled.error + precision.unit * largest)

    return change({"masked": Node(context.nodes["masked"].inputs, make)}, **slots)


@CAUSES.add(
    "the mask was that of layer {layer}",
    "scores = scores.masked_fill(~masks[{layer}], -torch.inf)",
    "scores = scores.masked_fill(~masks[layer], -torch.inf)",
)
def mask_of_another_layer(context: MistakeContext) -> Iterator[Change]:
    return _with_wrong_mask(context, "mask of another layer")


# found in a batch, by exchanging masks
CAUSES[MASK_OF_ANOTHER] = Cause(
    "{mask} was that of sentence {number}", "scores = scores + mask[{index}]", "scores = scores + mask[sentence]"
)


@CAUSES.add(
    "the mask was applied after the softmax, so that rows no longer add up to 1",
    f"{SOFTMAX} * mask",
    f"{HIDDEN}; {SOFTMAX}",
)
def mask_after_the_softmax(
    context: MistakeContext, hidden: float = 0.0, seen: np.ndarray | None = None, **slots: str
) -> Iterator[Change]:
    """The softmax of all scores, whose weights of hidden keys are then set to a number."""
    visible = _hiding(context) if seen is None else seen
    if visible is None or context.compared.isdisjoint(stages_after_scores()) or not context.computes("attention"):
        return
    unmasked = Node.identity(context.nodes["masked"].inputs[:1])
    changed = context.nodes["attention"].then(lambda each: np.where(visible, each, hidden))
    yield change({"masked": unmasked, "attention": changed}, **slots)


@CAUSES.add(
    "{number} was written into the attention after the softmax, not into the scores before it",
    f"{SOFTMAX}.masked_fill(~mask, {{code}})",
    f"{HIDDEN}; {SOFTMAX}",
)
def infinity_after_the_softmax(context: MistakeContext) -> Iterator[Change]:
    """Also −1e9 and similar numbers; without a mask, the user's weights show which keys they hide."""
    first = context.first_difference
    theirs = first.value if first and first.stage == "attention" else None
    least = np.nanmin(theirs) if theirs is not None and not np.isnan(theirs).all() else -np.inf
    numbers = {-np.inf, float(least)} if least <= HIDES else {-np.inf}
    if first and first.stage != "attention" and first.off > -HIDES:
        numbers.add(-1e9)
    is_shown = context.seen is None and "masked" in context.trace and least <= HIDES
    seen = None
    if is_shown and theirs is not None and theirs.shape == context.trace["masked"].shape:
        seen = theirs > HIDES
    for number in sorted(numbers):
        short = f"{number:g}".replace("e+0", "e")
        text, code = ("−∞", "-torch.inf") if np.isinf(number) else (short.replace("-", "−"), short)
        yield from mask_after_the_softmax(context, number, seen, number=text, code=code)


@CAUSES.add(
    "the scores were multiplied by the mask, so that a hidden key kept a score of 0", "scores = scores * mask", HIDDEN
)
def mask_multiplied(context: MistakeContext) -> Iterator[Change]:
    return _hidden_scores(context, (0.0,))


@CAUSES.add(
    "the scores were capped after the mask, so that hidden keys kept a score of −{limit}",
    "scores = {limit} * torch.tanh(scores.masked_fill(~mask, -torch.inf) / {limit})",
    "scores = ({limit} * torch.tanh(scores / {limit})).masked_fill(~mask, -torch.inf)",
)
def softcap_after_the_mask(context: MistakeContext) -> Iterator[Change]:
    visible, masked = _hiding(context), context.nodes["masked"] if context.has_mask else None
    if visible is None or masked is None:
        return
    cap, scaled = context.operation("capped"), context.values.get("scaled")
    capped: dict[float, Node] = {}  # keyed by the softcap's limit
    if isinstance(cap, Softcap):
        capped[cap.limit] = masked
    elif masked.inputs[0] == "scaled":
        known = scaled and Fit.of(context.first_difference, scaled.map(lambda each: np.where(visible, each, -np.inf)))
        fitted = known.limit(1.0) if known else None
        capped = {each: masked.after(Softcap(each)) for each in (*LIMITS, *([simple(fitted)[0]] if fitted else ()))}

    def make(limit: float, values: Sequence[Rounded], precision: Precision) -> Rounded:
        return capped[limit].evaluate(values, precision).where(visible, Rounded(np.array(-limit)))

    for limit in capped:
        yield change({"masked": Node(masked.inputs, partial(make, limit))}, limit=f"{limit:g}")


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


_WINDOW = "mask = (causal & (i - j < {size}))", "mask = ((i - j).abs() < {size})"


def _with_window(context: MistakeContext, step: int | None, both: bool | None = None) -> Iterator[Change]:
    """The mask, a sliding window, made wider by some keys, as long as the text, or two-sided."""
    if context.seen is None or not (window := window_of(context.seen)):
        return
    size = context.seen.shape[-1] if step is None else window.size + step
    is_both = window.is_both if both is None else both
    if size > 0:
        lines = {"wrong": _WINDOW[is_both].format(size=size), "right": _WINDOW[window.is_both].format(size=window.size)}
        other = band(context.seen.shape, size, is_both) & window.keys
        yield from _with_mask(context, other, size=str(size), right_size=str(window.size), **lines)


@CAUSES.add("the sliding window was one key too narrow: {size}, not {right_size}", "{wrong}", "{right}")
def window_too_narrow(context: MistakeContext) -> Iterator[Change]:
    return _with_window(context, -1)


@CAUSES.add("the sliding window was one key too wide: {size}, not {right_size}", "{wrong}", "{right}")
def window_too_wide(context: MistakeContext) -> Iterator[Change]:
    return _with_window(context, 1)


@CAUSES.add("the sliding window was left out: every key up to the query was visible", "mask = causal", "{right}")
def window_left_out(context: MistakeContext) -> Iterable[Change]:
    return () if context.has_several_masks else _with_window(context, None, both=False)


@CAUSES.add(
    "a sliding window of {size} keys hid earlier ones, which the mask leaves visible",
    "mask = (causal & (i - j < {size}))",
    "mask = causal",
    "Some models do so on purpose: Mistral and Gemma 2 and 3, whose configurations have a sliding_window.",
)
def window_beside_the_mask(context: MistakeContext) -> Iterator[Change]:
    """The window has the size that scores or attention show; outputs alone don't show one."""
    first, seen = context.first_difference, context.seen
    if first is None or first.value is None or first.stage not in (*score_stages(), "attention") or seen is None:
        return
    apart = distances_back(*seen.shape[-2:])
    yours = seen_in(first.value) if first.stage != "attention" else first.value > 0
    if yours.shape[-2:] == apart.shape and not (seen & (apart < 0)).any():
        size = int(np.max(apart, initial=0, where=yours.reshape(-1, *apart.shape).any(axis=0))) + 1
        window = window_of(seen)
        if size > 1 and not (window and size == window.size - 1):
            yield from _with_mask(context, seen & band(seen.shape, size), size=str(size))


@CAUSES.add("the sliding window reached to both sides, so that queries saw later keys", "{wrong}", "{right}")
def window_on_both_sides(context: MistakeContext) -> Iterator[Change]:
    return _with_window(context, 0, both=True)


@CAUSES.add(
    "the mask was used transposed, with queries and keys exchanged",
    "scores = scores.masked_fill(~mask.T, -torch.inf)",
    HIDDEN,
)
def mask_transposed(context: MistakeContext) -> Iterator[Change]:
    if _is_square(context) and context.seen is not None and (context.seen != context.seen[..., :1, :]).any():
        yield from _with_mask(context, context.seen.swapaxes(-1, -2))


@CAUSES.add(
    "the padding hid the rows of queries, not the columns of keys",
    "scores = scores.masked_fill(~mask[:, None, :, None], -torch.inf)",
    "scores = scores.masked_fill(~mask[:, None, None, :], -torch.inf)",
)
def padding_on_the_rows_of_queries(context: MistakeContext) -> Iterator[Change]:
    """The mask may be causal as well."""
    if context.seen is None or not _is_square(context):
        return
    keys = np.asarray(context.seen.any(axis=-2, keepdims=True))
    for others in (np.ones_like(context.seen), np.tri(context.seen.shape[-1], dtype=bool)):
        if not keys.all() and (context.seen == (others & keys)).all():
            yield from _with_mask(context, others & keys.swapaxes(-1, -2))


def _is_square(context: MistakeContext) -> bool:
    shape = context.trace["masked"].shape if "masked" in context.trace else (0, 1)
    return shape[-2] == shape[-1]


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
    visible = _hiding(context)
    if visible is None:
        return

    def scores(number: float, scaled: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return np.where(visible, scaled, scaled.dtype.type(number) + (scaled if is_added else 0))

    for number in numbers:
        yield _masked_by(context, partial(scores, number), number=f"−{-number:g}")


@CAUSES.add(
    "a query sees no key, and the softmax of −∞ alone is 0 / 0",
    SOFTMAX,
    f"{SOFTMAX}.nan_to_num(0.0)",
    "torch.nn.MultiheadAttention leaves NaN there, too, in rows of padding that nothing reads.",
)
def no_key_is_visible(context: MistakeContext) -> Iterator[Change]:
    """Not looked for: such rows agree with any pass, and are only named where they are NaN."""
    return iter(())


def mask_mistakes(trace: Trace) -> dict[str, Mistake]:
    """Mistakes with a Boolean mask by their ids; empty if it hides nothing."""
    masks, sizes = wrong_masks(trace["mask"].value), {"h": len(trace["masked"].value)}
    context = MistakeContext(trace, nodes_of(trace), masks, {"attention"}, sizes)
    return {} if context.seen is None else {each.id: each for each in CAUSES.mistakes(context)}
