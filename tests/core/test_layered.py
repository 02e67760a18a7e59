"""Passes of several layers, with a residual stream and answers, against a slow loop; and how their stages are named."""

import hashlib
import math
from dataclasses import replace

import numpy as np
import pytest

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.analysis.audit import Audit, audit
from attnviz.analysis.gradients import gradients
from attnviz.core.errors import ArrayError, ChangeError
from attnviz.core.initialisers import INITIALISERS
from attnviz.core.operations.rotation import Rotation
from attnviz.core.selection import Selection
from attnviz.core.stage import layered, split_layer
from attnviz.explain.steps import steps_of

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


def test_every_number_of_two_layers_equals_its_terms():
    found = Audit(tuple(audit(PASS)))
    assert found.n_agree == found.n_made > 500


def test_slopes_through_two_layers_and_the_residual_stream_equal_central_differences():
    step = 1e-6
    for name in ("x", "w_q_1", "w_v_2", "residual_1", "w_u"):
        found = gradients(PASS, "probabilities", (3, 2))[name]
        for index in list(np.ndindex(found.shape))[::3]:
            there = PASS[name].value[index]
            up, down = (PASS.with_change(name, index, there + d)["probabilities"].value[3, 2] for d in (step, -step))
            assert found[index] == pytest.approx((up - down) / (2 * step), abs=1e-8)


def test_a_name_and_its_layer_are_joined_and_split():
    assert [split_layer(layered(name, n)) for name in ("w_q", "x", "scores") for n in (0, 1, 12)] == [
        (name, n) for name in ("w_q", "x", "scores") for n in (0, 1, 12)
    ]


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
        assert layer.trace.terms("scores", (0, 2, 1)).total() == pytest.approx(
            PASS.terms(f"scores_{number}", (0, 2, 1)).total()
        )


@pytest.mark.parametrize(
    ("name", "number"),
    [("scores_1", 1), ("scores_2", 2), ("residual_1", 1), ("x", 1), ("mask", 2), ("w_u", 2), ("probabilities", 2)],
)
def test_a_stage_is_of_its_own_layer_or_of_the_last_that_has_it_by_its_name(name, number):
    layer = PASS.layer_of(name)
    assert layer.number == number
    assert layer.names[split_layer(name)[0]] == name


def test_a_pass_of_one_layer_is_its_own_layer():
    single = attend(X, parameters=EACH[0], residual=True)
    assert single.layers[0].trace is single
    assert {split_layer(stage.name)[1] for stage in single.stages} == {0}


def test_what_a_layer_lacks_is_not_taken_from_the_one_before():
    with_biases = replace(EACH[0], b_q=np.ones((1, D_K)), b_o=np.ones(D_MODEL))
    two = attend(X, parameters=(with_biases, Parameters()), mask=CAUSAL)
    alone = attend(two["output_1"].value, parameters=Parameters(), mask=CAUSAL)
    own = [name for name, number in (split_layer(stage.name) for stage in two.stages) if number == 2]
    assert own == [stage.name for stage in alone.stages if stage.name not in ("x", "mask")]
    np.testing.assert_array_equal(two.output.value, alone.output.value)


def test_the_heads_of_each_layer_are_counted_by_themselves():
    assert next(axis.coordinates for axis in PASS.axes("w_o_1")) == (("head", 1), ("feature", 2))
    assert next(axis.coordinates for axis in PASS.axes("w_o_2")) == (("head", 2), ("feature", 2))


def test_a_key_hidden_in_the_mask_is_hidden_in_all_layers():
    hidden = PASS.with_change("mask", (3, 1), 0)
    assert [hidden[name].value[0, 3, 1] for name in ("attention_1", "attention_2")] == [0, 0]


def test_a_score_is_hidden_by_hand_in_one_layer():
    hidden = PASS.with_change("masked_2", (1, 3, 1), -math.inf)
    assert hidden["attention_2"].value[1, 3, 1] == 0
    assert hidden["attention_1"] is PASS["attention_1"]
    with pytest.raises(ChangeError, match="hides a key"):
        PASS.with_change("scores_2", (0, 1, 1), -math.inf)


@pytest.mark.parametrize("place", [0, 6])
def test_a_selection_keeps_its_answer(place):
    selection = Selection(0, 1, 2, 0, 3, place)
    assert Selection.parse(str(selection)) == selection
    assert str(selection).count(".") == 4 + (place > 0)
    assert PASS.cell_at("logits", selection).index == (1, place)


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


def test_every_initialiser_has_a_digest():
    assert DIGESTS.keys() == INITIALISERS.keys()


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


def test_a_window_on_both_sides_leaves_every_key_to_a_global_layer():
    trace = trace_of(Settings(SENTENCE, layers=2, mask="window", window_in="every second layer"))
    assert [int(trace[f"mask_{layer}"].value.sum()) for layer in (1, 2)] == [7 + 2 * 6, 7 * 7]


@pytest.mark.parametrize("window_in", GLOBAL)
def test_global_layers_turn_by_a_base_of_their_own_and_each_says_both(window_in):
    picked = {"layers": 6, "mask": "causal window", "mask_size": 2, "window_in": window_in, "rope": "halves"}
    trace = trace_of(Settings(SENTENCE, d_model=16, **picked, rope_base="100", rope_base_global="1000000"))
    bases = {number: 1_000_000 if GLOBAL[window_in](number) else 100 for number in range(1, 7)}
    steps = {step.id: "".join(run[1] for run in step.text) for step in steps_of(trace) if "rotation" in step.id}
    for number, layer in enumerate(trace.layers, start=1):
        base, rotated = bases[number], layer.trace["q_rotated"]
        turned = Rotation(float(base), "halves", 8).compute(layer.trace["q"].value)
        np.testing.assert_array_equal(rotated.value, turned)
        said = steps[f"rotation-{number}"]
        others = [str(each) for each in bases if bases[each] != base]
        where = f"layers {', '.join(others[:-1])} and {others[-1]}" if len(others) > 1 else "layer 6"
        there = f" here, and {100 if base > 100 else '1,000,000'} in {where}" if others else ""
        assert f"as the base is {base:,}{there}." in said


def test_without_a_global_layer_its_base_changes_nothing():
    for more in ({"mask": "causal"}, {"mask": "window", "layers": 5, "window_in": "all but every sixth layer"}):
        picked = {"layers": 2, "rope": "halves", **more}
        one, other = (trace_of(Settings(SENTENCE, **picked, rope_base_global=base)) for base in ("same", "10"))
        np.testing.assert_array_equal(one.output.value, other.output.value)


@pytest.mark.parametrize(
    ("layers", "size", "window_in", "reached"),
    [(1, 3, "every layer", 3), (2, 3, "every layer", 5), (5, 2, "every layer", 6), (2, 2, "every second layer", 7)],
)
def test_windows_reach_as_far_as_they_do_together_and_a_global_layer_to_the_first_word(
    layers, size, window_in, reached
):
    """Layers of w keys reach back to L (w - 1) + 1 of them (Jiang et al. 2023, section 2)."""
    picked = {"layers": layers, "mask": "causal window", "mask_size": size, "window_in": window_in}
    trace = trace_of(Settings(SENTENCE, **picked))
    moves = np.abs(gradients(trace, trace.output.name, (6, 0))["x"]).sum(axis=1) > 0
    assert [*moves] == [word >= 7 - reached for word in range(7)]
