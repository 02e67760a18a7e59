"""Passes of several layers, with a residual stream and answers, against a slow loop; and how their stages are named."""

import hashlib
import math
from dataclasses import replace

import numpy as np
import pytest

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.analysis.gradients import gradients
from attnviz.core.errors import ArrayError
from attnviz.core.operations.rotation import Rotation
from attnviz.core.stage import split_layer

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


def all_earlier(token, layer):
    return range(token + 1)


def passed_on(x, layers, residual, seen=all_earlier):
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


def slow(residual):
    """The answers' probabilities at each token."""
    return [softmax(row) for row in times(passed_on(X, EACH, residual), W_U.tolist())]


@pytest.mark.parametrize("residual", [(True, True), (False, False), (True, False)])
def test_two_layers_and_their_answers_equal_a_slow_loop(residual):
    trace = attend(X, parameters=EACH, mask=CAUSAL, residual=residual, w_u=W_U)
    np.testing.assert_allclose(trace["probabilities"].value, slow(residual), rtol=0, atol=1e-13)
    assert trace.output.name == "probabilities"
    assert trace["probabilities"].axes == ("query", "answer")
    assert [name for name in ("residual_1", "residual_2") if name in trace] == [
        f"residual_{n}" for n, adds in enumerate(residual, start=1) if adds
    ]


PASS = attend(X, parameters=EACH, mask=CAUSAL, residual=True, w_u=W_U)


def test_slopes_through_two_layers_and_the_residual_stream_equal_central_differences():
    step = 1e-6
    for name in ("x", "w_q_1", "w_v_2", "residual_1", "w_u"):
        found = gradients(PASS, "probabilities", (3, 2))[name]
        for index in list(np.ndindex(found.shape))[::3]:
            there = PASS[name].value[index]
            up, down = (PASS.with_change(name, index, there + d)["probabilities"].value[3, 2] for d in (step, -step))
            assert found[index] == pytest.approx((up - down) / (2 * step), abs=1e-8)


def test_a_layer_is_the_pass_under_the_names_of_a_single_layer():
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
def test_a_stage_is_of_its_own_layer_or_of_the_last_that_has_it_by_its_name(name, number):
    layer = PASS.layer_of(name)
    assert layer.number == number
    assert layer.names[split_layer(name)[0]] == name


def test_what_a_layer_lacks_is_not_taken_from_the_one_before():
    with_biases = replace(EACH[0], b_q=np.ones((1, D_K)), b_o=np.ones(D_MODEL))
    two = attend(X, parameters=(with_biases, Parameters()), mask=CAUSAL)
    alone = attend(two["output_1"].value, parameters=Parameters(), mask=CAUSAL)
    own = [name for name, number in (split_layer(stage.name) for stage in two.stages) if number == 2]
    assert own == [stage.name for stage in alone.stages if stage.name not in ("x", "mask")]
    np.testing.assert_array_equal(two.output.value, alone.output.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"parameters": ()}, "at least one layer"),
        ({"parameters": EACH, "residual": (True,)}, "2 layers"),
        ({"parameters": EACH, "residual": (True, True, True)}, "2 layers"),
        ({"parameters": Parameters(), "residual": True}, "no w_o"),
        ({"parameters": Parameters(w_o=np.ones((5, 1))), "residual": True}, r"\(4, 5\); got an output of \(4, 1\)"),
        ({"parameters": EACH, "w_u": W_U[:-1]}, "w_u must have 5 rows"),
        ({"parameters": EACH, "w_u": W_U[0]}, r"\(d_out, answers\)"),
    ],
)
def test_layers_that_do_not_fit_are_refused_with_a_sentence(given, said):
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
def test_layers_that_settings_draw_equal_a_slow_loop_with_a_window_in_those_that_have_it(window_in):
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
def test_the_first_of_several_layers_is_the_pass_of_one_to_the_last_bit_and_both_are_what_they_were(picked, digest):
    """Masks, shares and all: a link from before there were layers is the first layer of one with more."""
    picked = picked | {"mask": "window", "positions": "sinusoidal"}
    alone, first = trace_of(Settings(SENTENCE, **picked)), trace_of(Settings(SENTENCE, layers=3, **picked)).layers[0]
    drawn = [stage.value.tobytes() for stage in alone if stage.is_given and stage.name != "positions"]
    assert hashlib.sha256(b"".join(drawn)).hexdigest().startswith(digest)
    for stage in alone:
        assert first.trace[stage.name].value.tobytes() == stage.value.tobytes(), stage.name
    np.testing.assert_array_equal(first.trace["residual"].value, first.trace["x"].value + first.trace["output"].value)


@pytest.mark.parametrize("window_in", GLOBAL)
def test_global_layers_rotate_by_a_base_of_their_own(window_in):
    picked = {"layers": 6, "mask": "causal window", "mask_size": 2, "window_in": window_in, "rope": "halves"}
    trace = trace_of(Settings(SENTENCE, d_model=16, **picked, rope_base="100", rope_base_global="1000000"))
    for number, layer in enumerate(trace.layers, start=1):
        rotation = Rotation(1e6 if GLOBAL[window_in](number) else 100.0, "halves", 8)
        np.testing.assert_array_equal(layer.trace["q_rotated"].value, rotation.compute(layer.trace["q"].value))


def test_without_a_global_layer_its_base_changes_nothing():
    for more in ({"mask": "causal"}, {"mask": "window", "layers": 5, "window_in": "all but every sixth layer"}):
        picked = {"layers": 2, "rope": "halves", **more}
        one, other = (trace_of(Settings(SENTENCE, **picked, rope_base_global=base)) for base in ("same", "10"))
        np.testing.assert_array_equal(one.output.value, other.output.value)
