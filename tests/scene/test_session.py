"""Sessions: what is done makes the same of the same, whoever does it, and wherever."""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import replay

import attnviz
from attnviz.contract.answer import read_request
from attnviz.scene.actions.session import Session, answer_to, apply_action
from attnviz.scene.address import parse
from attnviz.scene.document.pass_cache import PASS_CACHE
from attnviz.scene.document.reply import PARTS, ClientState, reply
from attnviz.scene.document.reply_notes import ReplyNotes
from attnviz.scene.scene import FIRST_VISIT, Scene
from attnviz.scene.with_pass import resolve


def test_the_same_acts_have_the_same_answers_in_another_process_without_streamlit():
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
            has = ClientState("another tab", view, number=3, arrival=2)
            first = reply(resolve(scene), ReplyNotes(), has)
            for tab in "abc":  # until it is kept
                reply(PASS_CACHE.resolved(scene), ReplyNotes(), ClientState(tab, view))
            assert reply(PASS_CACHE.resolved(scene), ReplyNotes(), has) == first


def test_what_an_act_says_is_said_after_it_and_not_again():
    session = Session(Scene())
    session.do("n_heads", 8)
    notices = session.do("d_model", 9).notices
    assert notices == ("8 heads don't divide 9: showing 9.",)
    assert session.notes == ReplyNotes()
    assert session.do("slopes", "output[0,0]") == ReplyNotes(slopes_of="output[0,0]")
    assert session.notes == ReplyNotes()


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
    reply(resolve(scene), ReplyNotes(), ClientState("a tab", "pass"))
    assert computed == [scene.changes]


PRODUCT = Path(attnviz.__file__).parent
CACHING = str(PRODUCT / "core" / "trace.py"), "_cached.<locals>.cached"
"""The wrapper around cached functions of other packages: it calls nothing by itself."""


@functools.cache
def package_of(file):
    """The package of a file of attnviz, in scene its folder; empty for all other files."""
    if not file.startswith(str(PRODUCT)):
        return ""
    first, *inner = Path(file).relative_to(PRODUCT).with_suffix("").parts
    return f"{first}/{inner[0]}" if first == "scene" and len(inner) > 1 else first


def paths_of(run):
    """The sequences of packages that calls lead through, from the first one on."""
    paths, path = set(), [()]

    def heard(frame, event, _):
        if event == "call":
            code = frame.f_code
            package = "" if (code.co_filename, code.co_qualname) == CACHING else package_of(code.co_filename)
            path.append(path[-1] if package in ("", *path[-1][-1:]) else (*path[-1], package))
            paths.add(path[-1])
        elif event == "return" and len(path) > 1:
            path.pop()

    sys.setprofile(heard)
    try:
        run()
    finally:
        sys.setprofile(None)
    return paths


def test_from_an_address_to_its_cells_and_back_by_an_action_no_call_enters_a_package_twice():
    def walk():
        session = Session(parse({"sentence": "on a walk", "beside": "mask=causal", "cell": "1.2.1.1.1"}).scene)
        for view, *done in (("pass", "change", {"cell": "q[0,1,0]", "value": 2.5}), ("audit", "unpin", True)):
            request = {"tab": "a tab", "address": session.address, "look": "?cell=1.3.2.1.1", "view": view}
            body = json.dumps(request | {"templates": [], "acts": [done]}).encode()
            address = json.loads(answer_to(session, read_request(body)))["address"]
        assert "q[0,1,0]=2.5" in address["changes"]

    paths = paths_of(walk)
    assert [path for path in paths if len(set(path)) < len(path)] == []
    assert {"scene/actions", "scene/document", "explain", "models", "core"} <= {path[-1] for path in paths if path}
