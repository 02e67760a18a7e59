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

HEARD = frozenset({"q", "k", "v", "attention", "concat", "output"})
FUSED = frozenset({"attention", "concat", "output"})
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


CASES = {
    "gpt2": Case({"n_embd": 8, "n_layer": 2, "n_head": 2, "n_positions": 32, "vocab_size": 11}, FUSED),
    "bert": Case(SMALL),
    "llama": Case(SMALL | {"num_attention_heads": 4, "num_key_value_heads": 2}),
    "mistral": Case(SMALL | {"num_key_value_heads": 1, "sliding_window": 3}),
    "gpt_neox": Case(SMALL, FUSED),
    "vit": Case(SMALL | {"image_size": 8, "patch_size": 4, "num_channels": 1}),
    "bloom": Case({"vocab_size": 11, "hidden_size": 8, "n_layer": 2, "n_head": 2}, FUSED),
    "olmo2": Case(SMALL | {"num_key_value_heads": 1}, FUSED),
    "t5": Case({"vocab_size": 11, "d_model": 8, "d_kv": 4, "d_ff": 8, "num_layers": 2, "num_heads": 2}, layer=-2),
    "deepseek_v3": Case(
        SMALL
        | {"kv_lora_rank": 3, "qk_rope_head_dim": 4, "qk_nope_head_dim": 8, "v_head_dim": 3, "q_lora_rank": 5}
        | {"first_k_dense_replace": 2, "num_key_value_heads": 2},
        FUSED,
    ),
    "gpt_oss": Case(
        SMALL
        | {"num_key_value_heads": 1, "head_dim": 4, "num_local_experts": 2, "num_experts_per_tok": 1}
        | {"sliding_window": 3, "rope_parameters": {"rope_type": "default", "rope_theta": 150_000.0}},
        layer=0,
    ),
    "qwen3": Case(SMALL | {"num_key_value_heads": 1, "head_dim": 4}),
    "gemma3_text": Case(SMALL | {"num_key_value_heads": 1, "head_dim": 4, "sliding_window": 3}, layer=0),
    "MultiheadAttention": Case(stages=frozenset({"attention", "output"})),
    "TransformerEncoder": Case(stages=frozenset({"output"})),
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
        with record(model, sentence=1) as recorded:
            call(name, model)
    return recorded[CASES[name].layer]


def made(name: str):
    """The module, in evaluation."""
    import torch

    if name == "MultiheadAttention":
        return torch.nn.MultiheadAttention(8, 2).eval()
    if name == "TransformerEncoder":
        layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        return torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    from transformers import AutoConfig, AutoModel

    configuration = AutoConfig.for_model(name, **CASES[name].configuration)
    return AutoModel.from_config(configuration, attn_implementation="eager").eval()


def call(name: str, model) -> None:
    """Call the module with two sentences of five tokens."""
    import torch

    if name == "MultiheadAttention":
        hidden = torch.ones(5, 5).triu(1).bool()
        model(*[torch.randn(5, 2, 8)] * 3, attn_mask=hidden, average_attn_weights=False)
    elif name == "TransformerEncoder":
        model(torch.randn(2, 5, 8))
    elif name == "vit":
        model(torch.randn(2, 1, 8, 8))
    else:
        words = torch.randint(1, 10, (2, 5))
        model(words, **{"decoder_input_ids": words} if name == "t5" else {})


if __name__ == "__main__":
    import torch
    import transformers

    about = json.dumps({"torch": torch.__version__, "transformers": transformers.__version__})
    arrays = {f"{name}/{each}": array for name in CASES for each, array in record_case(name).items()}
    np.savez_compressed(RECORDED, about=np.array(about), **arrays)
    sys.stdout.write(f"{len(CASES)} modules: {RECORDED.stat().st_size:,} bytes\n")
