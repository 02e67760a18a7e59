"""What a tab held is given back soon after it was closed: three files, and the memory of its last pass.

Streamlit looks for sessions whose time is over only when another one ends, so
the last visitors' would stay for good.
"""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from streamlit import config
from streamlit.runtime import Runtime, get_instance
from streamlit.runtime.session_manager import ClientContext, SessionClient


class Nobody(SessionClient):
    """A visitor who sees nothing."""

    def write_forward_msg(self, msg: object) -> None:
        """See nothing."""

    @property
    def client_context(self) -> ClientContext | None:
        """From nowhere."""
        return None


def sweep(runtime: Runtime) -> None:
    """Have Streamlit look for sessions whose time is over, by one that ends at once, and free what they held."""
    session = runtime.connect_session(Nobody(), {})
    runtime.disconnect_session(session)
    runtime.close_session(session)
    gc.collect()


@asynccontextmanager
async def swept() -> AsyncIterator[None]:
    """Sweep, as often as a session's time is over."""

    async def sweep_often() -> None:
        while True:
            await asyncio.sleep(config.get_option("server.disconnectedSessionTTL"))
            sweep(get_instance())

    task = asyncio.create_task(sweep_often())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
