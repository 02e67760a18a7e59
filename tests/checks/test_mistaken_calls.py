"""Plausible mistakes in calls of public functions: each is refused with the rule, what came and what to do."""

import re

import numpy as np
import pytest
from fakemodules import Attention, tensor

from attnviz import (
    ArrayError,
    Change,
    ChangeError,
    LayerNorm,
    OwnArraysError,
    Parameters,
    Recorded,
    Rotation,
    Settings,
    SettingsError,
    attend,
    attend_seq2seq,
    check,
    compare,
    head_effects,
    onnx_attention,
    page,
    record,
    scaled_dot_product_attention,
    show,
    trace_of,
)
from attnviz.testing import assert_attention

X = np.eye(2)
WEIGHTS = np.exp(X / 2**0.5) / np.exp(X / 2**0.5).sum(axis=-1, keepdims=True)
ARRAYS = {"x": X, "attention": WEIGHTS}
TRACE = attend(X, parameters=Parameters())
MODULE, TOKENS = Attention(), tensor(np.random.default_rng(0).normal(size=(1, 3, 6)))
with record(MODULE, tokens=["a", "b", "c"]) as RECORDED:
    MODULE(TOKENS)
ATTENTIONS = {"attentions": [np.ones((1, 2, 3, 3))]}
Q = np.random.default_rng(1).normal(size=(2, 3, 4))
HEADS = {"q_num_heads": 2, "kv_num_heads": 2}
EACH = Parameters(w_o=X)


def of_torch(**arguments):
    return scaled_dot_product_attention(Q, Q, Q, **arguments)


def of_onnx(**arguments):
    return onnx_attention(Q, Q, Q, **HEADS | arguments)


def attended(**arguments):
    return attend(X, **{"parameters": Parameters()} | arguments)


def translated(**arguments):
    return attend_seq2seq(X, X, **{"encoder": [EACH], "decoder": [(EACH, EACH)], "norm": "rmsnorm"} | arguments)


def checked(**arguments):
    return check(MODULE, **{"like": MODULE} | arguments)


def recorded_of(arrays=ATTENTIONS, **arguments):
    return Recorded.of(arrays, **arguments)


def recording(model=MODULE, **arguments):
    with record(model, **arguments):
        pass


DICT = 'arrays by their names; got {} as arrays. Write {{"attention": array}}.'
MEANT = "true_is must be 'visible' or 'hidden'; got 'visble'. Did you mean 'visible'?"
COMPARED = [
    (lambda: compare(None, X), DICT.format("ndarray")),
    (lambda: compare(None, [X]), DICT.format("list")),
    (lambda: compare(None, "arrays.npz"), DICT.format("'arrays.npz'")),
    (lambda: compare(None, None), DICT.format("None")),
    (lambda: compare(None, RECORDED), "got Recorded as arrays. Give one of its layers, as recorded[0]."),
    (lambda: compare(ARRAYS, TRACE), "got dict and Trace. Write compare(trace, arrays)."),
    (lambda: compare(ARRAYS, None), "got dict and None. Write compare(None, arrays)."),
    (lambda: compare(None, {1: X}), "Names of arrays are str, such as 'attention'; got 1"),
    (lambda: compare(None, {}), "got no array of a known name"),
    (lambda: compare(None, ARRAYS | {"attention": None}), "'attention' is of object"),
    (lambda: compare(None, ARRAYS, true_is="visble"), MEANT),
    (lambda: compare(None, ARRAYS, true_is=True), "got True."),
    (lambda: compare(None, ARRAYS, orientation="in, out"), "'(in, out)' or '(out, in)'; got 'in, out'. Did you mean"),
    (lambda: compare(None, ARRAYS, layer=7), "The arrays are of 1 layer; got the layer 7. Leave layer out"),
    (lambda: compare(None, ARRAYS, layer=0), "got the layer 0"),
    (lambda: compare(None, ARRAYS, layer="1"), "the number of a layer, from 1 on; got '1'"),
    (lambda: compare(TRACE, ARRAYS, layer=7), "The pass has the layers 1 to 1; got 7"),
    (lambda: compare(TRACE, ARRAYS, layer="2"), "got '2'"),
    (lambda: compare(None, ARRAYS, n_heads=-2), "n_heads must be a whole number of at least 1"),
    (lambda: compare(None, ARRAYS, n_heads="2"), "how many heads there are; got '2'"),
    (lambda: compare(None, ARRAYS, rtol=-1), "rtol is a number from 0 on"),
    (lambda: compare(None, ARRAYS, atol=True), "atol is a number from 0 on"),
    (lambda: compare(None, ARRAYS, query=slice("a", None)), "query is a slice of consecutive queries"),
    (lambda: compare(None, ARRAYS, names={"attention": "atention"}), "w_o, b_o or output; got 'atention' for 'attent"),
    (lambda: compare(None, ARRAYS, names={"attention": "atention"}), "Did you mean 'attention'?"),
    (lambda: compare(None, ARRAYS, names={"atention": "q"}), "there are x, attention. Did you mean 'attention'?"),
    (lambda: assert_attention(X), DICT.format("ndarray")),
    (lambda: assert_attention(ARRAYS, true_is="visble"), MEANT),
    (lambda: assert_attention(ARRAYS, allow=None), "allow lists names and first clauses, as ['cos'] does; got None"),
    (lambda: assert_attention(ARRAYS, allow=[3]), "got [3]"),
]
SHOWN = [
    (lambda: show(X), 'got ndarray. Compare arrays first: show(compare(None, {"attention": array})).'),
    (lambda: show(RECORDED[0]), "got dict. Compare arrays first"),
    (lambda: show("the cat"), "got 'the cat'. Write show(trace_of(...))."),
    (lambda: show(None), "a comparison or a recording; got None"),
    (
        lambda: show(TRACE, layer=0),
        "those of a recording; got a Trace with them. Leave these out.",
    ),
    (lambda: show(TRACE, parameters="yes"), "parameters must be True or False; got 'yes'"),
    (lambda: show(RECORDED, layer=7), "The recording has the layers 0 to 0; got the layer 7"),
    (lambda: show(RECORDED, layer="0"), "layer must be the number of a layer, counted from 0; got '0'"),
    (lambda: show(RECORDED, effects=np.ones((1, 7))), "(1, 2), as head_effects returns them; got (1, 7)"),
    (lambda: show(RECORDED, effects="entropy"), "got 'entropy'"),
    (lambda: page(TRACE, None), 'as in page(trace, "cat.html"); got None'),
    (lambda: page("cat.html", TRACE), "got Trace"),
]
RECORDING = [
    (lambda: recording(Attention), "record takes a PyTorch module; got the class Attention. Write Attention(...)."),
    (lambda: recording(tokens=3), "tokens must be a sequence of words; got 3. Give a list of str."),
    (lambda: recording(tokens=[0, 1, 2]), "got list with int in it"),
    (lambda: recording(context_tokens={"a": 1}), "context_tokens must be a sequence of words; got dict"),
    (lambda: recording(sentence=-1), "sentence must be a whole number of at least 0, its place in the batch; got -1"),
    (lambda: RECORDED["attention"], "A recording has layers, 0 to 0; got 'attention'."),
    (lambda: recorded_of(None), "output_attentions=True; got None"),
    (lambda: recorded_of({"attentions": (None, None)}), "attn_implementation='eager'"),
    (lambda: recorded_of(tokens=5), "got 5. Give a list of str."),
    (lambda: recorded_of(sentence="0"), "got '0'"),
    (
        lambda: check(Attention, like=MODULE),
        "my_module must be a PyTorch module; got the class Attention.",
    ),
    (lambda: checked(inputs=TOKENS[0]), "inputs must have the shape (sentences, tokens, d_model), with a d_model of 6"),
    (lambda: checked(inputs="abc"), "'inputs' is of <U3"),
    (lambda: checked(seed="a"), "seed must be a whole number of at least 0"),
    (lambda: head_effects(Attention, len), "head_effects takes a PyTorch module first; got the class Attention"),
    (lambda: head_effects(MODULE, lambda: MODULE(TOKENS), loss=3), "loss must be a function of the output"),
]
PASSES = [
    (lambda: attend(None, parameters=Parameters()), "x must be an array of real numbers; got NoneType"),
    (lambda: attend([["1", "2"]], parameters=Parameters()), "x must be an array of real numbers; got list"),
    (lambda: attended(parameters=None), "or a list of them with one for each layer; got None"),
    (lambda: attended(parameters={"w_q": X}), "got dict"),
    (lambda: attended(parameters=Parameters), "got the class Parameters"),
    (lambda: attended(parameters=[Parameters(), X]), "got Parameters, ndarray"),
    (lambda: attended(mask="causl"), "got str. Write np.tri(queries, keys, dtype=bool) for a causal mask."),
    (lambda: attended(mask=True), "mask must be an array with an axis of keys"),
    (lambda: attended(mask=(None, None)), "A tuple as mask has one for each of 1 layers; got 2"),
    (lambda: attended(scale=np.ones(2)), "scale must be one number, such as 0.125; got ndarray"),
    (lambda: attended(scale=True), "got True"),
    (lambda: attended(normalise="softmax"), "normalise must be the class Softmax or SumNormalise; got 'softmax'"),
    (lambda: attended(residual="yes"), "residual must be True or False; got 'yes'"),
    (lambda: attended(norm="layernrom"), "got 'layernrom'. Did you mean 'layernorm'?"),
    (lambda: attended(norm=LayerNorm), "got the class LayerNorm"),
    (lambda: attended(activation=np.tanh), "or an operation such as ReLU(); got ufunc"),
    (lambda: attended(qk_norm="rmsnorm"), "qk_norm must be True, False or RMSNorm(); got 'rmsnorm'"),
    (lambda: attended(rotation="halves"), "Rotation(500_000, \"halves\") or None; got 'halves'"),
    (lambda: attended(rotation=[Rotation(), None]), "A list as rotation has one for each of 1 layers; got 2"),
    (lambda: Rotation(dims="2"), "dims of a rotation is a whole number; got '2'"),
    (lambda: attended(softcap=0), "softcap must be a finite number above 0"),
    (lambda: attended(alibi="yes"), "alibi must be True or False"),
    (lambda: attended(block_size=0), "block_size must be a whole number of keys"),
    (lambda: attended(latent_norm="rmsnorm"), "latent_norm must be RMSNorm()"),
    (lambda: translated(encoder=EACH), "got Parameters and ['tuple']"),
    (lambda: translated(memory_norm="yes"), "memory_norm must be True or False"),
    (lambda: of_torch(attn_mask="causal"), "attn_mask must be boolean (True is visible) or float"),
    (lambda: of_torch(attn_mask=True), "attn_mask must be an array with an axis of keys"),
    (lambda: of_torch(is_causal=np.tri(3)), "is_causal must be True or False; got ndarray"),
    (lambda: of_torch(enable_gqa="yes"), "enable_gqa must be True or False"),
    (lambda: of_torch(causal_corner="uper left"), "Did you mean 'upper left'?"),
    (lambda: of_torch(tokens=3), "3 words, one for each key, or a pair, of 3 for queries and 3 for keys; got 3."),
    (lambda: of_torch(tokens=["a", "b", None]), "got NoneType among them"),
    (lambda: of_onnx(q_num_heads="2"), "q_num_heads must divide the last axis of Q; got '2'"),
    (lambda: of_onnx(is_causal="yes"), "is_causal must be 0 or 1; got 'yes'"),
    (lambda: of_onnx(qk_matmul_output_mode=1.0), "must be 0, 1, 2 or 3; got 1.0"),
    (
        lambda: of_onnx(left_window_size=None),
        "window_size must be -1, for all keys, or a number of them; got None",
    ),
    (lambda: of_onnx(attn_mask=True), "attn_mask must be an array with an axis of keys"),
    (lambda: trace_of(["the", "cat"]), "trace_of takes a sentence or Settings"),
    (lambda: Settings("the cat", mask="causl"), "got 'causl'. Did you mean 'causal'?"),
]
CHANGED = [
    (lambda: TRACE.with_change("attention", 0, 1), "got 'attention', 0, 1"),
    (lambda: TRACE.with_changes("attention[0,0,0]=1"), 'as Change("attention", (0, 0, 1), 1.0) is; got'),
    (lambda: Change(3, (0,), 1), "got 3, (0,), 1"),
    (lambda: TRACE.with_mask("causal", "mine"), "visible must be boolean"),
    (lambda: TRACE.with_stages({"atention": X}, "mine"), "heads, concat; got 'atention'"),
    (lambda: TRACE.with_stages(X, "mine"), "values must be arrays by their stages"),
    (lambda: TRACE.labelled(query=3), "query must be a sequence of words; got int"),
]
MISTAKES = [*COMPARED, *SHOWN, *RECORDING, *PASSES, *CHANGED]


@pytest.mark.parametrize(("call", "says"), MISTAKES, ids=[says for _, says in MISTAKES])
def test_mistake_is_explained(call, says):
    with pytest.raises((ArrayError, ChangeError, OwnArraysError, SettingsError), match=re.escape(says)) as refused:
        call()
    assert refused.value.__context__ is None or refused.value.__suppress_context__, "the traceback is of one error"


@pytest.mark.parametrize("call", [lambda: compare(None, ARRAYS, n_head=2), lambda: assert_attention(ARRAYS, n_head=2)])
def test_unknown_keyword_is_pythons_own_error(call):
    with pytest.raises(TypeError, match="unexpected keyword argument 'n_head'"):
        call()


def test_lists_are_arrays():
    lists = {name: each.tolist() for name, each in ARRAYS.items()}
    assert compare(None, lists).first is None
    q = Q.tolist()
    np.testing.assert_array_equal(scaled_dot_product_attention(q, q, q)["heads"], of_torch()["heads"])
    np.testing.assert_array_equal(onnx_attention(q, q, q, **HEADS).Y, of_onnx().Y)
    visible = np.tri(2, dtype=bool)
    np.testing.assert_array_equal(
        TRACE.with_mask(visible.tolist(), "mine")["attention"], TRACE.with_mask(visible, "mine")["attention"]
    )


def test_numbers_of_numpy_are_numbers():
    numpys, pythons = (of_onnx(qk_matmul_output_mode=mode).qk_matmul_output for mode in (np.int64(3), 3))
    np.testing.assert_array_equal(numpys, pythons)
    with pytest.raises(ArrayError, match=re.escape("got 0.")):
        of_torch(window=np.int64(0))


def test_trace_is_compared_as_arrays():
    assert compare(TRACE, TRACE).first is None
    assert [each.stage for each in compare(TRACE, TRACE).stages] == list(TRACE)
    changed = TRACE.with_change("scaled", (0, 0, 1), 3.0)
    assert compare(TRACE, changed).first.stage == "scaled"
