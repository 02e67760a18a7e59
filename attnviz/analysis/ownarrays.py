"""Own arrays: someone's arrays as stages of a pass, and the ways in which they can be read as such."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from attnviz.analysis.arrayfiles import numeric
from attnviz.analysis.arraynames import Meaning, Named, Orientation, named, recognised
from attnviz.analysis.layouts import IN_OUT, LAYOUTS, ORDER, OUT_IN, Layout, Sizes, arranged, fitted
from attnviz.analysis.ownpass import PROJECTIONS, beginnings
from attnviz.core.errors import OwnArraysError
from attnviz.core.settings import MAX_STAGE_NUMBERS

_MAX_HEADS = 128
_MAX_READINGS = 64
_WEIGHTS = (*PROJECTIONS, "w_o")
_ENDS = {"embeddings", "positions", "contributions", "output", "residual"}
"""The stages that no pass begins with."""


@dataclass(frozen=True, eq=False)
class OwnArray:
    """One of someone's arrays.

    Attributes
    ----------
    name : str
        As they call it.
    value : ndarray
        As they lay it out; of bool, where it is a mask that selects, or float64.
    dtype : dtype
        As it came.
    orientation : {"(in, out)", "(out, in)"}, optional
        How a matrix is known to be laid out, by its name, its shape or its owner; None if it isn't.
    true_is : {"visible", "hidden"}, optional
        What is known of True in a mask.
    """

    name: str
    value: np.ndarray
    dtype: np.dtype
    orientation: Orientation | None = None
    true_is: Meaning | None = None


OwnArrays = Mapping[str, OwnArray]


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
    true_is : {"visible", "hidden"}, optional
        How a mask that selects was read.
    """

    sizes: Sizes
    layouts: Mapping[str, Layout]
    arrays: Mapping[str, np.ndarray]
    true_is: Meaning | None = None


def own_arrays(
    arrays: Mapping[str, np.ndarray], orientation: Orientation | None = None, true_is: Meaning | None = None
) -> tuple[dict[str, OwnArray], tuple[str, ...]]:
    """The arrays by their stages, those of q, k and v in one taken apart; and the names that aren't known.

    Parameters
    ----------
    arrays : mapping of names to ndarray
    orientation, true_is : str, optional
        What their owner says of all matrices, and of the mask.

    Raises
    ------
    OwnArraysError
        If one holds no real numbers, or two are the same stage.
    """
    arrays = {name: _as_array(name, array) for name, array in arrays.items()}
    stages = recognised(arrays)
    width = arrays[stages["x"]].shape[-1:] if "x" in stages else ()
    found: dict[str, OwnArray] = {}
    for stage, name in stages.items():
        says, array = named(name), numeric(name, arrays[name])
        if stage == "mask":
            found[stage] = _mask(name, array, true_is or _meaning(says, arrays))
        elif stage in ("w_qkv", "b_qkv"):
            found |= _apart(stage, name, array, orientation or says.orientation, width)
        else:
            found[stage] = OwnArray(name, array.astype(np.float64), array.dtype, orientation or says.orientation)
    if "w_o" in found and all(name in found and found[name].value.ndim > 2 for name in PROJECTIONS):
        found["w_o"] = replace(found["w_o"], orientation=found["w_o"].orientation or IN_OUT)
    return {stage: found[stage] for stage in ORDER if stage in found}, tuple(
        name for name in arrays if name not in stages.values()
    )


def readings(own: OwnArrays, n_heads: int | None = None) -> list[Reading]:
    """The ways of reading what the pass begins with in which all arrays fit each other, the simplest first.

    Where their shapes allow it, all matrices are laid out alike. What is known of an array isn't tried otherwise.

    Raises
    ------
    OwnArraysError
        If they don't fit each other, or a stage would be too large.
    """
    begins = [stage for stage in ORDER if stage in beginnings(set(own)) - _ENDS]
    ranked = []
    for h in range(1, _MAX_HEADS + 1) if n_heads is None else (n_heads,):
        for sizes, layouts in _fits(begins, own, {"h": h}, {}):
            full, misfits = _with_ends(own, sizes, set(own) - set(begins))
            ranked.append((misfits, _mixed(layouts), h, full, layouts))
    if not begins or not ranked:
        raise OwnArraysError(_misfit(own, begins))
    fewest = min(rank[0] for rank in ranked)
    ranked = [rank for rank in ranked if rank[0] == fewest]
    mixed = min(rank[1] for rank in ranked) + (1 if _may_mix(own) else 0)
    ranked = sorted((rank for rank in ranked if rank[1] <= mixed), key=lambda rank: rank[1:3])
    small = [rank for rank in ranked if _largest_stage(rank[3]) <= MAX_STAGE_NUMBERS]
    if not small:
        raise OwnArraysError(
            f"A stage may have at most {MAX_STAGE_NUMBERS:,} numbers; with these arrays one would have "
            f"{_largest_stage(ranked[0][3]):,}. Give fewer tokens."
        )
    return [each for *_, sizes, layouts in small[:_MAX_READINGS] for each in _read(own, sizes, layouts)]


def sizes_of(shapes: Mapping[str, tuple[int, ...]]) -> Sizes:
    """How long each axis of a pass is, whose stages have these shapes."""
    n_heads = next(shape[0] for name, shape in shapes.items() if name in ("scores", "masked", "attention", "q", "v"))
    sizes: Sizes = {"h": n_heads, "g": n_heads}
    for name, shape in shapes.items():
        if name in LAYOUTS:
            sizes = fitted(LAYOUTS[name][0], shape, sizes) or sizes
    return sizes


def forms(own: OwnArray, stage: str, sizes: Sizes) -> Iterator[tuple[Layout, np.ndarray]]:
    """An array in attnviz's layout, for each layout that it may have."""
    for layout in LAYOUTS[stage]:
        fit = fitted(layout, own.value.shape, sizes)
        if fit:
            yield layout, arranged(own.value, layout, stage, fit)


def _as_array(name: str, value: np.ndarray) -> np.ndarray:
    try:
        return np.asarray(value)
    except ValueError:
        raise OwnArraysError(f"{name[:60]!r} must be an array of numbers; its rows have several lengths.") from None


def _mask(name: str, array: np.ndarray, true_is: Meaning | None) -> OwnArray:
    selects = array.dtype.kind in "biu" or (array == 1).any()
    if selects and not np.isin(array, (0, 1)).all():
        raise OwnArraysError(
            f"A mask is boolean, of 0 and 1, or of floats that are added to the scores; {name[:60]!r} mixes them."
        )
    if not selects:
        if np.isnan(array).any() or np.isposinf(array).any():
            raise OwnArraysError(f"A float mask may hold finite numbers and -inf; {name[:60]!r} has NaN or inf.")
        return OwnArray(name, array.astype(np.float64), array.dtype)
    mask = array.astype(bool)
    visible, hidden = (bool(each.any(axis=-1).all()) for each in (mask, ~mask))
    if true_is is None and visible != hidden:  # the other way some query would see nothing
        true_is = "visible" if visible else "hidden"
    return OwnArray(name, mask, array.dtype, true_is=true_is)


def _meaning(says: Named, arrays: Mapping[str, np.ndarray]) -> Meaning | None:
    """What True means by the name of a mask, or by those beside it."""
    libraries = {known.library for name in arrays if (known := named(name))}
    if "torch.nn.MultiheadAttention" in libraries:
        return "hidden"
    return "visible" if "Keras and Flax" in libraries else says.true_is


def _apart(
    stage: str, name: str, array: np.ndarray, orientation: Orientation | None, width: tuple[int, ...]
) -> dict[str, OwnArray]:
    """The three arrays that one array holds for q, k and v."""
    array = array.reshape(array.shape[-2:]) if stage == "w_qkv" and array.ndim > 1 else array.reshape(-1)
    axis = 0
    if stage == "w_qkv" and array.ndim == 2:
        rows, columns = array.shape
        if rows == 3 * columns or columns == 3 * rows:
            orientation = OUT_IN if rows > columns else IN_OUT
        elif orientation is None and width:
            orientation = OUT_IN if width == (columns,) else IN_OUT
        axis = 0 if orientation in (OUT_IN, None) else 1
    if array.shape[axis] % 3:
        raise OwnArraysError(
            f"{name[:60]!r} holds what makes q, k and v beside each other, so that one of its axes is a multiple "
            f"of 3; got {array.shape}."
        )
    return {
        f"{stage[0]}_{letter}": OwnArray(name, part.astype(np.float64), array.dtype, orientation)
        for letter, part in zip("qkv", np.split(array, 3, axis=axis), strict=True)
    }


def _fits(
    todo: list[str], own: OwnArrays, sizes: Sizes, layouts: dict[str, Layout]
) -> Iterator[tuple[Sizes, dict[str, Layout]]]:
    """The layouts in which the arrays that are still to be read fit those that are."""
    if not todo:
        yield sizes, layouts
        return
    stage, *rest = todo
    fitting = [(each, fit) for each in LAYOUTS[stage] if (fit := fitted(each, own[stage].value.shape, sizes))]
    known = [found for found in fitting if found[0].family == own[stage].orientation]
    for layout, found in known or fitting:
        if sizes["h"] > 1 and layout.is_averaged:
            continue
        yield from _fits(rest, own, found | _tied(stage, found, own), layouts | {stage: layout})


def _tied(stage: str, sizes: Sizes, own: OwnArrays) -> Sizes:
    """What x says of other axes: without a context it is its own, and without projections q, k and v are x."""
    if stage != "x":
        return {}
    projected = set(own) & {*PROJECTIONS, "q", "k", "v"}
    itself = "context" not in own and (not projected or set(own) & {"w_k", "w_v"})
    tied = {"s": sizes["t"], "c": sizes["m"]} if itself else {}
    return tied if projected else tied | {"d": sizes["m"], "v": sizes["m"], "g": sizes["h"]}


def _with_ends(own: OwnArrays, sizes: Sizes, ends: set[str]) -> tuple[Sizes, int]:
    """The lengths with those that only the arrays at the end have, and how many of these don't fit."""
    misfits = 0
    for stage in ORDER:
        if stage in ends:
            fit = next((f for each in LAYOUTS[stage] if (f := fitted(each, own[stage].value.shape, sizes))), None)
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


def _read(own: OwnArrays, sizes: Sizes, layouts: Mapping[str, Layout]) -> list[Reading]:
    arrays = {
        stage: arranged(own[stage].value, layout, stage, fitted(layout, own[stage].value.shape, sizes))
        for stage, layout in layouts.items()
    }
    mask = arrays.get("mask")
    if mask is None or mask.dtype != bool:
        return [Reading(sizes, layouts, arrays)]
    meanings = [own["mask"].true_is] if own["mask"].true_is else ["visible", "hidden"]
    return [Reading(sizes, layouts, arrays | {"mask": mask if each == "visible" else ~mask}, each) for each in meanings]


def _largest_stage(sizes: Sizes) -> int:
    """How many numbers the largest stage of a pass has."""
    return max(math.prod(sizes.get(axis, 1) for axis in axes) for axes in ("hts", "htd", "hsd", "hsv", "htv", "to"))


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
