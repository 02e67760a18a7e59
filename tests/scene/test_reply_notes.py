"""What a person types always makes a pass: what is said where a model can't read all of it, and what is offered."""

import re

import pytest
from documents import fitted_at
from hypothesis import given, settings
from hypothesis import strategies as st
from page import did, opened, values

from attnviz import Settings, trace_of
from attnviz.core.limits import MAX_TOKENS
from attnviz.core.tokens import tokenize
from attnviz.models import MODELS
from attnviz.scene.actions.session import Session
from attnviz.scene.address import query
from attnviz.scene.document.reply_notes import notices, offers
from attnviz.scene.scene import RANDOM, Options, Scene

WORDS = st.sampled_from(
    [*MODELS["who-is-it"].task.words, *"01aeĩ^", "unicorn", "Animal", "ß", "İ", "a-b", "12", "x" * 40]
)
TEXTS = st.text(max_size=60) | st.lists(WORDS, max_size=80).map(" ".join)


def same(one, other):
    return [(s.name, s.value.tobytes()) for s in one.stages] == [(s.name, s.value.tobytes()) for s in other.stages]


@settings(max_examples=60)
@given(st.sampled_from([*({*MODELS} - {"translator"}), RANDOM]), TEXTS)
def test_whatever_has_a_word_makes_a_pass_of_its_first_tokens(source, text):
    fitted = fitted_at({"sentence": text} | ({"model": source} if source in MODELS else {}))
    assert fitted.refused == () or not tokenize(text)
    if fitted.trace is None:
        return
    tokens = tokenize(fitted.scene.sentence)
    model = MODELS[source].at(0) if source in MODELS else None
    if model and not model.unknown(fitted.scene.sentence):
        assert fitted.trace.origin.title == model.task.title
        assert len(fitted.trace["x"].value) <= model.max_tokens
    else:
        expected = trace_of(Settings(" ".join(tokens[:MAX_TOKENS])))
        assert same(fitted.trace, expected)
        assert fitted.trace.labels == expected.labels


def test_an_address_with_an_unknown_word_has_random_parameters_with_their_settings_and_the_way_back():
    options = {"d_model": 12, "heads": 3, "seed": 7, "mask": "causal"}
    written = {"model": "who-is-it", "sentence": "Hello street"} | {name: str(each) for name, each in options.items()}
    fitted = fitted_at(written)
    assert query(fitted.scene) == written
    options["n_heads"] = options.pop("heads")
    assert same(fitted.trace, trace_of(Settings("Hello street", **options)))
    at = opened(**written)
    answer = did(at, "nothing", True)
    shown = options | {"source": "who-is-it", "sentence": "Hello street", "seed": "7"}
    assert shown.items() <= values(answer).items()
    assert answer["notices"] == [notices(fitted)[0]]
    assert "doesn't know “Hello”, so" in notices(fitted)[0]
    back = answer["offers"][-1]
    answer = did(at, back["event"], back["value"])
    assert at.query_params == {"model": "who-is-it"}
    assert (answer["notices"], answer["offers"]) == ([], [])
    assert answer["pass"]["model"]


@settings(max_examples=40)
@given(st.sampled_from(["who-is-it", "at-it", "short-cut"]), TEXTS)
def test_the_nearest_words_lead_back_to_the_model_and_leave_the_others_as_they_were_typed(source, text):
    place = Session(Scene(source=source, sentence=text))
    before = [word.lower() for word in tokenize(text)]
    known = MODELS[source].task.words
    for _ in before:
        offered = [each for each in offers(place.resolved()) if each.event == "replace"]
        if not offered:
            break
        word, by = offered[0].value
        assert word not in known
        assert by in known
        place.do("replace", [word, by])
        before = [by if each == word else each for each in before]
        assert [each.lower() for each in tokenize(place.scene.sentence)] == before
    title = place.resolved().trace.origin.title if place.resolved().trace else ""
    assert (title == MODELS[source].title) == (bool(before) and {*before} <= {*known})


@pytest.mark.parametrize(
    ("unknown", "named", "first"),
    [
        ("the anmial was tired", "“anmial”", "anmial → animal"),
        ("Streat, street", "“Streat” and “,”", "Streat → street"),
        ("we all saw the big wombat", "“we”, “all”, “saw”, “big” and 1 more", None),
    ],
)
def test_unknown_words_are_named_as_they_were_typed_beside_the_nearest_known_ones(unknown, named, first):
    fitted = fitted_at({"model": "who-is-it", "sentence": unknown})
    assert f"doesn't know {named}, so" in notices(fitted)[0]
    nearest = [each.label for each in offers(fitted)[:-1]]
    assert nearest[:1] == ([first] if first else []), "what is spelt like none is near to none"
    assert len(nearest) <= 3
    assert notices(fitted)[0].endswith("The nearest words that it knows:") == bool(first)


NEAR = {"catt": "cat", "ct": "cat", "blakc": "black", "hte": "the", "jumping": "jump", "reds": "red"}
FAR = ("eats", "eat", "dragon", "on", "mat")


@pytest.mark.parametrize("word", [*NEAR, *FAR])
def test_a_word_is_offered_if_it_is_a_slip_or_an_inflection_away(word):
    fitted = fitted_at({"model": "translator", "sentence": f"the {word} cow"})
    assert [each.value[1] for each in offers(fitted)][:1] == ([NEAR[word]] if word in NEAR else [])


@pytest.mark.parametrize(
    ("model", "text", "most"),
    [
        ("mirror", "1234567890", 8),
        ("by-hand", "abcd" * 5, 15),
        ("by-hand", "^ " + "abcd" * 5, 16),
        ("recall", "a 1 " * 6, 9),
    ],
)
def test_of_too_many_tokens_a_model_reads_the_first_and_the_whole_is_offered(model, text, most):
    at = opened(model=model, sentence=text)
    words = re.findall(r"\S", text)
    place = Session(fitted_at(dict(at.query_params)).scene)
    fitted = place.resolved()
    assert same(fitted.trace, MODELS[model].at(0).trace(" ".join(words[:most])))
    first = f"the pass below has the first {most} of the {len(words)} in this sentence."
    assert notices(fitted) == [f"This model reads at most {most} tokens: {first}"]
    (offer,) = offers(fitted)
    assert offer.label == f"Show all {len(words)} with random parameters"
    place.do(offer.event, offer.value)
    assert (notices(place.resolved()), offers(place.resolved())) == ([], [])
    assert place.scene.source == RANDOM
    assert list(tokenize(place.scene.sentence)) == words
    assert same(place.resolved().trace, trace_of(Settings(" ".join(words))))


def test_more_tokens_than_any_pass_has_room_for_are_said_and_not_offered():
    long = "the " * (MAX_TOKENS + 6)
    for written in ({"sentence": long}, {"model": "who-is-it", "sentence": long}, {"sentence": "a b", "context": long}):
        fitted = fitted_at(written)
        assert len(fitted.trace.labels["key"]) == MAX_TOKENS
        name = "context" if "context" in written else "sentence"
        assert notices(fitted)[0].endswith(f"the first 64 of the 70 in this {name}.")
        assert offers(fitted) == []
        assert getattr(fitted.scene, name) == long


def test_what_was_set_comes_back_with_an_unknown_word_and_the_training_with_the_words():
    place = Session(fitted_at({"model": "who-is-it", "seed": "3", "checkpoint": "4"}).scene)
    known = place.scene.sentence
    place.do("sentence", "hello")
    place.do("d_model", 16)
    place.do("sentence", known)
    fitted = place.resolved()
    assert (fitted.scene.model_seed, fitted.scene.checkpoint, fitted.scene.options) == (3, 4, Options())
    place.do("sentence", "hello again")
    assert place.resolved().scene.options == Options(d_model=16)


@pytest.mark.parametrize(
    ("typed", "label", "left"),
    [("Zoë-Marie", "Leave out “-”", "zoemarie"), ("o’brien 2", "Leave out “’” and “2”", "obrien"), ("42", "", "")],
)
def test_a_name_is_read_without_the_signs_that_are_no_letters(typed, label, left):
    at = opened(model="microgpt", sentence=typed)
    offered = did(at, "nothing", True)["offers"]
    assert offered[-1]["label"] == "Back to microgpt"
    assert [each["label"] for each in offered[:-1]] == [label] * bool(label)
    if label:
        answer = did(at, offered[0]["event"], offered[0]["value"])
        assert (answer["offers"], answer["notices"]) == ([], [])
        assert at.query_params == {"model": "microgpt", "sentence": left}
