"""Blocks: norms and an MLP around attention, against torch and a slow loop, and what is refused."""

import json
import math

import numpy as np
import pytest
from cases import of_each
from torchnorms import BIAS, GAIN, RECORDED, X

from attnviz import Parameters, attend
from attnviz.analysis.gradients import gradients
from attnviz.core.changes import Change, parse_change
from attnviz.core.errors import ArrayError, ChangeError
from attnviz.core.operations.activations import GELU, ReLU
from attnviz.core.operations.norms import LayerNorm, RMSNorm
from attnviz.core.operations.rotation import Rotation
from attnviz.core.operations.softmax import SumNormalise
from attnviz.explain.movement import described

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
    assert recorded["torch"].startswith("2.13")
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
        (
            {**BLOCK, "g_attn_norm": draw(6), "b_attn_norm": draw(6)},
            {"norm": RMSNorm()},
            "b_attn_norm belongs to a LayerNorm; got RMSNorm",
        ),
        ({**BLOCK, "g_attn_norm": draw(6)}, {}, "g_attn_norm belongs to a norm; got no norm"),
        ({**BLOCK, "g_q_norm": draw(6)}, {}, "g_q_norm belongs to a norm; got no norm"),
        ({**BLOCK, "sinks": draw(5)}, {}, "sinks must hold a number for each of .* heads; got 5"),
        ({**BLOCK, "sinks": draw(2)}, {"normalise": SumNormalise}, "sinks belong to a softmax"),
        ({**BLOCK, "w_q": draw((4, 6, 2)), "w_k": draw((3, 6, 2))}, {}, "one number of groups that divides"),
        (BLOCK, {"softcap": -1.0}, "softcap must be a finite number above 0"),
        (BLOCK, {"rotation": Rotation(dims=4)}, "an even number of a query's dimensions; got 4 of 3"),
        (BLOCK, {"rotation": (None, None)}, "one for each of 1 layers"),
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


def test_a_column_or_a_whole_stage_is_set_by_hand_and_written_in_an_address():
    trace = attend(draw((4, 6)), parameters=Parameters(**BLOCK), residual=True, norm=RMSNorm())
    one_by_one = trace.with_changes(*(Change("active", (token, 5), 0.0) for token in range(4)))
    muted = trace.with_change("active", (slice(None), 5), 0.0)
    assert muted.changes == (parse_change("active[:,5]=0"),)
    assert str(muted.changes[0]) == "active[:,5]=0"
    assert muted["active"].overridden == one_by_one["active"].overridden
    np.testing.assert_array_equal(muted["mlp"].value, one_by_one["mlp"].value)
    slopes = gradients(muted, "mlp", (1, 2))
    assert not slopes["hidden"][1, 5]
    assert slopes["hidden"][1].any()
    without_mlp = trace.with_changes(parse_change("mlp[:]=0"))
    np.testing.assert_array_equal(without_mlp["mlp_residual"].value, trace["residual"].value)
    assert described(trace, muted.changes[0]) == "Firing of neuron 6, all of them = 0"
    assert described(trace, without_mlp.changes[0]) == "MLP output, all of them = 0"
    of_a_head = trace.with_changes(parse_change("heads[1,:,2]=0"))
    assert of_a_head["heads"].overridden == {(1, token, 2) for token in range(4)}
    made = {"np": np, "active": trace["active"].value.copy()}
    exec(muted.changes[0].numpy(), made)
    np.testing.assert_array_equal(made["active"], muted["active"].value)


@of_each("text", ["active[]=0", "active[,5]=0", "active[::2]=0", "active[5:]=0", "active[:5]=0", "active[: ,5]=0"])
def test_of_colons_only_whole_axes_are_read(text):
    with pytest.raises(ChangeError, match=r"active\[:,5\]=0"):
        parse_change(text)


def test_a_change_of_all_that_there_is_has_one_way_of_being_written():
    assert parse_change("mlp[:,:]=0") == parse_change("mlp[:]=0") == Change("mlp", (None,), 0.0)
    assert parse_change("mlp[3,:]=0") == Change("mlp", (3,), 0.0)
