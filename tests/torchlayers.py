"""Attention of Hugging Face's models, with random parameters, from configurations alone.

`PYTHONPATH=.:tests python tests/torchlayers.py` records it with torch and transformers, as `.ci/torch` does.

All is computed in float64, as `in_double` takes back the casts to float32 in norms, softmax and the angles of RoPE.
Parameters and inputs are whole numbers of 64ths, which float16 holds exactly: so a file is small and loses no bit.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "data" / "huggingface"
N_TOKENS = 7
SHARED = {
    "vocab_size": 11,
    "hidden_size": 12,
    "intermediate_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
}
GROUPED = SHARED | {"num_key_value_heads": 2, "head_dim": 6}
ALTERNATING = {"layer_types": ["sliding_attention", "full_attention"], "sliding_window": 3}
ROPE = {"rope_type": "default", "rope_theta": 10_000.0}
CONFIGURATIONS = {
    "llama": GROUPED | {"rope_parameters": ROPE},
    "qwen3": GROUPED | {"rope_parameters": ROPE | {"rope_theta": 1_000_000.0}},
    "gemma2": GROUPED
    | ALTERNATING
    | {"query_pre_attn_scalar": 9, "attn_logit_softcapping": 2.0, "rope_parameters": ROPE},
    "gemma3_text": GROUPED
    | ALTERNATING
    | {
        "query_pre_attn_scalar": 9,
        "rope_parameters": {"sliding_attention": ROPE, "full_attention": ROPE | {"rope_theta": 1_000_000.0}},
    },
    "mistral": GROUPED | {"sliding_window": 3, "rope_parameters": ROPE},
    "gpt_oss": GROUPED
    | ALTERNATING
    | {"num_local_experts": 2, "num_experts_per_tok": 1, "rope_parameters": ROPE | {"rope_theta": 150_000.0}},
    "deepseek_v3": SHARED
    | {
        "num_key_value_heads": 4,
        "q_lora_rank": 5,
        "kv_lora_rank": 6,
        "qk_nope_head_dim": 4,
        "qk_rope_head_dim": 2,
        "v_head_dim": 3,
        "first_k_dense_replace": 2,
        "rope_parameters": ROPE,
    },
    "gpt_neox": SHARED
    | {"hidden_size": 16, "num_attention_heads": 2, "rope_parameters": ROPE | {"partial_rotary_factor": 0.25}},
}
"""By the name of their type, each as small as it can be with all that its attention has."""


@contextmanager
def in_double(torch) -> Iterator[None]:
    """Has whatever asks for float32 get float64."""
    kept = torch.float32, torch.float, torch.Tensor.float, torch.get_default_dtype()
    torch.float32 = torch.float = torch.float64
    torch.Tensor.float = torch.Tensor.double
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.float32, torch.float, torch.Tensor.float, default = kept
        torch.set_default_dtype(default)


def drawn(torch, generator, *shape: int):
    """Whole numbers of 64ths, of normal size."""
    return (torch.randn(*shape, generator=generator) * 64).round() / 64


def record(name: str, seed: int) -> dict[str, np.ndarray]:
    """What enters each layer's attention, its parameters, queries and keys as they meet, its shares and its output."""
    import torch
    from transformers import AutoConfig, AutoModel

    with in_double(torch):
        config = AutoConfig.for_model(name, **CONFIGURATIONS[name])
        model = AutoModel.from_config(config, attn_implementation="eager", experts_implementation="eager").eval()
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.copy_(drawn(torch, generator, *parameter.shape) * (0.25 if parameter.ndim == 1 else 0.5))
        attentions = [module for module in model.modules() if type(module).__name__.endswith("Attention")]
        found = {}
        for number, module in enumerate(attentions):
            listen(module, f"layers.{number}", found)
        meet(sys.modules[type(model).__module__], {module: f"layers.{n}" for n, module in enumerate(attentions)}, found)
        upstream = drawn(torch, generator, N_TOKENS, config.hidden_size)
        model(input_ids=torch.arange(1, N_TOKENS + 1)[None])
        for number, module in enumerate(attentions):
            add_slopes(torch, module, f"layers.{number}", found, upstream)
    arrays = {each: tensor.detach().numpy() for each, tensor in found.items()}
    versions = {"torch": torch.__version__, "transformers": sys.modules["transformers"].__version__}
    written = {"type": name} | CONFIGURATIONS[name] | {"eps": eps_of(config)}
    arrays["about"] = np.array(json.dumps(versions | {"config": written, "seed": seed}))
    return {"upstream": upstream.numpy()} | arrays


def listen(module, prefix: str, found: dict) -> None:
    """Keep what a module of attention is called with, its parameters and its output."""

    def before(module, args, kwargs):
        entering = kwargs.get("hidden_states", args[0] if args else None).detach().requires_grad_()
        found[f"{prefix}.hidden_states"] = entering
        kwargs = kwargs | {"hidden_states": entering}
        return (), kwargs

    def after(module, args, kwargs, output):
        found[f"{prefix}.output"] = output[0]

    module.register_forward_pre_hook(before, with_kwargs=True)
    module.register_forward_hook(after, with_kwargs=True)
    for each, parameter in module.named_parameters():
        found[f"{prefix}.{each}"] = parameter


def meet(modeling, prefixes: dict, found: dict) -> None:
    """Keep the queries, keys and values as they meet, and the shares."""
    computed = modeling.eager_attention_forward

    def heard(module, query, key, value, attention_mask, *args, **kwargs):
        output, attention = computed(module, query, key, value, attention_mask, *args, **kwargs)
        for each, tensor in {"query": query, "key": key, "value": value, "attention": attention}.items():
            found[f"{prefixes[module]}.{each}"] = tensor
        return output, attention

    modeling.eager_attention_forward = heard


def add_slopes(torch, module, prefix: str, found: dict, upstream) -> None:
    """The slopes of the sum of output times `upstream`, to what enters and to each parameter that is a vector."""
    vectors = [each for each, parameter in module.named_parameters() if parameter.ndim == 1]
    names = [f"{prefix}.{each}" for each in ("hidden_states", *vectors)]
    total = (found[f"{prefix}.output"][0] * upstream).sum()
    slopes = torch.autograd.grad(total, [found[each] for each in names], retain_graph=True)
    found |= {f"slope.{each}": slope for each, slope in zip(names, slopes, strict=True)}


def eps_of(config) -> float:
    """What the model's norms add under the root."""
    return getattr(config, "rms_norm_eps", None) or config.layer_norm_eps


def compact(name: str, array: np.ndarray) -> np.ndarray:
    """The array without its batch axis; of float16 where that holds it exactly."""
    if array.dtype.kind != "f":
        return array
    array = array[0] if array.ndim in (3, 4) and len(array) == 1 else array
    short = array.astype(np.float16)
    return short if (short == array).all() else array


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for seed, name in enumerate(CONFIGURATIONS):
        arrays = {each: compact(each, array) for each, array in record(name, seed).items()}
        np.savez_compressed(FOLDER / f"{name}.npz", **arrays)
        sys.stdout.write(f"{name}: {len(arrays)} arrays, {(FOLDER / f'{name}.npz').stat().st_size:,} bytes\n")
