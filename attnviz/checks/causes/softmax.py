"""Mistakes with the softmax."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np

from attnviz.checks.causes.cause import SOFTMAX, Cause, Mistake, Setting, after, followed_by, plain
from attnviz.checks.explain.nodes import Node
from attnviz.checks.read.rounding import Precision, Rounded, applied
from attnviz.core.operations.operation import Operation
from attnviz.core.operations.scores import Scale
from attnviz.core.operations.softmax import Softmax


def _axis_slots(about: str) -> Mapping[str, str]:
    return {"axis": {"queries": "-2", "heads": "1"}[about]}


CAUSES: dict[str, Cause] = {
    "softmax along the wrong axis": Cause(
        plain("the softmax was taken along the {}, not along the keys"),
        "attention = scores.softmax(dim={axis})",
        SOFTMAX,
        slots=_axis_slots,
    ),
    "softmax twice": Cause(plain("the softmax was taken twice"), f"{SOFTMAX}.softmax(dim=-1)", SOFTMAX),
    "softmax of base 2": Cause(
        plain("the softmax took powers of 2, not of e"),
        "attention = torch.exp2(scores); attention = attention / attention.sum(dim=-1, keepdim=True)",
        SOFTMAX,
    ),
    "sinks left out": Cause(
        plain("the sinks were left out of the softmax"),
        SOFTMAX,
        "attention = torch.cat([scores, sinks], dim=-1).softmax(dim=-1)[..., :-1]",
    ),
    "attention averaged over heads": Cause(
        plain("the attention was averaged over heads before it was used"),
        f"{SOFTMAX}.mean(dim=1, keepdim=True)",
        SOFTMAX,
    ),
    "dropout left on": Cause(
        plain("dropout was left on, with p = {}: each share is 0 or divided by 1 − p"),
        "model(x)",
        "model.eval(); model(x)",
    ),
    "attention along the batch": Cause(
        plain(
            "attention ran along the batch axis (in nn.MultiheadAttention: a wrong batch_first), so that each token "
            "attended only to itself"
        ),
        "nn.MultiheadAttention(d_model, n_heads)",
        "nn.MultiheadAttention(d_model, n_heads, batch_first=True)",
    ),
}


_TELLING = 1e-3  # smaller attention weights, relative to the largest, don't show dropout


def softmax_mistakes(setting: Setting) -> Iterator[Mistake]:
    """Mistakes with the softmax."""
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
    """The factor of each attention weight, 0 or 1 / (1 - p), and p; None if it doesn't look like dropout."""
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
    """The softmax along an axis; `filling` stands where everything along it is hidden."""
    (masked,) = given
    shares = applied(softmax, [masked.map(lambda each: each.swapaxes(axis, -1))], precision)
    shares = shares.map(lambda each: each.swapaxes(axis, -1))
    nothing = np.isneginf(masked.value).all(axis=axis, keepdims=True)
    return Rounded(np.where(nothing, filling, shares.value), shares.error)


def _batches(setting: Setting) -> Iterator[Mistake]:
    """Each token treated as a sentence of its own."""
    if "context" in setting.trace:
        return
    *_, n, n_keys = shape = setting.trace["attention"].shape
    if n == n_keys > 1:
        itself = Rounded.unrounded(np.broadcast_to(np.eye(n), shape))
        alone = Node(setting.trace["attention"].inputs, lambda given, precision: itself)
        yield Mistake("attention along the batch", "attention", "", {"attention": alone})
