"""What a visitor's connection passes through, each guard alone: no server is started."""

import sys

import pytest
from asgi import MARKER, all_guards, drive
from hypothesis import given
from hypothesis import strategies as st
from streamlit.proto.BackMsg_pb2 import BackMsg

from attnviz.app import middleware
from attnviz.app.app_wiring import Messages, allow_files
from attnviz.app.middleware import MAX_MESSAGE_BYTES, fate_of_message


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
    said(file_urls_request={}),
    operation("install_skills"),
    operation("dismiss_skills_nudge"),
    operation("deferred_file", request_id=MARKER),
    rerun(page_script_hash=MARKER),
    rerun(fragment_id=f"0\n{MARKER}"),
]
REFUSED = [b"\xff", HEARD[0][:-1], rerun(query_string="a" * MAX_MESSAGE_BYTES)]


def test_what_pages_send_is_heard_and_nothing_else():
    assert {fate_of_message(each) for each in HEARD} == {"heard"}
    assert {fate_of_message(each) for each in IGNORED} == {"ignored"}
    assert {fate_of_message(each) for each in REFUSED} == {"refused"}
    assert drive(Messages, received(*IGNORED[1:], *HEARD)) == (HEARD, [])


def test_a_new_kind_of_message_is_not_heard_and_the_log_says_so(monkeypatch, caplog):
    monkeypatch.setattr(middleware, "_IGNORED", middleware._IGNORED - {"clear_cache"})
    assert fate_of_message(said(clear_cache=True)) == "ignored"
    assert "a new kind, clear_cache" in caplog.text
    caplog.clear()
    for each in HEARD + IGNORED[:1] + IGNORED[2:]:
        fate_of_message(each)
    assert caplog.text == ""


def test_every_kind_of_message_is_judged():
    kinds = {field.name for field in BackMsg.DESCRIPTOR.oneofs_by_name["type"].fields}
    seen = {BackMsg.FromString(each).WhichOneof("type") for each in HEARD + IGNORED}
    assert kinds == seen - {None}


@pytest.mark.parametrize("message", [*received(*REFUSED), {"type": "websocket.receive", "text": "a text"}])
def test_who_sends_what_no_page_sends_is_hung_up_on(message):
    taken, sent = drive(Messages, [message, *received(*HEARD)])
    assert (taken, sent) == ([], [{"type": "websocket.close", "code": 1008}])


@given(st.binary(max_size=400))
def test_any_bytes_are_judged(data):
    assert fate_of_message(data) in ("heard", "ignored", "refused")


def test_a_websocket_passes_all_guards():
    messages = received(*IGNORED[1:], *HEARD)
    assert drive(all_guards, messages[:]) == (HEARD, [])
    refused = ([], [{"type": "websocket.close", "code": 1008, "reason": ""}])
    assert drive(all_guards, messages[:], origin="http://localhost:1") == refused
    assert drive(all_guards, messages[:], host="evil.example", origin="http://evil.example") == refused


def test_the_limit_of_files_is_raised_as_far_as_macos_takes_and_never_lowered(monkeypatch):
    resource = pytest.importorskip("resource")
    raised = []
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: raised.append(limits))
    for limits in ((256, sys.maxsize), (1_024, 4_100), (16_384, 16_384)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, limits=limits: limits)
        allow_files()
    assert raised == [(10_240, sys.maxsize), (4_100, 4_100), (16_384, 16_384)]
