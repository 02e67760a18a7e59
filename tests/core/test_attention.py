"""Attention: its laws, probes whose answer can be seen without computing, and a slow loop written from the paper."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from masking import fully_masked

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.core.changes import Change
from attnviz.core.errors import ArrayError
from attnviz.core.initialisers import INITIALISERS, embed, sinusoidal
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


# Probes


def test_queries_and_keys_of_zeros_average_the_values():
    zeros = np.zeros((1, 1, 2))
    trace = attend(np.array([[0.0], [1.0], [2.0]]), parameters=Parameters(w_q=zeros, w_k=zeros))
    assert trace["attention"].value.tolist() == [[[1 / 3] * 3] * 3]
    assert trace["heads"].value.tolist() == [[[1.0]] * 3]


def test_one_head_of_identity_matrices_is_the_plain_formula():
    eye = np.eye(4)
    x = array(3, 4)
    trace = attend(x, parameters=Parameters(w_q=eye[None], w_k=eye[None], w_v=eye[None], w_o=eye))
    for query in range(3):
        exponentials = [math.exp(math.fsum(a * b for a, b in zip(x[query], key, strict=True)) / 2) for key in x]
        shares = [e / sum(exponentials) for e in exponentials]
        close(trace["attention"].value[0, query], shares)
        close(
            trace["output"].value[query],
            [math.fsum(s * v for s, v in zip(shares, x.T[i], strict=True)) for i in range(4)],
        )
    assert attend(x, parameters=NONE)["concat"].value.tolist() == trace["output"].value.tolist()


@pytest.mark.parametrize("keys", [[1000.0, 999.0], [1.0, 0.0], [-999.0, -1000.0]])
def test_large_scores_do_not_overflow(keys):
    trace = attend(np.ones((1, 1)), np.array(keys)[:, None], parameters=NONE)
    close(trace["attention"].value, [[[math.e / (math.e + 1), 1 / (math.e + 1)]]])


def test_numpy_warnings_are_errors():
    """Keeps the filter in pyproject.toml honest: no test here could pass with a warning."""
    with pytest.raises(RuntimeWarning, match="overflow"):
        Scale(1, factor=1e308).compute(np.array([1e308]))


def test_scores_are_divided_by_the_root_of_d_k():
    trace = attend(np.ones((1, 9)), parameters=NONE)
    assert (trace["scores"].value.item(), trace["scaled"].value.item()) == (9, 3)
    assert attend(np.ones((1, 9)), parameters=NONE, scale=0.5)["scaled"].value.item() == 4.5
    assert attend(np.ones((1, 9)), parameters=NONE, scale=1)["scaled"].value.item() == 9


# Laws


def test_rows_of_attention_sum_to_1():
    attention = attend(array(6, 5), parameters=drawn())["attention"].value
    assert (attention > 0).all()
    close(attention.sum(axis=-1), np.ones((2, 6)))


def test_shifting_a_row_of_scores_changes_nothing():
    plain = attend(array(6, 5), parameters=drawn())
    shifted = attend(array(6, 5), parameters=drawn(), mask=np.tile([[-50.0], [0], [1], [9], [99], [999]], 6))
    close(shifted["attention"].value, plain["attention"].value)
    close(shifted["output"].value, plain["output"].value)


def test_a_bias_of_the_keys_shifts_rows_and_so_changes_nothing():
    biased = replace(drawn(), b_k=array(2, 3))
    close(
        attend(array(6, 5), parameters=biased)["output"].value, attend(array(6, 5), parameters=drawn())["output"].value
    )


def test_a_float_mask_of_log_2_doubles_the_odds():
    mask = np.zeros((3, 3))
    mask[:, 0] = math.log(2)
    plain = attend(array(3, 5), parameters=drawn())["attention"].value
    doubled = attend(array(3, 5), parameters=drawn(), mask=mask)["attention"].value
    close(doubled[..., 0] / doubled[..., 1], 2 * plain[..., 0] / plain[..., 1])


def test_a_float_mask_of_0_and_inf_is_a_boolean_one():
    visible = np.tri(6) > 0
    selected = attend(array(6, 5), parameters=drawn(), mask=visible)
    added = attend(array(6, 5), parameters=drawn(), mask=np.where(visible, 0, -np.inf).astype(np.float32))
    assert np.array_equal(selected["output"].value, added["output"].value)


@pytest.mark.parametrize("mask", [None, np.ones((3, 3), dtype=bool), np.tri(3, dtype=bool), np.zeros((3, 3))])
def test_a_mask_that_nobody_gave_says_so_and_hides_nothing(mask):
    stage = attend(np.eye(3), parameters=Parameters(), mask=mask)["mask"]
    assert stage.operation.recipe == ("no mask: every key is visible" if mask is None else "given")
    assert mask is not None or stage.value.all()


def test_under_a_causal_mask_later_words_change_nothing():
    whole = trace_of(Settings(SENTENCE, mask="causal", positions="sinusoidal"))["output"].value
    close(trace_of(Settings("the cat sat", mask="causal", positions="sinusoidal"))["output"].value, whole[:3])


@pytest.mark.parametrize("hide", [False, -np.inf])
def test_a_hidden_key_changes_nothing_whatever_its_value(hide):
    context, other = array(4, 5), array(4, 5)
    other[2] = 1e9
    mask = np.full((3, 4), not hide if hide is False else 0.0)
    mask[:, 2] = hide
    one, two = (attend(array(3, 5, seed=9), each, parameters=drawn(), mask=mask) for each in (context, other))
    assert not np.array_equal(one["scores"].value, two["scores"].value)
    assert np.array_equal(one["output"].value, two["output"].value)


def test_permuting_the_words_permutes_the_output_unless_places_count():
    order = [5, 3, 1, 0, 4, 2]
    words = SENTENCE.split()
    permuted = " ".join(words[i] for i in order)
    plain, other = (trace_of(Settings(sentence)) for sentence in (SENTENCE, permuted))
    close(other["output"].value, plain["output"].value[order])
    close(other["attention"].value, plain["attention"].value[:, order][:, :, order])
    plain, other = (trace_of(Settings(sentence, positions="sinusoidal")) for sentence in (SENTENCE, permuted))
    assert np.abs(other["output"].value - plain["output"].value[order]).max() > 0.01


def test_permuting_the_keys_permutes_attention_and_keeps_the_output():
    order = [2, 0, 3, 1]
    plain = attend(array(3, 5), array(4, 5, seed=9), parameters=drawn())
    other = attend(array(3, 5), array(4, 5, seed=9)[order], parameters=drawn())
    close(other["attention"].value, plain["attention"].value[..., order])
    close(other["output"].value, plain["output"].value)


def test_every_key_twice_halves_attention_and_keeps_the_output():
    context = array(4, 5, seed=9)
    plain = attend(array(3, 5), context, parameters=drawn())
    twice = attend(array(3, 5), np.concatenate([context, context]), parameters=drawn())
    close(twice["attention"].value, np.tile(plain["attention"].value / 2, 2))
    close(twice["output"].value, plain["output"].value)


def test_heads_know_nothing_of_each_other():
    both = drawn(n_heads=2)
    trace = attend(array(6, 5), parameters=both)
    for head in (0, 1):
        own = {name: getattr(both, name)[head : head + 1] for name in ("w_q", "w_k", "w_v", "b_q")}
        alone = attend(array(6, 5), parameters=Parameters(**own))
        close(trace["concat"].value[:, 4 * head : 4 * head + 4], alone["concat"].value)


def test_contributions_and_the_bias_add_up_to_the_output():
    trace = attend(array(6, 5), parameters=drawn())
    close(trace["contributions"].value.sum(axis=0) + drawn().b_o, trace["output"].value)
    assert attend(array(6, 5), parameters=NONE).output.name == "concat"


# Queries that see no key


@pytest.mark.parametrize("hide", [False, -np.inf])
def test_a_query_that_sees_no_key_gets_zeros_and_is_listed(hide):
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


def test_a_scale_of_0_leaves_every_key_an_even_share():
    trace = attend(array(3, 5), parameters=drawn(), scale=0, mask=np.tri(3, dtype=bool))
    assert not trace["scaled"].value.any()
    close(trace["attention"].value, np.broadcast_to(np.tri(3) / [[1], [2], [3]], (2, 3, 3)))
    assert trace.terms("scaled", (0, 1, 1)).total == 0
    assert trace["scaled"].operation.latex("Z", "S") == r"Z = 0 \cdot S"
    assert trace.lines("scaled") == ("scaled = scores * 0.0",)


def test_keys_with_equally_large_scores_share_alike():
    trace = attend(np.ones((4, 2)), parameters=Parameters(), mask=np.tri(4, dtype=bool))
    close(trace["attention"].value[0], np.tri(4) / np.arange(1, 5)[:, None])
    even = trace.with_change("masked", (0, 3), 800.0).with_change("masked", (0, 3, 1), 0.0)
    close(even["attention"].value[0, 3], [1 / 3, 0, 1 / 3, 1 / 3])
    assert [even.terms("attention", (0, 3, key)).total for key in (0, 2, 3)] == [1 / 3] * 3


@pytest.mark.parametrize("row", [[1, 1e16, -1e16, -1], [1, -1, 0, 0], [1e-300, 1, -1, 1e-17], [1.7e308, 1.7e308, 0, 0]])
def test_a_row_that_adds_up_to_0_or_what_rounding_left_has_no_shares(row):
    """Exactly they add up to 0, 0, about 1e-17 and more than the largest float."""
    trace = attend(np.ones((1, 1)), np.ones((4, 1)), parameters=Parameters(), normalise=SumNormalise)
    with pytest.raises(ArrayError, match="add up to a finite number other than 0"):
        trace.with_changes(*(Change("masked", (0, 0, key), number) for key, number in enumerate(row)))


# From settings to arrays


@pytest.mark.parametrize(
    ("positions", "scaled", "context"),
    list(itertools.product(["none", "sinusoidal"], [True, False], [None, "a dog ran"])),
)
def test_trace_of_hands_these_arrays_to_attend(positions, scaled, context):
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


def primes(seed=0):
    random = np.random.RandomState(seed)
    return {name: random.standard_normal(shape) / 3 for name, shape in SHAPES.items()}


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
def test_the_pass_equals_the_slow_loop(sees, scale):
    given = primes()
    mask = np.array([[[sees(h, q, k) for k in range(KEYS)] for q in range(QUERIES)] for h in range(HEADS)])
    parameters = Parameters(**{name: given[name] for name in SHAPES if name not in ("x", "context")})
    trace = attend(given["x"], given["context"], parameters=parameters, mask=mask, scale=scale)

    lists = {name: array.tolist() for name, array in given.items()}
    attention, output = slow_output(**lists, sees=sees, factor=1 / math.sqrt(D_K) if scale is None else scale)
    np.testing.assert_allclose(trace["attention"].value, attention, rtol=0, atol=1e-13)
    np.testing.assert_allclose(trace["output"].value, output, rtol=0, atol=1e-13)


def test_every_stage_names_its_axes():
    given = primes()
    parameters = Parameters(**{name: given[name] for name in SHAPES if name not in ("x", "context")})
    trace = attend(given["x"], given["context"], parameters=parameters)
    lengths = {"head": HEADS, "query": QUERIES, "key": KEYS, "d_k": D_K, "d_v": D_V, "heads * d_v": HEADS * D_V}
    axes = {stage.name: stage.axes for stage in trace.stages if stage.name not in given}
    for name, each in axes.items():
        assert trace[name].shape == tuple((lengths | {"d_model": D_OUT})[axis] for axis in each)
    assert [axes[name] for name in ("k", "scores", "contributions")] == [
        ("head", "key", "d_k"),
        ("head", "query", "key"),
        ("head", "query", "d_model"),
    ]
