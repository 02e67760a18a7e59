"""Scale: scores that are divided by another number, or by none, or capped."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from attnviz.checks.causes.fit import Fit, simple
from attnviz.checks.causes.mistake import Mistake, Setting, after, passed_on
from attnviz.checks.nodes import Node
from attnviz.core.operations.scores import LIMITS, Scale, Softcap

NEAR = 1e-4
"""How near numbers are that are taken for each other, in parts of them."""


def scalings(setting: Setting) -> Iterator[Mistake]:
    """Scores divided, or capped, otherwise."""
    fit = Fit.of(setting.first, setting.values.get("scaled"))
    yield from _divided(setting, fit)
    yield from _capped(setting, fit)


def _divided(setting: Setting, fit: Fit | None) -> Iterator[Mistake]:
    scale = setting.operation("scaled")
    if not isinstance(scale, Scale):
        return
    inputs, right = setting.nodes["scaled"].inputs, _right(scale)

    own = "" if scale.factor is None else f"{right:.4g}"

    def of(id: str, about: str, divisor: float) -> Mistake:
        return Mistake(id, "scaled", about.strip(), {"scaled": Node.of(Scale(scale.d_k, 1 / divisor), inputs)})

    usual = _divisors(setting, scale)
    for about, divisor in usual.items():
        if not _alike(divisor, right):
            yield of("unscaled", own, 1.0) if about == "1" else of("scaled otherwise", f"{about} {own}", divisor)
    if scale.factor is None:
        yield of("scale inverted", "", scale.d_k**-0.5)
        yield of("scaled twice", "", scale.d_k)
    others = (right, scale.d_k**-0.5, right / np.log(2), *usual.values())  # 2^x is e^(x ln 2)
    for factor in _factors(fit):
        if not any(_alike(right / factor, each) for each in others):
            divisor, about = simple(right / factor, NEAR)
            yield of("scaled otherwise", f"{about} {own}", divisor)


def _factors(fit: Fit | None) -> list[float]:
    """By what our scores are multiplied to be near to theirs, without a cap and with one."""
    factors = [fit.factor(), *(fit.factor_and_limit or ())[:1]] if fit else []
    return [each for each in factors if each]


def _right(scale: Scale) -> float:
    """By what the pass divides."""
    return scale.d_k**0.5 if scale.factor is None else 1 / scale.factor


def _alike(one: float, other: float) -> bool:
    return abs(one - other) <= NEAR * abs(other)


def _divisors(setting: Setting, scale: Scale) -> dict[str, float]:
    """The divisors of scores that people take, by name."""
    n_heads, d_k = setting.sizes["h"], scale.d_k
    d_model = setting.trace["x"].shape[-1] if "x" in setting.trace else n_heads * d_k
    divisors = {"1": 1.0, "√d_model": d_model**0.5, "d_k": float(d_k), "d_model": float(d_model)}
    if n_heads > 1:
        divisors["√heads"] = n_heads**0.5
    return divisors | ({"√d_k": d_k**0.5} if scale.factor is not None else {})


def _capped(setting: Setting, fit: Fit | None) -> Iterator[Mistake]:
    cap = setting.operation("capped")
    if isinstance(cap, Softcap):
        yield Mistake("softcap left out", "capped", "", {"capped": Node(setting.nodes["capped"].inputs, passed_on)})
        for limit, about in _limits(setting, fit, cap.limit):
            node = Node.of(Softcap(limit), setting.nodes["capped"].inputs)
            yield Mistake("softcap of another size", "capped", about, {"capped": node})
    elif setting.makes("masked") and setting.nodes["masked"].inputs[0] == "scaled":
        for limit, about in _limits(setting, fit):
            node = after(setting.nodes["masked"], Softcap(limit))
            yield Mistake("softcap added", "masked", about, {"masked": node})


def _limits(setting: Setting, fit: Fit | None, *own: float) -> Iterator[tuple[float, str]]:
    """The caps of models, and those with which scores come near to theirs, divided as they are or as people do."""
    usual = [each for each in LIMITS if each not in own]
    yield from ((each, f"{each:g}") for each in usual)
    for limit in filter(None, _fitted(setting, fit)):
        if not any(_alike(limit, each) for each in (*usual, *own)):
            yield simple(limit, NEAR)


def _fitted(setting: Setting, fit: Fit | None) -> Iterator[float | None]:
    """The caps that scores come near to theirs with, divided as they are; and as people do, or by any number."""
    if fit is None:
        return
    yield fit.limit(1.0)
    factor, limit = fit.factor_and_limit or (0.0, 0.0)
    scale = setting.operation("scaled")
    if not limit or not isinstance(scale, Scale) or _alike(factor, 1.0):
        return
    right = _right(scale)
    divisor, _ = simple(right / factor, NEAR)
    known = next((each for each in _divisors(setting, scale).values() if _alike(right / factor, each)), divisor)
    yield fit.limit(right / known)
