"""Actions: each does what its name says where it means something, and nothing elsewhere; anything may come with it."""

import json
from dataclasses import replace

import pytest
from cases import of_each
from documents import answer_bytes
from hypothesis import given, settings
from hypothesis import strategies as st
from page import ROOT, changes_of
from test_scene import scenes
from test_viewer import MEANT

from attnviz.core.masks import CustomMask
from attnviz.core.settings import OPTIONS
from attnviz.models import MODELS
from attnviz.models.continuation import Sampling
from attnviz.scene.actions.session import ACTION_NAMES, Session, apply_action
from attnviz.scene.address import parse, query
from attnviz.scene.document.controls import allowed_values
from attnviz.scene.document.pass_cache import PASS_CACHE
from attnviz.scene.document.reply import PARTS
from attnviz.scene.document.reply_notes import ReplyNotes
from attnviz.scene.presets import PRESETS, TRANSLATOR_PARTS
from attnviz.scene.scene import RANDOM, SENTENCE, SOURCES, Scene, of_model, parts_for_source, pinned
from attnviz.scene.with_pass import resolve

BY_HAND = changes_of("q[0,0,0]=1;heads[1]=0")
KINDS = {
    "own": Scene(sentence="the cat sat", changes=BY_HAND),
    "model": replace(of_model("mirror"), changes=BY_HAND[:1]),
    "example": Scene(source="002 multihead", changes=BY_HAND),
    "no pass": Scene(sentence="", changes=BY_HAND),
    "no pass of a model": replace(of_model("mirror"), sentence=" "),
    "unknown words": replace(of_model("mirror"), sentence="unicorn dragon", changes=BY_HAND),
}
OWNS, PASSES = ("own", "no pass"), ("own", "model", "example", "unknown words")
MODELS_, OF_OPTIONS = ("model", "no pass of a model", "unknown words"), (*OWNS, "unknown words")
MIRROR = MODELS["mirror"]
WORD = next(iter(MIRROR.words_by_kind.values()))[1]
NEW = changes_of("w_q[0,0,0]=-0.5")


def with_options(scene, **values):
    return replace(scene, options=replace(scene.options, **values))


def without_example(scene):
    is_example = scene.sentence in (text for _, text in MIRROR.examples)
    return replace(scene, sentence=SENTENCE) if is_example else scene


def sets(name, value):
    return OF_OPTIONS, value, lambda scene: with_options(scene, **{name: value})


DOES = {
    **{name: sets(name, option.allowed[-1]) for name, option in OPTIONS.items()},
    "source": (KINDS, "004 softmax", lambda scene: replace(without_example(scene), **parts_for_source("004 softmax"))),
    "sentence": ((*OWNS, *MODELS_), "a b", lambda scene: replace(scene, sentence="a b")),
    "context": (OWNS, "c d", lambda scene: replace(scene, context="c d")),
    "d_model": (OF_OPTIONS, 9, lambda scene: with_options(scene, d_model=9, n_heads=1)),
    "n_heads": sets("n_heads", 8),
    "initialiser": sets("initialiser", "pytorch"),  # `test_integer_example` has the one for three or four words
    "seed": (OF_OPTIONS, " 7", lambda scene: with_options(scene, seed=7)),
    "another_seed": (OF_OPTIONS, True, lambda scene: with_options(scene, seed=295)),
    "preset": (OF_OPTIONS, "GPT-2", lambda scene: with_options(scene, **PRESETS["GPT-2"].values)),
    "example": (MODELS_, MIRROR.examples[1][1], lambda scene: replace(scene, sentence=MIRROR.examples[1][1])),
    "word": (MODELS_, WORD, lambda scene: replace(scene, sentence=f"{scene.sentence} {WORD}".strip())),
    "replace": (("unknown words",), ["dragon", WORD], lambda scene: replace(scene, sentence=f"unicorn {WORD}")),
    "model_seed": (MODELS_, MIRROR.seeds[-1], lambda scene: replace(scene, model_seed=MIRROR.seeds[-1])),
    "checkpoint": (MODELS_, 2, lambda scene: replace(scene, checkpoint=2)),
    "change": (
        PASSES,
        {"cell": "w_q[0,0,0]", "value": -0.5},
        lambda scene: replace(scene, changes=scene.changes + NEW),
    ),
    "drop": (PASSES, 0, lambda scene: replace(scene, changes=scene.changes[1:])),
    "reset": (PASSES, True, lambda scene: replace(scene, changes=())),
    "mute": (
        PASSES,
        {"stage": "heads", "place": 0},
        lambda scene: replace(scene, changes=(*scene.changes, *changes_of("heads[0]=0"))),
    ),
    "swap": (
        ("own", "model", "unknown words"),
        [0, 1],
        lambda scene: replace(scene, sentence=other_way_round(scene.sentence)),
    ),
    "pin": (PASSES, True, lambda scene: replace(scene, other=pinned(scene))),
    "unpin": (KINDS, True, lambda scene: scene),
    "exchange": (PASSES, True, lambda scene: scene),
    "pair": (PASSES, "change", lambda scene: replace(scene, other=replace(pinned(scene), changes=()))),
    "next": (PASSES, True, lambda scene: scene),  # none of these goes on (`test_continuation`)
    "shorter": (PASSES, True, lambda scene: scene),
    "anew": (PASSES, True, lambda scene: scene),
    "whole": (PASSES, True, lambda scene: scene),
    "written": (PASSES, "le", lambda scene: scene),
    **{
        part.event: (PASSES, True, lambda scene: scene) for part in TRANSLATOR_PARTS
    },  # `test_translator` has what these do
    "names": (PASSES, True, lambda scene: scene),
    "draw": (
        PASSES,
        {"temperature": 0.5, "top_k": 5, "top_p": 0.9, "seed": 3},
        lambda scene: replace(scene, drawing=Sampling(0.5, 5, 0.9, 3)),
    ),
    "paint": (
        ("own", "model", "unknown words"),
        {"head": None, "cells": [[0, 1]], "hides": True},
        lambda scene: replace(scene, hidden=CustomMask.parse("01")),
    ),
    "slopes": (PASSES, "q[0,1,0]", lambda scene: scene),
    "flip": (PASSES, "attention[0,1,0]", lambda scene: scene),
    "need": (PASSES, "attention[0,1,0]", lambda scene: scene),
}
"""Of each action: the kinds of scene in which it means something, a message, and the scene that it makes of one."""

SAYS = {
    "seed": ReplyNotes(seed=" 7"),
    "d_model": ReplyNotes(notices=("2 heads don't divide 9: showing 1.",)),
    "slopes": ReplyNotes(slopes_of="q[0,1,0]"),
    "flip": ReplyNotes(flips_of="attention[0,1,0]"),
    "need": ReplyNotes(heads=(0,)),
    "pair": ReplyNotes(seed=""),
}
"""What the answer has besides, of actions that have it say something."""


def other_way_round(sentence):
    one, other, *rest = sentence.split()
    return " ".join([other, one, *rest])


def test_every_act_is_tried():
    assert set(ACTION_NAMES) == DOES.keys()


@of_each("kind", [*KINDS])
@of_each("name", [*DOES])
def test_an_act_does_what_it_says_and_nothing_where_it_means_nothing(name, kind):
    kinds, message, does = DOES[name]
    scene, notes = apply_action(KINDS[kind], name, message)
    if kind not in kinds:
        assert (scene, notes) == (KINDS[kind], ReplyNotes())
        return
    assert replace(scene, selection=None) == does(KINDS[kind])  # a pair leads to where it differs most
    arrives = name in ("source", "unpin") or scene.selection is not None
    assert notes == replace(SAYS.get(name, ReplyNotes()), arrives=arrives)


@pytest.mark.parametrize("source", [*MODELS, RANDOM, *SOURCES])
def test_any_source_can_be_shown_from_any_other_and_brings_nothing_of_it(source):
    for scene in KINDS.values():
        shown = apply_action(scene, "source", source).scene
        assert shown.source == source
        assert shown.changes == ()
        assert resolve(shown).trace is not None or (source == RANDOM and not scene.sentence.strip())


@pytest.mark.parametrize("model", MODELS)
def test_an_own_sentence_opens_in_the_one_word_view_without_the_model_s_example(model):
    shown = apply_action(of_model(model), "source", RANDOM).scene
    assert (shown.sentence, shown.view) == (SENTENCE, "sheet")
    assert query(shown)["view"] == "sheet"
    assert (
        apply_action(replace(of_model("who-is-it"), sentence="the dog"), "source", RANDOM).scene.sentence == "the dog"
    )


def test_a_causal_window_begins_with_two_keys_and_a_size_that_was_set_stays():
    def seen(scene, *actions):
        for name, value in actions:
            scene = apply_action(scene, name, value).scene
        assert parse(query(scene)).scene.options == scene.options
        return scene.options.mask, scene.options.mask_size

    first, window = Scene(sentence="the cat sat"), ("mask", "causal window")
    assert seen(first, window) == ("causal window", 2)
    assert seen(first, ("mask", "padding"), ("mask_size", 3), window) == ("causal window", 3)
    assert seen(first, window, ("mask_size", 1), window) == ("causal window", 1)
    assert seen(first, ("mask", "padding")) == ("padding", 1)
    written = parse({"sentence": "the cat sat", "mask": "causal window"})
    assert (written.scene.options.mask_size, written.notices) == (1, ()), "an address is read as ever"


MEANINGLESS = {
    "own": {
        "d_model": [9.0, "9", True, None, [9], 1, 129, -9],
        "n_heads": [4.0, "4", True, 3, 0, None],
        "mask_size": [3.0, "3", False, -1, 65],
        "scaled": [0, 0.0, "", "false", None],
        "mask": ["Causal", " causal", 1, True, None, ["causal"]],
        "initialiser": ["XAVIER", None, 0],
        "positions": ["", None, {}],
        "seed": [7, 7.0, True, None, ["7"], {"7": 7}],
        "sentence": [1, True, None, ["a"], {"a": "b"}],
        "context": [1, True, None, ["a"]],
        "source": ["own", "", None, 1, "MIRROR", "000", {}],
    },
    "model": {
        "model_seed": [True, 1.0, "1", 9, -1],
        "checkpoint": [True, "1", 2.5, -1, 10**30, {"at": 1}],
        "example": [MIRROR.examples[1][0], "", None, 0],
        "word": ["unicorn", "", None, 0, WORD.upper() + " "],
        "replace": [["1", WORD], ["unicorn", WORD], [WORD], [1, 2, 3], "1", None, {"1": WORD}, [["1"], WORD]],
    },
}
OF_ANOTHER_PASS = json.loads((ROOT / "tests/data/meaningless_actions.json").read_text("utf-8"))
MEANINGLESS["own"] |= {name: [*each, None, [[[[]]]], "\ud83d\ude00" * 1000] for name, each in OF_ANOTHER_PASS.items()}


@pytest.mark.parametrize("kind", MEANINGLESS)
def test_a_message_of_another_type_or_pass_changes_nothing(kind):
    for name, messages in MEANINGLESS[kind].items():
        for message in messages:
            assert apply_action(KINDS[kind], name, message) == (KINDS[kind], ReplyNotes()), (name, message)


def test_what_would_flip_it_is_asked_of_shares_alone():
    notes = apply_action(KINDS["own"], "flip", "q[0,0,0]").notes
    assert notes.notices[0].startswith("“What would flip it?” needs an attention weight")
    assert notes.flips_of == ""


@pytest.mark.parametrize("name", [None, 1, True, ["mask"], {"mask": 1}, "", "MASK", "nothing", "__class__", "said"])
def test_what_is_no_act_changes_nothing(name):
    for scene in KINDS.values():
        assert apply_action(scene, name, "causal") == (scene, ReplyNotes())


def test_another_number_can_be_set_beside_one_that_no_longer_fits():
    place = Session(Scene(sentence="the cat sat", changes=changes_of("scores[0,2,2]=1;q[0,0,0]=1")))
    place.do("sentence", "the cat")
    assert place.do("change", {"cell": "k[0,0,0]", "value": 2}).notices == ()
    assert place.scene.changes == changes_of("q[0,0,0]=1;k[0,0,0]=2")


def test_the_head_that_was_asked_for_last_stands_last():
    place = Session(KINDS["own"])
    for head in (0, 1, 0):
        place.do("need", f"q[{head},0,0]")
    assert place.notes.heads == (1, 0)


OFFERED = [*MODELS, *SOURCES, RANDOM, WORD, *range(10), 128, "causal", "window", "1e400", "a " * 70, "x" * 3000]
OFFERED += [True, False]
OFFERED += [
    {"cell": f"{name}[0,0,0]", "value": value} for name in ("q", "scores", "scores_1") for value in (1e308, -2.5)
]


@settings(max_examples=15)
@given(
    scenes(),
    st.lists(st.tuples(st.sampled_from([*ACTION_NAMES, "nothing"]), MEANT | st.sampled_from(OFFERED)), max_size=4),
    st.sampled_from([*PARTS]),
)
def test_no_act_raises_and_any_leaves_a_scene_that_fits_and_that_its_address_gives_back(scene, done, view):
    place = Session(scene)
    for name, message in done:
        place.do(name, message)
    fitted = place.resolved()
    assert parse(query(fitted.scene)).scene == fitted.scene
    again = PASS_CACHE.resolved(fitted.scene)
    assert (again.scene, again.notices) == (fitted.scene, ())
    answer = json.loads(answer_bytes(place, view))
    assert (answer[view] is None) == (fitted.trace is None)
    assert fitted.trace is not None or answer["notices"]


def test_the_number_of_heads_is_one_that_divides_d_model_after_any_two_settings():
    for d_model in allowed_values(KINDS["own"], "d_model"):
        eight = apply_action(KINDS["own"], "n_heads", 8).scene
        assert d_model % apply_action(eight, "d_model", d_model).scene.options.n_heads == 0


def test_another_seed_comes_by_all_below_a_thousand():
    scene, seeds = Scene(options=replace(Scene().options, seed=2**32 - 1)), []
    for _ in range(1000):
        scene = apply_action(scene, "another_seed", True).scene
        seeds.append(scene.options.seed)
    assert sorted(seeds) == [*range(1000)]
