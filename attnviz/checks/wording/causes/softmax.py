"""Softmax: shares that are made otherwise of the masked scores, in words and code."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.checks.wording.causes.cause import SOFTMAX, Cause, plain


def _axis(about: str) -> Mapping[str, str]:
    return {"axis": {"queries": "-2", "heads": "1"}[about]}


CAUSES: dict[str, Cause] = {
    "softmax along the wrong axis": Cause(
        plain("the softmax was taken along the {}, not along the keys"),
        "attention = scores.softmax(dim={axis})",
        SOFTMAX,
        slots=_axis,
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
