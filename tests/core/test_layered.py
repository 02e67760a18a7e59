"""Passes of several layers, with a residual stream, norms, an MLP and answers, against slow loops; stages' names."""

import hashlib
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from cases import of_each
from torchnorms import BIAS, GAIN, RECORDED
from torchnorms import X as TO_NORM

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.analysis.provenance import gradients
from attnviz.core.changes import Change, parse_change
from attnviz.core.errors import ArrayError, ChangeError
from attnviz.core.operations.activations import GELU, ReLU
from attnviz.core.operations.norms import LayerNorm, RMSNorm
from attnviz.core.operations.rotation import Rotation
from attnviz.core.operations.softmax import SumNormalise
from attnviz.core.stage import split_layer
from attnviz.explain.change_sentences import describe_change

TOKENS, D_MODEL, D_K, D_V, ANSWERS, LAYERS = 4, 5, 3, 2, 7, 2
random = np.random.default_rng(11)
X, W_U = random.standard_normal((TOKENS, D_MODEL)), random.standard_normal((D_MODEL, ANSWERS))
EACH = tuple(
    Parameters(
        w_q=random.standard_normal((heads, D_MODEL, D_K)),
        w_k=random.standard_normal((heads, D_MODEL, D_K)),
        w_v=random.standard_normal((heads, D_MODEL, D_V)),
        w_o=random.standard_normal((heads * D_V, D_MODEL)),
    )
    for heads in (1, 2)
)
CAUSAL = np.tri(TOKENS, dtype=bool)


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def times(rows, matrix):
    return [[dot(row, column) for column in zip(*matrix, strict=True)] for row in rows]


def softmax(row):
    exponentials = [math.exp(z - max(row)) for z in row]
    return [e / math.fsum(exponentials) for e in exponentials]


def passed_on(x, layers, residual, seen=lambda token, layer: range(token + 1)):
    """What the last layer passes on, one number at a time; `seen` are the keys of a query in a layer."""
    stream = x.tolist()
    for layer, (p, adds) in enumerate(zip(layers, residual, strict=True), start=1):
        out = [[0.0] * x.shape[1] for _ in stream]
        d_k, d_v = p.w_q.shape[-1], p.w_v.shape[-1]
        for head in range(len(p.w_q)):
            q, k, v = (times(stream, w[head].tolist()) for w in (p.w_q, p.w_k, p.w_v))
            for token in range(len(x)):
                keys = seen(token, layer)
                shares = softmax([dot(q[token], k[key]) / math.sqrt(d_k) for key in keys])
                mixed = [dot(shares, [v[key][f] for key in keys]) for f in range(d_v)]
                band = p.w_o[head * d_v : (head + 1) * d_v].tolist()
                for place, number in enumerate(times([mixed], band)[0]):
                    out[token][place] += number
        stream = [[a * adds + b for a, b in zip(*rows, strict=True)] for rows in zip(stream, out, strict=True)]
    return stream


@pytest.mark.parametrize("residual", [(True, True), (False, False), (True, False)])
def test_two_layers_equal_a_slow_loop(residual):
    trace = attend(X, parameters=EACH, mask=CAUSAL, residual=residual, w_u=W_U)
    expected = [softmax(row) for row in times(passed_on(X, EACH, residual), W_U.tolist())]
    np.testing.assert_allclose(trace["probabilities"].value, expected, rtol=0, atol=1e-13)
    assert trace.output.name == "probabilities"
    assert trace["probabilities"].axes == ("query", "answer")
    assert [name for name in ("residual_1", "residual_2") if name in trace] == [
        f"residual_{n}" for n, adds in enumerate(residual, start=1) if adds
    ]


PASS = attend(X, parameters=EACH, mask=CAUSAL, residual=True, w_u=W_U)


def test_layer_equals_a_single_layer_pass():
    for number in (1, 2):
        layer = PASS.layers[number - 1]
        assert sorted(layer.names.values()) == sorted(stage.name for stage in PASS.stages)
        for stage in layer.trace.stages:
            np.testing.assert_array_equal(stage.value, PASS[layer.names[stage.name]].value)
        alone = attend(
            layer.trace["x"].value, parameters=EACH[number - 1], mask=CAUSAL, residual=True
        )  # computed from what entered the layer
        for stage in alone.stages:
            np.testing.assert_allclose(layer.trace[stage.name].value, stage.value, atol=1e-14)
        assert layer.trace.terms("scores", (0, 2, 1)).total == pytest.approx(
            PASS.terms(f"scores_{number}", (0, 2, 1)).total
        )


@pytest.mark.parametrize(
    ("name", "number"),
    [("scores_1", 1), ("scores_2", 2), ("residual_1", 1), ("x", 1), ("mask", 2), ("w_u", 2), ("probabilities", 2)],
)
def test_stage_belongs_to_its_layer(name, number):
    layer = PASS.layer_of(name)
    assert layer.number == number
    assert layer.names[split_layer(name)[0]] == name


def test_layer_inherits_no_parameters():
    with_biases = replace(EACH[0], b_q=np.ones((1, D_K)), b_o=np.ones(D_MODEL))
    two = attend(X, parameters=(with_biases, Parameters()), mask=CAUSAL)
    alone = attend(two["output_1"].value, parameters=Parameters(), mask=CAUSAL)
    own = [name for name, number in (split_layer(stage.name) for stage in two.stages) if number == 2]
    assert own == [stage.name for stage in alone.stages if stage.name not in ("x", "mask")]
    np.testing.assert_array_equal(two.output.value, alone.output.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"parameters": ()}, "a list of them with one for each layer; got none"),
        ({"parameters": EACH, "residual": (True,)}, "2 layers"),
        ({"parameters": EACH, "residual": (True, True, True)}, "2 layers"),
        ({"parameters": Parameters(), "residual": True}, "no w_o"),
        ({"parameters": Parameters(w_o=np.ones((5, 1))), "residual": True}, r"\(4, 5\); got an output of \(4, 1\)"),
        ({"parameters": EACH, "w_u": W_U[:-1]}, "w_u must have 5 rows"),
        ({"parameters": EACH, "w_u": W_U[0]}, r"\(d_out, answers\)"),
    ],
)
def test_misfit_layers_are_refused(given, said):
    with pytest.raises(ArrayError, match=said):
        attend(X, **given)


SENTENCE = "the cat sat on the mat today"
GLOBAL = {
    "every layer": lambda layer: False,
    "every second layer": lambda layer: layer in (2, 4, 6),
    "all but every sixth layer": lambda layer: layer == 6,
}
"""Which layers of six have no window, as in Mistral 7B, in Gemma 2 and gpt-oss, and in Gemma 3."""


@pytest.mark.parametrize("window_in", GLOBAL)
def test_windowed_layers_equal_a_slow_loop(window_in):
    drawn = {"layers": 6, "mask": "causal window", "mask_size": 2, "window_in": window_in}
    trace = trace_of(Settings(SENTENCE, **drawn))

    def seen(token, layer):
        return range(token + 1) if GLOBAL[window_in](layer) else range(max(token - 1, 0), token + 1)

    each = [
        Parameters(**{name: trace[f"{name}_{layer}"].value for name in ("w_q", "w_k", "w_v", "w_o")})
        for layer in range(1, 7)
    ]
    np.testing.assert_allclose(trace.output.value, passed_on(trace["x"].value, each, [True] * 6, seen), atol=1e-12)
    for layer in range(1, 7):
        for token, row in enumerate(trace[f"mask_{layer}"].value):
            assert [*row.nonzero()[0]] == [*seen(token, layer)]
        assert trace[f"mask_{layer}"].operation.recipe.startswith(
            "the mask “causal”" if GLOBAL[window_in](layer) else "the mask “causal window”: a query sees 2 keys"
        )
        others = [trace[f"w_q_{other}"].value for other in range(1, layer)]
        assert not any(np.array_equal(trace[f"w_q_{layer}"].value, other) for other in others)


DIGESTS = {
    "normal": "03d2ea5015d9bb48",
    "xavier": "441cf525f20baf92",
    "uniform": "cf1e3566b470b6c9",
    "standard normal": "9ce8031c336a2f7a",
    "pytorch": "803265007067e8fe",
}
"""Of what each initialiser drew for a sentence when a pass could have one layer alone (SHA-256, its beginning)."""
LATENT = {"sharing": "latent", "rope": "halves", "sinks": "drawn"}


@pytest.mark.parametrize(
    ("picked", "digest"),
    [*(({"initialiser": name}, digest) for name, digest in DIGESTS.items()), (LATENT, "042db096241764d6")],
)
def test_first_layer_is_unchanged_by_more_layers(picked, digest):
    """Masks, shares and all: a link from before there were layers is the first layer of one with more."""
    picked = picked | {"mask": "window", "positions": "sinusoidal"}
    alone, first = trace_of(Settings(SENTENCE, **picked)), trace_of(Settings(SENTENCE, layers=3, **picked)).layers[0]
    drawn = [stage.value.tobytes() for stage in alone.values() if stage.is_given and stage.name != "positions"]
    assert hashlib.sha256(b"".join(drawn)).hexdigest().startswith(digest)
    for stage in alone.values():
        assert first.trace[stage.name].value.tobytes() == stage.value.tobytes(), stage.name
    np.testing.assert_array_equal(first.trace["residual"].value, first.trace["x"].value + first.trace["output"].value)


@pytest.mark.parametrize("window_in", GLOBAL)
def test_global_layers_have_their_own_rope_base(window_in):
    picked = {"layers": 6, "mask": "causal window", "mask_size": 2, "window_in": window_in, "rope": "halves"}
    trace = trace_of(Settings(SENTENCE, d_model=16, **picked, rope_base="100", rope_base_global="1000000"))
    for number, layer in enumerate(trace.layers, start=1):
        rotation = Rotation(1e6 if GLOBAL[window_in](number) else 100.0, "halves", 8)
        np.testing.assert_array_equal(layer.trace["q_rotated"].value, rotation.compute(layer.trace["q"].value))


def test_global_base_needs_a_global_layer():
    for more in ({"mask": "causal"}, {"mask": "window", "layers": 5, "window_in": "all but every sixth layer"}):
        picked = {"layers": 2, "rope": "halves", **more}
        one, other = (trace_of(Settings(SENTENCE, **picked, rope_base_global=base)) for base in ("same", "10"))
        np.testing.assert_array_equal(one.output.value, other.output.value)


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


def test_norms_and_activations_equal_torch():
    recorded = json.loads(RECORDED.read_text("utf-8"))
    assert recorded["torch"].startswith("2.13")
    assert recorded["made"].keys() == BY_TORCH.keys()
    for name, (operation, *affine) in BY_TORCH.items():
        np.testing.assert_allclose(operation.compute(TO_NORM, *affine), recorded["made"][name], rtol=0, atol=1e-14)


draw = np.random.default_rng(8).standard_normal
MLP = {"w_hidden": draw((6, 11)), "w_mlp": draw((11, 6))}
BLOCK = {name: draw((2, 6, 3)) for name in ("w_q", "w_k", "w_v")} | {"w_o": draw((6, 6)), **MLP}


def normed(row):
    return [each / math.sqrt(math.fsum(x * x for x in row) / len(row) + 1e-5) for each in row]


def row_times(row, matrix):
    return [math.fsum(a * b for a, b in zip(row, column, strict=True)) for column in matrix.T]


def test_mlp_equals_a_slow_loop():
    trace = attend(draw((4, 6)), parameters=[Parameters(**BLOCK)] * 2, residual=True, norm=RMSNorm())
    for layer in trace.layers:
        at = layer.trace
        for token in range(4):
            x, residual = at["x"].value[token], at["residual"].value[token]
            assert normed(x) == pytest.approx(at["attn_norm"].value[token], rel=1e-12)
            assert residual == pytest.approx(x + at["output"].value[token], rel=1e-12)
            hidden = row_times(normed(residual), MLP["w_hidden"])
            made = row_times([max(0.0, each) for each in hidden], MLP["w_mlp"])
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
def test_misfit_block_is_refused(wrong):
    parameters, options, message = wrong
    with pytest.raises(ArrayError, match=message):
        attend(draw((4, 6)), parameters=Parameters(**parameters), **options)


def test_norm_of_huge_numbers_is_refused():
    with pytest.raises(ArrayError, match="squares"):
        attend(np.full((2, 6), 1e200), parameters=Parameters(**BLOCK), residual=True, norm=RMSNorm())


def test_column_or_stage_is_set_by_hand():
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
    assert describe_change(trace, muted.changes[0]) == "Firing of neuron 6, all of them = 0"
    assert describe_change(trace, without_mlp.changes[0]) == "MLP output, all of them = 0"
    of_a_head = trace.with_changes(parse_change("heads[1,:,2]=0"))
    assert of_a_head["heads"].overridden == {(1, token, 2) for token in range(4)}
    made = {"np": np, "active": trace["active"].value.copy()}
    exec(muted.changes[0].numpy(), made)
    np.testing.assert_array_equal(made["active"], muted["active"].value)


@of_each("text", ["active[]=0", "active[,5]=0", "active[::2]=0", "active[5:]=0", "active[:5]=0", "active[: ,5]=0"])
def test_partial_slices_are_refused(text):
    with pytest.raises(ChangeError, match=r"active\[:,5\]=0"):
        parse_change(text)


def test_full_change_has_one_spelling():
    assert parse_change("mlp[:,:]=0") == parse_change("mlp[:]=0") == Change("mlp", (None,), 0.0)
    assert parse_change("mlp[3,:]=0") == Change("mlp", (3,), 0.0)
