"""Models: what they read and answer, where what is said of them is from; training, its slopes and what it reached."""

import itertools
import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from page import ROOT

from attnviz.core.changes import Change
from attnviz.core.errors import SettingsError
from attnviz.core.rng import stream
from attnviz.explain.wording import percent
from attnviz.models import MODELS, trained
from attnviz.models.recipes import RECIPES
from attnviz.models.task import Batch
from attnviz.models.tasks.toy import Reference
from attnviz.models.trained import measures
from attnviz.models.training import Adam, accuracy, forward_batch, gradients, loss, stages_for, train

CHECKPOINTS = [
    (id, seed, place)
    for id, choice in MODELS.items()
    for seed in choice.seeds
    for place in range(len(choice.checkpoints(seed)))
]
REFERENCE = [recipe for recipe in RECIPES.values() if isinstance(recipe.task, Reference)]


def model(id):
    return MODELS[id].at(MODELS[id].seeds[0], None)


def answer(trace):
    return trace.axes("probabilities")[-1].label(trace["probabilities"].value[-1].argmax())


ASKING = [id for id, choice in MODELS.items() if not choice.task.is_open]
"""The models whose questions have right answers."""


@pytest.mark.parametrize("id", ASKING)
def test_examples_are_answered_rightly(id):
    for _, text in MODELS[id].examples:
        trace = model(id).trace(text)
        answers = [
            trace.axes("probabilities")[-1].label(place) for place in trace["probabilities"].value.argmax(axis=-1)
        ]
        known = [(right, answer) for right, answer in zip(trace.origin.right, answers, strict=True) if right]
        assert known
        if id != "short-cut":
            assert all(right == answer for right, answer in known)


def test_short_cut_knows_only_the_first_noun():
    found = {}
    for label, text in MODELS["short-cut"].examples:
        trace = model("short-cut").trace(text)
        found[label] = answer(trace), trace.origin.right[-1], text.split()[1]
    assert all(answer == first for answer, _, first in found.values())
    assert {answer == right for answer, right, _ in found.values()} == {True, False}


OF_ONE_TEXT = {id: recipe for id, recipe in RECIPES.items() if id != "translator"}
"""Those that read one text; the translator has its own tests."""


@pytest.mark.parametrize("recipe", OF_ONE_TEXT.values(), ids=OF_ONE_TEXT)
def test_batch_equals_single_texts(recipe):
    batch = recipe.task.held_out().picked(slice(-200, None))
    trained = recipe.untrained(0)
    together = forward_batch(stages_for(trained, batch), trained.arrays, batch)["probabilities"]
    for text in (0, 7, len(together) - 1):
        is_there = batch.is_target[text] if recipe.task.is_open else slice(None)  # what follows an end is no text
        alone = trained.read(tuple(recipe.task.words[place] for place in batch.tokens[text][is_there]))
        np.testing.assert_allclose(together[text][is_there], alone["probabilities"].value, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_batch_targets_match_right_answers(recipe):
    task = recipe.task
    if task.is_open:
        pytest.skip("nobody knows what comes next")
    for batch in (task.batch(np.random.RandomState(3), 20), task.held_out()):
        for tokens, answers, asked in zip(*batch, strict=True):
            told = [task.answers[answer] if is_asked else None for answer, is_asked in zip(answers, asked, strict=True)]
            assert list(task.right([task.words[place] for place in tokens])) == told
            if task.read == "last":
                assert np.flatnonzero(asked).tolist() == [len(tokens) - 1]


@pytest.mark.parametrize("recipe", REFERENCE, ids=lambda recipe: recipe.id)
def test_held_out_texts_are_in_no_batch(recipe):
    trained_on = {tuple(row) for row in recipe.task.batch(np.random.RandomState(3), 4000).tokens.tolist()}
    held_out = {tuple(row) for row in recipe.task.held_out().tokens.tolist()}
    assert len(trained_on) == len(held_out) == (180 if recipe.id == "short-cut" else 360)
    assert not trained_on & held_out


@pytest.mark.parametrize(
    ("id", "text", "right"),
    json.loads((ROOT / "tests/data/right_answers.json").read_text("utf-8")),
)
def test_right_answer_is_known_only_for_task_texts(id, text, right):
    assert model(id).trace(text).origin.right[-1] == right


@pytest.mark.parametrize("seed", range(4))  # the model of seed 4 says "animal" where it sees no noun that fits
def test_hiding_the_attended_word_changes_the_answer(seed):
    trace = MODELS["who-is-it"].at(seed).trace("the animal did not cross the street because it was too tired")
    place = int(trace["attention"].value[0, -1].argmax())
    assert answer(trace) == trace.labels["key"][place] == "animal"
    hidden = trace.with_changes(*(Change("mask", (query, place), 0) for query in range(12)))
    assert answer(hidden) != "animal"


def test_order_matters_only_with_positions():
    texts = [
        f"the {first} did not cross the {second} because it was too wide"
        for first, second in (("dog", "road"), ("road", "dog"))
    ]
    blind, seeing = ([model(id).trace(text) for text in texts] for id in ("who-is-it", "short-cut"))
    assert [answer(trace) for trace in blind] == ["road", "road"]
    np.testing.assert_allclose(*(trace["probabilities"].value[-1] for trace in blind), atol=1e-12)
    assert answer(seeing[0]) == "dog" != answer(seeing[1])


def test_words_are_read_in_any_case():
    assert model("who-is-it").tokens("The ANIMAL\n was\ttired") == ("the", "animal", "was", "tired")
    assert model("mirror").tokens("12 345678") == tuple("12345678")
    assert model("recall").tokens("G5d6 g") == tuple("g5d6g")
    assert model("by-hand").tokens("abca") == model("by-hand").tokens("^ a b c a") == tuple("^abca")
    assert model("by-hand").split("abca") == tuple("abca")


@pytest.mark.parametrize(
    ("id", "text", "says"),
    [
        ("who-is-it", " ", "no words yet. This model knows animal, dog"),
        (
            "who-is-it",
            "the Zebra saw the zebra",
            "“zebra”, “saw”: not among the words of this model. This model knows animal, dog",
        ),
        ("who-is-it", "the " * 65, "This model reads at most 64 tokens; this text has 65. Shorten it."),
        ("who-is-it", "the " * 501, "at most 2,000 characters; got 2,004"),
        ("who-is-it", None, "sentence must be text; got NoneType"),
        ("mirror", "123456789", "at most 8 tokens, one for each of its positions; this text has 9."),
        ("mirror", "12a", "“12a”: not among the words of this model. This model knows 0, 1, 2, 3, 4, 5, 6, 7, 8, 9."),
        ("recall", "a 1 " * 5, "at most 9 tokens, one for each of its positions; this text has 10."),
        ("by-hand", "a" * 16, "at most 15 tokens"),
    ],
)
def test_unreadable_text_gets_help(id, text, says):
    with pytest.raises(SettingsError, match=re.escape(says)):
        model(id).trace(text)


@pytest.mark.parametrize(
    ("seed", "place", "says"),
    [
        (9, 0, "seed must be one of 0, 1, 2, 3, 4 for this model; got 9."),
        (0, 12, "checkpoint must be a whole number from 0 to 11; got 12."),
        (0, -1, "checkpoint must be a whole number from 0 to 11; got -1."),
    ],
)
def test_unknown_checkpoint_gets_help(seed, place, says):
    with pytest.raises(SettingsError, match=re.escape(says)):
        MODELS["who-is-it"].at(seed, place)
    with pytest.raises(SettingsError, match=re.escape(says)):
        MODELS["who-is-it"].training_data(seed, place)


def test_pass_states_its_parameters_origin():
    for id, seed, place in CHECKPOINTS:
        trace = MODELS[id].at(seed, place).trace(MODELS[id].examples[0][1])
        expected = "built" if id == "by-hand" else "learnt" if place else "drawn"
        assert trace.origin.kind == expected
        assert "{sentence}" in trace.origin.question
        recipes = {stage.operation.recipe for stage in trace.stages if stage.is_given and "mask" not in stage.name}
        assert recipes == {
            {
                "drawn": "drawn at random, before any training",
                "learnt": "learnt in training",
                "built": "chosen by hand",
            }[expected]
        }


def test_model_is_described():
    assert {id: MODELS[id].fixed_settings for id in ("who-is-it", "recall", "by-hand")} == {
        "who-is-it": "d_model 8, 1 layer, 1 head, no residual stream, no mask, no positions",
        "recall": "d_model 16, 2 layers, 1 head in each, a residual stream, a causal mask, positions for 9 tokens",
        "by-hand": "d_model 16, 2 layers, 1 head in each, a residual stream, a causal mask, positions for 16 tokens",
    }
    own = model("who-is-it")
    twice = {name: np.repeat(getattr(own.layers[0], name), 2, axis=0) for name in ("w_q", "w_k", "w_v")}
    assert "1 layer, 2 heads, no" in replace(own, layers=(replace(own.layers[0], **twice),)).description


@pytest.mark.parametrize("place", [0, 5, 11])
def test_kinds_table_equals_the_matrices(place):
    """Adjective by adjective and noun by noun, from the matrices alone."""
    choice = MODELS["who-is-it"]
    model, shown = choice.at(0, place), choice.training_data(0, place)["kinds"]
    word = dict(zip(model.task.words, model.embedding, strict=True))
    (parameters,) = model.layers
    rows, columns = ([model.task.words_by_kind[kind] for kind in kinds] for kinds in model.task.kinds)
    for row, asking in enumerate(rows):
        for column, answering in enumerate(columns):
            scores = [word[a] @ parameters.w_q[0] @ parameters.w_k[0].T @ word[b] for a in asking for b in answering]
            assert shown["values"][row][column] == pytest.approx(np.mean(scores) / np.sqrt(8), abs=1e-9)


ASKING_RECIPES = {id: recipe for id, recipe in RECIPES.items() if not recipe.task.is_open}
"""Those whose questions have right answers; what comes next in a name is measured in test_microgpt."""

SEEDS = [(id, seed) for id, recipe in ASKING_RECIPES.items() for seed in range(recipe.seeds)]


@pytest.mark.parametrize("recipe", OF_ONE_TEXT.values(), ids=OF_ONE_TEXT)
def test_loss_gradients_are_central_differences(recipe):
    small = replace(recipe, d_model=recipe.n_heads + 2 * (recipe.n_heads == 1), n_neurons=min(recipe.n_neurons, 5))
    small = replace(small, spread=recipe.spread and 0.5).untrained(5)
    batch = recipe.task.batch(np.random.RandomState(1), 4)
    stages, parameters, step = stages_for(small, batch), small.arrays, 1e-5
    found = gradients(stages, parameters, batch)
    assert found.keys() == parameters.keys()

    def moved(name, index, by):
        other = parameters[name].copy()
        other[index] += by
        return loss(forward_batch(stages, parameters | {name: other}, batch)["probabilities"], batch)

    for name, array in parameters.items():
        expected = [(moved(name, at, step) - moved(name, at, -step)) / (2 * step) for at in np.ndindex(array.shape)]
        assert np.any(expected)
        np.testing.assert_allclose(found[name].ravel(), expected, atol=1e-8, err_msg=name)


@pytest.mark.parametrize("id", ["mirror", "at-it", "short-cut"])
def test_training_repeats_the_recording(id):
    """Of those that take the least; what all have learnt is measured again in every checkpoint."""
    recipe = RECIPES[id]
    *_, trained = train(recipe, 0)
    found = measures(trained, recipe.task.held_out())
    assert found["accuracy"] >= 0.9998
    assert MODELS[recipe.id].curve(0)[-1][2] >= 0.9998
    recorded = MODELS[recipe.id].training_data(0, None)["patterns"]
    for pattern in recorded:  # another processor rounds otherwise, which may lead elsewhere, but not far
        assert found["patterns"][pattern["label"]] == pytest.approx(pattern["value"], abs=0.05)


@pytest.mark.parametrize(("id", "seed"), SEEDS)
def test_checkpoints_match_their_recorded_figures(id, seed):
    choice, held_out = MODELS[id], RECIPES[id].task.held_out()
    curve = {step: figures for step, *figures in choice.curve(seed)}
    assert list(choice.checkpoints(seed)) == list(RECIPES[id].checkpoints)
    assert list(curve) == sorted(curve)
    assert (min(curve), max(curve)) == (0, RECIPES[id].steps)
    for place, step in enumerate(choice.checkpoints(seed)):
        found = measures(choice.at(seed, place), held_out)
        assert [found["loss"], found["accuracy"]] == pytest.approx(curve[step], abs=2e-4)
        recorded = choice.training_data(seed, place)["patterns"]
        assert found["patterns"] == pytest.approx({each["label"]: each["value"] for each in recorded}, abs=2e-4)


@pytest.mark.parametrize(("id", "seed"), SEEDS)
def test_held_out_overlap_is_recorded(id, seed):
    task, data = RECIPES[id].task, MODELS[id].training_data(seed, None)
    random = stream(f"{id}, batches", seed)
    task.batch(random, 1)  # of which the graph is made
    drawn = {text.tobytes() for _ in range(RECIPES[id].steps) for text in task.batch(random, RECIPES[id].batch).tokens}
    held_out = task.held_out().tokens
    assert (data["heldOut"], data["met"]) == (len(held_out), sum(text.tobytes() in drawn for text in held_out))
    assert data["met"] == (2 if (id, seed) == ("recall", 2) else 0)


@pytest.mark.parametrize(("id", "seed"), SEEDS)
def test_trained_patterns(id, seed):
    data = MODELS[id].training_data(seed, None)
    first, *others = [pattern["value"] for pattern in data["patterns"]]
    assert data["curve"][-1][2] >= 0.9998
    if id == "who-is-it":
        (tired_animal, tired_street), (wide_animal, wide_street) = data["kinds"]["values"]
        assert first > 0.8
        assert min(tired_animal, wide_street) > 7 > -7 > max(tired_street, wide_animal)
    elif id == "mirror":
        assert first > 0.99
    elif id == "recall":
        assert min(first, *others) > 0.97
    elif id == "at-it":
        assert first == pytest.approx(others[0], abs=0.05)


def test_short_cut_fails_on_other_sentences():
    task, model = RECIPES["short-cut"].task, MODELS["short-cut"].at(0, None)
    others = task.second_nouns()
    assert len(others.tokens) == 360
    assert measures(model, task.held_out())["accuracy"] == 1
    assert measures(model, others)["accuracy"] < 0.1


def test_mirror_needs_positions():
    *_, blind = train(replace(RECIPES["mirror"], n_places=0), 0)
    assert measures(blind, RECIPES["mirror"].task.held_out())["accuracy"] < 0.35


def test_recording_equals_training(tmp_path, monkeypatch):
    monkeypatch.setattr(trained, "FOLDER", tmp_path)
    monkeypatch.setattr(trained, "CURVE_POINTS", 5)
    recipe = replace(RECIPES["mirror"], checkpoints=(0, 3, 20), seeds=2)
    trained.record(recipe)
    kept, held_out = trained.TrainedModel(recipe), recipe.task.held_out()
    for seed in kept.seeds:
        models = list(train(recipe, seed))
        curve = {step: figures for step, *figures in kept.curve(seed)}
        assert list(curve) == [0, 3, 4, 8, 12, 16, 20]
        for place, step in enumerate(recipe.checkpoints):
            model = kept.at(seed, place)
            for name, array in models[step].arrays.items():
                np.testing.assert_array_equal(model.arrays[name], array.round(1))
            found = measures(model, held_out)
            assert curve[step] == [found["loss"], found["accuracy"]]


def test_loss_and_accuracy_count_targets_only():
    probabilities = np.array([[[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]], [[0.0, 1.0, 0.0], [0.25, 0.25, 0.5]]])
    batch = Batch(None, np.array([[1, 2], [0, 0]]), np.array([[True, True], [False, True]]))
    assert loss(probabilities, batch) == pytest.approx(-(math.log(0.3) + math.log(0.8) + math.log(0.25)) / 3)
    assert accuracy(probabilities, batch) == pytest.approx(1 / 3)
    impossible = Batch(None, np.zeros((2, 2), int), np.array([[False, False], [True, False]]))
    assert loss(probabilities, impossible) == pytest.approx(-math.log(np.finfo(float).tiny))


def test_adam_follows_the_paper():
    """Algorithm 1 of Kingma and Ba 2015, in Python floats; the rate rises in 20 steps and falls in the last quarter."""
    rates = [0.1 * min(1, step / 20, (101 - step) / 25) for step in range(1, 101)]
    adam, found = Adam(0.1, 100), {"w": np.array([1.0])}
    w, mean, square = 1.0, 0.0, 0.0
    for step, rate in enumerate(rates, start=1):
        slope = math.sin(step) + w
        found = adam.step(found, {"w": np.array([math.sin(step)]) + found["w"]})
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
        w -= rate * (mean / (1 - 0.9**step)) / (math.sqrt(square / (1 - 0.999**step)) + 1e-8)
        assert found["w"][0] == pytest.approx(w, rel=1e-9)


TIRED = "the animal did not cross the street because it was too tired"


def test_learning_matches_the_recorded_passes():
    """The numbers that the picture of the training shows, against a pass of each checkpoint."""
    model = MODELS["who-is-it"]
    words = model.task.split(TIRED)
    learning = model.learning(0, tuple(model.task.words.index(word) for word in words))
    at = {}
    for step, (row,), answer, share, right in zip(
        model.checkpoints(0), *(learning[each] for each in ("rows", "answers", "shares", "rightShares")), strict=True
    ):
        trace = model.at(0, model.checkpoints(0).index(step)).trace(TIRED)
        probabilities = trace["probabilities"].value[-1]
        assert row == pytest.approx(trace["attention"].value[0, -1], abs=1e-6)
        assert share == pytest.approx(probabilities.max(), abs=1e-6)
        assert right == pytest.approx(probabilities[model.task.answers.index("animal")], abs=1e-6)
        assert all(0 < weight < 1 for weight in (*row, share, right)), "none is said to be nothing, or all"
        at[step] = {word: percent(weight) for word, weight in zip(words, row, strict=True)}, answer
    assert learning["asking"] == words.index("tired")
    assert learning["right"] == "animal"
    assert (at[10][0]["animal"], at[10][0]["street"]) == ("6\u00a0%", "11\u00a0%")
    assert (at[40][0]["because"], at[40][1]) == ("71\u00a0%", "cat")
    assert at[50][1] == "animal", "while it looks at “because”"
    assert (at[100][0]["animal"], at[400][0]["animal"]) == ("91\u00a0%", "over 99\u00a0%")
    told = [answer for _, answer in at.values()]
    assert sum(one != other for one, other in itertools.pairwise(told)) == 8, "it is not steady"
