"""What every request passes through, each guard alone: no server is started."""

import asyncio
import io
import logging
import os
import pickle
import re
import socket
import zipfile
from asyncio import selector_events
from urllib.parse import quote

import pytest
import uvicorn
from asgi import ask, drive, run
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from uvicorn.protocols.http import h11_impl
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from attnviz.core.settings import MAX_CHARACTERS
from attnviz.server import addresses, chunks, cleanup, guards, timeout
from attnviz.server.doors import is_open
from attnviz.server.headers import Headers, policy, set_policy
from attnviz.server.hosts import LOCAL, answers_to, same_origin
from attnviz.server.log import MINUTE, Throttle, quieten
from attnviz.server.messages import LARGEST, Messages, judged
from attnviz.server.pace import BURST, PATIENCE, RATE, Bucket, Pace
from attnviz.server.runs import Runs
from attnviz.server.seats import MOST, Seats, seats

MARKER = "mangosteen"


APP = Starlette(routes=[*guards.routes(), Mount("/", app=PlainTextResponse("a page"))], middleware=guards.middleware())


@pytest.mark.parametrize(
    "path",
    [
        "/_stcore/metrics",
        "/_stcore/upload_file/0/0",
        "/_stcore/agent/openapi.json",
        "/_stcore/agent/mcp",
        "/_stcore/bidi-components/viewer/index.js",
        "/_stcore/script-health-check",
        "/component/viewer/index.html",
        "/auth/login",
        "/course/_stcore/metrics",
    ],
)
def test_doors_that_no_page_needs_are_shut(path):
    answer = ask(APP, path)
    assert (answer.status, "attnviz takes no files" in answer.text) == (404, True)


@pytest.mark.parametrize(
    "path", ["/", "/audit", "/static/a.js", "/media/1.npz", "/_stcore/health", "/c/_stcore/health"]
)
def test_doors_that_pages_need_are_open(path):
    assert is_open(path)
    assert ask(APP, path).text == "a page"


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_can_be_sent_but_through_a_page(method):
    assert ask(APP, "/_stcore/upload_file/0/0", method).status == 405


def zip_bomb():
    """A megabyte of zeros in a kilobyte."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("words.txt", bytes(1_000_000))
    return file.getvalue()


@pytest.mark.parametrize("method", ["PUT", "POST"])
@pytest.mark.parametrize("body", [zip_bomb(), pickle.dumps(print)], ids=["zip bomb", "pickle"])
def test_zip_bombs_and_pickles_are_refused_unread_and_never_stored(method, body):
    reached, read = [], []

    async def app(scope, receive, send):
        reached.append(scope["path"])

    assert ask(all_guards(app), "/_stcore/upload_file/0/0", method, body=body, read=read).status == 405
    assert (reached, read) == ([], [])


def test_every_answer_has_the_headers():
    for path in ("/", "/healthz", "/_stcore/metrics"):
        headers = ask(APP, path).headers
        assert headers["content-security-policy"] == policy("'self'")
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "same-origin")
    assert ask(APP, "/", host="evil.example").headers["x-content-type-options"] == "nosniff"


def test_no_script_runs_but_streamlits_own_and_components():
    scripts = re.search(r"script-src ([^;]*)", policy("'self'"))[1].split()
    assert scripts[:2] == ["'self'", "blob:"]
    assert scripts[2:]
    assert all(each.startswith("'sha256-") for each in scripts[2:])


def test_a_course_page_may_embed_the_app(monkeypatch):
    monkeypatch.setenv("ATTNVIZ_FRAME_ANCESTORS", "'self' https://course.example.edu")
    headers = ask(Headers(PlainTextResponse("a page"), set_policy()), "/").headers
    assert headers["content-security-policy"].endswith("frame-ancestors 'self' https://course.example.edu")


@pytest.mark.parametrize("text", ["", " ", "'self'; script-src *", "'self', *", "'self'\r\nX: y"])
def test_a_setting_cannot_undo_the_policy_and_no_server_starts_with_it(text, monkeypatch):
    monkeypatch.setitem(os.environ, "ATTNVIZ_FRAME_ANCESTORS", text)
    with pytest.raises(SystemExit, match=r"takes origins"):
        guards.middleware()


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST:8501",
        "127.0.0.1:8501",
        "192.168.1.20",
        "[::1]:8501",
        "ours.streamlit.app",
        "a.localhost.",
    ],
)
def test_names_that_nobody_else_can_lead_here_are_answered(host):
    assert answers_to(host, [])


@pytest.mark.parametrize(
    "host",
    ["", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "streamlit.app.evil", "[::1", "a@b"],
)
def test_other_names_are_not(host):
    assert not answers_to(host, [])
    answer = ask(APP, "/", host=host)
    assert (answer.status, "server.allowedHosts" in answer.text) == (421, True)


def test_a_list_of_names_is_the_whole_list():
    names = ["attn.example.edu", "*.class.example"]
    assert [answers_to(each, names) for each in ("attn.example.edu:80", "a.class.example", *LOCAL[:1], "10.0.0.1")] == [
        True,
        True,
        False,
        False,
    ]
    assert answers_to("any.example", ["*"])


def test_a_probe_is_answered_under_any_name():
    assert ask(APP, "/healthz", host="pod.example").text == "ok"


def test_a_websocket_is_opened_by_our_pages_or_by_none():
    assert same_origin(None, "localhost:8501", [])
    assert same_origin("http://localhost:8501", "localhost:8501", [])
    assert same_origin("https://course.example", "localhost:8501", ["https://course.example"])
    assert not same_origin("http://localhost:3000", "localhost:8501", [])
    assert not same_origin("null", "localhost:8501", [])


@given(st.lists(st.floats(0, 3), max_size=300))
def test_no_window_of_time_holds_more_messages_than_the_pace(pauses):
    bucket, now, times = Bucket(5, 2.0), 0.0, []
    for pause in pauses:
        now += pause
        now += bucket.wait(now)
        bucket.take(now)
        times.append(now)
    for first, start in enumerate(times):
        for count, end in enumerate(times[first:], start=1):
            assert count <= 5 + 2.0 * (end - start) + 1e-6


@given(st.integers(1, 200))
def test_who_keeps_the_pace_never_waits(count):
    bucket = Bucket(BURST, RATE)
    for number in range(count):
        now = max(0, number - BURST + 1) / RATE
        assert bucket.wait(now) == pytest.approx(0, abs=1e-9)
        bucket.take(now)


def said(**message):
    return BackMsg(**message).SerializeToString()


def received(*datas):
    return [{"type": "websocket.receive", "bytes": data} for data in datas]


def rerun(**state):
    message = BackMsg()
    message.rerun_script.SetInParent()
    for name, value in state.items():
        setattr(message.rerun_script, name, value)
    return message.SerializeToString()


def operation(kind, **identities):
    message = BackMsg()
    getattr(message.backend_operation_request, kind).SetInParent()
    for name, value in identities.items():
        setattr(message.backend_operation_request, name, value)
    return message.SerializeToString()


HEARD = [
    rerun(query_string="sentence=a+b", page_script_hash="0" * 32),
    said(stop_script=True),
    said(app_heartbeat=True),
    operation("deferred_file", request_id="5f0c-ab", session_id="00-11"),
    operation("dataframe_chunk"),
]
IGNORED = [
    b"",
    said(clear_cache=True),
    said(set_run_on_save=True),
    said(load_git_info=True),
    said(debug_disconnect_websocket=True),
    said(debug_shutdown_runtime=True),
    operation("install_skills"),
    operation("dismiss_skills_nudge"),
    operation("deferred_file", request_id=MARKER),
    rerun(page_script_hash=MARKER),
    rerun(fragment_id=f"0\n{MARKER}"),
]
REFUSED = [b"\xff", HEARD[0][:-1], rerun(query_string="a" * LARGEST)]


def test_what_pages_send_is_heard_and_nothing_else():
    assert {judged(each) for each in HEARD} == {"heard"}
    assert {judged(each) for each in IGNORED} == {"ignored"}
    assert {judged(each) for each in REFUSED} == {"refused"}
    assert drive(Messages, received(*IGNORED[1:], *HEARD)) == (HEARD, [])


def test_every_kind_of_message_is_judged():
    kinds = {field.name for field in BackMsg.DESCRIPTOR.oneofs_by_name["type"].fields}
    seen = {BackMsg.FromString(each).WhichOneof("type") for each in HEARD + IGNORED}
    assert kinds - {"file_urls_request"} == seen - {None}
    assert judged(BackMsg(file_urls_request={}).SerializeToString()) == "ignored"


@pytest.mark.parametrize("message", [*received(*REFUSED), {"type": "websocket.receive", "text": "a text"}])
def test_who_sends_what_no_page_sends_is_hung_up_on(message):
    taken, sent = drive(Messages, [message, *received(*HEARD)])
    assert (taken, sent) == ([], [{"type": "websocket.close", "code": 1008}])


@given(st.binary(max_size=400))
def test_any_bytes_are_judged(data):
    assert judged(data) in ("heard", "ignored", "refused")


def test_who_does_not_read_is_not_heard():
    """While an answer can't be sent, no further message is taken."""

    async def story():
        reading, taken = asyncio.Event(), []

        async def app(scope, receive, send):
            writing = asyncio.create_task(send({"type": "websocket.send", "bytes": b"a document"}))
            await asyncio.sleep(0)
            taken.append(await receive())
            await writing

        async def receive():
            assert reading.is_set(), "a message was taken while an answer was unread"
            return received(HEARD[0])[0]

        async def send(message):
            await reading.wait()

        task = asyncio.create_task(Pace(app)({"type": "websocket"}, receive, send))
        for _ in range(20):
            await asyncio.sleep(0)
        reading.set()
        await task
        return taken

    assert len(run(story())) == 1


def run_of(*sent_back):
    """What `Runs` hands on of two asked runs, where so much is sent back after the first."""

    async def story():
        taken = []

        async def app(scope, receive, send):
            taken.append(await receive())
            second = asyncio.create_task(receive())
            for _ in range(10):
                await asyncio.sleep(0)
            for message in sent_back:
                await send({"type": "websocket.send", "bytes": message.SerializeToString()})
            for _ in range(10):
                await asyncio.sleep(0)
            taken.append(second.done())
            second.cancel()

        async def receive():
            return received(HEARD[0])[0]

        async def send(message):
            pass

        await Runs(app)({"type": "websocket"}, receive, send)
        return taken[1]

    return run(story())


def test_a_run_begins_when_the_one_before_has_ended(monkeypatch):
    large = ForwardMsg(delta={"new_element": {"text": {"body": "a" * 1_000}}})
    ended = ForwardMsg(script_finished=ForwardMsg.FINISHED_SUCCESSFULLY, hash="0" * 64)
    assert len(ended.SerializeToString()) < 100
    monkeypatch.setattr("attnviz.server.runs.PATIENCE", 60)  # however busy the machine is
    assert not run_of()
    assert not run_of(large)
    assert run_of(large, ended)
    monkeypatch.setattr("attnviz.server.runs.PATIENCE", 0)
    assert run_of()


@pytest.mark.parametrize(("n_ended", "kept"), [(1, ["a"]), (2, [])])
def test_what_two_quick_runs_may_have_made_a_browser_forget_is_sent_again(n_ended, kept):
    ended = {"type": "websocket.send", "bytes": ForwardMsg(script_finished=0, hash="0").SerializeToString()}
    asked = BackMsg(rerun_script={"query_string": "seed=1", "cached_message_hashes": ["a"]})
    heard = []

    async def app(scope, receive, send):
        for _ in range(n_ended):
            await send(ended)
        heard.append(BackMsg.FromString((await receive())["bytes"]).rerun_script)

    async def receive():
        return {"type": "websocket.receive", "bytes": asked.SerializeToString()}

    async def send(message):
        pass

    run(Runs(app)({"type": "websocket"}, receive, send))
    assert (heard[0].query_string, list(heard[0].cached_message_hashes)) == ("seed=1", kept)


def test_who_goes_on_is_hung_up_on(monkeypatch):
    """A flood takes as long as the pace says, then ends."""
    now = [0.0]

    async def sleep(seconds):
        now[0] += seconds

    monkeypatch.setattr("attnviz.server.pace.time.monotonic", lambda: now[0])
    monkeypatch.setattr("attnviz.server.pace.asyncio.sleep", sleep)
    taken, sent = drive(Pace, received(*HEARD[1:2] * 1_000))
    assert (len(taken), now[0]) == (BURST + PATIENCE, pytest.approx(PATIENCE / RATE))
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_a_rest_makes_good_for_what_was_early(monkeypatch):
    now, n_each = [0.0], BURST + PATIENCE // 2

    async def sleep(seconds):
        now[0] += seconds

    def resting(app):
        async def guard(scope, receive, send):
            async def after_a_rest():
                message = await receive()
                now[0] += 2 * BURST / RATE if message.get("bytes") == HEARD[2] else 0
                return message

            await Pace(app)(scope, after_a_rest, send)

        return guard

    monkeypatch.setattr("attnviz.server.pace.time.monotonic", lambda: now[0])
    monkeypatch.setattr("attnviz.server.pace.asyncio.sleep", sleep)
    flood = received(*([HEARD[1]] * n_each + [HEARD[2]]) * 10)
    assert drive(resting, flood)[1] == []


def all_guards(app):
    for each in reversed(guards.middleware()):
        app = each.cls(app, *each.args)
    return app


def test_a_websocket_passes_all_guards():
    messages = received(*IGNORED[1:], *HEARD[1:])
    assert drive(all_guards, messages[:]) == (HEARD[1:], [])
    refused = ([], [{"type": "websocket.close", "code": 1008, "reason": ""}])
    assert drive(all_guards, messages[:], origin="http://localhost:1") == refused
    assert drive(all_guards, messages[:], host="evil.example", origin="http://evil.example") == refused


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
    assert re.fullmatch(r"Error: ValueError at test_guards\.py:\d+", lines[2])
    assert lines[3:] == ["ValueError", ""]


def test_there_are_no_more_tabs_than_files_for_them(monkeypatch):
    resource = pytest.importorskip("resource")
    for files, expected in ((140, 10), (1_024, 231), (1_048_576, MOST), (50, 1)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, files=files: (files, files))
        assert seats() == expected


def test_a_seat_is_free_again_when_its_tab_is_closed(monkeypatch):
    monkeypatch.setattr("attnviz.server.seats.seats", lambda: 1)

    async def story():
        open_tabs = asyncio.Event()

        async def app(scope, receive, send):
            await open_tabs.wait()

        refused, guard = [], Seats(app)

        async def send(message):
            refused.append(message)

        scope = {"type": "websocket", "extensions": {"websocket.http.response": {}}}
        first = asyncio.create_task(guard(scope, None, send))
        await asyncio.sleep(0)
        await guard(scope, None, send)
        assert refused[0]["status"] == 503
        open_tabs.set()
        await first
        return guard.free

    assert run(story()) == 1


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
        server = await asyncio.get_running_loop().create_server(
            lambda: H11Protocol(config, ServerState(), {}), "127.0.0.1", 0
        )
        async with server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.write(asked)
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


def test_a_long_answer_is_waited_for(checks):
    async def slow(scope, receive, send):
        while len(checks) < 3:
            await asyncio.sleep(0)
        await PlainTextResponse("a page")(scope, receive, send)

    assert b"a page" in said_by_uvicorn(slow, REQUEST)
