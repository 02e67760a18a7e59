"""Turns: long work is done a part at a time in the whole process, leaves half of the time, and ends when unwanted."""

import asyncio
import threading

import pytest
from asgi import run
from streamlit.testing.v1 import AppTest

from attnviz.ui.state import fair_queue


class Clock:
    """A time that passes where someone works or sleeps."""

    def __init__(self):
        self.now, self.slept = 0.0, 0.0

    def perf_counter(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds
        self.slept += seconds


def test_a_pause_as_long_as_the_work_follows_each_part(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(fair_queue, "time", clock)
    monkeypatch.setattr(fair_queue, "_TURN", fair_queue._Turn())

    def work():
        for part in range(10):
            clock.now += part
            yield part

    assert list(fair_queue.in_turns(work())) == list(range(10))
    worked = sum(range(10))
    assert worked <= clock.slept < worked + 1


def test_work_in_one_piece_has_turns_too_with_as_long_a_pause_after_each(monkeypatch):
    clock, begun = Clock(), []
    monkeypatch.setattr(fair_queue, "time", clock)
    monkeypatch.setattr(fair_queue, "_TURN", fair_queue._Turn())

    def work(seconds):
        begun.append(clock.now)
        clock.now += seconds
        return seconds

    async def story():
        return await asyncio.gather(*(fair_queue.in_one_piece(work, seconds) for seconds in (1, 2, 3)))

    assert run(story()) == [1, 2, 3]
    assert begun == [0, 2, 6]
    clock.now += 100  # nobody waits for a pause that is over
    assert next(fair_queue.in_turns(iter([work(1)]))) == 1
    assert (begun[3:], clock.slept) == ([109], 3)


def test_two_sessions_long_work_is_never_done_at_once():
    at_work, most, done = [], [], []

    def work(name):
        for _ in range(20):
            at_work.append(name)
            most.append(len(at_work))
            threading.Event().wait(0.0005)  # lets the other go on, if it may
            at_work.remove(name)
            yield name

    def ask(name):
        done.extend(fair_queue.in_turns(work(name)))

    threads = [threading.Thread(target=ask, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1
    assert sorted(done) == ["a"] * 20 + ["b"] * 20


def page():
    import streamlit as st
    from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx

    from attnviz.ui.state.fair_queue import in_turns

    made = st.session_state.setdefault("made", [])

    def work():
        for part in range(10):
            made.append(part)
            if part == 3 and len(made) == 4:  # the visitor does something else, or closes the tab
                requests = get_script_run_ctx().script_requests
                # no statement of its own, which Streamlit would write on the page, and so look itself
                _ = requests.request_stop() if "leave" in st.query_params else requests.request_rerun(RerunData())
            yield part

    for _ in in_turns(work()):
        pass
    st.write("done")


@pytest.mark.parametrize(("does", "made"), [("leave", [0, 1, 2, 3]), ("change", [0, 1, 2, 3, *range(10)])])
def test_work_ends_where_its_visitor_leaves_or_asks_for_something_else(does, made):
    at = AppTest.from_function(page, default_timeout=600)
    at.query_params[does] = "1"
    at.run()
    assert at.session_state["made"] == made
