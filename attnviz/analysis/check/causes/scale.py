"""Scale: scores that are divided by another number, or by none."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from attnviz.analysis.check.causes.mistake import Mistake, Setting
from attnviz.analysis.check.nodes import Node
from attnviz.core.operations.scale import Scale

_LEAST_SHARE = 1e-12
"""A smaller one tells little of its score."""

_MANY = 12
"""Of fewer numbers a factor explains too many by chance."""

_NEAR = 1e-4
"""How near a number that was found may be to a simple one, in parts of it, and be taken for that."""


def scalings(setting: Setting) -> Iterator[Mistake]:
    """Scores divided otherwise."""
    scale = setting.operation("scaled")
    if not isinstance(scale, Scale):
        return
    inputs = setting.nodes["scaled"].inputs

    def of(id: str, about: str, divisor: float) -> Mistake:
        return Mistake(id, "scaled", about, {"scaled": Node.of(Scale(scale.d_k, 1 / divisor), inputs)})

    right = scale.d_k**0.5 if scale.factor is None else 1 / scale.factor
    known = _divisors(setting, scale.d_k)
    for about, divisor in known.items():
        if abs(divisor - right) > _NEAR * right:
            yield of("unscaled" if about == "1" else "scaled otherwise", "" if about == "1" else about, divisor)
    if scale.factor is None:
        yield of("scale inverted", "", scale.d_k**-0.5)
        yield of("scaled twice", "", scale.d_k)
    fitted, others = _fitted(setting), (scale.d_k**-0.5, right / np.log(2), *known.values())  # 2^x is e^(x ln 2)
    if fitted and all(abs(right / fitted - each) > _NEAR * each for each in (right, *others)):
        divisor, about = _simple(right / fitted)
        yield of("scaled otherwise", about, divisor)


def _divisors(setting: Setting, d_k: int) -> dict[str, float]:
    """What people divide scores by, by its name."""
    n_heads = setting.sizes["h"]
    d_model = setting.trace["x"].shape[-1] if "x" in setting.trace else n_heads * d_k
    found = {"1": 1.0, "√d_model": d_model**0.5, "d_k": float(d_k), "d_model": float(d_model)}
    if n_heads > 1:
        found["√heads"] = n_heads**0.5
    return found | ({"√d_k": d_k**0.5} if setting.operation("scaled").factor is not None else {})


def _fitted(setting: Setting) -> float | None:
    """By what ours have to be multiplied to be nearest to theirs, where nothing but a factor is between them."""
    first = setting.first
    if first is None or first.value is None or first.value.shape != first.expected.shape:
        return None
    if first.stage == "scaled":
        yours, ours, telling = first.value, first.expected, first.value != 0
    elif first.stage == "attention":
        telling = (first.value > _LEAST_SHARE) & (first.expected > _LEAST_SHARE)
        yours, ours = (_about_their_mean(each, telling) for each in (first.value, first.expected))
    else:
        return None
    if np.count_nonzero(telling) < _MANY:
        return None
    found = float((yours * ours).sum() / (ours * ours).sum())
    return found if np.isfinite(found) and found > 0 else None


def _about_their_mean(shares: np.ndarray, telling: np.ndarray) -> np.ndarray:
    """The logarithms of shares, which are scores but for a number that all of a query have in common."""
    logs = np.log(np.where(telling, shares, 1))
    means = logs.sum(axis=-1, keepdims=True) / np.maximum(telling.sum(axis=-1, keepdims=True), 1)
    return np.where(telling, logs - means, 0)


def _simple(divisor: float) -> tuple[float, str]:
    """A number that a person writes, near one that was found, and as it is written.

    >>> _simple(3.0000001), _simple(1.4142)
    ((3.0, '3'), (1.4142135623730951, '√2'))
    """
    whole, square = round(divisor), round(divisor**2)
    if whole and abs(divisor - whole) < _NEAR * whole:
        return float(whole), str(whole)
    if square and abs(divisor**2 - square) < _NEAR * square:
        return square**0.5, f"√{square}"
    return divisor, f"{divisor:.6g}"
