"""Mistakes with biases of positions that are added to scores, such as ALiBi's, and with the mask beneath them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import numpy as np

from attnviz.checks.causes.cause import Causes, Change, MistakeContext, change
from attnviz.checks.passes.nodes import Node
from attnviz.checks.read.masks import alibi_slopes, are_slopes, distances_back, seen_in
from attnviz.checks.read.rounding import Precision, Rounded
from attnviz.core.operations.scores import ALiBi, Hide, slopes

CAUSES = Causes()
_ADDED = "scores = q @ k.transpose(-2, -1) / d_k ** 0.5 + bias"
_LEAST_WEIGHT = 1e-30
_TOLERANCE = 1e-3  # relative difference of numbers that are equal


def _has_biases(context: MistakeContext) -> bool:
    mask = context.trace["mask"].value if context.has_mask else np.ones((), dtype=bool)
    return mask.dtype != bool and bool(mask[seen_in(mask)].any())


def _may_be_alibi(context: MistakeContext) -> bool:
    """Whether the pass has ALiBi's bias, or none, so that the user's may be ALiBi's."""
    if context.made_by(ALiBi, "biased") or context.made_by(Hide, "masked"):
        return True
    n_heads, mask = context.sizes["h"], context.trace["mask"].value if context.has_mask else None
    return mask is not None and are_slopes(alibi_slopes(mask, n_heads), n_heads)


Bias = Callable[[np.dtype], np.ndarray]  # made when it is needed, as it has a number for each score


def _with_bias(context: MistakeContext, bias: Bias, everywhere: bool = False, **slots: str) -> Change:
    """The scores with this bias instead of the pass's, where a key is visible or everywhere."""
    stage = "biased" if context.made_by(ALiBi, "biased") and not everywhere else "masked"

    def make(values: Sequence[Rounded], precision: Precision) -> Rounded:
        scores, *masks = values
        added = bias(scores.value.dtype)
        value = scores.value + added
        for seen in [seen_in(each.value) for each in masks if not everywhere]:
            value = value if seen.all() else np.where(seen, value, -np.inf).astype(value.dtype, copy=False)
        if precision.is_rough:
            return Rounded(value)
        size = np.abs(scores.value) + np.where(np.isneginf(added), 0, np.abs(added))
        return Rounded(value, scores.error + precision.unit * size)

    return change({stage: Node(context.nodes[stage].inputs, make)}, **slots)


def _distances(context: MistakeContext) -> np.ndarray:
    """How many positions each query is after each key."""
    return distances_back(*context.trace["masked"].shape[-2:])


def _alibi(context: MistakeContext, steepness: Sequence[float], factor: float = 1.0) -> Bias:
    def bias(dtype: np.dtype) -> np.ndarray:
        return (-factor * np.array(steepness, dtype))[:, None, None] * np.abs(_distances(context)).astype(dtype)

    return bias


def _multiplied(context: MistakeContext, factor: float) -> Iterator[Change]:
    """The bias of the pass, or ALiBi's if it has none, times a factor."""
    if _has_biases(context):
        mask = context.trace["mask"].value
        yield _with_bias(context, lambda dtype: np.where(seen_in(mask), factor * mask, 0).astype(dtype))
    elif _may_be_alibi(context):
        yield _with_bias(context, _alibi(context, slopes(context.sizes["h"]), factor))


# --- ALiBi's slopes


def _power_below(n: int) -> int:
    """The largest power of 2 that isn't above a number of heads."""
    return 1 << (n.bit_length() - 1)


def _code_of(n: int) -> str:
    return f"2.0 ** (-8 * torch.arange(1, {n + 1}) / {n})"


def _right_slopes(n: int) -> str:
    """The slopes of n heads in code."""
    power = _power_below(n)
    if power == n:
        return "2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)"
    return f"torch.cat([{_code_of(power)}, ({_code_of(2 * power)})[::2][:{n - power}]])"


@CAUSES.add("ALiBi's slopes were {which}, where {n} heads are no power of 2", "slopes = {code}", "slopes = {right}")
def alibi_slopes_of_wrong_heads(context: MistakeContext) -> Iterator[Change]:
    n = context.sizes["h"]
    power = _power_below(n)
    if power == n or not _may_be_alibi(context):
        return
    rest, lower, double = n - power, slopes(power), slopes(2 * power)
    half, whole = _code_of(power), _code_of(2 * power)
    for which, code, steepness in (
        ("2^(−8h/heads) for each head h", _code_of(n), _geometric(n)),
        (f"the first {n} of those of {2 * power} heads", f"({whole})[:{n}]", double[:n]),
        (
            f"those of {power} heads and the first {rest} of {2 * power} heads, not each other one",
            f"torch.cat([{half}, ({whole})[:{rest}]])",
            (*lower, *double[:rest]),
        ),
        (
            f"those of {power} heads and the second, fourth ... of {2 * power} heads, not the first, third ...",
            f"torch.cat([{half}, ({whole})[1::2][:{rest}]])",
            (*lower, *double[1::2][:rest]),
        ),
    ):
        yield _with_bias(context, _alibi(context, steepness), which=which, n=str(n), code=code, right=_right_slopes(n))


def _geometric(n: int, first: float = 1) -> list[float]:
    """Slopes that fall from head to head as if any number of heads were a power of 2."""
    return [2.0 ** (-8 * (h + first) / n) for h in range(n)]


@CAUSES.add(
    "the exponents of ALiBi's slopes were one head too {which}",
    "slopes = 2.0 ** (-8 * torch.arange({first}) / n_heads)",
    "slopes = {right}",
)
def alibi_exponent_off_by_one(context: MistakeContext) -> Iterator[Change]:
    n = context.sizes["h"]
    power = _power_below(n)
    if not _may_be_alibi(context):
        return
    for first, which, span in ((0, "early", "n_heads"), (2, "late", "2, n_heads + 2")):
        shifted = (*_geometric(power, first), *_geometric(2 * power, first)[::2])[:n]
        for steepness in {shifted, tuple(_geometric(n, first))}:
            yield _with_bias(context, _alibi(context, steepness), first=span, which=which, right=_right_slopes(n))


@CAUSES.add(
    "ALiBi's slopes were 2^−h for each head h, which is right for 8 heads only",
    "slopes = 2.0 ** -torch.arange(1, n_heads + 1)",
    "slopes = {right}",
)
def alibi_slopes_of_8_heads(context: MistakeContext) -> Iterator[Change]:
    if (n := context.sizes["h"]) not in (5, 6, 7, 8) and _may_be_alibi(context):  # the first of the slopes of 8 heads
        yield _with_bias(context, _alibi(context, [2.0 ** -(h + 1) for h in range(n)]), right=_right_slopes(n))


# --- Any bias


@CAUSES.add(
    "the bias of positions had the wrong sign, so that keys gain what they should lose",
    "scores = scores - bias",
    "scores = scores + bias",
)
def bias_with_wrong_sign(context: MistakeContext) -> Iterator[Change]:
    return _multiplied(context, -1)


@CAUSES.add(
    "the bias of positions was added before the scores were divided by √d_k",
    "scores = (q @ k.transpose(-2, -1) + bias) / d_k ** 0.5",
    _ADDED,
)
def bias_before_the_scale(context: MistakeContext) -> Iterable[Change]:
    d_k = context.sizes.get("d")
    return _multiplied(context, d_k**-0.5) if d_k else ()


@CAUSES.add("the bias of positions was multiplied by √d_k", f"{_ADDED} * d_k ** 0.5", _ADDED)
def bias_multiplied_by_the_root(context: MistakeContext) -> Iterable[Change]:
    d_k = context.sizes.get("d")
    return _multiplied(context, d_k**0.5) if d_k else ()


@CAUSES.add("the bias of positions was not added", "scores = q @ k.transpose(-2, -1) / d_k ** 0.5", _ADDED)
def bias_left_out(context: MistakeContext) -> Iterator[Change]:
    if _has_biases(context) and not context.has_several_masks:
        yield _with_bias(context, lambda dtype: np.zeros((), dtype))


# --- The causal mask beneath a bias


@CAUSES.add(
    "no causal mask was applied under the bias of positions, so that queries saw later keys",
    _ADDED,
    f"{_ADDED}; scores = scores.masked_fill(j > i, -torch.inf)",
    "Models that read a text both ways, such as T5's encoder, leave it out on purpose.",
)
def no_causal_mask_under_a_bias(context: MistakeContext) -> Iterator[Change]:
    """For ALiBi, a signed or an unsigned distance; for any other bias, the user's own scores at hidden keys."""
    if not context.has_mask or not context.computes("masked"):
        return
    mask = context.trace["mask"].value
    seen, apart = seen_in(mask), _distances(context)
    is_hidden = bool((~seen & (apart < 0)).any())
    if _may_be_alibi(context):
        steep = np.array(slopes(context.sizes["h"]))[:, None, None]

        def falling(distance: np.ndarray, dtype: np.dtype) -> np.ndarray:
            return np.where(seen | (apart < 0), -steep * distance, -np.inf).astype(dtype)

        for distance in (apart, np.abs(apart)) if is_hidden and not context.has_several_masks else (apart,):
            yield _with_bias(context, partial(falling, distance), everywhere=True)
    elif context.has_several_masks or not is_hidden or not _has_biases(context):
        return
    elif (hidden := _scores_at_hidden_keys(context, seen)) is not None:

        def make(values: Sequence[Rounded], precision: Precision) -> Rounded:
            return masked.evaluate(values, precision).where(seen, Rounded(hidden, precision.unit * abs(hidden)))

        masked = context.nodes["masked"]
        yield change({"masked": Node(masked.inputs, make)})


def _scores_at_hidden_keys(context: MistakeContext, seen: np.ndarray) -> np.ndarray | None:
    """The user's scores at keys that should be hidden, if all others equal ours; from weights by logarithms."""
    first, ours = context.first_difference, context.values.get("masked")
    if not first or not first.pair or ours is None or first.value is None or first.value.shape != ours.value.shape:
        return None
    theirs, seen = first.value, np.broadcast_to(seen, first.value.shape)
    if first.stage == "attention":
        theirs = np.log(np.maximum(theirs, _LEAST_WEIGHT))
        apart = np.where(seen, theirs - ours.value, 0).sum(axis=-1, keepdims=True)
        theirs = theirs - apart / np.maximum(seen.sum(axis=-1, keepdims=True), 1)
    if not np.isfinite(theirs).all() or (first.stage == "attention" and (first.value <= _LEAST_WEIGHT).any()):
        return None
    off = np.abs(np.where(seen, theirs - ours.value, 0)).max()
    return theirs if off <= _TOLERANCE * np.abs(theirs).max() else None
