"""Documents: what the viewer is given is the pass itself, is as it is declared, and is small enough."""

import base64
import functools
import gzip
import json
import math
from dataclasses import replace

import largest
import msgspec
import numpy as np
import pytest
from cases import of_each
from documents import answer_bytes, document, document_bytes, fitted_at
from documents import read as read_answer
from page import changes_of
from passes import TRACES

from attnviz import Settings, trace_of
from attnviz.analysis.provenance import gradients
from attnviz.contract.document import Document
from attnviz.contract.request_reply import SceneReply
from attnviz.contract.typescript import generated, structs_of
from attnviz.core.changes import Change
from attnviz.core.stage import name_in_layer, split_layer
from attnviz.examples import EXAMPLES
from attnviz.explain.change_sentences import steepest
from attnviz.explain.flips import FAILED
from attnviz.explain.payload import chunks
from attnviz.models import MODELS
from attnviz.scene.actions.session import Session
from attnviz.scene.document.document import document_json, heads_to_send, slopes
from attnviz.scene.document.encoding import template_of
from attnviz.scene.document.reply import PARTS
from attnviz.scene.document.reply_notes import ReplyNotes
from attnviz.scene.scene import FIRST_VISIT, Options, Scene, of_model
from attnviz.scene.with_pass import resolve, starts

ADDRESSES = {
    "first visit": {},
    "everything on": {"mask": "causal", "positions": "sinusoidal", "present": "1", "reveal": "3"},
    "a language model": {"model": "microgpt", "draw": "0.5,5,0.9,3"},
    "a context": {"context": "der Hund", "sentence": "constructor toString __proto__"},
    "a trail": {"trail": "output[1,2]<concat[1,5]", "ask": "slope"},
    "changes": {"changes": "attention[0,2,0]=1;heads[1]=0;masked[0,0,1]=-inf", "mask": "causal"},
    **{
        f"example {each.id} {variant.id}": {"source": f"{each.id} {variant.id}"}
        for each in EXAMPLES.values()
        for variant in each.variants
    },
}
LARGE = Scene(sentence=" ".join(f"w{i}" for i in range(64)), options=Options(d_model=128, n_heads=8))


@functools.cache
def documents():
    found = {name: fit_and_write(fitted_at(address)) for name, address in ADDRESSES.items()}
    asked = {"slopes": {"slopes_of": "output[1,2]"}, "flips": {"flips_of": "attention[0,1,2]"}}
    other = answers()["a pass beside it: pass"]["pass"]
    return (
        found
        | {name: fit_and_write(fitted_at({}), **each) for name, each in asked.items()}
        | {"a pass beside it": other}
    )


def fit_and_write(fitted, **asked):
    return json.loads(json.dumps(document(fitted, **asked), allow_nan=False))


def read(pieces, shape):
    """The numbers of all pieces, as a browser would decode them."""
    arrays = [np.frombuffer(base64.b64decode(piece), dtype="<f8") for piece in pieces]
    size = math.prod(shape) // len(pieces)
    return np.concatenate([np.broadcast_to(each, size) for each in arrays]).reshape(shape)


@of_each("name", [*ADDRESSES, "slopes", "flips", "a pass beside it"])
def test_every_document_is_as_it_is_declared(name):
    msgspec.convert(documents()[name], Document, str_keys=True)


def test_a_search_for_flips_that_fails_is_said_to_fail_and_the_rest_of_the_document_is_there(monkeypatch, caplog):
    def fail(*_):
        raise IndexError("list index out of range")

    monkeypatch.setattr("attnviz.scene.document.document.flips", fail)
    made = fit_and_write(fitted_at({}), flips_of="attention[0,1,2]")
    assert (made["flips"]["text"], made["flips"]["stages"]) == (FAILED, [])
    assert made["stages"] == fit_and_write(fitted_at({}))["stages"]
    assert [record.levelname for record in caplog.records] == ["ERROR"]


ANSWERED = {
    "a model": Session(FIRST_VISIT),
    "a model with words": Session(of_model("mirror")),
    "a language model": Session(of_model("microgpt")),
    "words that a model does not know": Session(replace(FIRST_VISIT, sentence="unicorn")),
    "no words": Session(Scene(sentence="")),
    "a seed that is none": Session(Scene(), ReplyNotes(seed="abc")),
    "a mask with a size": Session(Scene(options=Options(mask="window"), context="der Hund")),
    "an example": Session(Scene(source="001 with")),
    "a large pass": Session(Scene(sentence="word " * 30)),
    "a number set by hand": Session(Scene(changes=changes_of("scores[0,1,2]=3"))),
    "a pass beside it": Session(Scene(other=Scene(options=Options(mask="causal")), compare="difference")),
}
TAB = "0123456789abcdef" * 2


@functools.cache
def answers():
    return {
        f"{name}: {view}": read_answer(answer_bytes(place, view, TAB, ReplyNotes(notices=("one more",))))
        for name, place in ANSWERED.items()
        for view in PARTS
    }


@of_each("view", [*PARTS])
@of_each("name", [*ANSWERED])
def test_every_answer_is_as_it_is_declared(name, view):
    msgspec.convert(answers()[f"{name}: {view}"], SceneReply, str_keys=True)


def test_what_is_declared_is_asked_for_and_nothing_else_is_allowed():
    whole = answers()["a model: pass"]
    for broken in (
        whole | {"more": 1},
        whole | {"number": None},
        {name: part for name, part in whole.items() if name != "offers"},
        whole | {"pass": whole["pass"] | {"stages": {"Not a name": whole["pass"]["stages"]["x"]}}},
    ):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(broken, SceneReply, str_keys=True)


def test_nothing_is_declared_that_is_never_sent():
    sent = {key for each in (*documents().values(), *answers().values()) for key in keys(each)}
    declared = {field.encode_name for struct in structs_of(SceneReply) for field in struct.fields}
    of_names = {"listed", "about"}  # which take a second (`test_continuation`)
    assert declared - of_names <= sent


def test_what_the_browser_shares_with_python_is_made_of_python():
    for file, text in generated().items():
        assert file.read_text("utf-8") == text, "python -m attnviz.contract.typescript makes it again"


@of_each("name", [*ANSWERED])
def test_an_answer_has_the_pass_of_its_scene_or_says_why_there_is_none(name):
    fitted, answer = ANSWERED[name].resolved(), answers()[f"{name}: pass"]
    alone = answer["pass"] and answer["pass"] | {"other": None}
    assert alone == (fit_and_write(fitted) | {"other": None} if fitted.trace else None)
    assert set(fitted.refused) <= set(answer["notices"])
    assert bool(answer["offers"]) == (name == "words that a model does not know")


def keys(value):
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from keys(each)


@of_each("name", [*ADDRESSES])
def test_every_number_of_the_pass_is_in_its_document_bit_for_bit(name):
    trace = fitted_at(ADDRESSES[name]).trace
    written = documents()[name]["stages"]
    assert list(written) == [stage.name for stage in trace.stages]
    for stage in trace.stages:
        found = read(written[stage.name]["values"], stage.shape)
        assert found.tobytes() == stage.value.astype(float).tobytes(), stage.name


def test_a_model_says_where_it_answers_and_what_is_right_and_no_other_pass_does():
    model = fit_and_write(resolve(FIRST_VISIT))["model"]
    assert (model["read"], model["answers"], model["right"][-1]) == ("last", "probabilities", "animal")
    assert fit_and_write(resolve(Scene()))["model"] is None


@pytest.mark.parametrize("scene", [FIRST_VISIT, Scene()], ids=["first visit", "own sentence"])
def test_what_is_seen_first_is_at_most_100_kB(scene):
    assert len(json.dumps(document(resolve(scene)), ensure_ascii=False).encode()) <= 100_000


def test_the_first_document_of_a_language_model_is_at_most_200_kB_and_61_compressed():
    first = document_bytes(resolve(of_model("microgpt")))
    assert len(first) <= 200_000
    assert len(gzip.compress(first, 6)) <= 61_000


def test_a_large_pass_is_sent_head_by_head_and_stays_under_5_MB():
    fitted = resolve(LARGE)
    first = fit_and_write(fitted)
    sent = [piece is not None for piece in first["stages"]["scores"]["values"]]
    assert sent[0]
    assert not all(sent)
    assert None not in first["stages"]["attention"]["values"], "heads are looked at side by side"
    assert len(json.dumps(first)) <= 1_900_000
    more = document(fitted, whole=True)
    assert more["stages"]["scores"]["values"][7] is not None
    assert len(json.dumps(more)) <= 5_000_000


def test_a_compared_pass_shares_its_template_and_has_the_heads_that_are_requested():
    fitted = resolve(replace(LARGE, other=replace(LARGE, options=replace(LARGE.options, seed=6))))
    of_a = json.loads(document_json(fitted, ReplyNotes(whole=True)))["other"]["document"]
    assert of_a["template"]["parts"] is None
    assert None not in of_a["stages"]["scores"]["values"]


def test_the_head_in_focus_and_the_one_asked_for_last_are_always_sent():
    trace = resolve(LARGE).trace
    for wanted in ((7,), (0, 1, 2, 3, 4, 5, 6), (3, 3, 3), (5, 99, -1)):
        inside = [head for head in wanted if 0 <= head < 8]
        assert inside[-1] in heads_to_send(trace, wanted, 10)


BY_BLOCKS = {"sentence": " ".join(f"w{n}" for n in range(64)), "d_model": "128", "heads": "1", "blocks": "1"}


def rows_sent(fitted, **asked):
    """For each row of the running output whether it is sent, and the document."""
    sent = document(fitted, **asked)
    return [piece is not None for piece in sent["stages"]["running_output"]["values"]], sent


def test_what_a_query_collects_by_blocks_is_sent_row_by_row_and_in_a_file_whole():
    """Of 64 words that would be 5.6 MB: a row for each, of 64 keys and 128 dimensions."""
    fitted = fitted_at(BY_BLOCKS | {"cell": "1.60.1.1.1"})
    there, first = rows_sent(fitted)
    assert len(json.dumps(first)) <= 3_000_000
    assert [query for query, is_sent in enumerate(there) if is_sent] == [0, 59, 60, 61, 62, 63][-sum(there) :]
    there, asked = rows_sent(fitted, queries=(7,), slopes_of="output[7,1]")
    assert there[7]
    assert there[59], "the selected one stays"
    assert [piece is not None for piece in asked["slopes"]["values"]["running_output"]] == there
    assert len(json.dumps(asked)) <= 5_000_000
    assert all(rows_sent(fitted, whole=True)[0])


def test_what_a_change_moved_is_sent_with_the_numbers_before():
    fitted = resolve(replace(Scene(), changes=changes_of("attention[0,2,0]=1")))
    written = fit_and_write(fitted)
    assert [each["stage"] for each in written["moved"]] == ["attention", "heads", "concat", "contributions", "output"]
    for name, before in written["before"].items():
        original = fitted.original[name]
        assert (read(before, original.shape) == original.value).all()
        assert not np.array_equal(read(written["stages"][name]["values"], original.shape), original.value)
    assert written["changes"] == [{"text": "attention[head 1, sat, the] = 1", "stage": "attention", "index": [0, 2, 0]}]


@pytest.mark.parametrize("change", ["heads[1]=0", "scores[0,1]=2", "scores[1,1,2]=3"])
def test_all_numbers_that_a_change_sets_and_no_others_are_sent_as_set_by_hand(change):
    fitted = resolve(replace(Scene(), changes=changes_of(change)))
    ((stage, index, value),) = [(each.stage, each.index, each.value) for each in fitted.scene.changes]
    sent = fit_and_write(fitted)["stages"]
    marked = np.zeros(fitted.trace[stage].shape, dtype=bool)
    for first, n in sent[stage]["overridden"]:
        marked.flat[first : first + n] = True
    assert marked[index].all()
    assert marked.sum() == marked[index].size
    assert (read(sent[stage]["values"], marked.shape)[marked] == value).all()
    assert not any(each["overridden"] for name, each in sent.items() if name != stage)


def test_slopes_are_those_of_the_pass_with_its_changes():
    fitted = resolve(replace(Scene(), changes=changes_of("scores[0,1,2]=3")))
    sent = fit_and_write(fitted, slopes_of="output[1,0]")["slopes"]
    found = gradients(fitted.trace, "output", (1, 0))
    assert sent["of"] == "output[1,0]"
    assert sent["text"] == steepest(fitted.trace, "output", (1, 0), found)
    assert sent["values"].keys() == found.keys() - {"output"}
    for name, pieces in sent["values"].items():
        assert np.array_equal(read(pieces, found[name].shape), found[name]), name


def test_a_document_is_of_its_arrival_and_knows_where_steps_lead_that_its_pass_lacks():
    written = fit_and_write(fitted_at({}), arrival=3)
    steps = {step["id"] for step in written["steps"]}
    assert written["arrival"] == 3
    assert {each for each, shown in written["nearest"].items() if each == shown} == steps
    assert written["nearest"]["mask"] == "softmax"


@of_each("name", [*TRACES])
def test_what_a_step_speaks_of_is_of_its_layer_and_outside_of_layers_of_the_last(name):
    trace = TRACES[name]
    written = json.loads(bytes(template_of(trace).parts))
    for step in written["steps"]:
        names = trace.layers[(step["layer"] or trace.n_layers) - 1].names
        assert (step["attention"], step["heads"]) == (names["attention"], names["heads"])
        entering = {0} if trace.has_encoder else set()  # what enters a layer, and the memory, have no number
        assert {split_layer(stage)[1] for stage in step["stages"]} <= {step["layer"], *entering}
    for stage, sent in written["stages"].items():
        own, layer = split_layer(stage)
        assert sent["hiddenBy"] == (name_in_layer("masked", layer) if own in ("masked", "attention") else "")


def test_slopes_are_sent_of_the_heads_whose_numbers_are():
    words = " ".join(f"w{n}" for n in range(64))
    sent = fit_and_write(fitted_at({"sentence": words, "d_model": "64", "heads": "64"}), slopes_of="output[1,1]")
    numbers, found = sent["stages"]["scores"]["values"], sent["slopes"]["values"]["scores"]
    assert [each is None for each in found] == [each is None for each in numbers]
    assert None in found


@pytest.mark.parametrize("heads", ["1", "128"])
def test_the_costliest_address_is_answered_by_at_most_5_MB_and_8_with_all_heads(heads):
    address = largest.ADDRESS | {"heads": heads, "positions": "sinusoidal", "mask": "window", "mask_size": "64"}
    for whole, most in ((False, 5_000_000), (True, 8_000_000)):
        assert len(json.dumps(document(fitted_at(address), whole=whole, slopes_of="output[1,1]"))) <= most


def test_slopes_beyond_float64_are_a_sentence():
    trace = trace_of(Settings("the cat sat")).with_changes(
        Change("v", (0, 0, 0), 1.7e308), Change("w_o", (0, 0), 3.0), Change("scaled", (0, 0), -20.0)
    )
    found = slopes(trace, "output[0,0]")
    assert "beyond float64" in found.text
    assert found.values == {}


@of_each("name", [*TRACES])
def test_pieces_hold_every_number_also_those_of_one_head_alone(name):
    for stage in TRACES[name].stages:
        by_head = stage.is_headed
        pieces = chunks(stage.value, [[0]] if by_head else ())
        if not by_head:
            assert len(pieces) == 1
            continue
        assert (read(pieces[:1], stage.shape[1:]) == stage.value[0]).all()
        assert pieces[1:] == [None] * (stage.shape[0] - 1)


def test_a_piece_of_one_number_many_times_holds_it_once_and_zeros_of_both_signs_are_two():
    def n_numbers(values):
        return [len(base64.b64decode(piece)) // 8 for piece in chunks(np.array(values), [None])]

    assert n_numbers([[1.0, 1.0, 1.0], [1.0, 1.0, 2.0], [0.0, 0.0, -0.0]]) == [1, 3, 3]
    assert n_numbers([[True, True], [False, True]]) == [1, 2]


@pytest.mark.parametrize("name", [name for name in MODELS if name != "translator" and MODELS[name].training_data(0)])
def test_learning_is_of_the_word_selected_first(name):
    model = MODELS[name]
    trace = model.at(0).trace(model.examples[0][1])
    learning = model.learning(0, trace.origin.rows)
    attention = trace[trace.layers[-1].names["attention"]].value
    assert learning["rows"][-1] == [pytest.approx(row, abs=1e-6) for row in attention[:, learning["asking"]]]
    assert learning["asking"] == starts(trace)[0].query


def test_no_learning_for_changed_painted_or_long_passes():
    def learning(**address):
        return document(fitted_at({"model": "who-is-it"} | address))["model"]["training"]["learning"]

    assert learning()
    assert learning(changes="scores[0,0,0]=1") is None
    assert learning(hidden="01") is None
    assert learning(sentence=" ".join(["animal"] * 17)) is None
