"""Rooms that processes share by Redis: all agree, a lost one loses nothing, and each goes on while Redis is away."""

import asyncio
import contextlib
import shutil
import subprocess
import time

import pytest
from asgi import in_loop
from needs import absent
from patience import PATIENCE_SECONDS
from server import free_port

from attnviz.classroom import commands, reopening
from attnviz.classroom import rooms as rooms_module
from attnviz.classroom.codes import hash_of, new_seat
from attnviz.classroom.commands import Place, Takes
from attnviz.classroom.requests import Reopen
from attnviz.classroom.room import SECONDS, RoomError

pytestmark = pytest.mark.slow

QUESTION = Place("lesson=a&moment=1", takes=Takes(n_choices=3))
OTHER = Place("model=who-is-it&step=scores")


class Redis:
    """A server of Redis of its own, which can be stopped and started again."""

    def __init__(self, folder):
        self.port, self.folder, self.process = free_port(), folder, None

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}"

    def start(self):
        options = ["--port", self.port, "--bind", "127.0.0.1", "--save", "", "--dir", self.folder]
        self.process = subprocess.Popen(
            ["redis-server", *map(str, options)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + PATIENCE_SECONDS
        while subprocess.run(["redis-cli", "-p", str(self.port), "ping"], capture_output=True).stdout != b"PONG\n":
            assert time.monotonic() < deadline, "Redis did not start"
            time.sleep(0.05)

    def stop(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def redis(tmp_path, monkeypatch):
    pytest.importorskip("redis")
    from attnviz.classroom import redis_rooms

    monkeypatch.setattr(redis_rooms, "AWAY_SECONDS", PATIENCE_SECONDS)  # here Redis is killed or busy, never silent
    if not shutil.which("redis-server"):
        absent("rooms that processes share not tested: no redis-server (Debian: apt-get install redis-server)")
    server = Redis(tmp_path)
    server.start()
    yield server
    server.stop()


@contextlib.asynccontextmanager
async def process(redis):
    """The rooms of one process, until the end of the block: then it is lost."""
    from attnviz.classroom.redis_rooms import SharedRooms

    rooms = SharedRooms(redis.url)
    sweeping = asyncio.create_task(rooms.run())
    try:
        yield rooms
    finally:
        sweeping.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await sweeping
        await rooms.close()


def command(kind, **parts):
    return kind(time=time.time(), **parts)


async def becomes(read, expected):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while read() != expected:
        assert time.monotonic() < deadline, f"{read()!r} is not {expected!r}"
        await asyncio.sleep(0.02)


@in_loop
async def test_any_follower_is_on_any_process_and_a_lost_one_loses_nothing(redis):
    async with process(redis) as here:
        async with process(redis) as there:
            made, secrets = await here.make()
            code = secrets.code
            await here.do(made, command(commands.Move, place=QUESTION))
            held = await there.find(code)
            await there.do(held, command(commands.Join, seat="phone"))
            await here.catch_up(made)
            await here.do(made, command(commands.Answer, seat="phone", question=0, round=1, value=2))
            with pytest.raises(RoomError, match="no answer"):
                await there.do(held, command(commands.Answer, seat="phone", question=0, round=1, value=7))
            await there.catch_up(held)
            assert repr(held.room) == repr(made.room), "all processes agree"
            assert await there.find("BCDFGH") is None
            held.streams["phone"] += 1
            await becomes(lambda: made.others.here, 1)
            await there.do(held, command(commands.OfferDevice, code="ZZZZZZ"))
            assert (await here.find_by_offer("ZZZZZZ")) is made
        before = repr(made.room)
    async with process(redis) as later:
        found = await later.find(code)
        assert repr(found.room) == before
        assert found.room.question.counts == [[(2, 1)]]
        assert found.room.has_key(secrets.key)


@in_loop
async def test_the_last_two_images_of_slides_are_on_every_process_until_the_end(redis):
    async with process(redis) as here, process(redis) as there:
        made, secrets = await here.make()
        held = await there.find(secrets.code)
        for name in "abc":
            await here.keep_image(made, name, name.upper() * 9)
        assert [await there.image(held, name) for name in ("a", "b", "c", "")] == ["", "B" * 9, "C" * 9, ""]
        key = f"attnviz:room:{secrets.code}:images"
        assert await here._redis.llen(key) == 2
        assert await here._redis.ttl(key) > 0
        await here.do(made, command(commands.End))
        assert not await here._redis.exists(key)


@in_loop
async def test_the_rooms_of_a_network_are_counted_over_all_processes(redis, monkeypatch):
    monkeypatch.setattr(rooms_module, "MAX_ROOMS_OF_A_NETWORK", 3)
    monkeypatch.setattr(rooms_module, "MAX_ROOMS", 5)
    async with process(redis) as here, process(redis) as there:
        made, _ = await here.make("192.0.2.7")
        for each in (here, there):
            await each.make("192.0.2.7")
        for each in (here, there):
            with pytest.raises(RoomError, match="Your network"):
                await each.make("192.0.2.7")
        await there.make("192.0.2.8")
        await here.do(made, command(commands.End))
        await there.make("192.0.2.7")
        await here.make("192.0.2.8")
        with pytest.raises(RoomError, match="rooms already"):
            await there.make("192.0.2.9")
        lost, *rest = await here._redis.hkeys("attnviz:rooms")
        assert len(rest) == 4
        assert 0 < await here._redis.ttl(f"attnviz:room:{lost}") <= SECONDS
        await here._redis.delete(f"attnviz:room:{lost}")  # as it expires
        await there.make("192.0.2.9")
    redis.stop()
    async with process(redis) as apart:
        for _ in range(3):
            await apart.make("192.0.2.7")
        with pytest.raises(RoomError, match="Your network"):
            await apart.make("192.0.2.7")


@in_loop
async def test_what_two_processes_do_at_once_has_one_order(redis):
    async with process(redis) as here, process(redis) as there:
        made, secrets = await here.make()
        held = await there.find(secrets.code)
        await here.do(made, command(commands.Move, place=QUESTION))
        await there.catch_up(held)
        seats = [f"phone {n}" for n in range(40)]

        async def answers(rooms, room, seat, value):
            await rooms.do(room, command(commands.Join, seat=seat))
            for _ in range(2):  # sent twice
                await rooms.do(room, command(commands.Answer, seat=seat, question=0, round=1, value=value))

        await asyncio.gather(
            *(answers(*[(here, made), (there, held)][n % 2], seat, n % 3) for n, seat in enumerate(seats)),
            here.do(made, command(commands.Open, is_open=True)),
        )
        await here.catch_up(made)
        await there.catch_up(held)
        assert repr(made.room) == repr(held.room)
        assert sum(count for _, count in made.room.question.counts[0]) == len(seats)
        await here.do(made, command(commands.OfferDevice, code="ZZZZZZ"))
        await there.catch_up(held)
        pairs = (command(commands.PairDevice, code="ZZZZZZ", key=hash_of(name), seat=name) for name in "ab")
        done = await asyncio.gather(*map(type(here).do, (here, there), (made, held), pairs), return_exceptions=True)
        assert {type(each) for each in done} == {type(None), RoomError}, "the second in the common order is refused"


@in_loop
async def test_what_is_done_while_a_process_rejoins_is_kept(redis):
    async with process(redis) as here, process(redis) as there:
        made, secrets = await here.make()
        await here.do(made, command(commands.Join, seat="phone"))
        await here.do(made, command(commands.Move, place=QUESTION))
        redis.stop()
        await here.do(made, command(commands.Join, seat="other phone"))
        assert made.is_apart
        xrange, answers = here._redis.xrange, [2]

        async def slow(stream):
            found = await xrange(stream)
            while answers:
                value = answers.pop()
                await here.do(made, command(commands.Answer, seat="phone", question=0, round=1, value=value))
            return found

        here._redis.xrange = slow
        exists, seats = here._redis.exists, ["late phone"]

        async def slow_exists(stream):
            found = await exists(stream)
            while seats:
                await here.do(made, command(commands.Join, seat=seats.pop()))
            return found

        here._redis.exists = slow_exists
        redis.start()
        await becomes(lambda: made.is_apart, False)
        await here.catch_up(made)
        assert answers == []
        assert made.room.question.counts == [[(2, 1)]]
        held = await there.find(secrets.code)
        assert held.room.question.counts == [[(2, 1)]], "it is in Redis, too"
        assert made.room.seats == held.room.seats
        assert "late phone" in held.room.seats


@in_loop
async def test_while_redis_is_away_each_goes_on_and_afterwards_all_agree(redis):
    async with process(redis) as here, process(redis) as there:
        made, secrets = await here.make()
        held = await there.find(secrets.code)
        await here.do(made, command(commands.Join, seat="phone"))
        await there.do(held, command(commands.Join, seat="other phone"))
        redis.stop()
        await here.do(made, command(commands.Move, place=QUESTION))
        await here.do(made, command(commands.Answer, seat="phone", question=0, round=1, value=1))
        assert (made.is_apart, made.room.place) == (True, QUESTION), "it goes on, and says so"
        await becomes(lambda: held.is_apart, True)
        assert held.room.place is None
        redis.start()  # which has forgotten all
        await becomes(lambda: (made.is_apart, held.is_apart), (False, False))
        await here.catch_up(made)
        await there.catch_up(held)
        await becomes(lambda: held.room.place, QUESTION)
        assert held.room.question.counts == made.room.question.counts == [[(1, 1)]]
        assert {"phone", "other phone"} <= held.room.seats.keys()
        await there.do(held, command(commands.Move, place=OTHER))
        await becomes(lambda: made.room.place, OTHER)


@in_loop
async def test_a_room_is_reopened_once_for_all_processes_and_not_where_it_is_alive_or_ended(redis):
    async def reopened(rooms, secrets, log, **parts):
        message = Reopen(link=secrets.link, seat=secrets.seat, commands=log)
        return await reopening.reopened(
            rooms, secrets.code, parts.get("key", secrets.key), message, "192.0.2.7", asyncio.to_thread
        )

    place = Place("model=who-is-it&step=scores")
    async with process(redis) as here:
        made, secrets = await here.make()
        seat = new_seat(hash_of(secrets.key), time.time())
        for each in (command(commands.Join, seat=seat), command(commands.Move, place=place)):
            await here.do(made, each)
        log = [*made.log.texts]
    redis.stop()
    redis.start()
    async with process(redis) as here, process(redis) as there:
        tabs = [reopened(here, secrets, log), reopened(there, secrets, log)]
        done = await asyncio.gather(*tabs, return_exceptions=True)
        assert sorted(getattr(each, "status", 200) for each in done) in ([200, 503], [200, 200])
        again = await reopened(there, secrets, log)
        held = await here.find(secrets.code)
        assert (again.room.number, again.room.place, [*again.room.seats]) == (1, place, [secrets.seat, seat])
        assert repr(held.room) == repr(again.room)
        assert held.log.texts == again.log.texts == log
        await here.do(held, command(commands.Move, place=place, is_shown=True))
        await there.catch_up(again)
        assert len((await reopened(there, secrets, log)).log.texts) == 3, "it is alive, so it stays as it is"
        taken = await reopened(there, secrets, log, key="another")
        assert taken.room.code != secrets.code
        await here.do(held, command(commands.End))
        with pytest.raises(RoomError, match="ended") as refused:
            await reopened(there, secrets, log)
        assert refused.value.status == 410
    async with process(redis) as later:
        with pytest.raises(RoomError, match="ended"):
            await reopened(later, secrets, log)


@in_loop
async def test_the_log_starts_anew_where_processes_have_found_each_other_again(redis):
    async with process(redis) as here, process(redis) as there:
        made, secrets = await here.make()
        held = await there.find(secrets.code)
        redis.stop()
        seats = [new_seat(hash_of(secrets.key), time.time()) for _ in range(2)]
        await here.do(made, command(commands.Join, seat=seats[0]))
        await there.do(held, command(commands.Join, seat=seats[1]))
        known = f"1-{made.log.part(0).name}"
        assert made.log.start(known) == 1
        assert held.log.start(known) == 0, "who comes to another process gets its log"
        log = made.log
        redis.start()
        await becomes(lambda: (made.is_apart, held.is_apart), (False, False))
        await becomes(lambda: len(made.log.texts), 2)
        assert made.log is not log
        assert made.log.texts == held.log.texts
