"""Heads: rows that are cut into heads, shared by them or joined otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from attnviz.checks.causes.mistake import Mistake, Setting, each_and_all
from attnviz.checks.nodes import Node
from attnviz.core.operations.linear import DotProducts, Projection, WeightedSum

Change = Callable[[np.ndarray], np.ndarray]

_MOST_PAIRED = 2**20
"""So many numbers of each head are held beside each other head's, of all heads together."""

_HEADED = ("q", "k", "v", "scores", "scaled", "masked", "attention", "heads")


def headings(setting: Setting) -> Iterator[Mistake]:
    """Heads got wrong."""
    yield from _tiled(setting)
    if setting.sizes["h"] == 1:
        return
    yield from _splits(setting)
    if setting.makes("concat"):
        joined = setting.nodes["concat"]
        shape = setting.trace["heads"].shape
        for id, change in (
            ("heads joined without transposing", _joined_without_transposing),
            ("heads joined in another order", _joined_interleaved),
        ):
            yield Mistake(id, "concat", "", {"concat": joined.then(partial(change, shape=shape))})
    yield from _in_another_order(setting)


def _splits(setting: Setting) -> Iterator[Mistake]:
    made = tuple(each for each in "qkv" if isinstance(setting.operation(each), Projection))
    for id, change in (
        ("heads split without transposing", _split_without_transposing),
        ("heads interleaved", _split_interleaved),
    ):
        cut_so = {each: setting.nodes[each].then(of_groups(setting, each, change)) for each in made}
        for stages in each_and_all(made, ("q", "k", "v")):
            yield Mistake(id, stages[0], " ".join(stages), {each: cut_so[each] for each in stages})


def _tiled(setting: Setting) -> Iterator[Mistake]:
    """Groups of keys and values that are tiled (0, 1, 0, 1), where each belongs to heads in a row (0, 0, 1, 1)."""
    n_heads, n_groups = setting.sizes["h"], n_groups_in(setting)
    if not 1 < n_groups < n_heads:
        return
    made = {}
    if setting.makes("scores") and isinstance(setting.operation("scores"), DotProducts):
        made["scores"] = DotProducts()
    if setting.makes("heads") and isinstance(setting.operation("heads"), WeightedSum):
        made["heads"] = WeightedSum()
    for stages in each_and_all(tuple(made), ("scores", "heads")):
        changed = {}
        for stage in stages:
            inputs = setting.nodes[stage].inputs
            changed[stage] = Node.of(made[stage], inputs).with_input(inputs[1], partial(_tile, n_heads, n_groups))
        about = " ".join({"scores": "k", "heads": "v"}[stage] for stage in stages)
        yield Mistake("groups tiled", stages[0], about, changed)


def of_groups(setting: Setting, stage: str, change: Change) -> Change:
    """A change of the rows of heads; of keys and values that come once for each head of a group, of those of groups."""
    shared = heads_of_a_group(setting, stage)
    return change if shared < 2 else lambda array: np.repeat(change(array[::shared]), shared, axis=0)


def heads_of_a_group(setting: Setting, stage: str) -> int:
    """How often the keys or values of a group come in a stage, once for each head that shares them."""
    return 1 if stage.startswith("q") else len(setting.trace[stage].value) // n_groups_in(setting)


def n_groups_in(setting: Setting) -> int:
    """How many groups of keys there are, which may come once for each head that shares them."""
    n_heads = setting.sizes["h"]
    n_groups = setting.sizes.get("g", n_heads)
    if n_groups < n_heads or "k" not in setting.trace:
        return n_groups
    k = setting.trace["k"].value
    shared = [n for n in range(n_heads, 1, -1) if n_heads % n == 0]
    return next((n_heads // n for n in shared if np.array_equal(k, np.repeat(k[::n], n, axis=0))), n_heads)


def _tile(n_heads: int, n_groups: int, array: np.ndarray) -> np.ndarray:
    """The keys or values of each head, of groups or of groups that were repeated."""
    own = array if len(array) == n_groups else array[:: n_heads // n_groups]
    return np.concatenate([own] * (n_heads // n_groups))


def _in_another_order(setting: Setting) -> Iterator[Mistake]:
    """Heads in the order in which theirs are ours."""
    first = setting.first
    if first is None or first.value is None or first.stage not in _HEADED or not setting.makes(first.stage):
        return
    yours, ours = first.value, first.expected
    if yours.shape != ours.shape or yours.ndim != 3 or len(yours) < 2:
        return
    some = slice(None, None, len(yours) * yours.size // _MOST_PAIRED | 1)  # an odd step leaves no column out
    yours, ours = (np.nan_to_num(each.reshape(len(each), -1)[:, some]) for each in (yours, ours))
    with np.errstate(invalid="ignore"):
        off = np.abs(yours[:, None] - ours[None]).max(axis=-1)
    order = off.argmin(axis=1)
    if len(set(order.tolist())) < len(order) or (order == np.arange(len(order))).all():
        return
    together = [each for each in "qkv" if setting.makes(each) and setting.trace[each].shape[0] == len(order)]
    for stages in each_and_all((first.stage,), tuple(together) if first.stage in together else ()):
        changed = {each: setting.nodes[each].then(lambda array: array[order]) for each in stages}
        yield Mistake("heads in another order", first.stage, " ".join(str(each + 1) for each in order), changed)


def side_by_side(heads: np.ndarray) -> np.ndarray:
    """Rows that hold all heads, of rows of each head."""
    return heads.swapaxes(0, 1).reshape(heads.shape[1], -1)


def cut(rows: np.ndarray, n_heads: int) -> np.ndarray:
    """Rows of each head, of rows that hold all of them."""
    return rows.reshape(len(rows), n_heads, -1).swapaxes(0, 1)


def _split_without_transposing(heads: np.ndarray) -> np.ndarray:
    return side_by_side(heads).reshape(heads.shape)


def _split_interleaved(heads: np.ndarray) -> np.ndarray:
    n_heads, n, length = heads.shape
    return side_by_side(heads).reshape(n, length, n_heads).transpose(2, 0, 1)


def _joined_without_transposing(concat: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return cut(concat, shape[0]).reshape(concat.shape)


def _joined_interleaved(concat: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return cut(concat, shape[0]).transpose(1, 2, 0).reshape(concat.shape)
