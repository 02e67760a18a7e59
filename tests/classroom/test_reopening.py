"""A room that the server has lost is the same once its speaker's browser has sent its log, and nobody else's is."""

import asyncio
import json
import re
import time
from contextlib import suppress
from typing import get_args, get_type_hints

import msgspec
import pytest
from asgi import APP, asked, in_loop
from hypothesis import given, settings
from hypothesis import strategies as st
from test_room import PLACES
from test_room_routes import LESSON, audience, data, joins, listen, move, now_of, own_answer, post, statuses, vote

from attnviz.classroom import commands, requests, room_entry
from attnviz.classroom.codes import hash_of, host_name, new_seat, public_seat, signed_seat
from attnviz.classroom.commands import Place, RoomLog
from attnviz.classroom.http import TokenBuckets
from attnviz.classroom.reopening import checked_place, read_log, replay
from attnviz.classroom.room import SEAT_SECONDS, SECONDS, Question, Room, RoomError
from attnviz.classroom.room_entry import ROOMS
from attnviz.classroom.room_routes import stream
from attnviz.classroom.rooms import LiveRoom
from attnviz.contract.classroom import LogPart, Seat

KEY = hash_of("key")
MAKE = commands.Make(time=0.0, code="KTQWRM", key=KEY, link=hash_of("link"), seat="speaker")
SEATS = [new_seat(KEY, 0) for _ in range(4)]


@pytest.fixture(autouse=True)
def _new_server(monkeypatch):
    for name in ("CODES", "SEATS", "LINKS", "NEW_ROOMS", "MESSAGES"):
        own = getattr(room_entry, name)
        monkeypatch.setattr(room_entry, name, TokenBuckets(own.burst, 1 / own.seconds, own.longest_wait))
    monkeypatch.setattr(room_entry, "NEW_ROOMS", TokenBuckets(1_000, 1))
    monkeypatch.setattr(ROOMS, "live", {})
    monkeypatch.setattr(ROOMS, "ended", {})


KINDS = [kind for kind in get_args(commands.AnyCommand) if kind not in (commands.Make, commands.End)]
MOST = [commands.Join, commands.Move, commands.Answer] * 3
PARTS = {
    "place": st.sampled_from(PLACES),
    "code": st.sampled_from(["BCDFGH", "ZZZZZZ"]),
    "key": st.sampled_from([hash_of("one"), hash_of("two")]),
    "value": st.one_of(st.integers(-1, 3), st.floats(-1, 2), st.text(max_size=9)),
    "cell": st.sampled_from(["scores[0,1,2]", "q[0,1,1]", ""]),
    "question": st.integers(0, 3),
    "round": st.integers(1, 2),
    "sure": st.integers(0, 3),
    "id": st.integers(0, 5),
    "ids": st.none() | st.lists(st.integers(0, 5), max_size=3),
    "text": st.sampled_from(["", "Why?", "How many?", " no line "]),
    "by": st.sampled_from([1, -1]),
}


@st.composite
def lectures(draw):
    """A room to which commands of all kinds were given, most of them possible ones."""
    live, now = LiveRoom(Room.from_command(MAKE)), 1.0
    for kind in draw(st.lists(st.sampled_from([*KINDS, *MOST]), max_size=40)):
        now += draw(st.sampled_from([0.1, 2.0, 60.0]))
        hints = get_type_hints(kind, include_extras=True)
        names = [name for name in kind.__struct_fields__ if name not in ("time", "seat")]
        parts = {name: draw(PARTS[name] if name in PARTS else st.from_type(hints[name])) for name in names}
        if "seat" in hints:
            parts["seat"] = "device" if kind is commands.PairDevice else draw(st.sampled_from(SEATS))
        if kind is commands.Answer and draw(st.integers(0, 4)):
            asked = live.room.question or Question(PLACES[0])
            parts |= {"question": asked.number, "round": len(asked.rounds)}
        with suppress(RoomError):
            live.apply(kind(time=now, **parts))
    return live


def replayed(live, now=SECONDS):
    again = LiveRoom(Room.from_command(msgspec.structs.replace(MAKE, is_again=True)))
    replay(again, read_log(live.log.texts, KEY, now), {})
    return again


@settings(max_examples=300, deadline=None)
@given(lectures())
def test_a_replayed_log_gives_the_same_room(live):
    again = replayed(live, now=live.room.moved + SECONDS)
    assert again.room.is_again
    again.room.is_again = False
    assert repr(again.room) == repr(live.room)
    assert again.log.texts == live.log.texts


@settings(max_examples=100, deadline=None)
@given(lectures(), st.data())
def test_a_browser_gets_what_it_lacks_and_all_where_the_log_is_another(live, drawn):
    texts, earlier = live.log.texts, RoomLog("speaker")
    n_known = drawn.draw(st.integers(0, len(texts)))
    for command in read_log(texts[:n_known], KEY, live.room.moved + SECONDS):
        earlier.add(command)
    known = earlier.part(0)
    assert live.log.start(f"{n_known}-{known.name}") == n_known
    assert known.commands + live.log.part(n_known).commands == texts
    for wrong in ("", "0-", f"{n_known}-other", f"{n_known + 1}-{known.name}", "-1-a", "٣-a", "1e3-a", "9" * 99):
        assert live.log.start(wrong) == 0


def test_a_log_holds_no_secret_of_a_follower_and_no_key():
    live = LiveRoom(Room.from_command(MAKE))
    live.apply(commands.Join(time=1, seat=SEATS[0]))
    live.apply(commands.Move(time=1, place=PLACES[2]))
    live.apply(commands.Answer(time=1, seat=SEATS[0], question=0, round=1, value=1))
    text = "".join(live.log.texts)
    assert public_seat(SEATS[0]) in text
    for secret in (SEATS[0], SEATS[0].rpartition(".")[2], KEY, hash_of("link")):
        assert secret not in text
    assert [signed_seat(public_seat(seat), KEY) for seat in SEATS] == SEATS
    assert signed_seat(public_seat(SEATS[0]), hash_of("other")) not in SEATS
    assert host_name(KEY) not in (KEY, host_name(hash_of("other")))
    assert KEY not in host_name(KEY)


def test_a_slide_is_logged_once_however_often_it_is_shown():
    live, slide = LiveRoom(Room.from_command(MAKE)), Place("", moment=json.dumps({"image": "x" * 400_000}))
    for n, place in enumerate([slide, PLACES[0], slide, slide, PLACES[0]]):
        live.apply(commands.Move(time=n, place=place, is_shown=n == 3))
    assert 400_000 < sum(map(len, live.log.texts)) < 401_000
    assert repr(replayed(live).room.place) == repr(live.room.place)
    assert replayed(live).room.number == live.room.number == 4


def reopen(made, log, code=None, key=None, network="192.0.2.7", **parts):
    """Post a log as the speaker's browser does."""
    body = {"link": made["link"], "seat": made["seat"], "commands": log} | parts

    async def from_network(scope, receive, send):
        await APP(scope | {"client": (network, 1)}, receive, send)

    path = f"/room/reopen?room={made['code'] if code is None else code}"
    return asked(from_network, path, "POST", body=json.dumps(body).encode(), **{"x-room-key": key or made["key"]})


async def log_of(made):
    """What the speaker's browser has received of the log."""
    return ROOMS.live[made["code"]].log.texts


async def lecture():
    """A class with two answers to its second question: what was made, its seats and its log."""
    made = await data("", do="make")
    seats = await joins(made["code"], 4)
    for seat in seats:
        await listen(made["code"], seat, 1)
    await move(made)
    await vote(made, seats[3], 1)
    await move(made, LESSON.replace("=1", "=2"))
    done = [vote(made, seats[0], 4, question=1), vote(made, seats[1], 4, question=1)]
    assert await statuses(*done) == [200, 200]
    return made, seats, [*await log_of(made)]


def crash():
    """Another process begins with nothing."""
    ROOMS.live.clear()
    ROOMS.ended.clear()


@in_loop
async def test_a_reopened_room_has_its_counts_and_lets_its_phones_in_again():
    made, seats, log = await lecture()
    before = await now_of(made)
    crash()
    assert await statuses(*(post(made["code"], do="join", seat=seat) for seat in seats)) == [403] * 4
    answer = await reopen(made, log)
    assert answer.status == 200, answer.text
    seat = msgspec.json.decode(answer.text, type=Seat)
    assert (seat.code, seat.seat, seat.host) == (made["code"], made["seat"], made["host"])
    assert await now_of(made) == before
    rejoined = [await data(made["code"], do="join", seat=each) for each in seats]
    assert {each["host"] for each in rejoined} == {made["host"]}
    assert await own_answer(made, seats[1]) == {"question": 1, "round": 1, "value": 4, "sure": 0}
    assert await statuses(vote(made, seats[2], 5, question=1)) == [200]
    assert (await audience(made))["counts"] == [[[4, 2], [5, 1]]]
    assert await statuses(move(made), post(made["code"], do="join", link=made["link"])) == [200, 200]
    forged = public_seat(seats[0]) + "." + "0" * 24
    assert (await post(made["code"], do="join", seat=forged)).status == 403


@in_loop
async def test_a_seat_that_the_log_lacks_comes_in_again():
    """A phone joined within the last moment before the crash, so the speaker's browser has not heard of it."""
    made, _, log = await lecture()
    now = time.time()
    late, much_later = (new_seat(hash_of(made["key"]), now - age) for age in (SEAT_SECONDS + 60, SECONDS + 60))
    assert (await post(made["code"], do="join", seat=late)).status == 403
    crash()
    assert (await reopen(made, log)).status == 200
    assert await statuses(*(post(made["code"], do="join", seat=each) for each in (late, much_later))) == [200, 403]
    assert await statuses(vote(made, late, 5, question=1)) == [200]


@in_loop
async def test_a_room_whose_log_is_lost_opens_with_its_key_and_its_phones():
    made, seats, _ = await lecture()
    crash()
    assert (await reopen(made, [])).status == 200
    await move(made, LESSON.replace("=1", "=2"))
    assert await statuses(vote(made, seats[0], 4)) == [200]


@in_loop
async def test_who_opens_the_code_first_with_another_key_gets_no_phones():
    made, seats, log = await lecture()
    crash()
    stolen = {"key": "another", "seat": "thief", "link": made["link"]}
    assert (await reopen(made | stolen, log)).status == 200, "a code is anybody's, as it is on the screen"
    assert await statuses(*(post(made["code"], do="join", seat=seat) for seat in seats)) == [403] * 4
    joined = await data(made["code"], do="join", link=made["link"])
    assert joined["host"] != made["host"], "so a phone does not follow there"
    answer = await reopen(made, log)
    again = made | json.loads(answer.text)
    assert answer.status == 200
    assert again["code"] != made["code"]
    assert again["host"] == made["host"]
    assert (await audience(again))["counts"] == [[[4, 2]]]
    assert (await data(again["code"], do="join", seat=seats[0]))["host"] == made["host"]
    assert json.loads((await reopen(made, log)).text)["code"] == again["code"], "a second tab finds the same room"
    assert len(ROOMS.live) == 2


@in_loop
async def test_a_room_that_is_alive_stays_as_it_is():
    made, seats, log = await lecture()
    await vote(made, seats[2], 5, question=1)
    assert (await reopen(made, log[:2])).status == 200
    assert (await audience(made))["counts"] == [[[4, 2], [5, 1]]]
    paired = await data((await data(made["code"], made["key"], do="hand"))["code"], do="join")
    assert (await reopen(made | {"key": paired["key"]}, log)).status == 200
    assert (await audience(made))["answered"] == 3, "another device's key opens another room, not this one"


@in_loop
async def test_two_tabs_that_reopen_at_once_open_one_room():
    made, _, log = await lecture()
    crash()
    done = await asyncio.gather(*(reopen(made, log) for _ in range(3)))
    assert {each.status for each in done} <= {200, 503}
    assert {json.loads(each.text)["code"] for each in done if each.status == 200} == {made["code"]}
    assert [*ROOMS.live] == [made["code"]]
    with pytest.raises(RoomError) as refused:
        await ROOMS.publish(LiveRoom(Room.from_command(msgspec.structs.replace(MAKE, code=made["code"]))), [])
    assert refused.value.status == 503, "the code is taken meanwhile: the browser asks again"


@in_loop
async def test_a_command_that_the_rules_refuse_changes_nothing_of_the_rest():
    made, _, log = await lecture()
    crash()
    refused = [changed(log[-1], value=98), changed(log[-1], question=9), changed(log[-1], round=7)]
    assert (await reopen(made, [*refused, *log, *refused])).status == 200
    assert (await audience(made))["counts"] == [[[4, 2]]]
    assert ROOMS.live[made["code"]].log.texts == log


@in_loop
async def test_a_paired_device_keeps_its_key():
    made, _, _ = await lecture()
    paired = await data((await data(made["code"], made["key"], do="hand"))["code"], do="join")
    log = [*await log_of(made)]
    crash()
    await reopen(made, log)
    assert (await post(made["code"], paired["key"], do="move", at=LESSON)).status == 200
    assert (await now_of(made, paired["seat"]))["audience"]["here"] == 0


@in_loop
async def test_a_class_that_has_ended_stays_ended():
    made, seats, log = await lecture()
    assert (await post(made["code"], made["key"], do="end")).status == 200
    answer = await reopen(made, log)
    assert (answer.status, answer.text) == (410, "The class has ended.")
    ROOMS.sweep()
    assert [(await reopen(made, log)).status, (await post(made["code"], do="join", seat=seats[0])).status] == [410, 410]
    crash()
    ended = json.dumps({"do": "end", "time": time.time()})
    assert (await reopen(made, [*log, ended])).status == 410
    old = [json.dumps(json.loads(each) | {"time": json.loads(each)["time"] - SECONDS - 9}) for each in log]
    assert (await reopen(made, old)).status == 410
    assert ROOMS.live == {}


def changed(text, **parts):
    return json.dumps(json.loads(text) | parts)


HOSTILE = {
    "no JSON": lambda log: [*log, "{"],
    "no object": lambda log: [*log, "1"],
    "unknown command": lambda log: [*log, '{"do":"delete","time":1}'],
    "unknown part": lambda log: [*log, changed(log[-1], admin=True)],
    "wrong type": lambda log: [*log, changed(log[-1], value=[1])],
    "time as text": lambda log: [*log, changed(log[-1], time="now")],
    "time without end": lambda log: [*log, re.sub('"time":[^,]*', '"time":1e999', log[-1])],
    "another room": lambda log: [*log, msgspec.json.encode(MAKE).decode()],
    "a place that is not there": lambda log: [*log, '{"do":"move","time":1,"place":{"at":"#9"}}'],
    "a negative place": lambda log: [*log, '{"do":"move","time":1,"place":{"at":"#-1"}}'],
    "no seat": lambda log: [*log, '{"do":"join","time":1,"seat":"x"}'],
    "a seat that no hour has": lambda log: [*log, '{"do":"join","time":1,"seat":"zz.0123456789abcdef"}'],
    "a signed seat": lambda log: [*log, json.dumps({"do": "join", "time": 1, "seat": SEATS[0]})],
    "a key that is no hash": lambda log: [*log, '{"do":"take","time":1,"code":"BCDFGH","key":"é","seat":"x"}'],
    "no lesson": lambda log: [*log, changed('{"do":"move"}', time=1, place={"at": "lesson=nothing&moment=1"})],
    "no talk": lambda log: [*log, changed('{"do":"move"}', time=1, place={"at": "", "moment": "{}"})],
    "deep": lambda log: [*log, "[" * 100_000],
    "no texts": lambda _: [1, None],
    "no list": lambda _: "all",
    "too many": lambda log: ["{}"] * 200_001 + log[:0],
}


@in_loop
async def test_a_log_that_no_page_keeps_opens_nothing():
    made, _, log = await lecture()
    crash()
    for name, change in HOSTILE.items():
        answer = await reopen(made, change(log))
        assert answer.status == 400, (name, answer.text)
        assert answer.text.endswith((".", ".”")), name
    for parts in ({"code": ""}, {"code": "KTQWRA"}, {"seat": ""}, {"link": ""}, {"admin": True}, {"seat": "x" * 65}):
        assert (await reopen(made, log, **parts)).status == 400, parts
    assert ROOMS.live == {}
    assert (await reopen(made, log)).status == 200


@in_loop
async def test_a_log_changes_no_questions_and_no_clock():
    made, seats, log = await lecture()
    crash()
    many = {"n_choices": 99}
    takes = [
        changed(each, place=json.loads(each)["place"] | {"takes": many}) if '"place"' in each else each for each in log
    ]
    lasts = [*takes, *(changed(log[-1], value=value, time=4e9) for value in (98, -1, 1e300))]
    assert (await reopen(made, lasts)).status == 410, "times that lie ahead are those of a fast clock, all of them"
    ahead = [changed(each, time=json.loads(each)["time"] + 3_000) for each in takes]
    assert (await reopen(made, ahead)).status == 200
    assert ROOMS.live[made["code"]].room.moved <= time.time(), "a room lasts no longer than others"
    assert (await audience(made))["counts"] == [[[4, 2]]]
    assert await statuses(vote(made, seats[2], 98, question=1)) == [400]


@pytest.mark.parametrize(
    "at", ["model=who-is-it&step=scores", "x" * 9_000, "a&b=<b>&sentence=%FF", "sentence=" + "a" * 999]
)
def test_a_place_of_a_log_is_one_that_an_address_names(at):
    assert checked_place(Place(at)) == checked_place(checked_place(Place(at)))
    assert checked_place(Place(at, is_own=True)) == Place("", is_own=True)


@in_loop
async def test_reopening_is_limited_as_opening_is(monkeypatch):
    made, _, log = await lecture()
    crash()
    large = await reopen(made, ["x" * requests.MAX_LOG_BYTES])
    assert (large.status, "Open a new class" in large.text) == (413, True)
    monkeypatch.setattr("attnviz.classroom.rooms.MAX_ROOMS", 0)
    assert (await reopen(made, log)).status == 400
    monkeypatch.undo()
    ROOMS.live.clear()
    monkeypatch.setattr(room_entry, "NEW_ROOMS", TokenBuckets(2, 1e-9))
    assert [(await reopen(made, log)).status for _ in range(3)] == [200, 200, 429]
    assert (await reopen(made, log, network="192.0.2.9")).status == 200


@in_loop
async def test_the_log_goes_to_the_browser_that_opened_the_room_alone():
    made, seats, log = await lecture()
    paired = await data((await data(made["code"], made["key"], do="hand"))["code"], do="join")

    async def kinds(seat, known):
        events = stream(ROOMS.live[made["code"]], seat, "", known)
        read = [await anext(events) for _ in range(2)]
        await events.aclose()
        return [re.findall("event: (.*)", each.decode()) or [""] for each in read], read

    for seat in (seats[0], paired["seat"]):
        assert (await kinds(seat, "0-"))[0] == [["own"], [""]]
    assert (await kinds(made["seat"], ""))[0] == [["own"], [""]], "who does not ask is sent none"
    names, texts = await kinds(made["seat"], "0-")
    assert names == [["own"], ["log"]]
    part = msgspec.json.decode(texts[1].partition(b"data: ")[2], type=LogPart)
    assert part.start == 0
    assert part.commands[: len(log)] == log
    assert (await kinds(made["seat"], f"{len(part.commands)}-{part.name}"))[0] == [["own"], [""]]
    await vote(made, seats[2], 5, question=1)
    _, texts = await kinds(made["seat"], f"{len(part.commands)}-{part.name}")
    rest = msgspec.json.decode(texts[1].partition(b"data: ")[2], type=LogPart)
    assert (rest.start, len(rest.commands)) == (len(part.commands), 1)


@in_loop
async def test_the_log_goes_to_the_browser_that_opened_the_room_alone_where_it_asks():
    made, seats, log = await lecture()
    paired = await data((await data(made["code"], made["key"], do="hand"))["code"], do="join")

    async def polled(seat, known):
        answer = await asked(APP, f"/room/now?room={made['code']}&seat={seat}&log={known}")
        return json.loads(answer.text).get("log")

    assert [await polled(seat, "0-") for seat in (seats[0], paired["seat"])] == [None, None]
    assert await polled(made["seat"], "") is None
    part = msgspec.convert(await polled(made["seat"], "0-"), type=LogPart)
    assert part.commands[: len(log)] == log
    rest = await polled(made["seat"], f"{len(part.commands)}-{part.name}")
    assert (rest["start"], rest["commands"]) == (len(part.commands), [])


@pytest.mark.slow
@in_loop
async def test_a_hall_of_300_with_20_questions_reopens_within_a_second_of_processor():
    made = await data("", do="make")
    live, now = ROOMS.live[made["code"]], time.time()
    seats = [new_seat(hash_of(made["key"]), now) for _ in range(300)]
    for seat in seats:
        live.apply(commands.Join(time=now, seat=seat))
    for n in range(1, 21):
        live.apply(commands.Move(time=now + n, place=checked_place(Place(f"lesson=who-is-it&moment={n % 2 + 1}"))))
        for seat in seats:
            live.apply(commands.Answer(time=now + 2 * n, seat=seat, question=(n - 1) % 2, round=1, value=1))
    log = [changed(each, time=json.loads(each)["time"] - 60) for each in live.log.texts]
    counts = live.room.question.counts
    crash()
    begun = time.process_time()
    assert (await reopen(made, log)).status == 200
    assert time.process_time() - begun < 1
    assert ROOMS.live[made["code"]].room.question.counts == counts
    assert sum(map(len, log)) < 1_000_000
