"""Scale: scores that are divided by another number, or by none, or capped, in words and code."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.checks.wording.causes.cause import SCALED, SOFTMAX, Cause, plain


def _number(about: str) -> Mapping[str, str]:
    """The numbers as code has them: the one that is wrong and, in the place of √d_k, the pass's own."""
    wrong, right = (*about.split(), "√d_k", "√d_k")[:2]
    return {"about": _in_code(wrong), "own": _in_code(right)}


def _in_code(number: str) -> str:
    root = number.replace("√heads", "√n_heads").removeprefix("√")
    return root + " ** 0.5" * number.startswith("√")


def _otherwise(about: str) -> str:
    wrong, right = (*about.split(), "√d_k")[:2]
    return f"the scores were divided by {wrong}, not by {right}"


CAUSES: dict[str, Cause] = {
    "unscaled": Cause(
        lambda about: f"the scores were not divided by {about or '√d_k'}",
        "scores = q @ k.transpose(-2, -1)",
        "scores = q @ k.transpose(-2, -1) / {own}",
        "T5 and GPT-Neo leave it out on purpose.",
        lambda about: _number(f"1 {about}"),
    ),
    "scaled otherwise": Cause(
        _otherwise,
        "scores = q @ k.transpose(-2, -1) / {about}",
        "scores = q @ k.transpose(-2, -1) / {own}",
        "Some models do so on purpose: Gemma 2 and 3 divide by √query_pre_attn_scalar, which their configuration has.",
        slots=_number,
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
        slots=_number,
    ),
    "softcap added": Cause(
        plain("the scores were capped at ±{} (softcap)"),
        "scores = {about} * torch.tanh(scores / {about})",
        "scores = scores",
        "Gemma 2 and Grok do so on purpose.",
        _number,
    ),
}
