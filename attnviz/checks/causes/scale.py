"""Mistakes with the scale and the softcap of scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from attnviz.checks.causes.cause import SCALED, SOFTMAX, Cause, Mistake, Setting, after, passed_on, plain
from attnviz.checks.causes.fit import Fit, simple
from attnviz.checks.explain.nodes import Node
from attnviz.core.operations.scores import LIMITS, Scale, Softcap


def _number_slots(about: str) -> Mapping[str, str]:
    """The wrong divisor and the right one, as code."""
    wrong, right = (*about.split(), "√d_k", "√d_k")[:2]
    return {"about": _in_code(wrong), "own": _in_code(right)}


def _in_code(number: str) -> str:
    root = number.replace("√heads", "√n_heads").removeprefix("√")
    return root + " ** 0.5" * number.startswith("√")


def _divisor_clause(about: str) -> str:
    wrong, right = (*about.split(), "√d_k")[:2]
    return f"the scores were divided by {wrong}, not by {right}"


CAUSES: dict[str, Cause] = {
    "unscaled": Cause(
        lambda about: f"the scores were not divided by {about or '√d_k'}",
        "scores = q @ k.transpose(-2, -1)",
        "scores = q @ k.transpose(-2, -1) / {own}",
        "T5 and GPT-Neo leave it out on purpose.",
        lambda about: _number_slots(f"1 {about}"),
    ),
    "scaled otherwise": Cause(
        _divisor_clause,
        "scores = q @ k.transpose(-2, -1) / {about}",
        "scores = q @ k.transpose(-2, -1) / {own}",
        "Some models do so on purpose: Gemma 2 and 3 divide by √query_pre_attn_scalar, which their configuration has.",
        slots=_number_slots,
    ),
    "scaled twice": Cause(
        plain("the scores were divided by √d_k twice"),
        "q = q / d_k ** 0.5; scores = q @ k.transpose(-2, -1) / d_k ** 0.5",
        SCALED,
    ),
    "scale inverted": Cause(
        plain("the scores were multiplied by √d_k, not divided"),
        "scores = q @ k.transpose(-2, -1) * d_k ** 0.5",
        SCALED,
    ),
    "softcap left out": Cause(
        plain("the scores were not capped (softcap)"), SOFTMAX, "scores = cap * torch.tanh(scores / cap)"
    ),
    "softcap of another size": Cause(
        plain("the scores were capped at ±{} (softcap), and not at the pass's own"),
        "scores = {about} * torch.tanh(scores / {about})",
        "scores = cap * torch.tanh(scores / cap)",
        slots=_number_slots,
    ),
    "softcap added": Cause(
        plain("the scores were capped at ±{} (softcap)"),
        "scores = {about} * torch.tanh(scores / {about})",
        "scores = scores",
        "Gemma 2 and Grok do so on purpose.",
        _number_slots,
    ),
}


NEAR = 1e-4  # relative difference of numbers that count as equal


def scale_mistakes(setting: Setting) -> Iterator[Mistake]:
    """Mistakes with the scale and the softcap."""
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
    """Factors that bring our scores near theirs, without and with a softcap."""
    factors = [fit.factor(), *(fit.factor_and_limit or ())[:1]] if fit else []
    return [each for each in factors if each]


def _right(scale: Scale) -> float:
    """The divisor of the pass."""
    return scale.d_k**0.5 if scale.factor is None else 1 / scale.factor


def _alike(one: float, other: float) -> bool:
    return abs(one - other) <= NEAR * abs(other)


def _divisors(setting: Setting, scale: Scale) -> dict[str, float]:
    """Divisors that people use, by name."""
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
    """The softcaps of known models, then those that fit the scores."""
    usual = [each for each in LIMITS if each not in own]
    yield from ((each, f"{each:g}") for each in usual)
    for limit in filter(None, _fitted(setting, fit)):
        if not any(_alike(limit, each) for each in (*usual, *own)):
            yield simple(limit, NEAR)


def _fitted(setting: Setting, fit: Fit | None) -> Iterator[float | None]:
    """Softcaps that fit scores with the right divisor, then with a wrong one."""
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
