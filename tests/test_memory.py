"""Memory: a session keeps no pass alive, not even until Python looks for circles."""

import gc

import pytest
from page import PAGES, did, opened

from attnviz.core.trace import Trace


@pytest.fixture
def passes():
    """How many passes are alive, while Python doesn't look for circles."""
    gc.collect()
    gc.disable()
    yield lambda: sum(isinstance(each, Trace) for each in gc.get_objects())
    gc.enable()


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_visits_leave_no_pass_behind(passes, page):
    visits, counts = [], []
    for number in range(4):
        visits.append(opened(page, sentence=f"visit number {number} of {page.stem}"))
        counts.append(passes())
    assert counts[3] <= counts[1], "each open session has kept a pass"


def test_what_is_done_in_a_session_leaves_no_pass_behind(passes):
    at, counts = opened(sentence="the cat sat"), []
    for number in range(4):
        did(at, "mute", {"stage": "heads", "place": number % 2})
        did(at, "slopes", "output[0,0]")
        did(at, "mask", "causal" if number % 2 else "none")
        counts.append(passes())
    assert counts[3] <= counts[1]
