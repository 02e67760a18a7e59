"""Cleanup: what a tab held, three files and the memory of its last pass, is freed soon after the tab was closed.

Streamlit looks for expired sessions only when another one ends, so those of the
last visitors would stay for good.
"""

import asyncio
import gc
import os
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress

from streamlit import config
from streamlit.runtime import Runtime, get_instance
from streamlit.runtime.session_manager import ClientContext, SessionClient

from attnviz.server.seats import FILES_OF_A_TAB


class Nobody(SessionClient):
    """The client of a session that nobody opened."""

    def write_forward_msg(self, msg: object) -> None:
        """Drop the message."""

    @property
    def client_context(self) -> ClientContext | None:
        """No request."""
        return None


def sweep(runtime: Runtime) -> None:
    """Have Streamlit look for expired sessions, by way of one that ends at once, and free what they held."""
    _check_files()
    session = runtime.connect_session(Nobody(), {})
    runtime.disconnect_session(session)
    runtime.close_session(session)
    gc.collect()


def _check_files() -> None:
    """Raise OSError unless a session finds its files: one half made leaves tracebacks in the log."""
    with ExitStack() as files:
        for _ in range(FILES_OF_A_TAB):
            files.enter_context(open(os.devnull))


@asynccontextmanager
async def swept() -> AsyncIterator[None]:
    """Sweep as often as sessions expire, for as long as the block lasts."""

    async def sweep_often() -> None:
        while True:
            await asyncio.sleep(config.get_option("server.disconnectedSessionTTL"))
            with suppress(OSError):  # no file is free for a session: the next sweep may find one
                sweep(get_instance())

    task = asyncio.create_task(sweep_often())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
