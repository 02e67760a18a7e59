"""Correct files as libraries lay them out, mask and round them: none is called wrong; a fused matrix comes apart."""

from pathlib import Path

import numpy as np
import pytest
from cases import covering
from correctfiles import LIBRARIES, MASKS, PRECISIONS, File, correct_file, joined, llama, rotated_in_neighbours

from attnviz import compare
from benchmarks.causes import called_wrong

SPREAD = range(0, 792, 17)
NAMED = {"float32 as float64": "float32"}


def is_called_correct(number):
    library, file, arrays = correct_file(number)
    found = compare(None, arrays)
    assert found.first is None, (number, library, file, str(found))
    assert found.stages, (number, library)
    assert found.explained
    assert not found.causes
    assert not found.unread
    assert "agree" in found.headline
    return library, file.mask, file.precision, found.precision


@pytest.mark.slow
def test_of_thirty_random_passes_none_is_called_wrong():
    """Among them passes with as many heads as tokens, whose arrays fit two orders of axes."""
    assert list(called_wrong(30)) == []


def test_a_spread_of_fifty_is_called_correct():
    found = [is_called_correct(number) for number in SPREAD]
    libraries, masks, precisions, named = (set(each) for each in zip(*found, strict=True))
    assert (libraries, masks, precisions) == (set(LIBRARIES), set(MASKS), set(PRECISIONS))
    assert named >= {*PRECISIONS} - {*NAMED}
    right = [NAMED.get(precision, precision) == says for *_, precision, says in found]
    assert sum(right) > 0.9 * len(right)  # where few numbers are given, or simple ones, nothing tells


@pytest.mark.slow
@pytest.mark.parametrize("library", LIBRARIES)
def test_every_fifth_of_a_thousand_is_called_correct(library):
    """Of each library they have all precisions and all masks."""
    place = list(LIBRARIES).index(library)
    for number in {*range(place, 1000, len(LIBRARIES))[place % 5 :: 5]} - {*SPREAD}:
        is_called_correct(number)


@pytest.mark.parametrize("number", [3877, 4680])
def test_keys_that_are_rotated_beside_an_attention_that_this_leaves_as_it_is_are_called_correct(number):
    library, _, arrays = correct_file(number)
    assert library == "llama"
    assert {"k", "attn_weights"} <= set(arrays)  # each query sees one key, whose share is 1
    is_called_correct(number)


@pytest.mark.parametrize("seed", [2, 23, 90, 223, 299])
def test_pairs_of_neighbours_in_bfloat16_are_called_correct_where_an_output_agrees_without_them(seed):
    """So coarse an output may agree with the pass as it is, and with the right rotation, but with no other."""
    random, mask = np.random.default_rng(seed), MASKS[seed % len(MASKS)]
    n_heads, half, n = random.integers((1, 1, 2), (5, 5, 10))
    arrays = llama(File(random, "bfloat16", mask, int(n_heads), 2 * int(half), int(n)), rotated_in_neighbours)
    found = compare(None, arrays)
    assert found.first is None, str(found)
    assert any("RoPE" in note for note in found.notes)


def test_what_torch_itself_computed_is_called_correct():
    recorded = np.load(Path(__file__).parents[1] / "data" / "torch_masks.npz")
    files = {}
    for path in set(recorded.files) - {"torch"}:
        case, name = path.split("/")
        files.setdefault(case, {})[name] = recorded[path]
    assert len(files) == 18
    for case, arrays in files.items():
        found = compare(None, arrays)
        assert found.first is None, (case, str(found))
        assert found.stages
        precision = next((each for each in ("bfloat16", "float16", "float64") if each in case), "float32")
        assert found.precision == precision
        causal = "Your attention is causal" in str(found)
        assert causal == (case in ("module, is_causal", "module, padding, causal", "function, is_causal"))


# Computed by jax 0.10.2, flax 0.12.8, keras 3.15.1 (on JAX), onnx 1.23.2, transformers 4.57.6 (eager, on torch 2.13.0)
RECORDED = np.load(Path(__file__).parents[1] / "data" / "library_passes.npz")
CASES = sorted({name.split("/")[0] for name in RECORDED.files})
ATTENTION = ("attn_weights", "attention_weights", "attention_scores", "attention")


def file_of(case):
    prefix = f"{case}/"
    return {name.removeprefix(prefix): RECORDED[name] for name in RECORDED.files if name.startswith(prefix)}


@pytest.mark.parametrize("case", CASES)
def test_what_a_library_computed_is_called_correct(case):
    arrays = file_of(case)
    if CASES.index(case) % 2:  # the output alone has to be enough
        arrays = {name: array for name, array in arrays.items() if name not in ATTENTION}
    found = compare(None, arrays)
    assert found.first is None, str(found)
    assert found.stages
    assert found.unread == ()
    assert found.causes == ()


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
