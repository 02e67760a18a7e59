"""Models: what they read, what they answer, and where what is said of them is from."""

import re
from dataclasses import replace

import numpy as np
import pytest

from attnviz.core.changes import Change
from attnviz.core.errors import SettingsError
from attnviz.models import MODELS
from attnviz.models.recipes import RECIPES
from attnviz.models.tasks.toy import Reference
from attnviz.models.training import forward_batch, stages_for

CHECKPOINTS = [
    (id, seed, place)
    for id, choice in MODELS.items()
    for seed in choice.seeds
    for place in range(len(choice.checkpoints(seed)))
]
REFERENCE = [recipe for recipe in RECIPES.values() if isinstance(recipe.task, Reference)]


def model(id):
    return MODELS[id].at(MODELS[id].seeds[0], None)


ASKING = [id for id, choice in MODELS.items() if not choice.task.is_open]
"""The models whose questions have right answers."""


@pytest.mark.parametrize("id", ASKING)
def test_an_example_is_read_and_answered_rightly_by_what_was_trained_for_it(id):
    for _, text in MODELS[id].examples:
        trace = model(id).trace(text)
        answers = [trace.label("answer", place) for place in trace["probabilities"].value.argmax(axis=-1)]
        known = [(right, answer) for right, answer in zip(trace.origin.right, answers, strict=True) if right]
        assert known
        if id != "short-cut":
            assert all(right == answer for right, answer in known)


def test_a_short_cut_is_right_about_the_first_noun_alone():
    found = {}
    for label, text in MODELS["short-cut"].examples:
        trace = model("short-cut").trace(text)
        found[label] = (
            trace.label("answer", trace["probabilities"].value[-1].argmax()),
            trace.origin.right[-1],
            text.split()[1],
        )
    assert all(answer == first for answer, _, first in found.values())
    assert {answer == right for answer, right, _ in found.values()} == {True, False}


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_a_batch_is_passed_on_as_each_of_its_texts_is(recipe):
    batch = recipe.task.held_out().picked(slice(-200, None))
    trained = recipe.untrained(0)
    together = forward_batch(stages_for(trained, batch), trained.arrays, batch)["probabilities"]
    for text in (0, 7, len(together) - 1):
        is_there = batch.is_target[text] if recipe.task.is_open else slice(None)  # what follows an end is no text
        alone = trained.read(tuple(recipe.task.words[place] for place in batch.tokens[text][is_there]))
        np.testing.assert_allclose(together[text][is_there], alone["probabilities"].value, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_what_a_batch_asks_has_the_right_answer_that_is_told_to_a_person(recipe):
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
def test_what_is_held_out_is_in_no_batch(recipe):
    trained_on = {tuple(row) for row in recipe.task.batch(np.random.RandomState(3), 4000).tokens.tolist()}
    held_out = {tuple(row) for row in recipe.task.held_out().tokens.tolist()}
    assert len(trained_on) == len(held_out) == (180 if recipe.id == "short-cut" else 360)
    assert not trained_on & held_out


@pytest.mark.parametrize(
    ("id", "text", "right"),
    [
        ("who-is-it", "because the street was too wide the cow did not cross it was wide", None),
        ("who-is-it", "it did not cross because the street the cow was wide", "street"),
        ("who-is-it", "the animal did not cross the street because the road was wide", None),
        ("who-is-it", "the animal was too tired", None),
        ("who-is-it", "the street the animal tired was", None),
        ("mirror", "1 2 3", None),
        ("mirror", "1 2 3 4 5 6 7 8", "1"),
        ("recall", "a 1 b 2 a", "1"),
        ("recall", "a 1 b 2 c", None),
        ("recall", "a 1 a 2 a", None),
        ("recall", "a 1 b a", None),
        ("recall", "1 a b 2 a", None),
        ("recall", "a", None),
        ("by-hand", "a b c a", "b"),
        ("by-hand", "a b a a", None),
        ("by-hand", "a b c", None),
    ],
)
def test_the_right_answer_is_known_for_texts_of_the_task_alone(id, text, right):
    assert model(id).trace(text).origin.right[-1] == right


def answer(trace):
    return trace.label("answer", trace["probabilities"].value[-1].argmax())


@pytest.mark.parametrize("seed", range(4))  # the model of seed 4 says "animal" where it sees no noun that fits
def test_without_the_word_it_looks_at_the_answer_changes(seed):
    trace = MODELS["who-is-it"].at(seed).trace("the animal did not cross the street because it was too tired")
    place = int(trace["attention"].value[0, -1].argmax())
    assert answer(trace) == trace.labels["key"][place] == "animal"
    hidden = trace.with_changes(*(Change("mask", (query, place), 0) for query in range(12)))
    assert answer(hidden) != "animal"


def test_the_order_of_words_is_seen_only_where_there_are_positions():
    texts = [
        f"the {first} did not cross the {second} because it was too wide"
        for first, second in (("dog", "road"), ("road", "dog"))
    ]
    blind, seeing = ([model(id).trace(text) for text in texts] for id in ("who-is-it", "short-cut"))
    assert [answer(trace) for trace in blind] == ["road", "road"]
    np.testing.assert_allclose(*(trace["probabilities"].value[-1] for trace in blind), atol=1e-12)
    assert answer(seeing[0]) == "dog" != answer(seeing[1])


def test_words_are_read_in_any_case_and_letters_need_no_space():
    assert model("who-is-it").tokens("The ANIMAL\n was\ttired") == ("the", "animal", "was", "tired")
    assert model("mirror").tokens("12 345678") == tuple("12345678")
    assert model("recall").tokens("G5d6 g") == tuple("g5d6g")
    assert model("by-hand").tokens("abca") == model("by-hand").tokens("^ a b c a") == tuple("^abca")
    assert model("by-hand").typed("abca") == tuple("abca")


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
def test_a_text_that_is_none_is_answered_with_help(id, text, says):
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
def test_a_training_that_is_not_there_is_answered_with_help(seed, place, says):
    with pytest.raises(SettingsError, match=re.escape(says)):
        MODELS["who-is-it"].at(seed, place)
    with pytest.raises(SettingsError, match=re.escape(says)):
        MODELS["who-is-it"].training_data(seed, place)


def test_a_pass_says_where_its_parameters_are_from():
    for id, seed, place in CHECKPOINTS:
        trace = MODELS[id].at(seed, place).trace(MODELS[id].examples[0][1])
        expected = "built" if id == "by-hand" else "learnt" if place else "drawn"
        assert trace.origin.kind == expected
        assert "{sentence}" in trace.origin.question
        recipes = {stage.operation.recipe for stage in trace.stages if stage.is_given and stage.name != "mask"}
        assert recipes == {
            {
                "drawn": "drawn at random, before any training",
                "learnt": "learnt in training",
                "built": "chosen by hand",
            }[expected]
        }


def test_what_a_model_brings_with_it_is_said():
    assert {id: MODELS[id].given for id in ("who-is-it", "recall", "by-hand")} == {
        "who-is-it": "d_model 8, 1 layer, 1 head, no residual stream, no mask, no positions",
        "recall": "d_model 16, 2 layers, 1 head in each, a residual stream, a causal mask, positions for 9 tokens",
        "by-hand": "d_model 16, 2 layers, 1 head in each, a residual stream, a causal mask, positions for 16 tokens",
    }
    own = model("who-is-it")
    twice = {name: np.repeat(getattr(own.layers[0], name), 2, axis=0) for name in ("w_q", "w_k", "w_v")}
    assert "1 layer, 2 heads, no" in replace(own, layers=(replace(own.layers[0], **twice),)).described


@pytest.mark.parametrize("place", [0, 5, 11])
def test_the_table_of_kinds_is_that_of_its_checkpoint(place):
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
