"""Open tabs: each one's session and processor quota, and the queue of long work that they share."""

import asyncio
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

import streamlit as st

from attnviz.classroom.fair_queue import FairQueue
from attnviz.classroom.http import network_of
from attnviz.scene.actions.session import Session

FREE_SECONDS = 2.0
"""Processor seconds that a tab may use without delay; nobody reaches them by hand."""

SECONDS_PER_SECOND = 0.25
"""Processor seconds per second that it may use after that."""

MAX_WAIT_SECONDS = 2.0
"""Longest wait for one piece of work, in seconds."""


@dataclass
class CpuQuota:
    """A leaky bucket of the processor time that a tab has used.

    Attributes
    ----------
    used : float
        Processor seconds used, less the allowance since.
    at : float
        The time of that balance, in seconds.
    """

    used: float = 0.0
    at: float = field(default_factory=time.monotonic)

    def wait(self, now: float) -> float:
        """Seconds that work requested now has to wait."""
        self.used = max(self.used - SECONDS_PER_SECOND * (now - self.at), 0.0)
        wait = max(self.used - FREE_SECONDS, 0.0) / SECONDS_PER_SECOND
        self.used, self.at = self.used - SECONDS_PER_SECOND * wait, now + wait
        return wait

    def spend(self, seconds: float) -> None:
        """Record used seconds, capped so that no later wait exceeds the maximum."""
        self.used = min(self.used + seconds, FREE_SECONDS + SECONDS_PER_SECOND * MAX_WAIT_SECONDS)

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Record the processor time of the block's thread."""
        start = time.thread_time()
        try:
            yield
        finally:
            self.spend(time.thread_time() - start)


_TAB = "tab"

LONG_WORK = FairQueue("long work")
"""Audits, comparisons, flips and microgpt's names: one at a time in the process."""


@dataclass(eq=False)
class Tab:
    """One open tab. It lives as long as its Streamlit session.

    Attributes
    ----------
    token : str
        Its secret name, known only to its browser.
    network : str
        The network that opened it (`http.network_of`).
    session : Session or None
        Its state between requests; None before the first.
    cpu_quota : CpuQuota
        Its processor quota.
    turn : Lock
        Held while one of its actions is answered.
    """

    token: str = field(default_factory=lambda: secrets.token_hex(16))
    network: str = ""
    session: Session | None = None
    cpu_quota: CpuQuota = field(default_factory=CpuQuota)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def who(self) -> tuple[str, str]:
        """Its identity in fair queues."""
        return self.network, self.token


OPEN: WeakValueDictionary[str, Tab] = WeakValueDictionary()
"""All open tabs, by token."""

UNKNOWN = "This process knows no such tab; the page gets another one as it connects again."
"""The reply to an unknown token."""


def mine() -> Tab:
    """The tab of this run."""
    if _TAB not in st.session_state:
        tab = Tab(network=network_of(st.context.ip_address or ""))  # empty for this machine itself
        OPEN[tab.token] = tab
        LONG_WORK.open(tab.who)
        st.session_state[_TAB] = tab
    return st.session_state[_TAB]


@contextmanager
def within_quota() -> Iterator[None]:
    """Make a run wait for its tab's quota, and record what it uses."""
    quota = mine().cpu_quota
    time.sleep(quota.wait(time.monotonic()))
    with quota.noted():
        yield
