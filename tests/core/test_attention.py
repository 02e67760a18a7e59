"""Attention: its laws, probes seen without computing, a slow loop from the paper, and arrays that do not fit."""

import itertools
import json
import math
import re

import numpy as np
import pytest
from masking import fully_masked
from page import ROOT

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.core.changes import Change
from attnviz.core.errors import ArrayError
from attnviz.core.initialisers import INITIALISERS, embed, sinusoidal
from attnviz.core.operations.norms import LayerNorm, RMSNorm
from attnviz.core.operations.scores import Scale
from attnviz.core.operations.softmax import SumNormalise

NONE = Parameters()
SENTENCE = "the cat sat on the mat"


def array(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.RandomState(seed).standard_normal(shape)


def drawn(n_heads: int = 2, d_in: int = 5, d_k: int = 3, d_v: int = 4, d_out: int = 7) -> Parameters:
    return Parameters(
        w_q=array(n_heads, d_in, d_k, seed=1),
        w_k=array(n_heads, d_in, d_k, seed=2),
        w_v=array(n_heads, d_in, d_v, seed=3),
        w_o=array(n_heads * d_v, d_out, seed=4),
        b_q=array(n_heads, d_k, seed=5),
        b_o=array(d_out, seed=6),
    )


def close(a: np.ndarray, b: np.ndarray) -> None:
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)


@pytest.mark.parametrize("keys", [[1000.0, 999.0], [1.0, 0.0], [-999.0, -1000.0]])
def test_large_scores_do_not_overflow(keys):
    trace = attend(np.ones((1, 1)), np.array(keys)[:, None], parameters=NONE)
    close(trace["attention"].value, [[[math.e / (math.e + 1), 1 / (math.e + 1)]]])


def test_numpy_warnings_are_errors():
    """Keeps the filter in pyproject.toml honest: no test here could pass with a warning."""
    with pytest.raises(RuntimeWarning, match="overflow"):
        Scale(1, factor=1e308).compute(np.array([1e308]))


def test_shifting_scores_changes_nothing():
    plain = attend(array(6, 5), parameters=drawn())
    shifted = attend(array(6, 5), parameters=drawn(), mask=np.tile([[-50.0], [0], [1], [9], [99], [999]], 6))
    close(shifted["attention"].value, plain["attention"].value)
    close(shifted["output"].value, plain["output"].value)


def test_mask_of_log_2_doubles_the_odds():
    mask = np.zeros((3, 3))
    mask[:, 0] = math.log(2)
    plain = attend(array(3, 5), parameters=drawn())["attention"].value
    doubled = attend(array(3, 5), parameters=drawn(), mask=mask)["attention"].value
    close(doubled[..., 0] / doubled[..., 1], 2 * plain[..., 0] / plain[..., 1])


def test_mask_of_0_and_inf_is_boolean():
    visible = np.tri(6) > 0
    selected = attend(array(6, 5), parameters=drawn(), mask=visible)
    added = attend(array(6, 5), parameters=drawn(), mask=np.where(visible, 0, -np.inf).astype(np.float32))
    assert np.array_equal(selected["output"].value, added["output"].value)


@pytest.mark.parametrize("mask", [None, np.ones((3, 3), dtype=bool), np.tri(3, dtype=bool), np.zeros((3, 3))])
def test_default_mask_hides_nothing(mask):
    stage = attend(np.eye(3), parameters=Parameters(), mask=mask)["mask"]
    assert stage.operation.recipe == ("no mask: every key is visible" if mask is None else "given")
    assert mask is not None or stage.value.all()


def test_causal_mask_ignores_later_words():
    whole = trace_of(Settings(SENTENCE, mask="causal", positions="sinusoidal"))["output"].value
    close(trace_of(Settings("the cat sat", mask="causal", positions="sinusoidal"))["output"].value, whole[:3])


@pytest.mark.parametrize("hide", [False, -np.inf])
def test_hidden_key_changes_nothing(hide):
    context, other = array(4, 5), array(4, 5)
    other[2] = 1e9
    mask = np.full((3, 4), not hide if hide is False else 0.0)
    mask[:, 2] = hide
    one, two = (attend(array(3, 5, seed=9), each, parameters=drawn(), mask=mask) for each in (context, other))
    assert not np.array_equal(one["scores"].value, two["scores"].value)
    assert np.array_equal(one["output"].value, two["output"].value)


def test_permuting_words_permutes_the_output():
    order = [5, 3, 1, 0, 4, 2]
    words = SENTENCE.split()
    permuted = " ".join(words[i] for i in order)
    plain, other = (trace_of(Settings(sentence)) for sentence in (SENTENCE, permuted))
    close(other["output"].value, plain["output"].value[order])
    close(other["attention"].value, plain["attention"].value[:, order][:, :, order])
    plain, other = (trace_of(Settings(sentence, positions="sinusoidal")) for sentence in (SENTENCE, permuted))
    assert np.abs(other["output"].value - plain["output"].value[order]).max() > 0.01


@pytest.mark.parametrize("hide", [False, -np.inf])
def test_query_without_keys_gets_zeros(hide):
    mask = np.full((2, 6, 6), not hide if hide is False else 0.0)
    mask[1, 3] = mask[:, 5] = mask[0, 0, 1] = hide
    trace = attend(array(6, 5), parameters=drawn(), mask=mask)
    assert fully_masked(trace) == ((0, 5), (1, 3), (1, 5))
    assert (trace["attention"].value[[0, 1, 1], [5, 3, 5]] == 0).all()
    assert (trace["heads"].value[[0, 1, 1], [5, 3, 5]] == 0).all()
    assert trace["output"].value[5].tolist() == drawn().b_o.tolist()
    assert (trace["masked"].value[1, 3] == -np.inf).all()
    close(trace["attention"].value.sum(axis=-1), [[1, 1, 1, 1, 1, 0], [1, 1, 1, 0, 1, 0]])
    assert fully_masked(attend(array(6, 5), parameters=drawn())) == ()


def test_scale_0_gives_even_weights():
    trace = attend(array(3, 5), parameters=drawn(), scale=0, mask=np.tri(3, dtype=bool))
    assert not trace["scaled"].value.any()
    close(trace["attention"].value, np.broadcast_to(np.tri(3) / [[1], [2], [3]], (2, 3, 3)))
    assert trace.terms("scaled", (0, 1, 1)).total == 0
    assert trace["scaled"].operation.latex("Z", "S") == r"Z = 0 \cdot S"
    assert trace.lines("scaled") == ("scaled = scores * 0.0",)


def test_equal_scores_get_equal_weights():
    trace = attend(np.ones((4, 2)), parameters=Parameters(), mask=np.tri(4, dtype=bool))
    close(trace["attention"].value[0], np.tri(4) / np.arange(1, 5)[:, None])
    even = trace.with_change("masked", (0, 3), 800.0).with_change("masked", (0, 3, 1), 0.0)
    close(even["attention"].value[0, 3], [1 / 3, 0, 1 / 3, 1 / 3])
    assert [even.terms("attention", (0, 3, key)).total for key in (0, 2, 3)] == [1 / 3] * 3


@pytest.mark.parametrize("row", [[1, 1e16, -1e16, -1], [1, -1, 0, 0], [1e-300, 1, -1, 1e-17], [1.7e308, 1.7e308, 0, 0]])
def test_row_sum_of_0_is_refused(row):
    """Exactly they add up to 0, 0, about 1e-17 and more than the largest float."""
    trace = attend(np.ones((1, 1)), np.ones((4, 1)), parameters=Parameters(), normalise=SumNormalise)
    with pytest.raises(ArrayError, match="add up to a finite number other than 0"):
        trace.with_changes(*(Change("masked", (0, 0, key), number) for key, number in enumerate(row)))


@pytest.mark.parametrize(
    ("positions", "scaled", "context"),
    list(itertools.product(["none", "sinusoidal"], [True, False], [None, "a dog ran"])),
)
def test_trace_of_equals_attend(positions, scaled, context):
    settings = Settings(
        "the cat", context, d_model=6, n_heads=3, seed=5, initialiser="xavier", mask="window", mask_size=0
    )
    settings = Settings(**{**vars(settings), "positions": positions, "scaled": scaled})
    trace = trace_of(settings)

    def entering(words):
        return embed(words, 6, seed=5) + (sinusoidal(len(words), 6) if positions == "sinusoidal" else 0)

    n_keys = 2 if context is None else 3
    wanted = attend(
        entering(["the", "cat"]),
        None if context is None else entering(["a", "dog", "ran"]),
        parameters=INITIALISERS["xavier"](6, 3, 5),
        mask=np.eye(2, n_keys) > 0,
        scale=None if scaled else 1,
    )
    for stage in wanted.stages:
        assert np.array_equal(trace[stage.name].value, stage.value), stage.name
        assert trace[stage.name].axes == stage.axes


HEADS, QUERIES, KEYS, D_K, D_V, D_IN, D_CONTEXT, D_OUT = 2, 3, 5, 7, 11, 13, 17, 19
SHAPES = {
    "x": (QUERIES, D_IN),
    "context": (KEYS, D_CONTEXT),
    "w_q": (HEADS, D_IN, D_K),
    "w_k": (HEADS, D_CONTEXT, D_K),
    "w_v": (HEADS, D_CONTEXT, D_V),
    "w_o": (HEADS * D_V, D_OUT),
    "b_q": (HEADS, D_K),
    "b_k": (HEADS, D_K),
    "b_v": (HEADS, D_V),
    "b_o": (D_OUT,),
}


def slow_output(x, context, w_q, w_k, w_v, w_o, b_q, b_k, b_v, b_o, sees, factor):
    """Lists in, lists out; `sees(head, query, key)` says what is visible. Returns attention and output."""
    attention = [[[0.0] * KEYS for _ in range(QUERIES)] for _ in range(HEADS)]
    output = [[b_o[column] for column in range(D_OUT)] for _ in range(QUERIES)]
    for head in range(HEADS):
        for query in range(QUERIES):
            exponentials = {}
            for key in range(KEYS):
                if not sees(head, query, key):
                    continue
                score = 0.0
                for feature in range(D_K):
                    asked = b_q[head][feature]
                    for i in range(D_IN):
                        asked += x[query][i] * w_q[head][i][feature]
                    offered = b_k[head][feature]
                    for i in range(D_CONTEXT):
                        offered += context[key][i] * w_k[head][i][feature]
                    score += asked * offered
                exponentials[key] = math.exp(score * factor)
            for key, exponential in exponentials.items():
                attention[head][query][key] = exponential / sum(exponentials.values())
            for feature in range(D_V):
                mixed = 0.0
                for key in range(KEYS):
                    value = b_v[head][feature]
                    for i in range(D_CONTEXT):
                        value += context[key][i] * w_v[head][i][feature]
                    mixed += attention[head][query][key] * value
                for column in range(D_OUT):
                    output[query][column] += mixed * w_o[head * D_V + feature][column]
    return attention, output


@pytest.mark.parametrize("scale", [None, 1.0, 0.3])
@pytest.mark.parametrize(
    "sees",
    [
        lambda head, query, key: True,
        lambda head, query, key: key <= query,
        lambda head, query, key: (head + 2 * query + key) % 3 != 0,
        lambda head, query, key: query != 1,
    ],
    ids=["all", "causal", "per head", "a blind query"],
)
def test_pass_equals_a_slow_loop(sees, scale):
    random = np.random.RandomState(0)
    given = {name: random.standard_normal(shape) / 3 for name, shape in SHAPES.items()}
    mask = np.array([[[sees(h, q, k) for k in range(KEYS)] for q in range(QUERIES)] for h in range(HEADS)])
    parameters = Parameters(**{name: given[name] for name in SHAPES if name not in ("x", "context")})
    trace = attend(given["x"], given["context"], parameters=parameters, mask=mask, scale=scale)

    lists = {name: array.tolist() for name, array in given.items()}
    attention, output = slow_output(**lists, sees=sees, factor=1 / math.sqrt(D_K) if scale is None else scale)
    np.testing.assert_allclose(trace["attention"].value, attention, rtol=0, atol=1e-13)
    np.testing.assert_allclose(trace["output"].value, output, rtol=0, atol=1e-13)


FITTING = {
    "w_q": np.ones((2, 5, 3)),
    "w_k": np.ones((2, 7, 3)),
    "w_v": np.ones((2, 7, 4)),
    "w_o": np.ones((8, 6)),
    "b_q": np.ones((2, 3)),
    "b_k": np.ones((2, 3)),
    "b_v": np.ones((2, 4)),
    "b_o": np.ones(6),
}
RAGGED = [[1.0], [1.0, 2.0]]


def attending(x=np.ones((3, 5)), context=np.ones((4, 7)), mask=None, scale=None, **changed):  # noqa: B008
    return attend(x, context, parameters=Parameters(**{**FITTING, **changed}), mask=mask, scale=scale)


WRONG_SHAPES = json.loads((ROOT / "tests/data/wrong_shapes.json").read_text("utf-8"))
"""An argument, its shape, and what the error says."""


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        *(({name: np.ones(shape)}, says) for name, shape, says in WRONG_SHAPES),
        ({"x": "cat"}, ["x must be an array of", "got str"]),
        ({"x": [[10**400]]}, ["x must be an array of", "got list"]),
        ({"x": np.ones((3, 5)) * 1j}, ["x must be an array of", "got ndarray"]),
        ({"x": np.full((3, 5), np.nan)}, ["x must hold finite numbers", "got 15 that are not"]),
        ({"x": np.array([[np.inf, 0, 0, 0, 0]])}, ["x must hold finite numbers", "got 1 that are not"]),
        ({"w_v": np.full((2, 7, 4), -np.inf)}, ["w_v must hold finite numbers", "got 56 that are not"]),
        ({"w_k": np.ones((2, 7, 4)), "b_k": None}, ["same length d_k", "got q (2, 3, 3) and k (2, 4, 4)", "Check w_q"]),
        ({"w_o": None}, ["b_o is added after a projection; got no w_o. Give both or neither."]),
        ({"scale": np.nan}, ["scale must be a finite number, such as 0.125; got nan"]),
        ({"scale": "half"}, ["scale must be one number, such as 0.125; got 'half'"]),
        ({"mask": np.ones((4, 3), bool)}, ["keys) = (3, 4)", "(heads, queries, keys) = (2, 3, 4)", "got (4, 3)"]),
        ({"mask": np.ones((3, 3, 4), bool)}, ["mask must have the shape", "got (3, 3, 4)"]),
        ({"mask": np.ones((3, 4), int)}, ["boolean (True is visible) or float", "got int64. Write mask.astype(bool)"]),
        ({"mask": np.full((3, 4), "x")}, ["mask must be boolean (True is visible) or float", "got <U1"]),
        ({"mask": RAGGED}, ["mask must", "got list"]),
        ({"mask": np.full((3, 4), np.nan)}, ["A float mask may hold finite numbers and -inf; got NaN or inf."]),
        ({"mask": np.full((3, 4), np.inf)}, ["A float mask may hold finite numbers and -inf; got NaN or inf."]),
    ],
)
def test_wrong_shape_is_named(wrong, says):
    with pytest.raises(ArrayError) as error:
        attending(**wrong)
    for part in says:
        assert part in str(error.value)


@pytest.mark.parametrize(
    ("wrong", "stage"),
    [
        ({"w_q": np.full((2, 5, 3), 1e308)}, "q"),
        ({"w_k": np.full((2, 7, 3), -1e308)}, "k"),  # a -inf that nobody's mask made
        ({"w_q": np.full((2, 5, 3), 1e200), "w_k": np.full((2, 7, 3), -1e200)}, "scores"),
        ({"w_q": np.full((2, 5, 3), 1e100), "scale": 1e300}, "scaled"),
        ({"w_v": np.full((2, 7, 4), 1e307), "w_o": np.full((8, 6), 1e10)}, "contributions"),
    ],
)
def test_overflow_is_refused_by_its_stage(wrong, stage):
    with pytest.raises(ArrayError, match=re.escape(f"{stage} holds numbers beyond float64 (1.8e308)")):
        attending(**wrong)


@pytest.mark.parametrize("norm", [RMSNorm, LayerNorm])
@pytest.mark.parametrize("epsilon", [0.0, -1e-5, float("nan"), float("inf"), "1e-5", None])
def test_epsilon_must_be_positive(norm, epsilon):
    with pytest.raises(ArrayError, match="epsilon must be a finite number above 0"):
        norm(epsilon)
