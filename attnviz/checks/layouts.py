"""Layouts: the ways in which people lay an array out, as patterns of its axes, and their lengths."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from attnviz.checks.stages import stages
from attnviz.core.limits import MAX_STAGE_NUMBERS

Sizes = Mapping[str, int]
"""How long each axis is, by its letter.

t queries, s keys, m and c the numbers of a token and of one of the context, h heads, g heads of keys and values (fewer
than h where queries share them), d numbers of a query and a key, v those of a value, o those of the output, n neurons,
e the numbers that they write.
"""


@dataclass(frozen=True)
class Layout:
    """One way of laying a stage out.

    Attributes
    ----------
    pattern : str
        Its axes in order, "(h d) m" for an axis of heads and of their numbers in one. Axes of length 1 may come first.
    title : str
        What it is called; empty for attnviz's own.
    family : str
        Layouts that go together: all parameters of a pass are of one family where their shapes allow it.
    """

    pattern: str
    title: str = ""
    family: str = ""

    @property
    def is_averaged(self) -> bool:
        """Whether it has no axis of heads where there should be one: of several heads it is their average."""
        return self.title.startswith(_AVERAGED)

    @property
    def is_repeated(self) -> bool:
        """Whether keys or values that heads share come once for each of these."""
        return self.title == _REPEATED

    @property
    def is_of_single_tokens(self) -> bool:
        """Whether each token is a sentence of a batch, so that it has one share for each head: its own."""
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
    """Of keys or values that several heads may share: also with those of a group once for each of its heads."""
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
    """The layouts of a stage, attnviz's own first; of one that nobody lays out otherwise, what its axes say.

    >>> [layout.pattern for layout in layouts_of("w_mlp")]
    ['n e', 'e n']
    """
    return _LAYOUTS.get(stage) or _by_axes(stages()[stage])


def _by_axes(axes: tuple[str, ...]) -> tuple[Layout, ...]:
    """The layouts of a stage with these axes."""
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
    """The lengths of axes with those that an array of this shape and layout adds; None if it doesn't fit them.

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
    """An array in attnviz's own layout of the stage; without the axis of heads where `layout` has none of several.

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
    """The shape without axes of length 1 before the last `n_axes`."""
    surplus = max(len(shape) - n_axes, 0)
    return shape[surplus:] if set(shape[:surplus]) <= {1} else shape
