"""The log, one line for each event and without visitors' data, and the response to a request that fails."""

import logging
import re

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attnviz.classroom.http import NO_STORE
from attnviz.core.errors import bug_report, error_location

_SLOT = re.compile(r"%[-#0 +]*\d*(\.\d+)?[a-z]")
_LOGGERS = ("asyncio", "uvicorn", "websockets", "streamlit", "attnviz")


class DiscreetFilter(logging.Filter):
    """Make each warning one line without visitors' data, and drop lesser records."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to write the record, which is shortened in place."""
        if record.levelno < logging.WARNING:
            return False  # every visit would be logged
        error = record.exc_info[1] if record.exc_info else None
        record.msg = _first_line(record) + (f": {error_location(error)}" if error else "")
        record.args, record.exc_info, record.exc_text = (), None, None
        return True


def _first_line(record: logging.LogRecord) -> str:
    text = record.msg if isinstance(record.msg, str) else type(record.msg).__name__
    return _SLOT.sub("…", text.strip().partition("\n")[0])


def log_bug(where: str, error: BaseException) -> None:
    """Log an unexpected error in one line."""
    logging.getLogger("attnviz").error(f"{where}: {error_location(error)}")


def quiet_loggers() -> None:
    """Apply the filter to the loggers of everything that serves the app."""
    discreet = DiscreetFilter()
    for name in (*_LOGGERS, *logging.root.manager.loggerDict):
        if name.partition(".")[0] in _LOGGERS:
            logging.getLogger(name).addFilter(discreet)


class BugReports:
    """Answer a failing request with a sentence on what to report, and log where it failed."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_begun = False

        async def sent(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self.app(scope, receive, sent)
        except Exception as error:
            if scope["type"] != "http" or has_begun:
                raise
            log_bug("A request failed", error)
            report = bug_report("answer this", "what you did", error)
            await PlainTextResponse(report, 500, NO_STORE)(scope, receive, send)
