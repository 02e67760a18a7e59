"""CPU quota: no tab uses more than its share of the processor for long, and no person notices."""

import time
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from page import opened

from attnviz.app import tabs
from attnviz.app.tabs import FREE_SECONDS, MAX_WAIT_SECONDS, SECONDS_PER_SECOND, CpuQuota


def used(cost, pause, seconds):
    """What runs use that follow each other at this pace, and how long each of them waits."""
    tab, now, spent, waits = CpuQuota(0.0, 0.0), 0.0, 0.0, []
    while now < seconds:
        waits.append(tab.wait(now))
        tab.spend(cost)
        spent += cost
        now += waits[-1] + cost + pause
    return spent, waits


@given(cost=st.floats(0.005, SECONDS_PER_SECOND * MAX_WAIT_SECONDS), pause=st.floats(0, 0.1))
def test_a_flood_of_runs_uses_no_more_than_its_share_for_long(cost, pause):
    spent, waits = used(cost, pause, seconds=60)
    assert spent <= FREE_SECONDS + SECONDS_PER_SECOND * (60 + MAX_WAIT_SECONDS + cost) + cost + 1e-6
    assert max(waits) <= MAX_WAIT_SECONDS


@pytest.mark.parametrize(
    ("cost", "pause"), [(0.02, 0.08), (0.03, 0.1), (0.2, 0.8)], ids=["a slider", "training played", "the largest pass"]
)
def test_a_person_waits_for_nothing(cost, pause):
    assert max(used(cost, pause, seconds=120)[1]) == 0


def test_ten_quick_runs_of_the_largest_pass_wait_for_nothing():
    assert max(used(0.2, 0.0, seconds=2)[1]) == 0


def test_who_comes_back_after_a_while_waits_for_nothing():
    tab = CpuQuota(0.0, 0.0)
    tab.spend(1000)
    assert tab.wait(0) == MAX_WAIT_SECONDS
    assert tab.wait(60) == 0


def test_every_run_of_the_app_waits_for_its_share_and_what_it_used_is_noted(monkeypatch):
    slept = []
    now = time.monotonic() + 1_000
    clock = SimpleNamespace(sleep=slept.append, monotonic=lambda: now, thread_time=time.thread_time)
    monkeypatch.setattr(tabs, "time", clock)
    monkeypatch.setattr(tabs, "time", clock)
    at = opened()
    assert slept == [0]
    quota = at.session_state["tab"].cpu_quota
    assert 0 < quota.used <= FREE_SECONDS + SECONDS_PER_SECOND * MAX_WAIT_SECONDS
    quota.spend(1000)
    at.run()
    assert 0 < slept[-1] <= MAX_WAIT_SECONDS
