"""What protects the process: its log, its limit of files, each tab's processor quota, and the messages it takes."""

import asyncio
import logging
import re
import sys
import time
from types import SimpleNamespace

import pytest
from asgi import MARKER, all_guards, drive, in_loop
from hypothesis import given
from hypothesis import strategies as st
from page import opened
from patience import PATIENCE_SECONDS
from streamlit.proto.BackMsg_pb2 import BackMsg

from attnviz.app import app_wiring, browser_tabs, middleware
from attnviz.app.app_wiring import Messages, allow_files, background
from attnviz.app.browser_tabs import FREE_SECONDS, MAX_WAIT_SECONDS, SECONDS_PER_SECOND, CpuQuota
from attnviz.app.log import DiscreetFilter, quiet_loggers
from attnviz.app.middleware import MAX_MESSAGE_BYTES, classify_message


def written(filter_, message, *arguments, level=logging.WARNING, error=None):
    info = (type(error), error, error.__traceback__) if error else None
    record = logging.LogRecord("streamlit", level, "server.py", 1, message, arguments, info)
    return logging.Formatter().format(record) if filter_.filter(record) else ""


def test_what_a_visitor_sent_is_in_no_line():
    discreet = DiscreetFilter()
    try:
        raise ValueError(MARKER)
    except ValueError as error:
        lines = [
            written(discreet, "no fragment %s, %.3f", MARKER, 1.0),
            written(discreet, f"never retrieved\nfuture: {MARKER}"),
            written(discreet, "Error", error=error),
            written(discreet, error),
            written(discreet, MARKER, level=logging.INFO),
        ]
    assert lines[:2] == ["no fragment …, …", "never retrieved"]
    assert re.fullmatch(r"Error: ValueError at test_process\.py:\d+", lines[2])
    assert lines[3:] == ["ValueError", ""]


def test_every_logger_of_what_serves_the_app_is_quiet(monkeypatch):
    names = ("asyncio", "uvicorn.error", "streamlit.web.server.starlette.starlette_websocket")
    for name in names:
        monkeypatch.setattr(logging.getLogger(name), "filters", [])
    quiet_loggers()
    for name in names:
        assert [type(each) for each in logging.getLogger(name).filters] == [DiscreetFilter]


@in_loop
async def test_sweeps_go_on_after_one_that_found_no_free_file(monkeypatch):
    swept, errors = asyncio.Event(), iter([OSError("too many open files"), None])

    def sweep():
        if error := next(errors):
            raise error
        swept.set()

    monkeypatch.setattr(app_wiring, "sweep", sweep)
    monkeypatch.setattr(app_wiring.st, "get_option", lambda _: 0.02)
    async with background(app_wiring.sweep_periodically()):
        await asyncio.wait_for(swept.wait(), PATIENCE_SECONDS)


def test_the_limit_of_files_is_raised_as_far_as_macos_takes_and_never_lowered(monkeypatch):
    resource = pytest.importorskip("resource")
    raised = []
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: raised.append(limits))
    for limits in ((256, sys.maxsize), (1_024, 4_100), (16_384, 16_384)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, limits=limits: limits)
        allow_files()
    assert raised == [(10_240, sys.maxsize), (4_100, 4_100), (16_384, 16_384)]


def used(cost, pause, seconds):
    """What runs use that follow each other at this pace, and how long each of them waits."""
    quota, now, spent, waits = CpuQuota(0.0, 0.0), 0.0, 0.0, []
    while now < seconds:
        waits.append(quota.wait(now))
        quota.spend(cost)
        spent += cost
        now += waits[-1] + cost + pause
    return spent, waits


@given(cost=st.floats(0.005, SECONDS_PER_SECOND * MAX_WAIT_SECONDS), pause=st.floats(0, 0.1))
def test_a_flood_of_runs_uses_no_more_than_its_quota_for_long(cost, pause):
    spent, waits = used(cost, pause, seconds=60)
    assert spent <= FREE_SECONDS + SECONDS_PER_SECOND * (60 + MAX_WAIT_SECONDS + cost) + cost + 1e-6
    assert max(waits) <= MAX_WAIT_SECONDS


PACES = [(0.02, 0.08, 120), (0.03, 0.1, 120), (0.2, 0.8, 120), (0.2, 0.0, 2)]
"""A slider, training played, the largest pass, and ten quick runs of it."""


@pytest.mark.parametrize("pace", PACES)
def test_a_person_waits_for_nothing(pace):
    assert max(used(*pace)[1]) == 0


def test_who_comes_back_after_a_while_waits_for_nothing():
    quota = CpuQuota(0.0, 0.0)
    quota.spend(1000)
    assert (quota.wait(0), quota.wait(60)) == (MAX_WAIT_SECONDS, 0)


def test_every_run_of_the_app_waits_for_its_quota_and_records_what_it_used(monkeypatch):
    slept, now = [], time.monotonic() + 1_000
    clock = SimpleNamespace(sleep=slept.append, monotonic=lambda: now, thread_time=time.thread_time)
    monkeypatch.setattr(browser_tabs, "time", clock)
    at = opened()
    assert slept == [0]
    quota = at.session_state["tab"].cpu_quota
    assert 0 < quota.used <= FREE_SECONDS + SECONDS_PER_SECOND * MAX_WAIT_SECONDS
    quota.spend(1000)
    at.run()
    assert 0 < slept[-1] <= MAX_WAIT_SECONDS


def message(part, **values):
    """A message to Streamlit with some values of a part of it."""
    made = BackMsg()
    inner = made
    for name in part.split("."):
        inner = getattr(inner, name)
    inner.SetInParent()
    for name, value in values.items():
        setattr(inner, name, value)
    return made.SerializeToString()


def rerun(**state):
    return message("rerun_script", **state)


def operation(kind, **identities):
    made = BackMsg.FromString(message(f"backend_operation_request.{kind}"))
    for name, value in identities.items():
        setattr(made.backend_operation_request, name, value)
    return made.SerializeToString()


FLAGS = ("clear_cache", "set_run_on_save", "load_git_info", "debug_disconnect_websocket", "debug_shutdown_runtime")
FORWARDED = [
    rerun(query_string="sentence=a+b", page_script_hash="0" * 32),
    *(BackMsg(**{name: True}).SerializeToString() for name in ("stop_script", "app_heartbeat")),
    operation("deferred_file", request_id="5f0c-ab", session_id="00-11"),
    operation("dataframe_chunk"),
]
IGNORED = [
    b"",
    *(BackMsg(**{name: True}).SerializeToString() for name in FLAGS),
    message("file_urls_request"),
    *(operation("install_skills"), operation("dismiss_skills_nudge"), operation("deferred_file", request_id=MARKER)),
    *(rerun(page_script_hash=MARKER), rerun(fragment_id=f"0\n{MARKER}")),
]
REFUSED = [b"\xff", FORWARDED[0][:-1], rerun(query_string="a" * MAX_MESSAGE_BYTES)]


def received(*datas):
    return [{"type": "websocket.receive", "bytes": data} for data in datas]


def test_messages_of_our_pages_are_forwarded_and_no_others():
    for fate, messages in (("forwarded", FORWARDED), ("ignored", IGNORED), ("refused", REFUSED)):
        assert {classify_message(each) for each in messages} == {fate}
    assert drive(Messages, received(*IGNORED[1:], *FORWARDED)) == (FORWARDED, [])


def test_a_new_kind_of_message_is_ignored_and_the_log_says_so(monkeypatch, caplog):
    monkeypatch.setattr(middleware, "_IGNORED", middleware._IGNORED - {"clear_cache"})
    assert classify_message(IGNORED[1]) == "ignored"
    assert "a new kind, clear_cache" in caplog.text
    caplog.clear()
    for each in FORWARDED + IGNORED[:1] + IGNORED[2:]:
        classify_message(each)
    assert caplog.text == ""


def test_every_kind_of_message_has_a_fate():
    kinds = {field.name for field in BackMsg.DESCRIPTOR.oneofs_by_name["type"].fields}
    assert kinds == {BackMsg.FromString(each).WhichOneof("type") for each in FORWARDED + IGNORED} - {None}


@given(st.binary(max_size=400))
def test_any_bytes_have_a_fate(data):
    assert classify_message(data) in ("forwarded", "ignored", "refused")


@pytest.mark.parametrize("message", [*received(*REFUSED), {"type": "websocket.receive", "text": "a text"}])
def test_a_message_that_no_page_sends_closes_the_connection(message):
    taken, sent = drive(Messages, [message, *received(*FORWARDED)])
    assert (taken, sent) == ([], [{"type": "websocket.close", "code": 1008}])


def test_a_websocket_of_our_pages_passes_all_guards_and_no_other():
    messages = received(*IGNORED[1:], *FORWARDED)
    assert drive(all_guards, messages[:]) == (FORWARDED, [])
    refused = ([], [{"type": "websocket.close", "code": 1008, "reason": ""}])
    assert drive(all_guards, messages[:], origin="http://localhost:1") == refused
    assert drive(all_guards, messages[:], host="evil.example", origin="http://evil.example") == refused
