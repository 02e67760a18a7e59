"""What wrote to the residual stream: each logit is the sum of it, and each head's part that of its keys."""

import base64
import json
from dataclasses import replace

import numpy as np
import pytest
from cases import of_each
from page import changes_of
from test_microgpt import own

from attnviz.models import MODELS, statefile
from attnviz.scene import writers
from attnviz.scene.fitting import fit
from attnviz.scene.scene import FIRST_VISIT, of_model
from attnviz.scene.writers import writers_data

PASSES = {
    "a name": MODELS["microgpt"].at(0).trace("eliza"),
    "nothing but what begins": MODELS["microgpt"].at(1).trace(""),
    "untrained": MODELS["microgpt"].at(2, 0).trace("emma"),
    "a neuron muted": fit(replace(of_model("microgpt"), sentence="emma", changes=changes_of("active[:,3]=0"))).trace,
    "a model of one's own, of two layers": statefile.read(json.dumps(own()).encode()).trace("zyx"),
}


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
    return trace[stage].value[-1]


@of_each("name", [*PASSES])
def test_each_writer_adds_what_a_loop_finds_and_together_they_are_the_logit(name):
    trace = PASSES[name]
    data, n_answers = writers_data(trace), trace["logits"].shape[-1]
    values = read(data["values"], len(data["writers"]), n_answers)
    assert values.sum(axis=0) == pytest.approx(trace["logits"].value[-1], abs=1e-12)
    for writer, row in zip(data["writers"], values, strict=True):
        assert row == pytest.approx(written_by(trace, writer["cell"]) @ trace["w_u"].value, abs=1e-12)
        kind, *number = writer["said"].split(" of ")[0].split(" ")
        place = {"head": 0, "neuron": 1}.get(kind)  # of the index, where what it is called is counted from 1
        if place is not None:
            assert int(number[0]) == int(writer["cell"].split("[")[1].removesuffix("]").split(",")[place]) + 1
    heads = values[[writer["isHead"] for writer in data["writers"]]]
    by_key = writers.by_key(trace)
    most = read(data["byKey"]["values"], len(heads), n_answers)
    for (head, answer), key in np.ndenumerate(data["byKey"]["places"]):
        assert most[head, answer] == by_key[head, key, answer]
        assert abs(most[head, answer]) == np.abs(by_key[head, :, answer]).max()
    assert by_key.sum(axis=1) == pytest.approx(heads, abs=1e-12)
    for (head, key), row in zip(np.ndindex(by_key.shape[:2]), by_key.reshape(-1, n_answers), strict=True):
        layer = trace.layers[head // trace.lengths["head"]]
        own_head, width = head % trace.lengths["head"], layer.trace["v"].shape[-1]
        rows = layer.trace["w_o"].value[own_head * width : (own_head + 1) * width]
        share, value = layer.trace["attention"].value[own_head, -1, key], layer.trace["v"].value[own_head, key]
        assert row == pytest.approx(share * (value @ rows) @ trace["w_u"].value, abs=1e-12)


def test_what_does_not_add_up_is_not_taken_apart():
    assert writers_data(fit(FIRST_VISIT).trace) is None  # it has no residual stream
    for changes in ("logits[0,0]=1", "residual[5,3]=2"):
        assert writers_data(fit(replace(of_model("microgpt"), changes=changes_of(changes))).trace) is None
    assert writers_data(fit(replace(of_model("microgpt"), changes=changes_of("heads[0]=0"))).trace)["byKey"] is None
