"""Correct files in the layouts, masks and precisions of libraries: none is called wrong."""

import re
from pathlib import Path

import numpy as np
import pytest
from correctfiles import LIBRARIES, MASKS, PRECISIONS, File, correct_file, llama, rotated, rotated_in_neighbours, split

from attnviz import compare
from attnviz.checks.read.readings import readings, user_arrays
from attnviz.core.errors import OwnArraysError

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


@pytest.mark.parametrize("seed", range(3))
def test_rotated_queries_and_keys_are_said_and_lead_to_a_pass_that_rotates_them(seed):
    file = File(np.random.default_rng(seed), "float32", "causal", n_heads=4, d=4, n=6)
    arrays = llama(file)
    found = compare(None, arrays)
    (note,) = (each for each in found.notes if "RoPE" in each)
    base = re.search(r"^Your queries and keys are rotated by their positions \(RoPE, in halves, base (.+)\)\.$", note)
    assert base.group(1) in ("10,000", "500,000", "1,000,000")
    assert {"q_rotated", "k_rotated"} <= set(found.trace.keys())
    w = {each: arrays[f"model.layers.0.self_attn.{each}_proj.weight"] for each in "qkvo"}
    q, k = (split(arrays["hidden_states"][0] @ w[each].T, len(w[each]) // 4) for each in "qk")
    turned = [rotated(file, each, int(base.group(1).replace(",", ""))) for each in (q, k)]
    scores = turned[0] @ np.repeat(turned[1], 4 // len(k), axis=0).transpose(0, 2, 1)
    stages = {"q": turned[0], "k": turned[1], "scores": scores}
    kept = {name: each for name, each in arrays.items() if "attn_" not in name and name != "k"}
    assert compare(None, kept | stages).first is None
    unscaled = file.softmax(np.where(np.tri(6, dtype=bool), scores, -np.inf))
    wrong = compare(None, kept | {"attention": unscaled})
    assert [cause.id for cause in wrong.causes] == ["unscaled"]
    assert note in wrong.notes


def test_no_two_readings_of_an_array_are_alike():
    for number in range(0, 600, 13):
        library, file, arrays = correct_file(number)
        owns, _ = user_arrays(arrays)
        for own in owns:
            try:
                found = readings(own, None, {})
            except OwnArraysError:  # q, k and v in one, taken apart as they can't be
                continue
            kept = [
                (sorted(each.sizes.items()), [(name, value.tobytes()) for name, value in each.arrays.items()])
                for each in found
            ]
            assert all(one not in kept[:at] for at, one in enumerate(kept)), (number, library, file)


# Computed by jax 0.10.2, flax 0.12.8, keras 3.15.1 (on JAX), onnx 1.23.2, transformers 4.57.6 (eager, on torch 2.13.0)
RECORDED = np.load(Path(__file__).parents[1] / "data" / "library_passes.npz")
CASES = sorted({name.split("/")[0] for name in RECORDED.files})
ATTENTION = ("attn_weights", "attention_weights", "attention_scores", "attention")


def file_of(case):
    prefix = f"{case}/"
    return {name.removeprefix(prefix): RECORDED[name] for name in RECORDED.files if name.startswith(prefix)}


def test_all_libraries_are_there():
    assert {case.split(",")[0].split("-")[0] for case in CASES} >= {
        "flax",
        "jax.nn",
        "keras",
        "onnx",
        "gpt_neox",
        "llama",
    }


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
