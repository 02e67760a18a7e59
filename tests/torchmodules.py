"""What `attnviz.record` hears of real modules, small and with random parameters.

`PYTHONPATH=.:tests python tests/torchmodules.py` records it with torch and transformers, as `.ci/torch` does.
"""

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from attnviz import record

RECORDED = Path(__file__).parent / "data" / "recorded_modules.npz"

HEARD = frozenset({"q", "k", "v", "masked", "attention", "concat", "output"})
ROTATED = HEARD | {"q_rotated", "k_rotated"}
NORMED = ROTATED - {"q", "k", "v"}
FUSED = HEARD - {"masked", "attention"}  # in one kernel
SMALL = {
    "vocab_size": 11,
    "hidden_size": 8,
    "intermediate_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "max_position_embeddings": 32,
}


@dataclass(frozen=True)
class Case:
    """A module: that of a configuration, or, where that is empty, one of torch's own."""

    configuration: dict = field(default_factory=dict)
    stages: frozenset = HEARD  # what must be compared
    layer: int = -1  # of attention, the one that is kept
    attention: str = "eager"  # how models of Hugging Face's compute it
    n_kept: int = 0  # tokens that a cache holds before the call, of five


LLAMA = SMALL | {"num_attention_heads": 4, "num_key_value_heads": 2}
GPT2 = {"n_embd": 8, "n_layer": 2, "n_head": 2, "n_positions": 32, "vocab_size": 11}
T5 = {"vocab_size": 11, "d_model": 8, "d_kv": 4, "d_ff": 8, "num_layers": 2, "num_heads": 2}
FALCON = {"alibi": True, "new_decoder_architecture": False, "multi_query": False}
OLMO2 = SMALL | {"num_key_value_heads": 1}
DEEPSEEK = (
    SMALL
    | {"kv_lora_rank": 3, "qk_rope_head_dim": 4, "qk_nope_head_dim": 8, "v_head_dim": 3, "q_lora_rank": 5}
    | {"first_k_dense_replace": 2, "num_key_value_heads": 2}
)
GPT_OSS = SMALL | {"num_key_value_heads": 1, "head_dim": 16, "num_local_experts": 2, "num_experts_per_tok": 1}
YARN = {"rope_type": "yarn", "rope_theta": 1e6, "factor": 4.0, "original_max_position_embeddings": 32_768}
# the `rope_scaling` of DeepSeek-V3's published configuration
YARN_OF_DEEPSEEK = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 40.0, "original_max_position_embeddings": 4_096}
YARN_OF_DEEPSEEK |= {"mscale": 1.0, "mscale_all_dim": 1.0, "beta_fast": 32, "beta_slow": 1}
LINEAR = {"rope_type": "linear", "rope_theta": 1e4, "factor": 4.0}
LLAMA3 = {"rope_type": "llama3", "rope_theta": 5e5, "factor": 8.0, "original_max_position_embeddings": 8_192}
LLAMA3 |= {"low_freq_factor": 1.0, "high_freq_factor": 4.0}

CASES = {
    "gpt2": Case(GPT2),
    "bert": Case(SMALL),
    "llama": Case(LLAMA, ROTATED),
    "mistral": Case(SMALL | {"num_key_value_heads": 1, "sliding_window": 3}, ROTATED),
    "gpt_neox": Case(SMALL, ROTATED - {"q", "k"}),
    "vit": Case(SMALL | {"image_size": 8, "patch_size": 4, "num_channels": 1}),
    "bloom": Case({"vocab_size": 11, "hidden_size": 8, "n_layer": 2, "n_head": 2}),
    "olmo2": Case(OLMO2, NORMED),
    "t5": Case(T5, layer=-2),
    "deepseek_v3": Case(DEEPSEEK, NORMED),
    "gpt_oss": Case(GPT_OSS | {"sliding_window": 3}, ROTATED - {"masked"}, layer=0),
    "qwen3": Case(SMALL | {"num_key_value_heads": 1, "head_dim": 4}, ROTATED),
    "gemma3_text": Case(SMALL | {"num_key_value_heads": 1, "head_dim": 4, "sliding_window": 3}, ROTATED, layer=0),
    "cohere": Case(SMALL | {"use_qk_norm": True}, NORMED),
    "albert": Case(SMALL | {"embedding_size": 4}),
    "falcon": Case({"vocab_size": 11, "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2} | FALCON),
    "MultiheadAttention": Case(stages=HEARD - {"concat"}),
    "TransformerEncoder": Case(stages=frozenset({"output"})),
    # what one kernel computes
    "gpt2, fused": Case(GPT2, FUSED, attention="sdpa"),
    "llama, fused": Case(LLAMA, FUSED | {"q_rotated", "k_rotated"}, attention="sdpa"),
    "t5, fused": Case(T5, FUSED, layer=-2, attention="sdpa"),
    "MultiheadAttention, appended": Case(stages=frozenset({"attention", "output"})),
    "MultiheadAttention, fused": Case(stages=FUSED - {"concat"}),
    # rotations that the cosines and sines tell
    "qwen2, yarn": Case(LLAMA | {"rope_parameters": YARN}, ROTATED),
    "deepseek_v3, yarn": Case(DEEPSEEK | {"rope_parameters": YARN_OF_DEEPSEEK}, NORMED),
    "llama, linear": Case(LLAMA | {"rope_parameters": LINEAR}, ROTATED),
    "llama, llama3": Case(LLAMA | {"rope_parameters": LLAMA3}, ROTATED),
    # some tokens with a cache of others
    "gpt2, step": Case(GPT2, HEARD, n_kept=4),
    "llama, step": Case(LLAMA, FUSED | {"q_rotated", "k_rotated"}, attention="sdpa", n_kept=4),
    "gpt_oss, step": Case(GPT_OSS, ROTATED - {"masked"}, n_kept=3),
    "olmo2, step": Case(OLMO2, NORMED - {"k_rotated"}, n_kept=3),
    "deepseek_v3, step": Case(DEEPSEEK, NORMED - {"k_rotated"}, n_kept=4),
}

SEEDS = {name: seed for seed, name in enumerate(("gpt2", "bert", "llama", "mistral", "gpt_neox", "vit"))} | {
    "MultiheadAttention": 6,
    "TransformerEncoder": 7,
}
"""Those of the first that were recorded, so that their numbers stay."""


def record_case(name: str) -> dict[str, np.ndarray]:
    """The arrays of a layer's attention, for the second sentence of two."""
    import torch

    torch.manual_seed(SEEDS.get(name, len(name)))
    model = made(name)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) / 2)
        words, n_kept = torch.randint(1, 10, (2, 5)), CASES[name].n_kept
        kept = {"past_key_values": model(words[:, :n_kept], use_cache=True).past_key_values} if n_kept else {}
        with record(model, sentence=1) as recorded:
            call(name, model, words[:, n_kept:], **kept)
    return recorded[CASES[name].layer]


def made(name: str):
    """The module, in evaluation."""
    import torch

    if name.startswith("MultiheadAttention"):
        appends = "appended" in name
        return torch.nn.MultiheadAttention(8, 2, add_bias_kv=appends, add_zero_attn=appends).eval()
    if name == "TransformerEncoder":
        layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        return torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    from transformers import AutoConfig, AutoModel

    case = CASES[name]
    configuration = AutoConfig.for_model(name.split(",")[0], **case.configuration)
    return AutoModel.from_config(configuration, attn_implementation=case.attention).eval()


def call(name: str, model, words, **kept) -> None:
    """Call the module with two sentences of five tokens."""
    import torch

    if name.startswith("MultiheadAttention"):
        hidden, needed = torch.ones(5, 5).triu(1).bool(), "fused" not in name
        model(*[torch.randn(5, 2, 8)] * 3, attn_mask=hidden, average_attn_weights=False, need_weights=needed)
    elif name == "TransformerEncoder":
        model(torch.randn(2, 5, 8))
    elif name == "vit":
        model(torch.randn(2, 1, 8, 8))
    else:
        model(words, **{"decoder_input_ids": words} if name.startswith("t5") else kept)


if __name__ == "__main__":
    import torch
    import transformers

    about = json.dumps({"torch": torch.__version__, "transformers": transformers.__version__})
    arrays = {f"{name}/{each}": array for name in CASES for each, array in record_case(name).items()}
    np.savez_compressed(RECORDED, about=np.array(about), **arrays)
    sys.stdout.write(f"{len(CASES)} modules: {RECORDED.stat().st_size:,} bytes\n")
