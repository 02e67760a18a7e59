"""What every request passes through, each guard alone: no server is started."""

import io
import os
import pickle
import re
import zipfile
from urllib.parse import urljoin

import pytest
from asgi import APP, MARKER, all_guards, ask
from page import PAGES, ROOT
from posts import new_tab, said
from starlette.responses import PlainTextResponse
from streamlit.web.server.starlette.starlette_server_config import XSRF_COOKIE_NAME
from test_arrays_route import sent

from attnviz.app import app_wiring, browser_tabs, lesson_routes, scripts
from attnviz.app.middleware import (
    LOCAL,
    AllowedPaths,
    Headers,
    is_allowed,
    is_allowed_host,
    policy,
    same_origin,
)
from attnviz.classroom import room_routes

SHUT = [
    *("/_stcore/metrics", "/_stcore/upload_file/0/0", "/_stcore/agent/openapi.json", "/_stcore/agent/mcp"),
    *("/_stcore/bidi-components/viewer/index.js", "/_stcore/script-health-check", "/component/viewer/index.html"),
    *("/auth/login", "/course/_stcore/metrics"),
]
OPEN = ["/", "/audit", "/static/a.js", "/media/1.npz", "/_stcore/health", "/c/_stcore/health"]


def test_paths_that_no_page_needs_are_refused_and_the_others_answered():
    for path in SHUT:
        answer = ask(APP, path)
        assert (answer.status, "used through its pages" in answer.text) == (404, True), path
    for path in OPEN:
        assert is_allowed(path)
        assert ask(APP, path).text == "a page"


MOUNTS = pytest.mark.parametrize(("mounted", "base"), [("", ""), ("/course", ""), ("", "a/course"), ("/a", "course")])
"""Mounted by another app, or by Streamlit's settings."""


@MOUNTS
def test_a_missing_page_names_the_address_of_the_first(mounted, base, monkeypatch):
    monkeypatch.setattr("attnviz.app.middleware.st.get_option", lambda _: base)
    guard = AllowedPaths(PlainTextResponse("a page"))
    where = mounted + (base and f"/{base}")
    for path in ("/", "/audit", "/audit/", "/static/js/a.js", "/_stcore/health"):
        assert ask(guard, where + path, root_path=mounted).text == "a page"
    for path in ("/foo/bar", "/audit/extra", "/audit/extra/", "/a/b/c"):
        answer = ask(guard, where + path, host="attnviz.example", root_path=mounted)
        assert answer.status == 404
        assert answer.text == f"There is no such page. attnviz opens at http://attnviz.example{where}/"


@MOUNTS
def test_links_to_pages_that_have_moved_lead_there(mounted, base, monkeypatch):
    monkeypatch.setattr("attnviz.app.middleware.st.get_option", lambda _: base)
    guard = AllowedPaths(PlainTextResponse("a page"))
    where = mounted + (base and f"/{base}")
    typed, empty, lesson = "?sentence=a%20%26%20b&lesson=masks", "?seed=", "?lesson=masks&moment=3&present=1"
    moved = {
        "/": {typed: "/walkthrough", empty: "/walkthrough", "?embed=true": "/walkthrough", "": None, lesson: None},
        "/walkthrough": {typed: None, "": None},
        "/microgpt": {typed: None, "": None},
        "/translator": {typed: None, "": None},
        "/take_apart": {typed: "/walkthrough", "": "/walkthrough"},
        "/what_if/": {typed: "/walkthrough", "": "/walkthrough"},
        "/lessons": {lesson: "/", "": "/"},
    }
    for path, led in moved.items():
        for query, there in led.items():
            answer = ask(guard, where + path + query, root_path=mounted)
            assert (answer.status == 307) == (there is not None)
            if there:
                assert urljoin(where + path, answer.headers["location"]) == f"{where}{there}{query}"
            else:
                assert answer.text == "a page"


CODES = {
    **dict.fromkeys(("KTQWRM", "ktqwrm", "KTQWRM.", "KTQWRM,", "“KTQWRM”", "KTQ-WRM", "ktq wrm", "KTQWRM/"), "KTQWRM"),
    **{each: each for each in ("QWERTY", "AAAAAA", "KTQWR", "KTQWRMB", "KTQW1M")},
}
"""What people type for a code, and the code that the page of the room is asked for; some are no room's."""


@MOUNTS
def test_a_code_leads_to_its_room_however_it_is_typed_and_no_page_is_taken_for_one(mounted, base, monkeypatch):
    monkeypatch.setattr("attnviz.app.middleware.st.get_option", lambda _: base)
    guard = AllowedPaths(PlainTextResponse("a page"))
    where = mounted + (base and f"/{base}")
    for typed, code in CODES.items():
        location = ask(guard, f"{where}/{typed}", root_path=mounted).headers["location"]
        assert urljoin(f"{where}/{typed}", location) == f"{where}/?room={code}"
    files = [page.stem for page in PAGES] + ["favicon.png", "manifest.json", "index.html", "app.js"]
    for name in {*files, "static", "viewer", "moment", "healthz", "KTQW", "KTQWRMBX", "<b>hello"}:
        assert ask(guard, f"{where}/{name}", root_path=mounted).headers.get("location", "") in ("", "./walkthrough")


def zip_bomb():
    """A megabyte of zeros in a kilobyte."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("words.txt", bytes(1_000_000))
    return file.getvalue()


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE", "PATCH", "OPTIONS"])
def test_zip_bombs_and_pickles_are_refused_unread_and_never_stored(method):
    reached, read = [], []

    async def app(scope, receive, send):
        reached.append(scope["path"])

    for body in (zip_bomb(), pickle.dumps(print)):
        assert ask(all_guards(app), "/_stcore/upload_file/0/0", method, body=body, read=read).status == 405
    assert (reached, read) == ([], [])


def test_every_answer_has_the_headers():
    for path in ("/", "/healthz", "/_stcore/metrics"):
        headers = ask(APP, path).headers
        assert headers["content-security-policy"] == policy()
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "same-origin")
    assert ask(APP, "/", host="evil.example").headers["x-content-type-options"] == "nosniff"


BEHIND = {
    "/actions": (browser_tabs, "reply_to"),
    "/arrays": (browser_tabs, "_comparison"),
    "/talk": (lesson_routes, "reply"),
    "/moment?lesson=masks&moment=1": (lesson_routes, "_compressed_moment"),
    "/room?room=ABCDEF": (room_routes.ROOMS, "find"),
    "/room/moment": (room_routes, "room_of_seat"),
    "/room/events": (room_routes, "room_of_seat"),
    "/viewer/a-b.js": (scripts, "SCRIPTS"),
}
"""What is called behind each route of ours."""


@pytest.mark.parametrize("path", [*BEHIND, "/a-page-of-streamlits"])
def test_whatever_fails_is_a_sentence_with_what_to_send_us_and_a_line_in_the_log(path, monkeypatch, caplog):
    """And neither "Internal Server Error" nor anything that was sent."""

    class Failing:
        def __call__(self, *_):
            raise KeyError(MARKER)

        get = __call__

    tab, app = new_tab(MARKER), APP
    bodies = {"/actions": said(tab), "/arrays": sent(tab, MARKER.encode(), f"{MARKER}.csv"), "/talk": QUESTIONS}
    if path in BEHIND:
        monkeypatch.setattr(*BEHIND[path], Failing())
    else:
        app = all_guards(Failing())
    is_posted = path.startswith(("/actions", "/arrays", "/talk", "/room?"))
    headers = {"x-room-key": MARKER} if path.startswith("/room?") else {}
    answer = ask(app, path, "POST" if is_posted else "GET", body=bodies.get(path, b"{}"), **headers)
    assert answer.status == 500
    assert re.match(
        "attnviz could not answer this. That is a bug of ours: please report it .* KeyError at", answer.text
    )
    assert answer.headers["x-content-type-options"] == "nosniff"
    [line] = caplog.messages
    assert re.match(r"A request failed: KeyError at test_app_wiring\.py:\d+ < ", line)
    assert MARKER not in answer.text + caplog.text


QUESTIONS = b'{"kind": "questions", "at": "sentence=a", "uploads": {}}'


def test_each_cookie_that_is_set_is_named_where_security_is_told():
    told = (ROOT / "SECURITY.md").read_text("utf-8")
    ours = set(re.findall(r'"(\w+)=\$request_id;', (ROOT / "deploy/nginx/nginx.conf").read_text("utf-8")))
    assert ours
    for cookie in ours | {XSRF_COOKIE_NAME}:
        assert f"`{cookie}`" in told


def test_no_script_runs_but_streamlits_own_and_components():
    scripts = re.search(r"script-src ([^;]*)", policy())[1].split()
    assert scripts[:3] == ["'self'", "blob:", "'wasm-unsafe-eval'"]
    assert scripts[3:]
    assert all(each.startswith("'sha256-") for each in scripts[3:])


def test_a_course_page_may_embed_the_app(monkeypatch):
    monkeypatch.setenv("ATTNVIZ_FRAME_ANCESTORS", "'self' https://course.example.edu")
    headers = ask(Headers(PlainTextResponse("a page"), policy()), "/").headers
    assert headers["content-security-policy"].endswith("frame-ancestors 'self' https://course.example.edu")


@pytest.mark.parametrize("text", ["", " ", "'self'; script-src *", "'self', *", "'self'\r\nX: y"])
def test_a_setting_cannot_undo_the_policy_and_no_server_starts_with_it(text, monkeypatch):
    monkeypatch.setitem(os.environ, "ATTNVIZ_FRAME_ANCESTORS", text)
    with pytest.raises(SystemExit, match=r"takes origins"):
        app_wiring.middleware()


LOCAL_HOSTS = [
    "localhost",
    "LOCALHOST:8501",
    "127.0.0.1:8501",
    "192.168.1.20",
    "[::1]:8501",
    "ours.streamlit.app",
    "a.localhost.",
]
OTHER_HOSTS = [
    *("", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "streamlit.app.evil", "[::1", "a@b")
]


def test_only_names_that_nobody_else_can_point_here_are_answered():
    assert all(is_allowed_host(host, []) for host in LOCAL_HOSTS)
    for host in OTHER_HOSTS:
        assert not is_allowed_host(host, [])
        answer = ask(APP, "/", host=host)
        assert (answer.status, "server.allowedHosts" in answer.text) == (421, True)


def test_a_list_of_names_is_the_whole_list():
    names = ["attn.example.edu", "*.class.example"]
    for host, is_listed in (("attn.example.edu:80", 1), ("a.class.example", 1), (LOCAL[0], 0), ("10.0.0.1", 0)):
        assert is_allowed_host(host, names) == is_listed
    assert is_allowed_host("any.example", ["*"])


def test_a_probe_is_answered_under_any_name():
    assert ask(APP, "/healthz", host="pod.example").text == "ok"


def test_a_websocket_is_opened_by_our_pages_or_by_none():
    assert same_origin(None, "localhost:8501", [])
    assert same_origin("http://localhost:8501", "localhost:8501", [])
    assert same_origin("https://course.example", "localhost:8501", ["https://course.example"])
    assert not same_origin("http://localhost:3000", "localhost:8501", [])
    assert not same_origin("null", "localhost:8501", [])
