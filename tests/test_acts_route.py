"""The route that acts are sent to, through all guards: whatever is sent, tabs stay well."""

import asyncio
import gc
import json
import threading
import time
from types import SimpleNamespace

import pytest
from asgi import APP, ask, asked, run
from hypothesis import given, settings
from hypothesis import strategies as st
from page import ROOT, answer_of, did, opened, scene_of, values
from test_viewer import JSON, MEANT

from attnviz.scene import place
from attnviz.scene.acts import NAMES
from attnviz.scene.address import parse
from attnviz.scene.fitting import fit
from attnviz.scene.place import Place
from attnviz.scene.scene import Scene
from attnviz.server import acts
from attnviz.ui.state import share, tabs
from attnviz.ui.state.share import LONGEST
from attnviz.ui.viewer import script

OURS = "http://127.0.0.1"


@pytest.fixture
def tab():
    tab = tabs.Tab()
    tabs.OPEN[tab.token] = tab
    tab.places[""] = Place("", Scene(sentence="the cat sat"))
    return tab


def said(tab, /, *done, **parts):
    """What a viewer says was done in a tab."""
    usual = {"tab": tab.token, "name": "", "address": tab.places[""].address, "look": "", "draws": True}
    return json.dumps(usual | {"acts": [list(each) for each in done]} | parts).encode()


def post(body, **options):
    return ask(APP, acts.PATH, "POST", body=body, **options)


def answer(tab, /, *done, **parts):
    answered = post(said(tab, *done, **parts))
    assert answered.status == 200, answered.text
    return json.loads(answered.text)


def test_what_was_done_is_answered_with_the_scene_that_it_made(tab):
    found = answer(tab, ("mask", "causal"), ("sentence", "a b"))
    assert (values(found)["mask"], values(found)["sentence"]) == ("causal", "a b")
    assert found["pass"]["words"]["query"] == ["a", "b"]
    assert found["tab"] == tab.token
    assert {"sentence": "a b", "mask": "causal"}.items() <= found["address"].items()
    headers = post(said(tab)).headers
    assert (headers["content-type"], headers["cache-control"]) == ("application/json", "no-store")
    assert "content-security-policy" in headers


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])
def test_nothing_is_done_but_by_a_post(tab, method):
    answered = ask(APP, acts.PATH, method, body=said(tab, ("mask", "causal")))
    assert (answered.status, answered.headers["allow"]) == (405, "POST")
    assert tab.places[""].scene == Scene(sentence="the cat sat")


@pytest.mark.parametrize("parts", [{"tab": "0" * 32}, {"tab": ""}, {"name": "other "}, {"name": "\ud800"}], ids=str)
def test_a_tab_or_a_scene_that_is_not_there_is_not_found(tab, parts):
    answered = post(said(tab, ("mask", "causal"), **parts))
    assert (answered.status, "knows no such tab" in answered.text) == (404, True)


WRONG = {"tab": [None, 1, [], {}], "name": [None, 0, ["a"]], "address": [None, [], "a=b", {"mask": 1}, {"mask": ["a"]}]}
WRONG |= {"look": [None, 1, {}, ["?a=b"], "&".join(f"a{n}=" for n in range(200))], "draws": [None, 0, 1, "true"]}
WRONG |= {"acts": [None, {}, "mask", ["mask"], [["mask"]], [["mask", "a", "b"]], [{"mask": "a"}], [["mask", 1]] * 21]}


@pytest.mark.parametrize(("part", "value"), [(part, value) for part, values in WRONG.items() for value in values])
def test_a_part_of_another_type_is_refused_and_nothing_is_done(tab, part, value):
    is_refused(post(said(tab, ("mask", "causal"), **{part: value})))
    assert tab.places[""].scene == Scene(sentence="the cat sat")


def is_refused(answered):
    assert (answered.status, answered.headers["connection"]) == (400, "close")
    assert answered.text.startswith("What is asked here is a viewer's own: {tab, name, address, look, draws, acts}.")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x00" * 100,
        b"\xff\xfe\xfd",
        b'{"tab": "\xed\xa0\x80"}',
        b"null",
        b"[]",
        b"{}",
        b'"' + b"a" * 1000,
        b"[" * 100_000,
        b'{"a":' * 20_000,
        b"9" * 100_000,
        b'{"tab": 1e999999999}',
    ],
    ids=lambda body: repr(body[:20]),
)
def test_what_no_viewer_says_is_refused(body):
    is_refused(post(body))


def test_more_than_a_viewer_ever_says_is_refused_and_no_longer_read(tab):
    is_refused(post(said(tab, ("sentence", "a" * acts.LARGEST))))
    read = []

    async def endless():
        read.append(1)
        return {"type": "http.request", "body": b" " * 1_000, "more_body": True}

    scope = {"type": "http", "method": "POST", "path": acts.PATH, "headers": [], "query_string": b""}
    refused = []

    async def send(message):
        refused.append(message)

    run(acts.route().handle(scope, endless, send))
    assert refused[0]["status"] == 400
    assert len(read) == acts.LARGEST // 1_000 + 1


def test_a_viewer_tells_as_much_at_once_as_is_heard():
    server = (ROOT / "attnviz" / "ui" / "viewer" / "browser" / "server.js").read_text("utf-8")
    assert f"const MOST = {acts.MOST};" in server


def test_what_is_sent_for_no_tab_is_not_read(tab, monkeypatch):
    read = []
    monkeypatch.setattr(acts, "read", read.append)
    for body in (said(tab, tab="0" * 32), said(tab, tab=1), b" " * acts.LARGEST, b"[" * acts.LARGEST):
        assert post(body).status in (400, 404)
    assert read == []
    is_refused(post(said(tab)))
    assert read == [said(tab)]


def test_who_hangs_up_before_all_is_sent_has_done_nothing(tab):
    came = iter([{"type": "http.request", "body": said(tab, ("mask", "causal")), "more_body": True}])

    async def receive():
        return next(came, {"type": "http.disconnect"})

    sent = []

    async def send(message):
        sent.append(message)

    run(APP({"type": "http", "method": "POST", "path": acts.PATH, "headers": [(b"host", b"[::1]")]}, receive, send))
    assert sent[0]["status"] == 400
    assert tab.places[""].scene == Scene(sentence="the cat sat")


def test_nobody_passes_for_another_tab(tab):
    other = tabs.Tab()
    tabs.OPEN[other.token] = other
    for token in (other.token, "x" * 1000, ""):
        first = json.dumps({"tab": tab.token}).encode()[:-1]
        is_refused(post(first + b"," + said(tab, ("mask", "causal"), tab=token)[1:]))  # JSON may say a part twice
    assert tab.places[""].scene == Scene(sentence="the cat sat")


def test_acts_and_the_viewers_script_are_there_wherever_the_app_is_mounted(tab):
    assert ask(APP, "/a/course" + script.PATH).text == script.TEXT.decode()
    assert ask(APP, "/a/course" + acts.PATH, "POST", body=said(tab, ("mask", "causal"))).status == 200
    assert tab.places[""].scene.options.mask == "causal"


def test_half_a_character_is_a_mark_that_stands_for_it(tab):
    found = answer(tab, ("sentence", "a\ud800 b\udfff\ud83d\ude00"), look="?step=\ud800", address={"\udc00": "\ud800"})
    assert values(found)["sentence"] == "a\ufffd b\ufffd\U0001f600"


PART = st.sampled_from(["tab", "name", "address", "look", "draws", "acts"])
LISTS = st.lists(
    st.tuples(st.sampled_from(NAMES) | JSON, MEANT | st.text(alphabet=["a", "\ud800", "\u202e"])), max_size=3
)


@settings(max_examples=100)
@given(LISTS, st.dictionaries(PART, JSON | st.dictionaries(st.sampled_from(["mask", "sentence", "trail"]), st.text())))
def test_any_json_is_answered_refused_or_of_no_tab(done, parts):
    tab = tabs.Tab()
    tabs.OPEN[tab.token] = tab
    tab.places[""] = Place("", Scene(sentence="a b"))
    answered = post(said(tab, *done, **parts))
    assert answered.status in (200, 400, 404)
    if answered.status == 200:
        found = json.loads(answered.text)
        written = {name: text for name, text in found["address"].items() if text is not None}
        assert parse(written).scene == tab.places[""].fitted().scene
    else:
        assert tab.places[""].scene == Scene(sentence="a b")


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://127.0.0.1:1", "https://127.0.0.1.evil.example", "null", ""]
)
def test_a_page_of_another_site_can_do_nothing(tab, origin):
    answered = post(said(tab, ("mask", "causal")), origin=origin)
    assert (answered.status, answered.headers["connection"]) == (403, "close")
    assert tab.places[""].scene == Scene(sentence="the cat sat")


@pytest.mark.parametrize(
    "headers", [{"origin": OURS}, {}, {"host": "[::1]:8501", "origin": "http://[::1]:8501"}], ids=str
)
def test_a_page_of_ours_can_and_who_has_no_page(tab, headers):
    assert post(said(tab, ("mask", "causal")), **headers).status == 200
    assert tab.places[""].scene.options.mask == "causal"


def test_under_another_name_nothing_is_done(tab):
    assert post(said(tab, ("mask", "causal")), host="evil.example", origin="http://evil.example").status == 421
    assert tab.places[""].scene == Scene(sentence="the cat sat")


def test_what_is_done_in_a_tab_is_answered_one_after_the_other_and_others_do_not_wait(tab, monkeypatch):
    other, may_end, begun = tabs.Tab(), threading.Event(), []
    tabs.OPEN[other.token] = other
    other.places[""] = Place("", Scene())

    def answered(place, done):
        begun.append((done.tab, done.acts[0][1]))
        assert done.tab == other.token or may_end.wait(60)
        return b"{}"

    monkeypatch.setattr(acts, "answered", answered)

    async def story():
        ours = [
            asyncio.create_task(asked(APP, acts.PATH, "POST", body=said(tab, ("sentence", word)))) for word in "abc"
        ]
        while not begun:
            await asyncio.sleep(0)
        others = await asked(APP, acts.PATH, "POST", body=said(other, ("sentence", "z")))
        before = begun[:]
        may_end.set()
        return others, before, await asyncio.gather(*ours)

    others, before, ours = run(story())
    assert others.status == 200
    assert before == [(tab.token, "a"), (other.token, "z")]
    assert [each.status for each in ours] == [200] * 3
    assert [word for _, word in begun] == ["a", "z", "b", "c"]


def test_tabs_that_use_much_wait_for_each_other_and_no_person_for_them(tab, monkeypatch):
    heavy, may_end, begun = [tabs.Tab() for _ in range(8)], threading.Event(), []
    for each in heavy:
        tabs.OPEN[each.token] = each
        each.places[""] = Place("", Scene())
        each.share.spend(1.5 * acts.MUCH)

    def answered(place, done):
        begun.append(done.tab)
        assert done.tab == tab.token or may_end.wait(60)
        return b"{}"

    monkeypatch.setattr(acts, "answered", answered)

    async def story():
        waiting = [asyncio.create_task(asked(APP, acts.PATH, "POST", body=said(each))) for each in heavy]
        while not begun:
            await asyncio.sleep(0)
        person = await asked(APP, acts.PATH, "POST", body=said(tab))
        before = len(begun)
        may_end.set()
        return person.status, before, {each.status for each in await asyncio.gather(*waiting)}

    assert run(story()) == (200, 2, {200})


def test_a_pass_is_made_once_for_what_leaves_it_as_it_is_and_then_let_go(tab, monkeypatch):
    made = []
    monkeypatch.setattr(place, "fit", lambda *given: made.append(given[0]) or fit(*given))
    answer(tab, ("need", 0), ("slopes", "scores[1,1,1]"), ("need", 1))
    assert len(made) == 1
    answer(tab, ("mute", {"stage": "heads", "head": 0}), ("need", 0))
    assert len(made) == 3, "one of the scene before, and one of that with a muted head"
    assert tab.places[""].fitted() is not tab.places[""].fitted(), "nothing is kept"


def test_so_many_of_one_tab_wait_for_an_answer_and_more_are_sent_away(tab, monkeypatch):
    may_end = threading.Event()
    monkeypatch.setattr(acts, "answered", lambda *_: may_end.wait(60) and b"{}")

    async def ask():
        return (await asked(APP, acts.PATH, "POST", body=said(tab))).status

    async def story():
        first = [asyncio.create_task(ask()) for _ in range(acts.WAITING)]
        while tab.n_waiting < acts.WAITING:
            await asyncio.sleep(0)
        refused = await ask()
        may_end.set()
        return refused, await asyncio.gather(*first), await ask()

    assert run(story()) == (429, [200] * acts.WAITING, 200)


def test_a_tab_that_has_used_up_its_share_waits_and_what_it_uses_is_noted(tab, monkeypatch):
    slept, used = [], iter([10.0, 10.25, 20.0, 20.5])

    async def sleep(seconds):
        slept.append(seconds)

    monkeypatch.setattr(acts.asyncio, "sleep", sleep)
    monkeypatch.setattr(acts, "time", SimpleNamespace(monotonic=lambda: tab.share.at))
    monkeypatch.setattr(share, "time", SimpleNamespace(thread_time=lambda: next(used)))
    answer(tab, ("mask", "causal"))
    assert (slept, tab.share.used) == ([0], 0.25)
    tab.share.spend(1000)
    answer(tab, ("mask", "none"))
    assert slept == [0, LONGEST]


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
        tab, ("mute", {"stage": "heads", "head": 0}), look="?step=softmax&cell=2.1.1.1.1&sentence=x&mask=causal"
    )
    assert (found["pass"]["where"]["step"], found["pass"]["where"]["cell"]["head"]) == ("softmax", 1)
    assert (values(found)["sentence"], values(found)["mask"]) == ("the cat sat", "none")


def test_the_browsers_address_is_about_the_scene_without_a_name_alone(tab):
    tab.places["other "] = Place("other ", Scene(sentence="der Hund"))
    found = answer(tab, ("mask", "causal"), name="other ", address={}, look="?step=softmax&cell=2.1.1.1.1")
    assert (found["pass"]["where"]["step"], found["pass"]["where"]["cell"]["head"]) != ("softmax", 1)
    assert tab.places["other "].scene.options.mask == "causal"
    assert tab.places[""].scene == Scene(sentence="the cat sat")


def test_a_page_without_a_viewer_has_no_pass_and_the_run_after_it_says_what_was_said(tab):
    for _ in range(2):
        found = answer(tab, ("n_heads", 8), ("d_model", 9), draws=False)
        assert "pass" not in found
        assert found["notices"] == ["8 heads don't divide 9: showing 9."]
        tab.places[""].scene = Scene(sentence="the cat sat")
    at = opened(ROOT / "pages" / "audit.py", heads="8")
    assert did(at, "d_model", 9)["notices"] == ["8 heads don't divide 9: showing 9."]
    assert answer_of(at.run())["notices"] == [], "it is said once"


def test_what_a_run_shows_and_what_is_done_are_of_one_scene():
    at = opened(sentence="the cat sat")
    tab = at.session_state["tab"]
    assert tabs.OPEN[tab.token] is tab
    answer(tab, ("mask", "causal"))
    assert scene_of(at).options.mask == "causal"
    assert values(answer_of(at.run()))["mask"] == "causal"
    assert at.query_params["mask"] == "causal"


def test_a_tab_that_is_gone_is_held_by_nobody_and_not_found():
    at = opened(sentence="the cat sat")
    tab = at.session_state["tab"]
    body, token = said(tab, ("mask", "causal")), tab.token
    assert post(body).status == 200
    del at, tab
    deadline = time.monotonic() + 30
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
