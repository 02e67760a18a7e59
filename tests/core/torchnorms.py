"""Norms and activations by PyTorch: `PYTHONPATH=.:tests python tests/core/torchnorms.py` records what torch makes."""

import json
import sys
from pathlib import Path

import numpy as np

RECORDED = Path(__file__).parents[1] / "data" / "torch_norms.json"

_draw = np.random.default_rng(24).standard_normal
X = _draw((3, 7))
GAIN, BIAS = _draw((2, 7))

if __name__ == "__main__":
    import torch
    from torch.nn import functional

    x, gain, bias = map(torch.from_numpy, (X, GAIN, BIAS))
    made = {
        "rmsnorm": functional.rms_norm(x, (7,), eps=1e-5),
        "layernorm": functional.layer_norm(x, (7,)),
        "layernorm and gain": functional.layer_norm(x, (7,), gain),
        "layernorm, gain and bias": functional.layer_norm(x, (7,), gain, bias),
        "relu": functional.relu(x),
        "relu squared": functional.relu(x).square(),
        "gelu": functional.gelu(x),
        "gelu by tanh": functional.gelu(x, approximate="tanh"),
    }
    found = {name: array.numpy().tolist() for name, array in made.items()}
    RECORDED.write_text(json.dumps({"torch": torch.__version__, "made": found}, indent=1) + "\n", "utf-8")
    sys.stdout.write(f"{len(made)} operations by PyTorch {torch.__version__}\n")
