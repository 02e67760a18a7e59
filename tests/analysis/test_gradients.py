"""Gradients: against central differences through what-if, against torch, and laws."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from cases import spread
from operationcases import OPERATIONS
from passes import TRACES

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.analysis.provenance import gradients
from attnviz.core.arrays import Numbers
from attnviz.core.assembly import Builder
from attnviz.core.changes import Change
from attnviz.core.errors import ArrayError
from attnviz.core.operations.linear import Addition, DotProducts
from attnviz.core.parameters import split_heads
from attnviz.core.stage import Stage
from attnviz.core.trace import Trace
from attnviz.explain.change_sentences import steepest as caption

STEP = 1e-5


def by_hand(trace):
    """The first and the last cell of every stage set by hand; a hidden key is shown, or gets a share of attention."""
    changes = [
        Change(stage.name, index, stage.value[index] + 0.5 if np.isfinite(stage.value[index]) else 0.5)
        for stage in trace.stages
        if stage.value.dtype != bool
        for index in ((0,) * stage.value.ndim, tuple(n - 1 for n in stage.shape))
    ]
    return trace.with_changes(*changes)


KINDS = [
    *("context", "bias", "a head's mask", "all options set", "two layers that learnt", "two blocks with biases"),
    *("a block", "a layer of 2025", "by blocks beside sinks", "softmax plus one, unseeing", "002 sum"),
    *("latents made into keys, with rope", "latents absorbed, with rope", "queries from a latent, made into keys"),
    "an encoder and a decoder",
]
PASSES = {name: TRACES[name] for name in KINDS}
PASSES |= {f"{name}, set by hand in every stage": by_hand(trace) for name, trace in PASSES.items()}
PASSES |= {
    "a row of scores set by hand": TRACES["context"].with_change("scores", (1, 1), 0.5),
    "a hidden key shown by hand": TRACES["causal"].with_change("masked", (0, 1, 2), 0.25),
    "a key hidden by hand": TRACES["bias"].with_change("masked", (1, 2, 0), -math.inf),
}


def moved_by(trace, name, index, targets):
    """What a small step of one number does to a cell of each stage: central differences, as fractions of the step."""
    at = trace[name].value[index]
    low, high = trace.with_change(name, index, at - STEP), trace.with_change(name, index, at + STEP)
    ends = {each: [float(trace[each].value[target]) for trace in (low, high)] for each, target in targets.items()}
    return {each: 0.0 if one == other else (other - one) / (2 * STEP) for each, (one, other) in ends.items()}


def middle(stage):
    return tuple(n // 2 for n in stage.shape)


def test_passes_use_every_operation():
    assert {type(stage.operation) for trace in PASSES.values() for stage in trace.stages} >= OPERATIONS


@pytest.mark.parametrize("kind", PASSES)
def test_gradients_are_central_differences(kind):
    """One cell of every stage, with respect to cells of every stage (any that can be moved by a step)."""
    trace = PASSES[kind]
    targets = {stage.name: middle(stage) for stage in trace.stages if stage.value.dtype != bool}
    found = {name: gradients(trace, name, index) for name, index in targets.items()}
    for source in targets:
        for index in spread(trace[source].shape, 3):
            if not np.isfinite(trace[source].value[index]):
                assert all(not g[source][index] for n, g in found.items() if n != source and source in g)
                continue
            for name, moved in moved_by(trace, source, index, targets).items():
                derivative = found[name][source][index] if source in found[name] else 0.0
                assert math.isclose(derivative, moved, rel_tol=1e-7, abs_tol=1e-8), (name, source, index)


def test_hidden_key_has_no_gradient():
    trace = trace_of(Settings("the cat sat", mask="causal")).with_change("attention", (0, 0, 2), 0.5)
    found = gradients(trace, "output", (0, 0))
    assert found["attention"][0, 0, 2] != 0
    hidden = np.isneginf(trace["masked"].value)
    assert not found["masked"][hidden].any()
    assert not found["scaled"][hidden].any()


def test_overflowing_gradients_are_refused():
    trace = trace_of(Settings("the cat sat")).with_changes(
        Change("v", (0, 0, 0), 1.7e308), Change("w_o", (0, 0), 3.0), Change("scaled", (0, 0), -20.0)
    )
    with pytest.raises(ArrayError, match=r"slopes of output\[the, 1\] .* beyond float64"):
        gradients(trace, "output", (0, 0))


def test_gradients_equal_torch():
    """See data/README-gradients.md for how they were recorded."""
    text = (Path(__file__).parents[1] / "data" / "gradients.json").read_text("utf-8")
    recorded = {name: np.array(numbers) for name, numbers in json.loads(text).items()}

    def filled(shift, *shape):
        return np.array([math.sin(0.7 * n + shift) for n in range(math.prod(shape))]).reshape(shape)

    w_q, w_k, w_v = (split_heads(rows.T, 2) for rows in np.split(filled(1, 18, 6), 3))
    b_q, b_k, b_v = filled(2, 3, 2, 3)
    visible = np.ones((5, 7), dtype=bool)
    visible[2, 1:] = False
    visible[:, 3] = False
    parameters = Parameters(
        w_q=w_q, w_k=w_k, w_v=w_v, w_o=filled(3, 6, 6).T, b_q=b_q, b_k=b_k, b_v=b_v, b_o=filled(4, 6)
    )
    trace = attend(filled(5, 5, 6), filled(6, 7, 6), parameters=parameters, mask=visible)
    np.testing.assert_allclose(trace["output"].value, recorded["output"], rtol=1e-13, atol=1e-14)

    first, second = gradients(trace, "output", (4, 1)), gradients(trace, "output", (2, 5))
    ours = {name: first[name] + second[name] for name in first if name != "output"}
    assert same(ours["x"], recorded["x"])
    assert same(ours["context"], recorded["context"])
    for letter, rows, biases in zip(
        "qkv", np.split(recorded["in_proj_weight"], 3), np.split(recorded["in_proj_bias"], 3), strict=True
    ):
        assert same(ours[f"w_{letter}"], split_heads(rows.T, 2)), letter
        assert same(ours[f"b_{letter}"], biases.reshape(2, 3)), letter
    assert same(ours["w_o"], recorded["out_proj_weight"].T)
    assert same(ours["b_o"], recorded["out_proj_bias"])


def same(ours, theirs):
    return ours.shape == theirs.shape and np.allclose(ours, theirs, rtol=1e-12, atol=1e-14)


def test_gradients_reach_the_cells_sources():
    trace = trace_of(Settings("the cat sat on the mat", mask="causal"))
    assert list(gradients(trace, "k", (0, 1, 2))) == ["embeddings", "x", "w_k", "k"]
    found = gradients(trace, "output", (2, 1))
    assert "contributions" not in found
    assert "mask" not in found
    assert all(found[name].shape == trace[name].shape for name in found)
    assert found["output"].sum() == found["output"][2, 1] == 1


def test_caption_names_steepest_word_and_parameter():
    # a query of zeros attends to both words alike, so the output is half of each word, times w_o
    x = np.array([[0.0, 0.0], [1.0, 0.0]])
    w_v = np.array([[[1.0, 0.0], [0.0, 1.0]]])
    trace = attend(x, parameters=Parameters(w_q=np.zeros((1, 2, 2)), w_k=w_v, w_v=w_v, w_o=np.array([[4.0], [3.0]])))
    trace = trace.labelled(token=("one", "two"), query=("one", "two"), key=("one", "two"))
    # w_v[1, 1] is multiplied by the mean of x, 0.5, and by w_o, 4
    assert caption(trace, "output", (0, 0), gradients(trace, "output", (0, 0))) == (
        "output[one, 1] moves most with the word “one” (slope 2.5000) and with the parameter "
        "w_v[head 1, 1, 1] (slope 2.0000)."
    )
    bare = attend(x, x[::-1].copy(), parameters=Parameters(), mask=np.array([[True, False], [False, False]]))
    assert caption(bare, "concat", (0, 0), gradients(bare, "concat", (0, 0))) == (
        "concat[1, 1] moves most with the context word “1” (slope 1.0000)."
    )
    assert caption(bare, "concat", (1, 0), gradients(bare, "concat", (1, 0))) == (
        "No word and no parameter moves concat[2, 1]."
    )
    given = gradients(bare, "x", (1, 0))
    assert caption(bare, "x", (1, 0), given) == "No word and no parameter moves x[2, 1]."


def test_caption_counts_given_keys_not_masks():
    numbers = np.array([[[9.0, 9.0], [9.0, 9.0]], [[0.1, 0.2], [0.4, 0.3]]])  # the second head is asked for
    build = Builder()
    for name, rows in (("q", "query"), ("k", "key"), ("v", "key")):
        build.add_given(Stage.given(name, Numbers.of(numbers), ("head", rows, "d_k")))
    build.add_given(Stage.given("mask", Numbers.of(np.array([[0.0, 9.0], [0.0, 0.0]])), ("query", "key")))
    scores = build.add_computed("scores", DotProducts(), build["q"], build["k"])
    build.add_computed("masked", Addition(hides=True), scores, build["mask"])
    trace = Trace(tuple(build.stages.values()), {"query": ("a", "b"), "key": ("a", "b")})
    # the score of "a" with "b" has a slope of 1 along the mask, of |k| = 0.5 along q, and of |q| = 0.22 along k
    found = gradients(trace, "masked", (1, 0, 1))
    assert found["mask"].sum() == 1
    assert caption(trace, "masked", (1, 0, 1), found) == (
        "masked[head 2, a, b] moves most with the query “a” (slope 0.5000)."
    )
