"""Three hostile scripts against a server: a file that hogs, a class that is stuffed, codes that are guessed.

Each visitor has a network of its own, as nginx on this machine would say by `X-Forwarded-For`.
"""

import asyncio
import contextlib
import http.client
import io
import itertools
import json
import random
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from asgi import run
from page import ROOT
from patience import PATIENCE_SECONDS
from server import free_port, running
from visitor import Visitor

from attnviz.checks.upload_requests import QUESTIONS
from attnviz.classroom.codes import LETTERS

pytestmark = pytest.mark.slow

HOG, GUESSER, STRANGER, OTHER = "192.0.2.7", "192.0.2.99", "198.51.100.7", "203.0.113.7"


@pytest.fixture(scope="module")
def address():
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with running([sys.executable, "-m", "attnviz", "--port", str(port)], address, cwd=ROOT):
        yield address


class Browser:
    """A browser of a network."""

    def __init__(self, address, network):
        self.host, self.network = address.removeprefix("http://"), network

    def post(self, path, body, **headers):
        with self._answer("POST", path, body, **headers) as answer:
            return answer.status, answer.read()

    @contextlib.contextmanager
    def _answer(self, method, path, body=None, **headers):
        with contextlib.closing(http.client.HTTPConnection(self.host, timeout=PATIENCE_SECONDS)) as connection:
            connection.request(method, path, body, {"X-Forwarded-For": self.network} | headers)
            yield connection.getresponse()

    def room(self, code, key="", **message):
        headers = {"X-Room-Key": key} if key else {}
        status, text = self.post(f"/room?room={code}", json.dumps(message).encode(), **headers)
        return status, json.loads(text) if status == 200 and text[:1] == b"{" else text.decode()

    def open_stream(self, code, seat):
        """Open the stream of a seat, and leave as soon as it begins."""
        with self._answer("GET", f"/room/events?room={code}&seat={seat}") as answer:
            return answer.status


def costly_file():
    draw = np.random.default_rng(1)
    shapes = {"x": (16, 32), "w_o": (32, 32), "attention": (8, 16, 16), "output": (16, 32)}
    shapes |= dict.fromkeys(("w_q", "w_k", "w_v"), (8, 32, 4))
    file = io.BytesIO()
    np.savez(file, **{name: draw.normal(size=shape).astype(np.float32) for name, shape in shapes.items()})
    return file.getvalue()


@pytest.mark.parametrize("network", [STRANGER, HOG])
def test_a_file_that_is_sent_again_and_again_by_eight_tabs_keeps_a_stranger_waiting_for_one(address, network):
    file, done, may_end = costly_file(), [], threading.Event()
    first = {each: next(iter(answers)) for each, (_, answers) in QUESTIONS.items()}

    def send(token, sender):
        line = {"tab": token, "filename": "own.npz", "example": ""} | first
        status, _ = Browser(address, sender).post("/arrays", json.dumps(line).encode() + b"\n" + file)
        return status

    def hog(token):
        while not may_end.is_set():
            status = send(token, HOG)
            done.append(status)

    async def story():
        hogs = [Visitor(f"{address}/walkthrough", **{"X-Forwarded-For": HOG}) for _ in range(8)]
        stranger = Visitor(f"{address}/walkthrough", **{"X-Forwarded-For": network})
        for each in (*hogs, stranger):
            await each.__aenter__()
        with ThreadPoolExecutor(9) as threads:
            try:
                working = [threads.submit(hog, each.answer["tab"]) for each in hogs]
                while len(done) < 9:
                    await asyncio.sleep(0.01)
                before, begun = len(done), time.monotonic()
                status = await asyncio.to_thread(send, stranger.answer["tab"], network)
                found = status, len(done) - before, time.monotonic() - begun
            finally:
                may_end.set()
            await asyncio.to_thread(lambda: [each.result() for each in working])
        for each in (*hogs, stranger):
            await each.close()
        return found

    status, n_before, seconds = run(story())
    assert status == 200
    assert n_before <= 3, "the one that was underway, and one or two that ended as the file came"
    assert seconds <= 10
    assert set(done) == {200}, "who hogs waits, and is not refused"


def test_a_class_that_one_network_stuffs_stays_open_to_others_and_counts_its_seats_alone(address):
    speaker, hog, student = (Browser(address, each) for each in (STRANGER, HOG, OTHER))
    _, made = speaker.room("", do="make")
    code = made["code"]
    number = speaker.room(code, made["key"], do="move", at="lesson=who-is-it&moment=1")[1]["number"]

    begun = time.monotonic()
    joined = [hog.room(code, do="join") for _ in range(1_500)]
    seats = [answer["seat"] for status, answer in joined if status == 200]
    assert 600 <= len(seats) <= 601 + (time.monotonic() - begun) * 200 / 60
    assert {status for status, _ in joined} == {200, 429}

    def vote(browser, seat):
        return browser.room(code, do="answer", seat=seat, number=number, round=1, value=3)[0]

    assert {vote(hog, seat) for seat in seats} == {200}

    for how in ({}, {"link": made["link"]}):
        status, seat = student.room(code, do="join", **how)
        assert status == 200
        assert student.open_stream(code, seat["seat"]) == 200
        assert vote(student, seat["seat"]) == 200
    status, _ = hog.room(code, do="join", link=made["link"])
    assert status == 200, "who is in the room beside the hog comes in by the screen's link"
    counts = speaker.room(code, made["key"], do="counts")[1]
    assert sum(int(line.split(",")[-2]) for line in counts.splitlines()[1:]) == len(seats) + 2
    assert speaker.room(code, made["key"], do="end")[0] == 200


def test_one_network_opens_five_rooms_at_once_and_its_rooms_slow_no_other_s_press(address):
    speaker, hog = Browser(address, STRANGER), Browser(address, HOG)
    _, made = speaker.room("", do="make")
    rooms = [room for status, room in (hog.room("", do="make") for _ in range(60)) if status == 200]
    assert 5 <= len(rooms) <= 6
    words, may_end, n_moves = "+".join(f"w{n}" for n in range(64)), threading.Event(), itertools.count()

    def lead(room):
        browser = Browser(address, HOG)
        question = {"kind": "share", "cell": "attention[0,5,3]"}
        while not may_end.is_set():
            at = f"sentence={words}&d_model=128&heads=8&seed={next(n_moves)}&step=softmax"
            assert browser.room(room["code"], room["key"], do="move", at=at, question=question)[0] == 200

    def press(n):
        begun, before = time.monotonic(), next(n_moves)
        at = f"model=who-is-it&step={('scores', 'softmax')[n % 2]}"
        assert speaker.room(made["code"], made["key"], do="move", at=at)[0] == 200
        return time.monotonic() - begun, next(n_moves) - before

    with ThreadPoolExecutor(len(rooms)) as threads:
        working = [threads.submit(lead, room) for room in rooms]
        try:
            while next(n_moves) < 30:
                time.sleep(0.01)
            seconds, n_between = zip(*(press(n) for n in range(20)), strict=True)
        finally:
            may_end.set()
        for each in working:
            each.result()
    assert sorted(n_between)[10] <= 4, "a press waits for the move that is underway, not for one of each room"
    assert sorted(seconds)[10] < 1
    for room in (made, *rooms):
        speaker.room(room["code"], room["key"], do="end")


def test_who_guesses_codes_has_nine_a_second_and_locks_nobody_out(address):
    speaker, beside, elsewhere = (Browser(address, each) for each in (STRANGER, GUESSER, OTHER))
    _, made = speaker.room("", do="make")
    may_end, statuses, draw = threading.Event(), [], random.Random(1)

    def guess():
        browser = Browser(address, GUESSER)
        while not may_end.is_set():
            statuses.append(browser.room("".join(draw.choices(LETTERS, k=6)), do="join")[0])

    with ThreadPoolExecutor(20) as threads:
        begun = time.monotonic()
        working = [threads.submit(guess) for _ in range(20)]
        try:
            while len(statuses) < 50:
                time.sleep(0.01)
            waited = time.monotonic()
            assert beside.room(made["code"], do="join")[0] == 200
            waited = time.monotonic() - waited
            assert beside.room(made["code"], do="join", link=made["link"])[0] == 200
            far = time.monotonic()
            assert elsewhere.room(made["code"], do="join")[0] == 200
            far = time.monotonic() - far
        finally:
            may_end.set()
        for each in working:
            each.result()
        seconds = time.monotonic() - begun
    assert statuses.count(404) <= 30 + 9 * seconds + 1
    assert waited <= 10, "the right code is read in its turn"
    assert far < waited, "and at once from another network"
    assert speaker.room(made["code"], made["key"], do="end")[0] == 200
