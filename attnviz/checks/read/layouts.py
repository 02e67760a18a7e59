"""Layouts: the axes that people give their arrays, as patterns, and how arrays are rearranged to attnviz's."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from attnviz.checks.read.names import Orientation
from attnviz.checks.read.stages import stages
from attnviz.core.errors import OwnArraysError
from attnviz.core.limits import MAX_STAGE_NUMBERS

Sizes = Mapping[str, int]
"""How long each axis is, by its letter.

t queries, s keys, m and c the numbers of a token and of one of the context, h heads, g heads of keys and values (fewer
than h where queries share them), d numbers of a query and a key, v those of a value, o those of the output, n neurons,
e the numbers that they write.
"""


@dataclass(frozen=True)
class Layout:
    """One layout of a stage.

    Attributes
    ----------
    pattern : str
        Its axes in order; "(h d) m" has heads and their dimensions in one axis. Leading axes of length 1 are allowed.
    title : str
        Its description; empty for attnviz's own.
    family : str
        If shapes allow it, all parameters of a pass have layouts of the same family.
    """

    pattern: str
    title: str = ""
    family: str = ""

    @property
    def is_averaged(self) -> bool:
        """Whether the axis of heads is missing, so that it holds their average."""
        return self.title.startswith(_AVERAGED)

    @property
    def is_repeated(self) -> bool:
        """Whether shared keys or values are repeated for each head."""
        return self.title == _REPEATED

    @property
    def is_of_single_tokens(self) -> bool:
        """Whether each token is a sentence of its own, with one attention weight per head."""
        return self.title.endswith(_SINGLE)


IN_OUT, OUT_IN = "(in, out)", "(out, in)"
_AVERAGED = "averaged over heads"
_REPEATED = "repeated for each head"
_SINGLE = "each token a sentence of its own"
_SECOND = "heads on the second axis"
JOINED = "heads side by side"
BY_HEADS = "heads first, (out, in)"


def _projection(heads: str, width: str, length: str) -> tuple[Layout, ...]:
    return (
        Layout(f"{heads} {width} {length}"),
        Layout(f"{width} {heads} {length}", "(in, heads, out)", "heads second"),
        Layout(f"{heads} {length} {width}", "(heads, out, in)", BY_HEADS),
        Layout(f"{width} ({heads} {length})", IN_OUT, IN_OUT),
        Layout(f"({heads} {length}) {width}", OUT_IN, OUT_IN),
    )


def _headed(heads: str, place: str, length: str) -> tuple[Layout, ...]:
    return (
        Layout(f"{heads} {place} {length}", family="heads first"),
        Layout(f"{place} {heads} {length}", _SECOND, "heads second"),
        Layout(f"{place} ({heads} {length})", JOINED, "joined"),
    )


def _of_groups(length: str) -> tuple[Layout, ...]:
    """The layouts of keys or values that heads may share: once per group or once per head."""
    return (*_headed("g", "s", length), Layout(f"h s {length}", _REPEATED, "heads first"))


def _matrix(rows: str, columns: str) -> tuple[Layout, ...]:
    return Layout(f"{rows} {columns}", family=IN_OUT), Layout(f"{columns} {rows}", OUT_IN, OUT_IN)


_ROWS = (Layout("h t s"), Layout("t s", _AVERAGED))

_LAYOUTS: Mapping[str, tuple[Layout, ...]] = {
    "x": (Layout("t m"), Layout("t 1 m", "batch on the second axis")),
    "context": (Layout("s c"), Layout("s 1 c", "batch on the second axis")),
    "embeddings": (Layout("t m"),),
    "positions": (Layout("t m"),),
    "w_q": _projection("h", "m", "d"),
    "w_k": _projection("g", "c", "d"),
    "w_v": _projection("g", "c", "v"),
    "w_o": (
        Layout("(h v) o", IN_OUT, IN_OUT),
        Layout("o (h v)", OUT_IN, OUT_IN),
        Layout("h v o", "(heads, in, out)"),
    ),
    "b_q": (Layout("h d"), Layout("(h d)", JOINED)),
    "b_k": (Layout("g d"), Layout("(g d)", JOINED)),
    "b_v": (Layout("g v"), Layout("(g v)", JOINED)),
    "b_o": (Layout("o"),),
    "g_attn_norm": (Layout("m"),),
    "b_attn_norm": (Layout("m"),),
    "g_mlp_norm": (Layout("o"),),
    "b_mlp_norm": (Layout("o"),),
    "w_hidden": _matrix("o", "n"),
    "b_hidden": (Layout("n"),),
    "w_mlp": _matrix("n", "e"),
    "b_mlp": (Layout("e"),),
    "q": _headed("h", "t", "d"),
    "k": _of_groups("d"),
    "v": _of_groups("v"),
    **dict.fromkeys(("q_normed", "q_rotated"), _headed("h", "t", "d")),
    **dict.fromkeys(("k_normed", "k_rotated"), _of_groups("d")),
    "scores": _ROWS,
    "scaled": _ROWS,
    "mask": (Layout("t s"), Layout("h t s"), Layout("s", "the same for every query")),
    "masked": _ROWS,
    "attention": (*_ROWS, Layout("t h 1 1", _SINGLE), Layout("t 1 1", f"{_AVERAGED}, {_SINGLE}")),
    "heads": _headed("h", "t", "v"),
    "concat": (Layout("t (h v)"), Layout("t h v", "heads on an axis of their own")),
    "contributions": (Layout("h t o"), Layout("t h o", _SECOND)),
    "output": (Layout("t o"), Layout("t 1 o", "batch on the second axis")),
    **dict.fromkeys(("residual", "mlp_norm", "mlp_residual"), (Layout("t o"),)),
    **dict.fromkeys(("hidden", "active"), (Layout("t n"),)),
    "mlp": (Layout("t e"),),
}
_LETTERS = {"token": "t", "query": "t", "key": "s", "context token": "s", "head": "h", "d_k": "d", "d_v": "v"}


def layouts_of(stage: str) -> tuple[Layout, ...]:
    """The layouts of a stage, attnviz's own first; if no other is known, just its axes.

    >>> [layout.pattern for layout in layouts_of("w_mlp")]
    ['n e', 'e n']
    """
    return _LAYOUTS.get(stage) or _by_axes(stages()[stage])


def _by_axes(axes: tuple[str, ...]) -> tuple[Layout, ...]:
    if axes == stages()["scores"]:
        return _ROWS
    return (Layout(" ".join(_LETTERS.get(axis, "m") for axis in axes)),)


@lru_cache(maxsize=256)
def groups_of(pattern: str) -> tuple[str, ...]:
    """The letters of each axis.

    >>> groups_of("t (h d)")
    ('t', 'hd')
    """
    return tuple(together.replace(" ", "") or alone for together, alone in re.findall(r"\(([^)]*)\)|(\w)", pattern))


def fitted(layout: Layout, shape: tuple[int, ...], sizes: Sizes) -> Sizes | None:
    """The axis lengths, extended by those of an array of this shape and layout; None if they contradict it.

    `sizes` has "h": of heads and numbers in one axis nothing else says which is which.

    >>> fitted(Layout("t (h d)"), (1, 3, 8), {"h": 2})
    {'h': 2, 't': 3, 'd': 4}
    """
    groups = groups_of(layout.pattern)
    shape = _without_batch(shape, len(groups))
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
    if layout.is_of_single_tokens and lengths["h"] * lengths["t"] ** 2 > MAX_STAGE_NUMBERS:
        return None  # it has as many keys as queries, though their shares aren't given
    return None if lengths["h"] % lengths.get("g", 1) or 0 in lengths.values() else lengths


def arranged(array: np.ndarray, layout: Layout, stage: str, sizes: Sizes) -> np.ndarray:
    """Rearrange an array to attnviz's layout of a stage; without an axis of heads if `layout` has none.

    Keys and values that several heads share come once for each head: head i reads group i // (h / g).
    """
    groups = groups_of(layout.pattern)
    letters = "".join(groups).replace("1", "")
    own = groups_of(layout.pattern if stage == "mask" else layouts_of(stage)[0].pattern)
    target = "".join(own)
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
        own = ("h", *own[1:])
    if layout.pattern == "s":
        return np.broadcast_to(moved, (sizes.get("t", 1), sizes["s"]))
    return moved.reshape([math.prod(sizes[letter] for letter in group) for group in own])


def _without_batch(shape: tuple[int, ...], n_axes: int) -> tuple[int, ...]:
    surplus = max(len(shape) - n_axes, 0)
    return shape[surplus:] if set(shape[:surplus]) <= {1} else shape


_MAX_HEADS = 128


@dataclass(frozen=True)
class Cut:
    """How q, k and v lie in one fused array.

    Attributes
    ----------
    orientation : {"(in, out)", "(out, in)"}
    n_sharing : int
        How many heads share keys and values; the query part is that many times longer.
    n_groups : int
        The number of groups, each with its queries, then its key and value, as in GPT-NeoX, BLOOM and Falcon; 0 if all
        queries come first, then all keys, then all values.
    """

    orientation: Orientation
    n_sharing: int = 1
    n_groups: int = 0

    def apart(self, name: str, array: np.ndarray, n_axes: int) -> list[np.ndarray]:
        """The three parts of a matrix or a vector; OwnArraysError if it can't be split."""
        lengths = array.shape[max(array.ndim - n_axes, 0) :]
        axis = 1 if n_axes == 2 and self.orientation == IN_OUT else 0
        n_parts = self.n_sharing + 2
        if len(lengths) < n_axes or math.prod(lengths) != array.size or lengths[axis] % (n_parts * self._n_cuts):
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

    @property
    def _n_cuts(self) -> int:
        return max(self.n_groups, 1)


def cuts(
    array: np.ndarray, says: Orientation | None, width: int | None, joined: int | None, n_heads: int | None
) -> Iterator[Cut]:
    """How a fused matrix may be split: all queries first, or by heads.

    Parameters
    ----------
    array : ndarray
    says : {"(in, out)", "(out, in)"}, optional
        The orientation, if it is known.
    width : int, optional
        The width of x, if it is known.
    joined : int, optional
        The total length of a token's queries, if it is known; by default a third of the matrix.
    n_heads : int, optional

    Examples
    --------
    >>> [each.n_groups for each in cuts(np.ones((24, 8)), None, 8, 8, None)]
    [0, 1, 2, 4, 8]
    """
    shared = []
    for orientation in (says,) if says else orientations(array, width):
        n_out = array.shape[-2 if orientation == OUT_IN else -1]
        rest = n_out - joined if joined else 0
        n_sharing = 2 * joined // rest if rest > 0 and not 2 * joined % rest else 1
        yield Cut(orientation, n_sharing)
        shared.append((orientation, n_sharing, n_out * n_sharing // (n_sharing + 2)))
    for orientation, n_sharing, n_queries in shared:
        for h in (n_heads,) if n_heads else range(1, _MAX_HEADS + 1):
            if not n_queries % h and not h % n_sharing:
                yield Cut(orientation, n_sharing, h // n_sharing)


def orientations(array: np.ndarray, width: int | None) -> tuple[Orientation, ...]:
    """The possible orientations of a fused matrix whose name doesn't give one.

    Examples
    --------
    >>> orientations(np.ones((24, 8)), 8), orientations(np.ones((12, 12)), 12), orientations(np.ones((8, 24)), None)
    (('(out, in)',), ('(out, in)', '(in, out)'), ('(in, out)',))
    """
    rows, columns = array.shape[-2:]
    if width in (rows, columns) and rows != columns:
        return (OUT_IN,) if columns == width else (IN_OUT,)
    if rows == 3 * columns or columns == 3 * rows:
        return (OUT_IN,) if rows > columns else (IN_OUT,)
    return tuple(way for way, n in ((OUT_IN, rows), (IN_OUT, columns)) if n % 3 == 0) or (OUT_IN,)
