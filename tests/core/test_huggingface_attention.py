"""A layer of 2025 equals Hugging Face's own module: queries, keys, shares, output and slopes, in float64.

`data/huggingface` was recorded by `tests/torchlayers.py`, with the versions in each file's `about`.
"""

import json
from functools import cache

import numpy as np
import pytest
from kvcache import numbers_kept
from torchlayers import CONFIGURATIONS, FOLDER

from attnviz import Parameters, RMSNorm, attend, compare, scaled_dot_product_attention
from attnviz.core.errors import OwnArraysError
from attnviz.core.masks import MASKS
from attnviz.core.operations.rotation import Rotation
from attnviz.core.stage import backward

LAYERS = [(name, number) for name in CONFIGURATIONS for number in (0, 1)]
PROJECTED = [(name, number) for name, number in LAYERS if name != "deepseek_v3"]
"""Where x is projected to queries and keys at once, not through latents."""


@cache
def recorded(name):
    with np.load(FOLDER / f"{name}.npz") as file:
        arrays = {each: file[each] for each in file.files}
    config = json.loads(str(arrays.pop("about")))["config"]
    return config, {each: array.astype(np.float64) for each, array in arrays.items()}


def arrays_of(name, number):
    config, arrays = recorded(name)
    prefix = f"layers.{number}."
    return config, {each.removeprefix(prefix): array for each, array in arrays.items() if each.startswith(prefix)}


def by_heads(w, n):
    """(heads * d, in) as (heads, in, d); a bias (heads * d,) as (heads, d)."""
    return w.reshape(n, -1, w.shape[-1]).transpose(0, 2, 1) if w.ndim == 2 else w.reshape(n, -1)


def separate(own, config):
    numbers = {"q": config["num_attention_heads"], "k": config["num_key_value_heads"]}
    found = {"w_o": own["o_proj.weight"].T, "b_o": own.get("o_proj.bias")}
    for each in "qkv":
        for letter, kind in (("w", "weight"), ("b", "bias")):
            if f"{each}_proj.{kind}" in own:
                found[f"{letter}_{each}"] = by_heads(own[f"{each}_proj.{kind}"], numbers["q" if each == "q" else "k"])
    return found


def fused(own, config):
    """Those of GPT-NeoX, where the q, k and v of each head follow each other."""
    n_heads = config["num_attention_heads"]
    w, b = own["query_key_value.weight"], own["query_key_value.bias"]
    w, b = w.reshape(n_heads, 3, -1, w.shape[-1]), b.reshape(n_heads, 3, -1)
    found = {"w_o": own["dense.weight"].T, "b_o": own["dense.bias"]}
    for at, each in enumerate("qkv"):
        found |= {f"w_{each}": w[:, at].transpose(0, 2, 1), f"b_{each}": b[:, at]}
    return found


def latent(own, config):
    """Those of DeepSeek, whose matrices hold the parts of content and of positions one after the other."""
    n_heads, d_n, d_r = (config[each] for each in ("num_attention_heads", "qk_nope_head_dim", "qk_rope_head_dim"))
    q = by_heads(own["q_b_proj.weight"], n_heads)
    down, up = own["kv_a_proj_with_mqa.weight"].T[None], by_heads(own["kv_b_proj.weight"], n_heads)
    return {
        "w_dq": own["q_a_proj.weight"].T,
        "g_q_latent": own["q_a_layernorm.weight"],
        "w_uq": q[..., :d_n],
        "w_qr": q[..., d_n:],
        "w_dkv": down[..., :-d_r],
        "w_kr": down[..., -d_r:],
        "g_latent": own["kv_a_layernorm.weight"],
        "w_uk": up[..., :d_n],
        "w_uv": up[..., d_n:],
        "w_o": own["o_proj.weight"].T,
    }


def passed_through_latents(number, *, absorbed):
    config, own = arrays_of("deepseek_v3", number)
    return attend(
        own["hidden_states"],
        parameters=Parameters(**latent(own, config)),
        mask=MASKS["causal"](*[len(own["hidden_states"])] * 2, 0),
        rotation=Rotation(config["rope_parameters"]["rope_theta"], "neighbours"),
        absorbed=absorbed,
        latent_norm=RMSNorm(config["eps"]),
    )


def kind_of(config, number):
    return config.get("layer_types", ["sliding_attention" if "sliding_window" in config else "full_attention"] * 2)[
        number
    ]


def passed(name, number):
    config, own = arrays_of(name, number)
    parameters = fused(own, config) if name == "gpt_neox" else separate(own, config)
    gain_is_one_more = name.startswith("gemma")
    for each in "qk":
        if f"{each}_norm.weight" in own:
            parameters[f"g_{each}_norm"] = own[f"{each}_norm.weight"] + gain_is_one_more
    if "sinks" in own:
        parameters["sinks"] = own["sinks"]
    kind = kind_of(config, number)
    rope = config["rope_parameters"]
    rope = rope.get(kind, rope)
    dims = parameters["w_q"].shape[-1]
    turned = int(dims * rope["partial_rotary_factor"]) if "partial_rotary_factor" in rope else None
    scalar = config.get("query_pre_attn_scalar")
    n = len(own["hidden_states"])
    return attend(
        own["hidden_states"],
        parameters=Parameters(**parameters),
        mask=MASKS["causal window" if kind == "sliding_attention" else "causal"](n, n, config.get("sliding_window", 0)),
        scale=None if scalar is None else scalar**-0.5,
        rotation=Rotation(rope["rope_theta"], "halves", turned),
        qk_norm=RMSNorm(config["eps"]) if "g_q_norm" in parameters else False,
        softcap=config.get("attn_logit_softcapping"),
    )


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=2**-46 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize(("name", "number"), PROJECTED)
def test_layer_equals_hugging_face(name, number):
    _, own = arrays_of(name, number)
    trace = passed(name, number)
    close(trace["q_rotated"].value, own["query"])
    close(trace["k_rotated"].value, own["key"])
    close(trace["v"].value, own["value"])
    close(trace["attention"].value, own["attention"])
    close(trace["output"].value, own["output"])


@pytest.mark.parametrize("absorbed", [False, True])
@pytest.mark.parametrize("number", [0, 1])
def test_latents_equal_deepseek(number, absorbed):
    config, own = arrays_of("deepseek_v3", number)
    d_n = config["qk_nope_head_dim"]
    trace = passed_through_latents(number, absorbed=absorbed)
    close(trace["q"].value, own["query"][..., :d_n])
    close(np.broadcast_to(_halves(trace["k_rotated"].value), own["key"][..., d_n:].shape), own["key"][..., d_n:])
    if not absorbed:
        close(trace["k"].value, own["key"][..., :d_n])
        close(trace["v"].value, own["value"])
        assert numbers_kept(trace) == 4 * (4 + 3) + 2  # its own keeps the part for positions in each of 4 heads
    else:
        assert numbers_kept(trace) == config["kv_lora_rank"] + config["qk_rope_head_dim"]
    close(trace["attention"].value, own["attention"])
    close(trace["output"].value, own["output"])
    _, arrays = recorded("deepseek_v3")
    found = backward(trace.stages, {stage.name: stage.value for stage in trace.stages}, {"output": arrays["upstream"]})
    slope = "slope.layers.{}.{}".format
    for ours, theirs in (
        ("x", "hidden_states"),
        ("g_latent", "kv_a_layernorm.weight"),
        ("g_q_latent", "q_a_layernorm.weight"),
    ):
        close(found[ours], arrays[slope(number, theirs)])


def _halves(turned):
    """Neighbours as halves: DeepSeek turns neighbours, then lays the first numbers of all pairs before the others."""
    return np.concatenate([turned[..., ::2], turned[..., 1::2]], axis=-1)


@pytest.mark.parametrize(("name", "number"), LAYERS)
def test_queries_and_keys_give_the_weights(name, number):
    config, own = arrays_of(name, number)
    scalar = config.get("query_pre_attn_scalar")
    trace = scaled_dot_product_attention(
        own["query"],
        own["key"],
        own["value"],
        is_causal=True,
        enable_gqa=True,
        scale=None if scalar is None else scalar**-0.5,
        softcap=config.get("attn_logit_softcapping"),
        sinks=own.get("sinks"),
        window=config["sliding_window"] if kind_of(config, number) == "sliding_attention" else None,
    )
    close(trace["attention"].value, own["attention"])
    last = "dense" if name == "gpt_neox" else "o_proj"
    close(trace["concat"].value @ own[f"{last}.weight"].T + own.get(f"{last}.bias", 0), own["output"])


@pytest.mark.parametrize(("name", "number"), PROJECTED)
def test_slopes_equal_autograd(name, number):
    trace = passed(name, number)
    _, arrays = recorded(name)
    stages = {stage.name: stage.value for stage in trace.values()}
    found = backward(trace.stages, stages, {"output": arrays["upstream"]})
    for theirs, ours in (
        ("hidden_states", "x"),
        ("q_norm.weight", "g_q_norm"),
        ("k_norm.weight", "g_k_norm"),
        ("sinks", "sinks"),
        ("o_proj.bias", "b_o"),
        ("q_proj.bias", "b_q"),
    ):
        if (expected := arrays.get(f"slope.layers.{number}.{theirs}")) is not None:
            close(found[ours].reshape(expected.shape), expected)


STAGES = ("query", "key", "value", "attention", "output")


@pytest.mark.parametrize("name", ["gemma2", "gemma3_text", "gpt_oss"])
def test_each_layer_agrees_only_with_itself(name):
    """Where one has a window, the other is global."""
    arrays = {f"layers.{n}.{stage}": arrays_of(name, n)[1][stage] for n in (0, 1) for stage in STAGES}
    for number in (0, 1):
        assert compare(passed(name, number), arrays, layer=number + 1).first is None
        assert compare(passed(name, number), arrays, layer=2 - number).first is not None
    with pytest.raises(OwnArraysError, match="The arrays are of 2 layers; got the layer 3"):
        compare(passed(name, 0), arrays, layer=3)


@pytest.mark.parametrize(("name", "number"), PROJECTED)
def test_compare_reads_hugging_face_names(name, number):
    config, own = arrays_of(name, number)
    if config["type"] == "gemma2":
        return  # its cap of 2 is nobody's
    n = len(own["hidden_states"])
    is_near = kind_of(config, number) == "sliding_attention"
    mask = MASKS["causal window" if is_near else "causal"](n, n, config.get("sliding_window", 0))
    begins = {each: own[each] for each in own if each.endswith(("weight", "bias", "sinks", "hidden_states"))}
    found = compare(None, begins | {"mask": mask} | {stage: own[stage] for stage in STAGES})
    if config["type"] == "gemma3_text":  # its own scale, which no array says
        assert [each.id for each in found.causes] == ["wrong scale"]
        assert found.explained
        assert "To your gains 1 was added, as Gemma does." in found.read
    else:
        assert found.first is None, str(found)
    assert "RoPE, in halves" in str(found)
