"""Memory: a session keeps no pass alive, not even until Python looks for circles."""

import gc
import os
import sys

import pytest
from page import PAGES, did, opened
from server import memory_mb

from attnviz.app import app_wiring, streamlit_private
from attnviz.core.trace import Trace
from attnviz.scene.document.pass_cache import PASS_CACHE


@pytest.fixture(scope="module", autouse=True)
def nothing_before():
    """Leave what there is already out of all that is counted, and don't have Python look for circles."""
    gc.collect()
    gc.freeze()
    gc.disable()
    with pytest.MonkeyPatch.context() as without_cache:  # whose passes are bounded in bytes and no session's
        without_cache.setattr(PASS_CACHE, "room", 0)
        yield
    gc.enable()
    gc.unfreeze()


def passes():
    """How many passes have been made and are alive."""
    return sum(type(each) is Trace for each in gc.get_objects())


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_visits_leave_no_pass_behind(page):
    visits, counts = [], []
    for number in range(3):
        visits.append(opened(page, sentence=f"visit number {number} of {page.stem}"))
        counts += [passes()] * (number > 0)  # the first may fill caches
    assert counts[1] <= counts[0], "each open session has kept a pass"


def test_what_is_done_in_a_session_leaves_no_pass_behind():
    at, counts = opened(sentence="the cat sat"), []
    for number in range(4):
        did(at, "mute", {"stage": "heads", "place": number % 2})
        did(at, "slopes", "output[0,0]")
        did(at, "mask", "causal" if number % 2 else "none")
        counts.append(passes())
    assert counts[3] <= counts[1]


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc returns memory when asked")
def test_a_sweep_gives_back_what_was_freed_between_blocks_that_are_in_use(monkeypatch):
    monkeypatch.setattr(streamlit_private, "end_expired_sessions", lambda: None)
    blocks = [b"a" * 100_000 for _ in range(2_000)]
    kept = blocks[::50]
    del blocks
    before = memory_mb(os.getpid())
    app_wiring.sweep()
    assert memory_mb(os.getpid()) < before - 100
    assert len(kept) == 40
