"""The routes of rooms: who may do what, and what each seat is sent. Requests that no page sends change nothing."""

import asyncio
import base64
import contextlib
import csv
import json
import random
import re
import string
import threading
import time
from types import SimpleNamespace
from urllib.parse import urlencode

import msgspec
import pytest
from asgi import APP, asked, in_loop, run
from documents import fitted_at
from patience import PATIENCE_SECONDS
from starlette.applications import Starlette
from starlette.routing import Mount

from attnviz.classroom import room_entry, room_routes, rooms
from attnviz.classroom.answer_tables import SURE
from attnviz.classroom.codes import LETTERS
from attnviz.classroom.commands import Join, Place
from attnviz.classroom.fair_queue import FairQueue, Usage
from attnviz.classroom.http import TokenBuckets
from attnviz.classroom.room import MAX_COMMANDS
from attnviz.classroom.room_entry import ROOMS
from attnviz.classroom.room_routes import stream
from attnviz.contract.classroom import ClassNow, Led, Offer, OwnNow, Seat
from attnviz.contract.lesson import Moment
from attnviz.lessons.lesson import LESSONS

DECLARED = {"make": Seat, "join": Seat, "move": Led, "hand": Offer}
LESSON = "?lesson=who-is-it&moment=1&present=1"
HOG, OTHER = "192.0.2.7", "192.0.2.8"


@pytest.fixture(autouse=True)
def _nobody_has_been_here(monkeypatch):
    for name in ("CODES", "SEATS", "LINKS", "NEW_ROOMS", "MESSAGES"):
        own = getattr(room_entry, name)
        monkeypatch.setattr(room_entry, name, TokenBuckets(own.burst, 1 / own.seconds, own.longest_wait))
    monkeypatch.setattr(ROOMS, "live", {})


async def raw(code, body, network=HOG, **headers):
    async def from_network(scope, receive, send):
        await APP(scope | {"client": (network, 1)}, receive, send)

    return await asked(from_network, f"/room?room={code}", "POST", body=body, **headers)


async def post(code, key=None, network=HOG, **message):
    headers = {} if key is None else {"x-room-key": key}
    answer = await raw(code, json.dumps(message).encode(), network, **headers)
    if answer.status == 200 and message["do"] in DECLARED:
        msgspec.json.decode(answer.text, type=DECLARED[message["do"]])
    return answer


async def data(*arguments, **message):
    """The JSON of an answer that must be given."""
    answer = await post(*arguments, **message)
    assert answer.status == 200, answer.text
    return json.loads(answer.text)


async def statuses(*posts):
    return [(await each).status for each in posts]


async def opened():
    """A room with one follower who has opened its stream: its code, key and link, and the follower's seat."""
    made = await data("", do="make")
    seat = (await data(made["code"], do="join"))["seat"]
    await listen(made["code"], seat, 1)
    return made, seat


async def joins(code, n):
    """The seats of so many more followers."""
    return [(await data(code, do="join"))["seat"] for _ in range(n)]


def move(made, at=LESSON, **parts):
    return post(made["code"], made["key"], do="move", at=at, **parts)


def vote(made, seat, value, question=0, in_round=1):
    return post(made["code"], do="answer", seat=seat, question=question, round=in_round, value=value)


def stream_scope(code, seat, around=0, known=""):
    headers = [(b"host", b"127.0.0.1"), *([(b"last-event-id", known.encode())] if known else [])]
    query = f"room={code}&seat={seat}&around={around}".encode()
    scope = {"type": "http", "method": "GET", "path": "/room/events", "root_path": "", "query_string": query}
    return scope | {"headers": headers}


async def listen(code, seat, n, known=""):
    """The first `n` events of a stream, without comments: their kinds, ids and data."""
    events, left = [], asyncio.Event()

    async def receive():
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message):
        for each in message.get("body", b"").decode().split("\n\n"):
            parts = dict(line.split(": ", 1) for line in each.splitlines() if ": " in line and line[0] != ":")
            if parts and not events:
                assert int(parts["retry"]) <= 1000, "a browser that lost the connection asks again within a second"
            if "data" in parts and len(events) < n:
                events.append((parts.get("event", "message"), parts.get("id"), json.loads(parts["data"])))
        if len(events) >= n or message.get("status", 200) != 200:
            left.set()

    await asyncio.wait_for(APP(stream_scope(code, seat, known=known), receive, send), PATIENCE_SECONDS)
    return events


@contextlib.asynccontextmanager
async def listening(code, seat, around=0):
    """Keep a seat's stream open for the block; yields the states of the class that it has sent so far."""
    states, begun, left = [], asyncio.Event(), asyncio.Event()

    async def receive():
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message):
        for each in message.get("body", b"").decode().split("\n\n"):
            states.extend(json.loads(text) for text in re.findall(r"^id: .*\ndata: (.*)$", each, re.MULTILINE))
        if states:
            begun.set()

    streaming = asyncio.create_task(APP(stream_scope(code, seat, around), receive, send))
    await asyncio.wait_for(begun.wait(), PATIENCE_SECONDS)
    yield states
    left.set()
    await asyncio.wait_for(streaming, PATIENCE_SECONDS)


async def now_of(made, seat=None):
    """The class as a seat, or the speaker's, is sent it first."""
    return (await listen(made["code"], seat or made["seat"], 2))[-1][-1]


async def audience(made):
    return (await now_of(made))["audience"]


async def own_answer(made, seat):
    """The latest of its own answers that a seat is sent when it comes back; None without one."""
    return [None, *(await listen(made["code"], seat, 1))[0][-1]["answers"]][-1]


async def moment_of(made, seat, shows):
    return await asked(APP, f"/room/moment?room={made['code']}&seat={seat}&shows={shows}")


async def now_by_asking(made, seat, around=0):
    return await asked(APP, f"/room/now?room={made['code']}&seat={seat}&around={around}")


async def becomes(read, expected):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while read() != expected:
        assert time.monotonic() < deadline, f"{read()!r} is not {expected!r}"
        await asyncio.sleep(0.005)


def state():
    return repr({code: live.room for code, live in ROOMS.live.items()})


@in_loop
async def test_a_class_follows_answers_and_is_sent_what_it_may_know():
    made, seat = await opened()
    code, key = made["code"], made["key"]
    assert (await data(code, key, do="move", at=LESSON))["number"] == 1
    (_, _, own), (_, _, now) = await listen(code, seat, 2)
    assert own == {"answers": [], "wondered": "", "votes": []}
    assert (now["at"], now["isShown"]) == ("lesson=who-is-it&moment=1", False), "present is the speaker's alone"
    assert now["round"] == {"question": 0, "number": 1, "isOpen": True}
    assert "audience" not in now, "counts are the speaker's"
    msgspec.convert(now, ClassNow)
    assert (await vote(made, seat, 4)).status == 200
    (_, _, own), _ = await listen(code.lower(), seat, 2)
    msgspec.convert(own, OwnNow)
    assert own["answers"][0]["value"] == 4, "a follower who comes back has their answer"
    seen = await now_of(made)
    assert seen["audience"]["counts"] == [[[4, 1]]]
    msgspec.convert(seen, ClassNow)
    assert json.loads((await moment_of(made, seat, now["shows"])).text)["question"]["kind"] == "pick"
    assert (await move(made, isShown=True)).status == 200
    late = await vote(made, seat, 5)
    assert (late.status, late.text) == (400, "No more answers are taken.")
    lines = (await post(code, key, do="counts")).text.splitlines()
    assert lines[1].endswith(",1,cross,,1,,,,no")
    assert await statuses(post(code, key, do="end"), post(code, do="join")) == [200, 404]


@in_loop
async def test_a_follower_who_comes_back_with_the_last_event_is_sent_only_what_is_new():
    made, seat = await opened()
    _, (_, name, _) = await listen(made["code"], seat, 2)
    listener = asyncio.create_task(listen(made["code"], seat, 2, known=name))
    await asyncio.sleep(0)
    await move(made, "model=who-is-it&step=scores")
    (_, _, own), (_, _, now) = await listener
    assert (own["answers"], now["number"]) == ([], 1)


@in_loop
async def test_any_cell_on_the_screen_can_be_asked_for_and_nothing_else():
    made, seat = await opened()
    at = "?model=who-is-it&step=softmax"
    for kind in ("share", "word", "number"):
        question = {"kind": kind, "cell": "attention[0,11,1]"}
        number = json.loads((await move(made, at, question=question)).text)["number"]
        now = await now_of(made, seat)
        assert (now["kind"], now["question"]) == ("question", question)
        moment = json.loads((await moment_of(made, seat, number)).text)
        assert "attention" in moment["covers"], "it is covered until it is shown"
        assert "“tired”" in moment["question"]["prompt"][0][1]
        assert moment.keys() == {each.encode_name for each in msgspec.structs.fields(Moment)}
    for kind, cell in (("share", "scores[0,1,1]"), ("word", "q[0,1,1]"), ("number", "q[9,9,9]"), ("number", "<b>")):
        assert (await move(made, at, question={"kind": kind, "cell": cell})).status == 400


@in_loop
async def test_a_class_that_is_asked_again_answers_anew_and_keeps_its_first_answers():
    made, first = await opened()
    code, key = made["code"], made["key"]
    second, third, late = await joins(code, 3)
    await move(made)
    assert await statuses(*(vote(made, *each) for each in ((first, 4), (second, 4), (third, 1)))) == [200] * 3
    closed = post(code, key, do="open", isOpen=False), vote(made, third, 4), post(code, key, do="again")
    assert await statuses(*closed) == [200, 400, 200], "closed to answers until it is asked again"
    seen = await now_of(made)
    assert (seen["round"], seen["audience"]["answered"]) == ({"question": 0, "number": 2, "isOpen": True}, 0)
    assert await own_answer(made, first) is None, "nobody has answered the second round"
    assert await statuses(vote(made, late, 1, in_round=2), vote(made, second, 1)) == [200, 400]
    seen = await audience(made)
    assert (seen["answered"], seen["counts"]) == (1, [[[1, 1], [4, 2]], [[1, 1]]])
    assert await own_answer(made, late) == {"question": 0, "round": 2, "value": 1, "sure": 0}
    assert (await post(code, key, do="again")).status == 400, "twice"
    lines = list(csv.reader((await post(code, key, do="counts")).text.splitlines()))[1:]
    assert [line[1:] for line in lines] == [
        ["1", "animal", "", "1", *[""] * 3, "yes"],
        ["1", "cross", "", "2", *[""] * 3, "no"],
        ["2", "animal", "", "1", *[""] * 3, "yes"],
    ]


@in_loop
async def test_people_who_do_not_understand_a_number_are_counted_until_they_say_that_they_do():
    one, other = "scores[0,11,1]", "scores[0,11,2]"
    made, first = await opened()
    second, third = await joins(made["code"], 2)
    assert (await post(made["code"], do="point", seat=first, cell=one)).status == 400, "the class is nowhere yet"
    await move(made, "model=who-is-it&step=scores")
    for seat, cell, expected in (
        (first, one, [(one, 1)]),
        (first, one, [(one, 1)]),  # one person, however often
        (second, other, [(one, 1), (other, 1)]),
        (third, other, [(other, 2), (one, 1)]),  # most first
        (second, one, [(one, 2), (other, 1)]),  # another number in place of the first
        (third, "", [(one, 2)]),
        (third, "", [(one, 2)]),
        (second, "", [(one, 1)]),
        (first, "", []),
    ):
        assert (await post(made["code"], do="point", seat=seat, cell=cell)).status == 200
        pointed = (await audience(made))["pointed"]
        assert [(each["cell"], each["count"]) for each in pointed] == expected
    assert (await post(made["code"], do="point", seat="nobody", cell=one)).status == 403
    assert "audience" not in await now_of(made, first)


@in_loop
async def test_the_counts_have_each_answers_people_and_whether_it_is_right_and_no_formula():
    settings = {"sentence": "= cat @ +", "d_model": "8", "heads": "1", "step": "softmax"}
    row = fitted_at(settings).trace["attention"].value[0, 1].tolist()
    answers = {"word": [(0, 2), (2, 1), (3, 1)], "share": [(row[2], 1), (row[2] + 0.049, 1), (row[2] + 0.051, 2)]}
    made, _ = await opened()
    for number, (kind, counted) in enumerate(answers.items(), start=1):
        await move(made, urlencode(settings), question={"kind": kind, "cell": "attention[0,1,2]"})
        values = [value for value, n in counted for _ in range(n)]
        for seat, value in zip(await joins(made["code"], 4), values, strict=True):
            assert (await vote(made, seat, value, number - 1)).status == 200
    head, *lines = csv.reader((await post(made["code"], made["key"], do="counts")).text.splitlines())
    assert head == ["question", "round", "answer", "answer (%)", "count", *SURE, "right"]
    words, weights = lines[:3], lines[3:]
    assert [line[2:] for line in words] == [
        [f"'{label}", "", str(n), "", "", "", "yes" if row[place] == max(row) else "no"]
        for (place, n), label in zip(answers["word"], "=@+", strict=True)
    ]
    assert [(line[2], float(line[3]), line[4], line[-1]) for line in weights] == [
        ("", pytest.approx(100 * value), str(n), right)
        for (value, n), right in zip(answers["share"], ("yes", "yes", "no"), strict=True)
    ]
    assert not [text for line in lines for text in (line[0], line[2]) if text.startswith(("=", "+", "-", "@"))]


SPEAKERS = [
    *({"do": "move", "at": LESSON}, {"do": "press", "what": "next"}, {"do": "open", "isOpen": False}, {"do": "again"}),
    *({"do": "wait", "seconds": 60}, {"do": "allow", "isOn": True}, {"do": "texts", "isShown": True}),
    *({"do": each} for each in ("here", "hand", "forget", "counts", "end")),
]


@in_loop
async def test_a_key_leads_its_own_room_alone_and_nothing_else_is_one():
    (made, seat), (other, _) = await opened(), await opened()
    await move(made, "lesson=who-is-it&moment=2")
    before = state()
    for key in (None, "", other["key"], seat, made["seat"], made["link"], made["code"]):
        assert set(await statuses(*(post(made["code"], key, **each) for each in SPEAKERS))) == {403}
    assert set(await statuses(*(post("BCDFGH", made["key"], **each) for each in SPEAKERS))) == {403}
    assert state() == before


@in_loop
async def test_each_device_of_the_speaker_leads_and_none_counts_as_a_follower():
    made, seat = await opened()
    devices = [made]
    for _ in range(2):
        offered = (await data(made["code"], devices[-1]["key"], do="hand"))["code"]
        assert (await audience(made))["offer"] == offered
        devices.append(await data(offered.lower(), do="join"))
        assert (await audience(made))["offer"] == "", "it is gone once a device has joined"
        assert devices[-1]["code"] == made["code"]
        assert (await post(offered, do="join")).status == 404, "a code pairs one device"
    for number, device in enumerate([*devices, *devices], start=1):
        moved = await data(made["code"], device["key"], do="move", at=f"lesson=who-is-it&moment={number}")
        assert moved["number"] == number, "a device that joins locks none out"
    assert [(await now_of(made, each["seat"]))["audience"]["here"] for each in devices] == [0, 0, 0]
    async with listening(made["code"], seat):
        assert [(await now_of(made, each["seat"]))["audience"]["here"] for each in devices] == [1, 1, 1]


@in_loop
async def test_people_are_counted_by_seats_while_they_are_here_and_those_who_explore_apart():
    made, seat = await opened()
    (other,) = await joins(made["code"], 1)

    async def counted():
        seen = await audience(made)
        return seen["here"], seen["around"]

    assert await counted() == (0, 0)
    async with listening(made["code"], seat), listening(made["code"], seat), listening(made["code"], other):
        assert await counted() == (2, 0), "two tabs of one seat are one"
        for is_around, expected in ((True, 1), (True, 1), (False, 0), (True, 1)):
            assert (await post(made["code"], do="around", seat=seat, isAround=is_around)).status == 200
            assert await counted() == (2, expected)
        async with listening(made["code"], other, around=1):
            assert await counted() == (2, 2)
    assert await counted() == (0, 0)
    async with listening(made["code"], seat):
        assert await counted() == (1, 0), "who comes back follows"


@in_loop
async def test_a_seat_gets_the_moment_of_its_own_class_and_of_where_that_is_now():
    (made, seat), (other, their_seat) = await opened(), await opened()
    titles = []
    for room, own, number in ((made, seat, 1), (other, their_seat, 2)):
        await move(room, f"lesson=who-is-it&moment={number}")
        titles.append(json.loads((await moment_of(room, own, 1)).text)["title"])
    assert titles == [each.title for each in LESSONS["who-is-it"].moment[:2]]
    wrong = [(their_seat, 1), ("", 1), (seat, 0), (seat, 2)]
    assert await statuses(*(moment_of(made, *each) for each in wrong)) == [403, 403, 409, 409]


@in_loop
async def test_a_stream_sends_what_happens_in_order_once_and_answers_to_the_speaker_alone():
    made, seat = await opened()
    others = await joins(made["code"], 3)
    async with listening(made["code"], seat) as follower, listening(made["code"], made["seat"]) as speaker:
        for number, value in ((1, 1), (2, 2), (3, 0.5)):
            await move(made, f"lesson=who-is-it&moment={number}")
            await vote(made, others[number - 1], value, number - 1)
            await becomes(lambda number=number: follower[-1]["number"], number)
        await post(made["code"], made["key"], do="open", isOpen=False)
        await becomes(lambda: follower[-1]["round"]["isOpen"], False)
        await move(made, "lesson=who-is-it&moment=3", isShown=True)
        await becomes(lambda: (follower[-1]["isShown"], speaker[-1]["isShown"]), (True, True))
        await post(made["code"], made["key"], do="end")
        await becomes(lambda: (follower[-1]["hasEnded"], speaker[-1]["hasEnded"]), (True, True))
    assert [(each["number"], each["at"][-1:], each["isShown"], each["hasEnded"]) for each in follower] == [
        *((0, "", False, False), (1, "1", False, False), (2, "2", False, False), (3, "3", False, False)),
        *((3, "3", False, False), (3, "3", True, False), (3, "3", True, True)),  # closed, shown, ended
    ]
    assert [each["number"] for each in speaker] == sorted(each["number"] for each in speaker)
    assert [each["audience"]["counts"] for each in speaker[-2:]] == [[[[0.5, 1]]], []], "gone with the room"


@in_loop
async def test_a_forgotten_device_is_cut_off_at_once_and_told():
    made, _ = await opened()
    await move(made)
    code, offered = made["code"], (await data(made["code"], made["key"], do="hand"))["code"]
    device = json.loads((await post(offered, do="join")).text)
    events = stream(ROOMS.live[code], device["seat"], "")
    for _ in range(2):
        await anext(events)  # its own answer, and where the class is
    assert (await post(code, device["key"], do="press", what="next")).status == 200
    assert (await post(code, made["key"], do="forget")).status == 200
    assert len([each async for each in events]) <= 2, "what was pressed before, at most"
    assert await statuses(*(post(code, device["key"], **each) for each in SPEAKERS)) == [403] * len(SPEAKERS)
    back = await post(code, do="join", seat=device["seat"])
    assert (back.status, "forgotten this device" in back.text) == (410, True)
    assert (await post(code, made["key"], do="press", what="next")).status == 200, "the page that opened it leads still"


@in_loop
async def test_what_happens_while_an_event_is_on_its_way_is_sent_at_once():
    """A phone with a slow network takes an event late, and no later event wakes its stream."""
    made, seat = await opened()
    for number, each in enumerate((seat, made["seat"]), start=1):
        events = stream(ROOMS.live[made["code"]], each, "")
        for _ in range(2):
            await anext(events)  # its own answer, and where the class is
        await move(made, f"lesson=who-is-it&moment={number}")
        assert f"moment={number}" in (await anext(events)).decode()
        await events.aclose()


OWN_MOMENT = {
    "at": "model=who-is-it&step=scores&present=1",
    "title": "Mine",
    "text": "The score is {scores[tired, animal]}.",
    "ask": {"kind": "share", "of": "attention[tired, animal]", "prompt": "How much?"},
    "notes": "only for me",
    "minutes": 2,
}


@in_loop
async def test_a_moment_of_the_speakers_own_talk_is_followed_without_their_notes():
    made, seat = await opened()
    code, key = made["code"], made["key"]
    assert (await move(made, "ignored", moment=OWN_MOMENT)).status == 200
    now = await now_of(made, seat)
    assert (now["kind"], now["at"]) == ("talk", "model=who-is-it&step=scores&view=sheet"), "a scene anybody can open"
    moment = json.loads((await moment_of(made, seat, now["shows"])).text)
    assert (moment["title"], moment["notes"], moment["question"]["kind"]) == ("Mine", "", "fill")
    assert "56.71" in json.dumps(moment["text"])
    assert (await vote(made, seat, 0.5)).status == 200
    # another text is another place; other notes are none, so the class goes back to the first
    for number, change in ((2, {"text": "Another text."}), (3, {"notes": "other notes"})):
        assert json.loads((await move(made, moment=OWN_MOMENT | change)).text)["number"] == number
    presses = [(key, "next"), (key, "reveal"), (None, "next"), (key, "on")]
    assert await statuses(*(post(code, own, do="press", what=what) for own, what in presses)) == [200, 200, 403, 400]
    pressed = await audience(made)
    assert (pressed["pressed"], pressed["presses"]) == (2, ["next", "reveal"]), "the speaker's devices turn it"
    lines = (await post(code, key, do="counts")).text.splitlines()
    assert lines[1].endswith(",1,,50.0,1,,,,no")


WRONG_MOMENTS = [
    *({"script": "<b>"}, {"at": "model=none"}, {"at": "sentence=a&d_model=9999"}, {"text": "x" * 20_000}),
    {"text": "{scores[nobody, animal]}", "ask": {"kind": "share", "of": "attention[nobody, x]", "prompt": ""}},
    {"ask": {"kind": "share", "of": "attention[tired, animal]", "prompt": 3}},
    *({"ask": {"kind": "python", "of": "1"}}, {"minutes": -1}),
]


@in_loop
async def test_a_moment_of_ones_own_is_read_as_strictly_as_the_file_of_a_talk():
    made, _ = await opened()
    await move(made, "", moment=OWN_MOMENT)
    before = state()
    for wrong in WRONG_MOMENTS:
        refused = await move(made, "", moment=OWN_MOMENT | wrong)
        assert (refused.status, refused.text[-1:]) == (400, ".")
    assert state() == before
    uploads = ({"at": "source=own-parameters"}, True), ({"uploads": ["own-a"]}, True), ({}, False)
    for parts, is_own in uploads:  # which no address has, so nobody can follow there
        assert json.loads((await move(made, "", moment=OWN_MOMENT | parts)).text)["isOwn"] == is_own


def slide(name, **parts):
    return {"at": "", "title": "A slide", "slide": {"text": "{1 + 1}", "image": name, "alt": "A cat"}} | parts


def image(n, n_bytes=60):
    return base64.b64encode((b"\xff\xd8\xff" + bytes([n])).ljust(n_bytes, b"\x00")).decode()


@in_loop
async def test_a_slides_image_is_sent_once_and_the_room_keeps_the_last_two():
    made, seat = await opened()

    async def led(name, **parts):
        return json.loads((await move(made, "", moment=slide(name), **parts)).text)

    async def shown():
        moment = json.loads((await moment_of(made, seat, (await now_of(made, seat))["shows"])).text)
        assert (moment["document"], moment["title"], moment["picture"]["text"]) == (None, "A slide", "{1 + 1}")
        return moment["picture"]["image"].partition("base64,")[2]

    before = state()
    assert (await led("a"))["lacksImage"]
    assert state() == before, "the class waits for it"
    for number, name in enumerate("abc", start=1):
        sent = await led(name, image=image(number))
        assert (sent["number"], sent["lacksImage"]) == (number, False)
        assert await shown() == image(number)
        again = await led(name, isShown=False)
        assert (again["number"], again["lacksImage"]) == (number, False), "the room has it"
    assert not (await led("b"))["lacksImage"]
    assert await shown() == image(2)
    assert (await led("a"))["lacksImage"], "two are kept"
    lost = await led("a", image="")
    assert not lost["lacksImage"], "the browser has lost it: its words remain"
    assert await shown() == ""
    kept = ROOMS.live[made["code"]]
    assert sorted(kept.images) == ["b", "c"]
    assert not any(image(n) in repr(kept.room) for n in (1, 2, 3)), "nor do its places and commands hold any"


@in_loop
async def test_a_class_is_shown_no_image_that_lies_and_none_that_is_too_large():
    made, _ = await opened()
    largest = image(1, 300_000)
    assert not json.loads((await move(made, "", moment=slide("a"), image=largest)).text)["lacksImage"]
    before = state()
    svg, gif = (base64.b64encode(each).decode() for each in (b"<svg/>", b"GIF89a"))
    for wrong in (svg, gif, "A", "é", image(1, 300_001), 7):
        refused = await move(made, "", moment=slide("b"), image=wrong)
        assert (refused.status, refused.text[-1:]) == (400, ".")
    options = [{"text": "x" * 200, "right": False}] * 10
    ask = {"kind": "own-choice", "prompt": "x", "options": options, "needs": ["x" * 3_000] * 25}
    refused = await move(made, "", moment=slide("b", ask=ask), image=image(1))
    assert (refused.status, "64,000" in refused.text) == (400, True), "only an image is that large"
    assert state() == before


@in_loop
async def test_uploaded_numbers_are_not_followed():
    made, seat = await opened()
    moved = json.loads((await move(made, "?source=own-parameters&step=scores")).text)
    now = await now_of(made, seat)
    assert (moved["isOwn"], now["isOwn"], now["at"]) == (True, True, "")


@pytest.mark.parametrize("base", ["", "/course/a"])
def test_a_room_is_opened_by_its_code_alone_wherever_the_app_is(base):
    mounted = Starlette(routes=[Mount(base, app=APP)]) if base else APP
    for text in ("KTQWRM", "ktqwrm"):
        found = run(asked(mounted, f"{base}/{text}"))
        assert (found.status, found.headers["location"]) == (307, "./?room=KTQWRM")
    assert run(asked(mounted, f"{base}/worked_example")).status == 200, "a mistyped page is not taken for a code"


DRAW = random.Random(1)
KINDS = ["join", "move", "press", "open", "again", "answer", "point", "around", "hand", "forget", "counts", "end", "x"]


def junk(depth=0):
    kinds = [
        lambda: DRAW.choice([None, True, -1, 0, 1e308, 10**30, "", "KTQWRM", "scores[0,1,1]", "\u202e", "=1+1"]),
        lambda: "".join(DRAW.choices(string.printable, k=DRAW.randrange(60))),
        lambda: [junk(depth + 1) for _ in range(DRAW.randrange(3))],
        lambda: {DRAW.choice(["do", "at", "seat", "value"]): junk(depth + 1) for _ in range(DRAW.randrange(3))},
    ]
    return DRAW.choice(kinds[: 2 if depth > 2 else 4])()


@pytest.mark.slow
@in_loop
async def test_two_thousand_messages_that_no_page_sends_change_nothing():
    made, seat = await opened()
    await move(made)
    before = state()
    for _ in range(2_000):
        names = DRAW.sample(["seat", "question", "round", "value", "at", "isOpen", "link", "cell", "x"], 4)
        message = {"do": DRAW.choice(KINDS)} | {name: junk() for name in names}
        if DRAW.random() < 0.5:
            message["seat"] = seat
        body = json.dumps(message).encode() if DRAW.random() < 0.9 else bytes(DRAW.randbytes(40))
        key = DRAW.choice([{}, {"x-room-key": "wrong"}, {"x-room-key": seat}])
        done = await raw(DRAW.choice([made["code"], "BCDFGH", "", "%00"]), body, **key)
        assert done.status in (400, 403, 404, 429), (message, done.text)
        assert done.text.endswith((".", "in.")), "in words"
    assert (await move(made, "?lesson=none&moment=1")).status == 400
    assert state() == before


def guesses(n):
    draw = random.Random(2)
    return [post("".join(draw.choices(LETTERS, k=6)), do="join") for _ in range(n)]


@in_loop
async def test_past_thirty_wrong_codes_those_of_a_network_are_read_in_turn_and_none_waits_long(monkeypatch):
    monkeypatch.setattr(room_entry, "CODES", TokenBuckets(30, 90, 1))  # ten times as fast
    made, _ = await opened()
    begun = time.monotonic()
    wrong = [asyncio.create_task(each) for each in guesses(60)]
    await asyncio.sleep(0)
    assert (await post(made["code"], do="join")).status == 200, "a school beside one who guesses comes in, in turn"
    assert all(each.done() for each in wrong)
    assert {each.status for each in await asyncio.gather(*wrong)} == {404}
    later = [asyncio.create_task(each) for each in guesses(300)]
    await asyncio.sleep(0)
    ways = {"network": OTHER}, {"link": made["link"]}, {"link": "x" * 22}
    others = await statuses(*(post(made["code"], do="join", **each) for each in ways))
    assert not all(each.done() for each in later)
    assert others == [200, 200, 404], "another network and the link wait for nobody"
    found = [each.status for each in await asyncio.gather(*later)]
    assert 90 <= found.count(404) <= 30 + 90 * (time.monotonic() - begun) - 60 + 1
    assert set(found) == {404, 429}, "what would wait longer is not read"


@pytest.mark.parametrize(("wait", "n_given_back"), [(0.0, 1), (0.001, 0)])
@in_loop
async def test_a_right_code_uses_up_nothing_unless_it_had_to_wait(monkeypatch, wait, n_given_back):
    given_back = []
    made, _ = await opened()
    monkeypatch.setattr(room_entry, "CODES", SimpleNamespace(take=lambda *_: wait, give_back=given_back.append))
    assert await statuses(*guesses(1), post(made["code"], do="join")) == [404, 200]
    assert given_back == [HOG] * n_given_back


@in_loop
async def test_new_seats_of_a_network_are_limited_and_an_earlier_seat_or_the_link_is_not_counted(monkeypatch):
    monkeypatch.setattr(room_entry, "SEATS", TokenBuckets(4, 1 / 60))
    made, seat = await opened()
    ways = [{}, {}, {}, {}, {"seat": seat}, {"link": made["link"]}, {"network": OTHER}]
    joined = [await post(made["code"], do="join", **each) for each in ways]
    assert [each.status for each in joined] == [200, 200, 200, 429, 200, 200, 200]
    assert joined[3].text.endswith("Wait 60 s.")


@in_loop
async def test_an_unused_seat_is_valid_for_a_minute_and_takes_no_place(monkeypatch):
    made, seat = await opened()
    await move(made)
    other, *_ = [(await data(made["code"], do="join", network=OTHER))["seat"] for _ in range(600)]
    (last,) = await joins(made["code"], 1)
    assert (await post(made["code"], do="join", seat=other)).status == 200
    assert set(ROOMS.live[made["code"]].room.seats) == {made["seat"], seat}
    assert (await vote(made, last, 4)).status == 200
    monkeypatch.setattr(room_entry, "SEAT_SECONDS", -1)
    late = post(made["code"], do="join", seat=other), vote(made, other, 4)
    assert await statuses(*late, vote(made, last, 4), vote(made, seat, 4)) == [403, 403, 200, 200]
    assert await listen(made["code"], other, 1) == []


@in_loop
async def test_a_seat_that_was_forgotten_while_its_stream_is_open_is_remembered_again():
    made, _ = await opened()
    live, seat = ROOMS.live[made["code"]], "given long ago"
    await ROOMS.do(live, Join(time=0.0, seat=seat))
    await move(made)
    del live.room.seats[seat]
    assert (await vote(made, seat, 4)).status == 403
    live.streams[seat] += 1
    assert (await vote(made, seat, 4)).status == 200
    assert live.room.question.counts == [[(4, 1)]]


@in_loop
async def test_a_network_sends_so_many_messages_to_a_room_and_no_more(monkeypatch):
    assert room_entry.MESSAGES.burst + 2 * 60 * 60 / room_entry.MESSAGES.seconds < MAX_COMMANDS
    made, seat = await opened()
    await move(made)
    monkeypatch.setattr(room_entry, "MESSAGES", TokenBuckets(3, 1 / 60))
    networks = [HOG] * 4 + [OTHER]
    points = (post(made["code"], do="point", seat=seat, cell="", network=each) for each in networks)
    assert await statuses(*points) == [200, 200, 200, 429, 200]


@in_loop
async def test_a_network_opens_five_rooms_a_minute_and_has_twenty_of_fifty(monkeypatch):
    made = [await post("", do="make") for _ in range(6)]
    assert made[5].text.endswith("Wait 12 s.")
    assert (await post("", do="make", network=OTHER)).status == 200
    monkeypatch.setattr(room_entry, "NEW_ROOMS", TokenBuckets(100, 1))
    made += [await post("", do="make") for _ in range(16)]
    assert [each.status for each in made] == [200] * 5 + [429] + [200] * 15 + [400]
    assert "Your network has 20 rooms" in made[-1].text
    others = [await post("", do="make", network=f"192.0.2.{n}") for n in range(9, 39)]
    assert [each.status for each in others] == [200] * 29 + [400], "50 in all"
    first = json.loads(made[0].text)
    assert await statuses(post(first["code"], first["key"], do="end"), post("", do="make")) == [200, 200]


@in_loop
async def test_a_room_waits_for_no_more_than_one_piece_of_another_rooms_work(monkeypatch):
    may_go_on, done = threading.Event(), []

    def place(at, *_):
        may_go_on.wait(PATIENCE_SECONDS)
        done.append(at)
        return Place(at)

    monkeypatch.setattr(room_routes, "place_in", place)
    monkeypatch.setattr(room_routes, "_QUEUE", FairQueue("test"))
    hostile = [await data("", do="make") for _ in range(2)]
    made = await data("", do="make")
    moves = [asyncio.create_task(move(each, "long")) for each in hostile * 4]
    await asyncio.sleep(0.01)
    led = asyncio.create_task(move(made, "mine"))
    await asyncio.sleep(0.01)
    monkeypatch.setattr(room_routes._QUEUE, "_usage", used := Usage())
    for each in hostile:
        used.add((each["code"], ""), 1.0, time.perf_counter())
    may_go_on.set()
    await asyncio.gather(*moves, led)
    assert done == ["long", "mine", *["long"] * 7]


@in_loop
async def test_a_lecture_hall_comes_in_by_the_link_so_many_a_second():
    made, _ = await opened()
    found = await statuses(*(post(made["code"], do="join", link=made["link"]) for _ in range(60)))
    assert found[:50] == [200] * 50
    assert 429 in found[50:]
    elsewhere = await post(made["code"], do="join", link=made["link"], network=OTHER)
    assert elsewhere.status == 200, "and no other network waits for it"


@in_loop
async def test_a_full_room_has_place_for_its_speaker_and_for_those_who_are_there_already(monkeypatch):
    monkeypatch.setattr(rooms, "MAX_HERE", 2)
    made, seat = await opened()
    other, late = await joins(made["code"], 2)
    async with listening(made["code"], seat), listening(made["code"], other):
        assert (await asked(APP, f"/room/events?room={made['code']}&seat={late}")).status == 503
        assert await statuses(post(made["code"], do="join"), post(made["code"], do="join", seat=seat)) == [503, 200]
        assert [len(await listen(made["code"], each, 2)) for each in (made["seat"], seat, other)] == [2, 2, 2]


@in_loop
async def test_followers_learn_that_the_speakers_machine_sleeps():
    made, seat = await opened()
    await move(made)
    live = ROOMS.live[made["code"]]
    for silent, waits in ((0, False), (60, True)):
        live.speaker -= silent
        ROOMS.sweep()
        assert (await now_of(made, seat))["waits"] == waits
    await post(made["code"], made["key"], do="here")
    ROOMS.sweep()
    assert not (await now_of(made, seat))["waits"]


@in_loop
async def test_a_followers_message_has_2_kilobytes_at_most_and_a_speakers_464():
    made, _ = await opened()
    for most, headers in ((2_000, {}), (464_000, {"x-room-key": made["key"]})):
        fits, too_long = [await raw(made["code"], b" " * n, **headers) for n in (most, most + 1)]
        assert (fits.status, too_long.status) == (400, 413), "one was read, and says nothing"
        assert f"at most {most:,} bytes" in too_long.text


@in_loop
async def test_moment_is_light_until_a_follower_asks_for_the_whole():
    made, seat = await opened()
    await move(made)
    path = f"/room/moment?room={made['code']}&seat={seat}&shows=1"
    light, whole, again = [json.loads((await asked(APP, path + end)).text) for end in ("", "&whole=1", "")]
    assert (light["document"], bool(light["glance"]), again) == (None, True, light)
    assert whole["document"]["where"]["step"] == "question"
    assert light["question"] == whole["question"]


@in_loop
async def test_light_moment_follows_the_steps_of_a_pass_and_the_whole_stays():
    made, seat = await opened()
    titles = []
    for step in ("scores", "softmax"):
        await move(made, f"?model=who-is-it&step={step}")
        shows = (await now_of(made, seat))["shows"]
        titles.append((shows, json.loads((await moment_of(made, seat, shows)).text)["glance"]["title"]))
    assert titles == [(1, "Scores"), (1, "Softmax")]


@in_loop
async def test_follower_without_a_stream_asks_for_the_same_state_and_is_counted(monkeypatch):
    made, seat = await opened()
    await move(made)
    (asking,) = await joins(made["code"], 1)
    assert (await vote(made, asking, 4)).status == 200
    told = json.loads((await now_by_asking(made, asking, around=1)).text)
    assert told["now"] == await now_of(made, seat)
    assert told["own"]["answers"][0]["value"] == 4
    seen = await audience(made)
    assert (seen["here"], seen["around"]) == (1, 1)
    monkeypatch.setattr(rooms, "POLLED_SECONDS", -1)
    ROOMS.sweep()
    assert (await audience(made))["here"] == 0, "who asks no more has left"
    assert (await now_by_asking(made, "nobody")).status == 403
