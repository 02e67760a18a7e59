"""Embeddings, positions and initialisers: what decides them, their spread, their bands, and torch's very matrices."""

import hashlib
import json
import math
from pathlib import Path

import numpy as np
import pytest

from attnviz import Parameters, attend
from attnviz.core.initialisers import INITIALISERS, embed, pytorch, sinusoidal
from attnviz.core.rng import stream, torch_rand, torch_seeded

RECORDED = json.loads(
    (Path(__file__).parents[1] / "data" / "torch_multihead_attention.json").read_text(encoding="utf-8")
)
WHOLE = ("w_q", "w_k", "w_v", "w_o")


def whole(parameters: Parameters, name: str) -> np.ndarray:
    """A parameter as the one big matrix, its bands side by side again."""
    w = getattr(parameters, name)
    return w if name == "w_o" else np.concatenate(w, axis=-1)


def from_hex(texts) -> np.ndarray:
    return np.vectorize(float.fromhex)(texts)


@pytest.mark.parametrize("name", INITIALISERS)
def test_seed_decides_and_matrices_differ(name):
    one, again, other = (INITIALISERS[name](8, 2, seed) for seed in (1, 1, 2))
    matrices = [whole(parameters, each).tobytes() for parameters in (one, other) for each in WHOLE]
    assert len(set(matrices)) == 8
    assert [whole(again, each).tobytes() for each in WHOLE] == matrices[:4]


@pytest.mark.parametrize("name", ["normal", "uniform", "standard normal", "pytorch"])
def test_head_count_only_splits_matrices(name):
    for each in WHOLE:
        assert np.array_equal(whole(INITIALISERS[name](12, 2, 7), each), whole(INITIALISERS[name](12, 6, 7), each))


@pytest.mark.parametrize(
    ("name", "mean", "spread"), [("normal", 0, 128**-0.5), ("standard normal", 0, 1), ("uniform", 0.5, 12**-0.5)]
)
def test_spread_is_the_named_one(name, mean, spread):
    for each in WHOLE:
        w = whole(INITIALISERS[name](128, 8, 3), each)
        assert w.mean() == pytest.approx(mean, abs=0.03 * spread)
        assert w.std() == pytest.approx(spread, rel=0.03)


@pytest.mark.parametrize(("each", "columns"), [("w_q", 16), ("w_k", 16), ("w_v", 16), ("w_o", 128)])
def test_xavier_fills_its_limits(each, columns):
    limit = (6 / (128 + columns)) ** 0.5  # Glorot and Bengio 2010, equation 16, for the matrix that is used at once
    w = getattr(INITIALISERS["xavier"](128, 8, 3), each)
    assert 0.999 * limit < w.max() < limit
    assert -limit <= w.min() < -0.999 * limit


def test_normal_keeps_scores_near_1():
    random = np.random.RandomState(0)
    for d_model in (8, 32, 128):
        x = random.standard_normal((64, d_model))
        scaled = attend(x, parameters=INITIALISERS["normal"](d_model, 2, 42))["scaled"].value
        assert 0.7 < scaled.std() < 1.4


@pytest.mark.parametrize("case", RECORDED["parameters"], ids=lambda case: f"{case['seed']}-{case['d_model']}")
def test_pytorch_is_torch_bit_for_bit(case):
    """torch keeps (outputs, inputs), the rows of in_proj_weight being those of q, k and v; see data/README.md."""
    parameters = pytorch(case["d_model"], case["n_heads"], case["seed"])
    rebuilt = {
        "in_proj_weight": np.concatenate([whole(parameters, name).T for name in ("w_q", "w_k", "w_v")]),
        "out_proj.weight": parameters.w_o.T,
    }
    for name, matrix in rebuilt.items():
        assert [value.hex() for value in matrix[0, :4].tolist()] == case[name]["first"]
        assert [value.hex() for value in matrix[-1, -4:].tolist()] == case[name]["last"]
        assert hashlib.sha256(matrix.astype("<f4").tobytes()).hexdigest() == case[name]["sha256"]
        assert np.array_equal(matrix, matrix.astype(np.float32))


def test_pytorch_layer_2_continues_the_stream():
    """Of torch's own stream: a weight and a bias of `out_proj`, then q, k and v; and so for each module."""
    d_model = 4
    numbers = torch_rand(torch_seeded(7), (2 * (4 * d_model**2 + d_model),))
    out = numbers[4 * d_model**2 + d_model :][: d_model**2].reshape(d_model, d_model)
    np.testing.assert_allclose(pytorch(d_model, 2, 7, layer=2).w_o.T, out - 0.5, rtol=0, atol=1e-7)
    in_ = numbers[-3 * d_model**2 :].reshape(3, d_model, d_model)
    w_q = whole(pytorch(d_model, 2, 7, layer=2), "w_q").T
    np.testing.assert_allclose(w_q, (2 * in_[0] - 1) * math.sqrt(6 / (4 * d_model)), rtol=0, atol=1e-7)


def test_pass_equals_torch():
    """Cross-attention under a causal mask, in float64; torch's mask says True where a key is hidden."""
    case = RECORDED["forward"]
    trace = attend(
        from_hex(case["x"]),
        from_hex(case["context"]),
        parameters=pytorch(case["d_model"], case["n_heads"], case["seed"]),
        mask=~np.array(case["attn_mask"], dtype=bool),
    )
    np.testing.assert_allclose(trace["attention"].value, from_hex(case["attention"]), rtol=0, atol=1e-12)
    np.testing.assert_allclose(trace["output"].value, from_hex(case["output"]), rtol=0, atol=1e-12)


def test_embedding_depends_on_word_and_seed():
    the, cat, again = embed(["the", "cat", "the"], 8, seed=42)
    assert the.tolist() == again.tolist() == embed(["the"], 8, seed=42)[0].tolist()
    assert cat.tolist() == embed(["a", "cat"], 8, seed=42)[1].tolist()
    assert not np.isclose(the, cat).any()
    assert not np.isclose(the, embed(["The"], 8, seed=42)[0]).any()
    assert not np.isclose(the, embed(["the"], 8, seed=43)[0]).any()


def test_streams_differ_by_name_and_seed():
    names_and_seeds = [("token a", 1), ("token a", 2), ("token b", 1), ("w_q", 1), ("a", 11), ("1a", 1), ("1:a", 1)]
    names_and_seeds.append(("a", 2**32 - 1))
    assert len({stream(name, seed).random_sample() for name, seed in names_and_seeds}) == len(names_and_seeds)


@pytest.mark.parametrize(
    ("token", "seed", "beginning"),
    [
        ("cat", 42, [-0.7920177039670269, 1.674591343308471, -0.1321054170184138]),
        ("नमस्ते", 0, [-0.34137469097086187, -0.11289297026499161, -1.8705631509208267]),
        ("👩\u200d🔬", 2**32 - 1, [-2.7035075093451493, 0.04611534073279977, -0.028520121861609272]),
    ],
)
def test_same_numbers_on_every_machine(token, seed, beginning):
    """A recording, not a law: these numbers came out on the first machine (NumPy 2.4, x86-64) and must stay.

    The last digit is left to the machine's own logarithm.
    """
    assert embed([token], 8, seed)[0, :3].tolist() == pytest.approx(beginning, rel=1e-14)


@pytest.mark.parametrize("d_model", [2, 7, 8])
def test_sinusoids_follow_the_formula(d_model):
    encoded = sinusoidal(5, d_model)
    for place in range(5):
        for pair in range(0, d_model, 2):
            angle = place / math.pow(10000, pair / d_model)
            wanted = [math.sin(angle), math.cos(angle)][: d_model - pair]
            assert encoded[place, pair : pair + 2].tolist() == pytest.approx(wanted, abs=1e-15)


def test_sinusoidal_step_is_a_rotation():
    assert sinusoidal(1, 6)[0].tolist() == [0, 1, 0, 1, 0, 1]
    sines, cosines = sinusoidal(9, 6)[:, ::2], sinusoidal(9, 6)[:, 1::2]
    turned = sines[:-1] * cosines[1] + cosines[:-1] * sines[1]  # sin(a + b)
    np.testing.assert_allclose(sines[1:], turned, atol=1e-15)
