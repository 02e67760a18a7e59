"""Scale: scores that are divided by another number, or by none, in words and code."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.text.check.causes.cause import SCALED, Cause, plain


def _divisor(about: str) -> Mapping[str, str]:
    number = about.replace("√heads", "√n_heads").removeprefix("√")
    return {"divisor": number + " ** 0.5" * about.startswith("√")}


CAUSES: dict[str, Cause] = {
    "unscaled": Cause(
        plain("the scores were not divided by √d_k"),
        "scores = q @ k.transpose(-2, -1)",
        SCALED,
        "T5 and GPT-Neo leave it out on purpose.",
    ),
    "scaled otherwise": Cause(
        plain("the scores were divided by {}, not by √d_k"),
        "scores = q @ k.transpose(-2, -1) / {divisor}",
        SCALED,
        "Some models do so on purpose: Gemma 2 and 3 divide by √query_pre_attn_scalar, which their configuration has.",
        slots=_divisor,
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
}
