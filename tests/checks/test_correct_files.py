"""Correct files, as libraries lay them out, mask and round them, agree; fused matrices are split."""

from pathlib import Path

import numpy as np
import pytest
from cases import covering
from correctfiles import LIBRARIES, MASKS, PRECISIONS, File, correct_file, joined, llama, rotated_in_neighbours

from attnviz import compare
from benchmarks.causes import called_wrong

SPREAD = range(0, 792, 17)
NAMED = {"float32 as float64": "float32"}


def assert_agrees(number):
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
def test_thirty_random_passes_agree():
    """Among them passes with as many heads as tokens, whose arrays fit two orders of axes."""
    assert list(called_wrong(30)) == []


def test_files_of_all_libraries_masks_and_precisions_agree():
    found = [assert_agrees(number) for number in SPREAD]
    libraries, masks, precisions, named = (set(each) for each in zip(*found, strict=True))
    assert (libraries, masks, precisions) == (set(LIBRARIES), set(MASKS), set(PRECISIONS))
    assert named >= {*PRECISIONS} - {*NAMED}
    right = [NAMED.get(precision, precision) == says for *_, precision, says in found]
    assert sum(right) > 0.9 * len(right)  # where few numbers are given, or simple ones, nothing tells


@pytest.mark.slow
@pytest.mark.parametrize("library", LIBRARIES)
def test_two_hundred_more_files_agree(library):
    """Each library's files have all precisions and all masks."""
    place = list(LIBRARIES).index(library)
    for number in {*range(place, 1000, len(LIBRARIES))[place % 5 :: 5]} - {*SPREAD}:
        assert_agrees(number)


@pytest.mark.parametrize("number", [3877, 4680])
def test_rotated_keys_agree_where_each_query_sees_one_key(number):
    library, _, arrays = correct_file(number)
    assert library == "llama"
    assert {"k", "attn_weights"} <= set(arrays)  # rotated or not: the only key's weight is 1
    assert_agrees(number)


@pytest.mark.parametrize("seed", [2, 23, 90, 223, 299])
def test_rotated_pairs_of_neighbours_agree_in_bfloat16(seed):
    """So coarse an output may agree without a rotation and with the right one, but with no other."""
    random, mask = np.random.default_rng(seed), MASKS[seed % len(MASKS)]
    n_heads, half, n = random.integers((1, 1, 2), (5, 5, 10))
    arrays = llama(File(random, "bfloat16", mask, int(n_heads), 2 * int(half), int(n)), rotated_in_neighbours)
    found = compare(None, arrays)
    assert found.first is None, str(found)
    assert any("RoPE" in note for note in found.notes)


def test_pytorchs_own_results_agree():
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
def test_results_of_other_libraries_agree(case):
    arrays = file_of(case)
    if CASES.index(case) % 2:  # the output alone has to be enough
        arrays = {name: array for name, array in arrays.items() if name not in ATTENTION}
    found = compare(None, arrays)
    assert found.first is None, str(found)
    assert found.stages
    assert found.unread == ()
    assert found.causes == ()


def fused_pass(n_sharing, n_groups, laid, d=4, n=6, mistake=1.0):
    """A pass of heads in groups, its matrices fused as a library does."""
    heads = {"q": n_sharing * n_groups, "k": n_groups, "v": n_groups}
    file = File(np.random.default_rng(0), "float32", "causal", n_heads=n_sharing * n_groups, d=d, n=n)
    x = file.drawn(n, file.width)
    w = {each: file.weight(g * d, file.width).reshape(g, d, -1) for each, g in heads.items()}
    b = {each: file.drawn(g, d, size=0.1) for each, g in heads.items()}
    w_o = file.weight(file.width, file.width)
    *_, hidden = file.hidden()
    q, k, v = (file.rounded(file.times(x, w[c].transpose(0, 2, 1)) + b[c][:, None]) for c in "qkv")
    k, v = (np.repeat(each, n_sharing, axis=0) for each in (k, v))
    scores = file.rounded(file.times(q, k.transpose(0, 2, 1)) * file.carrier(mistake * d**-0.5))
    attention = file.softmax(np.where(hidden, file.carrier(-np.inf), scores))
    output = file.times(joined(file.times(attention, v)), w_o.T)
    return x, *(LAID[laid]([each[c] for c in "qkv"], n_sharing) for each in (w, b)), w_o, attention, output


def in_three(parts, n_sharing):
    return np.concatenate([each.reshape(-1, *each.shape[2:]) for each in parts])


def by_groups(parts, n_sharing):
    q, k, v = parts
    return np.concatenate([row for g in range(len(k)) for row in (*q[g * n_sharing : (g + 1) * n_sharing], k[g], v[g])])


LAID = {"one after the other": in_three, "by groups": by_groups}
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
def test_a_fused_matrix_is_split(names, laid, heads, kept):
    qkv, o = NAMES[names]
    x, w, b, w_o, attention, output = fused_pass(*heads, laid)
    stage = {"attention": attention, "output": output}[kept]
    found = compare(None, {"x": x, f"{qkv}.weight": w, f"{qkv}.bias": b, f"{o}.weight": w_o, kept: stage})
    assert found.first is None, str(found)
    assert found.stages
    assert found.unread == ()


@pytest.mark.parametrize("laid", LAID)
def test_a_fused_matrix_in_out_is_split(laid):
    x, w, b, w_o, attention, _ = fused_pass(1, 2, laid)
    found = compare(None, {"x": x, "w_qkv": w.T, "b_qkv": b, "w_o": w_o.T, "attention": attention})
    assert found.first is None, str(found)


@pytest.mark.parametrize("laid", LAID)
def test_a_mistake_is_named_with_a_fused_matrix(laid):
    x, w, b, w_o, attention, _ = fused_pass(1, 2, laid, mistake=2.0)
    name = "query_key_value" if laid == "by groups" else "qkv"
    found = compare(
        None, {"x": x, f"{name}.weight": w, f"{name}.bias": b, "o_proj.weight": w_o, "attention": attention}, n_heads=2
    )
    assert [each.id for each in found.causes] == ["unscaled"], str(found)
