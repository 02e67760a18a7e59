"""Layers that torch computes in bfloat16 and float16 in several ways, and some mistakes, recorded once.

`python tests/torchshort.py` records them again; it needs torch. Arrays of bfloat16 are kept as float32.
"""

from pathlib import Path

import numpy as np

RECORDED = Path(__file__).parent / "data" / "torch_short.npz"
WAYS = ("all in 16 bits", "softmax in float32", "queries scaled", "computed in float32", "no softmax of torch")
MISTAKES = ("scale 1.3", "scale 1.1", "mask + 1", "groups tiled")


def record_all():
    import torch

    def layer(name, way, wrong=""):
        """A causal layer of 4 heads in 2 groups, with large scores."""
        dtype = getattr(torch, name)
        drawn = torch.Generator().manual_seed(53)
        x, *weights = ((16 * torch.randn(n, 32, generator=drawn)).round().to(dtype) / 16 for n in (9, 32, 16, 16, 32))
        w_q, w_k, w_v, w_o = (each / 4 for each in weights)
        wide = torch.float32 if way == "computed in float32" else dtype
        q, k, v = ((x.to(wide) @ w.T.to(wide)).unflatten(-1, (-1, 8)).transpose(0, 1) for w in (w_q, w_k, w_v))
        k, v = (each.repeat(2, 1, 1) if "tiled" in wrong else each.repeat_interleave(2, 0) for each in (k, v))
        scale = 8**-0.5 * float(wrong.split()[-1] if "scale" in wrong else 1)
        scores = (q * scale) @ k.mT if way == "queries scaled" else q @ k.mT * scale
        scores = scores.masked_fill(~torch.ones(9, 9, dtype=bool).tril(int(wrong == "mask + 1")), -torch.inf)
        if way == "no softmax of torch":
            powers = (scores - scores.amax(-1, keepdim=True)).exp()
            attention = powers / powers.sum(-1, keepdim=True)
        else:
            attention = scores.softmax(-1, dtype=torch.float32 if "softmax" in way else None).to(wide)
        output = (attention @ v).transpose(0, 1).flatten(1) @ w_o.T.to(wide)
        given = {"x": x, "W_Q": w_q.T, "W_K": w_k.T, "W_V": w_v.T, "W_O": w_o.T}
        result = {**given, "attention": attention.to(dtype), "output": output.to(dtype)}
        numbers = {each: array.float().numpy() for each, array in result.items()}
        return numbers if name == "bfloat16" else {each: array.astype(np.float16) for each, array in numbers.items()}

    cases = {}
    for name in ("bfloat16", "float16"):
        for way in WAYS:
            cases[f"{name}, {way}"] = layer(name, way)
        for wrong in MISTAKES:
            cases[f"{name}, {wrong}"] = layer(name, WAYS[0], wrong)
    return cases


def recorded():
    """The arrays of each case, with the mask that they should have."""
    with np.load(RECORDED) as file:
        kept = {name: file[name] for name in file.files}
    cases = {}
    for key, array in kept.items():
        case, _, stage = key.partition("; ")
        if stage in ("attention", "output"):
            shared = {
                key.partition("; ")[2]: each for key, each in kept.items() if key.startswith(case.split(",")[0] + "; ")
            }
            cases.setdefault(case, {**shared, "mask": np.tri(9, dtype=bool)})[stage] = array
    return cases


def main():
    import torch

    flat = {}
    for case, arrays in record_all().items():
        for stage, array in arrays.items():
            flat[f"{case}; {stage}" if stage in ("attention", "output") else f"{case.split(',')[0]}; {stage}"] = array
    np.savez_compressed(RECORDED, torch=np.array(torch.__version__), **flat)


if __name__ == "__main__":
    main()
