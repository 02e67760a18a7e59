"""Arrays of whole blocks: norms, MLP and residual, and ALiBi's biases."""

import math

import numpy as np
import pytest
from implementations import softmax

from attnviz import Parameters, attend, compare
from attnviz.checks.explain.explanation import explain
from attnviz.checks.uploads import UserParameters

H, D, N = 2, 4, 5
MASK = np.tri(N, dtype=bool)


def with_alibi(dtype, slope=8.0, seed=0):
    """A pass in a loop over cells."""
    random = np.random.default_rng(seed)
    q, k, v = random.normal(size=(3, H, N, D)).astype(dtype)
    biased, attention = np.zeros((2, H, N, N), dtype)
    for head in range(H):
        for query in range(N):
            for key in range(N):
                score = (q[head, query] * k[head, key]).sum() / dtype(math.sqrt(D))
                biased[head, query, key] = score - dtype(2 ** (-slope * (head + 1) / H) * abs(query - key))
            shares = np.exp(biased[head, query, : query + 1] - biased[head, query, : query + 1].max())
            attention[head, query, : query + 1] = shares / shares.sum()
    return {"q": q, "k": k, "v": v, "mask": MASK, "biased": biased, "attention": attention, "heads": attention @ v}


def test_biased_scores_are_compared():
    arrays = with_alibi(np.float64)
    found = explain(None, arrays).diagnosis
    assert [each.stage for each in found.stages] == ["biased", "attention", "heads"]
    assert found.first_difference is None
    wrong = explain(None, with_alibi(np.float64, slope=4.0)).diagnosis
    assert wrong.first_difference.stage == "biased"
    del arrays["biased"]
    assert explain(None, arrays).diagnosis.first_difference is None, (
        "the biases of ALiBi are known without a stage of theirs"
    )


def test_a_pass_may_begin_at_biased_scores():
    arrays = with_alibi(np.float32)
    arrays["biased"] = np.where(MASK, arrays["biased"], -np.inf)
    found = explain(None, {name: arrays[name] for name in ("biased", "v", "attention", "heads")})
    assert found.diagnosis.first_difference is None
    assert found.not_recomputed == ("v", "biased")


ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "relu2": lambda x: np.maximum(x, 0) ** 2,
    "gelu": lambda x: x * (1 + np.vectorize(math.erf, otypes=[x.dtype])(x / x.dtype.type(2**0.5))) / x.dtype.type(2),
    "gelu, tanh": lambda x: (
        x * (1 + np.tanh(x.dtype.type(math.sqrt(2 / math.pi)) * (x + x.dtype.type(0.044715) * x**3))) / 2
    ),
}


def block(dtype, activation, *, norm="layernorm", residual=True, forgets="", seed=0):
    """The arrays of a transformer's block, as NumPy computes them in a precision."""
    random = np.random.default_rng(seed)
    width, n_neurons = H * D, 19

    def drawn(*shape):
        return (random.normal(size=shape) / shape[0] ** 0.5).astype(dtype)

    def normed(x, name):
        if norm == "rmsnorm":
            return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + dtype(1e-5))
        centred = x - x.mean(axis=-1, keepdims=True)
        made = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + dtype(1e-5))
        return made * given[f"g_{name}"] + given[f"b_{name}"]

    def heads_of(x, letter):
        return (x @ given[f"w_{letter}"]).reshape(N, H, D).transpose(1, 0, 2)

    shapes = {"w_q": (width, width), "w_k": (width, width), "w_v": (width, width), "w_o": (width, width)}
    shapes |= {"w_hidden": (width, n_neurons), "b_hidden": (n_neurons,), "w_mlp": (n_neurons, width), "b_mlp": (width,)}
    if norm == "layernorm":
        shapes |= {f"{kind}_{name}": (width,) for kind in "gb" for name in ("attn_norm", "mlp_norm")}
    given = {"x": drawn(N, width) * 3} | {name: drawn(*shape) for name, shape in shapes.items()}
    made = {"attn_norm": normed(given["x"], "attn_norm")}
    q, k, v = (heads_of(made["attn_norm"], each) for each in "qkv")
    scaled = np.where(MASK, q @ k.transpose(0, 2, 1) / dtype(math.sqrt(D)), -np.inf)
    made["attention"] = softmax(scaled)
    made["output"] = (made["attention"] @ v).transpose(1, 0, 2).reshape(N, width) @ given["w_o"]
    entered = made["residual"] = (given["x"] if residual else 0) + made["output"]
    made["mlp_norm"] = normed(entered, "mlp_norm")
    made["hidden"] = made["mlp_norm"] @ given["w_hidden"] + (0 if forgets == "b_hidden" else given["b_hidden"])
    made["active"] = ACTIVATIONS[activation](made["hidden"])
    made["mlp"] = made["active"] @ given["w_mlp"] + given["b_mlp"]
    made["mlp_residual"] = entered + made["mlp"]
    if not residual:
        del made["residual"], made["mlp_residual"]
    assert {each.dtype for each in made.values()} == {np.dtype(dtype)}
    return given, {"mask": MASK} | made


@pytest.mark.parametrize(
    ("activation", "norm", "residual"),
    [
        ("gelu", "layernorm", True),
        pytest.param("relu", "rmsnorm", False, marks=pytest.mark.slow),
        pytest.param("gelu, tanh", "layernorm", True, marks=pytest.mark.slow),
    ],
)
def test_a_correct_block_agrees(activation, norm, residual):
    given, made = block(np.float32, activation, norm=norm, residual=residual)
    found = compare(None, given | made)
    assert found.first is None, str(found)
    assert found.precision == "float32", "another GELU would agree to TF32"
    assert {each.stage for each in found.stages} == made.keys() - {"mask"}
    assert not found.unread
    ends = compare(None, given | {"mask": MASK} | {each: made[each] for each in ("attn_norm", "mlp_norm", "mlp")})
    assert ends.first is None, str(ends)


@pytest.mark.slow
def test_a_mistake_in_a_block_is_found_at_its_stage():
    for wrong in ("attn_norm", "active"):
        given, made = block(np.float32, "gelu")
        made[wrong] = made[wrong] + np.float32(1e-2) * np.abs(made[wrong]).max()
        assert compare(None, given | made).first.stage == wrong
    given, made = block(np.float32, "gelu", forgets="b_hidden")
    found = compare(None, given | made)
    assert found.first.stage == "hidden"
    assert found.explained
    assert "was not added" in str(found)


def test_the_pass_of_a_users_block_equals_that_of_attend():
    given, made = block(np.float64, "relu2", norm="layernorm")
    found = compare(None, given | made)
    assert found.first is None
    assert {each.stage for each in found.stages} == made.keys() - {"mask"}
    parameters = {name: given[name] for name in given if name != "x"}
    parameters |= {name: parameters[name].reshape(H * D, H, D).transpose(1, 0, 2) for name in ("w_q", "w_k", "w_v")}
    whole = attend(
        given["x"], parameters=Parameters(**parameters), mask=MASK, residual=True, norm="layernorm", activation="relu2"
    )
    assert {stage.name for stage in found.trace.stages} == {stage.name for stage in whole.stages}
    for stage in whole.stages:
        np.testing.assert_array_equal(found.trace[stage.name].value, stage.value)
    again = UserParameters.of(found.trace, found.block, {}).trace()
    for stage in whole.stages:
        np.testing.assert_array_equal(again[stage.name].value, stage.value)
