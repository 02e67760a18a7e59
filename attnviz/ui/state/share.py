"""Share: how much of the processor a session has used, and how long its next run waits so that others have theirs.

Who waits costs nothing, and Streamlit makes one run of all that is asked for meanwhile.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import streamlit as st

AHEAD = 2.0
"""Seconds of processor that a session may use as fast as it likes: no person gets there by hand."""

RATE = 0.25
"""Seconds of processor that it may use in each second from then on."""

LONGEST = 2.0
"""Seconds that a run waits at most."""


@dataclass
class Share:
    """What a session has used.

    Attributes
    ----------
    used : float
        Seconds of processor, less what it was allowed since.
    at : float
        When that was so, in seconds.
    """

    used: float
    at: float

    def wait(self, now: float) -> float:
        """How many seconds a run that is asked for now has to wait."""
        self.used = max(self.used - RATE * (now - self.at), 0.0)
        wait = max(self.used - AHEAD, 0.0) / RATE
        self.used, self.at = self.used - RATE * wait, now + wait
        return wait

    def spend(self, seconds: float) -> None:
        """Note what a run has used; what is beyond the longest wait is forgotten."""
        self.used = min(self.used + seconds, AHEAD + RATE * LONGEST)


@contextmanager
def kept() -> Iterator[None]:
    """Have a run wait for its share of the processor, and note what it uses."""
    share = st.session_state.setdefault("share", Share(0.0, time.monotonic()))
    time.sleep(share.wait(time.monotonic()))
    start = time.thread_time()
    try:
        yield
    finally:
        share.spend(time.thread_time() - start)
