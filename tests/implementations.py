"""Attention as people write it, in NumPy and a precision of their own, with their mistakes, and laid out as they do."""

from dataclasses import dataclass, field

import numpy as np


def softmax(scores, axis=-1):
    """Scores of plain NumPy as shares."""
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


@dataclass
class Implementation:
    """A pass of someone's own: plain matrices (in, out), x @ W, one sentence; `wrong` is what they did wrong."""

    random: np.random.Generator
    dtype: type = np.float32
    n_heads: int = 2
    d: int = 4
    n: int = 5
    n_keys: int | None = None
    n_groups: int | None = None
    biased: bool = True
    mask: np.ndarray | None = None
    hides_by: float = -np.inf
    wrong: str = ""
    parameters: dict = field(init=False)
    stages: dict = field(init=False)

    def __post_init__(self):
        d_model, groups = self.n_heads * self.d, self.n_groups or self.n_heads
        lengths = {"q": d_model, "k": groups * self.d, "v": groups * self.d, "o": d_model}
        self.parameters = {
            **{f"w_{each}": self.drawn(d_model, n) / d_model**0.5 for each, n in lengths.items()},
            **{f"b_{each}": self.drawn(n) for each, n in lengths.items() if self.biased},
        }
        self.parameters = {name: each.astype(self.dtype) for name, each in self.parameters.items()}
        self.x = self.drawn(self.n, d_model)
        self.context = self.x if self.n_keys is None else self.drawn(self.n_keys, d_model)
        self.stages = self.computed()

    def drawn(self, *shape):
        return self.random.normal(size=shape).astype(self.dtype)

    def computed(self):
        q, k, v = (self.projected(each, x) for each, x in (("q", self.x), ("k", self.context), ("v", self.context)))
        repeats = self.n_heads // (self.n_groups or self.n_heads)
        own = {"q": q, "k": k, "v": v}
        k, v = (np.repeat(each, repeats, axis=0) for each in (k, v))
        scores = q @ k.transpose(0, 2, 1)
        divisor = {"unscaled": 1, "scaled by d_model": self.n_heads * self.d}.get(self.wrong, self.d) ** 0.5
        scaled = scores / self.dtype(divisor)
        visible = np.ones(scores.shape[1:], bool) if self.mask is None else self.mask
        if self.wrong == "mask inverted":
            visible = ~visible
        if self.wrong == "mask not applied":
            visible = np.ones_like(visible)
        is_after = self.wrong == "mask after the softmax"
        masked = scaled if is_after else np.where(visible, scaled, self.dtype(self.hides_by))
        axis = -2 if self.wrong == "softmax along the wrong axis" else -1
        with np.errstate(invalid="ignore"):
            attention = softmax(masked, axis)
        if is_after:
            attention = attention * visible
        heads = attention @ v
        concat = heads.transpose(1, 0, 2).reshape(self.n, -1)
        output = concat @ self.parameter("w_o") + self.parameter("b_o")
        made = {"scores": scores, "scaled": scaled, "masked": masked, "attention": attention, "heads": heads}
        return {**own, **made, "concat": concat, "output": output}

    def projected(self, name, x):
        y = x @ self.parameter(f"w_{name}") + self.parameter(f"b_{name}")
        if self.wrong == "heads split without transposing":
            return y.reshape(-1, len(x), self.d)
        return y.reshape(len(x), -1, self.d).transpose(1, 0, 2)

    def parameter(self, name):
        if self.wrong == "bias forgotten" and name == "b_k":
            return self.dtype(0)
        if self.wrong == "transposed" and name == "w_v":
            return self.parameters[name].T
        return self.parameters.get(name, self.dtype(0))

    def written(self, layout, *stages):
        """The inputs, the parameters and some of the stages, by the names and in the layout of a library."""
        names, parameters, true_is = LAYOUTS[layout](self)
        arrays = {"x": self.x, **parameters}
        if self.n_keys is not None:
            arrays["context"] = self.context
        if self.mask is not None:
            arrays["mask" if true_is else "attn_mask"] = self.mask if true_is else ~self.mask
        return arrays | {name: value for stage in stages for name, value in names(stage).items()}

    def heads_of(self, w):
        return w.reshape(len(w), -1, self.d)


def _by_attnviz(own):
    p = {
        name: own.heads_of(w).transpose(1, 0, 2) for name, w in own.parameters.items() if name in ("w_q", "w_k", "w_v")
    }
    b = {name: b.reshape(-1, own.d) for name, b in own.parameters.items() if name in ("b_q", "b_k", "b_v")}
    return (lambda stage: {stage: own.stages[stage]}), {**own.parameters, **p, **b}, True


def _of_torch(own):
    p = own.parameters
    arrays = {
        "in_proj_weight": np.concatenate([p["w_q"], p["w_k"], p["w_v"]], axis=1).T,
        "out_proj.weight": p["w_o"].T,
        **(
            {"in_proj_bias": np.concatenate([p["b_q"], p["b_k"], p["b_v"]]), "out_proj.bias": p["b_o"]}
            if own.biased
            else {}
        ),
    }
    names = {
        "attention": ("attn_output_weights", own.stages["attention"].mean(axis=0)[None]),
        "output": ("attn_output", own.stages["output"][None]),
    }
    return (lambda stage: dict([names.get(stage, (stage, own.stages[stage][None]))])), arrays, False


def _of_gpt2(own):
    p = own.parameters
    arrays = {
        "h.0.attn.c_attn.weight": np.concatenate([p["w_q"], p["w_k"], p["w_v"]], axis=1),
        "h.0.attn.c_proj.weight": p["w_o"],
        **(
            {"h.0.attn.c_attn.bias": np.concatenate([p["b_q"], p["b_k"], p["b_v"]]), "h.0.attn.c_proj.bias": p["b_o"]}
            if own.biased
            else {}
        ),
    }
    return (lambda stage: {f"h.0.attn.{stage}": own.stages[stage][None]}), arrays, True


def _of_bert(own):
    words = {"q": "self.query", "k": "self.key", "v": "self.value", "o": "output.dense"}
    arrays = {
        f"attention.{words[name[2]]}.{'weight' if name[0] == 'w' else 'bias'}": each.T
        for name, each in own.parameters.items()
    }
    joined = {"q", "k", "v", "heads"}  # BERT keeps them side by side until it multiplies them

    def names(stage):
        value = own.stages[stage]
        return {stage: value.transpose(1, 0, 2).reshape(value.shape[1], -1)[None] if stage in joined else value[None]}

    return names, arrays, True


def _of_llama(own):
    arrays = {
        f"self_attn.{name[2]}_proj.{'weight' if name[0] == 'w' else 'bias'}": each.T
        for name, each in own.parameters.items()
    }
    return (lambda stage: {stage: own.stages[stage][None]}), arrays, True


def _of_transformer_lens(own):
    p = own.parameters
    cut = {f"W_{each.upper()}": own.heads_of(p[f"w_{each}"]).transpose(1, 0, 2) for each in "qkv"}
    biases = {f"b_{each.upper()}": p[f"b_{each}"].reshape(-1, own.d) for each in "qkv" if own.biased}
    arrays = {
        **cut,
        **biases,
        "W_O": p["w_o"].reshape(own.n_heads, own.d, -1),
        **({"b_O": p["b_o"]} if own.biased else {}),
    }
    hooks = {"masked": "attn_scores", "attention": "pattern", "heads": "z", "output": "attn_out"}

    def names(stage):
        value = own.stages[stage]
        second = stage in ("q", "k", "v", "heads")
        return {
            f"blocks.0.attn.hook_{hooks.get(stage, stage)}" if stage in {*hooks, *"qkv"} else stage: (
                value.transpose(1, 0, 2) if second else value
            )[None]
        }

    return names, {f"blocks.0.attn.{name}": each for name, each in arrays.items()}, True


def _of_keras(own):
    p = own.parameters
    words = {"q": "query", "k": "key", "v": "value"}
    arrays = {f"mha/{word}/kernel": own.heads_of(p[f"w_{each}"]) for each, word in words.items()}
    arrays["mha/attention_output/kernel"] = p["w_o"].reshape(own.n_heads, own.d, -1)
    if own.biased:
        arrays |= {f"mha/{word}/bias": p[f"b_{each}"].reshape(-1, own.d) for each, word in words.items()}
        arrays["mha/attention_output/bias"] = p["b_o"]

    def names(stage):
        value = own.stages[stage]
        return {stage: (value.transpose(1, 0, 2) if stage in ("q", "k", "v", "heads") else value)[None]}

    return names, arrays, True


LAYOUTS = {
    "attnviz": _by_attnviz,
    "torch.nn.MultiheadAttention": _of_torch,
    "GPT-2": _of_gpt2,
    "BERT": _of_bert,
    "Llama": _of_llama,
    "TransformerLens": _of_transformer_lens,
    "Keras": _of_keras,
}
