"""Readings: the ways to fit together the arrays that a pass starts from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from attnviz.checks.read.arrays import NO_NUMBERS, Numbers, OwnArrays
from attnviz.checks.read.layouts import IN_OUT, OUT_IN, Layout, Sizes, arranged, fitted, layouts_of
from attnviz.checks.read.masks import HIDES, MaskReading, inferred, patterned
from attnviz.checks.read.stages import GAINS, PROJECTIONS, beginnings, last_stages, made_of, stages
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
    """One way to read the arrays that a pass starts from.

    Attributes
    ----------
    sizes : mapping of letters to int
        The length of each axis (see `layouts`).
    arrays : mapping of stages to ndarray
        In attnviz's layouts.
    block : LayerConfig
        The settings of the layer.
    mask : MaskReading, optional
    adds_to_gains : bool
        Whether 1 is added to each gain, as in Gemma.
    """

    sizes: Sizes
    layouts: Mapping[str, Layout]
    arrays: Mapping[str, np.ndarray]
    block: LayerConfig
    mask: MaskReading | None = None
    adds_to_gains: bool = False


def readings(own: OwnArrays, n_heads: int | None = None, numbers: Numbers = NO_NUMBERS) -> list[Reading]:
    """All readings in which the arrays fit each other, the simplest first.

    If shapes allow it, all matrices have the same layout. OwnArraysError if nothing fits, or a stage is too large.
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
    """The possible numbers of heads: the divisors of an axis that holds heads."""
    lengths = {length for array in own.values() for length in array.value.shape}
    return [h for h in range(1, _MAX_HEADS + 1) if h == 1 or any(length % h == 0 for length in lengths)]


def sizes_of(shapes: Mapping[str, tuple[int, ...]]) -> Sizes:
    """The length of each axis of a pass with these shapes."""
    n_heads = next(shape[0] for name, shape in shapes.items() if name in ("scores", "masked", "attention", "q", "v"))
    sizes: Sizes = {"h": n_heads, "g": next((shapes[each][0] for each in "kv" if each in shapes), n_heads)}
    for name, shape in shapes.items():
        if name in stages():
            sizes = fitted(layouts_of(name)[0], shape, sizes) or sizes
    return sizes


def _fits(
    todo: list[str], own: OwnArrays, sizes: Sizes, layouts: dict[str, Layout]
) -> Iterator[tuple[Sizes, dict[str, Layout]]]:
    """The layouts in which the remaining arrays fit those already read."""
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
    """Drop layouts that give the same array, as for a single head."""
    seen: list[tuple[Sizes, np.ndarray]] = []
    for layout, sizes in fitting:
        read = arranged(array, layout, stage, sizes)
        if not any(sizes == other and np.array_equal(read, each) for other, each in seen):
            seen.append((sizes, read))
            yield layout, sizes


def _tied(stage: str, sizes: Sizes, own: OwnArrays) -> Sizes:
    """Sizes that x determines: it is its own context, and is q, k and v if there are no projections."""
    if stage != "x":
        return {}
    projected = set(own) & {*PROJECTIONS, "q", "k", "v"}
    itself = "context" not in own and (not projected or set(own) & {"w_k", "w_v"})
    tied = {"s": sizes["t"], "c": sizes["m"]} if itself else {}
    return tied if projected else tied | {"d": sizes["m"], "v": sizes["m"], "g": sizes["h"]}


def _with_ends(own: OwnArrays, sizes: Sizes, ends: set[str]) -> tuple[Sizes, int]:
    """Add the sizes that only the last arrays have, and count the last arrays that don't fit."""
    misfits = 0
    for stage in stages():
        if stage in ends:
            fit = next((f for each in layouts_of(stage) if (f := fitted(each, own[stage].value.shape, sizes))), None)
            misfits += fit is None
            sizes = fit or sizes
    return sizes, misfits


def _mixed(layouts: Mapping[str, Layout]) -> int:
    """How many different layouts a reading mixes."""
    flat = {layouts[w].family for w in _WEIGHTS if w in layouts and layouts[w].family in (IN_OUT, OUT_IN)}
    cut = {layouts[w].family for w in PROJECTIONS if w in layouts and layouts[w].family not in (IN_OUT, OUT_IN)}
    headed = {layouts[each].family for each in "qkv" if each in layouts}
    return sum(max(len(each) - 1, 0) for each in (flat, cut, headed))


def _may_mix(own: OwnArrays) -> bool:
    """Whether too few matrices are given to tell their common layout."""
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
    """Readings in which more keys are hidden than the masks hide."""
    t, s = reading.sizes.get("t"), reading.sizes.get("s")
    if t is None or s is None or "masked" not in made_of(set(own)):
        return []
    return [
        replace(reading, arrays={**reading.arrays, "mask": each.value}, mask=each)
        for each in inferred(reading.mask, t, s, _zeros(own, (reading.sizes["h"], t, s)))
    ]


def with_pattern(reading: Reading) -> Iterator[Reading]:
    """Readings with a sliding window or ALiBi's biases on top of the masks."""
    t, s = reading.sizes.get("t"), reading.sizes.get("s")
    if t == s and t and not (reading.mask and reading.mask.inferred):
        for each in patterned(reading.mask, reading.sizes["h"], t):
            yield replace(reading, arrays={**reading.arrays, "mask": each.value}, mask=each)


def _zeros(own: OwnArrays, shape: tuple[int, int, int]) -> np.ndarray | None:
    """Where attention is exactly 0 or a score is hidden; None if no array of this shape, or its average, shows it."""
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


def largest_stage(sizes: Sizes, stages: Sequence[str] = _STAGES) -> int:
    """The size of the largest of the stages with these axes."""
    return max(math.prod(sizes.get(axis, 1) for axis in axes) for axes in stages)


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
