"""What is done through the route of acts: the scene that is answered, and the tab it is done in."""

import gc
import json
import time

import pytest
from asgi import APP, ask
from page import answer_of, did, opened, scene_of, values
from patience import PATIENCE_SECONDS
from posts import answer, new_tab, post, said

from attnviz.app import store, streamlit_private, tab_routes, tabs
from attnviz.scene.document import pass_cache
from attnviz.scene.document.reply import PARTS
from attnviz.scene.document.reply_notes import ReplyNotes
from attnviz.scene.with_pass import fit_to_pass
from attnviz.viewer.script import SCRIPTS


@pytest.fixture
def tab():
    return new_tab()


def test_what_was_done_is_answered_with_the_scene_that_it_made(tab):
    found = answer(tab, ("mask", "causal"), ("sentence", "a b"))
    assert (values(found)["mask"], values(found)["sentence"]) == ("causal", "a b")
    assert found["pass"]["words"]["query"] == ["a", "b"]
    assert found["tab"] == tab.token
    assert {"sentence": "a b", "mask": "causal"}.items() <= found["address"].items()
    headers = post(said(tab)).headers
    assert (headers["content-type"], headers["cache-control"]) == ("application/json", "no-store")
    assert "content-security-policy" in headers


def test_acts_and_the_viewers_script_are_there_wherever_the_app_is_mounted(tab):
    for script in SCRIPTS.values():
        assert ask(APP, "/a/course" + script.path).text == script.text.decode()
    assert ask(APP, "/a/course" + tab_routes.ACTS_PATH, "POST", body=said(tab, ("mask", "causal"))).status == 200
    assert tab.session.scene.options.mask == "causal"


def test_half_a_character_is_a_mark_that_stands_for_it(tab):
    found = answer(tab, ("sentence", "a\ud800 b\udfff\ud83d\ude00"), look="?step=\ud800", address={"\udc00": "\ud800"})
    assert values(found)["sentence"] == "a\ufffd b\ufffd\U0001f600"


def test_a_pass_is_made_once_for_what_leaves_it_as_it_is_and_then_let_go(tab, monkeypatch):
    made = []
    monkeypatch.setattr(pass_cache, "fit_to_pass", lambda *given: made.append(given[0]) or fit_to_pass(*given))
    answer(tab, ("need", "q[0,0,0]"), ("slopes", "scores[1,1,1]"), ("need", "q[1,0,0]"))
    assert len(made) == 1
    answer(tab, ("mute", {"stage": "heads", "place": 0}), ("need", "q[0,0,0]"))
    assert len(made) == 3, "one of the scene before, and one of that with a muted head"
    assert tab.session.resolved().trace is not tab.session.resolved().trace, "nothing is kept"


def test_back_to_another_scene_is_where_the_next_is_done(tab):
    first = answer(tab, ("mask", "causal"))["address"]
    answer(tab, ("sentence", "one two"), ("seed", "7"))
    found = answer(tab, ("d_model", 4), address=first)
    assert {"sentence": "the cat sat", "mask": "causal", "d_model": "4", "seed": None}.items() <= found[
        "address"
    ].items()
    assert found["pass"]["words"]["query"] == ["the", "cat", "sat"]
    assert answer(tab, ("d_model", 6))["address"] == found["address"] | {"d_model": "6"}, "and what is done after it"


def test_where_one_looks_is_read_from_the_browsers_address_and_nothing_else_is(tab):
    found = answer(
        tab, ("mute", {"stage": "heads", "place": 0}), look="?step=softmax&cell=2.1.1.1.1&sentence=x&mask=causal"
    )
    assert (found["pass"]["where"]["step"], found["pass"]["where"]["cell"]["head"]) == ("softmax", 1)
    assert (values(found)["sentence"], values(found)["mask"]) == ("the cat sat", "none")


@pytest.mark.parametrize("view", PARTS)
def test_a_page_is_answered_with_its_view_and_no_other_part(tab, view):
    found = answer(tab, ("n_heads", 8), ("d_model", 9), view=view)
    assert found["notices"] == ["8 heads don't divide 9: showing 9."]
    assert found.keys() & {*PARTS} == {view}
    assert found["view"] == view
    assert answer(tab, ("nothing", True), view=view)["notices"] == [], "it is said once"
    assert answer(tab, ("sentence", ""), view=view)[view] is None


def test_what_a_run_shows_and_what_is_done_are_of_one_scene():
    at = opened(sentence="the cat sat")
    tab = at.session_state["tab"]
    assert tabs.OPEN[tab.token] is tab
    answer(tab, ("mask", "causal"))
    assert scene_of(at).options.mask == "causal"
    assert values(answer_of(at.run()))["mask"] == "causal"
    assert at.query_params["mask"] == "causal"


def test_a_later_scene_has_a_larger_number_whether_a_run_an_act_or_back_made_it(monkeypatch):
    at = opened(sentence="the cat sat")
    numbers = [answer_of(at)["number"]]
    for mask in ("causal", "none"):
        numbers += [did(at, "mask", mask)["number"], answer_of(at.run())["number"]]
    monkeypatch.setattr("attnviz.app.store.is_navigation", lambda: True)
    numbers += [answer_of(at.run())["number"], did(at, "mask", "causal")["number"]]
    assert numbers == sorted(set(numbers))


def test_a_tab_that_is_back_after_a_break_loses_nothing_that_its_address_lacked(monkeypatch):
    at = opened(sentence="the cat sat")
    answer(at.session_state["tab"], ("mask", "causal"))  # and the address that is read again is older
    monkeypatch.setattr(
        "attnviz.app.streamlit_private.get_script_run_ctx", back_in(streamlit_private.get_script_run_ctx)
    )
    at.query_params[store.RECONNECTED] = ""
    assert values(answer_of(at.run()))["mask"] == "causal"
    assert at.query_params == {"sentence": "the cat sat", "mask": "causal"}
    del at.query_params["mask"]
    assert values(answer_of(at.run()))["mask"] == "none", "Back leads where it leads"


def test_a_process_that_has_taken_over_says_nothing_of_the_break():
    at = opened(sentence="the cat sat", seed="3", **{store.RECONNECTED: ""})
    assert answer_of(at)["notices"] == []
    assert scene_of(at).options.seed == 3


def back_in(context):
    """The context of a run to which Back has led."""

    def changed():
        run = context()
        run.is_history_navigation = True
        return run

    return changed


def test_what_a_run_has_read_is_older_than_what_is_done_before_it_has_drawn_that(tab):
    number, read = tab.session.number(), tab.session.resolved()
    done = answer(tab, ("mask", "causal"))
    late = json.loads(tab.session.answer(read, ReplyNotes(), tab.token, "pass", number))
    assert (values(late)["mask"], values(done)["mask"]) == ("none", "causal")
    assert late["number"] < done["number"]


def test_a_tab_that_is_gone_is_held_by_nobody_and_not_found():
    at = opened(sentence="the cat sat")
    tab = at.session_state["tab"]
    body, token = said(tab, ("mask", "causal")), tab.token
    assert post(body).status == 200
    del at, tab
    deadline = time.monotonic() + PATIENCE_SECONDS
    while token in tabs.OPEN and time.monotonic() < deadline:  # until the thread of its run has ended
        gc.collect()
    assert token not in tabs.OPEN
    assert post(body).status == 404


def test_each_tab_is_another_and_stays_so_from_run_to_run():
    one, other = opened(), opened()
    token = answer_of(one)["tab"]
    assert answer_of(one.run())["tab"] == did(one, "mask", "causal")["tab"] == token
    assert answer_of(other)["tab"] != token
    assert scene_of(other).options.mask == "none"


def test_only_the_script_of_its_own_name_is_kept():
    """A page from before an update asks for another name: what it gets isn't that text, so it isn't kept."""
    for name, script in SCRIPTS.items():
        assert "immutable" in ask(APP, "/a/course" + script.path).headers["cache-control"]
        older = ask(APP, f"/a/course/viewer/{name}-{'0' * 16}.js")
        assert (older.status, older.headers["cache-control"]) == (200, "no-store")


def test_slopes_that_fail_are_not_asked_for_with_every_answer_that_follows(tab, monkeypatch):
    def fails(*_):
        raise ZeroDivisionError

    with monkeypatch.context() as broken:
        broken.setattr("attnviz.scene.document.reply._part", fails)
        assert post(said(tab, ("slopes", "output[0,0]"))).status == 500
    assert answer(tab, ("mask", "causal"))["pass"]["slopes"] is None
