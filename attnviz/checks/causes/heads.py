"""Mistakes with heads: how they are split, grouped, ordered and joined."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from attnviz.checks.causes.cause import (
    JOINED,
    WRONG_AXES,
    Cause,
    Mistake,
    Setting,
    each_and_all,
    letter_slots,
    plain,
    symbols_clause,
)
from attnviz.checks.explain.nodes import Node
from attnviz.checks.report.words import title
from attnviz.core.operations.linear import DotProducts, Projection, WeightedSum
from attnviz.explain.wording import listed

_SPLIT = "{letter} = {letter}.view(n, t, n_heads, d_k).transpose(1, 2)"


def _axes_clause(about: str) -> str:
    stage, theirs, expected = about.split("; ")
    return f"the axes of {title(stage)} are {theirs}; expected {expected}"


CAUSES: dict[str, Cause] = {
    WRONG_AXES: Cause(_axes_clause, "", ""),
    "heads split without transposing": Cause(
        symbols_clause("cut into heads without transposing"),
        "{letter} = {letter}.view(n, n_heads, t, d_k)",
        _SPLIT,
        slots=letter_slots,
    ),
    "heads interleaved": Cause(
        symbols_clause("cut into heads that take turns, one dimension each"),
        "{letter} = {letter}.view(n, t, d_k, n_heads).permute(0, 3, 1, 2)",
        _SPLIT,
        slots=letter_slots,
    ),
    "heads joined without transposing": Cause(
        plain("the heads were joined without transposing"), "out = heads.reshape(n, t, d_model)", JOINED
    ),
    "heads joined in another order": Cause(
        plain("the heads were joined so that they take turns, one dimension each"),
        "out = heads.permute(0, 2, 3, 1).reshape(n, t, d_model)",
        JOINED,
    ),
    "heads in another order": Cause(
        lambda about: f"the heads were in another order: {listed(about.split())}",
        "heads = heads[:, order]",
        "heads = heads",
    ),
    "groups tiled": Cause(
        symbols_clause("tiled, where each group belongs to heads in a row"),
        "{letter} = {letter}.repeat(1, n_heads // n_groups, 1, 1)",
        "{letter} = {letter}.repeat_interleave(n_heads // n_groups, dim=1)",
        slots=letter_slots,
    ),
}


Change = Callable[[np.ndarray], np.ndarray]

_MOST_PAIRED = 2**20  # how many numbers are compared per pair of heads, over all heads
_HEADED = ("q", "k", "v", "scores", "scaled", "masked", "attention", "heads")


def head_mistakes(setting: Setting) -> Iterator[Mistake]:
    """Mistakes with heads."""
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
    """Groups of keys and values tiled (0, 1, 0, 1) instead of repeated (0, 0, 1, 1)."""
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
    """Apply a change to groups rather than heads, if keys or values are repeated per head."""
    shared = heads_of_a_group(setting, stage)
    return change if shared < 2 else lambda array: np.repeat(change(array[::shared]), shared, axis=0)


def heads_of_a_group(setting: Setting, stage: str) -> int:
    """How many copies of each group's keys or values a stage holds."""
    return 1 if stage.startswith("q") else len(setting.trace[stage].value) // n_groups_in(setting)


def n_groups_in(setting: Setting) -> int:
    """The number of key groups, even if keys are repeated per head."""
    n_heads = setting.sizes["h"]
    n_groups = setting.sizes.get("g", n_heads)
    if n_groups < n_heads or "k" not in setting.trace:
        return n_groups
    k = setting.trace["k"].value
    shared = [n for n in range(n_heads, 1, -1) if n_heads % n == 0]
    return next((n_heads // n for n in shared if np.array_equal(k, np.repeat(k[::n], n, axis=0))), n_heads)


def _tile(n_heads: int, n_groups: int, array: np.ndarray) -> np.ndarray:
    """Keys or values tiled, whether they were repeated or not."""
    own = array if len(array) == n_groups else array[:: n_heads // n_groups]
    return np.concatenate([own] * (n_heads // n_groups))


def _in_another_order(setting: Setting) -> Iterator[Mistake]:
    """The permutation of heads that matches theirs to ours, if there is one."""
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
    """(heads, tokens, d) to (tokens, heads * d)."""
    return heads.swapaxes(0, 1).reshape(heads.shape[1], -1)


def cut(rows: np.ndarray, n_heads: int) -> np.ndarray:
    """(tokens, heads * d) to (heads, tokens, d)."""
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
