"""Blocks: norms and an MLP around attention, against torch and a slow loop, and what is refused."""

import json
import math

import numpy as np
import pytest
from cases import of_each
from torchnorms import BIAS, GAIN, RECORDED, X

from attnviz import Parameters, attend
from attnviz.core.errors import ArrayError
from attnviz.core.operations.gelu import GELU
from attnviz.core.operations.layernorm import LayerNorm
from attnviz.core.operations.relu import ReLU
from attnviz.core.operations.rmsnorm import RMSNorm

BY_TORCH = {
    "rmsnorm": (RMSNorm(),),
    "layernorm": (LayerNorm(),),
    "layernorm and gain": (LayerNorm(), GAIN),
    "layernorm, gain and bias": (LayerNorm(), GAIN, BIAS),
    "relu": (ReLU(),),
    "relu squared": (ReLU(squared=True),),
    "gelu": (GELU(),),
    "gelu by tanh": (GELU(tanh=True),),
}


def test_norms_and_activations_are_those_of_torch():
    recorded = json.loads(RECORDED.read_text())
    assert recorded["torch"].startswith("2.14")
    assert recorded["made"].keys() == BY_TORCH.keys()
    for name, (operation, *affine) in BY_TORCH.items():
        np.testing.assert_allclose(operation.compute(X, *affine), recorded["made"][name], rtol=0, atol=1e-14)


draw = np.random.default_rng(8).standard_normal
MLP = {"w_hidden": draw((6, 11)), "w_mlp": draw((11, 6))}
BLOCK = {name: draw((2, 6, 3)) for name in ("w_q", "w_k", "w_v")} | {"w_o": draw((6, 6)), **MLP}


def normed(row):
    return [each / math.sqrt(math.fsum(x * x for x in row) / len(row) + 1e-5) for each in row]


def times(row, matrix):
    return [math.fsum(a * b for a, b in zip(row, column, strict=True)) for column in matrix.T]


def test_an_mlp_equals_a_slow_loop_in_each_layer():
    trace = attend(draw((4, 6)), parameters=[Parameters(**BLOCK)] * 2, residual=True, norm=RMSNorm())
    for layer in trace.layers:
        at = layer.trace
        for token in range(4):
            x, residual = at["x"].value[token], at["residual"].value[token]
            assert normed(x) == pytest.approx(at["attn_norm"].value[token], rel=1e-12)
            assert residual == pytest.approx(x + at["output"].value[token], rel=1e-12)
            hidden = times(normed(residual), MLP["w_hidden"])
            made = times([max(0.0, each) for each in hidden], MLP["w_mlp"])
            assert at["mlp_residual"].value[token] == pytest.approx(residual + made, rel=1e-11)
    assert trace.layers[1].names["x"] == "mlp_residual_1"


@of_each(
    "wrong",
    [
        ({"w_hidden": MLP["w_hidden"]}, {}, "no w_mlp"),
        ({**BLOCK, "w_mlp": draw((10, 6))}, {"residual": True}, r"w_mlp must have .* \(11, 6\); got \(10, 6\)"),
        ({**BLOCK, "w_hidden": draw((5, 11))}, {}, r"w_hidden must have .* \(6, 11\); got \(5, 11\)"),
        (MLP, {}, "no w_o"),
        ({**BLOCK, "b_hidden": draw(6)}, {}, "b_hidden must have"),
        ({**BLOCK, "g_attn_norm": draw(6)}, {"norm": RMSNorm()}, "g_attn_norm belongs to a LayerNorm; got RMSNorm"),
        ({**BLOCK, "b_mlp_norm": draw(6)}, {"norm": LayerNorm()}, "no g_mlp_norm"),
        ({**BLOCK, "g_attn_norm": draw(5)}, {"norm": LayerNorm()}, r"g_attn_norm must have .* \(6,\); got \(5,\)"),
    ],
)
def test_a_block_that_does_not_fit_is_refused_in_one_sentence(wrong):
    parameters, options, message = wrong
    with pytest.raises(ArrayError, match=message):
        attend(draw((4, 6)), parameters=Parameters(**parameters), **options)


def test_a_norm_of_numbers_too_large_to_square_is_refused_before_anyone_asks():
    with pytest.raises(ArrayError, match="squares"):
        attend(np.full((2, 6), 1e200), parameters=Parameters(**BLOCK), residual=True, norm=RMSNorm())


def test_a_row_of_zeros_stays_one():
    for norm in (RMSNorm(), LayerNorm()):
        assert not norm.compute(np.zeros((1, 5))).any()
        assert np.isfinite(norm.vjp(np.ones((1, 5)), np.zeros((1, 5)))[0]).all()
