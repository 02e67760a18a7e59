"""Causes: how often `compare` names the mistake in a layer, over mistakes, layouts and the stages that people have.

`python -m benchmarks.causes` (with tests/ beside it) prints, for each set of stages, how many are named alone, in a set
with others that the numbers don't tell from them, by their stage only, and wrongly; and of correct passes how many are
called wrong.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator

import numpy as np
import test_causes as planted

from attnviz import compare
from attnviz.checks.causes.table import cause

STAGES = {
    "all": ("q", "k", "v", "scores", "scaled", "masked", "attention", "heads", "concat", "output"),
    "input, weights, output": ("output",),
    "attention, output": ("attention", "output"),
}
"""Which stages people have, beside the input and the parameters."""


def layouts(n_heads: int) -> dict[str, object]:
    """How somebody lays out a pass, by the name of a library: as plain matrices, or as libraries do."""

    def plain(own: dict, made: dict) -> dict:
        return {**own, **made}

    def batched(own: dict, made: dict) -> dict:
        rest = {name: each for name, each in own.items() if name != "x"}
        return {**rest, "x": own["x"][None], **{name: each[None] for name, each in made.items()}}

    def out_in(own: dict, made: dict) -> dict:
        names = {f"w_{each}": f"self_attn.{each}_proj.weight" for each in "qkvo"}
        names |= {f"b_{each}": f"self_attn.{each}_proj.bias" for each in "qkvo"}
        return {names.get(name, name): each.T for name, each in own.items() if name != "x"} | {"x": own["x"]} | made

    def joined(own: dict, made: dict) -> dict:
        flat = {
            name: each.transpose(1, 0, 2).reshape(each.shape[1], -1) for name, each in made.items() if name in "qkv"
        }
        return out_in(own, made) | flat

    def fused(own: dict, made: dict) -> dict:
        w = np.concatenate([own[f"w_{each}"] for each in "qkv"], axis=1)
        b = np.concatenate([own[f"b_{each}"] for each in "qkv"])
        return {"x": own["x"], "in_proj_weight": w.T, "in_proj_bias": b, "out_proj.weight": own["w_o"].T} | {
            "out_proj.bias": own["b_o"],
            **made,
        }

    def cut(own: dict, each: str) -> np.ndarray:
        return own[f"w_{each}"].reshape(len(own["x"][0]), n_heads, -1)

    def lens(own: dict, made: dict) -> dict:
        w = {f"W_{each.upper()}": cut(own, each).transpose(1, 0, 2) for each in "qkv"}
        b = {f"b_{each.upper()}": own[f"b_{each}"].reshape(n_heads, -1) for each in "qkv"}
        hooks = {
            "masked": "hook_attn_scores",
            "attention": "hook_pattern",
            "heads": "hook_z",
            "output": "hook_attn_out",
        }
        names = {**hooks, **{each: f"hook_{each}" for each in "qkv"}}
        swapped = {name: each.swapaxes(0, 1) if name in (*"qkv", "heads") else each for name, each in made.items()}
        w_o = own["w_o"].reshape(n_heads, -1, own["w_o"].shape[1])
        ends = {names.get(name, name): each for name, each in swapped.items()}
        return {"x": own["x"], **w, **b, "W_O": w_o, "b_O": own["b_o"], **ends}

    def keras(own: dict, made: dict) -> dict:
        words = {"q": "query", "k": "key", "v": "value"}
        kernels = {f"{word}/kernel": cut(own, each) for each, word in words.items()}
        biases = {f"{word}/bias": own[f"b_{each}"].reshape(n_heads, -1) for each, word in words.items()}
        w_o = own["w_o"].reshape(n_heads, -1, own["w_o"].shape[1])
        ends = {"attention_output/kernel": w_o, "attention_output/bias": own["b_o"]}
        return {"x": own["x"], **kernels, **biases, **ends, **made}

    def conv1d(own: dict, made: dict) -> dict:
        w = np.concatenate([own[f"w_{each}"] for each in "qkv"], axis=1)
        b = np.concatenate([own[f"b_{each}"] for each in "qkv"])
        fused = {"attn.c_attn.weight": w, "attn.c_attn.bias": b}
        return {"x": own["x"], **fused, "attn.c_proj.weight": own["w_o"], "attn.c_proj.bias": own["b_o"], **made}

    def float32(own: dict, made: dict) -> dict:
        return {name: each.astype(np.float32) for name, each in plain(own, made).items()}

    return {
        "attnviz": plain,
        "with a batch": batched,
        "Hugging Face": out_in,
        "heads side by side": joined,
        "nn.MultiheadAttention": fused,
        "TransformerLens": lens,
        "Keras": keras,
        "GPT-2": conv1d,
        "float32": float32,
    }


def measured(step: int = 1) -> Iterator[tuple[str, str, str, str]]:
    """For every `step`th mistake: its stages, layout and sentence, and what came out."""
    for said in planted.CAUSES[::step]:
        made = planted.carried_out(said)
        for way, lay in layouts(planted.HEADS).items():
            for has, stages in STAGES.items():
                stated = {name: value for name, value in made.items() if name in stages}
                arrays = lay(planted.given(), stated) | {"mask": planted.SEEN}
                orientation = "(in, out)" if way in ("attnviz", "with a batch", "float32") else None
                found = compare(None, arrays, n_heads=planted.HEADS, orientation=orientation, true_is="visible")
                yield has, way, said, outcome(said, found)


def outcome(said: str, found: object) -> str:
    """How a mistake was named."""
    if found.first is None:
        return "no difference to see"
    named = [cause(each) for each in found.causes[:1]]
    others = [cause(each) for pair in found.alternatives for each in pair]
    if not named:
        return "by its stage"
    if said in named:
        return "in a set" if others else "alone"
    if said in others:
        return "in a set"
    return "wrongly" if found.explained else "by its stage"


def main(step: int) -> int:
    """Print the tables; how many were named wrongly."""
    counts, wrong = Counter(), []
    for has, way, said, came in measured(step):
        counts[has, came] += 1
        if came == "wrongly":
            wrong.append(f"{came}: {said} ({way}; {has})")
    for has in STAGES:
        row = {came: n for (of, came), n in counts.items() if of == has}
        sys.stdout.write(f"{has}: {', '.join(f'{n} {came}' for came, n in sorted(row.items()))}\n")
    sys.stdout.write("".join(f"{each}\n" for each in wrong))
    return len(wrong)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1) > 0)
