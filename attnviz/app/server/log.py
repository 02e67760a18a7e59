"""Log: a line for each event, with its place, and nothing that a visitor sent."""

import logging
import re

from attnviz.core.errors import error_location

_SLOT = re.compile(r"%[-#0 +]*\d*(\.\d+)?[a-z]")
_LOGGERS = ("asyncio", "uvicorn", "websockets", "streamlit", "attnviz")


class Discreet(logging.Filter):
    """Makes each warning one line, without what a visitor sent, and lets nothing less pass."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is written; makes it the line that is."""
        if record.levelno < logging.WARNING:
            return False  # each visit is no news
        error = record.exc_info[1] if record.exc_info else None
        record.msg = _first_line(record) + (f": {error_location(error)}" if error else "")
        record.args, record.exc_info, record.exc_text = (), None, None
        return True


def _first_line(record: logging.LogRecord) -> str:
    """The first line of what is said, without what was put into it."""
    text = record.msg if isinstance(record.msg, str) else type(record.msg).__name__
    return _SLOT.sub("…", text.strip().partition("\n")[0])


def log_bug(where: str, error: BaseException) -> None:
    """Write a line on an error that nobody foresaw."""
    logging.getLogger("attnviz").error(f"{where}: {error_location(error)}")


def quieten() -> None:
    """Have what serves the app say what happened and no more."""
    discreet = Discreet()
    for name in (*_LOGGERS, *logging.root.manager.loggerDict):
        if name.partition(".")[0] in _LOGGERS:
            logging.getLogger(name).addFilter(discreet)
