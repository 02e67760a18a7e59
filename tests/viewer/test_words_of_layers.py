"""A selection in a pass whose layers have words of their own: a step of another layer shows a word that it has."""

import json
from itertools import product

import pytest
from alone import sent
from documents import document_of, given
from page import ROOT
from passes import TWO_TEXTS
from tab import at, expect


@pytest.fixture(scope="module")
def walked(node):
    """Where each move of some walks leads, of each pass; `walks_in(trace)` are the walks."""

    def follow(walks_in):
        asked = given([(trace, {"walks": walks_in(trace)}) for trace in TWO_TEXTS.values()])
        found = json.loads(node(str(ROOT / "tests/js/answers.mjs"), "walks", text=asked))
        return zip(TWO_TEXTS.values(), found, strict=True)

    return follow


def words_of(layer):
    return [axis.labels for axis in layer.trace.axes("scores")[-2:]]


def layers_in(trace):
    """A step of each layer, and the words there."""
    return {f"softmax-{layer.number}": words_of(layer) for layer in trace.layers}


def steps_in(trace):
    """The layer of each step, counted from 0."""
    return {step["id"]: (step["layer"] or trace.n_layers) - 1 for step in document_of(trace)["steps"]}


def test_every_step_shows_words_of_its_layer(walked):
    """Wherever one comes from, the selected words are the layer's, and each stage there is read at them."""

    def moves(trace):
        places = product([*layers_in(trace), "whole-pass"], ({"query": 1, "key": 0}, {"query": 99, "key": 99}))
        return [[move for one, picked in places for step in steps_in(trace) for move in (one, picked, step)]]

    for trace, (walk,) in walked(moves):
        layers = steps_in(trace)
        for found in walk:
            queries, keys = words_of(trace.layers[layers[found["step"]]])
            query, key = found["words"]
            assert query in queries, found
            assert key in keys, found
            for name, labels in found["shown"]:
                for (axis, label), each in zip(labels, trace.axes(name), strict=True):
                    words, word = (keys, key) if axis == "key" else (queries, query)
                    if axis in ("query", "key", "token") and each.labels == words:
                        assert label == word, (found["step"], name)


def test_picked_words_wait_in_their_layer(walked):
    """Whoever comes back finds the words that were picked there; a layer with one of them goes on at that."""

    def pairs_of(trace):
        return [*product(layers_in(trace), repeat=2)]

    def picked(trace, one):
        return max(0, len(layers_in(trace)[one][0]) - 2)

    def walks(trace):
        return [[one, {"query": picked(trace, one), "key": 0}, other, one] for one, other in pairs_of(trace)]

    for trace, found in walked(walks):
        layers, (_, *starts) = layers_in(trace), document_of(trace)["starts"]
        for (one, other), (_, chosen, entered, back) in zip(pairs_of(trace), found, strict=True):
            queries, keys = layers[one]
            query = queries[picked(trace, one)]
            assert back["words"] == chosen["words"] == [query, keys[0]]
            there, seen = layers[other]
            if there in (queries, keys):
                assert entered["words"][0] == (query if there == queries else keys[0]), (one, other)
                if there == seen and layers[one] != layers[other]:  # then the word that it looks at most
                    at = [*layers].index(other)
                    weights = trace.layers[at].trace["attention"].value[starts[at]["head"]]
                    assert entered["words"][1] == seen[weights[there.index(entered["words"][0])].argmax()], (one, other)


def test_layers_begin_where_they_start(walked):
    """Whoever has picked nothing sees each layer's start, as whoever opens its address."""
    for trace, found in walked(lambda trace: [[*pair] for pair in product(layers_in(trace), repeat=2)]):
        layers, (_, *starts) = layers_in(trace), document_of(trace)["starts"]
        for (_, other), (*_, last) in zip(product(layers, repeat=2), found, strict=True):
            start = starts[[*layers].index(other)]
            assert last["words"] == [
                words[start[role]] for words, role in zip(layers[other], ("query", "key"), strict=True)
            ]


TRANSLATOR = {"model": "translator", "sentence": "the black cat sleeps", "written": "le chat noir dort"}
ENGLISH, FRENCH = ["the", "black", "cat", "sleeps", "<end>"], ["<begin>", "le", "chat", "noir", "dort"]
LABELS = """(tile) => [tile.querySelector(".name span").textContent, ...["columnheader", "rowheader"].map((role) =>
  [...tile.querySelectorAll(`[role=${role}], ${role === "rowheader" ? "th[scope=row]" : "th[scope=col]"}`)]
    .map(({ textContent }) => textContent))]"""


def test_heads_of_a_translator_stand_beside_each_other(opened):
    page = opened(at(step="softmax-3", view="heads"), **TRANSLATOR, changes="heads_1[:]=0")
    tiles = page.locator(".tile")
    found = [tile.evaluate(LABELS) for tile in tiles.all()]
    titles = ["English looks at English, head 1", "English looks at English, head 2", "French so far"]
    assert [name for name, *_ in found] == [*titles, "French reads English"]
    for (_, columns, rows), (keys, queries) in zip(
        found, [(ENGLISH, ENGLISH)] * 2 + [(FRENCH, FRENCH), (ENGLISH, FRENCH)], strict=True
    ):
        assert columns[-5:] == keys
        assert rows == queries
    tops = {tile.bounding_box()["y"] for tile in tiles.all()}
    assert len(tops) == 1
    assert ["muted" in tile.locator(".kind").inner_text() for tile in tiles.all()] == [True, True, False, False]


def test_panel_names_text_and_layer(opened):
    """A word that both texts have would not be told apart by itself."""
    page = opened(at(step="softmax-3", view="sheet", cell="1.4.2.1.1"), **TRANSLATOR)
    page.get_by_role("button", name="Hide English “black” from what comes after “noir”").click()
    assert sent(page)[-1] == ["change", {"cell": "mask_3[3,1]", "value": 0}]
    page = opened(at(step="softmax-1", view="sheet", cell="1.2.3.1.1"), **TRANSLATOR)
    page.get_by_role("button", name="Hide “cat” from “black” in “English looks at English”").click()
    assert sent(page)[-1] == ["change", {"cell": "mask_1[1,2]", "value": 0}]
    page = opened(at(step="softmax-2", view="sheet", cell="1.4.2.1.1"), **TRANSLATOR, changes="heads_2[:]=0")
    page.get_by_role("button", name="Unmute “French so far”").click()
    assert sent(page)[-1] == ["drop", 0]


def test_words_are_picked_in_their_layer(opened):
    page = opened(at(step="softmax-3", view="matrices"), **TRANSLATOR)
    page.get_by_role("listbox", name="Queries").get_by_role("option", name="noir").click()
    page.get_by_role("listbox", name="Keys").get_by_role("option", name="black").click()
    for layer, step, number in (
        ("1 English → English", "softmax-1", "attention_1[head 2, black,"),
        ("3 French → English", "softmax-3", "attention_3[head 1, noir, black]"),
    ):
        page.locator(".map").get_by_role("button", name=layer).click()
        page.locator(f'.map [data-step="{step}"]').click()
        expect(page.locator(".panel h3")).to_contain_text(number)


def test_the_whole_pass_of_a_translator_names_its_blocks(opened):
    page = opened(at(step="whole-pass"), **TRANSLATOR)
    rows = page.locator(".whole .row").all()
    assert [row.get_attribute("data-layer").partition(":")[0] for row in rows] == ["Encoder", "Decoder", "Decoder"]
