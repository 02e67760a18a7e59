"""Readings: the ways to fit together those of the user's arrays that a pass starts from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attnviz.checks.read.decode_steps import CACHE_STAGES
from attnviz.checks.read.layouts import (
    GAINS,
    IN_OUT,
    MAX_HEADS,
    OUT_IN,
    PROJECTIONS,
    REPEATED,
    Layout,
    Sizes,
    arranged,
    computable,
    fitted,
    layouts_of,
    stages,
    stages_after_scores,
)
from attnviz.checks.read.limits import most_numbers
from attnviz.checks.read.masks import HIDES, MaskReading, inferred_masks, patterned_masks
from attnviz.checks.read.rewrites import full_width_norm
from attnviz.checks.read.table_rotation import Positions, TableRotation, as_table
from attnviz.checks.read.user_arrays import UserArrays
from attnviz.checks.read.user_tables import OF_QUERIES, UserTables
from attnviz.core.errors import OwnArraysError
from attnviz.core.operations.norms import RMSNorm
from attnviz.core.operations.rotation import Rotation
from attnviz.core.order import CHOICES, LayerConfig, layer_configs

_MAX_READINGS = 64
_MATRICES = (*PROJECTIONS, "w_o")
_CONTRIBUTIONS = 2  # contributions may have this many times the numbers of another stage
_STAGES = ("hts", "htd", "hsd", "hsv", "htv", "to", "tn", "te")


@dataclass(frozen=True)
class L2Norm(RMSNorm):
    """Each row divided by its length, as cosine attention does with queries and keys (as in Swin Transformer V2)."""

    epsilon: float = 1e-24

    def factor(self, x: np.ndarray) -> np.ndarray:
        return super().factor(x) / x.shape[-1] ** 0.5


@dataclass(frozen=True, eq=False)
class Reading:
    """One way to read the arrays that a pass starts from, in attnviz's layouts."""

    sizes: Sizes
    layouts: Mapping[str, Layout]
    arrays: Mapping[str, np.ndarray]
    config: LayerConfig
    mask: MaskReading | None = None
    adds_to_gains: bool = False  # whether 1 is added to each gain, as in Gemma
    positions: Positions | None = None  # those of the keys; None if all are 0, 1, 2, ...
    has_fitted_scale: bool = False  # whether the scale was fitted, as the arrays lack it

    @property
    def table(self) -> TableRotation | None:
        """The rotation by the user's own table, if there is one."""
        rotation = self.config.rotation
        return rotation if isinstance(rotation, TableRotation) and rotation.is_given else None

    @property
    def is_of_cosines(self) -> bool:
        """Whether queries and keys are divided by their lengths."""
        return isinstance(self.config.qk_norm, L2Norm)

    @property
    def begins_with_queries(self) -> bool:
        """Whether queries and keys are given, which may be rotated already."""
        return {"q", "k"} <= self.arrays.keys() and self.arrays.keys().isdisjoint(("q_rotated", "k_rotated"))

    def with_mask(self, mask: MaskReading) -> Reading:
        return replace(self, arrays={**self.arrays, "mask": mask.value}, mask=mask)


def readings(
    arrays: UserArrays, n_heads: int | None, numbers: Mapping[str, float], tables: UserTables
) -> list[Reading]:
    """All readings in which the arrays fit each other, the simplest first; `numbers` are a scale and a softcap.

    If shapes allow it, all matrices have the same layout. OwnArraysError if nothing fits, or a stage is too large.
    """
    later = stages_after_scores()
    last = {"embeddings", "positions", *later[later.index("concat") + 1 :]}
    first = set(arrays) - computable(set(arrays)) - last
    begins = [stage for stage in stages() if stage in first]
    lengths = {length for array in arrays.values() for length in array.value.shape}
    divisors = [h for h in range(1, MAX_HEADS + 1) if h == 1 or any(length % h == 0 for length in lengths)]
    ranked = []
    for h in divisors if n_heads is None else (n_heads,):
        for sizes, layouts in _fits(begins, arrays, {"h": h}, {}):
            misfits = 0
            for stage in stages():
                if stage in arrays and stage not in first:
                    fits = (fitted(each, arrays[stage].value.shape, sizes) for each in layouts_of(stage))
                    fit = next(filter(None, fits), None)
                    misfits += fit is None
                    sizes = fit or sizes
            ranked.append((misfits, _n_mixed(layouts), h, sizes, layouts))
    if not set(begins) - {"mask"}:
        names = ", ".join(each.name[:40] for each in arrays.values()) or "no array of a known name"
        raise OwnArraysError(
            f"A pass begins with x and parameters, with q, k and v, or with scores or attention; got {names}."
        )
    if not ranked:
        if gain := full_width_norm(arrays):
            raise OwnArraysError(
                f"A norm of queries and keys has a gain for each dimension of one head; {gain[:40]!r} has those of all "
                "heads, as in OLMo 2. Give q and k as they are after it, and leave their matrices and norms out."
            )
        shapes = ", ".join(f"{arrays[stage].name[:40]} {arrays[stage].value.shape}" for stage in begins[:8])
        raise OwnArraysError(
            f"The arrays must fit each other in some layout, those of one sentence or all of a batch; "
            f"got {shapes}. Check which axis counts what."
        )
    fewest = min(rank[0] for rank in ranked)
    ranked = [rank for rank in ranked if rank[0] == fewest]
    # two matrices alone don't tell their common layout
    flat = [arrays[w] for w in _MATRICES if w in arrays and arrays[w].value.ndim == 2]
    most_mixed = min(rank[1] for rank in ranked) + (len(flat) == 2 and all(each.orientation is None for each in flat))
    ranked = sorted((rank for rank in ranked if rank[1] <= most_mixed), key=lambda rank: rank[1:3])
    most = most_numbers()
    small = [rank for rank in ranked if largest_stage(rank[3]) <= most]
    if not small:
        raise OwnArraysError(
            f"A stage may have at most {most:,} numbers; with these arrays one would have "
            f"{largest_stage(ranked[0][3]):,}. Give fewer tokens."
        )
    if "contributions" in arrays:  # they have an output row for each head, and are computed only if given
        small = [rank for rank in small if largest_stage(rank[3], ("hto",)) <= _CONTRIBUTIONS * most]
        if not small:
            raise OwnArraysError(
                f"Contributions may have at most {_CONTRIBUTIONS * most:,} numbers; the pass of these arrays has "
                f"{largest_stage(ranked[0][3], ('hto',)):,}. Leave {arrays['contributions'].name[:60]!r} out."
            )
    read = [
        each for *_, sizes, layouts in small[:_MAX_READINGS] for each in _read(arrays, sizes, layouts, numbers, tables)
    ]
    return sorted(read, key=lambda each: each.mask.unlikelihood if each.mask else 0)


def _fits(
    todo: list[str], arrays: UserArrays, sizes: Sizes, layouts: dict[str, Layout]
) -> Iterator[tuple[Sizes, dict[str, Layout]]]:
    """The layouts in which the remaining arrays fit those already read."""
    if not todo:
        yield sizes, layouts
        return
    stage, *rest = todo
    array = arrays[stage]
    seen: list[tuple[Sizes, np.ndarray]] = []
    fitting = [(each, fit) for each in layouts_of(stage) if (fit := fitted(each, array.value.shape, sizes))]
    for layout, fit in [each for each in fitting if each[0].family == array.orientation] or fitting:
        read = arranged(array.value, layout, stage, fit)
        if any(fit == other and np.array_equal(read, each) for other, each in seen):
            continue  # same numbers, as with a single head
        seen.append((fit, read))
        if (layout.title != REPEATED or stage in CACHE_STAGES) and not (sizes["h"] > 1 and layout.is_averaged):
            yield from _fits(rest, arrays, {**fit, **_implied(stage, fit, arrays)}, layouts | {stage: layout})


def _implied(stage: str, sizes: Sizes, arrays: UserArrays) -> Sizes:
    """Sizes that x determines: it is its own context, and is q, k and v if there are no projections."""
    if stage in ("past_key", "past_unrotated_key"):
        return {"s": sizes["t"] + sizes["p"]} if "t" in sizes else {}
    if stage != "x":
        return {}
    projected = set(arrays) & {*PROJECTIONS, "q", "k", "v"}
    is_own_context = "context" not in arrays and (not projected or set(arrays) & {"w_k", "w_v"})
    implied = {"s": sizes["t"], "c": sizes["m"]} if is_own_context else {}
    if not arrays.keys().isdisjoint(CACHE_STAGES):  # the cache's length is known later
        implied.pop("s", None)
    return implied if projected else implied | {"d": sizes["m"], "v": sizes["m"], "g": sizes["h"]}


def _n_mixed(layouts: Mapping[str, Layout]) -> int:
    """How many different layouts a reading mixes."""
    families = {stage: layout.family for stage, layout in layouts.items()}
    flat = {families[w] for w in _MATRICES if families.get(w) in (IN_OUT, OUT_IN)}
    split = {families[w] for w in PROJECTIONS if w in families} - {IN_OUT, OUT_IN}
    headed = {families[each] for each in "qkv" if each in families}
    return sum(max(len(each) - 1, 0) for each in (flat, split, headed))


def _read(
    arrays: UserArrays, sizes: Sizes, layouts: Mapping[str, Layout], numbers: Mapping[str, float], tables: UserTables
) -> list[Reading]:
    values = {}
    for stage, layout in layouts.items():
        value, fit = arrays[stage].value, fitted(layout, arrays[stage].value.shape, sizes)
        if stage != "mask" and fit:
            values[stage] = arranged(value, layout, stage, fit)
    d_k, scale = sizes.get("d"), numbers.get("scale")
    if scale and d_k and math.isclose(scale, d_k**-0.5, rel_tol=1e-6):
        scale = None  # the default, and reported as such
    names = set(arrays) - ({"capped"} if "softcap" in numbers else set())
    more: dict[str, Any] = {"softcap": numbers["softcap"]} if "softcap" in numbers else {}
    positions = _positions(arrays, sizes, tables)
    rotations, may_lack = _rotations(names, values, sizes, tables)
    names -= {"q_rotated", "k_rotated"} if rotations else set()
    configs = [replace(each, n_heads=sizes["h"], d_k=d_k, scale=scale, **more) for each in layer_configs(names)]
    if not names.isdisjoint(("q_normed", "k_normed")):
        configs += [replace(each, qk_norm=L2Norm()) for each in configs if each.qk_norm == RMSNorm()]
    if d_k == 1:  # a single dimension forms no pair
        configs = [replace(each, rotation=None) for each in configs]
    rotated = [replace(each, rotation=rotation) for each in configs for rotation in rotations]
    if not rotations and positions and d_k:
        where = np.array(positions)
        placed = (each.rotation and as_table(each.rotation.for_length(d_k), where) for each in configs)
        configs = [replace(each, rotation=rotation) for each, rotation in zip(configs, placed, strict=True)]
        if "x" in values and not any(each.rotation for each in configs):
            configs += [
                replace(each, rotation=as_table(rotation, where)) for each in configs for rotation in _usual(d_k)
            ]
    read = [
        Reading(sizes, layouts, values, config, positions=positions)
        for config in (*rotated, *(configs if may_lack or not rotations else ()))
    ]
    if gains := [each for each in GAINS if each in values]:
        added = values | {each: 1 + values[each] for each in gains}
        read += [replace(each, arrays=added, adds_to_gains=True) for each in read]
    if "mask" not in layouts:
        return read
    masks = [each.arranged(sizes.get("t", 1), sizes["s"]) for each in arrays["mask"].masks]
    return [each.with_mask(mask) for mask in masks for each in read]


def _positions(arrays: UserArrays, sizes: Sizes, tables: UserTables) -> Positions | None:
    """The positions of the keys, if they aren't 0, 1, 2, ... or the queries' aren't."""
    has_context = "context" in arrays and "x" in arrays and arrays["context"].name != arrays["x"].name
    if has_context and tables.position_name != OF_QUERIES:
        return None  # two texts have separate positions
    return tables.positions_of(sizes.get("t", 1), sizes.get("s", 1))


def rotated_by(reading: Reading, arrays: UserArrays, tables: UserTables) -> Iterator[Reading]:
    """A reading with the tables and positions of its own sentence, by which it is rotated in the same way."""
    positions, usual, d_k = _positions(arrays, reading.sizes, tables), reading.config.rotation, reading.config.d_k
    rotations: Sequence[Rotation | None] = [usual]
    if own := reading.table:
        ways, _ = _rotations({*arrays}, reading.arrays, reading.sizes, tables)
        rotations = [each for each in ways if replace(each, table=own.table) == own]
    elif usual and d_k:
        by_base = Rotation(usual.base, usual.pairs, usual.dims, usual.first).for_length(d_k)
        rotations = [as_table(by_base, np.array(positions)) if positions else by_base]
    for each in rotations:
        yield replace(reading, config=replace(reading.config, rotation=each), positions=positions)


def _usual(d_k: int) -> list[Rotation]:
    """The rotations of published models, which a decode step may have done at other positions."""
    return [each.for_length(d_k) for each in CHOICES["rotation"]] if d_k % 2 == 0 else []


def _rotations(
    names: set[str], values: Mapping[str, np.ndarray], sizes: Sizes, tables: UserTables
) -> tuple[list[TableRotation], bool]:
    """The rotations by the user's tables, and whether the pass may be one without them.

    Given queries and keys may be rotated already, and angles without a table may have been scaled on the way.
    """
    if not sizes.keys() >= {"d", "s"} or not {"q", "k"} & (names | computable(names)):
        return [], True
    n_kept = sizes["p"] if "past_key" in names else 0
    if "k_rotated" in values:  # all rotated keys are given, so only queries are rotated
        n_kept = max(sizes.get("s", 1) - sizes.get("t", 1), 0)
    # rotated queries and keys show which pairs were rotated; in GLM these aren't those of its tables
    may_turn_others = {"q_rotated", "k_rotated"} <= names
    rotations = [*tables.rotations(sizes["d"], sizes.get("t", 1), sizes["s"], n_kept, may_turn_others)]
    is_rotated = not names.isdisjoint(("q_rotated", "k_rotated"))
    return rotations, not is_rotated and ({"q", "k"} <= values.keys() or tables.speeds is not None)


def with_inferred_mask(reading: Reading, arrays: UserArrays) -> list[Reading]:
    """Readings in which more keys are hidden than the masks hide."""
    t, s = reading.sizes.get("t"), reading.sizes.get("s")
    if t is None or s is None or "masked" not in computable(set(arrays)):
        return []
    zeros = _zeros(arrays, (reading.sizes["h"], t, s))
    return [reading.with_mask(each) for each in inferred_masks(reading.mask, t, s, zeros)]


def with_patterned_mask(reading: Reading) -> Iterator[Reading]:
    """Readings with a sliding window or ALiBi's biases on top of the masks."""
    t, s = reading.sizes.get("t"), reading.sizes.get("s")
    if t and s and t <= s and (not reading.mask or reading.mask.inferred in ("", "causal")):
        yield from map(reading.with_mask, patterned_masks(reading.mask, reading.sizes["h"], t, s))


def _zeros(arrays: UserArrays, shape: tuple[int, int, int]) -> np.ndarray | None:
    """Where attention is exactly 0 or a score is hidden; None if no array of this shape, or its average, shows it."""
    for stage in ("masked", "scores", "attention"):
        if stage in arrays:
            value = arrays[stage].value
            value = value.reshape(value.shape[next((at for at, n in enumerate(value.shape[:-2]) if n > 1), -2) :])
            if value.shape not in (shape, shape[1:]):
                continue
            zeros = (value == 0) | np.isnan(value) if stage == "attention" else value <= HIDES / 2
            if stage != "scores" or zeros.any():
                return zeros
    return None


def sizes_of(shapes: Mapping[str, tuple[int, ...]]) -> Sizes:
    """The length of each axis of a pass with these shapes."""
    n_heads = next(shape[0] for name, shape in shapes.items() if name in ("scores", "masked", "attention", "q", "v"))
    sizes: Sizes = {"h": n_heads, "g": next((shapes[each][0] for each in "kv" if each in shapes), n_heads)}
    for name, shape in shapes.items():
        if name in stages():
            sizes = fitted(layouts_of(name)[0], shape, sizes) or sizes
    return sizes


def largest_stage(sizes: Sizes, stages: Sequence[str] = _STAGES) -> int:
    """The size of the largest of the stages with these axes."""
    return max(math.prod(sizes.get(axis, 1) for axis in axes) for axes in stages)
