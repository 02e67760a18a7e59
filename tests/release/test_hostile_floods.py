"""A file that is sent again and again. Visitors have networks of their own, as nginx names them by X-Forwarded-For."""

import asyncio
import contextlib
import http.client
import io
import json
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from asgi import in_loop
from page import ROOT
from patience import PATIENCE_SECONDS
from server import free_port, running
from visitor import Visitor

from attnviz.checks.uploads import QUESTIONS

HOG, STRANGER = "192.0.2.7", "198.51.100.7"


@pytest.fixture(scope="module")
def address():
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with running([sys.executable, "-m", "attnviz", "--port", str(port)], address, cwd=ROOT):
        yield address


def costly_file():
    draw = np.random.default_rng(1)
    shapes = {"x": (16, 32), "w_o": (32, 32), "attention": (8, 16, 16), "output": (16, 32)}
    shapes |= dict.fromkeys(("w_q", "w_k", "w_v"), (8, 32, 4))
    file = io.BytesIO()
    np.savez(file, **{name: draw.normal(size=shape).astype(np.float32) for name, shape in shapes.items()})
    return file.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("network", [STRANGER, HOG])
@in_loop
async def test_a_file_that_eight_tabs_send_again_and_again_keeps_a_stranger_waiting_for_one(address, network):
    file, statuses, may_end = costly_file(), [], threading.Event()
    answers = {each: next(iter(options)) for each, (_, options) in QUESTIONS.items()}

    def send(visitor, network):
        line = {"tab": visitor.answer["tab"], "filename": "own.npz", "example": ""} | answers
        host = address.removeprefix("http://")
        with contextlib.closing(http.client.HTTPConnection(host, timeout=PATIENCE_SECONDS)) as connection:
            connection.request(
                "POST", "/arrays", json.dumps(line).encode() + b"\n" + file, {"X-Forwarded-For": network}
            )
            return connection.getresponse().status

    def hog(visitor):
        while not may_end.is_set():
            statuses.append(send(visitor, HOG))

    hogs = [Visitor(f"{address}/walkthrough", **{"X-Forwarded-For": HOG}) for _ in range(8)]
    stranger = Visitor(f"{address}/walkthrough", **{"X-Forwarded-For": network})
    async with contextlib.AsyncExitStack() as tabs:
        for each in (*hogs, stranger):
            await tabs.enter_async_context(each)
        with ThreadPoolExecutor(9) as threads:
            try:
                working = [threads.submit(hog, each) for each in hogs]
                while len(statuses) < 9:
                    await asyncio.sleep(0.01)
                n_before, begun = len(statuses), time.monotonic()
                assert await asyncio.to_thread(send, stranger, network) == 200
                n_before, seconds = len(statuses) - n_before, time.monotonic() - begun
            finally:
                may_end.set()
            await asyncio.to_thread(lambda: [each.result() for each in working])
    assert n_before <= 3, "the one that was underway, and one or two that ended as the file came"
    assert seconds <= 10
    assert set(statuses) == {200}, "who hogs waits, and is not refused"
