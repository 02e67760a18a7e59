"""The light form of a moment: all that a question needs, the pass's own weights, and few bytes."""

import functools
import gzip
import json
from urllib.parse import quote_plus

import numpy as np
import pytest

from attnviz.app.class_pages import class_page
from attnviz.classroom.light import light_moment_at
from attnviz.classroom.questions import moment_at, place_in
from attnviz.explain.steps import steps_of
from attnviz.lessons.lesson import LESSONS, passes_at
from attnviz.viewer.script import SCRIPTS

PLACES = {name: [f"lesson={name}&moment={n}" for n in range(1, len(each.moment) + 1)] for name, each in LESSONS.items()}
N_PHONES, N_MOMENTS = 120, 10
MAX_PAGE_BYTES, MAX_LESSON_BYTES = 150_000, 25_000_000
"""Before the first question can be answered, and of a lesson for a hall that only answers (issue 52)."""


@functools.cache
def light_bytes(at):
    return light_moment_at(place_in(at))


def light(at):
    return json.loads(light_bytes(at))


@pytest.mark.parametrize("lesson", PLACES)
def test_light_moments_fit_the_budget_of_a_hall(lesson):
    compressed = (class_page("KTQWRM").encode(), SCRIPTS["follower"].text)
    page = sum(len(gzip.compress(each)) for each in compressed)
    moments = [len(gzip.compress(light_bytes(at), 6)) for at in PLACES[lesson]]
    assert page + max(moments) <= MAX_PAGE_BYTES
    assert N_PHONES * (page + sum(sorted(moments)[-N_MOMENTS:])) <= MAX_LESSON_BYTES


@pytest.mark.parametrize("lesson", PLACES)
def test_light_moment_differs_by_its_glance_alone_which_has_the_weights_of_its_pass(lesson):
    for at in PLACES[lesson]:
        whole, sent = json.loads(moment_at(place_in(at))), light(at)
        glance = sent["glance"]
        assert sent == whole | {"document": None, "notes": "", "glance": glance}
        assert (glance is None) == (whole["picture"] is not None)
        if glance is None:
            continue
        trace = passes_at(whole["at"]).trace()
        weights, step = trace[glance["stage"]].value, whole["document"]["where"]["step"]
        n_queries, n_keys = (len(glance[name] or glance["words"]) for name in ("words", "keys"))
        assert weights.shape[1:] == (n_queries, n_keys)
        has_arcs = next(each.arcs for each in steps_of(trace) if each.id == step)
        assert bool(glance["arcs"]) == has_arcs, "before their step, arcs would give scores away"
        row = np.zeros(n_keys)
        for query, key, weight in glance["arcs"]:
            assert query == glance["query"]
            row[key] = weight
        if has_arcs:
            of_heads = np.where(weights[:, glance["query"]] < 0.01, 0, weights[:, glance["query"]])
            assert np.abs(of_heads - row).max(axis=1).min() <= 5e-5, at


ASKING = {
    "lesson=who-is-it&moment=3": "tired",
    "lesson=masks&moment=1": "cat",  # the word of the question, whatever is right
    "lesson=translator&moment=4": "the",
    "lesson=translator&moment=7": "it",
}


@pytest.mark.parametrize("at", ASKING)
def test_glance_marks_the_word_that_is_asked_about(at):
    glance = light(at)["glance"]
    assert glance["words"][glance["query"]] == ASKING[at]


def test_glance_says_the_current_step_of_a_pass_and_nothing_at_a_question():
    steps = [light(f"model=who-is-it&step={each}")["glance"] for each in ("scores", "softmax")]
    assert [each["title"] for each in steps] == ["Scores", "Softmax"]
    assert steps[0]["said"] != steps[1]["said"]
    assert [bool(each["arcs"]) for each in steps] == [False, True]
    asked = light("lesson=who-is-it&moment=3")["glance"]
    assert (asked["title"], asked["said"]) == ("", [])


def test_glance_of_two_texts_names_their_sides():
    glance = light("lesson=translator&moment=1")["glance"]
    assert (glance["sides"], glance["words"][-1], glance["keys"][-1]) == (["French", "English"], "chat", "<end>")


def test_glance_of_the_longest_sentence_has_all_words_as_typed():
    words = ["<", "=", *(f"w{n}" for n in range(62))]
    assert light(f"sentence={quote_plus(' '.join(words))}")["glance"]["words"] == words
