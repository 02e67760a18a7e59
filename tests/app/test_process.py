"""What guards the process itself: its log, its files, and what never reaches an app."""

import asyncio
import logging
import re

from asgi import MARKER, run
from patience import PATIENCE_SECONDS

from attnviz.app import app_wiring
from attnviz.app.app_wiring import background
from attnviz.app.log import DiscreetFilter, quiet_loggers


def written(filter_, message, *arguments, level=logging.WARNING, error=None):
    info = (type(error), error, error.__traceback__) if error else None
    record = logging.LogRecord("streamlit", level, "server.py", 1, message, arguments, info)
    return logging.Formatter().format(record) if filter_.filter(record) else ""


def test_what_a_visitor_sent_is_in_no_line():
    discreet = DiscreetFilter()
    try:
        raise ValueError(MARKER)
    except ValueError as error:
        lines = [
            written(discreet, "no fragment %s, %.3f", MARKER, 1.0),
            written(discreet, f"never retrieved\nfuture: {MARKER}"),
            written(discreet, "Error", error=error),
            written(discreet, error),
            written(discreet, MARKER, level=logging.INFO),
        ]
    assert lines[:2] == ["no fragment …, …", "never retrieved"]
    assert re.fullmatch(r"Error: ValueError at test_process\.py:\d+", lines[2])
    assert lines[3:] == ["ValueError", ""]


def test_sweeps_go_on_after_one_that_found_no_free_file(monkeypatch):
    async def story():
        swept = asyncio.Event()
        found = iter([OSError("too many open files"), None])

        def sweep():
            error = next(found)
            if error:
                raise error
            swept.set()

        monkeypatch.setattr(app_wiring, "sweep", sweep)
        monkeypatch.setattr(app_wiring.st, "get_option", lambda _: 0.02)
        async with background(app_wiring.sweep_periodically()):
            await asyncio.wait_for(swept.wait(), PATIENCE_SECONDS)

    run(story())


def test_all_that_serves_is_quiet(monkeypatch):
    """Every logger of what serves the app is quiet once it is served."""
    for name in ("asyncio", "uvicorn.error", "streamlit.web.server.starlette.starlette_websocket"):
        monkeypatch.setattr(logging.getLogger(name), "filters", [])
    quiet_loggers()
    for name in ("asyncio", "uvicorn.error", "streamlit.web.server.starlette.starlette_websocket"):
        assert [type(each) for each in logging.getLogger(name).filters] == [DiscreetFilter]
