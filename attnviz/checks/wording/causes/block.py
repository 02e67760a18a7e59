"""Block: what stands around attention, otherwise, in words and code."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.checks.wording.causes.cause import JOINED, Cause, plain

_NORMS = {"attn_norm": "before attention", "mlp_norm": "before the MLP"}
_ACTIVATIONS = {
    "ReLU": "F.relu(x)",
    "ReLU²": "F.relu(x) ** 2",
    "the exact GELU": "F.gelu(x)",
    "GELU by tanh": "F.gelu(x, approximate='tanh')",
}


def _activation(about: str) -> Mapping[str, str]:
    return {"activation": _ACTIVATIONS[about]}


CAUSES: dict[str, Cause] = {
    "norm left out": Cause(
        lambda about: f"the norm {_NORMS[about]} was left out", "q, k, v = project(x)", "q, k, v = project(norm(x))"
    ),
    "another norm": Cause(plain("the norm was a {}"), "norm = nn.{about}(d_model)", "norm = the model's own"),
    "gain left out": Cause(plain("the norm's gain was left out"), "y = x * rsqrt", "y = x * rsqrt * gain"),
    "gain with 1 added": Cause(
        plain("1 was added to the norm's gain"),
        "y = x * rsqrt * (1 + gain)",
        "y = x * rsqrt * gain",
        "Gemma's gains are used so.",
    ),
    "gain without the 1": Cause(
        plain("the norm's gain was used without the 1 that is added to it"),
        "y = x * rsqrt * gain",
        "y = x * rsqrt * (1 + gain)",
    ),
    "another epsilon": Cause(plain("the norm's epsilon was {}"), "norm.eps = {about}", "norm.eps = config.norm_eps"),
    "w_o left out": Cause(plain("W_O was left out"), JOINED, f"{JOINED} @ w_o.T"),
    "residual added": Cause(plain("x was added to the output already"), "return x + out", "return out"),
    "residual left out": Cause(plain("what entered was not added (residual)"), "x = out", "x = x + out"),
    "another activation": Cause(
        plain("the activation was {}"), "x = {activation}", "x = self.activation(x)", slots=_activation
    ),
}
