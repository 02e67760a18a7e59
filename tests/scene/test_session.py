"""Sessions: what is done makes the same of the same, whoever does it, and wherever."""

import json
import os
import subprocess
import sys
from pathlib import Path

import replay

from attnviz.scene.actions.session import Session, apply_action
from attnviz.scene.document.pass_cache import PASS_CACHE
from attnviz.scene.document.reply import PARTS, reply
from attnviz.scene.document.reply_notes import ReplyNotes
from attnviz.scene.scene import FIRST_VISIT, Scene
from attnviz.scene.with_pass import resolve


def test_the_same_actions_have_the_same_answers_in_another_process_without_streamlit():
    ours = replay.replayed()
    answers = [json.loads(answer) for answer in ours]
    assert [answer["view"] for answer in answers] == [view for view, _ in replay.RECORD]
    assert all(answer[answer["view"]] for answer in answers)
    shown = [answer["pass"] for answer in answers if "pass" in answer]
    of_passes = [{part for part in ("slopes", "flips", "other", "next") if each[part]} for each in shown]
    asked = [{}, {"slopes"}, {"other"}, {}, {}, {}, {"other"}, {"other"}, {"flips", "other"}, {"next"}]
    assert of_passes == [*map(set, asked), {"next", "other"}, set()]
    command = [sys.executable, str(Path(replay.__file__))]
    other = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    ran = subprocess.run(command, capture_output=True, check=True, env=os.environ | {"PYTHONHASHSEED": other}, cwd="/")
    assert ran.stdout.split(b"\n") == ours


def test_an_answer_is_the_same_whatever_was_asked_before():
    for scene in (FIRST_VISIT, Scene()):
        for view in PARTS:
            client = {"tab": "another tab", "view": view, "number": 3, "arrival": 2}
            first = reply(resolve(scene), ReplyNotes(), **client)
            for tab in "abc":  # until it is kept
                reply(PASS_CACHE.resolved(scene), ReplyNotes(), tab=tab, view=view, number=0)
            assert reply(PASS_CACHE.resolved(scene), ReplyNotes(), **client) == first


def test_a_seed_stays_as_it_was_typed_until_the_scene_has_another():
    session = Session(Scene())
    session.do("seed", " 42")
    session.do("mask", "causal")
    assert session.notes.seed == " 42"
    session.do("source", "002 sum")
    session.do("source", "own-sentence")
    assert session.notes.seed == " 42"
    session.do("another_seed", True)
    assert session.notes.seed is None


def test_a_number_that_is_set_by_hand_is_computed_once(monkeypatch):
    from attnviz.core.trace import Trace

    computed, of = [], Trace.with_changes

    def counted(trace, *changes):
        computed.append(changes)
        return of(trace, *changes)

    monkeypatch.setattr(Trace, "with_changes", counted)
    resolve = PASS_CACHE.resolver()
    scene, _ = apply_action(Scene(), "change", {"cell": "q[0,1,2]", "value": 2.5}, resolve)
    reply(resolve(scene), ReplyNotes(), tab="a tab", view="pass", number=0)
    assert computed == [scene.changes]
