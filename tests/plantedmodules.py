"""Mistakes in code: a module of attention in PyTorch with one line wrong.

`PYTHONPATH=.:tests python tests/plantedmodules.py` records what each computes beside `nn.MultiheadAttention`, as
`.ci/torch` does; without torch the recorded arrays are compared.
"""

import json
import sys
from pathlib import Path

import numpy as np

from attnviz.checks.recording.modules import COMPUTED

RECORDED = Path(__file__).parent / "data" / "planted_modules.npz"
D_MODEL, N_HEADS = 12, 3

SOURCE = """
class Attention(torch.nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (torch.nn.Linear(d_model, d_model) for _ in range(4))
        self.num_heads = n_heads

    def forward(self, x, mask=None):
        n, t, d = x.shape
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        q, k, v = (each.view(n, t, self.num_heads, -1).transpose(1, 2) for each in (q, k, v))
        scores = q @ k.transpose(-2, -1)
        scores = scores / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        attention = torch.softmax(scores, dim=-1)
        heads = attention @ v
        joined = heads.transpose(1, 2).reshape(n, t, d)
        output = self.out_proj(joined)
        return output, attention
"""

_SCALE = "scores = scores / q.shape[-1] ** 0.5"
_PROJECT = "q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)"
_SPLIT = "each.view(n, t, self.num_heads, -1).transpose(1, 2) for"
_MASK = "scores = scores.masked_fill(~mask, -torch.inf)"
_SOFTMAX = "attention = torch.softmax(scores, dim=-1)"
_JOIN = "joined = heads.transpose(1, 2).reshape(n, t, d)"
_OUT = "output = self.out_proj(joined)"
MISTAKES: dict[str, tuple[str, str]] = {
    "no scale": (_SCALE, "pass"),
    "√d_model": (_SCALE, "scores = scores / d ** 0.5"),
    "d_k": (_SCALE, "scores = scores / q.shape[-1]"),
    "√heads": (_SCALE, "scores = scores / self.num_heads ** 0.5"),
    "scale inverted": (_SCALE, "scores = scores * q.shape[-1] ** 0.5"),
    "scale twice": (_SCALE, "scores = scores / q.shape[-1] ** 0.5 / q.shape[-1] ** 0.5"),
    "mask left out": (_MASK, "pass"),
    "mask off by one": (_MASK, "scores = scores.masked_fill(~mask.roll(1, -1) & ~mask, -torch.inf)"),
    "mask transposed": (_MASK, "scores = scores.masked_fill(~mask.T, -torch.inf)"),
    "mask multiplied": (_MASK, "scores = scores * mask"),
    "mask added as 0 and 1": (_MASK, "scores = scores + mask"),
    "−10 for −∞": (_MASK, "scores = scores.masked_fill(~mask, -10)"),
    "mask after the softmax": (_SOFTMAX, "attention = torch.softmax(scores.masked_fill(scores == -torch.inf, 0), -1)"),
    "softmax along the queries": (_SOFTMAX, "attention = torch.softmax(scores, dim=-2)"),
    "softmax along the heads": (_SOFTMAX, "attention = torch.softmax(scores, dim=1).nan_to_num()"),
    "softmax twice": (_SOFTMAX, "attention = torch.softmax(torch.softmax(scores, -1), -1)"),
    "softmax of base 2": (_SOFTMAX, "attention = torch.softmax(scores * 0.6931471805599453, dim=-1)"),
    "heads cut by view alone": (_SPLIT, "each.reshape(n, self.num_heads, t, -1) for"),
    "heads interleaved": (_SPLIT, "each.view(n, t, -1, self.num_heads).permute(0, 3, 1, 2) for"),
    "heads joined untransposed": (_JOIN, "joined = heads.reshape(n, t, d)"),
    "heads joined in another order": (_JOIN, "joined = heads.permute(0, 2, 3, 1).reshape(n, t, d)"),
    "q and k swapped": ("scores = q @ k.transpose(-2, -1)", "scores = k @ q.transpose(-2, -1)"),
    "k and v swapped": (_PROJECT, "q, v, k = self.q_proj(x), self.k_proj(x), self.v_proj(x)"),
    "v left out": ("heads = attention @ v", "heads = attention @ k"),
    "W_Q transposed": ("self.q_proj(x),", "x @ self.q_proj.weight + self.q_proj.bias,"),
    "W_O transposed": (_OUT, "output = joined @ self.out_proj.weight + self.out_proj.bias"),
    "W_O left out": (_OUT, "output = joined"),
    "bias of q left out": ("self.q_proj(x),", "self.q_proj(x) - self.q_proj.bias,"),
    "bias of the output twice": (_OUT, "output = self.out_proj(joined) + self.out_proj.bias"),
    "residual added": (_OUT, "output = self.out_proj(joined) + x"),
    "averaged over heads": (
        _SOFTMAX,
        "attention = torch.softmax(scores, -1).mean(1, keepdim=True).expand(-1, 3, -1, -1)",
    ),
}
"""The line that is right, and the one in its place."""


def planted(name: str):
    """The class with that mistake."""
    import torch

    right, wrong = MISTAKES[name]
    assert SOURCE.count(right) == 1, name
    made = {"torch": torch}
    exec(SOURCE.replace(right, wrong), made)
    return made["Attention"]


NAMED = {
    "no scale": "The scores were not divided by √d_k",
    "√d_model": "The scores were divided by √d_model, not by √d_k",
    "d_k": "The scores were divided by d_k, not by √d_k",
    "√heads": "The scores were divided by √heads, not by √d_k",
    "scale inverted": "The scores were multiplied by √d_k, not divided",
    "scale twice": "the scores were divided by √d_k twice",
    "mask left out": "The mask was not applied",
    "mask off by one": "The mask reached one key too far",
    "mask transposed": "The mask was used transposed",
    "mask multiplied": "The scores were multiplied by the mask",
    "−10 for −∞": "Hidden scores were set to −10, not to −∞",
    "mask after the softmax": "so that a hidden key kept a score of 0",
    "softmax along the queries": "The softmax was taken along the queries",
    "softmax along the heads": "The softmax was taken along the heads",
    "softmax twice": "The softmax was taken twice",
    "softmax of base 2": "The softmax took powers of 2, not of e",
    "heads cut by view alone": "Q, K and V were cut into heads without transposing",
    "heads interleaved": "Q, K and V were cut into heads that take turns",
    "heads joined untransposed": "The heads were joined without transposing",
    "heads joined in another order": "The heads were joined so that they take turns",
    "q and k swapped": "Queries and keys were exchanged in the scores",
    "k and v swapped": "W_K and W_V were exchanged",
    "v left out": "The attention was multiplied by K, not by V",
    "W_Q transposed": "W_Q was used transposed",
    "W_O transposed": "W_O was used transposed",
    "W_O left out": "W_O was left out",
    "bias of q left out": "b_Q was not added",
    "bias of the output twice": "b_O was added twice",
    "residual added": "X was added to the output already",
    "averaged over heads": "The attention was averaged over heads",
}
"""What is said of each mistake."""

FIRST = {
    **dict.fromkeys(MISTAKES, "attention"),
    **dict.fromkeys(("heads joined untransposed", "heads joined in another order", "v left out"), "concat"),
    **dict.fromkeys(("W_O transposed", "W_O left out", "bias of the output twice", "residual added"), "output"),
}
"""The first stage that differs."""

RIGHT = {"mask added as 0 and 1"}
"""Right after all with a mask of 0 and −∞, which is what it gets then."""


def like():
    """The library's module, with parameters that are the same each time."""
    import torch

    torch.manual_seed(0)
    module = torch.nn.MultiheadAttention(D_MODEL, N_HEADS, batch_first=True)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn_like(parameter) / (4 if parameter.ndim == 1 else 3))
    return module


def record_all() -> dict[str, np.ndarray]:
    """What the library's module computes with a causal mask, and what each planted one does in its place."""
    from attnviz.checks.recording.check import calls, copied, drawn
    from attnviz.checks.recording.modules import attention_modules

    x = drawn(D_MODEL, 0)
    ((library,), _) = attention_modules(like())
    found = {f"like/{each}": array for each, array in dict(calls(library, x, {}))["causal"].items()}
    for name in MISTAKES:
        ((mine,), _) = attention_modules(planted(name)(D_MODEL, N_HEADS))
        with copied(mine, library):
            ways = [arrays for way, arrays in calls(mine, x, {}) if way == "causal"]
        arrays = ways[-1 if name in RIGHT else 0]
        found |= {f"{name}/{each}": array for each, array in arrays.items() if each in COMPUTED}
    return found


if __name__ == "__main__":
    import torch

    np.savez_compressed(RECORDED, about=np.array(json.dumps({"torch": torch.__version__})), **record_all())
    sys.stdout.write(f"{len(MISTAKES)} mistakes: {RECORDED.stat().st_size:,} bytes\n")
