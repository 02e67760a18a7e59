"""Evidence: many sentences at once are measured as each alone; and the page on what attention doesn't say says so."""

import base64
import functools
import json

import numpy as np
import plotly.graph_objects as go
import pytest
import streamlit as st
import translator_alone
from page import ROOT, components, opened, quiet, scene_of, sends

from attnviz.app.evidence import Figure, describe, figure
from attnviz.articles.evidence import evidence, text
from attnviz.articles.pieces import Side
from attnviz.models import MODELS
from attnviz.models.recipes import RECIPES
from attnviz.models.task import Batch
from attnviz.models.tasks.toy import ANIMAL_FIRST, ANIMALS, AT_IT, AT_LAST, OF_ANIMALS, OF_PLACES, PLACE_FIRST, PLACES
from attnviz.models.trained import recording_path
from attnviz.models.training import forward_batch, stages_for

PAGE = ROOT / "pages" / "what_attention_says.py"


def alone(model, sentence, hidden="nothing"):
    """One sentence by itself: attention on the right and the other noun, and whether it is answered right."""
    words = sentence.split()
    trace = model.trace(sentence)
    animal, place = (next(i for i, word in enumerate(words) if word in kind) for kind in (ANIMALS, PLACES))
    right, other = (animal, place) if words[-1] in OF_ANIMALS else (place, animal)
    for at in {"nothing": (), "right noun": (right,), "other noun": (other,)}[hidden]:
        for query in range(len(words)):
            trace = trace.with_change("mask", (query, at), 0)
    read = AT_IT if model.task.at_it else AT_LAST
    row = trace["attention"].value[0, read]
    answer = model.task.answers[trace["probabilities"].value[read].argmax()]
    return row[right], row[other], answer == words[right]


@pytest.mark.parametrize("hidden", ["nothing", "right noun", "other noun"])
@pytest.mark.parametrize(
    ("id", "seed", "checkpoint"),
    [("who-is-it", 3, 4), ("who-is-it", 0, None), ("at-it", 0, None), ("short-cut", 0, None)],
)
def test_many_sentences_at_once_are_measured_as_each_alone(id, seed, checkpoint, hidden):
    model, batch = MODELS[id].at(seed, checkpoint), MODELS[id].task.held_out().picked(slice(None, None, 16))
    found = evidence(model, batch, hidden)
    each = [alone(model, text(model, batch, place), hidden) for place in range(len(batch.tokens))]
    right, other, is_right = zip(*each, strict=True)
    np.testing.assert_allclose(found.right, right, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.other, other, rtol=0, atol=1e-12)
    assert found.accuracy == pytest.approx(np.mean(is_right))


def test_accuracy_counts_the_sentences_that_are_answered_right():
    model = MODELS["who-is-it"].at(2, None)
    batch = model.task.held_out().picked(slice(None, None, 4))
    found = evidence(model, batch, "right noun").accuracy
    each = [alone(model, text(model, batch, place), "right noun") for place in range(len(batch.tokens))]
    assert 0 < found < 1
    assert found == pytest.approx(np.mean([is_right for *_, is_right in each]))


def every_sentence(task):
    """All sentences as a batch, and where each has its right noun and the other."""
    texts = [
        form.format(animal=animal, place=place, adjective=adjective).split()
        for form in (ANIMAL_FIRST, PLACE_FIRST)
        for animal in ANIMALS
        for place in PLACES
        for adjective in OF_ANIMALS + OF_PLACES
    ]
    nouns = [
        [text[at] for at in ((1, 6) if (text[1] in ANIMALS) == (text[-1] in OF_ANIMALS) else (6, 1))] for text in texts
    ]
    tokens = np.array([[task.words.index(word) for word in text] for text in texts])
    at = AT_IT if task.at_it else AT_LAST
    is_target = np.zeros(tokens.shape, dtype=bool)
    is_target[:, at] = True
    answers = np.where(is_target, np.array([[task.answers.index(right)] for right, _ in nouns]), 0)
    places = np.array([[text.index(noun) for noun in each] for text, each in zip(texts, nouns, strict=True)])
    return Batch(tokens, answers, is_target), places, at


@pytest.mark.parametrize("id", ["who-is-it", "at-it"])
def test_what_a_model_looks_at_is_said_of_all_sentences(id):
    choice = MODELS[id]
    batch, places, at = every_sentence(choice.task)
    assert len(batch.tokens) == 720
    n_most_right, n_more_right = [], []
    for seed in choice.seeds:
        model = choice.at(seed, None)
        arrays = forward_batch(stages_for(model, batch), model.arrays, batch)
        assert (arrays["probabilities"].argmax(axis=-1) == batch.answers)[batch.is_target].all()
        rows = arrays["attention"][:, 0, at]
        right, other = np.take_along_axis(rows, places, axis=1).T
        n_most_right.append(np.count_nonzero(rows.max(axis=1) == right))
        n_more_right.append(np.count_nonzero(right > other))
    if id == "who-is-it":
        assert n_most_right == [600, 600, 600, 660, 660]
        assert "in five of six sentences or more the last word looks most at the noun that it fits" in choice.summary
        assert "in all of them it answers with that noun" in choice.summary
    else:
        assert n_more_right == [360]
        assert "in half of the sentences “it” looks more at the wrong noun" in choice.summary


def test_the_order_of_the_other_words_makes_no_difference_to_a_model_without_positions():
    model, random = MODELS["who-is-it"].at(0, None), np.random.RandomState(4)
    assert "shuffle the other words and the answer stays" in model.task.about
    for sentence in (TIRED, TIRED.replace("tired", "wide")):
        *others, last = sentence.split()
        shares = model.trace(sentence)["probabilities"].value[-1]
        shuffled = model.trace(" ".join([*random.permutation(others), last]))["probabilities"].value[-1]
        np.testing.assert_allclose(shuffled, shares, rtol=0, atol=1e-12)


def test_the_page_names_the_nouns_that_each_model_hardly_looks_at():
    says = said("**Sometimes the model")
    batch = MODELS["who-is-it"].task.held_out()
    for seed in range(5):
        right = held_out("who-is-it", seed).right
        nouns = np.array(MODELS["who-is-it"].task.answers)[batch.answers[:, -1]]
        means = {noun: right[nouns == noun].mean() for noun in (*ANIMALS, *PLACES)}
        little = [noun for noun, mean in means.items() if mean < 0.2]
        assert 1 <= len(little) <= 2
        assert min(mean for noun, mean in means.items() if noun not in little) > 0.5
        assert f"{' and '.join(little)} (seed {seed})" in says
    assert "which get under 20 % of the attention on average where they are right" in says


@functools.cache
def held_out(id, seed=0, checkpoint=None, hidden="nothing"):
    return evidence(MODELS[id].at(seed, checkpoint), MODELS[id].task.held_out(), hidden)


def percent(share):
    if 0.995 <= share < 1:
        return "over 99 %"
    return "under 1 %" if 0 < share < 0.01 else f"{int(round(100 * share, 9) + 0.5)} %"


def pieces(at):
    return [each for key, sent in components(at).items() if key.startswith("evidence_") for each in sent["pieces"]]


def paragraphs(at):
    """The paragraphs of the page, with what is emphasized as in Markdown."""
    marks = {"strong": "**", "em": "*"}
    for each in pieces(at):
        if each["kind"] == "text":
            yield "".join(f"{marks.get(style, '')}{text}{marks.get(style, '')}" for style, text in each["runs"])


def goes_through(at, label):
    """Press the button of a door."""
    (key,) = (
        key
        for key, sent in components(at).items()
        if key.startswith("evidence_")
        and any(each["kind"] == "door" and each["label"] == label for each in sent["pieces"])
    )
    (door,) = (each["door"] for each in pieces(at) if each["kind"] == "door" and each["label"] == label)
    return sends(at, key, "opened", door)


@functools.cache
def unused():
    """The page as it opens, for tests that only read it."""
    at = opened(PAGE)
    assert quiet(at)
    return at


def said(begins):
    """The text of the page that begins so, with plain spaces."""
    (found,) = (text for text in paragraphs(unused()) if text.startswith(begins))
    return found.replace("\N{NO-BREAK SPACE}", " ")


def test_the_page_says_how_two_models_differ_and_in_what_they_are_alike():
    last, it = held_out("who-is-it"), held_out("at-it")
    said_of_attention = said("Two models")
    assert last.accuracy == it.accuracy == 1
    assert f"Of {len(last.right)} held-out sentences both answer 100 % right" in said_of_attention
    assert last.right.mean() > 0.8
    assert abs(it.right.mean() - it.other.mean()) < 0.02
    numbers = [percent(share.mean()) for share in (last.right, last.other, it.right, it.other)]
    assert (
        f"pays **{numbers[0]}** of its attention to the right noun and {numbers[1]} to the other" in said_of_attention
    )
    assert f"the second **{numbers[2]}** and **{numbers[3]}**" in said_of_attention
    assert f"In {percent((it.right <= it.other).mean())} of the sentences it looks more at" in said_of_attention
    stay = {
        hidden: {held_out(id, hidden=hidden).accuracy for id in ("who-is-it", "at-it")}
        for hidden in ("right noun", "other noun")
    }
    (kept,), (lost,) = stay["other noun"], stay["right noun"]
    assert (kept, lost < 0.2) == (1, True)
    says = said("**What says more")
    assert f"Hide the right noun from all words, and {percent(lost)} of the answers stay right" in says
    assert "hide the other noun, and 100 % do" in says


def test_the_page_says_where_the_short_cut_fails():
    own, batch = held_out("short-cut"), MODELS["short-cut"].task.second_nouns()
    other, honest = (evidence(MODELS[id].at(0, None), batch) for id in ("short-cut", "who-is-it"))
    assert (own.accuracy, other.accuracy, honest.accuracy) == (1, 0, 1)
    says = said("In all sentences")
    assert f"Of {len(own.right)} held-out sentences of that kind it answers **100 %** right" in says
    assert f"with {percent(own.right.mean())} of its attention on the right noun" in says
    assert f"Of {len(other.right)} sentences in which the second noun is right it answers **0 %** right" in says
    assert f"{percent(other.other.mean())} of its attention is on the first noun" in says
    assert says.endswith("trained on both kinds, answers 100 % right.")


def test_the_page_says_how_convincing_random_parameters_look():
    untrained, trained = ([held_out("who-is-it", seed, place) for seed in range(5)] for place in (0, None))
    says = said("Before their training")
    table, _ = (each for each in pieces(unused()) if each["kind"] == "table")
    shares, telling = ([f(each) for each in untrained] for f in (lambda e: e.right.mean(), lambda e: e.rather_right))
    assert f"gets {percent(min(shares))} to {percent(max(shares))} of the attention on average" in says
    assert f"an even share would be {percent(1 / 12)}" in says
    assert f"more than the *other* noun in {percent(min(telling))} to {percent(max(telling))}" in says
    best = max(range(5), key=lambda seed: untrained[seed].right.max())
    assert f"the most telling one, of seed {best}" in says
    for seed, (before, after, line) in enumerate(zip(untrained, trained, table["rows"], strict=True)):
        cells = [
            f"{percent(f(before))} → {percent(f(after))}"
            for f in (lambda e: e.right.mean(), lambda e: (e.right > e.other).mean(), lambda e: e.accuracy)
        ]
        assert [each.replace("\N{NO-BREAK SPACE}", " ") for each in line] == [str(seed), *cells]


@functools.cache
@functools.cache
def of_own_word(french, seed):
    """The attention of a French word to the English one that it translates, and whether it is right without that, for
    each held-out sentence that has it; sentence by sentence, in NumPy alone.
    """
    task, arrays = MODELS["translator"].task, translator_alone.parameters(recording_path(RECIPES["translator"]), seed)
    batch, found = task.held_out(), []
    for nth, row in np.argwhere(batch.is_target & (batch.answers == task.answers.index(french))):
        texts = batch.source[nth, batch.is_source[nth]], batch.tokens[nth, : row + 1]
        own = np.flatnonzero(batch.translates[nth, row])
        _, (*_, weights) = translator_alone.forward(arrays, *texts)
        logits, _ = translator_alone.forward(arrays, *texts, unread=[(row, place) for place in own])
        found.append((weights[0, -1, own].sum(), task.answers[logits[-1].argmax()] == french))
    return np.mean(found, axis=0)


@pytest.mark.parametrize("french", ["chat", "il", "pas", "est"])
def test_the_page_says_what_translators_read_and_what_they_write_without_it(french):
    (table,) = (each for each in pieces(unused()) if each["kind"] == "table" and "French word" in each["head"])
    (line,) = (each for each in table["rows"] if each[0] == french)
    expected = [percent(of_own_word(french, seed)[what]) for what in (0, 1) for seed in range(3)]
    assert [each.replace("\N{NO-BREAK SPACE}", " ") for each in line[2:]] == expected
    says = said("Three translators") + said("**Hide the English")
    assert {"chat": expected[0], "il": expected[5], "pas": expected[4], "est": expected[3]}[french] in says


TIRED = "the animal did not cross the street because it was too tired"


def hidden_animal(trace):
    """The pass in which no word sees the animal."""
    for query in range(len(trace.labels["query"])):
        trace = trace.with_change("mask", (query, 1), 0)
    return trace


def answer(trace):
    probabilities = trace["probabilities"].value[AT_LAST]
    return trace.labels["answer"][probabilities.argmax()], probabilities.max()


def test_the_page_says_which_model_answers_without_a_look():
    seeds = range(5)
    passes = [MODELS["who-is-it"].at(seed, None).trace(TIRED) for seed in seeds]
    looks = [trace["attention"].value[0, AT_LAST, 1] for trace in passes]
    (seed,) = (seed for seed in seeds if looks[seed] < 0.02)
    assert [answer(trace)[0] for trace in passes] == ["animal"] * 5
    says = said("**Sometimes the model")
    assert f"Trained from seed {seed}, the first model pays “animal” only {percent(looks[seed])} of the" in says
    assert answer(hidden_animal(passes[seed]))[0] == "animal"
    assert min(answer(passes[seed])[1], answer(hidden_animal(passes[seed]))[1]) > 0.99
    assert "answers **animal** with over 99 %." in says
    assert "the answer is **animal** with over 99 %:" in says
    for other in ANIMALS[1:]:
        trace = MODELS["who-is-it"].at(seed, None).trace(TIRED.replace("animal", other))
        assert answer(trace)[0] == other
    other, _ = answer(hidden_animal(passes[0]))
    assert other != "animal"
    assert f"hide “animal”, and the answer is **{other}**." in says


def columns(at, key):
    """What the columns of a heatmap are called."""
    (chart,) = (each.proto for each in at.get("plotly_chart") if each.proto.id.endswith(f"-{key}"))
    return json.loads(chart.spec)["layout"]["xaxis"]["ticktext"]


@pytest.mark.parametrize(
    ("label", "scene"),
    [
        ("Read at the last word", ("who-is-it", 0, TIRED)),
        ("Read at the last word, seed 4", ("who-is-it", 4, TIRED)),
        ("Read at “it”", ("at-it", 0, TIRED)),
        ("Wide", ("short-cut", 0, TIRED.replace("tired", "wide"))),
    ],
)
def test_a_door_opens_what_its_picture_shows(monkeypatch, label, scene):
    monkeypatch.setattr("streamlit.switch_page", lambda page: None)  # the page is opened without the router
    at = opened(PAGE)
    goes_through(at, label)
    kept = scene_of(at)
    assert (kept.source, kept.model_seed, kept.sentence) == scene


def test_a_door_opens_the_very_model_and_sentence(monkeypatch):
    monkeypatch.setattr("streamlit.switch_page", lambda page: None)  # the page is opened without the router
    at = opened(PAGE)
    goes_through(at, "The most telling sentence, untrained")
    at.run()
    seed, checkpoint = int(at.query_params["seed"]), int(at.query_params["checkpoint"])
    model, batch = MODELS["who-is-it"].at(seed, checkpoint), MODELS["who-is-it"].task.held_out()
    found = evidence(model, batch)
    assert at.query_params.get("model", "who-is-it") == "who-is-it"
    assert at.query_params["sentence"] == text(model, batch, int(found.right.argmax()))
    assert found.right.max() == max(held_out("who-is-it", seed, 0).right.max() for seed in range(5))


@pytest.mark.parametrize(
    ("key", "rows"),
    [
        (
            "measurement_1",
            [("who-is-it", 0, "tired", AT_LAST), ("at-it", 0, "tired", AT_IT), ("who-is-it", 4, "tired", AT_LAST)],
        ),
        ("measurement_2", [("short-cut", 0, "tired", AT_LAST), ("short-cut", 0, "wide", AT_LAST)]),
    ],
)
def test_the_rows_that_are_drawn_are_those_of_the_models_and_words_beside_them(key, rows):
    (chart,) = (each.proto for each in unused().get("plotly_chart") if each.proto.id.endswith(f"-{key}"))
    z = json.loads(chart.spec)["data"][0]["z"]
    drawn = np.frombuffer(base64.b64decode(z["bdata"]), z["dtype"]).reshape(len(rows), -1)
    for row, (id, seed, adjective, place) in zip(drawn, rows, strict=True):
        trace = MODELS[id].at(seed).trace(f"the animal did not cross the street because it was too {adjective}")
        np.testing.assert_array_equal(row, trace["attention"].value[0, place])


def test_a_chart_is_told_in_words_row_by_row_without_its_zeros():
    rows, columns = Side("queries", ("a", "b")), Side("keys", ("x", "y", "z"))
    told = describe(np.array([[0.5, 0, -2.0], [0, 0, 0]]), rows, columns)
    assert told == "Chart of a matrix, queries by keys. a: x 0.50, z −2; b: zeros."


def test_a_chart_is_what_plotly_itself_makes_of_it():
    rows, columns = Side("a <b>", ("x", "y")), Side("", ("1", "1", "long one"))
    for values in (np.array([[0, 1e-300, 0.5], [1, 0.3, 0.1]]), np.eye(2, 3)):
        sent = figure(values, rows, columns).to_dict()
        layout = {name: part for name, part in sent["layout"].items() if name != "template"}
        assert go.Figure(sent["data"], layout).to_dict() == sent
        np.testing.assert_array_equal(go.Figure([go.Heatmap(z=values)]).to_dict()["data"][0]["z"], sent["data"][0]["z"])


def test_streamlit_asks_a_figure_for_its_data_alone():
    """Ours is never made as Plotly makes its own: whatever else it is asked for fails."""
    asked = []

    class Watched(Figure):
        def __getattribute__(self, name):
            asked.append(name)
            return super().__getattribute__(name)

    figure = Watched([{"type": "scatter", "y": [1, 2]}], {"width": 100})
    asked.clear()
    st.plotly_chart(figure, width=100, key="chart")
    assert {name for name in asked if not name.startswith("__")} == {"to_dict", "_sent"}
