"""A pass of an encoder and a decoder, against PyTorch, a slow loop and recorded NumPy; what its parts depend on."""

import json
import math
from collections import deque
from dataclasses import replace

import numpy as np
import pytest
from cases import of_each
from page import ROOT
from torchseq2seq import CASES, HEADS, RECORDED, SOURCE, TARGET
from twotexts import (
    DECODER,
    ENCODER,
    ENGLISH,
    FRENCH,
    LABELLED,
    LAYERS,
    N_READ,
    N_WRITTEN,
    READ,
    TRACE,
    W_U,
    WRITTEN,
)

from attnviz import Parameters, attend_seq2seq
from attnviz.analysis.audit import Audit, audit
from attnviz.analysis.provenance import format_trail, parse_trail
from attnviz.core.errors import ArrayError
from attnviz.core.parameters import split_heads
from attnviz.core.stage import backward, name_in_layer, split_layer

CLOSE = {"rtol": 0, "atol": 1e-12}
BY_TORCH = np.load(RECORDED)
ABOUT = json.loads(str(BY_TORCH["about"]))


def unpacked(name, flat):
    """Numbers of a recorded case, by the names that torch gives its parameters."""
    shapes = ABOUT["shapes"][name]
    ends = np.cumsum([math.prod(shape) for shape in shapes.values()])
    parts = np.split(BY_TORCH[f"{name}/{flat}"].astype(float), ends[:-1])
    return {each: part.reshape(shape) for (each, shape), part in zip(shapes.items(), parts, strict=True)}


def attention(module, arrays):
    """The parameters of a torch.nn.MultiheadAttention, by our names."""
    own = {each.removeprefix(f"{module}."): array for each, array in arrays.items() if each.startswith(f"{module}.")}
    made = {"w_o": own["out_proj.weight"].T}
    for letter, rows in zip("qkv", np.split(own["in_proj_weight"], 3), strict=True):
        made[f"w_{letter}"] = split_heads(rows.T, HEADS)
    if "in_proj_bias" in own:
        made |= {f"b_{e}": b.reshape(HEADS, -1) for e, b in zip("qkv", np.split(own["in_proj_bias"], 3), strict=True)}
        made["b_o"] = own["out_proj.bias"]
    return made


def affine(ours, module, arrays):
    return {
        f"{letter}_{ours}": arrays[f"{module}.{word}"]
        for letter, word in (("g", "weight"), ("b", "bias"))
        if f"{module}.{word}" in arrays
    }


def mlp(layer, arrays):
    """The parameters of the MLP of a layer of torch's."""
    matrices = {"w_hidden": arrays[f"{layer}.linear1.weight"].T, "w_mlp": arrays[f"{layer}.linear2.weight"].T}
    biases = {"b_hidden": f"{layer}.linear1.bias", "b_mlp": f"{layer}.linear2.bias"}
    return matrices | {ours: arrays[theirs] for ours, theirs in biases.items() if theirs in arrays}


def by_our_names(case, arrays):
    """Torch's parameters, or their slopes, layer by layer, and what is outside of all layers."""
    of_encoder, of_decoder = case.layers
    layers = []
    for layer in (f"encoder.layers.{n}" for n in range(of_encoder)):
        norms = affine("attn_norm", f"{layer}.norm1", arrays) | affine("mlp_norm", f"{layer}.norm2", arrays)
        layers.append(attention(f"{layer}.self_attn", arrays) | norms | mlp(layer, arrays))
    for layer in (f"decoder.layers.{n}" for n in range(of_decoder)):
        layers.append(attention(f"{layer}.self_attn", arrays) | affine("attn_norm", f"{layer}.norm1", arrays))
        norms = affine("attn_norm", f"{layer}.norm2", arrays) | affine("mlp_norm", f"{layer}.norm3", arrays)
        layers.append(attention(f"{layer}.multihead_attn", arrays) | norms | mlp(layer, arrays))
    outside = affine("memory", "encoder.norm", arrays) | {"w_u": arrays["w_u.weight"].T}
    return layers, outside, arrays["entering.source"], arrays["entering.target"]


def of_torch(name):
    """Our pass of a recorded case."""
    case = CASES[name]
    layers, outside, source, target = by_our_names(case, unpacked(name, "given"))
    made = [Parameters(**each) for each in layers]
    n = case.layers[0]
    seen = np.arange(SOURCE) < SOURCE - case.padded
    return attend_seq2seq(
        source,
        target,
        encoder=made[:n],
        decoder=[*zip(made[n::2], made[n + 1 :: 2], strict=True)],
        source_mask=np.tile(seen, (SOURCE, 1)),
        cross_mask=np.tile(seen, (TARGET, 1)),
        norm=case.norm,
        activation=case.activation,
        memory_norm=case.memory_norm,
        **outside,
    )


@of_each("name", [*CASES])
def test_pass_and_all_slopes_equal_torch(name):
    """TransformerEncoder and TransformerDecoder with norm_first, and autograd, back to both embeddings."""
    assert ABOUT["torch"].startswith("2.13")
    trace, case = of_torch(name), CASES[name]
    n_layers = case.layers[0] + 2 * case.layers[1]
    ends = {"memory" if case.memory_norm else "mlp_residual_2": "memory", f"mlp_residual_{n_layers}": "output"}
    for ours, theirs in (ends | {"logits": "logits"}).items():
        np.testing.assert_allclose(trace[ours].value, BY_TORCH[f"{name}/{theirs}"], **CLOSE, err_msg=ours)
    arrays = {stage.name: stage.value for stage in trace.stages}
    found = backward(trace.stages, arrays, {"logits": BY_TORCH[f"{name}/upstream"]})
    layers, outside, source, target = by_our_names(case, unpacked(name, "slopes"))
    expected = {name_in_layer(each, n): slope for n, own in enumerate(layers, start=1) for each, slope in own.items()}
    expected |= outside | {"context": source, "x": target}
    assert {stage.name for stage in trace.values() if stage.is_given and "mask" not in stage.name} == expected.keys()
    for each, slope in expected.items():
        np.testing.assert_allclose(found[each], slope, rtol=1e-11, atol=1e-11, err_msg=each)


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def times(rows, matrix):
    return [[dot(row, column) for column in zip(*matrix.tolist(), strict=True)] for row in rows]


def normed(rows):
    return [[number / math.sqrt(dot(row, row) / len(row) + 1e-5) for number in row] for row in rows]


def added(*rows):
    return [[math.fsum(numbers) for numbers in zip(*row, strict=True)] for row in zip(*rows, strict=True)]


def looped(stream, parameters, source, mask):
    """A layer, one number at a time; with `source` None it attends to itself. `mask` is added to the scores."""
    from_stream = normed(stream)
    read, outputs = from_stream if source is None else source, []
    for head in range(len(parameters.w_q)):
        q, k, v = (
            times(rows, w[head])
            for rows, w in ((from_stream, parameters.w_q), (read, parameters.w_k), (read, parameters.w_v))
        )
        collected = []
        for query, hides in zip(q, mask[head].tolist(), strict=True):
            scores = [dot(query, key) / math.sqrt(len(key)) + each for key, each in zip(k, hides, strict=True)]
            weights = [math.exp(score - max(scores)) for score in scores]
            shares = [weight / math.fsum(weights) for weight in weights]
            collected.append([dot(shares, column) for column in zip(*v, strict=True)])
        d_v = parameters.w_v.shape[-1]
        outputs.append(times(collected, parameters.w_o[head * d_v : (head + 1) * d_v]))
    stream = added(stream, *outputs)
    if parameters.w_hidden is None:
        return stream
    fires = [[max(0.0, number) for number in row] for row in times(normed(stream), parameters.w_hidden)]
    return added(stream, times(fires, parameters.w_mlp))


@of_each("target_mask", {"its own": None, "a given one": np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=bool)})
def test_pass_equals_a_slow_loop(target_mask):
    crossing = np.random.default_rng(1).standard_normal((2, N_WRITTEN, N_READ))
    crossing[crossing < -0.5] = -np.inf
    crossing[..., 0] = 0.0  # each query sees a key
    trace = attend_seq2seq(ENGLISH, FRENCH, cross_mask=crossing, target_mask=target_mask, **LAYERS)
    seen = np.tri(N_WRITTEN) if target_mask is None else target_mask
    everywhere, future = np.zeros((3, N_READ, N_READ)), np.where(seen, 0.0, -np.inf)
    read = ENGLISH.tolist()
    for each in ENCODER:
        read = looped(read, each, None, everywhere)
    memory, written = normed(read), FRENCH.tolist()
    for own, cross in DECODER:
        written = looped(written, own, None, np.tile(future, (3, 1, 1)))
        written = looped(written, cross, memory, crossing)
    np.testing.assert_allclose(trace["memory"].value, memory, **CLOSE)
    np.testing.assert_allclose(trace["logits"].value, times(written, W_U), **CLOSE)


def test_trained_translator_equals_plain_numpy():
    """Parameters that learnt to translate; `about` in the file says what computed the numbers."""
    given = np.load(ROOT / "tests/data/seq2seq_numpy.npz")
    p = {name.removeprefix("given."): given[name].astype(float) for name in given if name.startswith("given.")}

    def part(name, n_heads):
        cut = {w: split_heads(p[f"{name}.{w}"], n_heads) for w in ("w_q", "w_k", "w_v")}
        return Parameters(w_o=p[f"{name}.w_o"], **cut)

    trace = attend_seq2seq(
        p["enc.embeddings"] + p["enc.positions"],
        p["dec.embeddings"] + p["dec.positions"],
        encoder=[part("enc0", 2)],
        decoder=[(part("self0", 1), part("cross0", 1))],
        norm="rmsnorm",
        w_u=p["w_u"],
    )
    stages = [name for name in given if name in trace]
    assert len(stages) == 15
    for name in stages:
        np.testing.assert_allclose(trace[name].value, given[name], **CLOSE, err_msg=name)
    written = given["answers"][trace["logits"].value.argmax(axis=-1)]
    assert written.tolist() == [*given["french"][1:], "<end>"]


@of_each("n", [1, 2])
def test_word_written_later_changes_nothing_before(n):
    other = np.vstack([FRENCH[:n], -FRENCH[n:], FRENCH[:2]])
    longer = attend_seq2seq(ENGLISH, other, **LAYERS)
    for name in ("logits", "mlp_residual_6", "residual_4"):
        np.testing.assert_allclose(longer[name].value[:n], TRACE[name].value[:n], **CLOSE)
        assert (longer[name].value[n] != TRACE[name].value[n]).all()


def test_padding_of_the_source_changes_nothing():
    padded, seen = np.vstack([ENGLISH, 9 * ENGLISH[:2]]), np.arange(N_READ + 2) < N_READ
    masks = {"source_mask": np.tile(seen, (N_READ + 2, 1)), "cross_mask": np.tile(seen, (N_WRITTEN, 1))}
    trace = attend_seq2seq(padded, FRENCH, **masks, **LAYERS)
    np.testing.assert_allclose(trace["logits"].value, TRACE["logits"].value, **CLOSE)
    np.testing.assert_allclose(trace["memory"].value[:N_READ], TRACE["memory"].value, **CLOSE)
    assert not trace["attention_4"].value[..., N_READ:].any()


def downstream(trace, name):
    """The stages that a stage reaches."""
    reached = {name}
    for stage in trace.values():
        if not reached.isdisjoint(stage.inputs):
            reached.add(stage.name)
    return reached


@of_each(
    "change",
    {
        "an English embedding": ("context", (1, 2), 1.5),
        "a matrix of the encoder": ("w_q_1", (1, 2, 0), -3.0),
        "a word hidden from another in the encoder": ("mask_1", (0, 3), 0.0),
        "the memory": ("memory", (2, 1), 4.0),
        "a word hidden from the decoder": ("mask_4", (1, 2), 0.0),
        "a head of the decoder": ("heads_5", (2,), 0.0),
        "a French embedding": ("x", (0, 0), 2.0),
    },
)
def test_change_reaches_what_follows_and_nothing_else(change):
    name, index, value = change
    trace = TRACE.with_change(name, index, value)
    reached = downstream(TRACE, name)
    assert {stage.name for stage in trace.values() if stage is not TRACE[stage.name]} == reached
    assert {"logits", "probabilities"} <= reached
    assert (trace["logits"].value != TRACE["logits"].value).any()
    of_encoder = {"context", "memory"} | {
        stage.name for stage in TRACE.values() if split_layer(stage.name)[1] in (1, 2)
    }
    assert name in of_encoder or of_encoder.isdisjoint(reached), "nothing of the decoder reaches the encoder"
    made_anew = attend_seq2seq(
        trace["context"],
        trace["x"],
        **LAYERS | {"encoder": [replace(ENCODER[0], w_q=trace["w_q_1"].value), ENCODER[1]]},
    )
    if name in ("context", "x", "w_q_1"):
        np.testing.assert_array_equal(made_anew["logits"].value, trace["logits"].value)


PASSES = {
    "layers of unlike heads": TRACE,
    "a word hidden and a number set by hand": TRACE.with_change("mask_1", (0, 3), 0.0).with_change(
        "k_4", (0, 1, 0), 2.0
    ),
    **{f"recorded with torch: {name}": of_torch(name) for name in CASES},
}


@of_each("trace", PASSES)
def test_every_number_is_the_sum_of_its_terms(trace):
    found = Audit(tuple(audit(trace)))
    assert found.first is None, found.sentence(trace)
    assert {each.stage for each in found.stages} == {stage.name for stage in trace.stages}
    assert found.n_recomputed >= sum(stage.size for stage in trace.values() if not stage.is_given) - 4  # set by hand


def trail_to(trace, end, start):
    """The shortest chain of cells from `start` to a cell of the stage `end`, each computed from the next."""
    ways = deque([(start,)])
    known = {start}
    while ways:
        way = ways.popleft()
        if way[-1].stage == end:
            return way
        new = [cell for cell in trace.terms(way[-1].stage, way[-1].index).cells if cell not in known]
        known.update(new)
        ways.extend((*way, cell) for cell in new)
    raise AssertionError(f"no trail to {end}")


@of_each("trace", PASSES)
def test_trail_leads_from_a_logit_into_both_texts(trace):
    for end in ("context", "w_q_1", "w_k_1", "x"):
        cells = trail_to(trace, end, trace["logits"].cell((2, 1)))
        assert parse_trail(trace, format_trail(cells)) == (cells, "")
        assert ("memory" in {cell.stage for cell in cells}) == ("memory" in trace and end != "x")


EACH = {"encoder": ENCODER, "decoder": DECODER, "norm": "rmsnorm"}


@of_each(
    "case",
    [
        ({"encoder": []}, "at least one"),
        ({"decoder": []}, r"got \['Parameters', 'Parameters'\] and \[\]"),
        ({"encoder": ENCODER[0]}, "An encoder is a list with the Parameters of each layer"),
        ({"decoder": DECODER[0]}, "a decoder a list with a pair for each"),
        ({"decoder": [(*DECODER[0], ENCODER[0])]}, "a list with a pair for each"),
        ({"encoder": [{}]}, "got .*'dict'"),
        ({"source": ENGLISH[:0]}, r"source must have the shape \(tokens, d_model\), none of them 0"),
        ({"source": ENGLISH[:, :4]}, r"w_q_1 must have axes .* \(2, 4, 3\); got \(2, 5, 3\)"),
        ({"source": ENGLISH * np.nan}, "source must hold finite numbers"),
        ({"source": ENGLISH * 1e200}, "squares of a row"),
        ({"target": FRENCH[0]}, r"target must have the shape"),
        ({"target": FRENCH[:, :4]}, r"w_q_3 must have axes"),
        ({"decoder": [(DECODER[0][0], DECODER[1][0])]}, r"w_k_4 must have axes .* \(3, 5, 2\); got \(3, 6, 2\)"),
        ({"encoder": [replace(ENCODER[0], w_o=None)]}, "no w_o"),
        ({"source_mask": np.ones((3, 4), bool)}, r"source_mask .* \(4, 4\), .*; got \(3, 4\)"),
        ({"target_mask": np.ones((4, 4), bool)}, r"target_mask .* \(3, 3\), .*; got \(4, 4\)"),
        ({"cross_mask": np.ones((4, 3), bool)}, r"cross_mask .* \(3, 4\), .*; got \(4, 3\)"),
        ({"cross_mask": np.ones((3, 3, 4), bool)}, r"mask .*\(2, 3, 4\); got \(3, 3, 4\)"),
        ({"cross_mask": np.ones((3, 4), int)}, "boolean .* or float"),
        ({"norm": None}, "memory_norm .*; got no norm"),
        ({"norm": "swish"}, "norm is one of rmsnorm, layernorm"),
        ({"activation": "swish"}, "activation is one of"),
        ({"g_memory": np.ones(6)}, r"g_memory must hold 5 numbers, .*; got \(6,\)"),
        ({"g_memory": np.ones(5), "memory_norm": False}, "g_memory belongs to .*; got memory_norm=False"),
        ({"b_memory": np.ones(5)}, "b_memory is added after the gain of a LayerNorm"),
        ({"b_memory": np.ones(5), "g_memory": np.ones(5)}, "got another norm"),
        ({"b_memory": np.ones(5), "norm": "layernorm"}, "no g_memory"),
        ({"w_u": W_U[:-1]}, "w_u must have 6 rows"),
    ],
)
def test_misfit_is_refused(case):
    given, said = case
    with pytest.raises(ArrayError, match=said):
        attend_seq2seq(**{"source": ENGLISH, "target": FRENCH} | EACH | given)


SIDES = {1: (READ, READ), 2: (READ, READ), 3: (WRITTEN, WRITTEN), 4: (WRITTEN, READ)}
SIDES |= {layer + 2: SIDES[layer] for layer in (3, 4)}


def test_each_layer_has_its_own_words():
    for layer, (queries, keys) in SIDES.items():
        view = LABELLED.layers[layer - 1].trace
        for trace, name in ((LABELLED, f"attention_{layer}"), (view, "attention")):
            assert [axis.labels for axis in trace.axes(name)[1:]] == [queries, keys]
        assert view.axes("x")[0].labels == view.axes("output")[0].labels == queries
        assert view.axes("k")[1].labels == keys
        assert ("context" in view) == (layer in (4, 6))
        if layer in (4, 6):
            assert view.axes("context")[0].labels == keys
            np.testing.assert_array_equal(view["context"].value, TRACE["memory"].value)
    assert LABELLED.name_of(LABELLED["attention_4"].cell((1, 2, 1))) == "attention_4[head 2, chat, red]"
    assert LABELLED.axes("memory")[0].labels == LABELLED.axes("context_positions")[0].labels == READ
    assert LABELLED.axes("logits")[0].labels == WRITTEN


@of_each("name", [("key_4", WRITTEN), ("key_3", READ), ("context_token", WRITTEN), ("query_1", WRITTEN)])
def test_words_of_another_text_are_refused(name):
    axis, words = name
    with pytest.raises(ArrayError, match=axis.partition("_")[0]):
        TRACE.labelled(**{axis: words})


def test_a_mask_of_all_layers_is_refused():
    for n in (N_READ, N_WRITTEN):
        with pytest.raises(ArrayError, match=r"got \[\(4, 4\), \(4, 4\), \(3, 3\), \(3, 4\)"):
            TRACE.with_mask(np.ones((n, n), dtype=bool), "mine")
    assert repr(TRACE).startswith(f"Trace: {len(TRACE)} stages, layers: 6, heads: 2, queries: 3, keys: 4\n")


OUTSIDE = {"x": (3, "x"), "context": (1, "x"), "embeddings": (6, "embeddings"), "memory": (2, "memory")}
OUTSIDE |= {f"context_{name}": (1, name) for name in ("embeddings", "positions")}
OUTSIDE |= {name: (6, name) for name in ("w_u", "logits", "probabilities")}
"""The layer that explains a stage without a number, and what it is called there."""


def test_each_stage_has_its_layer():
    numbered = {stage.name: split_layer(stage.name)[::-1] for stage in TRACE.values() if split_layer(stage.name)[1]}
    assert {stage.name for stage in LABELLED.values()} == {*numbered, *OUTSIDE}
    for name, (number, own) in (numbered | OUTSIDE).items():
        layer = LABELLED.layer_of(name)
        assert (layer.number, layer.names[own]) == (number, name)
        np.testing.assert_array_equal(layer.trace[own].value, LABELLED[name].value)
