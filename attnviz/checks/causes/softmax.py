"""Softmax: shares that are made otherwise of the masked scores."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from attnviz.checks.causes.mistake import Mistake, Setting, after, followed_by
from attnviz.checks.nodes import Node
from attnviz.checks.rounding import Precision, Rounded, applied
from attnviz.core.operations.operation import Operation
from attnviz.core.operations.scores import Scale
from attnviz.core.operations.softmax import Softmax

_TELLING = 1e-3
"""Shares of at least so much of the largest tell whether they were dropped."""


def softmaxes(setting: Setting) -> Iterator[Mistake]:
    """Shares made otherwise."""
    if not setting.makes("attention"):
        return
    attention = setting.nodes["attention"]
    yield from _axes(setting)
    yield from _batches(setting)
    if not isinstance(setting.operation("attention"), Softmax):
        return

    def of(id: str, node: Node, about: str = "") -> Mistake:
        return Mistake(id, "attention", about, {"attention": node})

    yield of("softmax twice", followed_by(attention, Softmax()))
    yield of("softmax of base 2", after(attention, Scale(1, float(np.log(2)))))
    if len(attention.inputs) > 1 and "sinks" in attention.inputs:
        yield of("sinks left out", attention.without_input("sinks"))
    if setting.sizes["h"] > 1:
        yield of("attention averaged over heads", attention.then(_averaged))
    if dropped := _dropped(setting):
        kept, about = dropped
        yield of("dropout left on", attention.then(lambda shares: shares * kept), about)


def _averaged(shares: np.ndarray) -> np.ndarray:
    return np.broadcast_to(shares.mean(axis=0), shares.shape)


def _dropped(setting: Setting) -> tuple[np.ndarray, str] | None:
    """By what dropout multiplied each share, 0 or 1 / (1 - p), and p; None if nothing looks so."""
    first = setting.first
    if first is None or first.stage != "attention" or first.value is None or first.value.shape != first.expected.shape:
        return None
    yours, ours = first.value, first.expected
    telling = ours > _TELLING * ours.max()
    is_kept = telling & (yours != 0)
    if not is_kept.any() or is_kept.sum() == telling.sum():
        return None
    factors = yours[is_kept] / ours[is_kept]
    factor = float(np.median(factors))
    if factor < 1 + _TELLING or not (np.abs(factors - factor) < _TELLING * factor).all():
        return None
    p = 1 - 1 / factor
    p = round(p, 3) if abs(round(p, 3) - p) < _TELLING else p
    return np.where(yours == 0, 0, 1 / (1 - p)), f"{p:.3g}"


def _axes(setting: Setting) -> Iterator[Mistake]:
    trace = setting.trace
    hides = np.isneginf(trace["masked"].value) if "masked" in trace else np.zeros((1, 1, 1), dtype=bool)
    for axis, about in ((-2, "queries"), (-3, "heads")):
        for filling in (0.0, np.nan, 1 / hides.shape[axis]) if hides.all(axis=axis).any() else (0.0,):
            along = partial(_along, setting.operation("attention"), axis, filling)
            yield Mistake("softmax along the wrong axis", "attention", about, {"attention": Node(("masked",), along)})


def _along(softmax: Operation, axis: int, filling: float, given: list[Rounded], precision: Precision) -> Rounded:
    """The softmax along an axis, and what is in its place where that has no key to see."""
    (masked,) = given
    shares = applied(softmax, [masked.map(lambda each: each.swapaxes(axis, -1))], precision)
    shares = shares.map(lambda each: each.swapaxes(axis, -1))
    nothing = np.isneginf(masked.value).all(axis=axis, keepdims=True)
    return Rounded(np.where(nothing, filling, shares.value), shares.error)


def _batches(setting: Setting) -> Iterator[Mistake]:
    """The tokens of a sentence as a batch of sentences of one token each."""
    if "context" in setting.trace:
        return
    *_, n, n_keys = shape = setting.trace["attention"].shape
    if n == n_keys > 1:
        itself = Rounded.unrounded(np.broadcast_to(np.eye(n), shape))
        alone = Node(setting.trace["attention"].inputs, lambda given, precision: itself)
        yield Mistake("attention along the batch", "attention", "", {"attention": alone})
