"""Gradients: against central differences through what-if, against torch, and laws."""

import functools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from cases import spread
from passes import ALL_SET

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.analysis.gradients import gradients
from attnviz.core.arrays import Numbers
from attnviz.core.assembly import Builder
from attnviz.core.changes import Change
from attnviz.core.errors import ArrayError
from attnviz.core.operations.activations import GELU
from attnviz.core.operations.linear import Addition, DotProducts
from attnviz.core.operations.norms import LayerNorm
from attnviz.core.operations.rotation import Rotation
from attnviz.core.parameters import split_heads
from attnviz.core.stage import Stage
from attnviz.core.trace import Trace
from attnviz.explain.change_sentences import steepest as caption

STEP = 1e-5


@functools.cache
def passes():
    """Small passes that use every operation; 3 queries, 4 or 3 keys, sizes otherwise distinct primes."""
    draw = np.random.default_rng(11).standard_normal
    w = {"w_q": draw((2, 5, 3)), "w_k": draw((2, 5, 3)), "w_v": draw((2, 5, 2)), "w_o": draw((4, 7))}
    b = {"b_q": draw((2, 3)), "b_k": draw((2, 3)), "b_v": draw((2, 2)), "b_o": draw(7)}
    x, context = draw((3, 5)), draw((4, 5))
    per_head = np.array([[[1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 0, 1]], [[1, 1, 1, 1], [0, 1, 0, 0], [1, 0, 0, 1]]], bool)
    mlp = {"w_hidden": draw((5, 7)), "w_mlp": draw((7, 5))}
    block = {**w, "w_o": draw((4, 5)), **mlp}
    biased = {name: draw(5) for name in ("g_attn_norm", "b_attn_norm", "g_mlp_norm", "b_mlp")} | {"b_hidden": draw(7)}
    as_computed = {
        "cross-attention, biases, a mask for each head, a blind query": attend(
            x, context, parameters=Parameters(**w, **b), mask=per_head
        ),
        "words, all options set": trace_of(Settings("the cat", "le", d_model=4, **ALL_SET)),
        "two layers on a residual stream, and answers": attend(
            x,
            parameters=[Parameters(**{**w, "w_o": 0.2 * draw((4, 5))}) for _ in range(2)],
            mask=np.tri(3, dtype=bool),
            residual=True,
            w_u=draw((5, 2)),
        ),
        "a block of GPT-2": attend(
            x, parameters=Parameters(**block, **biased), residual=True, norm=LayerNorm(), activation=GELU(tanh=True)
        ),
        "a layer of 2025": attend(
            x,
            parameters=Parameters(
                **{"w_q": draw((4, 5, 6)), "w_k": draw((2, 5, 6)), "w_v": draw((2, 5, 2)), "b_v": draw((2, 2))},
                **{"g_q_norm": draw(6), "g_k_norm": draw(6), "sinks": draw(4), "g_attn_norm": draw(5)},
            ),
            mask=np.tri(3, k=-1, dtype=bool),
            norm="rmsnorm",
            qk_norm=True,
            rotation=Rotation(9.0, "halves", 2),
            softcap=1.5,
            alibi=True,
        ),
        **{
            f"latents, absorbed: {absorbed}, of queries too: {'w_dq' in more}": attend(
                x,
                parameters=Parameters(
                    **{"w_dkv": draw((1, 5, 7)), "w_uk": draw((2, 7, 3)), "w_uv": draw((2, 7, 2))},
                    **{"w_kr": draw((1, 5, 2)), "g_latent": draw(7)},
                    **more,
                ),
                rotation=Rotation(9.0),
                mask=np.tri(3, dtype=bool),
                absorbed=absorbed,
            )
            for absorbed in (False, True)
            for more in (
                {"w_q": draw((2, 5, 3)), "w_qr": draw((2, 5, 2))},
                {**{"w_dq": draw((5, 4)), "g_q_latent": draw(4), "w_uq": draw((2, 4, 3))}, "w_qr": draw((2, 4, 2))},
            )
        },
    }
    return (
        as_computed
        | {f"{kind}, set by hand in every stage": by_hand(each) for kind, each in as_computed.items()}
        | {
            "a row of scores set by hand": attend(x, parameters=Parameters(**w)).with_change("scores", (1, 2), 0.5),
            "a hidden key shown by hand": attend(x, context, parameters=Parameters(**w), mask=per_head).with_change(
                "masked", (0, 1, 2), 0.25
            ),
            "a key hidden by hand": attend(x, context, parameters=Parameters(**w, **b)).with_change(
                "masked", (1, 2, 0), -math.inf
            ),
        }
    )


def by_hand(trace):
    """The first and the last cell of every stage set by hand; a hidden key is shown, or gets a share of attention."""
    changes = [
        Change(stage.name, index, stage.value[index] + 0.5 if np.isfinite(stage.value[index]) else 0.5)
        for stage in trace.stages
        if stage.value.dtype != bool
        for index in ((0,) * stage.value.ndim, tuple(n - 1 for n in stage.shape))
    ]
    return trace.with_changes(*changes)


def moved_by(trace, name, index, targets):
    """What a small step of one number does to a cell of each stage: central differences, as fractions of the step."""
    at = trace[name].value[index]
    low, high = trace.with_change(name, index, at - STEP), trace.with_change(name, index, at + STEP)
    ends = {each: [float(trace[each].value[target]) for trace in (low, high)] for each, target in targets.items()}
    return {each: 0.0 if one == other else (other - one) / (2 * STEP) for each, (one, other) in ends.items()}


def middle(stage):
    return tuple(n // 2 for n in stage.shape)


@pytest.mark.parametrize("kind", passes())
def test_gradients_are_central_differences(kind):
    """One cell of every stage, with respect to cells of every stage (any that can be moved by a step)."""
    trace = passes()[kind]
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
    recorded = {
        name: np.array(numbers)
        for name, numbers in json.loads((Path(__file__).parents[1] / "data" / "gradients.json").read_text()).items()
    }

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


@pytest.fixture
def trace():
    return trace_of(Settings("the cat sat on the mat", mask="causal"))


def test_gradients_reach_the_cells_sources(trace):
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
        build.give(Stage.given(name, Numbers.of(numbers), ("head", rows, "d_k")))
    build.give(Stage.given("mask", Numbers.of(np.array([[0.0, 9.0], [0.0, 0.0]])), ("query", "key")))
    scores = build.apply("scores", DotProducts(), build["q"], build["k"])
    build.apply("masked", Addition(hides=True), scores, build["mask"])
    trace = Trace(tuple(build.stages.values()), {"query": ("a", "b"), "key": ("a", "b")})
    # the score of "a" with "b" has a slope of 1 along the mask, of |k| = 0.5 along q, and of |q| = 0.22 along k
    found = gradients(trace, "masked", (1, 0, 1))
    assert found["mask"].sum() == 1
    assert caption(trace, "masked", (1, 0, 1), found) == (
        "masked[head 2, a, b] moves most with the query “a” (slope 0.5000)."
    )
