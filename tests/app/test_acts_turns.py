"""How requests for acts take turns: in one tab, among the tabs that use much, and beside everybody else."""

import asyncio
import threading
from types import SimpleNamespace

import pytest
from asgi import APP, asked, run
from patience import PATIENCE_SECONDS
from posts import answer, new_tab, said

from attnviz.app import tab_routes, tabs
from attnviz.app.tabs import MAX_WAIT_SECONDS
from attnviz.scene.actions.session import Session
from attnviz.scene.scene import Scene


@pytest.fixture
def tab():
    return new_tab()


def test_what_is_done_in_a_tab_is_answered_one_after_the_other_and_others_do_not_wait(tab, monkeypatch):
    other, may_end, begun = tabs.Tab(), threading.Event(), []
    tabs.OPEN[other.token] = other
    other.session = Session(Scene())

    def answered(place, done):
        begun.append((done.tab, done.acts[0][1]))
        assert done.tab == other.token or may_end.wait(PATIENCE_SECONDS)
        return b"{}"

    monkeypatch.setattr(tab_routes, "answer_to", answered)

    async def story():
        ours = [
            asyncio.create_task(asked(APP, tab_routes.ACTS_PATH, "POST", body=said(tab, ("sentence", word))))
            for word in "abc"
        ]
        while not begun:
            await asyncio.sleep(0)
        others = await asked(APP, tab_routes.ACTS_PATH, "POST", body=said(other, ("sentence", "z")))
        before = begun[:]
        may_end.set()
        return others, before, await asyncio.gather(*ours)

    others, before, ours = run(story())
    assert others.status == 200
    assert before == [(tab.token, "a"), (other.token, "z")]
    assert [each.status for each in ours] == [200] * 3
    assert [word for _, word in begun] == ["a", "z", "b", "c"]


def test_tabs_that_use_much_wait_for_each_other_and_no_person_for_them(tab, monkeypatch):
    monkeypatch.setattr(tabs, "SECONDS_PER_SECOND", 1e-9)  # they have used much however long this takes
    heavy, may_end, begun = [tabs.Tab() for _ in range(8)], threading.Event(), []
    for each in heavy:
        tabs.OPEN[each.token] = each
        each.session = Session(Scene())
        each.cpu_quota.spend(1.5 * tab_routes.HEAVY_SECONDS)

    def answered(place, done):
        begun.append(done.tab)
        assert done.tab == tab.token or may_end.wait(PATIENCE_SECONDS)
        return b"{}"

    monkeypatch.setattr(tab_routes, "answer_to", answered)

    async def story():
        waiting = [asyncio.create_task(asked(APP, tab_routes.ACTS_PATH, "POST", body=said(each))) for each in heavy]
        while not begun:
            await asyncio.sleep(0)
        person = await asked(APP, tab_routes.ACTS_PATH, "POST", body=said(tab))
        before = len(begun)
        may_end.set()
        return person.status, before, {each.status for each in await asyncio.gather(*waiting)}

    assert run(story()) == (200, 2, {200})


@pytest.mark.parametrize("act", tab_routes.LONG)
def test_what_takes_long_is_done_one_after_the_other_and_nobody_else_waits(tab, monkeypatch, act):
    pressing, may_end, begun = [new_tab() for _ in range(8)], threading.Event(), []

    def answered(place, done):
        begun.append(done.tab)
        assert done.tab == tab.token or may_end.wait(PATIENCE_SECONDS)
        return b"{}"

    monkeypatch.setattr(tab_routes, "answer_to", answered)

    async def story():
        waiting = [
            asyncio.create_task(asked(APP, tab_routes.ACTS_PATH, "POST", body=said(each, ("mask", "none"), (act, "a"))))
            for each in pressing
        ]
        while not begun:
            await asyncio.sleep(0)
        persons = [
            (await asked(APP, tab_routes.ACTS_PATH, "POST", body=said(tab, ("mask", act)))).status for _ in range(3)
        ]
        before = len(begun)
        may_end.set()
        return persons, before, {each.status for each in await asyncio.gather(*waiting)}

    assert run(story()) == ([200] * 3, 4, {200})
    assert len(begun) == 11


def test_a_tab_that_has_used_up_its_share_waits_and_what_it_uses_is_noted(tab, monkeypatch):
    slept, used = [], iter([10.0, 10.25, 20.0, 20.5])

    async def sleep(seconds):
        slept.append(seconds)

    monkeypatch.setattr(tab_routes.asyncio, "sleep", sleep)
    monkeypatch.setattr(tab_routes, "time", SimpleNamespace(monotonic=lambda: tab.cpu_quota.at))
    monkeypatch.setattr(tabs, "time", SimpleNamespace(thread_time=lambda: next(used)))
    answer(tab, ("mask", "causal"))
    assert (slept, tab.cpu_quota.used) == ([0], 0.25)
    tab.cpu_quota.spend(1000)
    answer(tab, ("mask", "none"))
    assert slept == [0, MAX_WAIT_SECONDS]
