"""Arrays: someone's arrays as stages of a pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from attnviz.checks.digits import Digits
from attnviz.checks.files import as_array, numeric
from attnviz.checks.formats import Format, written_in
from attnviz.checks.fused import Cut, cuts
from attnviz.checks.layouts import BY_HEADS, IN_OUT, OUT_IN, Layout, Sizes, arranged, fitted, layouts_of
from attnviz.checks.masks import MaskReading, OwnMask, mask_readings
from attnviz.checks.names import (
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
from attnviz.checks.stages import PROJECTIONS, made_of, stages
from attnviz.core.errors import OwnArraysError

_CALLED = (["query"], ["query", "key", "value"])
"""The arguments of `nn.MultiheadAttention`, which it projects."""

ZERO_KEY = "(key of zeros)"
"""What a sink of 0 is called that stands for a key of zeros."""

NEAR_ONE = 0.02
"""How far from 1 the sum of a row of attention may be in bfloat16."""


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
    orientation : str, optional
        The family of layouts that a matrix is known to be of, by its name, its shape or its owner; None if it isn't.
    masks : tuple of MaskReading
        The ways of reading a mask.
    """

    name: str
    value: np.ndarray
    dtype: np.dtype
    orientation: str | None = None
    masks: tuple[MaskReading, ...] = ()

    @cached_property
    def format_and_digits(self) -> tuple[Format, Digits | None]:
        """The format that its numbers are of, and their digits, if they are few."""
        return written_in(self.value, self.dtype)

    @property
    def digits(self) -> Digits | None:
        """To how many digits its numbers were written, if not to all."""
        return self.format_and_digits[1]


OwnArrays = Mapping[str, OwnArray]


@dataclass(frozen=True)
class Conventions:
    """Conventions that someone states of their arrays; whatever they don't is what fits.

    Attributes
    ----------
    n_heads : int, optional
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
    """Numbers among someone's arrays that say how scores are made.

    Attributes
    ----------
    scale : float, optional
        What scores are multiplied by; 1 / √d_k by default.
    softcap : float, optional
        The limit that no score gets beyond.
    """

    scale: float | None = None
    softcap: float | None = None


NO_NUMBERS = Numbers()


def own_arrays(
    arrays: Mapping[str, np.ndarray], stated: Conventions = NONE_STATED
) -> tuple[list[OwnArrays], tuple[str, ...]]:
    """The arrays by their stages, those of q, k and v in one taken apart; and the names that aren't known.

    Parameters
    ----------
    arrays : mapping of names to ndarray
    stated : Conventions, optional

    Returns
    -------
    list of mappings of stages to OwnArray
        More than one if nothing tells how a matrix of q, k and v in one is taken apart.
    tuple of str

    Raises
    ------
    OwnArraysError
        If one holds no real numbers, or two are the same stage.
    """
    arrays = {name: as_array(name, array) for name, array in arrays.items()}
    names = recognised(arrays)
    unread = tuple(name for name in arrays if not any(name in each for each in names.values()))
    known = {stage: [(name, numeric(name, arrays[name])) for name in each] for stage, each in names.items()}
    together = {stage: _own_array(stage, each, known, stated) for stage, each in known.items()}
    return [_by_stages(together, cut) for cut in _cuts(known, stated)], unread


def numbers_in(arrays: Mapping[str, np.ndarray]) -> tuple[Numbers, dict[str, np.ndarray]]:
    """The numbers among the arrays that say how scores are made, and the other arrays.

    Raises
    ------
    OwnArraysError
        If one is no number above 0.
    """
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
    """The ways of taking q, k and v in one apart; only None where they aren't in one."""
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
    """The arrays of a stage as one, in float64 once, however many ways there are of taking it apart."""
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
    """The arrays; before them, where they have an output and no W_O, with the output as what comes before W_O."""
    if "output" not in own or set(own) & {"w_o", "heads", "concat"} or "heads" not in made_of(set(own)):
        return [own]
    called = {"heads" if stage == "output" else stage: array for stage, array in own.items()}
    return [{stage: called[stage] for stage in stages() if stage in called}, own]


def with_zero_key(own: OwnArrays) -> list[OwnArrays]:
    """The arrays; after them, where attention has a key more than there are tokens, with a sink of 0 in its place.

    A key of zeros, which `add_zero_attn` of `nn.MultiheadAttention` adds, does the same.
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
    """The arrays; before them, where they have W_Q and no x, with what `nn.MultiheadAttention` calls query as x."""
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
    """An array in attnviz's layout, for each layout that it may have."""
    for layout in layouts_of(stage):
        fit = fitted(layout, own.value.shape, sizes)
        if fit:
            yield layout, arranged(own.value, layout, stage, fit)


def _are_shares(scores: np.ndarray) -> bool:
    """Whether scores are attention, as Keras calls it; a query that sees no key may have a row of zeros."""
    sums = scores.sum(axis=-1)
    are_ones = np.abs(sums - 1) < NEAR_ONE
    return bool((scores >= 0).all() and are_ones.any() and (are_ones | (sums == 0)).all())


def _masked_by(arrays: list[tuple[str, np.ndarray]], true_is: Meaning | None, names: list[str]) -> OwnArray:
    """One or more masks as one, in a file whose other arrays have these names."""
    masks = [
        OwnMask.of(name, array, true_is or named(name).true_is, convention(name, array.dtype.kind == "b", names))
        for name, array in arrays
    ]
    readings = mask_readings(masks)
    return OwnArray(" and ".join(each.name for each in masks), readings[0].value, np.dtype(bool), masks=readings)
