"""What a visitor's connection passes through, each guard alone: no server is started."""

import asyncio
import sys

import pytest
from asgi import MARKER, all_guards, drive, run
from hypothesis import given
from hypothesis import strategies as st
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from attnviz.server.descriptors import allow_enough
from attnviz.server.messages import LARGEST, Messages, judged
from attnviz.server.pace import BURST, PATIENCE, RATE, Bucket, Pace
from attnviz.server.runs import Runs
from attnviz.server.seats import MOST, Seats, seats


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


def test_a_websocket_passes_all_guards():
    messages = received(*IGNORED[1:], *HEARD[1:])
    assert drive(all_guards, messages[:]) == (HEARD[1:], [])
    refused = ([], [{"type": "websocket.close", "code": 1008, "reason": ""}])
    assert drive(all_guards, messages[:], origin="http://localhost:1") == refused
    assert drive(all_guards, messages[:], host="evil.example", origin="http://evil.example") == refused


def test_there_are_no_more_tabs_than_files_for_them(monkeypatch):
    resource = pytest.importorskip("resource")
    for files, expected in ((150, 10), (1_024, 184), (1_048_576, MOST), (50, 1)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, files=files: (files, files))
        assert seats() == expected


def test_the_limit_of_files_is_raised_as_far_as_macos_takes_and_never_lowered(monkeypatch):
    resource = pytest.importorskip("resource")
    raised = []
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: raised.append(limits))
    for limits in ((256, sys.maxsize), (1_024, 4_100), (16_384, 16_384)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, limits=limits: limits)
        allow_enough()
    assert raised == [(10_240, sys.maxsize), (4_100, 4_100), (16_384, 16_384)]


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
