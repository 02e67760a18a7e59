"""Cleanup: what a tab held, three files and the memory of its last pass, is freed soon after the tab was closed.

Streamlit looks for expired sessions only when another one ends, so those of the
last visitors would stay for good. And glibc keeps what was freed between blocks
that are in use: after five of the heaviest pairs some 280 MB, of which Python
held one.
"""

import asyncio
import ctypes
import gc
import sys
from contextlib import suppress

import streamlit as st

from attnviz.app import seams

_trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
"""Has glibc give free memory back to the system; other systems' libraries have no such function."""


def sweep() -> None:
    """End expired sessions, and free what they held."""
    seams.end_expired_sessions()
    gc.collect()
    if _trim:
        _trim(0)


async def sweep_often() -> None:
    """Sweep as often as sessions expire."""
    while True:
        await asyncio.sleep(st.get_option("server.disconnectedSessionTTL"))
        with suppress(OSError):  # no file was free for a session: the next sweep may find one
            sweep()
