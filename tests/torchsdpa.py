"""Calls of PyTorch's `scaled_dot_product_attention`, its results and its slopes.

`PYTHONPATH=.:tests python tests/torchsdpa.py` records them with torch, as `.ci/torch` does. Inputs are whole numbers of
64ths of at most 2, which bfloat16 holds exactly, too.
"""

import json
import sys
import zlib
from pathlib import Path

import numpy as np

RECORDED = Path(__file__).parent / "data" / "torch_sdpa.npz"

SELF = {"query": (3, 5, 4), "key": (3, 5, 4), "value": (3, 5, 4)}
CROSS = {"query": (3, 2, 4), "key": (3, 5, 4), "value": (3, 5, 6)}
GROUPED = {"query": (6, 3, 4), "key": (2, 5, 4), "value": (2, 5, 4)}
BATCH = {"query": (2, 3, 4, 5), "key": (2, 3, 6, 5), "value": (2, 3, 6, 7)}
CASES = {
    "plain": (SELF, {}),
    "other numbers of queries and keys": (CROSS, {}),
    "more queries than keys": ({"query": (2, 5, 3), "key": (2, 3, 3), "value": (2, 3, 2)}, {}),
    "one head without an axis": ({"query": (4, 3), "key": (5, 3), "value": (5, 2)}, {}),
    "causal": (SELF, {"is_causal": True}),
    "causal, fewer queries than keys": (CROSS, {"is_causal": True}),
    "causal, more queries than keys": ({"query": (1, 5, 3), "key": (1, 3, 3), "value": (1, 3, 2)}, {"is_causal": True}),
    "causal, the other corner": (CROSS, {"is_causal": True, "causal_corner": "lower right"}),
    "scale": (SELF, {"scale": 0.3}),
    "a negative scale": (SELF, {"scale": -1.5}),
    "a boolean mask": (SELF, {"attn_mask": ("bool", (5, 5))}),
    "a boolean mask of each head": (CROSS, {"attn_mask": ("bool", (3, 2, 5))}),
    "a float mask": (SELF, {"attn_mask": ("float", (5, 5))}),
    "a float mask with -inf": (CROSS, {"attn_mask": ("hiding", (2, 5))}),
    "a row that sees nothing": (SELF, {"attn_mask": ("empty row", (5, 5))}),
    "a mask of keys alone": (SELF, {"attn_mask": ("bool", (1, 5))}),
    "groups": (GROUPED, {"enable_gqa": True}),
    "groups, causal": (GROUPED, {"enable_gqa": True, "is_causal": True}),
    "one group": ({"query": (4, 3, 4), "key": (1, 3, 4), "value": (1, 3, 4)}, {"enable_gqa": True, "scale": 1.0}),
    "a batch": (BATCH, {}),
    "a batch, causal": (BATCH, {"is_causal": True}),
    "a batch, a mask for each sentence": (BATCH, {"attn_mask": ("bool", (2, 1, 4, 6))}),
    "a batch, a mask of one head for all": (BATCH, {"attn_mask": ("float", (3, 4, 6))}),
    "a batch of groups": (
        {"query": (2, 4, 3, 4), "key": (2, 2, 5, 4), "value": (2, 2, 5, 4)},
        {"enable_gqa": True, "attn_mask": ("hiding", (2, 4, 3, 5))},
    ),
    **{
        f"{dtype}": ({"query": (2, 6, 8), "key": (2, 6, 8), "value": (2, 6, 8)}, {"is_causal": True, "dtype": dtype})
        for dtype in ("float32", "float16", "bfloat16")
    },
}


def inputs(name: str) -> tuple[dict[str, np.ndarray], dict]:
    """The arrays and the other arguments of a case."""
    shapes, arguments = CASES[name]
    random = np.random.RandomState(zlib.crc32(name.encode()))
    arrays = {each: np.clip(random.normal(size=shape) * 64, -128, 128).round() / 64 for each, shape in shapes.items()}
    kind, shape = arguments.get("attn_mask", (None, ()))
    if kind:
        arrays["attn_mask"] = mask(kind, shape, random)
    return arrays, {each: value for each, value in arguments.items() if each not in ("attn_mask", "dtype")}


def mask(kind: str, shape: tuple[int, ...], random: np.random.RandomState) -> np.ndarray:
    """A mask of that kind; but for "empty row" every query sees the first key."""
    bias, seen = random.randint(-64, 64, size=shape) / 64, random.random_sample(shape) < 0.6
    seen[..., 0] = True
    if kind == "empty row":
        seen[..., 1, :] = False
    return {"float": bias, "hiding": np.where(seen, bias, -np.inf)}.get(kind, seen)


def record(name: str) -> dict[str, np.ndarray]:
    """What PyTorch returns, and in float64 the slopes of that times `upstream`."""
    import torch
    import torch.nn.attention.bias

    arrays, arguments = inputs(name)
    dtype = getattr(torch, CASES[name][1].get("dtype", "float64"))
    tensors = {
        each: torch.from_numpy(array) if array.dtype == bool else torch.from_numpy(array).to(dtype)
        for each, array in arrays.items()
    }
    differentiable = ["query", "key", "value"] if dtype == torch.float64 else []
    for each in differentiable:
        tensors[each].requires_grad_()
    if arguments.pop("causal_corner", None):
        arguments["is_causal"] = False
        tensors["attn_mask"] = torch.nn.attention.bias.causal_lower_right(
            *(tensors[n].shape[-2] for n in ("query", "key"))
        )
    output = torch.nn.functional.scaled_dot_product_attention(**tensors, **arguments)
    found = {"output": output.detach().double().numpy()}
    if differentiable:
        upstream = torch.cos(torch.arange(output.numel(), dtype=dtype)).reshape(output.shape)
        slopes = torch.autograd.grad((output * upstream).sum(), [tensors[each] for each in differentiable])
        found |= {f"slope.{each}": slope.numpy() for each, slope in zip(differentiable, slopes, strict=True)}
    return found


if __name__ == "__main__":
    import torch

    arrays = {f"{name}/{each}": array for name in CASES for each, array in record(name).items()}
    np.savez_compressed(RECORDED, about=np.array(json.dumps({"torch": torch.__version__})), **arrays)
    sys.stdout.write(f"{len(CASES)} calls of PyTorch {torch.__version__}: {RECORDED.stat().st_size:,} bytes\n")
