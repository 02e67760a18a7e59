"""Arrays: a user's arrays as stages of a pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from attnviz.checks.read.files import as_array, numeric
from attnviz.checks.read.formats import Digits, Format, written_in
from attnviz.checks.read.layouts import BY_HEADS, IN_OUT, OUT_IN, Cut, Layout, Sizes, arranged, cuts, fitted, layouts_of
from attnviz.checks.read.masks import MaskReading, OwnMask, mask_readings
from attnviz.checks.read.names import (
    Meaning,
    Orientation,
    convention,
    is_by_heads,
    is_in_three,
    is_scale,
    is_softcap,
    named,
    recognised,
)
from attnviz.checks.read.stages import PROJECTIONS, made_of, stages
from attnviz.core.errors import OwnArraysError

_CALLED = (["query"], ["query", "key", "value"])  # the inputs of `nn.MultiheadAttention`, which it projects
ZERO_KEY = "(key of zeros)"  # the name of a sink of 0 that stands for a key of zeros
NEAR_ONE = 0.02  # how far from 1 a row of attention may sum in bfloat16


@dataclass(frozen=True, eq=False)
class OwnArray:
    """One of the user's arrays.

    Attributes
    ----------
    name : str
        The user's name for it.
    value : ndarray
        In the user's layout; Boolean for a mask that selects, else float64.
    dtype : dtype
        The original type.
    orientation : str, optional
        The layout family of a matrix, if its name, its shape or the user tells it.
    masks : tuple of MaskReading
        The ways to read a mask.
    """

    name: str
    value: np.ndarray
    dtype: np.dtype
    orientation: str | None = None
    masks: tuple[MaskReading, ...] = ()

    @cached_property
    def format_and_digits(self) -> tuple[Format, Digits | None]:
        """The number format, and the digits if the numbers were rounded to few."""
        return written_in(self.value, self.dtype)

    @property
    def digits(self) -> Digits | None:
        """The digits that the numbers were rounded to, if any."""
        return self.format_and_digits[1]


OwnArrays = Mapping[str, OwnArray]


@dataclass(frozen=True)
class Conventions:
    """Conventions that the user states; None means whatever fits.

    Attributes
    ----------
    orientation : {"(in, out)", "(out, in)"}, optional
        Of all matrices.
    true_is : {"visible", "hidden"}, optional
        In all masks.
    """

    n_heads: int | None = None
    orientation: Orientation | None = None
    true_is: Meaning | None = None


NONE_STATED = Conventions()


@dataclass(frozen=True)
class Numbers:
    """Single numbers among the arrays that change the scores.

    Attributes
    ----------
    scale : float, optional
        The factor of the scores; 1 / √d_k by default.
    softcap : float, optional
        The limit of the scores.
    """

    scale: float | None = None
    softcap: float | None = None


NO_NUMBERS = Numbers()


def own_arrays(
    arrays: Mapping[str, np.ndarray], stated: Conventions = NONE_STATED
) -> tuple[list[OwnArrays], tuple[str, ...]]:
    """Assign arrays to stages, with fused q, k and v split; and list the unknown names.

    Parameters
    ----------
    arrays : mapping of names to ndarray
    stated : Conventions, optional

    Returns
    -------
    list of mappings of stages to OwnArray
        Several if a fused matrix can be split in several ways.
    tuple of str

    Raises
    ------
    OwnArraysError
        If an array holds no real numbers, or two arrays are the same stage.
    """
    arrays = {name: as_array(name, array) for name, array in arrays.items()}
    names = recognised(arrays)
    unread = tuple(name for name in arrays if not any(name in each for each in names.values()))
    known = {stage: [(name, numeric(name, arrays[name])) for name in each] for stage, each in names.items()}
    together = {stage: _own_array(stage, each, known, stated) for stage, each in known.items()}
    return [_by_stages(together, cut) for cut in _cuts(known, stated)], unread


def numbers_in(arrays: Mapping[str, np.ndarray]) -> tuple[Numbers, dict[str, np.ndarray]]:
    """Separate the scale and the softcap from the other arrays; OwnArraysError if one isn't a positive number."""
    scale, rest = _number_in(arrays, is_scale, "A scale is what scores are multiplied by")
    softcap, rest = _number_in(rest, is_softcap, "A softcap is the limit that no score gets beyond")
    return Numbers(scale, softcap), rest


def _number_in(
    arrays: Mapping[str, np.ndarray], is_named: Callable[[str], bool], rule: str
) -> tuple[float | None, dict[str, np.ndarray]]:
    rest = {name: array for name, array in arrays.items() if not is_named(name) or np.size(array) != 1}
    numbers = [float(numeric(name, as_array(name, arrays[name])).item()) for name in arrays if name not in rest]
    if any(not 0 < each < np.inf for each in numbers):
        raise OwnArraysError(f"{rule}, a number above 0; got {numbers[0]:g}.")
    return (numbers[0] if numbers else None), rest


def _cuts(known: Mapping[str, list[tuple[str, np.ndarray]]], stated: Conventions) -> list[Cut | None]:
    """The ways to split a fused array of q, k and v; only None if there is none."""
    if "w_qkv" not in known:
        return [Cut(OUT_IN)] if "b_qkv" in known else [None]
    (name, fused), *_ = known["w_qkv"]
    says = stated.orientation or named(name).orientation
    if fused.ndim < 2:
        return [Cut(says or OUT_IN)]
    shapes = {stage: arrays[0][1].shape for stage, arrays in known.items()}
    width = shapes["x"][-1] if shapes.get("x") else None
    joined = width
    if len(shapes.get("w_o", ())) >= 2:
        joined = next((n for n in shapes["w_o"][-2:] if n != width), width) or shapes["w_o"][-1]
    n_heads = stated.n_heads
    for stage in ("attention", "scores", "scaled", "masked"):
        if len(shapes.get(stage, ())) > 2 and n_heads is None:
            n_heads = shapes[stage][-3]
    parts = [each for each in cuts(fused, says, width, joined, n_heads) if not (is_in_three(name) and each.n_groups)]
    return sorted(parts, key=lambda each: each.n_groups == 0) if is_by_heads(name) else parts


def _own_array(
    stage: str, arrays: list[tuple[str, np.ndarray]], known: Mapping[str, list], stated: Conventions
) -> OwnArray:
    """The arrays of a stage as one, converted to float64 once."""
    if stage == "mask":
        return _masked_by(arrays, stated.true_is, [name for each in known.values() for name, _ in each])
    name, array = arrays[0]
    return OwnArray(name, array.astype(np.float64), array.dtype, stated.orientation or named(name).orientation)


def _by_stages(together: OwnArrays, cut: Cut | None) -> OwnArrays:
    by_stage: dict[str, OwnArray] = {}
    for stage, own in together.items():
        if stage in ("w_qkv", "b_qkv"):
            is_matrix = stage == "w_qkv"
            family = (BY_HEADS if cut.n_groups else cut.orientation) if is_matrix else None
            for letter, part in zip("qkv", cut.apart(own.name, own.value, 1 + is_matrix), strict=True):
                by_stage[f"{stage[0]}_{letter}"] = OwnArray(own.name, part, own.dtype, family)
        else:
            by_stage[stage] = own
    if "attention" not in by_stage and "scores" in by_stage and _are_shares(by_stage["scores"].value):
        by_stage["attention"] = by_stage.pop("scores")
    if "w_o" in by_stage and all(name in by_stage and by_stage[name].value.ndim > 2 for name in PROJECTIONS):
        by_stage["w_o"] = replace(by_stage["w_o"], orientation=by_stage["w_o"].orientation or IN_OUT)
    return {stage: by_stage[stage] for stage in stages() if stage in by_stage}


def with_heads_called_output(own: OwnArrays) -> list[OwnArrays]:
    """The arrays; without W_O, first with an output taken for the head outputs."""
    if "output" not in own or set(own) & {"w_o", "heads", "concat"} or "heads" not in made_of(set(own)):
        return [own]
    called = {"heads" if stage == "output" else stage: array for stage, array in own.items()}
    return [{stage: called[stage] for stage in stages() if stage in called}, own]


def with_zero_key(own: OwnArrays) -> list[OwnArrays]:
    """The arrays; if attention has one key too many, then also with a sink of 0 in its place.

    A key of zeros, as `add_zero_attn` of `nn.MultiheadAttention` appends, has the same effect.
    """
    attention, x = own.get("attention"), own.get("context") or own.get("x")
    if attention is None or x is None or "sinks" in own or attention.value.ndim < 3:
        return [own]
    adds_up = (np.abs(attention.value.sum(axis=-1) - 1) < NEAR_ONE).all()
    if not adds_up or attention.value.shape[-1] != max(x.value.shape[:-1], default=0) + 1:
        return [own]
    sinks = OwnArray(ZERO_KEY, np.zeros(attention.value.shape[-3]), attention.dtype)
    changed = {**own, "attention": replace(attention, value=attention.value[..., :-1]), "sinks": sinks}
    return [own, {stage: changed[stage] for stage in stages() if stage in changed}]


def with_query_entering(own: OwnArrays) -> list[OwnArrays]:
    """The arrays; if W_Q is given without x, first with the query input of `nn.MultiheadAttention` as x."""
    given = {letter: own[letter] for letter in "qkv" if letter in own}
    if {"x", "context"} & set(own) or "w_q" not in own or [each.name.lower() for each in given.values()] not in _CALLED:
        return [own]
    query, *others = given.values()
    entering = {"x": query}
    if others:
        key, value = others
        if not np.array_equal(key.value, value.value):
            return [own]
        if not np.array_equal(query.value, key.value):
            entering["context"] = key
    called = {**{stage: array for stage, array in own.items() if stage not in given}, **entering}
    return [{stage: called[stage] for stage in stages() if stage in called}, own]


def forms(own: OwnArray, stage: str, sizes: Sizes) -> Iterator[tuple[Layout, np.ndarray]]:
    """The array in attnviz's layout, for each layout that it may have."""
    for layout in layouts_of(stage):
        fit = fitted(layout, own.value.shape, sizes)
        if fit:
            yield layout, arranged(own.value, layout, stage, fit)


def _are_shares(scores: np.ndarray) -> bool:
    """Whether "scores" are attention weights, as in Keras; fully masked queries may have zeros."""
    sums = scores.sum(axis=-1)
    are_ones = np.abs(sums - 1) < NEAR_ONE
    return bool((scores >= 0).all() and are_ones.any() and (are_ones | (sums == 0)).all())


def _masked_by(arrays: list[tuple[str, np.ndarray]], true_is: Meaning | None, names: list[str]) -> OwnArray:
    """Combine the masks of a file into one array; `names` are those of the other arrays."""
    masks = [
        OwnMask.of(name, array, true_is or named(name).true_is, convention(name, array.dtype.kind == "b", names))
        for name, array in arrays
    ]
    readings = mask_readings(masks)
    return OwnArray(" and ".join(each.name for each in masks), readings[0].value, np.dtype(bool), masks=readings)
