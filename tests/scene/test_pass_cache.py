"""Answers from memory: what would be made anew, bounded, and nobody's to empty or to fill."""

import json
import threading
from dataclasses import replace

import numpy as np
import pytest
from documents import document, fitted_at, whole
from page import changes_of

from attnviz.models.continuation import Drawing
from attnviz.scene.document import continuing, pass_cache
from attnviz.scene.document.document import body
from attnviz.scene.document.pass_cache import MAX_PASS_BYTES, PassCache, document_key, fixed_keys, key_of
from attnviz.scene.document.reply_notes import ReplyNotes
from attnviz.scene.scene import FIRST_VISIT, SOURCES, Options, Scene, of_model, pinned, with_options
from attnviz.scene.with_pass import pass_of, resolve

OWN = Scene(sentence="a b c", options=with_options(Options(), seed=5))
LOOKED = {"step": "softmax", "present": True}


def seeded(seed):
    return replace(OWN, options=with_options(OWN.options, seed=seed))


def ask(kept, scene, *sessions):
    for session in sessions:
        fitted = kept.resolved(scene)
        kept.document_json(fitted, session)


def is_kept(kept, scene):
    return kept.original(scene) is kept.original(scene)


@pytest.mark.parametrize("scene", [FIRST_VISIT, OWN, Scene(source="002 multihead")], ids=["first", "own", "example"])
def test_an_answer_from_memory_is_the_document_that_would_be_made_anew(scene):
    kept = PassCache()
    for number, session in enumerate("abcd"):
        for looked in ({}, LOOKED):
            fitted = kept.resolved(replace(scene, **looked))
            anew = document(resolve(replace(scene, **looked)), arrival=number)
            assert whole(json.loads(kept.document_json(fitted, session, arrival=number))) == anew
    assert is_kept(kept, scene)


def test_what_is_asked_beyond_a_pass_is_made_anew():
    kept = PassCache()
    ask(kept, OWN, "a", "b")
    fitted = kept.resolved(OWN)
    changed = kept.resolved(replace(OWN, changes=changes_of("scores[0,1,2]=3")))
    assert (
        json.loads(kept.document_json(fitted, "a", ReplyNotes(slopes_of="output[0,0]")))["slopes"]["of"]
        == "output[0,0]"
    )
    assert whole(json.loads(kept.document_json(changed, "a"))) == document(changed)
    assert whole(json.loads(kept.document_json(fitted, "a"))) == document(resolve(OWN))


def test_another_setting_of_any_kind_is_another_answer():
    model = replace(FIRST_VISIT, checkpoint=3)
    scenes = [OWN, seeded(6), replace(OWN, sentence="a b"), replace(OWN, context="d"), FIRST_VISIT, model]
    scenes += [replace(model, model_seed=1), Scene(source=next(iter(SOURCES)))]
    scenes += [replace(OWN, options=with_options(OWN.options, mask="causal"))]
    scenes += [of_model("microgpt"), replace(of_model("microgpt"), drawing=Drawing())]
    assert len({document_key(scene) for scene in scenes}) == len(scenes)


def test_what_comes_next_is_worked_out_once_for_all_who_ask(monkeypatch):
    kept, scene = PassCache(), of_model("microgpt")
    first = kept.document_json(kept.resolved(scene), "a")
    drawn = kept.document_json(kept.resolved(replace(scene, drawing=Drawing(seed=3))), "a")
    assert json.loads(drawn)["next"]["drawing"]["seed"] == 3
    monkeypatch.setattr(continuing, "writers_data", None)
    assert kept.document_json(kept.resolved(scene), "b") == first
    with pytest.raises(TypeError):
        kept.document_json(kept.resolved(replace(scene, drawing=Drawing(seed=4))), "b")


def test_one_session_alone_has_nothing_kept_and_two_have():
    kept = PassCache()
    ask(kept, OWN, "a", "a", "a")
    assert not is_kept(kept, OWN)
    ask(kept, OWN, "b")
    assert is_kept(kept, OWN)


def test_the_passes_that_everyone_may_meet_are_kept_without_a_document_too_and_no_other():
    kept = PassCache(room=0)
    for scene in (FIRST_VISIT, Scene(), Scene(source="002 multihead")):
        assert is_kept(kept, scene)
        anew = pass_of(scene)
        for stage in kept.original(scene).stages:
            np.testing.assert_array_equal(stage.value, anew[stage.name].value)
    assert not is_kept(kept, OWN)


def test_a_first_visit_and_worked_examples_are_kept_at_once_and_for_good(monkeypatch):
    kept = PassCache(room=0)
    for scene in (FIRST_VISIT, *(Scene(source=source) for source in SOURCES)):
        assert document_key(resolve(scene).scene) in fixed_keys()
        ask(kept, scene, "a")
    ask(kept, OWN, "a", "b")
    assert not is_kept(kept, OWN)
    monkeypatch.setattr(pass_cache, "body", None)
    ask(kept, FIRST_VISIT, "b")


def size():
    kept = PassCache()
    ask(kept, OWN, "a", "b")
    return kept.n_bytes


def test_who_floods_it_pushes_out_and_keeps_out_nothing_that_others_ask_for():
    kept = PassCache(room=16 * (size() + 1_000))
    ask(kept, OWN, "c1", "c2")
    for seed in range(100, 140):
        ask(kept, seeded(seed), "thief", "friend")
    assert is_kept(kept, OWN)
    for seed in range(10):
        ask(kept, seeded(seed), f"one {seed}", f"other {seed}")
    assert all(is_kept(kept, seeded(seed)) for seed in range(10))
    assert is_kept(kept, OWN)


def test_it_never_holds_more_than_its_room_and_what_a_class_asks_for_stays():
    room = 16 * (size() + 1_000)
    kept = PassCache(room)
    ask(kept, OWN, "c1", "c2", "c3", "c4")
    for seed in range(100, 120):
        ask(kept, seeded(seed), f"one {seed}", f"other {seed}")
        assert is_kept(kept, seeded(seed))
        assert kept.n_bytes <= room
    assert is_kept(kept, OWN)
    assert not is_kept(kept, seeded(100))


def test_of_what_as_many_sessions_ask_for_the_longest_unasked_leaves_first():
    kept = PassCache(room=2 * (size() + 1_000))
    for seed in (1, 2):
        ask(kept, seeded(seed), f"one {seed}", f"other {seed}")
    ask(kept, seeded(1), "one 1")
    ask(kept, seeded(3), "a", "b")
    assert [is_kept(kept, seeded(seed)) for seed in (1, 2, 3)] == [True, False, True]


def test_a_flood_of_one_session_does_not_end_the_waiting_of_others():
    kept = PassCache()
    ask(kept, OWN, "a")
    for seed in range(100, 120):
        ask(kept, seeded(seed), "flood")
    ask(kept, OWN, "b")
    assert is_kept(kept, OWN)


def test_the_sessions_that_count_are_bounded(monkeypatch):
    monkeypatch.setattr(pass_cache, "MAX_SESSIONS", 10)
    kept = PassCache()
    ask(kept, OWN, "a")
    for number in range(30):
        ask(kept, seeded(100 + number), f"{number}")
    assert len(kept._shared._recent) == 10
    ask(kept, OWN, "b")
    assert not is_kept(kept, OWN), "that a asked for it is forgotten"


def test_a_large_pass_is_never_kept():
    kept = PassCache()
    large = replace(OWN, sentence=" ".join(map(str, range(60))), options=with_options(OWN.options, d_model=64))
    assert sum(stage.value.nbytes for stage in resolve(large).original.stages) > MAX_PASS_BYTES
    ask(kept, large, "a", "b", "c")
    assert not is_kept(kept, large)


def test_many_threads_get_the_same():
    kept = PassCache()
    expected = document(resolve(OWN))
    found = []

    def run(number):
        found.append(whole(json.loads(kept.document_json(kept.resolved(OWN), str(number)))))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


def test_what_is_kept_of_a_pass_is_the_same_beside_another():
    alone = fitted_at({"model": "who-is-it"}).scene
    for scene in (alone, fitted_at({}).scene):
        paired = replace(scene, other=pinned(fitted_at({"model": "who-is-it", "seed": "1"}).scene))
        assert key_of(paired) == key_of(scene)
        assert body(resolve(paired)) == body(resolve(scene))
