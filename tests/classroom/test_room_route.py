"""The routes of rooms: who may do what, what is read, and what each is told. What no page sends changes nothing."""

import asyncio
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
from asgi import APP, asked, run
from documents import fitted_at
from patience import PATIENCE_SECONDS
from starlette.applications import Starlette
from starlette.routing import Mount

from attnviz.classroom import admission, room_route, rooms
from attnviz.classroom.admission import ROOMS
from attnviz.classroom.codes import LETTERS
from attnviz.classroom.commands import Join, Place
from attnviz.classroom.fair_queue import FairQueue, Usage
from attnviz.classroom.http import TokenBuckets
from attnviz.classroom.room import MAX_COMMANDS
from attnviz.classroom.room_route import stream
from attnviz.contract.classroom import ClassNow, Led, Offer, OwnNow, Seat
from attnviz.contract.lesson import Moment
from attnviz.lessons.lesson import LESSONS

DECLARED = {"make": Seat, "join": Seat, "move": Led, "hand": Offer}
LESSON = "?lesson=who-is-it&moment=1&present=1"


@pytest.fixture(autouse=True)
def _nobody_has_been_here(monkeypatch):
    for name in ("CODES", "SEATS", "LINKS", "NEW_ROOMS", "MESSAGES"):
        own = getattr(admission, name)
        monkeypatch.setattr(admission, name, TokenBuckets(own.burst, 1 / own.seconds, own.longest_wait))
    monkeypatch.setattr(ROOMS, "live", {})


async def post(code, key=None, app=APP, network="192.0.2.7", **sent):
    headers = {} if key is None else {"x-room-key": key}
    answer = await raw(code, json.dumps(sent).encode(), app, network, **headers)
    if answer.status == 200 and sent["do"] in DECLARED:
        msgspec.json.decode(answer.text, type=DECLARED[sent["do"]])
    return answer


async def raw(code, body, app=APP, network="192.0.2.7", **headers):
    async def from_network(scope, receive, send):
        await app(scope | {"client": (network, 1)}, receive, send)

    return await asked(from_network, f"/room?room={code}", "POST", body=body, **headers)


async def opened():
    """A room with one follower in it, who has opened its stream: its code, key and link, and the follower's seat."""
    made = json.loads((await post("", do="make")).text)
    seat = json.loads((await post(made["code"], do="join")).text)["seat"]
    await listen(made["code"], seat, 1)
    return made, seat


async def listen(code, seat, n, known="", app=APP):
    """The first `n` events of a stream, without comments."""
    found, left = [], asyncio.Event()

    async def receive():
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message):
        for each in message.get("body", b"").decode().split("\n\n"):
            parts = dict(line.split(": ", 1) for line in each.splitlines() if ": " in line and line[0] != ":")
            if parts and not found:
                assert int(parts["retry"]) <= 1000, "a browser that lost the line asks again within a second"
            if "data" in parts and len(found) < n:
                found.append((parts.get("event", "message"), parts.get("id"), json.loads(parts["data"])))
        if len(found) >= n or message.get("status", 200) != 200:
            left.set()

    headers = [(b"host", b"127.0.0.1"), *([(b"last-event-id", known.encode())] if known else [])]
    scope = {"type": "http", "method": "GET", "path": "/room/events", "root_path": "", "headers": headers}
    await asyncio.wait_for(
        app(scope | {"query_string": f"room={code}&seat={seat}".encode()}, receive, send), PATIENCE_SECONDS
    )
    return found


@contextlib.asynccontextmanager
async def listening(code, seat, around=0):
    """Keep a seat's stream open for the block; yields the states of the class that it has sent so far."""
    told, begun, left = [], asyncio.Event(), asyncio.Event()

    async def receive():
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message):
        for each in message.get("body", b"").decode().split("\n\n"):
            told.extend(json.loads(text) for text in re.findall(r"^id: .*\ndata: (.*)$", each, re.MULTILINE))
        if told:
            begun.set()

    query = f"room={code}&seat={seat}&around={around}".encode()
    scope = {"type": "http", "method": "GET", "path": "/room/events", "root_path": "", "query_string": query}
    streaming = asyncio.create_task(APP(scope | {"headers": [(b"host", b"127.0.0.1")]}, receive, send))
    await asyncio.wait_for(begun.wait(), PATIENCE_SECONDS)
    yield told
    left.set()
    await asyncio.wait_for(streaming, PATIENCE_SECONDS)


def state():
    return repr({code: held.room for code, held in ROOMS.live.items()})


def test_a_class_follows_answers_and_is_told_what_it_may_know():
    async def story():
        made, seat = await opened()
        code, key = made["code"], made["key"]
        assert json.loads((await post(code, key, do="move", at=LESSON)).text)["number"] == 1
        (_, _, own), (_, name, now) = await listen(code, seat, 2)
        assert own == {"answer": None}
        assert (now["at"], now["isShown"]) == ("lesson=who-is-it&moment=1", False), "present is the speaker's alone"
        assert now["round"] == {"number": 1, "isOpen": True}
        assert "audience" not in now, "counts are the speaker's"
        msgspec.convert(now, ClassNow)
        assert (await post(code, do="answer", seat=seat, number=1, round=1, value=4)).status == 200
        (_, _, own), (_, _, _) = await listen(code.lower(), seat, 2)
        msgspec.convert(own, OwnNow)
        assert own["answer"]["value"] == 4, "who comes back knows what they said"
        *_, (_, _, seen) = await listen(code, made["seat"], 2)
        assert seen["audience"]["counts"] == [[[4, 1]]]
        msgspec.convert(seen, ClassNow)
        found = await asked(APP, f"/room/moment?room={code}&seat={seat}&shows={now['shows']}")
        assert json.loads(found.text)["question"]["kind"] == "pick"
        assert (await post(code, key, do="move", at=LESSON, isShown=True)).status == 200
        late = await post(code, do="answer", seat=seat, number=1, round=1, value=5)
        assert (late.status, late.text) == (400, "No more answers are taken.")
        lines = (await post(code, key, do="counts")).text.splitlines()
        assert lines[1] == "Which word will “tired” look at most? Click it.,1,cross,1,no"
        assert (await post(code, key, do="end")).status == 200
        assert (await post(code, do="join")).status == 404
        return name

    assert run(story())


def test_who_comes_back_with_the_last_event_is_told_only_of_what_is_new():
    async def story():
        made, seat = await opened()
        _, (_, name, _) = await listen(made["code"], seat, 2)
        told = asyncio.create_task(listen(made["code"], seat, 2, known=name))
        await asyncio.sleep(0)
        await post(made["code"], made["key"], do="move", at="model=who-is-it&step=scores")
        return await told

    (_, _, own), (_, _, now) = run(story())
    assert (own["answer"], now["number"]) == (None, 1)


def test_any_cell_on_the_screen_can_be_asked_for_and_nothing_that_is_none():
    async def story():
        made, seat = await opened()
        move = {"code": made["code"], "key": made["key"], "do": "move", "at": "?model=who-is-it&step=softmax"}
        for kind in ("share", "word", "number"):
            done = await post(**move, question={"kind": kind, "cell": "attention[0,11,1]"})
            assert done.status == 200
            number = json.loads(done.text)["number"]
            _, (_, _, now) = await listen(made["code"], seat, 2)
            assert (now["kind"], now["question"]) == ("question", {"kind": kind, "cell": "attention[0,11,1]"})
            made_of = await asked(APP, f"/room/moment?room={made['code']}&seat={seat}&shows={number}")
            moment = json.loads(made_of.text)
            assert "attention" in moment["covers"], "it is covered until it is shown"
            assert "“tired”" in moment["question"]["prompt"][0][1]
            assert isinstance(moment["question"], dict)
            assert moment.keys() == {each.encode_name for each in msgspec.structs.fields(Moment)}
        for kind, cell in (("share", "scores[0,1,1]"), ("word", "q[0,1,1]"), ("number", "q[9,9,9]"), ("number", "<b>")):
            done = await post(**move, question={"kind": kind, "cell": cell})
            assert done.status == 400

    run(story())


async def joins(code, n):
    """The seats of so many more followers."""
    return [json.loads((await post(code, do="join")).text)["seat"] for _ in range(n)]


async def now_of(code, seat):
    """The class as a seat is told of it first."""
    return (await listen(code, seat, 2))[-1][-1]


async def own_of(code, seat):
    """What a seat that comes back is told it has answered."""
    return (await listen(code, seat, 1))[0][-1]["answer"]


def test_a_class_that_is_asked_again_answers_anew_beside_its_first_answers():
    async def story():
        made, first = await opened()
        code, key, speaker = made["code"], made["key"], made["seat"]
        second, third, late = await joins(code, 3)
        await post(code, key, do="move", at=LESSON)
        for seat, value in ((first, 4), (second, 4), (third, 1)):
            assert (await post(code, do="answer", seat=seat, number=1, round=1, value=value)).status == 200
        assert (await post(code, key, do="open", isOpen=False)).status == 200
        assert (await post(code, do="answer", seat=third, number=1, round=1, value=4)).status == 400, "it is closed"
        assert (await post(code, key, do="again")).status == 200
        seen = await now_of(code, speaker)
        assert seen["round"] == {"number": 2, "isOpen": True}, "who is asked again can answer"
        assert seen["audience"]["answered"] == 0
        assert await own_of(code, first) is None, "nobody has answered the second round"
        assert (await post(code, do="answer", seat=late, number=1, round=2, value=1)).status == 200
        assert (await post(code, do="answer", seat=second, number=1, round=1, value=1)).status == 400, "that is over"
        seen = await now_of(code, speaker)
        assert seen["audience"]["answered"] == 1
        assert seen["audience"]["counts"] == [[[1, 1], [4, 2]], [[1, 1]]]
        assert await own_of(code, late) == {"number": 1, "round": 2, "value": 1}
        assert (await post(code, key, do="again")).status == 400, "twice"
        return list(csv.reader((await post(code, key, do="counts")).text.splitlines()))[1:]

    lines = run(story())
    assert [line[1:] for line in lines] == [
        ["1", "animal", "1", "yes"],
        ["1", "cross", "2", "no"],
        ["2", "animal", "1", "yes"],
    ]


def test_people_who_do_not_understand_a_number_are_counted_until_they_say_that_they_do():
    one, other = "scores[0,11,1]", "scores[0,11,2]"

    async def story():
        made, first = await opened()
        code, key = made["code"], made["key"]
        second, third = await joins(code, 2)
        assert (await post(code, do="point", seat=first, cell=one)).status == 400, "the class is nowhere yet"
        await post(code, key, do="move", at="model=who-is-it&step=scores")
        found = []
        for seat, cell in (
            (first, one), (first, one), (second, other), (third, other), (second, one), (third, ""), (third, ""),
            (second, ""), (first, ""),
        ):  # fmt: skip
            assert (await post(code, do="point", seat=seat, cell=cell)).status == 200
            seen = (await now_of(code, made["seat"]))["audience"]["pointed"]
            found.append([(each["cell"], each["count"]) for each in seen])
        assert (await post(code, do="point", seat="nobody", cell=one)).status == 403
        assert "audience" not in await now_of(code, first)
        return found

    assert run(story()) == [
        [(one, 1)],
        [(one, 1)],  # one person, however often
        [(one, 1), (other, 1)],
        [(other, 2), (one, 1)],  # most first
        [(one, 2), (other, 1)],  # another number in place of the first
        [(one, 2)],
        [(one, 2)],
        [(one, 1)],
        [],
    ]


def test_the_counts_to_keep_have_each_answer_s_people_and_whether_it_is_right_and_no_formula():
    settings = {"sentence": "= cat @ +", "d_model": "8", "heads": "1", "step": "softmax"}
    row = fitted_at(settings).trace["attention"].value[0, 1].tolist()
    asked = {
        "word": [(0, 2), (2, 1), (3, 1)],
        "share": [(row[2], 1), (row[2] + 0.049, 1), (row[2] + 0.051, 2)],
    }

    async def story():
        made, _ = await opened()
        code, key = made["code"], made["key"]
        for number, (kind, given) in enumerate(asked.items(), start=1):
            await post(
                code, key, do="move", at=urlencode(settings), question={"kind": kind, "cell": "attention[0,1,2]"}
            )
            values = [value for value, n in given for _ in range(n)]
            for each, value in zip(await joins(code, 4), values, strict=True):
                sent = await post(code, do="answer", seat=each, number=number, round=1, value=value)
                assert sent.status == 200
        return (await post(code, key, do="counts")).text

    head, *lines = csv.reader(run(story()).splitlines())
    assert head == ["question", "round", "answer", "count", "right"]
    words, shares = lines[:3], lines[3:]
    assert [line[2:] for line in words] == [
        [f"'{label}", str(n), "yes" if row[place] == max(row) else "no"]
        for (place, n), label in zip(asked["word"], "=@+", strict=True)
    ]
    assert [(float(line[2]), line[3], line[4]) for line in shares] == [
        (value, str(n), right) for (value, n), right in zip(asked["share"], ("yes", "yes", "no"), strict=True)
    ]
    assert not [text for line in lines for text in (line[0], line[2]) if text.startswith(("=", "+", "-", "@"))]


SPEAKERS = [
    {"do": "move", "at": LESSON},
    {"do": "press", "by": 1},
    {"do": "open", "isOpen": False},
    {"do": "again"},
    {"do": "here"},
    {"do": "hand"},
    {"do": "counts"},
    {"do": "end"},
]


def test_a_key_leads_its_own_room_alone_and_nothing_else_is_one():
    async def story():
        (made, seat), (other, _) = await opened(), await opened()
        code = made["code"]
        await post(code, made["key"], do="move", at="lesson=who-is-it&moment=2")
        before, statuses = state(), []
        for key in (None, "", other["key"], seat, made["seat"], made["link"], code):
            statuses += [(await post(code, key, **each)).status for each in SPEAKERS]
        assert state() == before
        statuses += [(await post("BCDFGH", made["key"], **each)).status for each in SPEAKERS]
        assert state() == before
        return statuses

    assert set(run(story())) == {403}


def test_each_device_of_the_speakers_leads_and_none_counts_as_one_who_is_here():
    async def story():
        made, seat = await opened()
        code, devices = made["code"], [made]
        for _ in range(2):
            handed = json.loads((await post(code, devices[-1]["key"], do="hand")).text)["code"]
            devices.append(json.loads((await post(handed.lower(), do="join")).text))
        numbers = []
        for nth, device in enumerate([*devices, *devices], start=1):
            moved = await post(code, device["key"], do="move", at=f"lesson=who-is-it&moment={nth}")
            numbers.append(json.loads(moved.text)["number"])
            assert "audience" in await now_of(code, device["seat"])
        here = [(await now_of(code, each["seat"]))["audience"]["here"] for each in devices]
        async with listening(code, seat):
            here += [(await now_of(code, each["seat"]))["audience"]["here"] for each in devices]
        return numbers, here

    numbers, here = run(story())
    assert numbers == [1, 2, 3, 4, 5, 6], "a device that comes locks none out"
    assert here == [0, 0, 0, 1, 1, 1]


def test_who_is_here_and_who_looks_around_is_counted_by_seats_as_long_as_they_are():
    async def story():
        made, seat = await opened()
        code = made["code"]
        (other,) = await joins(code, 1)

        async def counted():
            audience = (await now_of(code, made["seat"]))["audience"]
            return audience["here"], audience["around"]

        found = [await counted()]
        async with listening(code, seat), listening(code, seat), listening(code, other):
            found.append(await counted())
            for is_around in (True, True, False, True):
                assert (await post(code, do="around", seat=seat, isAround=is_around)).status == 200
                found.append(await counted())
            async with listening(code, other, around=1):
                found.append(await counted())
        found.append(await counted())
        async with listening(code, seat):
            found.append(await counted())
        return found

    assert run(story()) == [
        (0, 0),
        (2, 0),  # two tabs of one seat are one
        (2, 1),
        (2, 1),
        (2, 0),
        (2, 1),
        (2, 2),
        (0, 0),
        (1, 0),  # who comes back follows
    ]


def test_a_seat_is_given_the_moment_of_its_own_class_and_of_where_that_is_now():
    async def story():
        (made, seat), (other, their_seat) = await opened(), await opened()
        rooms_of = [(made, seat, "1"), (other, their_seat, "2")]
        for each, _, nth in rooms_of:
            await post(each["code"], each["key"], do="move", at=f"lesson=who-is-it&moment={nth}")
        asked_for = [(each["code"], own, 1) for each, own, _ in rooms_of]
        asked_for += [(made["code"], own, shows) for own, shows in ((their_seat, 1), ("", 1), (seat, 0), (seat, 2))]
        found = [await asked(APP, "/room/moment?room={}&seat={}&shows={}".format(*each)) for each in asked_for]
        return [each.status for each in found], [json.loads(each.text)["title"] for each in found[:2]]

    statuses, titles = run(story())
    assert statuses == [200, 200, 403, 403, 409, 409]
    assert titles == [each.title for each in LESSONS["who-is-it"].moment[:2]]


async def becomes(read, expected):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while read() != expected:
        assert time.monotonic() < deadline, f"{read()!r} is not {expected!r}"
        await asyncio.sleep(0.005)


def test_a_stream_tells_what_happens_in_its_order_once_and_of_answers_the_speaker_alone():
    async def story():
        made, seat = await opened()
        code, key = made["code"], made["key"]
        others = await joins(code, 3)
        async with listening(code, seat) as follower, listening(code, made["seat"]) as speaker:
            for nth in (1, 2, 3):
                await post(code, key, do="move", at=f"lesson=who-is-it&moment={nth}")
                value = 0.5 if nth == 3 else nth
                await post(code, do="answer", seat=others[nth - 1], number=nth, round=1, value=value)
                await becomes(lambda nth=nth: follower[-1]["number"], nth)
            await post(code, key, do="open", isOpen=False)
            await becomes(lambda: follower[-1]["round"]["isOpen"], False)
            await post(code, key, do="move", at="lesson=who-is-it&moment=3", isShown=True)
            await becomes(lambda: (follower[-1]["isShown"], speaker[-1]["isShown"]), (True, True))
            await post(code, key, do="end")
            await becomes(lambda: (follower[-1]["hasEnded"], speaker[-1]["hasEnded"]), (True, True))
        return follower, speaker

    follower, speaker = run(story())
    told = [(each["number"], each["at"][-1:], each["isShown"], each["hasEnded"]) for each in follower]
    assert told == [
        (0, "", False, False),
        (1, "1", False, False),
        (2, "2", False, False),
        (3, "3", False, False),
        (3, "3", False, False),  # it is closed
        (3, "3", True, False),
        (3, "3", True, True),
    ]
    assert [each["number"] for each in speaker] == sorted(each["number"] for each in speaker)
    assert speaker[-1]["audience"]["counts"] == [[[0.5, 1]]]


def test_what_happens_while_an_event_is_on_its_way_is_told_at_once():
    """A phone with a slow network takes an event late, and no later event wakes its stream."""

    async def story():
        made, seat = await opened()
        found = []
        for each in (seat, made["seat"]):
            told = stream(ROOMS.live[made["code"]], each, "")
            for _ in range(2):
                await anext(told)  # what it answered, and where the class is
            await post(made["code"], made["key"], do="move", at=f"lesson=who-is-it&moment={1 + len(found)}")
            found.append(await anext(told))
            await told.aclose()
        return found

    for nth, each in enumerate(run(story()), start=1):
        assert f"moment={nth}" in each.decode()


OWN_MOMENT = {
    "at": "model=who-is-it&step=scores&present=1",
    "title": "Mine",
    "text": "The score is {scores[tired, animal]}.",
    "ask": {"kind": "share", "of": "attention[tired, animal]", "prompt": "How much?"},
    "notes": "only for me",
    "minutes": 2,
}


def test_a_moment_of_the_speakers_own_talk_is_followed_without_their_notes():
    async def story():
        made, seat = await opened()
        move = {"code": made["code"], "key": made["key"], "do": "move", "at": "ignored"}
        assert (await post(**move, moment=OWN_MOMENT)).status == 200
        _, (_, _, now) = await listen(made["code"], seat, 2)
        found = await asked(APP, f"/room/moment?room={made['code']}&seat={seat}&shows={now['shows']}")
        assert (await post(made["code"], do="answer", seat=seat, number=1, round=1, value=0.5)).status == 200
        other = await post(**move, moment=OWN_MOMENT | {"text": "Another text."})
        again = await post(**move, moment=OWN_MOMENT | {"notes": "other notes"})
        turns = [(made["key"], 1), (made["key"], 1), (None, 1), (made["key"], 2)]
        presses = [(await post(made["code"], key, do="press", by=by)).status for key, by in turns]
        assert presses == [200, 200, 403, 400], "the speaker's devices turn it, one press at a time"
        *_, (_, _, seen) = await listen(made["code"], made["seat"], 2)
        assert seen["audience"]["pressed"] == 2
        lines = (await post(made["code"], made["key"], do="counts")).text.splitlines()
        return now, json.loads(found.text), [json.loads(each.text)["number"] for each in (other, again)], lines

    now, moment, numbers, lines = run(story())
    assert (now["kind"], now["at"]) == ("talk", "model=who-is-it&step=scores&view=sheet"), (
        "its scene, which anybody can open"
    )
    assert (moment["title"], moment["notes"], moment["question"]["kind"]) == ("Mine", "", "fill")
    assert "56.71" in json.dumps(moment["text"])
    assert numbers == [2, 3], "another text is another place; other notes are none, so the first is gone back to"
    assert lines[1] == "How much? Up to 5 points off counts as right.,1,0.5,1,no"


def test_a_moment_of_ones_own_is_read_as_strictly_as_the_file_of_a_talk():
    async def story():
        made, _ = await opened()
        move = {"code": made["code"], "key": made["key"], "do": "move", "at": ""}
        await post(**move, moment=OWN_MOMENT)
        before, refused = state(), []
        for other in (
            {"script": "<b>"},
            {"at": "model=none"},
            {"at": "sentence=a&d_model=9999"},
            {"text": "x" * 20_000},
            {"text": "{scores[nobody, animal]}", "ask": {"kind": "share", "of": "attention[nobody, x]", "prompt": ""}},
            {"ask": {"kind": "share", "of": "attention[tired, animal]", "prompt": 3}},
            {"ask": {"kind": "python", "of": "1"}},
            {"minutes": -1},
        ):
            done = await post(**move, moment=OWN_MOMENT | other)
            refused.append((done.status, done.text[-1:]))
        assert state() == before
        own = [
            json.loads((await post(**move, moment=OWN_MOMENT | other)).text)["isOwn"]
            for other in ({"at": "source=own-parameters"}, {"uploads": ["own-a"]}, {})
        ]
        return refused, own

    refused, own = run(story())
    assert refused == [(400, ".")] * 8
    assert own == [True, True, False], "nobody can follow to numbers that no address has"


def test_numbers_of_ones_own_are_not_followed():
    async def story():
        made, seat = await opened()
        done = await post(made["code"], made["key"], do="move", at="?source=own-parameters&step=scores")
        _, (_, _, now) = await listen(made["code"], seat, 2)
        return json.loads(done.text), now

    done, now = run(story())
    assert done["isOwn"] is now["isOwn"] is True
    assert now["at"] == ""


@pytest.mark.parametrize("base", ["", "/course/a"])
def test_a_room_is_opened_by_its_code_alone_wherever_the_app_is(base):
    mounted = Starlette(routes=[Mount(base, app=APP)]) if base else APP
    for text in ("KTQWRM", "ktqwrm"):
        found = run(asked(mounted, f"{base}/{text}"))
        assert (found.status, found.headers["location"]) == (307, "./?room=KTQWRM")
    assert run(asked(mounted, f"{base}/worked_example")).status == 200, "a mistyped page is not taken for a code"


@pytest.mark.slow
def test_two_thousand_messages_that_no_page_sends_change_nothing():
    draw = random.Random(1)

    def junk(depth=0):
        kinds = [
            lambda: draw.choice([None, True, -1, 0, 1e308, 10**30, "", "KTQWRM", "scores[0,1,1]", "\u202e", "=1+1"]),
            lambda: "".join(draw.choices(string.printable, k=draw.randrange(60))),
            lambda: [junk(depth + 1) for _ in range(draw.randrange(3))],
            lambda: {draw.choice(["do", "at", "seat", "value"]): junk(depth + 1) for _ in range(draw.randrange(3))},
        ]
        return draw.choice(kinds[: 2 if depth > 2 else 4])()

    async def story():
        made, seat = await opened()
        await post(made["code"], made["key"], do="move", at=LESSON)
        before = state()
        names = [
            "make",
            "join",
            "move",
            "press",
            "open",
            "again",
            "answer",
            "point",
            "around",
            "hand",
            "counts",
            "end",
            "x",
        ]
        for _ in range(2_000):
            sent = {"do": draw.choice(names[1:])} | {
                name: junk()
                for name in draw.sample(["seat", "number", "round", "value", "at", "isOpen", "link", "cell", "x"], 4)
            }
            if draw.random() < 0.5:
                sent["seat"] = seat
            body = json.dumps(sent).encode() if draw.random() < 0.9 else bytes(draw.randbytes(40))
            key = draw.choice([{}, {"x-room-key": "wrong"}, {"x-room-key": seat}])
            done = await raw(draw.choice([made["code"], "BCDFGH", "", "%00"]), body, **key)
            assert done.status in (400, 403, 404, 429), (sent, done.text)
            assert done.text.endswith((".", "in.")), "in words"
        assert state() == before
        too_much = await post(made["code"], do="join", link="x" * 3_000)
        assert too_much.status == 413
        far_too_much = await post(made["code"], made["key"], do="move", at="x" * 70_000)
        assert far_too_much.status == 413
        moved = await post(made["code"], made["key"], do="move", at="?lesson=none&moment=1")
        assert moved.status == 400
        assert state() == before

    run(story())


def guesses(n, network):
    draw = random.Random(2)
    return [post("".join(draw.choices(LETTERS, k=6)), do="join", network=network) for _ in range(n)]


def test_past_thirty_wrong_codes_those_of_a_network_are_read_in_turn_and_none_waits_long(monkeypatch):
    monkeypatch.setattr(admission, "CODES", TokenBuckets(30, 90, 1))  # ten times as fast

    async def story():
        made, _ = await opened()
        begun = time.monotonic()
        wrong = [asyncio.create_task(each) for each in guesses(60, "192.0.2.7")]
        await asyncio.sleep(0)
        right = await post(made["code"], do="join")
        n_read = sum(each.done() for each in wrong)
        statuses = [each.status for each in await asyncio.gather(*wrong)]
        later = [asyncio.create_task(each) for each in guesses(300, "192.0.2.7")]
        await asyncio.sleep(0)
        ways = {"network": "192.0.2.8"}, {"link": made["link"]}, {"link": "x" * 22}
        others = [(await post(made["code"], do="join", **each)).status for each in ways]
        is_waiting = not all(each.done() for each in later)
        later = [each.status for each in await asyncio.gather(*later)]
        return right.status, n_read, statuses, later, others, is_waiting, time.monotonic() - begun

    right, n_read, statuses, later, others, is_waiting, seconds = run(story())
    assert (right, n_read, statuses) == (200, 60, [404] * 60), "a school beside one who guesses comes in, in turn"
    assert 90 <= later.count(404) <= 30 + 90 * seconds - 60 + 1
    assert set(later) == {404, 429}, "what would wait longer is not read"
    assert (others, is_waiting) == ([200, 200, 404], True), "another network and the link wait for nobody"


@pytest.mark.parametrize(("wait", "n_given_back"), [(0.0, 1), (0.001, 0)])
def test_a_right_code_uses_up_nothing_unless_it_had_to_wait(monkeypatch, wait, n_given_back):
    given_back = []

    async def story():
        made, _ = await opened()
        monkeypatch.setattr(admission, "CODES", SimpleNamespace(take=lambda *_: wait, give_back=given_back.append))
        wrong = [(await each).status for each in guesses(1, "192.0.2.7")]
        return wrong, (await post(made["code"], do="join")).status

    assert run(story()) == ([404], 200)
    assert given_back == ["192.0.2.7"] * n_given_back


def test_many_who_type_the_right_code_at_once_wait_for_nobody():
    async def story():
        made, _ = await opened()
        return await asyncio.gather(*(post(made["code"], do="join") for _ in range(500)))

    assert {each.status for each in run(story())} == {200}


def test_new_seats_of_a_network_are_limited_and_who_has_one_or_the_link_is_not_counted(monkeypatch):
    monkeypatch.setattr(admission, "SEATS", TokenBuckets(4, 1 / 60))

    async def story():
        made, seat = await opened()
        code = made["code"]
        sent = [{}, {}, {}, {}, {"seat": seat}, {"link": made["link"]}]
        joined = [await post(code, do="join", **each) for each in sent]
        return joined, await post(code, do="join", network="192.0.2.8")

    joined, elsewhere = run(story())
    assert [each.status for each in joined] == [200, 200, 200, 429, 200, 200]
    assert joined[3].text.endswith("Wait 60 s.")
    assert elsewhere.status == 200


def test_a_seat_that_nobody_uses_holds_for_a_minute_and_takes_no_room(monkeypatch):
    async def story():
        made, seat = await opened()
        code = made["code"]
        await post(code, made["key"], do="move", at=LESSON)
        joined = [await post(code, do="join", network="192.0.2.8") for _ in range(600)]
        *_, other, last = (json.loads(each.text)["seat"] for each in joined)
        back = await post(code, do="join", seat=other)
        assert set(ROOMS.live[code].room.seats) == {made["seat"], seat}
        vote = {"do": "answer", "number": 1, "round": 1, "value": 4}
        used = await post(code, seat=last, **vote)
        monkeypatch.setattr(admission, "SEAT_SECONDS", -1)
        late = [await post(code, do="join", seat=other), await post(code, seat=other, **vote)]
        assert await listen(code, other, 1) == []
        kept = [await post(code, seat=each, **vote) for each in (last, seat)]
        return back, used, *late, *kept

    assert [each.status for each in run(story())] == [200, 200, 403, 403, 200, 200]


def test_a_seat_that_was_forgotten_while_its_stream_is_open_is_remembered_again():
    async def story():
        made, _ = await opened()
        held, seat = ROOMS.live[made["code"]], "given long ago"
        await ROOMS.do(held, Join(time=0.0, seat=seat))
        await post(made["code"], made["key"], do="move", at=LESSON)
        del held.room.seats[seat]
        gone = await post(made["code"], do="answer", seat=seat, number=1, round=1, value=4)
        held.streams[seat] += 1
        here = await post(made["code"], do="answer", seat=seat, number=1, round=1, value=4)
        return gone, here, held.room.question.counts

    gone, here, counts = run(story())
    assert (gone.status, here.status, counts) == (403, 200, [[(4, 1)]])


def test_a_network_sends_so_many_messages_to_a_room_and_no_more(monkeypatch):
    async def story():
        made, seat = await opened()
        await post(made["code"], made["key"], do="move", at=LESSON)
        monkeypatch.setattr(admission, "MESSAGES", TokenBuckets(3, 1 / 60))
        point = {"do": "point", "seat": seat, "cell": ""}
        sent = [await post(made["code"], **point) for _ in range(4)]
        elsewhere = await post(made["code"], network="192.0.2.8", **point)
        return [each.status for each in (*sent, elsewhere)]

    assert run(story()) == [200, 200, 200, 429, 200]
    assert admission.MESSAGES.burst + 2 * 60 * 60 / admission.MESSAGES.seconds < MAX_COMMANDS


def test_a_network_opens_five_rooms_a_minute_and_has_twenty(monkeypatch):
    async def story():
        made = [await post("", do="make") for _ in range(6)]
        elsewhere = await post("", do="make", network="192.0.2.8")
        monkeypatch.setattr(admission, "NEW_ROOMS", TokenBuckets(100, 1))
        made += [await post("", do="make") for _ in range(16)]
        others = [await post("", do="make", network=f"192.0.2.{n}") for n in range(9, 39)]
        first = json.loads(made[0].text)
        await post(first["code"], first["key"], do="end")
        return made, elsewhere, others, await post("", do="make")

    made, elsewhere, others, again = run(story())
    assert [each.status for each in made] == [200] * 5 + [429] + [200] * 15 + [400]
    assert made[5].text.endswith("Wait 12 s.")
    assert "Your network has 20 rooms" in made[-1].text
    assert (elsewhere.status, again.status) == (200, 200)
    assert [each.status for each in others] == [200] * 29 + [400], "50 in all"


def test_a_room_waits_for_no_more_than_one_piece_of_another_s_work(monkeypatch):
    may_go_on, done = threading.Event(), []

    def place(at, *_):
        may_go_on.wait(PATIENCE_SECONDS)
        done.append(at)
        return Place(at)

    monkeypatch.setattr(room_route, "place_in", place)
    monkeypatch.setattr(room_route, "_LANE", FairQueue("test"))

    async def story():
        hostile = [json.loads((await post("", do="make")).text) for _ in range(2)]
        made = json.loads((await post("", do="make")).text)
        moves = [asyncio.create_task(post(each["code"], each["key"], do="move", at="long")) for each in hostile * 4]
        await asyncio.sleep(0.01)
        led = asyncio.create_task(post(made["code"], made["key"], do="move", at="mine"))
        await asyncio.sleep(0.01)
        monkeypatch.setattr(room_route._LANE, "_usage", used := Usage())
        for each in hostile:
            used.add((each["code"], ""), 1.0, time.perf_counter())
        may_go_on.set()
        await asyncio.gather(*moves, led)

    run(story())
    assert done == ["long", "mine", *["long"] * 7]


def test_a_lecture_hall_comes_in_by_the_link_so_many_a_second():
    async def story():
        made, _ = await opened()
        statuses = [(await post(made["code"], do="join", link=made["link"])).status for _ in range(60)]
        elsewhere = await post(made["code"], do="join", link=made["link"], network="192.0.2.8")
        return statuses, elsewhere.status

    statuses, elsewhere = run(story())
    assert statuses[:50] == [200] * 50
    assert 429 in statuses[50:]
    assert elsewhere == 200, "and no other network waits for it"


def test_there_are_so_many_rooms_and_so_many_in_one(monkeypatch):
    monkeypatch.setattr(rooms, "MAX_ROOMS", 2)
    monkeypatch.setattr(rooms, "MAX_HERE", 1)

    async def story():
        made, seat = await opened()
        await post("", do="make")
        third = await post("", do="make")
        ROOMS.live[made["code"]].streams[seat] += 1
        late = await post(made["code"], do="join")
        back = await post(made["code"], do="join", seat=seat)
        return third, late, back

    third, late, back = run(story())
    assert "rooms already" in third.text
    assert (late.status, back.status) == (503, 200)


def test_a_full_room_has_place_for_its_speaker_and_for_who_is_there_already(monkeypatch):
    monkeypatch.setattr(rooms, "MAX_HERE", 2)

    async def story():
        made, seat = await opened()
        other, late = await joins(made["code"], 2)
        async with listening(made["code"], seat), listening(made["code"], other):
            refused = await asked(APP, f"/room/events?room={made['code']}&seat={late}")
            return refused.status, [len(await listen(made["code"], each, 2)) for each in (made["seat"], seat, other)]

    assert run(story()) == (503, [2, 2, 2])


def test_another_device_of_the_speakers_joins_by_a_second_code():
    async def story():
        made, _ = await opened()
        handed = json.loads((await post(made["code"], made["key"], do="hand")).text)["code"]
        other = json.loads((await post(handed, do="join")).text)
        assert other["code"] == made["code"]
        assert (await post(made["code"], other["key"], do="move", at=LESSON)).status == 200
        return await post(handed, do="join")

    assert run(story()).status == 404, "once"


def test_followers_are_told_that_the_speakers_machine_sleeps(monkeypatch):
    async def story():
        made, seat = await opened()
        await post(made["code"], made["key"], do="move", at=LESSON)
        held, seen = ROOMS.live[made["code"]], []
        for silent in (0, 60):
            held.speaker -= silent
            ROOMS.sweep()
            seen.append((await listen(made["code"], seat, 2))[-1][-1]["waits"])
        await post(made["code"], made["key"], do="here")
        ROOMS.sweep()
        return [*seen, (await listen(made["code"], seat, 2))[-1][-1]["waits"]]

    assert run(story()) == [False, True, False]


def test_a_follower_s_message_has_2_kilobytes_at_most_and_a_speaker_s_64():
    async def story():
        made, _ = await opened()
        for most, headers in ((2_000, {}), (64_000, {"x-room-key": made["key"]})):
            fits, too_long = [await raw(made["code"], b" " * n, **headers) for n in (most, most + 1)]
            assert fits.status == 400, "it was read, and says nothing"
            assert too_long.status == 413
            assert f"at most {most:,} bytes" in too_long.text

    run(story())
