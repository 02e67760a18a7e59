"""Mistakes in code: a module of attention in PyTorch with one line wrong.

`PYTHONPATH=.:tests python tests/plantedmodules.py` records what each computes beside `nn.MultiheadAttention`, as
`.ci/torch` does; without torch the recorded arrays are compared.
"""

import json
import sys
import tomllib
from pathlib import Path

import numpy as np

from attnviz.checks.recording.call import COMPUTED

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

MISTAKES = tomllib.loads(RECORDED.with_name("planted_mistakes.toml").read_text("utf-8"))
RIGHT = {name for name, mistake in MISTAKES.items() if "sentence" not in mistake}


def planted(name: str):
    """The class with that mistake."""
    import torch

    mistake, made = MISTAKES[name], {"torch": torch}
    assert SOURCE.count(mistake["right"]) == 1, name
    exec(SOURCE.replace(mistake["right"], mistake["wrong"]), made)
    return made["Attention"]


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
    from attnviz import compare
    from attnviz.checks.recording.layer import Layer, calls, drawn
    from attnviz.checks.recording.parameters import Parameters

    x, library = drawn(D_MODEL, 0), Layer.of("like", like(), {})
    causal = dict(calls(library, x, {}))["causal"]
    parameters = Parameters(library, compare(None, causal).trace)
    found = {f"like/{each}": array for each, array in causal.items()}
    for name in MISTAKES:
        mine = Layer.of("my_module", planted(name)(D_MODEL, N_HEADS), {})
        with parameters.copied_to(mine):
            ways = [arrays for way, arrays in calls(mine, x, {}) if way == "causal"]
        arrays = ways[-1 if name in RIGHT else 0]
        found |= {f"{name}/{each}": array for each, array in arrays.items() if each in COMPUTED}
    return found


if __name__ == "__main__":
    import torch

    np.savez_compressed(RECORDED, about=np.array(json.dumps({"torch": torch.__version__})), **record_all())
    sys.stdout.write(f"{len(MISTAKES)} mistakes: {RECORDED.stat().st_size:,} bytes\n")
