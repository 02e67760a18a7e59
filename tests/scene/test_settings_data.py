"""Settings as data: each box names an action, what it offers is what the next answer shows, and what it shows fits."""

import gc
import json
import re
import weakref

import pytest
from cases import of_each
from hypothesis import given, settings
from hypothesis import strategies as st
from page import boxes, settings_of, values
from test_scene import scenes

from attnviz.checks.uploads import UserStages
from attnviz.core.coerce import is_applicable
from attnviz.core.integer_example import suits_integer_example
from attnviz.core.settings import OPTIONS
from attnviz.models import MODELS
from attnviz.scene.actions.session import ACTION_NAMES, Session, apply_action
from attnviz.scene.document import controls
from attnviz.scene.document.reply import reply
from attnviz.scene.presets import PRESETS, UNTOUCHED
from attnviz.scene.reading import has_options, normalized, reading_model
from attnviz.scene.scene import RANDOM, SOURCES, Options, Scene, parts_for_source
from attnviz.scene.with_pass import fit_to_pass

KINDS = {
    "own": Scene(),
    "a mask with a size": Scene(options=Options(mask="window")),
    "layers with a window": Scene(options=Options(mask="causal window", layers=2)),
    "latents": Scene(options=Options(sharing="latent")),
    "a rotation": Scene(options=Options(rope="halves")),
    "global layers": Scene(options=Options(rope="halves", mask="window", layers=2, window_in="every second layer")),
    "many heads": Scene(options=Options(d_model=120)),
    **{model: Scene(**parts_for_source(model)) for model in MODELS},
    "unknown words": Scene(source="who-is-it", sentence="hello"),
    "an example": Scene(source="001 with"),
}


def shown(scene, notes):
    """The settings that the answer to an action shows."""
    without_pass = fit_to_pass(normalized(scene)[0], "There is no pass.")
    return values(json.loads(reply(without_pass, notes, tab="tab", view="pass", number=0)))


def listed(scene):
    return [box for part in settings_of(scene).values() for box in part]


@of_each("scene", KINDS)
def test_every_box_asks_for_an_act_and_each_has_a_label(scene):
    for box in listed(scene):
        assert box["kind"] in ("note", "heading") or (box["event"] in ACTION_NAMES and box["label"])


def test_every_act_of_a_setting_has_a_box():
    asked = {box.get("event") for scene in KINDS.values() for box in listed(scene)} - {None}
    assert set(ACTION_NAMES) - asked == {
        *("replace", "checkpoint"),  # which a notice and the view ask for
        *("change", "drop", "reset", "mute", "swap", "slopes", "flip", "need"),
        *("pin", "unpin", "exchange", "pair"),
        *("next", "shorter", "anew", "whole", "names", "draw", "paint"),
    }


@pytest.mark.parametrize(("event", "unsaid"), [("mask", {"none"}), ("initialiser", set()), ("window_in", set())])
def test_the_help_of_a_choice_says_what_each_of_its_options_is(event, unsaid):
    said = boxes({"settings": settings_of(KINDS["layers with a window"])})[event]["help"]
    assert {*re.findall(r"(?:^|\. )([a-z][a-z ]*): ", said)} == {*OPTIONS[event].allowed} - unsaid


@of_each("scene", KINDS)
def test_every_option_that_is_offered_is_shown_once_it_is_sent(scene):
    for box in listed(scene):
        if "options" not in box or box["event"] == "word":
            continue
        for option in box["options"]:
            done = apply_action(scene, box["event"], option["value"])
            assert shown(*done)[box["event"]] == option["value"], option
            before, after = vars(scene.options), vars(done.scene.options)
            assert done.notes.notices == () or any(
                before[each] != after[each] for each in before if each != box["event"]
            )


FAR = {"d_model": 120, "n_heads": 3, "sharing": "all", "alibi": True, "window_in": "all but every sixth layer"}


@of_each("preset", [*PRESETS])
def test_a_preset_is_the_same_pass_whatever_was_set_before(preset):
    own, other = (
        apply_action(Scene(options=options), "preset", preset).scene.options for options in (Options(), Options(**FAR))
    )
    assert own == other
    assert PRESETS[preset].values.items() <= vars(own).items(), "nothing is coerced"
    assert {*OPTIONS} - PRESETS[preset].values.keys() == {*UNTOUCHED}
    shown = listed(Scene(options=own))
    assert next(box["value"] for box in shown if box.get("event") == "preset") == preset
    assert PRESETS[preset].left_out in "".join(text for box in shown for _, text in box.get("runs", ()))


@of_each("scene", KINDS)
def test_every_option_says_why_it_is_there(scene):
    unsaid = {box["event"] for box in listed(scene) if box.get("event") in OPTIONS and "help" not in box}
    assert unsaid <= {"mask_size"}, "whose label says it"


@pytest.mark.parametrize("model", MODELS)
def test_a_word_that_is_picked_stands_last_in_the_sentence(model):
    for box in listed(KINDS[model]):
        for option in box["options"] if box.get("event") == "word" else []:
            assert box["value"] is None
            done = apply_action(KINDS[model], "word", option["value"])
            between = "" if reading_model(KINDS[model]).task.joined("ab") else " "
            assert shown(*done)["sentence"] == f"{KINDS[model].sentence}{between}{option['value']}"


@pytest.mark.parametrize("scene", KINDS.values(), ids=KINDS)
@settings(max_examples=5)
@given(text=st.text(min_size=1, max_size=40))
def test_what_is_typed_into_a_box_stays_in_it(scene, text):
    for box in listed(scene):
        if box["kind"] == "text":
            assert shown(*apply_action(scene, box["event"], text))[box["event"]] == text


@pytest.mark.parametrize("event", ["sentence", "context", "seed"])
def test_no_box_holds_more_than_its_limit(event):
    limit = next(box["limit"] for box in listed(Scene()) if box.get("event") == event)
    assert shown(*apply_action(Scene(), event, "1" * (limit + 1)))[event] == "1" * limit


def test_a_box_that_is_emptied_of_its_seed_shows_the_one_that_is_used():
    session = Session(Scene())
    for text, used in (("7", "7"), ("", str(Options().seed))):
        session.do("seed", text)
        assert shown(session.scene, session.notes)["seed"] == used == str(session.scene.options.seed)


@settings(max_examples=40)
@given(scenes())
def test_whatever_is_shown_fits(scene):
    for box in listed(scene):
        offered = [option["value"] for option in box.get("options", ())]
        assert len(set(offered)) == len(offered)
        if box["kind"] == "choice":
            assert box["value"] in offered
        elif box["kind"] == "pills":
            assert box["value"] in (None, *offered)
        elif box["kind"] == "text":
            assert len(box["value"]) <= box["limit"]


@settings(max_examples=40)
@given(scenes())
def test_what_is_offered_is_what_there_is(scene):
    boxes_ = boxes({"settings": settings_of(scene)})
    offers = {event: [option["value"] for option in box.get("options", ())] for event, box in boxes_.items()}
    assert offers["source"] == [*MODELS, RANDOM, *SOURCES]
    if has_options(scene) and scene.options.initialiser == "whole":
        assert (offers["n_heads"], offers["d_model"]) == ([1], [2, 3, 4])
        assert not {"positions", "scaled"} & offers.keys()
    elif has_options(scene):
        assert offers["n_heads"] == [n for n in range(1, 200) if scene.options.d_model % n == 0]
        n_layers = min(6, 128 // scene.options.d_model)
        assert offers.get("layers", [1]) == [*range(1, n_layers + 1)]
        for name in OPTIONS.keys() - {"n_heads", "seed", "layers"}:
            assert (name in offers) == is_applicable(scene.options, name)
        has_window = scene.options.mask in ("window", "causal window")
        assert ("window_in" in offers) == (has_window and scene.options.layers > 1)
        for name in (OPTIONS.keys() & offers.keys()) - {"n_heads", "seed", "layers"}:
            is_whole = suits_integer_example(scene.sentence, scene.context)
            sixth = "all but every sixth layer"
            is_left = {"whole": is_whole, sixth: scene.options.layers == 6 or scene.options.window_in == sixth}
            known = [each for each in OPTIONS[name].allowed if is_left.get(each, True)]
            assert offers[name] == ([] if OPTIONS[name].is_switch else known)
        assert ("mask_size" in offers) == (scene.options.mask in ("padding", "window", "causal window"))
        has_global = scene.options.layers >= {"every layer": 7, "every second layer": 2}.get(scene.options.window_in, 6)
        assert ("rope_base_global" in offers) == (has_global and has_window and scene.options.rope != "none")
        assert ("rope_base" in offers) == ("rope_part" in offers) == (scene.options.rope != "none")
    elif scene.source in MODELS:
        assert offers["example"] == [text for _, text in MODELS[scene.source].examples]
        assert offers.get("model_seed", [0]) == [*MODELS[scene.source].seeds]


@pytest.mark.parametrize("is_in_a", [False, True])
def test_the_boxes_of_a_scene_keep_nobodys_file(is_in_a):
    code = UserStages({}, "scores")
    kept = weakref.ref(code)
    scene = Scene(code=code)
    controls.settings(Scene(other=scene, compare="difference") if is_in_a else scene)
    del code, scene
    gc.collect()
    assert kept() is None
