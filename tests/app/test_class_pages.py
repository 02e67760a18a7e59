"""The page of a phone in a class: ours, at every address that leads to a room, and none of Streamlit's."""

import gzip
import re
from urllib.parse import urljoin

import pytest
from asgi import APP, ask
from starlette.responses import PlainTextResponse
from test_app_wiring import MOUNTS

from attnviz.app.class_pages import ClassPages

TYPED = {
    **dict.fromkeys(("KTQWRM", "ktqwrm", "ktq-wrm.", "ktq%20wrm", "%E2%80%9CKTQWRM%E2%80%9D"), "KTQWRM"),
    **{"QWERTY": "QWERTY", "%22%3E%3Cscript%3E": "SCRIPT", "a" * 100: "A" * 20},
}


def code_in(page):
    return re.search('data-room="([^"]*)"', page)[1]


@pytest.mark.parametrize("typed", TYPED)
def test_room_gets_a_page_of_its_own_whatever_was_typed(typed):
    answer = ask(APP, f"/?room={typed}")
    assert (answer.status, code_in(answer.text)) == (200, TYPED[typed])
    assert len(re.findall("<script", answer.text)) == 1
    assert answer.headers["cache-control"] == "no-cache", "its scripts have other names after an update"
    assert "script-src 'self'" in answer.headers["content-security-policy"]


def test_page_is_compressed_for_whoever_takes_that():
    plain, compressed = (ask(APP, "/?room=KTQWRM", **each) for each in ({}, {"accept-encoding": "gzip, br"}))
    assert compressed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(compressed.body).decode() == plain.text


def test_other_first_pages_are_streamlits():
    for path in ("/", "/?lesson=masks&moment=3", "/?room=", "/?room=%2E", "/audit?room=KTQWRM"):
        assert ask(APP, path).text == "a page", path


@MOUNTS
def test_page_finds_its_scripts_where_it_is_mounted(mounted, base, monkeypatch):
    monkeypatch.setattr("streamlit.get_option", lambda _: base)
    guard = ClassPages(PlainTextResponse("a page"))
    where = mounted + (base and f"/{base}")
    page = ask(guard, f"{where}/?room=KTQWRM", root_path=mounted).text
    for name in ("src", "data-pictures"):
        path = urljoin(f"{where}/?room=KTQWRM", re.search(f'{name}="([^"]*)"', page)[1])
        assert path.startswith(f"{where}/viewer/")
        assert ask(APP, path.removeprefix(where)).headers["cache-control"].endswith("immutable")
    if where:
        bare = ask(guard, f"{where}?room=KTQWRM", root_path=mounted)
        assert urljoin(f"{where}?room=KTQWRM", bare.headers["location"]) == f"{where}/?room=KTQWRM"
    assert ask(guard, f"{where}/walkthrough?room=KTQWRM", root_path=mounted).text == "a page"
