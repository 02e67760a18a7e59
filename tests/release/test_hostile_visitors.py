"""A server among hostile visitors: it keeps answering, pages and log stay as they are, and nobody waits long."""

import asyncio
import contextlib
import http.client
import io
import json
import os
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import websockets
from asgi import MARKER, in_loop, run
from page import ROOT
from patience import PATIENCE_SECONDS
from server import free_port, running
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from visitor import Visitor

from attnviz.checks.uploads import QUESTIONS
from attnviz.scene.actions.session import ACTION_NAMES

pytest.importorskip("resource")  # /proc tells which files a server has open

pytestmark = pytest.mark.slow

FILES_OF_A_TAB = 5  # three of its session, its websocket, and a connection for actions
OPTIONS = ["--server.address", "127.0.0.1", "--server.headless", "true", "--server.disconnectedSessionTTL", "1"]


class Server:
    def __init__(self, process, port, log):
        self.process, self.host, self._log = process, f"127.0.0.1:{port}", log

    def log(self):
        return self._log.read_text("utf-8", "replace")

    def files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def visitor(self, query=""):
        return Visitor(f"http://{self.host}/walkthrough?{query}")

    def send(self, text):
        with socket.create_connection(self.host.split(":")) as half:
            half.sendall(text.encode())

    def fetch(self, path, **options):
        with urllib.request.urlopen(
            urllib.request.Request(f"http://{self.host}{path}", **options), timeout=PATIENCE_SECONDS
        ) as answer:
            return answer.read().decode()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    log, port = tmp_path_factory.mktemp("server") / "log", free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port), *OPTIONS]

    with log.open("wb") as out:
        quiet = {"cwd": ROOT, "stdout": out, "stderr": out}
        with running(command, f"http://127.0.0.1:{port}", **quiet) as process:
            yield Server(process, port, log)


@pytest.fixture(scope="module")
def before(server):
    return run(page_of(server))


@pytest.fixture
def bystander(server, before):
    """Another person's page, which is to stay as it is; the log is to have nothing of what was typed."""
    yield
    assert run(page_of(server)) == before
    assert MARKER not in server.log()
    assert "Traceback" not in server.log()
    assert server.process.poll() is None


async def page_of(server):
    async with server.visitor("step=softmax&sentence=one+two+three") as visitor:
        await visitor.act("mask", "causal")
        assert "mask=causal" in visitor.query
        return visitor.answer | {"tab": "another each time"}, visitor.texts()


def comes_to(read, expected):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (found := read()) != expected and time.monotonic() < deadline:
        time.sleep(0.1)
    assert found == expected


def rerun(query="", widgets=(), **state):
    message = BackMsg()
    message.rerun_script.query_string = query
    message.rerun_script.widget_states.widgets.extend(widgets)
    for name, value in state.items():
        setattr(message.rerun_script, name, value)
    return message.SerializeToString()


def test_health_check_starts_no_session(server):
    run(page_of(server))
    comes_to(lambda: server.fetch("/healthz"), "ok")
    before = server.files()
    for _ in range(40):
        assert server.fetch("/healthz") == "ok"
    assert server.files() < before + 40, "a session holds three; a sweep and this connection a few, for a moment"


def wrong_states(visitor):
    """The states of each widget with a value of every type, and of one that is not there."""
    widgets = visitor.widgets()
    names = [*(each.id for each in widgets.values()), *(f"$$ID-0-{key}" for key in widgets), MARKER]
    values = [
        {"string_value": MARKER},
        {"double_value": float("nan")},
        {"int_value": -(2**63)},
        {"bool_value": True},
        {"trigger_value": True},
        {"bytes_value": b"\xff" * 100},
        {"json_value": "[" * 2_000},
        {"json_trigger_value": json.dumps([{"event": MARKER, "value": MARKER}])},
        {"json_trigger_value": "{"},
    ]
    for value in values:
        yield [WidgetState(id=name, **value) for name in names]
    arrays = [WidgetState(id=name) for name in names]
    for state in arrays:
        state.double_array_value.data.extend([float("inf"), float("nan"), -1e308])
    yield arrays


def test_wrong_widget_states_harm_nobody(server, bystander):
    async def send():
        async with server.visitor() as visitor:
            for states in wrong_states(visitor):
                await visitor.raw(rerun(widgets=states))
                await visitor.finished()

    run(send())


def test_unknown_option_is_ignored(server, bystander):
    async def pick():
        async with Visitor(f"http://{server.host}/by_hand") as visitor:
            widgets = sorted(visitor.widgets().items())
            boxes = [key for key, each in widgets if type(each).__name__ in ("Selectbox", "Radio")]
            assert boxes
            for key in boxes:
                await visitor.set(key, MARKER)
                assert visitor.exceptions() == []
                assert MARKER not in visitor.query

    run(pick())


HEAD = f"POST /actions HTTP/1.1\r\nX: {MARKER}\r\nHost: "


def test_partial_or_foreign_actions_harm_nobody(server, bystander):
    for ending in ("Content-Length: 9\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\nzz", "Content-Length: -1\r\n\r\n"):
        server.send(f"{HEAD}{server.host}\r\n{ending}")
    for origin, status in (({"Origin": "http://evil.example"}, "403"), ({}, "400|404")):
        with pytest.raises(urllib.error.HTTPError, match=status):
            server.fetch("/actions", method="POST", data=json.dumps({"tab": MARKER}).encode(), headers=origin)


def test_wrong_actions_harm_nobody(server, bystander):
    async def do():
        async with server.visitor("sentence=a+b") as visitor:
            before = visitor.query
            for name in (*ACTION_NAMES, MARKER):
                if name not in ("sentence", "context", "seed", "another_seed", "pin"):
                    await visitor.act(name, {"cell": MARKER, "value": [MARKER] * 99})
            assert visitor.query == before
            assert visitor.notices == []

    run(do())


@pytest.mark.parametrize(
    "messages",
    [
        [b"", b"\n\x00"],
        [b"\xff" * 100],
        [rerun(f"sentence={MARKER}")[:-3]],
        [MARKER],
        [rerun(f"sentence={MARKER}" + "&a=" * 60_000)],
        [rerun("x" * 19_000_000)],
        [rerun(page_script_hash=MARKER), rerun(page_script_hash="0" * 32, page_name=MARKER)],
        [rerun(fragment_id=MARKER), rerun(fragment_id="0" * 32)],
        [rerun(f"step={MARKER}&head=-1&cell={MARKER}.0.0&seed=1e400&sentence=%ff%00{MARKER}")],
        [BackMsg(**{kind: True}).SerializeToString() for kind in ("clear_cache", "debug_shutdown_runtime")] * 20,
        [BackMsg(load_git_info=True).SerializeToString()] * 2_000,
        [rerun(f"sentence={MARKER}")] * 60,
    ],
    ids=["empty", "random", "cut", "text", "fields", "large", "page", "fragment", "address", "doors", "git", "reruns"],
)
def test_wrong_messages_harm_nobody(server, bystander, messages):
    async def send():
        visitor = server.visitor()
        await visitor.connect()
        try:
            for message in messages:
                await visitor.raw(message)
            await asyncio.sleep(0.1)
        except websockets.ConnectionClosed:
            pass  # the bystander tells whether that was all
        visitor.socket.transport.abort()

    run(send())


def test_partial_handshake_harms_nobody(server, bystander):
    request = (
        f"GET /_stcore/stream?{MARKER} HTTP/1.1\r\nHost: {server.host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    )
    for ending in ("", f"Sec-WebSocket-Key: {MARKER}\r\n\r\n", "Sec-WebSocket-Version: 99\r\n\r\n", "\x00\r\n\r\n"):
        server.send(request + ending)


def test_closed_tab_frees_its_files(server):
    async def visit():
        visitors = [server.visitor() for _ in range(8)]
        for each in visitors:
            await each.__aenter__()
        for each in visitors:
            await each.act("another_seed", True)
        assert server.files() - before <= 8 * FILES_OF_A_TAB + 2
        for each in visitors:
            await each.close()

    run(page_of(server))  # what a first visit opens for good
    comes_to(lambda: server.files() < 25, True)
    before = server.files()
    run(visit())
    comes_to(lambda: server.files() <= before, True)


def test_log_lines_are_short(server):
    lines = server.log().splitlines()
    assert lines
    assert all(len(line) < 500 for line in lines), lines


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
async def test_eight_hogging_tabs_delay_a_stranger_by_one_file(address, network):
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
