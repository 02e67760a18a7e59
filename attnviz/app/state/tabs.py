"""Tabs: what the server keeps of each open one, for the runs of its pages and for what is done in its viewer."""

import asyncio
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

import streamlit as st

from attnviz.classroom.fair_queue import FairQueue
from attnviz.classroom.networks import network_of
from attnviz.scene.actions.session import Session

FREE_SECONDS = 2.0
"""Seconds of processor that a tab may use as fast as it likes: no person gets there by hand."""

SECONDS_PER_SECOND = 0.25
"""Seconds of processor that it may use in each second from then on."""

MAX_WAIT_SECONDS = 2.0
"""Seconds that work waits at most."""


@dataclass
class CpuQuota:
    """The processor time that a tab has used.

    Attributes
    ----------
    used : float
        Seconds of processor, less what it was allowed since.
    at : float
        When that was so, in seconds.
    """

    used: float = 0.0
    at: float = field(default_factory=time.monotonic)

    def wait(self, now: float) -> float:
        """The seconds that work which is asked for now has to wait."""
        self.used = max(self.used - SECONDS_PER_SECOND * (now - self.at), 0.0)
        wait = max(self.used - FREE_SECONDS, 0.0) / SECONDS_PER_SECOND
        self.used, self.at = self.used - SECONDS_PER_SECOND * wait, now + wait
        return wait

    def spend(self, seconds: float) -> None:
        """Note what work has used; what is beyond the longest wait is forgotten."""
        self.used = min(self.used + seconds, FREE_SECONDS + SECONDS_PER_SECOND * MAX_WAIT_SECONDS)

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note what the block uses, in its own thread."""
        start = time.thread_time()
        try:
            yield
        finally:
            self.spend(time.thread_time() - start)


_TAB = "tab"

LONG_WORK = FairQueue("long work")
"""Audits, comparisons, what would flip an answer, and names: one at a time in the whole process."""


@dataclass(eq=False)
class Tab:
    """One open tab. It lives as long as its Streamlit session.

    Attributes
    ----------
    token : str
        Its name, which only its own browser knows.
    network : str
        The network that it was opened from (`networks.network_of`).
    session : Session or None
        What is kept of it between two answers; None before the first.
    cpu_quota : CpuQuota
        How much of the processor it has used.
    turn : Lock
        What is done in it is answered one after the other.
    """

    token: str = field(default_factory=lambda: secrets.token_hex(16))
    network: str = ""
    session: Session | None = None
    cpu_quota: CpuQuota = field(default_factory=CpuQuota)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def who(self) -> tuple[str, str]:
        """What a fair queue counts its work by."""
        return self.network, self.token


OPEN: WeakValueDictionary[str, Tab] = WeakValueDictionary()
"""All open tabs by their tokens."""

UNKNOWN = "This process knows no such tab; the page gets another one as it connects again."
"""The reply to a token of none of them."""


def mine() -> Tab:
    """The tab that this run is for."""
    if _TAB not in st.session_state:
        tab = Tab(network=network_of(st.context.ip_address or ""))  # none of this machine
        OPEN[tab.token] = tab
        LONG_WORK.open(tab.who)
        st.session_state[_TAB] = tab
    return st.session_state[_TAB]


@contextmanager
def within_quota() -> Iterator[None]:
    """Have a run wait for its tab's share of the processor, and note what it uses."""
    quota = mine().cpu_quota
    time.sleep(quota.wait(time.monotonic()))
    with quota.noted():
        yield
