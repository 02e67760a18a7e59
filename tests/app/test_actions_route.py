"""The route of a viewer's actions: the scene that is answered, what is refused without effect, and whose turn it is."""

import asyncio
import gc
import json
import threading
import time
from types import SimpleNamespace

import pytest
from asgi import APP, ask, asked, in_loop
from documents import fitted_at
from hypothesis import given, settings
from hypothesis import strategies as st
from page import answer_of, did, opened, scene_of, values
from patience import PATIENCE_SECONDS
from posts import answer, new_tab, post, said
from test_viewer import JSON, MEANT

from attnviz.app import browser_tabs, page_scene, streamlit_private
from attnviz.app.browser_tabs import ACTIONS_PATH, MAX_ACTIONS_BYTES, MAX_WAIT_SECONDS
from attnviz.contract.base import RequestError, received
from attnviz.contract.request_reply import MAX_ACTIONS, ActionsRequest
from attnviz.scene.actions.session import ACTION_NAMES
from attnviz.scene.document import pass_cache
from attnviz.scene.document.reply import PARTS
from attnviz.scene.document.reply_notes import ReplyNotes
from attnviz.scene.scene import Scene
from attnviz.scene.with_pass import fit_to_pass
from attnviz.viewer.bundle import module
from attnviz.viewer.script import LATE, SCRIPTS, whole

BEFORE = Scene(sentence="the cat sat")
MUTE = ("mute", {"stage": "heads", "place": 0})


@pytest.fixture
def tab():
    return new_tab()


def test_an_action_is_answered_with_the_scene_that_it_makes(tab):
    found = answer(tab, ("mask", "causal"), ("sentence", "a b"))
    assert (values(found)["mask"], values(found)["sentence"]) == ("causal", "a b")
    assert found["pass"]["words"]["query"] == ["a", "b"]
    assert found["tab"] == tab.token
    assert {"sentence": "a b", "mask": "causal"}.items() <= found["address"].items()
    headers = post(said(tab)).headers
    assert (headers["content-type"], headers["cache-control"]) == ("application/json", "no-store")
    assert "content-security-policy" in headers


def test_the_routes_are_there_wherever_the_app_is_mounted(tab):
    assert ask(APP, "/a/course" + ACTIONS_PATH, "POST", body=said(tab, ("mask", "causal"))).status == 200
    assert tab.session.scene.options.mask == "causal"
    for name, script in SCRIPTS.items():
        found = ask(APP, "/a/course" + script.path)
        assert found.text == script.text.decode()
        assert "immutable" in found.headers["cache-control"]
        older = ask(APP, f"/a/course/viewer/{name}-{'0' * 16}.js")  # a page from before an update asks for it
        assert (older.status, older.headers["cache-control"]) == (200, "no-store")
        assert older.text == (whole(name) if name in LATE else script).text.decode()


def test_a_pass_is_made_once_for_actions_that_leave_it_as_it_is_and_then_let_go(tab, monkeypatch):
    made = []
    monkeypatch.setattr(pass_cache, "fit_to_pass", lambda *given: made.append(given[0]) or fit_to_pass(*given))
    answer(tab, ("need", "q[0,0,0]"), ("slopes", "scores[1,1,1]"), ("need", "q[1,0,0]"))
    assert len(made) == 1
    answer(tab, MUTE, ("need", "q[0,0,0]"))
    assert len(made) == 3, "one of the scene before, and one of that with a muted head"
    assert tab.session.resolved().trace is not tab.session.resolved().trace, "nothing is kept"


def test_an_action_changes_the_scene_of_the_address_it_is_sent_with(tab):
    first = answer(tab, ("mask", "causal"))["address"]
    answer(tab, ("sentence", "one two"), ("seed", "7"))
    found = answer(tab, ("d_model", 4), address=first)
    expected = {"sentence": "the cat sat", "mask": "causal", "d_model": "4", "seed": None}
    assert expected.items() <= found["address"].items()
    assert found["pass"]["words"]["query"] == ["the", "cat", "sat"]
    assert answer(tab, ("d_model", 6))["address"] == found["address"] | {"d_model": "6"}, "and what follows"


def test_only_the_view_is_read_from_the_browsers_own_address(tab):
    found = answer(tab, MUTE, look="?step=softmax&cell=2.1.1.1.1&sentence=x&mask=causal")
    assert (found["pass"]["where"]["step"], found["pass"]["where"]["cell"]["head"]) == ("softmax", 1)
    assert (values(found)["sentence"], values(found)["mask"]) == ("the cat sat", "none")


@pytest.mark.parametrize("view", PARTS)
def test_a_page_gets_its_view_and_no_other_part(tab, view):
    found = answer(tab, ("n_heads", 8), ("d_model", 9), view=view)
    assert found["notices"] == ["8 heads don't divide 9: showing 9."]
    assert found.keys() & {*PARTS} == {view}
    assert found["view"] == view
    assert answer(tab, ("nothing", True), view=view)["notices"] == [], "a notice is sent once"
    assert answer(tab, ("sentence", ""), view=view)[view] is None


def test_a_setting_that_is_mended_after_an_action_is_said_once(tab):
    answer(tab, ("initialiser", "whole"))
    before = tab.session.address
    (notice,) = answer(tab, ("sentence", "one two three four five"), ("mask", "causal"))["notices"]
    assert notice.startswith("initialiser=whole needs 3 or 4 words")
    assert answer(tab, ("mask", "none"))["notices"] == []
    assert answer(tab, ("sentence", "five words in all here"), address=before)["notices"] == [notice]


def test_runs_and_actions_share_one_scene():
    at = opened(sentence="the cat sat")
    tab = at.session_state["tab"]
    assert browser_tabs.OPEN[tab.token] is tab
    answer(tab, ("mask", "causal"))
    assert scene_of(at).options.mask == "causal"
    assert values(answer_of(at.run()))["mask"] == "causal"
    assert at.query_params["mask"] == "causal"


def test_a_later_scene_has_a_larger_number_whatever_made_it(monkeypatch):
    at = opened(sentence="the cat sat")
    numbers = [answer_of(at)["number"]]
    for mask in ("causal", "none"):
        numbers += [did(at, "mask", mask)["number"], answer_of(at.run())["number"]]
    monkeypatch.setattr("attnviz.app.page_scene.is_navigation", lambda: True)
    numbers += [answer_of(at.run())["number"], did(at, "mask", "causal")["number"]]
    assert numbers == sorted(set(numbers))


def test_a_run_that_read_an_older_scene_has_a_smaller_number_than_an_action_meanwhile(tab):
    number, read = tab.session.number(), tab.session.resolved()
    done = answer(tab, ("mask", "causal"))
    late = json.loads(tab.session.reply(read, ReplyNotes(), tab.token, "pass", number))
    assert (values(late)["mask"], values(done)["mask"]) == ("none", "causal")
    assert late["number"] < done["number"]


def test_a_tab_that_reconnects_keeps_what_its_address_lacked(monkeypatch):
    def navigated(context=streamlit_private.get_script_run_ctx):
        run = context()
        run.is_history_navigation = True
        return run

    at = opened(sentence="the cat sat")
    answer(at.session_state["tab"], ("mask", "causal"))  # and the address that is read again is older
    monkeypatch.setattr("attnviz.app.streamlit_private.get_script_run_ctx", navigated)
    at.query_params[page_scene.RECONNECTED] = ""
    assert values(answer_of(at.run()))["mask"] == "causal"
    assert at.query_params == {"sentence": "the cat sat", "mask": "causal"}
    del at.query_params["mask"]
    assert values(answer_of(at.run()))["mask"] == "none", "Back leads where it leads"


def test_a_process_that_has_taken_over_gives_no_notice_of_the_break():
    at = opened(sentence="the cat sat", seed="3", **{page_scene.RECONNECTED: ""})
    assert (answer_of(at)["notices"], scene_of(at).options.seed) == ([], 3)


def test_a_closed_tab_is_forgotten():
    at = opened(sentence="the cat sat")
    tab = at.session_state["tab"]
    body, token = said(tab, ("mask", "causal")), tab.token
    assert post(body).status == 200
    del at, tab
    deadline = time.monotonic() + PATIENCE_SECONDS
    while token in browser_tabs.OPEN and time.monotonic() < deadline:  # until the thread of its run has ended
        gc.collect()
    assert token not in browser_tabs.OPEN
    assert post(body).status == 404


def test_each_tab_has_a_token_of_its_own_from_run_to_run():
    one, other = opened(), opened()
    token = answer_of(one)["tab"]
    assert answer_of(one.run())["tab"] == did(one, "mask", "causal")["tab"] == token
    assert answer_of(other)["tab"] != token
    assert scene_of(other).options.mask == "none"


def test_slopes_that_fail_are_not_computed_with_every_answer_that_follows(tab, monkeypatch):
    def fails(*_):
        raise ZeroDivisionError

    with monkeypatch.context() as broken:
        broken.setattr("attnviz.scene.document.reply._part", fails)
        assert post(said(tab, ("slopes", "output[0,0]"))).status == 500
    assert answer(tab, ("mask", "causal"))["pass"]["slopes"] is None


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])
def test_nothing_is_done_but_by_a_post(tab, method):
    answered = ask(APP, ACTIONS_PATH, method, body=said(tab, ("mask", "causal")))
    assert (answered.status, answered.headers["allow"]) == (405, "POST")
    assert tab.session.scene == BEFORE


@pytest.mark.parametrize("token", ["0" * 32, "", "before the first run"])
def test_a_tab_that_is_not_there_is_not_found(tab, token):
    actions = said(tab, ("mask", "causal")) if token.startswith("before") else said(tab, ("mask", "causal"), tab=token)
    if token.startswith("before"):
        tab.session = None
    answered = post(actions)
    assert (answered.status, "knows no such tab" in answered.text) == (404, True)


WRONG = {
    "tab": [None, 1, [], {}],
    "address": [None, [], "a=b", {"mask": 1}, {"mask": ["a"]}],
    "look": [None, 1, {}, ["?a=b"], "&".join(f"a{n}=" for n in range(200))],
    "view": [None, 0, True, "", "passes", ["pass"], {}],
    "templates": [None, {}, "a", [1], [["a"]]],
    "actions": [None, {}, "mask", ["mask"], [["mask"]], [["mask", "a", "b"]], [{"mask": "a"}], [["mask", 1]] * 21],
}


def is_refused(answered, of=""):
    assert (answered.status, answered.headers["connection"]) == (400, "close")
    assert answered.text.startswith("What is asked here is a page's own")
    assert of in answered.text
    assert answered.text.endswith(" Reload the page.")


@pytest.mark.parametrize(("part", "value"), [(part, value) for part, values in WRONG.items() for value in values])
def test_a_part_of_another_type_is_refused_without_effect(tab, part, value):
    # the tab is read before all else
    rule = "of its tab" if part == "tab" else "{tab, address, look, view, actions, templates}. "
    is_refused(post(said(tab, ("mask", "causal"), **{part: value})), rule)
    assert tab.session.scene == BEFORE


NO_REQUESTS = [
    *(b"", b"\x00" * 100, b"\xff\xfe\xfd", b'{"tab": "\xed\xa0\x80"}', b"null", b"[]", b"{}", b'"' + b"a" * 1000),
    *(b"[" * 100_000, b'{"a":' * 20_000, b"9" * 100_000, b'{"tab": 1e999999999}'),
]
NO_MESSAGES = [*(b'"\xff"', b"[" * 60_000 + b"]" * 60_000, b"[" * 100_000, b"1e999", b"NaN", b'"\\ud8"', b'"\\')]


def test_what_is_no_request_of_a_viewer_is_refused(tab):
    for body in NO_REQUESTS:
        is_refused(post(body))
    for message in NO_MESSAGES:
        is_refused(post(said(tab, ("sentence", "here")).replace(b'"here"', message)))
    assert tab.session.scene == BEFORE


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r'"a\ud800b\udfff\ud83d\ude00"', "a\ufffdb\ufffd\U0001f600"),
        (r'"\ud83d\ud83d\ude00"', "\ufffd\U0001f600"),
        (r'"\\ud800\"\n"', '\\ud800"\n'),
        (r'"\\\ud800"', "\\\ufffd"),
        ('"é\U0001f600"', "é\U0001f600"),
    ],
)
def test_half_a_character_is_read_as_a_mark_and_all_else_as_it_is(tab, written, read):
    body = said(tab, ("sentence", "here")).replace(b'"here"', written.encode())
    assert received(body, ActionsRequest).actions == [("sentence", read)]
    post(body)
    assert tab.session.scene.sentence == read
    answer(tab, look="?step=\ud800", address={"\udc00": "\ud800"})


@in_loop
async def test_more_than_a_viewer_ever_sends_is_refused_and_no_longer_read():
    read, sent = [], []

    async def endless():
        read.append(1)
        return {"type": "http.request", "body": b" " * 1_000, "more_body": True}

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": ACTIONS_PATH, "headers": [(b"host", b"[::1]")]}
    await APP(scope | {"query_string": b""}, endless, send)
    assert sent[0]["status"] == 400
    assert len(read) == MAX_ACTIONS_BYTES // 1_000 + 1


def test_a_viewer_sends_as_many_actions_at_once_as_are_read():
    assert f"const MAX_ACTIONS = {MAX_ACTIONS};" in module("server").read_text("utf-8")


def test_what_is_sent_for_no_tab_is_not_parsed(tab, monkeypatch):
    read = []

    def refused(body, _):
        read.append(body)
        raise RequestError("What is asked here is a page's own. Reload the page.")

    monkeypatch.setattr(browser_tabs, "received", refused)
    for body in (said(tab, tab="0" * 32), said(tab, tab=1), b" " * MAX_ACTIONS_BYTES, b"[" * MAX_ACTIONS_BYTES):
        assert post(body).status in (400, 404)
    assert read == []
    is_refused(post(said(tab)))
    assert read == [said(tab)]


@in_loop
async def test_a_request_that_is_cut_off_has_no_effect():
    tab, sent = new_tab(), []
    came = iter([{"type": "http.request", "body": said(tab, ("mask", "causal")), "more_body": True}])

    async def receive():
        return next(came, {"type": "http.disconnect"})

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": ACTIONS_PATH, "headers": [(b"host", b"[::1]")]}
    await APP(scope, receive, send)
    assert sent[0]["status"] == 400
    assert tab.session.scene == BEFORE


def test_nobody_passes_for_another_tab(tab):
    other = new_tab()
    for token in (other.token, "x" * 1000, ""):
        first = json.dumps({"tab": tab.token}).encode()[:-1]
        is_refused(post(first + b"," + said(tab, ("mask", "causal"), tab=token)[1:]))  # JSON may have a key twice
    assert tab.session.scene == BEFORE


PART = st.sampled_from(["tab", "address", "look", "view", "actions", "templates"])
LISTS = st.lists(
    st.tuples(st.sampled_from(ACTION_NAMES) | JSON, MEANT | st.text(alphabet=["a", "\ud800", "\u202e"])), max_size=3
)


@settings(max_examples=40)
@given(LISTS, st.dictionaries(PART, JSON | st.dictionaries(st.sampled_from(["mask", "sentence", "trail"]), st.text())))
def test_any_json_is_answered_refused_or_of_no_tab(done, parts):
    tab = new_tab("a b")
    answered = post(said(tab, *done, **parts))
    assert answered.status in (200, 400, 404)
    if answered.status == 200:
        found = json.loads(answered.text)
        written = {name: text for name, text in found["address"].items() if text is not None}
        assert fitted_at(written).scene == tab.session.resolved().scene
    else:
        assert tab.session.scene == Scene(sentence="a b")


FOREIGN = ["http://evil.example", "http://127.0.0.1:1", "https://127.0.0.1.evil.example", "null", ""]
OURS = [{"origin": "http://127.0.0.1"}, {}, {"host": "[::1]:8501", "origin": "http://[::1]:8501"}]


def test_pages_of_other_sites_can_do_nothing_and_ours_and_programs_can(tab):
    for origin in FOREIGN:
        answered = post(said(tab, ("mask", "causal")), origin=origin)
        assert (answered.status, answered.headers["connection"]) == (403, "close")
    assert post(said(tab, ("mask", "causal")), host="evil.example", origin="http://evil.example").status == 421
    assert tab.session.scene == BEFORE
    for headers in OURS:
        assert post(said(tab, ("mask", "causal")), **headers).status == 200


@pytest.fixture
def waiting(tab, monkeypatch):
    """Make actions of all tabs but `tab` wait until `may_end`; `begun` lists each as it begins."""
    may_end, begun = threading.Event(), []

    def answered(session, request):
        begun.append((request.tab, request.actions))
        assert request.tab == tab.token or may_end.wait(PATIENCE_SECONDS)
        return b"{}"

    monkeypatch.setattr(browser_tabs, "reply_to", answered)
    return SimpleNamespace(may_end=may_end, begun=begun)


def sent(tab, *actions):
    return asked(APP, ACTIONS_PATH, "POST", body=said(tab, *actions))


async def answered_meanwhile(waiting, blocked, *actions):
    """The answers to a person's actions while those of others wait, how many had begun by then, and all answers."""
    tasks = [asyncio.create_task(each) for each in blocked]
    while not waiting.begun:
        await asyncio.sleep(0)
    answers = [(await each).status for each in actions]
    n_begun = len(waiting.begun)
    waiting.may_end.set()
    return answers, n_begun, [each.status for each in await asyncio.gather(*tasks)]


@in_loop
async def test_actions_of_one_tab_are_answered_in_turn_and_other_tabs_do_not_wait(tab, waiting):
    busy = new_tab()
    blocked = [sent(busy, ("sentence", word)) for word in "abc"]
    found = await answered_meanwhile(waiting, blocked, sent(tab, ("sentence", "z")))
    assert found == ([200], 2, [200] * 3)
    assert [actions[0][1] for _, actions in waiting.begun] == ["a", "z", "b", "c"]


@in_loop
async def test_tabs_that_use_much_wait_for_each_other_and_no_person_for_them(tab, waiting, monkeypatch):
    monkeypatch.setattr(browser_tabs, "SECONDS_PER_SECOND", 1e-9)  # they have used much however long this takes
    heavy = [new_tab() for _ in range(8)]
    for each in heavy:
        each.cpu_quota.spend(1.5 * browser_tabs.HEAVY_SECONDS)
    assert await answered_meanwhile(waiting, map(sent, heavy), sent(tab)) == ([200], 2, [200] * 8)


@pytest.mark.parametrize("act", browser_tabs.LONG)
@in_loop
async def test_long_actions_are_done_one_after_the_other_and_nobody_else_waits(tab, waiting, act):
    pressing = [new_tab() for _ in range(8)]
    blocked = [sent(each, ("mask", "none"), (act, "a")) for each in pressing]
    found = await answered_meanwhile(waiting, blocked, *(sent(tab, ("mask", act)) for _ in range(3)))
    assert found == ([200] * 3, 4, [200] * 8)
    assert len(waiting.begun) == 11


def test_a_tab_that_has_used_up_its_quota_waits_and_what_it_uses_is_recorded(tab, monkeypatch):
    slept, used = [], iter([10.0, 10.25, 20.0, 20.5])

    async def sleep(seconds):
        slept.append(seconds)

    monkeypatch.setattr(browser_tabs.asyncio, "sleep", sleep)
    clock = SimpleNamespace(monotonic=lambda: tab.cpu_quota.at, thread_time=lambda: next(used))
    monkeypatch.setattr(browser_tabs, "time", clock)
    answer(tab, ("mask", "causal"))
    assert (slept, tab.cpu_quota.used) == ([0], 0.25)
    tab.cpu_quota.spend(1000)
    answer(tab, ("mask", "none"))
    assert slept == [0, MAX_WAIT_SECONDS]
