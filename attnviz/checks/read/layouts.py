"""Layouts: the stages that arrays may be, the axes that people give them, and how they are rearranged to attnviz's."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Literal

import numpy as np

from attnviz.checks.read.decode_steps import CACHE_STAGES, AfterCache
from attnviz.checks.read.limits import most_numbers
from attnviz.core import order
from attnviz.core.arrays import real
from attnviz.core.assembly import Builder, add_layer
from attnviz.core.errors import OwnArraysError
from attnviz.core.operations.operation import Source
from attnviz.core.order import LayerConfig
from attnviz.core.parameters import ALL_AXES, Parameters
from attnviz.core.stage import Stage
from attnviz.core.trace import Trace

# --- Stages, derived from the order of stages in a layer

PROJECTIONS = ("w_q", "w_k", "w_v")
PARAMETERS = {*ALL_AXES, "w_qkv", "b_qkv"}
GAINS = tuple(name for name in ALL_AXES if name.startswith("g_"))
_INPUTS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("x", "embeddings", "positions"), ("token", "d_model")),
    "context": ("context token", "d_model"),
    **ALL_AXES,
    **dict.fromkeys(("past_key", "past_unrotated_key"), ("head", "key", "d_k")),
    "past_value": ("head", "key", "d_v"),
}


@cache
def stages() -> Mapping[str, tuple[str, ...]]:
    """The axes of every input, parameter and stage of a layer: those of a minimal pass with all that it may have."""
    build = Builder()
    for name in ("x", "context"):
        build.add_given(Stage.given(name, real(name, np.ones((1, 2)), _INPUTS[name]), _INPUTS[name]))
    lengths = {"head": 1, "group": 1}
    ones = {name: np.ones([lengths.get(axis, 2) for axis in axes]) for name, axes in ALL_AXES.items()}  # RoPE needs 2
    for stage in Parameters(**ones).stages.values():
        build.add_given(stage)
    add_layer(build, LayerConfig(1, d_k=2, **{option: values[0] for option, values in order.CHOICES.items()}))
    return {**_INPUTS, **{name: stage.axes for name, stage in build.stages.items()}}


_ORDER = [spec.name for spec in order.LAYER]


@cache
def score_stages() -> tuple[str, ...]:
    """The stages from the scores to the input of the softmax."""
    return tuple(name for name in _ORDER[_ORDER.index("scores") : _ORDER.index("attention")] if name in stages())


def stages_after_scores() -> tuple[str, ...]:
    """The stages from the softmax on."""
    return tuple(_ORDER[_ORDER.index("attention") :])


def computable(names: set[str]) -> frozenset[str]:
    """The stages that can be computed from stages of these names."""
    return _computable(frozenset(names))


@lru_cache(256)
def _computable(names: frozenset[str]) -> frozenset[str]:
    config = replace(order.layer_configs(names)[0], d_k=1)  # the length makes no difference
    present, made = {*names, "mask"}, set()
    for spec in order.LAYER:
        if spec.is_in(config) and spec.inputs(present):
            made.add(spec.name)
            present.add(spec.name)
    return frozenset(made)


_GIVEN = Source("from your arrays")


def recomputed(arrays: Mapping[str, np.ndarray], config: LayerConfig) -> Trace:
    """The pass from the stages that start it, in attnviz's layouts; ArrayError if a number of it is not finite.

    A -inf in scores that start the pass hides a key.
    """
    arrays = _with_mask_of_scores(arrays)
    mask = arrays.get("mask")
    build = Builder()
    for name, axes in stages().items():
        if name in arrays and name != "mask":
            build.add_given(Stage.given(name, real(name, arrays[name], axes), axes, _GIVEN))
    if not arrays.keys().isdisjoint(CACHE_STAGES):
        _add_with_cache(build, config)
    add_layer(build, config, mask)
    trace = Trace(tuple(build.stages.values()), {})
    return trace if mask is None else trace.with_sources({"mask": _GIVEN.recipe})


def _add_with_cache(build: Builder, config: LayerConfig) -> None:
    """Add queries, keys and values, with cached rows in front of the new ones."""
    specs = [each for each in order.LAYER[: _ORDER.index("scores")] if each.is_in(config)]
    keys = [each.name for each in specs if each.name in ("k", "k_normed", "k_rotated")]
    kept = {keys[-1]: "past_key"} if "past_key" in build.by_name else {"k": "past_unrotated_key"}
    kept["v"] = "past_value"
    for spec in specs:
        inputs = [build[each] for each in spec.inputs(build.by_name)] if spec.name not in build.by_name else []
        if inputs:
            operation, past = spec.operation(config, *inputs), kept.get(spec.name, "")
            if past in build.by_name:
                operation, inputs = AfterCache("key", operation=operation), [*inputs, build[past]]
            build.add_computed(spec.name, operation, *inputs)


def _with_mask_of_scores(arrays: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
    """Turn the -inf of scores that start the pass into a mask."""
    *_, before, masked = (each for each in score_stages() if each in computable({"scores", *arrays}) | {"scores"})
    for name in (arrays.keys() - computable(set(arrays))).intersection(score_stages()):
        seen = ~np.isneginf(arrays[name])
        if not seen.all():
            rest = {each: array for each, array in arrays.items() if each != name}
            return rest | {"mask": seen, before if name == masked else name: np.where(seen, arrays[name], 0)}
    return arrays


# --- Layouts

Orientation = Literal["(in, out)", "(out, in)"]
IN_OUT: Orientation = "(in, out)"
OUT_IN: Orientation = "(out, in)"
JOINED = "heads side by side"
BY_HEADS = "heads first, (out, in)"
REPEATED = "repeated for each head"
_AVERAGED = "averaged over heads"
_SINGLE = "each token a sentence of its own"
_SECOND, _BATCH_SECOND = "heads on the second axis", "batch on the second axis"

Sizes = Mapping[str, int]
"""The length of each axis by its letter: t queries, s keys, m and c dimensions of a token and of one of the context,
h heads, g groups of keys and values (fewer than h where heads share them), d dimensions of a query and a key, v of a
value, o of the output, p kept keys, n neurons, e the numbers that they write."""


@dataclass(frozen=True)
class Layout:
    """One layout of a stage; "(h d) m" has heads and their dimensions in one axis. Leading axes of length 1 may come.

    attnviz's own has no title. If shapes allow it, all parameters of a pass have layouts of one family.
    """

    pattern: str
    title: str = ""
    family: str = ""

    @property
    def is_averaged(self) -> bool:
        """Whether the axis of heads is missing, so that it holds their average."""
        return self.title.startswith(_AVERAGED)

    @property
    def is_of_single_tokens(self) -> bool:
        """Whether each token is a sentence of its own, with one attention weight per head."""
        return self.title.endswith(_SINGLE)


def _projection(heads: str, width: str, length: str) -> tuple[Layout, ...]:
    return (
        Layout(f"{heads} {width} {length}"),
        Layout(f"{width} {heads} {length}", "(in, heads, out)", "heads second"),
        Layout(f"{heads} {length} {width}", "(heads, out, in)", BY_HEADS),
        Layout(f"{width} ({heads} {length})", IN_OUT, IN_OUT),
        Layout(f"({heads} {length}) {width}", OUT_IN, OUT_IN),
    )


def _headed(heads: str, rows: str, length: str) -> tuple[Layout, ...]:
    return (
        Layout(f"{heads} {rows} {length}", family="heads first"),
        Layout(f"{rows} {heads} {length}", _SECOND, "heads second"),
        Layout(f"{rows} ({heads} {length})", JOINED, "joined"),
        Layout(f"{rows} 1 ({heads} {length})", _BATCH_SECOND, "joined"),
    )


def _grouped(length: str) -> tuple[Layout, ...]:
    """The layouts of keys or values that heads may share: once per group or once per head."""
    return (*_headed("g", "s", length), Layout(f"h s {length}", REPEATED, "heads first"))


def _kept(length: str) -> tuple[Layout, ...]:
    return (*_headed("g", "p", length), Layout(f"h p {length}", REPEATED, "heads first"))


def _alone(*patterns: str, title: str = "") -> tuple[Layout, ...]:
    return tuple(Layout(each, title if at else "") for at, each in enumerate(patterns))


_ROWS = _alone("h t s", "t s", title=_AVERAGED)
_LAYOUTS: Mapping[str, tuple[Layout, ...]] = {
    "x": _alone("t m", "t 1 m", title=_BATCH_SECOND),
    "context": _alone("s c", "s 1 c", title=_BATCH_SECOND),
    "w_q": _projection("h", "m", "d"),
    "w_k": _projection("g", "c", "d"),
    "w_v": _projection("g", "c", "v"),
    "w_o": (Layout("(h v) o", IN_OUT, IN_OUT), Layout("o (h v)", OUT_IN, OUT_IN), Layout("h v o", "(heads, in, out)")),
    "b_q": _alone("h d", "(h d)", title=JOINED),
    "b_k": _alone("g d", "(g d)", title=JOINED),
    "b_v": _alone("g v", "(g v)", title=JOINED),
    **dict.fromkeys(("embeddings", "positions"), _alone("t m")),
    **dict.fromkeys(("b_o", "g_mlp_norm", "b_mlp_norm"), _alone("o")),
    **dict.fromkeys(("g_attn_norm", "b_attn_norm"), _alone("m")),
    "w_hidden": (Layout("o n", family=IN_OUT), Layout("n o", OUT_IN, OUT_IN)),
    "b_hidden": _alone("n"),
    "w_mlp": (Layout("n e", family=IN_OUT), Layout("e n", OUT_IN, OUT_IN)),
    "b_mlp": _alone("e"),
    **dict.fromkeys(("q", "q_normed", "q_rotated"), _headed("h", "t", "d")),
    **dict.fromkeys(("k", "k_normed", "k_rotated"), _grouped("d")),
    "v": _grouped("v"),
    **dict.fromkeys(("past_key", "past_unrotated_key"), _kept("d")),
    "past_value": _kept("v"),
    **dict.fromkeys(("scores", "scaled", "masked"), _ROWS),
    "mask": (*_alone("t s", "h t s"), *(Layout(each, "the same for every query") for each in ("s", "h 1 s"))),
    "attention": (*_ROWS, Layout("t h 1 1", _SINGLE), Layout("t 1 1", f"{_AVERAGED}, {_SINGLE}")),
    "heads": _headed("h", "t", "v"),
    "concat": (
        *_alone("t (h v)", "t h v", title="heads on an axis of their own"),
        Layout("t 1 (h v)", _BATCH_SECOND),
    ),
    "contributions": _alone("h t o", "t h o", title=_SECOND),
    "output": _alone("t o", "t 1 o", title=_BATCH_SECOND),
    **dict.fromkeys(("residual", "mlp_norm", "mlp_residual"), _alone("t o")),
    **dict.fromkeys(("hidden", "active"), _alone("t n")),
    "mlp": _alone("t e"),
}
_LETTERS = {"token": "t", "query": "t", "key": "s", "context token": "s", "head": "h", "d_k": "d", "d_v": "v"}


def layouts_of(stage: str) -> tuple[Layout, ...]:
    """The layouts of a stage, attnviz's own first; if no other is known, just its axes."""
    if stage in _LAYOUTS:
        return _LAYOUTS[stage]
    axes = stages()[stage]
    return _ROWS if axes == stages()["scores"] else _alone(" ".join(_LETTERS.get(axis, "m") for axis in axes))


@lru_cache(maxsize=256)
def groups_of(pattern: str) -> tuple[str, ...]:
    """The letters of each axis: ("t", "hd") of "t (h d)"."""
    return tuple(together.replace(" ", "") or alone for together, alone in re.findall(r"\(([^)]*)\)|(\w)", pattern))


def fitted(layout: Layout, shape: tuple[int, ...], sizes: Sizes) -> Sizes | None:
    """The axis lengths, extended by those of an array of this shape and layout; None if they contradict it.

    `sizes` has "h", as nothing else tells how many heads share an axis with their dimensions.

    >>> fitted(Layout("t (h d)"), (1, 3, 8), {"h": 2})
    {'h': 2, 't': 3, 'd': 4}
    """
    groups = groups_of(layout.pattern)
    shape = without_batch(shape, len(groups))
    if len(shape) != len(groups):
        return None
    lengths = dict(sizes)
    for group, length in zip(groups, shape, strict=True):
        if "g" in group and len(group) > 1 and not lengths.keys() & set(group):
            lengths["g"] = lengths["h"]
        unknown = [letter for letter in group if letter != "1" and letter not in lengths]
        product = math.prod(lengths[letter] for letter in group if letter in lengths)
        if len(unknown) > 1 or length % product or (not unknown and length != product):
            return None
        lengths |= dict.fromkeys(unknown, length // product)
    if layout.is_of_single_tokens:  # it has as many keys as queries, though their weights aren't given
        n_keys = lengths.setdefault("s", lengths["t"])
        if n_keys != lengths["t"] or lengths["h"] * n_keys**2 > most_numbers():
            return None
    return None if lengths["h"] % lengths.get("g", 1) or 0 in lengths.values() else lengths


def without_batch(shape: tuple[int, ...], n_axes: int) -> tuple[int, ...]:
    """The last `n_axes` of a shape if the others are 1; else the shape."""
    surplus = max(len(shape) - n_axes, 0)
    return shape[surplus:] if set(shape[:surplus]) <= {1} else shape


def arranged(array: np.ndarray, layout: Layout, stage: str, sizes: Sizes) -> np.ndarray:
    """Rearrange an array to attnviz's layout of a stage; without an axis of heads if `layout` has none.

    Keys and values that several heads share come once for each head: head i reads group i // (h / g).
    """
    groups = groups_of(layout.pattern)
    letters = "".join(groups).replace("1", "")
    target_groups = tuple(letters) if stage == "mask" else groups_of(layouts_of(stage)[0].pattern)
    target = "".join(target_groups)
    split = array.reshape([sizes[letter] for letter in letters])
    if layout.is_of_single_tokens:
        itself = np.eye(len(split)).reshape(len(split), *[1] * (split.ndim - 1), len(split))
        split, letters = split[..., None] * itself, letters + "s"
    if "h" in target and "h" not in letters and sizes["h"] == 1:
        split, letters = split[None], "h" + letters
    if set(letters) != set(target):
        return split
    moved = split.transpose([letters.index(letter) for letter in target])
    if target[0] == "g" and sizes["g"] != sizes["h"]:
        moved = np.repeat(moved, sizes["h"] // sizes["g"], axis=0)
        target_groups = ("h", *target_groups[1:])
    if layout.pattern == "s":
        return np.broadcast_to(moved, (sizes.get("t", 1), sizes["s"]))
    return moved.reshape([math.prod(sizes[letter] for letter in group) for group in target_groups])


# --- Fused matrices

MAX_HEADS = 128


@dataclass(frozen=True)
class FusedLayout:
    """How q, k and v lie in one fused array: all queries, then all keys, then all values; or group by group.

    `n_sharing` heads share keys and values, so that the queries are that many times longer. Of `n_groups` groups each
    has its queries, then its key and value, as in GPT-NeoX, BLOOM and Falcon.
    """

    orientation: str
    n_sharing: int = 1
    n_groups: int = 0

    def split(self, name: str, array: np.ndarray, n_axes: int) -> list[np.ndarray]:
        """The three parts of a matrix or a vector; OwnArraysError if it can't be split."""
        lengths = without_batch(array.shape, n_axes)
        axis = 1 if n_axes == 2 and self.orientation == IN_OUT else 0
        n_parts = self.n_sharing + 2
        if len(lengths) != n_axes or lengths[axis] % (n_parts * max(self.n_groups, 1)):
            raise OwnArraysError(
                f"{name[:60]!r} holds what makes q, k and v beside each other, so that one of its axes is a multiple "
                f"of {n_parts}; got {array.shape}."
            )
        array, n = array.reshape(lengths), lengths[axis] // n_parts
        if not self.n_groups:
            return np.split(array, [self.n_sharing * n, (self.n_sharing + 1) * n], axis=axis)
        rows = np.moveaxis(array, axis, 0)
        heads = rows.reshape(self.n_groups, n_parts, n // self.n_groups, *rows.shape[1:])
        queries = heads[:, : self.n_sharing].reshape(-1, *heads.shape[2:])
        return [queries, heads[:, -2], heads[:, -1]]


def fused_layouts(
    array: np.ndarray, orientation: str | None, width: int | None, joined: int | None, n_heads: int | None
) -> Iterator[FusedLayout]:
    """The ways to split a fused matrix, all queries first or by heads; None stands for what isn't known.

    `width` is that of x, and `joined` the total length of a token's queries, by default a third of the matrix.
    """
    ways = []
    for each in (orientation,) if orientation else _orientations(array, width):
        n_out = array.shape[-2 if each == OUT_IN else -1]
        rest = n_out - joined if joined else 0
        n_sharing = 2 * joined // rest if joined and rest > 0 and not 2 * joined % rest else 1
        yield FusedLayout(each, n_sharing)
        ways.append((each, n_sharing, n_out * n_sharing // (n_sharing + 2)))
    for each, n_sharing, n_queries in ways:
        for h in (n_heads,) if n_heads else range(1, MAX_HEADS + 1):
            if h > n_sharing and not n_queries % h and not h % n_sharing:  # with one group both layouts are the same
                yield FusedLayout(each, n_sharing, h // n_sharing)


def _orientations(array: np.ndarray, width: int | None) -> Sequence[str]:
    """The possible orientations of a fused matrix whose name doesn't give one."""
    rows, columns = array.shape[-2:]
    if width in (rows, columns) and rows != columns:
        return [OUT_IN if columns == width else IN_OUT]
    if rows == 3 * columns or columns == 3 * rows:
        return [OUT_IN if rows > columns else IN_OUT]
    return [each for each, n in ((OUT_IN, rows), (IN_OUT, columns)) if n % 3 == 0] or [OUT_IN]
