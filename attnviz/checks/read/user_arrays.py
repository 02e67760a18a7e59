"""User arrays: a user's arrays as stages, in each way that their names may mean, and numbers such as a scale."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from attnviz.checks.read.decode_steps import as_decode_steps
from attnviz.checks.read.files import as_array, numeric
from attnviz.checks.read.formats import Digits, Format, written_in
from attnviz.checks.read.layouts import (
    BY_HEADS,
    IN_OUT,
    OUT_IN,
    PROJECTIONS,
    FusedLayout,
    Orientation,
    computable,
    fused_layouts,
    stages,
)
from attnviz.checks.read.masks import HIDES, MaskReading, UserMask, mask_readings
from attnviz.checks.read.names import (
    Meaning,
    convention,
    is_by_heads,
    is_from_keras,
    meanings,
    named,
    named_number,
    names_by_stage,
    stage_named,
)
from attnviz.checks.read.rewrites import after_full_width_norm, with_block_diagonal_matrices
from attnviz.checks.read.rounding import Tolerance
from attnviz.core.errors import OwnArraysError

# The inputs of PyTorch's and Keras' attention, which it projects
_PROJECTED = (["query"], ["query", "value"], ["query", "key", "value"])
_FLAX_INPUT = re.compile(r"(?:.*[./])?inputs_(?:q|k|v|kv)", re.DOTALL)
ZERO_KEY = "(key of zeros)"  # the name of a sink of 0 that stands for a key of zeros
NEAR_ONE = 0.02  # how far from 1 a row of attention may sum in bfloat16


@dataclass(frozen=True, eq=False)
class UserArray:
    """One of the user's arrays under their name, in their layout; Boolean for a mask that selects, else float64."""

    name: str
    value: np.ndarray
    dtype: np.dtype  # the original type
    orientation: str | None = None  # the family of a matrix's layout, if its name, its shape or the user tells it
    masks: tuple[MaskReading, ...] = ()
    note: str = ""  # a sentence, if the user's layer computes it in an unsupported way

    @cached_property
    def format_and_digits(self) -> tuple[Format, Digits | None]:
        """The number format, and the digits if the numbers were rounded to few."""
        return written_in(self.value, self.dtype)


UserArrays = Mapping[str, UserArray]  # by stages, in the order of the pass


@dataclass(frozen=True)
class Conventions:
    """What the user states; None means whatever fits."""

    n_heads: int | None = None
    orientation: Orientation | None = None  # of all matrices
    true_is: Meaning | None = None  # in all masks
    tolerance: Tolerance | None = None  # of all numbers


def user_arrays(
    arrays: Mapping[str, np.ndarray], stated: Conventions | None = None
) -> tuple[list[UserArrays], tuple[str, ...]]:
    """Assign arrays to stages, in each way to split fused q, k and v; and list the unknown names.

    OwnArraysError if an array holds no real numbers, or two arrays are the same stage.
    """
    stated = stated or Conventions()
    arrays = _without_same_inputs({name: as_array(name, array) for name, array in arrays.items()})
    by_stage, known = names_by_stage(arrays, _weights_called_scores(arrays)), meanings(arrays)
    names = [name for each in by_stage.values() for name in each]
    numbers = {name: numeric(name, arrays[name]) for name in names}
    read: dict[str, UserArray] = {}
    for stage, (name, *_) in by_stage.items():
        array, orientation = numbers[name], stated.orientation or known[name].orientation
        read[stage] = UserArray(name, array.astype(np.float64), array.dtype, orientation)
    if "mask" in by_stage:
        masks = [_user_mask(name, numbers[name], stated.true_is, names) for name in by_stage["mask"]]
        ways = mask_readings(masks)
        read["mask"] = UserArray(" and ".join(by_stage["mask"]), ways[0].value, np.dtype(bool), masks=ways)
    unread = tuple(name for name in arrays if name not in names)
    return [_split(read, cut) for cut in _fused_layouts(read, stated)], unread


def _without_same_inputs(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays without those inputs of Flax that are the same as `inputs_q` or `inputs_k`."""
    own = {re.split(r"[./]", name)[-1]: name for name in arrays if _FLAX_INPUT.fullmatch(name)}
    left_out = {
        own[other]
        for kept, others in (("inputs_k", ("inputs_v",)), ("inputs_q", ("inputs_kv", "inputs_k")))
        for other in others
        if kept in own and other in own and np.array_equal(arrays[own[kept]], arrays[own[other]])
    }
    return {name: each for name, each in arrays.items() if name not in left_out}


def _user_mask(name: str, array: np.ndarray, true_is: Meaning | None, names: Iterable[str]) -> UserMask:
    known = named(name)
    usual = convention(name, array.dtype.kind == "b", names)
    return UserMask.of(name, array, true_is or (known.true_is if known else None), usual)


def _fused_layouts(arrays: UserArrays, stated: Conventions) -> Sequence[FusedLayout]:
    """The ways to split a fused array of q, k and v; any one if there is none."""
    fused = arrays.get("w_qkv")
    if fused is None or fused.value.ndim < 2:
        return [FusedLayout((fused and fused.orientation) or OUT_IN)]
    shapes = {stage: each.value.shape for stage, each in arrays.items()}
    width = shapes["x"][-1] if shapes.get("x") else None
    joined = width
    if len(shapes.get("w_o", ())) >= 2:
        joined = next((n for n in shapes["w_o"][-2:] if n != width), width) or shapes["w_o"][-1]
    scores = (shapes.get(stage, ()) for stage in ("attention", "scores", "scaled", "masked"))
    n_heads = stated.n_heads or next((shape[-3] for shape in scores if len(shape) > 2), None)
    ways = fused_layouts(fused.value, fused.orientation, width, joined, n_heads)
    if "in_proj_weight" in fused.name.lower():  # PyTorch's; GPT-2's name is ambiguous
        return [each for each in ways if not each.n_groups]
    return sorted(ways, key=lambda each: each.n_groups == 0 and is_by_heads(fused.name))


def _split(arrays: UserArrays, cut: FusedLayout) -> UserArrays:
    by_stage = {stage: array for stage, array in arrays.items() if stage not in ("w_qkv", "b_qkv")}
    for stage, family in (("w_qkv", BY_HEADS if cut.n_groups else cut.orientation), ("b_qkv", None)):
        if fused := arrays.get(stage):
            parts = cut.split(fused.name, fused.value, 2 if stage == "w_qkv" else 1)
            for letter, part in zip("qkv", parts, strict=True):
                by_stage[f"{stage[0]}_{letter}"] = UserArray(fused.name, part, fused.dtype, family)
    if "w_o" in by_stage and all(name in by_stage and by_stage[name].value.ndim > 2 for name in PROJECTIONS):
        by_stage["w_o"] = replace(by_stage["w_o"], orientation=by_stage["w_o"].orientation or IN_OUT)
    return _in_order(by_stage)


def _in_order(arrays: UserArrays) -> UserArrays:
    return {stage: arrays[stage] for stage in stages() if stage in arrays}


def _weights_called_scores(arrays: Mapping[str, np.ndarray]) -> str:
    """The name of attention weights that is one of scores, as in Keras; "" if there are none."""
    stage_of = {name: stage_named(name) for name in arrays}
    called = [name for name, stage in stage_of.items() if stage == "scores" and arrays[name].dtype.kind in "fV"]
    if "attention" in stage_of.values():
        return ""
    return next((name for name in called if _are_weights(numeric(name, arrays[name]), is_from_keras(name, arrays))), "")


def _are_weights(scores: np.ndarray, is_from_keras: bool) -> bool:
    """Whether "scores" are attention weights; those of queries that see no key may be 0 or NaN.

    By Keras' name they are, unless one is below 0, whatever a mistake such as dropout makes of their sums.
    """
    sums, scores = scores.sum(axis=-1, dtype=np.float64), scores.astype(np.float64)
    are_ones, are_none = np.abs(sums - 1) < NEAR_ONE, (sums == 0) | np.isnan(scores).all(axis=-1)
    if is_from_keras:
        return bool((np.isnan(scores) | (scores >= 0) | (scores <= HIDES)).all())
    return bool(((scores >= 0) | are_none[..., None]).all() and are_ones.any() and (are_ones | are_none).all())


def other_meanings(arrays: UserArrays) -> Iterator[UserArrays]:
    """The arrays, and what else some of their names may mean in a pass from these arrays; the likeliest first."""
    arrays = _in_order(with_block_diagonal_matrices(after_full_width_norm(arrays)))
    steps = [*map(_in_order, as_decode_steps(arrays))]
    if steps:
        yield from steps
        return
    for each in _with_query_as_x(arrays):
        for way in _with_output_as_heads(each):
            yield from _with_zero_key(way)


def _with_query_as_x(arrays: UserArrays) -> list[UserArrays]:
    """If W_Q is given without x, first with the query input of a library's attention as x."""
    inputs = {letter: arrays[letter] for letter in "qkv" if letter in arrays}
    names = [each.name.lower() for each in inputs.values()]
    if {"x", "context"} & set(arrays) or "w_q" not in arrays or names not in _PROJECTED:
        return [arrays]
    query, *others = inputs.values()
    if others and not np.array_equal(others[0].value, others[-1].value):
        return [arrays]
    renamed = {stage: each for stage, each in arrays.items() if stage not in inputs} | {"x": query}
    if others and not np.array_equal(query.value, others[0].value):
        renamed["context"] = others[0]
    return [_in_order(renamed), arrays]


def _with_output_as_heads(arrays: UserArrays) -> list[UserArrays]:
    """Without W_O, first with an output taken for the head outputs."""
    if "output" not in arrays or set(arrays) & {"w_o", "heads", "concat"} or "heads" not in computable(set(arrays)):
        return [arrays]
    return [_in_order({"heads" if stage == "output" else stage: each for stage, each in arrays.items()}), arrays]


def _with_zero_key(arrays: UserArrays) -> list[UserArrays]:
    """If attention has one key too many, then also with a sink of 0 in its place.

    A key of zeros, as `add_zero_attn` of `nn.MultiheadAttention` appends, has the same effect.
    """
    attention, x = arrays.get("attention"), arrays.get("context") or arrays.get("x")
    if attention is None or x is None or "sinks" in arrays or attention.value.ndim < 3:
        return [arrays]
    adds_up = (np.abs(attention.value.sum(axis=-1) - 1) < NEAR_ONE).all()
    if not adds_up or attention.value.shape[-1] != max(x.value.shape[:-1], default=0) + 1:
        return [arrays]
    sinks = UserArray(ZERO_KEY, np.zeros(attention.value.shape[-3]), attention.dtype)
    shorter = replace(attention, value=attention.value[..., :-1])
    return [arrays, _in_order({**arrays, "attention": shorter, "sinks": sinks})]


def numbers_in(arrays: Mapping[str, np.ndarray]) -> tuple[dict[str, float], dict[str, np.ndarray]]:
    """Separate the scale and the softcap from the other arrays; OwnArraysError if one isn't a positive number."""
    numbers: dict[str, float] = {}
    rest = dict(arrays)
    for name, array in arrays.items():
        if (kind := named_number(name)) and np.size(array) == 1:
            number = float(numeric(name, as_array(name, rest.pop(name))).item())
            if not 0 < number < np.inf:
                raise OwnArraysError(f"{_RULES[kind]}, a number above 0; got {number:g}.")
            numbers.setdefault(kind, number)
    return numbers, rest


_RULES = {
    "scale": "A scale is what scores are multiplied by",
    "softcap": "A softcap is the limit that no score gets beyond",
}
