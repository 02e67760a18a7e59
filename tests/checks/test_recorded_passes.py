"""Passes that JAX, Flax, Keras, ONNX's own evaluator and Hugging Face computed themselves are called correct.

`data/library_passes.npz` was recorded with jax 0.10.2, flax 0.12.8, keras 3.15.1 (on JAX), onnx 1.23.2 and
transformers 4.57.6 (eager attention, on torch 2.13.0), each model small and with random parameters.
"""

from pathlib import Path

import numpy as np
import pytest

from attnviz import compare

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
