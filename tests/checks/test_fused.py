"""Fused: q, k and v in one array are taken apart wherever each stands, and what came of it isn't called wrong."""

import numpy as np
import pytest
from cases import covering
from correctfiles import File, joined

from attnviz import compare


def a_pass(n_sharing, n_groups, laid, seed=0, d=4, n=6, mistake=1.0):
    """A pass of heads in groups, its matrices written as a library does."""
    file = File(np.random.default_rng(seed), "float32", "causal", n_heads=n_sharing * n_groups, d=d, n=n)
    x = file.drawn(n, file.width)
    w = {each: file.weight(g * d, file.width).reshape(g, d, -1) for each, g in heads_of(n_sharing, n_groups)}
    b = {each: file.drawn(g, d, size=0.1) for each, g in heads_of(n_sharing, n_groups)}
    w_o = file.weight(file.width, file.width)
    *_, hidden = file.hidden()
    q, k, v = (file.rounded(file.times(x, w[c].transpose(0, 2, 1)) + b[c][:, None]) for c in "qkv")
    k, v = (np.repeat(each, n_sharing, axis=0) for each in (k, v))
    scores = file.rounded(file.times(q, k.transpose(0, 2, 1)) * file.carrier(mistake * d**-0.5))
    attention = file.softmax(np.where(hidden, file.carrier(-np.inf), scores))
    output = file.times(joined(file.times(attention, v)), w_o.T)
    return x, *(LAID[laid]([each[c] for c in "qkv"], n_sharing) for each in (w, b)), w_o, attention, output


def heads_of(n_sharing, n_groups):
    return ("q", n_sharing * n_groups), ("k", n_groups), ("v", n_groups)


def one_after_the_other(parts, n_sharing):
    return np.concatenate([each.reshape(-1, *each.shape[2:]) for each in parts])


def by_groups(parts, n_sharing):
    q, k, v = parts
    rows = []
    for g in range(len(k)):
        rows += [*q[g * n_sharing : (g + 1) * n_sharing], k[g], v[g]]
    return np.concatenate(rows)


LAID = {"one after the other": one_after_the_other, "by groups": by_groups}
NAMES = {
    "GPT-NeoX": ("attention.query_key_value", "attention.dense"),
    "BLOOM": ("self_attention.query_key_value", "self_attention.dense"),
    "timm": ("attn.qkv", "attn.proj"),
    "Phi 3": ("self_attn.qkv_proj", "self_attn.o_proj"),
}


@covering(
    names=NAMES,
    laid=[laid for laid in LAID for _ in range(4)],
    heads=[(1, 4), (2, 2), (4, 1), (1, 1)] * 2,
    kept=["attention"] * 2 + ["output"] * 3,
)
def test_q_k_and_v_in_one_are_taken_apart(names, laid, heads, kept):
    qkv, o = NAMES[names]
    x, w, b, w_o, attention, output = a_pass(*heads, laid)
    stage = {"attention": attention, "output": output}[kept]
    found = compare(None, {"x": x, f"{qkv}.weight": w, f"{qkv}.bias": b, f"{o}.weight": w_o, kept: stage})
    assert found.first is None, str(found)
    assert found.stages
    assert found.unread == ()


@pytest.mark.parametrize("laid", LAID)
def test_a_matrix_in_out_is_taken_apart_too(laid):
    x, w, b, w_o, attention, _ = a_pass(1, 2, laid)
    found = compare(None, {"x": x, "w_qkv": w.T, "b_qkv": b, "w_o": w_o.T, "attention": attention})
    assert found.first is None, str(found)


@pytest.mark.parametrize("laid", LAID)
def test_mistakes_are_named_beside_it(laid):
    x, w, b, w_o, attention, _ = a_pass(1, 2, laid, mistake=2.0)
    name = "query_key_value" if laid == "by groups" else "qkv"
    found = compare(
        None, {"x": x, f"{name}.weight": w, f"{name}.bias": b, "o_proj.weight": w_o, "attention": attention}, n_heads=2
    )
    assert [each.id for each in found.causes] == ["unscaled"], str(found)
