"""The whole pass against a slow loop written from the paper, in Python floats alone.

Nothing of it is shared with the core: no NumPy, no matrix, one number at a
time. All sizes are different primes, so no swapped axis passes unnoticed.
"""

import math

import numpy as np
import pytest

from attnviz import Parameters, attend

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


def arrays(seed=0):
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
    given = arrays()
    mask = np.array([[[sees(h, q, k) for k in range(KEYS)] for q in range(QUERIES)] for h in range(HEADS)])
    parameters = Parameters(**{name: given[name] for name in SHAPES if name not in ("x", "context")})
    trace = attend(given["x"], given["context"], parameters=parameters, mask=mask, scale=scale)

    lists = {name: array.tolist() for name, array in given.items()}
    attention, output = slow_output(**lists, sees=sees, factor=1 / math.sqrt(D_K) if scale is None else scale)
    np.testing.assert_allclose(trace["attention"].value, attention, rtol=0, atol=1e-13)
    np.testing.assert_allclose(trace["output"].value, output, rtol=0, atol=1e-13)


def test_every_stage_has_its_primes():
    given = arrays()
    parameters = Parameters(**{name: given[name] for name in SHAPES if name not in ("x", "context")})
    trace = attend(given["x"], given["context"], parameters=parameters)
    assert {stage.name: stage.shape for stage in trace.stages} == SHAPES | {
        "q": (HEADS, QUERIES, D_K),
        "k": (HEADS, KEYS, D_K),
        "v": (HEADS, KEYS, D_V),
        "scores": (HEADS, QUERIES, KEYS),
        "scaled": (HEADS, QUERIES, KEYS),
        "mask": (QUERIES, KEYS),
        "masked": (HEADS, QUERIES, KEYS),
        "attention": (HEADS, QUERIES, KEYS),
        "heads": (HEADS, QUERIES, D_V),
        "concat": (QUERIES, HEADS * D_V),
        "contributions": (HEADS, QUERIES, D_OUT),
        "output": (QUERIES, D_OUT),
    }
    assert {stage.name: stage.axes for stage in trace.stages if stage.name not in given} == {
        "q": ("head", "query", "d_k"),
        "k": ("head", "key", "d_k"),
        "v": ("head", "key", "d_v"),
        "scores": ("head", "query", "key"),
        "scaled": ("head", "query", "key"),
        "mask": ("query", "key"),
        "masked": ("head", "query", "key"),
        "attention": ("head", "query", "key"),
        "heads": ("head", "query", "d_v"),
        "concat": ("query", "heads * d_v"),
        "contributions": ("head", "query", "d_model"),
        "output": ("query", "d_model"),
    }
