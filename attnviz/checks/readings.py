"""Readings: the ways in which someone's arrays fit each other as those that a pass begins with."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from attnviz.checks.arrays import NO_NUMBERS, Numbers, OwnArrays
from attnviz.checks.layouts import IN_OUT, OUT_IN, Layout, Sizes, arranged, fitted, layouts_of
from attnviz.checks.masks import HIDES, MaskReading, besides, patterned
from attnviz.checks.stages import GAINS, PROJECTIONS, beginnings, last_stages, made_of, stages
from attnviz.core.errors import OwnArraysError
from attnviz.core.limits import MAX_STAGE_NUMBERS
from attnviz.core.order import LayerConfig, layer_configs

_MAX_HEADS = 128
_MAX_READINGS = 64

_WEIGHTS = (*PROJECTIONS, "w_o")
_MOST_CONTRIBUTIONS = 2 * MAX_STAGE_NUMBERS
_STAGES = ("hts", "htd", "hsd", "hsv", "htv", "to", "tn", "te")


@dataclass(frozen=True, eq=False)
class Reading:
    """One way of reading the arrays that a pass begins with.

    Attributes
    ----------
    sizes : mapping of letters to int
        How long each axis is (see `layouts`).
    layouts : mapping of stages to Layout
    arrays : mapping of stages to ndarray
        Those that the pass begins with, as attnviz lays them out.
    block : LayerConfig
        What the layer has.
    mask : MaskReading, optional
        What hides keys.
    adds_to_gains : bool
        Whether 1 is added to each gain, as Gemma does.
    """

    sizes: Sizes
    layouts: Mapping[str, Layout]
    arrays: Mapping[str, np.ndarray]
    block: LayerConfig
    mask: MaskReading | None = None
    adds_to_gains: bool = False


def readings(own: OwnArrays, n_heads: int | None = None, numbers: Numbers = NO_NUMBERS) -> list[Reading]:
    """The ways of reading what the pass begins with in which all arrays fit each other, the simplest first.

    Where their shapes allow it, all matrices are laid out alike. What is known of an array isn't tried otherwise.

    Raises
    ------
    OwnArraysError
        If they don't fit each other, or a stage would be too large.
    """
    first = beginnings(set(own)) - last_stages()
    begins = [stage for stage in stages() if stage in first]
    ranked = []
    for h in _numbers_of_heads(own) if n_heads is None else (n_heads,):
        for sizes, layouts in _fits(begins, own, {"h": h}, {}):
            full, misfits = _with_ends(own, sizes, set(own) - set(begins))
            ranked.append((misfits, _mixed(layouts), h, full, layouts))
    if not begins or not ranked:
        raise OwnArraysError(_misfit(own, begins))
    fewest = min(rank[0] for rank in ranked)
    ranked = [rank for rank in ranked if rank[0] == fewest]
    mixed = min(rank[1] for rank in ranked) + (1 if _may_mix(own) else 0)
    ranked = sorted((rank for rank in ranked if rank[1] <= mixed), key=lambda rank: rank[1:3])
    small = [rank for rank in ranked if largest_stage(rank[3]) <= MAX_STAGE_NUMBERS]
    if not small:
        raise OwnArraysError(
            f"A stage may have at most {MAX_STAGE_NUMBERS:,} numbers; with these arrays one would have "
            f"{largest_stage(ranked[0][3]):,}. Give fewer tokens."
        )
    if "contributions" in own:  # which have a row of the output for each head, and are made for these alone
        small = [rank for rank in small if largest_stage(rank[3], ("hto",)) <= _MOST_CONTRIBUTIONS]
        if not small:
            raise OwnArraysError(
                f"Contributions may have at most {_MOST_CONTRIBUTIONS:,} numbers; the pass of these arrays has "
                f"{largest_stage(ranked[0][3], ('hto',)):,}. Leave {own['contributions'].name[:60]!r} out."
            )
    read = [each for *_, sizes, layouts in small[:_MAX_READINGS] for each in _read(own, sizes, layouts, numbers)]
    return sorted(read, key=lambda each: each.mask.unlikelihood if each.mask else 0)


def _numbers_of_heads(own: OwnArrays) -> list[int]:
    """Those that divide the length of an axis, as the number of heads does of one that is cut into heads."""
    lengths = {length for array in own.values() for length in array.value.shape}
    return [h for h in range(1, _MAX_HEADS + 1) if h == 1 or any(length % h == 0 for length in lengths)]


def sizes_of(shapes: Mapping[str, tuple[int, ...]]) -> Sizes:
    """How long each axis of a pass is, whose stages have these shapes."""
    n_heads = next(shape[0] for name, shape in shapes.items() if name in ("scores", "masked", "attention", "q", "v"))
    sizes: Sizes = {"h": n_heads, "g": next((shapes[each][0] for each in "kv" if each in shapes), n_heads)}
    for name, shape in shapes.items():
        if name in stages():
            sizes = fitted(layouts_of(name)[0], shape, sizes) or sizes
    return sizes


def _fits(
    todo: list[str], own: OwnArrays, sizes: Sizes, layouts: dict[str, Layout]
) -> Iterator[tuple[Sizes, dict[str, Layout]]]:
    """The layouts in which the arrays that are still to be read fit those that are."""
    if not todo:
        yield sizes, layouts
        return
    stage, *rest = todo
    fitting = [(each, fit) for each in layouts_of(stage) if (fit := fitted(each, own[stage].value.shape, sizes))]
    known = [fit for fit in fitting if fit[0].family == own[stage].orientation]
    for layout, fit in _distinct(stage, own[stage].value, known or fitting):
        if layout.is_repeated or (sizes["h"] > 1 and layout.is_averaged):
            continue
        yield from _fits(rest, own, fit | _tied(stage, fit, own), layouts | {stage: layout})


def _distinct(stage: str, array: np.ndarray, fitting: list[tuple[Layout, Sizes]]) -> Iterator[tuple[Layout, Sizes]]:
    """Of layouts in which an array is the same, as a matrix for each of one head is one for all, the first."""
    seen: list[tuple[Sizes, np.ndarray]] = []
    for layout, sizes in fitting:
        read = arranged(array, layout, stage, sizes)
        if not any(sizes == other and np.array_equal(read, each) for other, each in seen):
            seen.append((sizes, read))
            yield layout, sizes


def _tied(stage: str, sizes: Sizes, own: OwnArrays) -> Sizes:
    """The axes that x decides: without a context it is its own, and without projections q, k and v are x."""
    if stage != "x":
        return {}
    projected = set(own) & {*PROJECTIONS, "q", "k", "v"}
    itself = "context" not in own and (not projected or set(own) & {"w_k", "w_v"})
    tied = {"s": sizes["t"], "c": sizes["m"]} if itself else {}
    return tied if projected else tied | {"d": sizes["m"], "v": sizes["m"], "g": sizes["h"]}


def _with_ends(own: OwnArrays, sizes: Sizes, ends: set[str]) -> tuple[Sizes, int]:
    """The lengths with those that only the arrays at the end have, and how many of these don't fit."""
    misfits = 0
    for stage in stages():
        if stage in ends:
            fit = next((f for each in layouts_of(stage) if (f := fitted(each, own[stage].value.shape, sizes))), None)
            misfits += fit is None
            sizes = fit or sizes
    return sizes, misfits


def _mixed(layouts: Mapping[str, Layout]) -> int:
    """How many layouts there are beyond one for matrices, one for heads of matrices, and one for q, k and v."""
    flat = {layouts[w].family for w in _WEIGHTS if w in layouts and layouts[w].family in (IN_OUT, OUT_IN)}
    cut = {layouts[w].family for w in PROJECTIONS if w in layouts and layouts[w].family not in (IN_OUT, OUT_IN)}
    headed = {layouts[each].family for each in "qkv" if each in layouts}
    return sum(max(len(each) - 1, 0) for each in (flat, cut, headed))


def _may_mix(own: OwnArrays) -> bool:
    """Whether so few matrices are given, and so little is known of them, that none says how the others are laid out."""
    flat = [own[w] for w in _WEIGHTS if w in own and own[w].value.ndim == 2]
    return len(flat) == 2 and all(each.orientation is None for each in flat)


def _read(own: OwnArrays, sizes: Sizes, layouts: Mapping[str, Layout], numbers: Numbers) -> list[Reading]:
    arrays = {
        stage: arranged(own[stage].value, layout, stage, fitted(layout, own[stage].value.shape, sizes))
        for stage, layout in layouts.items()
        if stage != "mask"
    }
    d_k, scale = sizes.get("d"), numbers.scale
    if scale and d_k and math.isclose(scale, d_k**-0.5, rel_tol=1e-6):
        scale = None  # as it is anyway, and is spoken of so
    blocks = [replace(each, n_heads=sizes["h"], d_k=d_k, scale=scale) for each in _blocks(own, numbers)]
    of_blocks = [Reading(sizes, layouts, arrays, block) for block in blocks]
    if gains := [each for each in GAINS if each in arrays]:
        more = arrays | {each: 1 + arrays[each] for each in gains}
        of_blocks += [replace(each, arrays=more, adds_to_gains=True) for each in of_blocks]
    if "mask" not in layouts:
        return of_blocks
    masks = [each.arranged(sizes.get("t", 1), sizes["s"]) for each in own["mask"].masks]
    return [
        replace(each, arrays={**each.arrays, "mask": mask.value}, mask=mask) for mask in masks for each in of_blocks
    ]


def _blocks(own: OwnArrays, numbers: Numbers) -> list[LayerConfig]:
    if numbers.softcap is None:
        return layer_configs(set(own))
    return [replace(each, softcap=numbers.softcap) for each in layer_configs(set(own) - {"capped"})]


def with_more_hidden(reading: Reading, own: OwnArrays) -> list[Reading]:
    """Other ways of reading arrays, in which their masks, or the lack of one, isn't all that hides keys."""
    t, s = reading.sizes.get("t"), reading.sizes.get("s")
    if t is None or s is None or "masked" not in made_of(set(own)):
        return []
    return [
        replace(reading, arrays={**reading.arrays, "mask": each.value}, mask=each)
        for each in besides(reading.mask, t, s, _zeros(own, (reading.sizes["h"], t, s)))
    ]


def with_pattern(reading: Reading) -> Iterator[Reading]:
    """A reading with a sliding window or ALiBi's biases besides its masks, if they are all that hides keys."""
    t, s = reading.sizes.get("t"), reading.sizes.get("s")
    if t == s and t and not (reading.mask and reading.mask.besides):
        for each in patterned(reading.mask, reading.sizes["h"], t):
            yield replace(reading, arrays={**reading.arrays, "mask": each.value}, mask=each)


def _zeros(own: OwnArrays, shape: tuple[int, int, int]) -> np.ndarray | None:
    """Where an attention is exactly 0, or a score is hidden; None if none of this shape, or averaged, is given."""
    for stage in ("masked", "scores", "attention"):
        if stage in own:
            value = own[stage].value
            value = value.reshape(value.shape[next((i for i, n in enumerate(value.shape[:-2]) if n > 1), -2) :])
            if value.shape not in (shape, shape[1:]):
                continue
            zeros = value == 0 if stage == "attention" else value <= HIDES / 2
            if stage != "scores" or zeros.any():
                return zeros
    return None


def largest_stage(sizes: Sizes, made: Sequence[str] = _STAGES) -> int:
    """How many numbers the largest stage of a pass has, of stages with these axes."""
    return max(math.prod(sizes.get(axis, 1) for axis in axes) for axes in made)


def _misfit(own: OwnArrays, begins: list[str]) -> str:
    if not begins:
        return (
            "A pass begins with x and parameters, with q, k and v, or with scores or attention; got "
            f"{', '.join(each.name[:40] for each in own.values()) or 'no array of a known name'}."
        )
    shapes = ", ".join(f"{own[stage].name[:40]} {own[stage].value.shape}" for stage in begins[:8])
    return (
        f"The arrays must fit each other in some layout, one sentence without a batch, the heads alike; got {shapes}. "
        "Check which axis counts what."
    )
