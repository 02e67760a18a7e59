"""PyTorch's and ONNX's calls give what PyTorch and ONNX's own evaluator give; and laws of what current models add."""

import numpy as np
import pytest
from torchsdpa import CASES, RECORDED, inputs

from attnviz import ArrayError, compare, onnx_attention, scaled_dot_product_attention
from attnviz.core.stage import backward

TORCH = np.load(RECORDED)
ROUNDING = {"float64": 2**-50, "float32": 2**-21, "float16": 2**-8, "bfloat16": 2**-5}
"""Four units in the last place of 1: PyTorch rounds after each step."""


def array(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def drawn(heads=2, queries=4, keys=6, d_k=3, d_v=5):
    return array(heads, queries, d_k), array(heads, keys, d_k, seed=1), array(heads, keys, d_v, seed=2)


def passes(name):
    arrays, arguments = inputs(name)
    trace = scaled_dot_product_attention(**arrays, **arguments)
    return trace.batch or (trace,)


@pytest.mark.parametrize("name", CASES)
def test_call_equals_pytorch(name):
    expected = TORCH[f"{name}/output"]
    rounding = ROUNDING[CASES[name][1].get("dtype", "float64")]
    found = np.stack([each["heads"].value for each in passes(name)]).reshape(expected.shape)
    np.testing.assert_allclose(found, expected, rtol=0, atol=rounding)


@pytest.mark.parametrize("name", [name for name in CASES if f"{name}/slope.query" in TORCH])
def test_slopes_equal_autograd(name):
    upstream = np.cos(np.arange(TORCH[f"{name}/output"].size))
    batch = passes(name)
    for each, part in zip(batch, np.split(upstream, len(batch)), strict=True):
        number = batch.index(each)
        arrays = {stage.name: stage.value for stage in each.values()}
        found = backward(each.stages, arrays, {"heads": part.reshape(each["heads"].shape)})
        for stage, argument in (("q", "query"), ("k", "key"), ("v", "value")):
            slopes = TORCH[f"{name}/slope.{argument}"]
            expected = slopes[number] if slopes.ndim == 4 else slopes
            np.testing.assert_allclose(found[stage].reshape(expected.shape), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_comparison_uses_the_given_precision(dtype):
    output = TORCH[f"{dtype}/output"]
    came = output if dtype == "bfloat16" else output.astype(dtype)  # NumPy has none: a tensor's .float()
    found = compare(passes(dtype)[0], {"heads": came})
    assert (found.first, found.precision) == (None, dtype)


def test_batch_equals_single_sentences():
    q, k, v = array(3, 2, 4, 5), array(3, 2, 6, 5, seed=1), array(3, 2, 6, 5, seed=2)
    mask = array(3, 1, 4, 6, seed=3)
    trace = scaled_dot_product_attention(q, k, v, mask)
    assert len(trace.batch) == 3
    assert not any(each.batch for each in trace.batch)
    for number, each in enumerate(trace.batch):
        alone = scaled_dot_product_attention(q[number], k[number], v[number], mask[number])
        assert alone.batch == ()
        for stage in alone.values():
            np.testing.assert_array_equal(each[stage.name].value, stage.value, strict=True)
    np.testing.assert_array_equal(trace["heads"].value, trace.batch[0]["heads"].value)


def test_kv_cache_gives_the_last_rows():
    q, k, v = drawn(queries=6)
    whole = scaled_dot_product_attention(q, k, v, is_causal=True)
    for n_kept in range(1, 6):
        new = (each[:, n_kept:] for each in (q, k, v))
        kept = scaled_dot_product_attention(*new, is_causal=True, past=(k[:, :n_kept], v[:, :n_kept]))
        np.testing.assert_allclose(kept["attention"].value, whole["attention"].value[:, n_kept:], atol=1e-15)
        np.testing.assert_allclose(kept["heads"].value, whole["heads"].value[:, n_kept:], atol=1e-15)


@pytest.mark.parametrize(("corner", "first"), [("upper left", 0), ("lower right", 2)])
@pytest.mark.parametrize("window", [1, 2, 6, 99])
def test_window_ends_at_the_query(corner, first, window):
    trace = scaled_dot_product_attention(*drawn(), window=window, causal_corner=corner)
    for query in range(4):
        seen = [own for own in range(6) if query + first - window < own <= query + first]
        assert np.flatnonzero(trace["attention"].value[0, query]).tolist() == seen


def test_window_adds_to_a_mask():
    q, k, v = drawn()
    bias = array(4, 6, seed=5)
    trace = scaled_dot_product_attention(q, k, v, bias, window=2)
    seen = np.isfinite(trace["masked"].value[1])
    assert seen.sum(axis=-1).tolist() == [1, 2, 2, 2]
    np.testing.assert_array_equal(trace["masked"].value[1][seen], (trace["scaled"].value[1] + bias)[seen])


Q, K, V = drawn()
REFUSED = {
    "dropout_p must be 0": {"dropout_p": 0.1},
    "takes no attn_mask": {"is_causal": True, "attn_mask": np.ones((4, 6), bool)},
    "attn_mask must broadcast to (batch, heads, queries, keys) = (1, 2, 4, 6); got (6, 4)": {
        "attn_mask": np.ones((6, 4), bool)
    },
    "mask must be boolean (True is visible) or float": {"attn_mask": np.ones((4, 6), int)},
    "got NaN or inf": {"attn_mask": np.full((4, 6), np.nan)},
    "scale must be one number, such as 0.125; got 'one'": {"scale": "one"},
    "scale must be a finite number, such as 0.125; got inf": {"scale": np.inf},
    "'upper left' or 'lower right'; got 'top'": {"is_causal": True, "causal_corner": "top"},
    "needs is_causal=True or a window": {"causal_corner": "lower right"},
    "window must be a whole number of at least 1, the keys that a query sees, its own counted": {"window": 0},
    "got 2.0": {"window": 2.0},
    "past must be a pair": {"past": K},
    "past[0] must have the shape (1, 2, 6, 3) but": {"past": (K[:1], V[:1])},
    "past[0] and past[1] must have as many keys": {"past": (K[:, :2], V[:, :1])},
    "got text. Write tokens.split()": {"tokens": "a b c d e f"},
    "got 2.": {"tokens": ["a", "b"]},
    "got 6 and 4": {"tokens": (list("abcdef"), list("abcd"))},
    "got int among them": {"tokens": [1, 2, 3, 4, 5, 6]},
    "query must have the shape (batch, heads, queries, d_k), none of them 0; got (3,)": {"query": Q[0, 0]},
    "query must be an array of real numbers": {"query": "q"},
    "query must hold finite numbers; got 1": {"query": np.where(np.arange(24).reshape(2, 4, 3) == 5, np.nan, Q)},
    "key must have the shape (heads, keys, d_k), none of them 0; got (2, 0, 3)": {"key": K[:, :0]},
    "query and key must have the same length d_k": {"key": V},
    "key and value must have as many heads and as many keys": {"value": V[:, :5]},
    "must have batches of one size; got query (2, 2, 4, 3)": {"query": np.stack((Q, Q))},
    "Set enable_gqa=True": {"key": K[:1], "value": V[:1]},
    "must divide those of query": {"key": np.ones((3, 6, 3)), "value": np.ones((3, 6, 3)), "enable_gqa": True},
}


@pytest.mark.parametrize("rule", REFUSED)
def test_wrong_argument_is_refused(rule):
    arguments = {"query": Q, "key": K, "value": V} | REFUSED[rule]
    with pytest.raises(ArrayError) as refused:
        scaled_dot_product_attention(**arguments)
    assert rule in str(refused.value)


ONNX_ROUNDING = {"float32": 2**-22, "float16": 2**-9, "bfloat16": 2**-6}
"""Two units in the last place of 1: the evaluator rounds after each step. ONNX's own runner allows a thousandth."""


@pytest.fixture(scope="module")
def onnx_cases():
    """Each case by its name: the arguments by their names, and the outputs that it asks for."""
    import onnx  # whose onnx_cases take a while to be made
    from onnx.backend.test.case.node import attention as made

    found = {}

    def expect(node, inputs, outputs, name, **_):
        attributes = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
        arrays = dict(zip(filter(None, node.input), inputs, strict=True))
        found[name] = arrays | attributes, dict(zip(filter(None, node.output), outputs, strict=True))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(made, "expect", expect)
        np.random.seed(0)  # noqa: NPY002 (ONNX draws from it)
        for each in vars(made.Attention):
            if each.startswith("export"):
                getattr(made.Attention, each)()
    return found


def test_onnx_cases_match_the_evaluator(onnx_cases):
    assert len(onnx_cases) == 93, "as many as we say"
    for name, (arguments, outputs) in onnx_cases.items():
        found = onnx_attention(**arguments)
        assert outputs, name
        for each, expected in outputs.items():
            array, nearness = getattr(found, each), ONNX_ROUNDING[str(expected.dtype)]
            assert (array.dtype, array.shape) == (expected.dtype, expected.shape), (name, each)
            assert np.allclose(array.astype(float), expected.astype(float), rtol=0, atol=nearness), (name, each)
