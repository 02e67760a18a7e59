"""The fair queue: long work is done one piece at a time, in an order that tabs can't buy, and ends when unwanted."""

import asyncio
import threading
import time
from itertools import count

import pytest
from asgi import run
from patience import PATIENCE_SECONDS
from streamlit.testing.v1 import AppTest

from attnviz.classroom import fair_queue
from attnviz.classroom.fair_queue import WINDOW_SECONDS, FairQueue, Usage

PIECE_SECONDS = 2.0
HOG, SCHOOL = "192.0.2.7", "198.51.100.7"


def waited(stranger, hogs, *, after, is_new):
    """The seconds that a stranger's first file waits among hogs that always send their next one at once.

    `hogs` are iterators over the tabs that each sends from. The stranger's tab is new, or as old as the server. Nothing
    is slept.
    """
    usage, now, tabs = Usage(), 0.0, set() if is_new else {stranger}

    def sent(hog):
        who = next(hog)
        if who not in tabs:
            tabs.add(who)
            usage.open(who, now)
        return who

    waiting = [(sent(hog), hog) for hog in hogs]
    has_come, comes = False, after + PIECE_SECONDS / 2
    while True:
        if now >= comes and not has_come:
            if is_new:
                usage.open(stranger, now)
            waiting.append((stranger, None))
            has_come = True
        who, hog = waiting.pop(usage.next([each for each, _ in waiting], now))
        if who == stranger:
            return now - comes
        now += PIECE_SECONDS
        usage.add(who, PIECE_SECONDS, now)
        waiting.append((sent(hog), hog))


def one_tab(network, name):
    while True:
        yield network, name


def new_tabs(network, numbers):
    for number in numbers:
        yield network, f"new {number}"


def hogs_of(kind, n):
    """`n` hogs of a kind: each sends from one tab, from a new one each time, or from tabs of another network each."""
    numbers = count()
    return {
        "one tab each": [one_tab(HOG, f"hog {n}") for n in range(n)],
        "new tabs": [new_tabs(HOG, numbers) for _ in range(n)],
        "a network each": [one_tab(f"203.0.113.{n}", "hog") for n in range(n)],
    }[kind]


STRANGERS = [
    *((SCHOOL, kind, True, 1) for kind in ("one tab each", "new tabs", "a network each")),
    *((HOG, kind, False, 1) for kind in ("one tab each", "new tabs")),
    (HOG, "one tab each", True, 1),
    (HOG, "new tabs", True, 9),  # nothing tells them from the stranger: first come is first served
]


@pytest.mark.parametrize("after", [20.0, 200.0])
@pytest.mark.parametrize("n", [1, 8])
@pytest.mark.parametrize(("network", "kind", "is_new", "n_pieces"), STRANGERS)
def test_a_stranger_waits_for_few_pieces_however_many_tabs_hog(network, kind, is_new, n_pieces, n, after):
    seconds = waited((network, "stranger"), hogs_of(kind, n), after=after, is_new=is_new)
    assert seconds <= n_pieces * PIECE_SECONDS


def test_the_first_turns_of_new_networks_are_in_the_order_in_which_they_come():
    assert waited((SCHOOL, "stranger"), hogs_of("a network each", 8), after=0.0, is_new=True) == 7.5 * PIECE_SECONDS


def test_nobody_starves_among_others_who_send_as_often():
    usage, now, served = Usage(), 0.0, {}
    tabs = [(network, tab) for network in (HOG, SCHOOL) for tab in ("a", "b")][:3]
    waiting = [*tabs]
    while now < 600:
        who = waiting.pop(usage.next(waiting, now))
        now += 1.0
        usage.add(who, 1.0, now)
        served[who] = served.get(who, 0) + 1
        waiting.append(who)
    expected = {(HOG, "a"): 150, (HOG, "b"): 150, (SCHOOL, "a"): 300}
    assert served == pytest.approx(expected, abs=10), "half for each network"


def test_a_turn_counts_for_a_minute():
    usage = Usage()
    usage.add((HOG, "a"), 5.0, 0.0)
    usage.add((SCHOOL, "b"), 4.0, 1.0)
    waiting = [(HOG, "a"), (SCHOOL, "b")]
    assert usage.next(waiting, WINDOW_SECONDS - 0.01) == 1
    assert usage.next(waiting, WINDOW_SECONDS) == 0


def test_a_tab_opened_while_its_network_works_comes_after_those_that_waited_and_before_those_that_worked():
    usage = Usage()
    usage.add((HOG, "a"), 5.0, 0.0)
    usage.open((HOG, "new"), 2.0)
    usage.open((SCHOOL, "first"), 2.0)
    assert usage.next([(HOG, "new"), (HOG, "old, unused")], 3.0) == 1
    assert usage.next([(HOG, "a"), (HOG, "new")], 3.0) == 1
    assert usage.next([(SCHOOL, "other"), (SCHOOL, "first")], 3.0) == 0


def test_work_in_one_piece_is_done_in_order_without_a_pause_and_its_error_reaches_who_asked():
    queue, may_begin, done = FairQueue("test"), threading.Event(), []

    def work(name):
        if name == "first":
            may_begin.wait()
        done.append(name)
        if name == "wrong":
            raise ValueError(name)
        return name

    async def story():
        names = {"first": (HOG, "a"), "second": (HOG, "a"), "wrong": (HOG, "b"), "stranger": (SCHOOL, "c")}
        asked = [asyncio.create_task(queue.run(who, work, name)) for name, who in names.items()]
        await asyncio.sleep(0)
        left = asyncio.create_task(queue.run((SCHOOL, "d"), work, "left"))
        await asyncio.sleep(0)
        left.cancel()
        await asyncio.gather(left, return_exceptions=True)
        may_begin.set()
        return await asyncio.gather(*asked, return_exceptions=True)

    first, second, wrong, stranger = run(story())
    assert (first, second, stranger) == ("first", "second", "stranger")
    assert isinstance(wrong, ValueError)
    assert done == ["first", "stranger", "wrong", "second"], "whoever left is not worked for"


def test_two_sessions_long_work_is_never_done_at_once():
    at_work, most, done = [], [], []

    def work(name):
        for _ in range(20):
            at_work.append(name)
            most.append(len(at_work))
            threading.Event().wait(0.0005)  # lets the other go on, if it may
            at_work.remove(name)
            yield name

    queue = FairQueue("test")

    def ask(name):
        done.extend(queue.run_in_turns((HOG, name), work(name)))

    threads = [threading.Thread(target=ask, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1
    assert sorted(done) == ["a"] * 20 + ["b"] * 20


def test_an_audit_in_slices_waits_for_one_piece_of_a_hog_and_not_for_one_after_each_slice(monkeypatch):
    monkeypatch.setattr(fair_queue, "GRACE_SECONDS", PATIENCE_SECONDS)  # on a busy machine
    queue, done, may_end = FairQueue("test"), [], threading.Event()

    def piece():
        time.sleep(0.002)
        done.append("piece")

    async def hog():
        while not may_end.is_set():
            await asyncio.gather(*(queue.run((HOG, "hog"), piece) for _ in range(8)))

    thread = threading.Thread(target=run, args=(hog(),))
    thread.start()
    while len(done) < 100:
        time.sleep(0.001)
    before = len(done)
    for n in queue.run_in_turns((SCHOOL, "audit"), iter(range(30))):
        done.append(n)
    n_between = len(done) - before - 30
    may_end.set()
    thread.join()
    assert n_between <= 10


def page():
    import streamlit as st
    from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx

    from attnviz.app.sections import until_cancelled
    from attnviz.classroom.fair_queue import FairQueue

    made = st.session_state.setdefault("made", [])

    def work():
        for part in range(10):
            made.append(part)
            if part == 3 and len(made) == 4:  # the visitor does something else, or closes the tab
                requests = get_script_run_ctx().script_requests
                # no statement of its own, which Streamlit would write on the page, and so look itself
                _ = requests.request_stop() if "leave" in st.query_params else requests.request_rerun(RerunData())
            yield part

    for _ in until_cancelled(FairQueue("test").run_in_turns(("", ""), work())):
        pass
    st.write("done")


@pytest.mark.parametrize(("does", "made"), [("leave", [0, 1, 2, 3]), ("change", [0, 1, 2, 3, *range(10)])])
def test_work_ends_where_its_visitor_leaves_or_asks_for_something_else(does, made):
    at = AppTest.from_function(page, default_timeout=600)
    at.query_params[does] = "1"
    at.run()
    assert at.session_state["made"] == made
