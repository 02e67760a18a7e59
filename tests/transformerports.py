"""Layers of attention of transformers, small and with random parameters, and a port of each in plain PyTorch.

`PYTHONPATH=.:tests python tests/transformerports.py` prints what `check` says of each port and of each mistake in it.
"""

import importlib
import sys
from dataclasses import dataclass, field

import torch
import transformers
from torch import nn
from torch.nn import functional

SIZES = {"hidden_size": 48, "num_attention_heads": 4, "intermediate_size": 64, "num_hidden_layers": 4, "vocab_size": 99}
SIZES |= {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
SHARED = SIZES | {"num_key_value_heads": 2}
WIDE = SHARED | {"head_dim": 16}
MIXED = {"num_local_experts": 2, "num_experts_per_tok": 1}


@dataclass(frozen=True)
class Library:
    """A class of transformers: its sizes, and what a port of it does."""

    kind: str  # of the class and of its configuration
    sizes: dict = field(default_factory=lambda: SHARED)
    layer: int = 0
    attention: str = "Attention"
    biases: str = ""
    norm: str = ""  # "head", or "all" heads at once
    pairs: str = "halves"  # "" if it doesn't rotate
    part: float = 1.0  # of the dimensions that are rotated
    has_output: bool = True

    def made(self, name: str, seed: int, kernel: str = "eager") -> nn.Module:
        torch.manual_seed(seed)
        classes = importlib.import_module(f"transformers.models.{name.split()[0]}.modeling_{name.split()[0]}")
        configuration = getattr(transformers, f"{self.kind}Config")(**self.sizes, attn_implementation=kernel)
        module = getattr(classes, f"{self.kind}{self.attention}")(configuration, layer_idx=self.layer)
        for parameter in module.parameters():
            if parameter.ndim > 1:
                nn.init.normal_(parameter, std=0.3)
        return module

    @property
    def mistakes(self) -> list[str]:
        options = {
            "no scale": True,
            "usual scale": self.kind in ("Gemma2", "Granite"),
            "other pairs": self.pairs,
            "other base": self.pairs,
            "no rotation": self.pairs,
            "no cap": self.kind == "Gemma2",
            "no sinks": self.kind == "GptOss",
            "not scaled": self.kind == "GptOss",
            "no bias": "q" in self.biases,
            "groups tiled": self.sizes.get("num_key_value_heads"),
            "no norm": self.norm == "head",
        }
        return [mistake for mistake, is_possible in options.items() if is_possible]


CAUSES = {
    "no scale": "unscaled",
    "usual scale": "wrong scale",
    "other pairs": "rotation of wrong pairs",
    "other base": "rotation with wrong base",
    "no rotation": "rotation left out",
    "no cap": "softcap left out",
    "no sinks": "sinks left out",
    "not scaled": "rotation not scaled",
    "no bias": "bias forgotten",
    "groups tiled": "groups tiled",
    "no norm": "norm of queries and keys left out",
}
LIBRARIES = {
    "qwen2": Library("Qwen2", biases="qkv"),
    "qwen3": Library("Qwen3", WIDE, norm="head"),
    "mistral": Library("Mistral", WIDE | {"sliding_window": 3}),
    "gemma": Library("Gemma", WIDE),
    "gemma2": Library("Gemma2", WIDE | {"query_pre_attn_scalar": 20, "attn_logit_softcapping": 2.0}),
    "gpt_oss": Library("GptOss", WIDE | MIXED, biases="qkvo"),
    "phi3": Library("Phi3"),
    "cohere": Library("Cohere", pairs="neighbours"),
    "granite": Library("Granite", SHARED | {"attention_multiplier": 0.4}),
    "olmo2": Library("Olmo2", norm="all"),
    "smollm3": Library("SmolLM3"),
    "smollm3 unrotated": Library("SmolLM3", layer=3, pairs=""),
    "gpt2": Library("GPT2", {"n_embd": 48, "n_head": 4}, biases="qkvo", pairs=""),
    "opt": Library("OPT", SIZES | {"ffn_dim": 64}, biases="qkvo", pairs=""),
    "bert": Library("Bert", SIZES, biases="qkvo", pairs=""),
    "bert alone": Library("Bert", SIZES, attention="SelfAttention", biases="qkv", pairs="", has_output=False),
    "gpt_neox": Library("GPTNeoX", SIZES | {"hidden_size": 64}, biases="qkvo", part=0.25),
}


class Norm(nn.Module):
    def __init__(self, length: int, epsilon: float) -> None:
        super().__init__()
        self.weight, self.epsilon = nn.Parameter(torch.ones(length)), epsilon

    def forward(self, x):
        return x * (x.pow(2).mean(-1, keepdim=True) + self.epsilon).rsqrt() * self.weight


class Port(nn.Module):
    """Attention as the library's, perhaps with a mistake."""

    def __init__(self, library: Library, like: nn.Module, mistake: str = "") -> None:
        super().__init__()
        declared = like.config if hasattr(like, "config") else like.self.config
        self.mistake, self.library, width = mistake, library, declared.hidden_size
        self.n_heads = declared.num_attention_heads
        self.n_groups = library.sizes.get("num_key_value_heads", self.n_heads)
        self.d_k = library.sizes.get("head_dim", width // self.n_heads)
        lengths = {"q": self.n_heads * self.d_k, "k": self.n_groups * self.d_k, "v": self.n_groups * self.d_k}
        for letter, length in lengths.items():
            setattr(self, f"{letter}_proj", nn.Linear(width, length, bias=letter in library.biases))
        if library.has_output:
            self.o_proj = nn.Linear(lengths["q"], width, bias="o" in library.biases)
        if library.norm:
            epsilon, is_whole = declared.rms_norm_eps, library.norm == "all"
            self.q_norm, self.k_norm = (Norm(lengths[e] if is_whole else self.d_k, epsilon) for e in "qk")
        if library.kind == "GptOss":
            self.sinks = nn.Parameter(torch.zeros(self.n_heads))
        self.scale = declared.attention_multiplier if library.kind == "Granite" else self.d_k**-0.5
        self.cap = None
        if library.kind == "Gemma2":
            self.scale, self.cap = declared.query_pre_attn_scalar**-0.5, declared.attn_logit_softcapping
        if library.pairs:
            self.n_rotated, self.factor = int(self.d_k * library.part), 1.0
            base = declared.rope_parameters["rope_theta"]
            base = (10_000.0 if base == 500_000.0 else 500_000.0) if mistake == "other base" else base
            self.angles = 1 / base ** (torch.arange(0, self.n_rotated, 2) / self.n_rotated)
            if library.kind == "GptOss" and mistake not in ("other base", "not scaled"):
                yarn = importlib.import_module("transformers.modeling_rope_utils").ROPE_INIT_FUNCTIONS["yarn"]
                self.angles, self.factor = yarn(declared, "cpu")

    def turned(self, x):
        if not self.library.pairs or self.mistake == "no rotation":
            return x
        angles = torch.arange(x.shape[2])[:, None] * self.angles
        cos, sin = angles.cos() * self.factor, angles.sin() * self.factor
        x, rest = x[..., : self.n_rotated], x[..., self.n_rotated :]
        if (self.library.pairs == "halves") == (self.mistake != "other pairs"):
            a, b = x.chunk(2, -1)
            return torch.cat([a * cos - b * sin, b * cos + a * sin, rest], -1)
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.cat([torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(-2), rest], -1)

    def forward(self, x, mask=None):
        n, t, _ = x.shape
        layers = (self.q_proj, self.k_proj, self.v_proj)
        q, k, v = (functional.linear(x, each.weight) if self.mistake == "no bias" else each(x) for each in layers)
        if self.library.norm == "all":
            q, k = self.q_norm(q), self.k_norm(k)
        q, k, v = (each.view(n, t, -1, self.d_k).transpose(1, 2) for each in (q, k, v))
        if self.library.norm == "head" and self.mistake != "no norm":
            q, k = self.q_norm(q), self.k_norm(k)
        q, k = self.turned(q), self.turned(k)
        copies = self.n_heads // self.n_groups
        if self.mistake == "groups tiled":
            k, v = (each.repeat(1, copies, 1, 1) for each in (k, v))
        else:
            k, v = (each.repeat_interleave(copies, 1) for each in (k, v))
        scale = {"no scale": 1.0, "usual scale": self.d_k**-0.5}.get(self.mistake, self.scale)
        scores = q @ k.transpose(-1, -2) * scale
        if self.cap and self.mistake != "no cap":
            scores = self.cap * torch.tanh(scores / self.cap)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        if hasattr(self, "sinks") and self.mistake != "no sinks":
            scores = torch.cat([scores, self.sinks.view(1, -1, 1, 1).expand(n, -1, t, 1)], -1)
        attention = scores.softmax(-1)[..., :t]
        joined = (attention @ v).transpose(1, 2).reshape(n, t, -1)
        return (self.o_proj(joined) if self.library.has_output else joined), attention


if __name__ == "__main__":
    from attnviz import check

    for name, library in LIBRARIES.items():
        like = library.made(name, 1)
        for mistake in ("", *library.mistakes):
            found = check(Port(library, like, mistake), like=like)
            causes = {
                each.causes[0].id if each.causes else each.first and each.first.stage for each in found.calls.values()
            }
            sys.stdout.write(f"{name}: {mistake or 'a port'}: {'agrees' if found.agrees else causes}\n")
