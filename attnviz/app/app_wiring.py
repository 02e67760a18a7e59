"""App wiring: the routes, middleware and lifespan that `app.py` passes to Streamlit, and the upkeep of the process."""

import asyncio
import ctypes
import gc
import importlib
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress

import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute, Route

from attnviz.app import streamlit_private
from attnviz.app.browser_tabs import ACTIONS_PATH, ARRAYS_PATH, handle_actions, handle_arrays
from attnviz.app.class_pages import HOME_PATH, ClassPages, handle_take_home
from attnviz.app.index_page import IndexPage, warm_index_page
from attnviz.app.lesson_routes import MOMENT_PATH, TALK_PATH, handle_moment, handle_talk
from attnviz.app.log import BugReports, quiet_loggers
from attnviz.app.middleware import AllowedPaths, Headers, Hosts, Messages, policy
from attnviz.app.scripts import SCRIPT_PATH, handle_script
from attnviz.app.static_files import CompressedStatic
from attnviz.classroom import room_routes
from attnviz.classroom.room_entry import ROOMS

# makes glibc return free memory to the system; other C libraries have no such function
_trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None


def sweep() -> None:
    """End expired sessions, and free their memory."""
    streamlit_private.end_expired_sessions()
    gc.collect()
    if _trim:
        _trim(0)


async def sweep_periodically() -> None:
    """Sweep at the interval at which sessions expire, until cancelled."""
    while True:
        await asyncio.sleep(st.get_option("server.disconnectedSessionTTL"))
        with suppress(OSError):  # no file descriptor was free: the next sweep may find one
            sweep()


try:
    import resource
except ImportError:  # Windows has no limit of files
    resource = None

# enough for all tabs and thousands of unfinished requests; macOS accepts no more, though it reports no limit
ENOUGH_FILES = 10_240


def allow_files() -> None:
    """Raise this process's limit of open files, usually 1,024, to `ENOUGH_FILES` or as far as permitted."""
    if resource:
        now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(now, min(ENOUGH_FILES, most)), most))


def warm_up() -> None:
    """Import and make what the pages need, and freeze it: each garbage collection would spend about 40 ms on it."""
    warm_index_page()
    for name in ("by_hand", "evidence", "sections"):
        importlib.import_module(f"attnviz.app.{name}")
    gc.collect()
    gc.freeze()


@asynccontextmanager
async def background(work: Coroutine) -> AsyncIterator[None]:
    """Run a coroutine in the background until the block ends."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def routes() -> list[BaseRoute]:
    """The routes besides the pages, wherever the app is mounted; none starts a session."""
    rooms = room_routes.routes()  # first: the lessons' route would match /room/moment too
    ours = (
        (SCRIPT_PATH, handle_script, "GET"),
        (ACTIONS_PATH, handle_actions, "POST"),
        (ARRAYS_PATH, handle_arrays, "POST"),
        (MOMENT_PATH, handle_moment, "GET"),
        (TALK_PATH, handle_talk, "POST"),
        (HOME_PATH, handle_take_home, "GET"),
    )
    anywhere = [Route("/{base:path}" + path[1:], respond, methods=[method]) for path, respond, method in ours]
    return [Route("/healthz", _healthy), *rooms, *anywhere]


def middleware() -> list[Middleware]:
    """The middleware in front of Streamlit, outermost first."""
    layers = (BugReports, Hosts, AllowedPaths, ClassPages, CompressedStatic, IndexPage, Messages)
    return [Middleware(Headers, policy()), *map(Middleware, layers)]


@asynccontextmanager
async def lifespan(app: object) -> AsyncIterator[None]:
    """Startup, background work and shutdown of the app."""
    warm_up()
    quiet_loggers()
    try:
        async with background(sweep_periodically()), background(ROOMS.run()):
            yield
    finally:
        await ROOMS.close()


async def _healthy(request: Request) -> PlainTextResponse:
    return PlainTextResponse("ok")
