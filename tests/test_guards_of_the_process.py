"""What guards the process itself: its log, its files, and what never reaches an app."""

import asyncio
import logging
import os
import re
import socket
from asyncio import selector_events
from functools import partial
from urllib.parse import quote

import pytest
import uvicorn
from asgi import MARKER, run
from starlette.responses import PlainTextResponse
from uvicorn.protocols.http import h11_impl
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from attnviz.core.settings import MAX_CHARACTERS
from attnviz.server import addresses, chunks, cleanup, guards, timeout
from attnviz.server.log import MINUTE, Throttle, quieten


def written(filter_, message, *arguments, line=1, level=logging.WARNING, error=None):
    info = (type(error), error, error.__traceback__) if error else None
    record = logging.LogRecord("streamlit", level, "server.py", line, message, arguments, info)
    return logging.Formatter().format(record) if filter_.filter(record) else ""


def test_a_thing_is_said_once_a_minute_with_its_count():
    now = [0.0]
    throttle = Throttle(lambda: now[0])
    assert written(throttle, "out of files") == "out of files"
    assert [written(throttle, "out of files") for _ in range(2_047)] == [""] * 2_047
    assert written(throttle, "another thing", line=2) == "another thing"
    now[0] = MINUTE
    assert written(throttle, "out of files") == "out of files (2,047 more before)"
    assert len(throttle.last) == 2


def test_what_a_visitor_sent_is_in_no_line():
    throttle = Throttle()
    try:
        raise ValueError(MARKER)
    except ValueError as error:
        lines = [
            written(throttle, "no fragment %s, %.3f", MARKER, 1.0, line=1),
            written(throttle, f"never retrieved\nfuture: {MARKER}", line=2),
            written(throttle, "Error", line=3, error=error),
            written(throttle, error, line=4),
            written(throttle, MARKER, line=5, level=logging.INFO),
        ]
    assert lines[:2] == ["no fragment …, …", "never retrieved"]
    assert re.fullmatch(r"Error: ValueError at test_guards_of_the_process\.py:\d+", lines[2])
    assert lines[3:] == ["ValueError", ""]


def test_sweeps_go_on_after_one_that_found_no_free_file(monkeypatch):
    async def story():
        swept = asyncio.Event()
        found = iter([OSError("too many open files"), None])

        def sweep(runtime):
            error = next(found)
            if error:
                raise error
            swept.set()

        monkeypatch.setattr(cleanup, "sweep", sweep)
        monkeypatch.setattr(cleanup, "get_instance", lambda: None)
        monkeypatch.setattr(cleanup.config, "get_option", lambda _: 0.02)
        async with cleanup.swept():
            await asyncio.wait_for(swept.wait(), 20)

    run(story())


def test_little_is_read_from_one_connection_at_once(monkeypatch):
    monkeypatch.setattr(asyncio.selector_events._SelectorTransport, "max_size", 256 * 1024)
    chunks.bound()
    sizes = []

    class Reader(asyncio.Protocol):
        def data_received(self, data):
            sizes.append(len(data))

    async def story():
        ours, theirs = socket.socketpair()
        transport, _ = await asyncio.get_running_loop().connect_accepted_socket(Reader, ours)
        theirs.sendall(b"0" * 20_000)
        while sum(sizes) < 20_000:
            await asyncio.sleep(0)
        transport.close()
        theirs.close()

    run(story())
    assert max(sizes) == chunks.BYTES


@pytest.fixture
def end(monkeypatch, capfd):
    """Begin to serve; returns what is said where the process ends."""

    def ended(code):
        raise SystemExit(code)

    async def story():
        async with guards.lifespan(None):
            pass

    def begin():
        with pytest.raises(SystemExit, match=r"^1$"):
            run(story())
        return capfd.readouterr().err

    monkeypatch.setattr(os, "_exit", ended)
    return begin


def test_with_a_name_that_is_gone_no_server_starts(end, monkeypatch):
    monkeypatch.setattr(selector_events, "_SelectorTransport", type("Another", (), {}))
    assert re.fullmatch(r"attnviz doesn't start without its guards: Another has no max_size\. .*\n", end())
    monkeypatch.delattr(selector_events, "_SelectorTransport")
    assert re.fullmatch(r"attnviz doesn't start .* has no attribute '_SelectorTransport'\. .*\n", end())


@pytest.mark.parametrize("name", ["uvloop", "httptools"])
def test_beside_what_takes_the_guards_place_no_server_starts(name, end, monkeypatch, tmp_path):
    (tmp_path / f"{name}.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert f"(pip uninstall {name})" in end()


def test_all_that_serves_is_quiet(monkeypatch):
    """Every logger of what serves the app is quiet once it is served."""
    for name in ("asyncio", "uvicorn.error", "streamlit.web.server.starlette.starlette_websocket"):
        monkeypatch.setattr(logging.getLogger(name), "filters", [])
    quieten()
    for name in ("asyncio", "uvicorn.error", "streamlit.web.server.starlette.starlette_websocket"):
        assert [type(each) for each in logging.getLogger(name).filters] == [Throttle]


def said_by_uvicorn(app, asked):
    """What uvicorn answers to some bytes before it hangs up, where nothing else makes it."""
    config = uvicorn.Config(app, log_config=None, timeout_keep_alive=1_000)
    config.load()

    async def story():
        listening = socket.create_server(("127.0.0.1", 0))
        ours = socket.create_connection(listening.getsockname())
        ours.sendall(asked)  # before any check, however long this takes
        protocol = partial(H11Protocol, config, ServerState(), {})
        async with await asyncio.get_running_loop().create_server(protocol, sock=listening):
            reader, writer = await asyncio.open_connection(sock=ours)
            answer = await reader.read()
            writer.close()
        return answer

    return run(story())


def test_the_longest_address_is_read_though_it_comes_in_chunks(monkeypatch):
    monkeypatch.setattr(asyncio.selector_events._SelectorTransport, "max_size", chunks.BYTES)
    monkeypatch.setattr(h11_impl, "DEFAULT_MAX_INCOMPLETE_EVENT_SIZE", 16_384)
    addresses.bound()
    longest = quote("\U0001f9d1" * MAX_CHARACTERS)
    asked = f"GET /?sentence={longest}&context={longest} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    assert b"a page" in said_by_uvicorn(PlainTextResponse("a page"), asked.encode())


@pytest.fixture
def checks(monkeypatch):
    """Connections are checked quickly; how often they were."""
    check, times = timeout.check, []

    def counted(*arguments):
        times.append(arguments)
        check(*arguments)

    monkeypatch.setattr(H11Protocol, "connection_made", H11Protocol.connection_made)
    monkeypatch.setattr(timeout, "SECONDS", 0.02)
    monkeypatch.setattr(timeout, "check", counted)
    timeout.bound()
    return times


REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
BODILESS = REQUEST[:-2] + b"Content-Length: 5\r\n\r\n"


@pytest.mark.parametrize(
    "asked", [b"", REQUEST[:-2], REQUEST + b"GET /", BODILESS], ids=["none", "half", "next half", "no body"]
)
def test_half_a_request_is_not_waited_for(checks, asked):
    answer = said_by_uvicorn(PlainTextResponse("a page"), asked)
    assert (b"a page" in answer) == (REQUEST in asked or asked == BODILESS)


def test_a_body_that_never_comes_is_not_waited_for_by_who_reads_it(checks):
    async def reader(scope, receive, send):
        while (await receive()).get("more_body"):
            pass
        await PlainTextResponse("a page")(scope, receive, send)

    assert said_by_uvicorn(reader, BODILESS) == b""
    assert b"a page" in said_by_uvicorn(reader, BODILESS + b"hello")


def test_a_long_answer_is_waited_for(checks):
    async def slow(scope, receive, send):
        while len(checks) < 3:
            await asyncio.sleep(0)
        await PlainTextResponse("a page")(scope, receive, send)

    assert b"a page" in said_by_uvicorn(slow, REQUEST)
