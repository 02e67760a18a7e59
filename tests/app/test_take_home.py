"""The talk that a phone takes home: what was shown, once the class has ended, for its own phones."""

import functools
import json
import time

import pytest
from asgi import APP, asked, in_loop

from attnviz.app import class_pages
from attnviz.classroom import rooms
from attnviz.classroom.room_entry import ROOMS

MOMENTS = [
    {"at": "model=who-is-it&step=scores", "title": "Shown first", "text": "", "notes": "a secret note"},
    {"at": "", "title": "A slide", "text": "", "slide": {"text": "</script><script>alert(1)</script>"}},
    {"at": "model=who-is-it", "title": "Never shown", "text": ""},
]


async def post(code, key="", **message):
    answer = await asked(APP, f"/room?room={code}", "POST", body=json.dumps(message).encode(), **{"x-room-key": key})
    return json.loads(answer.text)


def home(code, seat, **headers):
    return asked(APP, f"/room/home?room={code}&seat={seat}", **headers)


@pytest.fixture(autouse=True)
def _new_server(monkeypatch):
    for name in ("live", "ended", "ended_talks"):
        monkeypatch.setattr(ROOMS, name, {})


@in_loop
async def test_a_class_takes_home_what_it_was_shown_and_nothing_that_anybody_said():
    made = await post("", do="make")
    code, key = made["code"], made["key"]
    seat, other = [(await post(code, do="join"))["seat"] for _ in range(2)]
    for moment in MOMENTS[:2]:
        await post(code, key, do="move", at="", moment=moment)
    await post(code, key, do="allow", isOn=True)
    await post(code, do="wonder", seat=seat, text="somebody’s words")
    await post(code, key, do="texts", ids=[1], isShown=True)
    assert (await home(code, seat)).status == 404, "while the class goes on"
    await post(code, key, do="end")
    foreign = (await post((await post("", do="make"))["code"], do="join")).get("seat", "")
    for swept in (False, True):
        if swept:
            ROOMS.sweep()
            assert code not in ROOMS.live
        for own in (seat, other):
            page = await home(code, own)
            assert page.status == 200
            assert "Shown first" in page.text
            assert not [text for text in ("Never shown", "a secret note", "somebody’s words") if text in page.text]
            assert "</script><script>alert" not in page.text
            opened = await home(code, own, accept="text/html,*/*")
            assert (opened.body, opened.headers) == (page.body, page.headers), "no part of the app's own page"
        assert {(await home(code, each)).status for each in ("", foreign, seat[:-1])} == {404}


def test_it_is_there_for_a_while_and_bounded(monkeypatch):
    moment = json.dumps(MOMENTS[0])
    made = rooms.EndedTalk("", (moment, json.dumps(MOMENTS[2])), {}, 0.0)
    shown = functools.partial(class_pages.shown_talk, made.moments, {})
    assert len(shown().moment) == 2
    monkeypatch.setattr(class_pages, "MAX_BYTES", 1_000)
    assert shown().moment == ()
    now = time.time()
    monkeypatch.setattr(rooms, "MAX_ENDED_TALKS", 3)
    ROOMS.ended_talks = {str(n): made._replace(time=now - 200 * n) for n in range(6)}
    ROOMS.sweep()
    assert set(ROOMS.ended_talks) == {"3", "4"}, "of the latest three those that are not too old"
