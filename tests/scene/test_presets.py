"""The presets against published configurations: figures looked up on 28 November 2026, each with its source."""

import pytest

from attnviz.core.settings import OPTIONS
from attnviz.scene.presets import PRESETS

HEADS, KEY_HEADS, BASE, GLOBAL, WINDOW, LATENTS = "heads", "key heads", "base", "global base", "window", "latents"
PUBLISHED = {
    # transformers, models/gpt2/configuration_gpt2.py: n_layer, n_head; learnt positions, n_positions 1024 (wpe);
    # Radford et al. 2019, section 2.3: layer normalisation moved to the input of each sub-block.
    "GPT-2": {HEADS: 12, KEY_HEADS: 12, "layers": 12, "norm": "layernorm", "positions": "learnt"},
    # Meta-Llama-3-8B/config.json: rope_theta, rope_scaling null, num_attention_heads, num_key_value_heads,
    # num_hidden_layers, rms_norm_eps; pairs are neighbours in Meta's code (transformers has halves, permuting q and k).
    "Llama 3": {HEADS: 32, KEY_HEADS: 8, "layers": 32, "norm": "rmsnorm", BASE: 500_000, "pairs": "neighbours"},
    # gemma-3-12b-it/config.json: num_attention_heads 16, num_key_value_heads 8, sliding_window 1024,
    # sliding_window_pattern 6, rope_theta 1,000,000, rope_local_base_freq 10,000, rope_scaling linear, factor 8 (27B,
    # too; 1B has none, one head of keys and a window of 512); models/gemma3/modular_gemma3.py: q_norm and k_norm
    # before RoPE, post_attention_layernorm.
    "Gemma 3": {
        **{
            HEADS: 16,
            KEY_HEADS: 8,
            "layers": 48,
            "norm": "rmsnorm",
            BASE: 10_000,
            GLOBAL: 1_000_000,
            "pairs": "halves",
        },
        **{WINDOW: 1024, "window in": "all but every sixth layer", "qk_norm": True, "position factor": 8},
    },
    # transformers, models/deepseek_v3/configuration_deepseek_v3.py: kv_lora_rank, q_lora_rank, qk_nope_head_dim 128,
    # qk_rope_head_dim 64, rope_interleave True; DeepSeek-V3/config.json: rope_theta 10,000, rope_scaling yarn.
    "DeepSeek-V3": {
        **{HEADS: 128, KEY_HEADS: 128, "layers": 61, "norm": "rmsnorm", BASE: 10_000, "pairs": "neighbours"},
        **{LATENTS: (512, 1536), "rotated part": "half"},
    },
    # transformers, models/gpt_oss/configuration_gpt_oss.py: default_theta, num_attention_heads, num_key_value_heads,
    # sliding_window, layer_types (layer 1 slides); modeling_gpt_oss.py: chunked halves, sinks learnt for each head.
    "gpt-oss": {
        **{HEADS: 64, KEY_HEADS: 8, "layers": 36, "norm": "rmsnorm", BASE: 150_000, "pairs": "halves"},
        **{WINDOW: 128, "window in": "every second layer", "sinks": "drawn"},
    },
}


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_sets_what_is_published_or_says_what_it_leaves_out(name):
    published, (values, left_out, source) = PUBLISHED[name], PRESETS[name]
    is_rotated = BASE in published
    assert values["rope"] == published.get("pairs", "none")
    assert values["rope_base"] == str(published.get(BASE, OPTIONS["rope_base"].default))
    assert values["rope_base_global"] == str(published.get(GLOBAL, "same"))
    assert values["rope_part"] == published.get("rotated part", "all")
    assert (values["positions"] == "none") == is_rotated
    assert ("learnt" in left_out) == (published.get("positions") == "learnt")
    assert values["norm"] == published["norm"]
    assert values["qk_norm"] == published.get("qk_norm", False)
    assert values["scaled"] is True
    assert values["sinks"] == published.get("sinks", "none")
    assert (values["softcap"], values["alibi"], values["blocks"]) == ("none", False, "none")
    assert values["mask"] == ("causal window" if WINDOW in published else "causal")
    assert values["window_in"] == published.get("window in", "every layer")
    if WINDOW in published:
        assert f"{published[WINDOW]:,} tokens, here {values['mask_size']}" in left_out
    shared = published[HEADS] // published[KEY_HEADS]
    assert values["sharing"] == ("latent" if LATENTS in published else "pairs" if shared > 1 else "none")
    in_words = {1: "", 2: "", 4: "Four heads share", 8: "Eight heads share"}[shared]
    assert in_words in left_out
    assert ("heads share" in left_out) == bool(in_words)
    if "position factor" in published:
        assert f"divided by {published['position factor']}" in left_out
    if LATENTS in published:
        (keys, queries), here = published[LATENTS], (values["latent_width"], values["query_latent_width"])
        assert queries / keys == here[1] / here[0]
        assert f"{keys:,} and {queries:,}" in source
    assert f"{published['layers']} layers of {published[HEADS]} heads" in source
