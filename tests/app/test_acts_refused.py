"""What is sent to the route of acts and is refused: the tab stays as it was."""

import json

import pytest
from asgi import APP, ask, run
from documents import fitted_at
from hypothesis import given, settings
from hypothesis import strategies as st
from posts import new_tab, post, said
from test_viewer import JSON, MEANT

from attnviz.app import tab_routes, tabs
from attnviz.contract.answer import MAX_ACTS, read_request
from attnviz.contract.base import RequestError
from attnviz.scene.actions.session import ACTION_NAMES, Session
from attnviz.scene.scene import Scene
from attnviz.viewer.bundle import module

OURS = "http://127.0.0.1"


@pytest.fixture
def tab():
    return new_tab()


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])
def test_nothing_is_done_but_by_a_post(tab, method):
    answered = ask(APP, tab_routes.ACTS_PATH, method, body=said(tab, ("mask", "causal")))
    assert (answered.status, answered.headers["allow"]) == (405, "POST")
    assert tab.session.scene == Scene(sentence="the cat sat")


@pytest.mark.parametrize("token", ["0" * 32, "", "before the first run"])
def test_a_tab_that_is_not_there_is_not_found(tab, token):
    if token == "before the first run":
        asked = said(tab, ("mask", "causal"))
        tab.session = None
    else:
        asked = said(tab, ("mask", "causal"), tab=token)
    answered = post(asked)
    assert (answered.status, "knows no such tab" in answered.text) == (404, True)


WRONG = {"tab": [None, 1, [], {}], "address": [None, [], "a=b", {"mask": 1}, {"mask": ["a"]}]}
WRONG |= {
    "look": [None, 1, {}, ["?a=b"], "&".join(f"a{n}=" for n in range(200))],
    "view": [None, 0, True, "", "passes", ["pass"], {}],
    "templates": [None, {}, "a", [1], [["a"]]],
}
WRONG |= {"acts": [None, {}, "mask", ["mask"], [["mask"]], [["mask", "a", "b"]], [{"mask": "a"}], [["mask", 1]] * 21]}


@pytest.mark.parametrize(("part", "value"), [(part, value) for part, values in WRONG.items() for value in values])
def test_a_part_of_another_type_is_refused_and_nothing_is_done(tab, part, value):
    rule = "{tab, address, look, view, acts, templates}. "
    if part == "tab":  # which is read before all else
        rule = "of its tab"
    is_refused(post(said(tab, ("mask", "causal"), **{part: value})), rule)
    assert tab.session.scene == Scene(sentence="the cat sat")


def is_refused(answered, of=""):
    assert (answered.status, answered.headers["connection"]) == (400, "close")
    assert answered.text.startswith("What is asked here is a page's own")
    assert of in answered.text
    assert answered.text.endswith(" Reload the page.")


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
    assert read_request(body).acts == [("sentence", read)]


@pytest.mark.parametrize(
    "message", [b'"\xff"', b"[" * 60_000 + b"]" * 60_000, b"[" * 100_000, b"1e999", b"NaN", b'"\\ud8"', b'"\\']
)
def test_what_is_no_json_of_a_tab_is_refused(tab, message):
    is_refused(post(said(tab, ("sentence", "here")).replace(b'"here"', message)))
    assert tab.session.scene == Scene(sentence="the cat sat")


def test_more_than_a_viewer_ever_says_is_refused_and_no_longer_read(tab):
    is_refused(post(said(tab, ("sentence", "a" * tab_routes.MAX_ACTS_BYTES))))
    read = []

    async def endless():
        read.append(1)
        return {"type": "http.request", "body": b" " * 1_000, "more_body": True}

    scope = {"type": "http", "method": "POST", "path": tab_routes.ACTS_PATH, "headers": [], "query_string": b""}
    refused = []

    async def send(message):
        refused.append(message)

    run(tab_routes.acts_route().handle(scope, endless, send))
    assert refused[0]["status"] == 400
    assert len(read) == tab_routes.MAX_ACTS_BYTES // 1_000 + 1


def test_a_viewer_tells_as_much_at_once_as_is_heard():
    server = module("server").read_text("utf-8")
    assert f"const MAX_ACTS = {MAX_ACTS};" in server


def test_what_is_sent_for_no_tab_is_not_read(tab, monkeypatch):
    read = []

    def refused(body):
        read.append(body)
        raise RequestError("What is asked here is a page's own. Reload the page.")

    monkeypatch.setattr(tab_routes, "read_acts", refused)
    for body in (
        said(tab, tab="0" * 32),
        said(tab, tab=1),
        b" " * tab_routes.MAX_ACTS_BYTES,
        b"[" * tab_routes.MAX_ACTS_BYTES,
    ):
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

    run(
        APP(
            {"type": "http", "method": "POST", "path": tab_routes.ACTS_PATH, "headers": [(b"host", b"[::1]")]},
            receive,
            send,
        )
    )
    assert sent[0]["status"] == 400
    assert tab.session.scene == Scene(sentence="the cat sat")


def test_nobody_passes_for_another_tab(tab):
    other = tabs.Tab()
    tabs.OPEN[other.token] = other
    for token in (other.token, "x" * 1000, ""):
        first = json.dumps({"tab": tab.token}).encode()[:-1]
        is_refused(post(first + b"," + said(tab, ("mask", "causal"), tab=token)[1:]))  # JSON may say a part twice
    assert tab.session.scene == Scene(sentence="the cat sat")


PART = st.sampled_from(["tab", "address", "look", "view", "acts", "templates"])
LISTS = st.lists(
    st.tuples(st.sampled_from(ACTION_NAMES) | JSON, MEANT | st.text(alphabet=["a", "\ud800", "\u202e"])), max_size=3
)


@settings(max_examples=40)
@given(LISTS, st.dictionaries(PART, JSON | st.dictionaries(st.sampled_from(["mask", "sentence", "trail"]), st.text())))
def test_any_json_is_answered_refused_or_of_no_tab(done, parts):
    tab = tabs.Tab()
    tabs.OPEN[tab.token] = tab
    tab.session = Session(Scene(sentence="a b"))
    answered = post(said(tab, *done, **parts))
    assert answered.status in (200, 400, 404)
    if answered.status == 200:
        found = json.loads(answered.text)
        written = {name: text for name, text in found["address"].items() if text is not None}
        assert fitted_at(written).scene == tab.session.resolved().scene
    else:
        assert tab.session.scene == Scene(sentence="a b")


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://127.0.0.1:1", "https://127.0.0.1.evil.example", "null", ""]
)
def test_a_page_of_another_site_can_do_nothing(tab, origin):
    answered = post(said(tab, ("mask", "causal")), origin=origin)
    assert (answered.status, answered.headers["connection"]) == (403, "close")
    assert tab.session.scene == Scene(sentence="the cat sat")


@pytest.mark.parametrize(
    "headers", [{"origin": OURS}, {}, {"host": "[::1]:8501", "origin": "http://[::1]:8501"}], ids=str
)
def test_a_page_of_ours_can_and_who_has_no_page(tab, headers):
    assert post(said(tab, ("mask", "causal")), **headers).status == 200
    assert tab.session.scene.options.mask == "causal"


def test_under_another_name_nothing_is_done(tab):
    assert post(said(tab, ("mask", "causal")), host="evil.example", origin="http://evil.example").status == 421
    assert tab.session.scene == Scene(sentence="the cat sat")
