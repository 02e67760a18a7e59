"""Tabs: what the server keeps of each open one, for the runs of its pages and for what is done in its viewer."""

import asyncio
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

import streamlit as st

from attnviz.app.state.cpu_quota import CpuQuota
from attnviz.classroom.fair_queue import FairQueue
from attnviz.classroom.networks import network_of
from attnviz.scene.acts.session import Session

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
