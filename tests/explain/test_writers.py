"""The residual stream taken apart: each logit is the sum of what was written, each head's part that of its keys."""

import base64
import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from cases import of_each
from page import changes_of
from passes import TRACES
from test_microgpt import own
from twotexts import ENGLISH, FRENCH, LABELLED, LAYERS

from attnviz import attend_seq2seq
from attnviz.analysis import stream
from attnviz.core.stage import split_layer
from attnviz.models import MODELS, statefile
from attnviz.scene.document import continuing_text
from attnviz.scene.document.continuing_text import next_data, writers_data
from attnviz.scene.scene import FIRST_VISIT, of_model
from attnviz.scene.with_pass import resolve

PASSES = {
    "a name": MODELS["microgpt"].at(0).trace("eliza"),
    "nothing but what begins": MODELS["microgpt"].at(1).trace(""),
    "untrained": MODELS["microgpt"].at(2, 0).trace("emma"),
    "a neuron muted": resolve(
        replace(of_model("microgpt"), sentence="emma", changes=changes_of("active[:,3]=0"))
    ).trace,
    "a model of one's own, of two layers": statefile.read(json.dumps(own()).encode()).trace("zyx"),
    "biases in two layers": TRACES["two blocks with biases"],
    "an encoder and a decoder": LABELLED,
    "a translator": resolve(replace(of_model("translator"), sentence="the black cat sleeps", written="le chat")).trace,
}


def writing(trace):
    """The layers that write to the logits: of an encoder and a decoder those of the decoder."""
    return trace.layers[2 if trace is LABELLED else "context_embeddings" in trace :]


def read(pieces, *shape):
    return np.frombuffer(base64.b64decode(pieces[0]), dtype="<f8").reshape(shape)


def written_by(trace, cell):
    """What a writer adds to the last row, as a loop finds it; the name of its stage and its place."""
    stage, index = cell.removesuffix("]").split("[")
    places = [int(place) for place in index.split(",")]
    layer = trace.layer_of(stage)
    if stage == layer.names["contributions"]:
        head, width = places[0], layer.trace["v"].shape[-1]
        rows = layer.trace["w_o"].value[head * width : (head + 1) * width]
        return sum(float(found) * row for found, row in zip(layer.trace["heads"].value[head, -1], rows, strict=True))
    if stage == layer.names.get("active"):
        return float(layer.trace["active"].value[-1, places[1]]) * layer.trace["w_mlp"].value[places[1]]
    if stage.startswith("b_"):
        return trace[stage].value
    return trace[stage].value[-1]


OF_LAYER = r"(?: of layer (\d+))?"
NAMES = {
    r"“(.+)” as it entered": lambda trace, stage, places, word: (
        stage == "x" and word == trace.labels["token"][places[0]] and places[0] == len(trace[stage].value) - 1
    ),
    rf"head (\d+){OF_LAYER}": lambda trace, stage, places, head, layer: (
        stage == f"contributions{layer and '_' + layer}" and int(head) == places[0] + 1
    ),
    r"head (\d+) of “(.+)”": lambda trace, stage, places, head, title: (
        trace.layer_of(stage).trace.origin.layer_titles == (title,) and int(head) == places[0] + 1
    ),
    rf"neuron (\d+){OF_LAYER}": lambda trace, stage, places, neuron, layer: (
        stage == f"active{layer and '_' + layer}" and int(neuron) == places[1] + 1
    ),
    rf"MLP bias{OF_LAYER}": lambda trace, stage, places, layer: stage == f"b_mlp{layer and '_' + layer}",
}
"""What each name of a writer says of the cell that it leads to."""


def test_writer_label_matches_its_cell():
    made = set()
    for trace in PASSES.values():
        for writer in writers_data(trace).writers:
            stage, index = writer.cell.removesuffix("]").split("[")
            (claim,) = (each for each in NAMES if re.fullmatch(each, writer.label))
            said = re.fullmatch(claim, writer.label).groups("")
            assert NAMES[claim](trace, stage, [*map(int, index.split(","))], *said), writer
            made.add(claim)
    assert made == set(NAMES)


@of_each("name", [*PASSES])
def test_writers_sum_to_the_logit(name):
    trace = PASSES[name]
    data, n_answers = writers_data(trace), trace["logits"].shape[-1]
    values = read(data.values, len(data.writers), n_answers)
    assert values.sum(axis=0) == pytest.approx(trace["logits"].value[-1], abs=1e-12)
    for writer, row in zip(data.writers, values, strict=True):
        assert row == pytest.approx(written_by(trace, writer.cell) @ trace["w_u"].value, abs=1e-12)
    heads = values[[writer.is_head for writer in data.writers]]
    by_key = continuing_text.by_key(trace)
    most = read(data.by_key.values, len(heads), n_answers)
    for (head, answer), key in np.ndenumerate(data.by_key.places):
        assert most[head, answer] == by_key[head][key, answer]
        assert abs(most[head, answer]) == np.abs(by_key[head][:, answer]).max()
    assert [rows.sum(axis=0) for rows in by_key] == pytest.approx(heads, abs=1e-12)
    own_heads = [(layer.trace, head) for layer in writing(trace) for head in range(len(layer.trace["heads"]))]
    for (layer, own_head), added in zip(own_heads, by_key, strict=True):
        width = layer["v"].shape[-1]
        rows = layer["w_o"].value[own_head * width : (own_head + 1) * width]
        shares, values = layer["attention"].value[own_head, -1], layer["v"].value[own_head]
        for share, value, row in zip(shares, values, added, strict=True):
            assert row == pytest.approx(share * (value @ rows) @ trace["w_u"].value, abs=1e-12)


def test_inexact_sums_have_no_writers():
    assert writers_data(resolve(FIRST_VISIT).trace) is None  # it has no residual stream
    names = replace(of_model("microgpt"), sentence="eliza")
    for changes in ("logits[0,0]=1", "residual[5,3]=2"):
        assert writers_data(resolve(replace(names, changes=changes_of(changes))).trace) is None
    assert writers_data(resolve(replace(names, changes=changes_of("heads[0]=0"))).trace).by_key is None


STREAMS = {
    "microgpt": MODELS["microgpt"].at(0).trace("eliza"),
    "two layers that learnt": TRACES["two layers that learnt"],
    "a block": TRACES["a block"],
    "two blocks with biases": TRACES["two blocks with biases"],
    "recall": MODELS["recall"].at(0).trace("g 5 d 6 g"),
    "an encoder and a decoder": LABELLED,
}


@of_each("trace", STREAMS)
def test_parts_of_every_logit_add_up(trace):
    assert stream.has_residual_stream(trace)
    logits = trace["logits"]
    for token in range(logits.shape[0]):
        parts = stream.parts(trace, token)
        for answer in range(logits.shape[1]):
            total = math.fsum(part.values[answer] for part in parts)
            assert total == pytest.approx(logits.value[token, answer], rel=0, abs=1e-12)


def test_only_a_decoder_writes_to_its_logits():
    of_translator = next_data(resolve(of_model("translator"))).parts.writers
    assert [each.cell.partition("[")[0] for each in of_translator] == ["x", "contributions_2", "contributions_3"]
    written = {part.stage for part in stream.parts(LABELLED, 1)}
    assert written == {"x", *(f"contributions_{layer}" for layer in (3, 4, 5, 6)), "active_3", "active_6"}


MATRIX_PRODUCTS = {*"qkv", "scores", "heads", "output", "hidden", "mlp", "logits"}


@of_each("n", [1, 2, 3])
def test_cache_keeps_all_that_the_encoder_made(n):
    """Multiplications counted by the shapes of a pass of so many words written, in all and of its last row alone."""
    trace = attend_seq2seq(ENGLISH, FRENCH[:n], **LAYERS)
    whole = last = 0
    for stage in trace.values():
        base, layer = split_layer(stage.name)
        if base not in MATRIX_PRODUCTS:
            continue
        products = stage.size * trace[stage.inputs[0]].shape[-1]  # of a number, one for each of the row it is made from
        whole += products
        is_kept = layer in (1, 2) or (layer in (4, 6) and base in "kv")
        last += 0 if is_kept else products // n
    assert [stream.multiplications(trace, n, is_cached=each) for each in (False, True)] == [whole, last]


@of_each("name", ["two layers that learnt", "a block", "two blocks with biases", "an encoder and a decoder"])
def test_hand_set_parts_add_up_or_vanish(name):
    add_up = set()
    for stage in STREAMS[name].stages:
        number = 0 if stage.value.dtype == bool else 0.7
        trace = STREAMS[name].with_change(stage.name, (0,) * len(stage.shape), number)
        if stream.has_residual_stream(trace):
            add_up.add(stage.name)
            total = sum(part.values for part in stream.parts(trace, 0))
            assert total == pytest.approx(trace["logits"].value[0], rel=0, abs=1e-12), stage.name
    assert {"w_u", *(layer.names[each] for layer in trace.layers for each in ("q", "attention", "heads"))} <= add_up
    of_encoder = {name for layer in (1, 2) for name in (f"output_{layer}", f"residual_{layer}")} | {"memory"}
    assert of_encoder <= add_up or STREAMS[name] is not LABELLED, "it is not on the way"
    assert not add_up & {"logits", *(layer.names["output"] for layer in writing(STREAMS[name]))}


def test_no_residual_stream_no_parts():
    assert not stream.has_residual_stream(TRACES["two layers built by hand"])
    assert not stream.has_residual_stream(STREAMS["microgpt"].with_change("mlp", (0, 0), 1.0))
    assert not stream.has_residual_stream(TRACES["plain"])
