"""Log: a line for each event, with its place, and nothing that a visitor sent."""

import logging
import re
import traceback

_SLOT = re.compile(r"%[-#0 +]*\d*(\.\d+)?[a-z]")
_LOGGERS = ("asyncio", "uvicorn", "websockets", "streamlit", "attnviz")


class Discreet(logging.Filter):
    """Makes each warning one line, without what a visitor sent, and lets nothing less pass."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is written; makes it the line that is."""
        if record.levelno < logging.WARNING:
            return False  # each visit is no news
        record.msg = _first_line(record) + _place(record.exc_info[1] if record.exc_info else None)
        record.args, record.exc_info, record.exc_text = (), None, None
        return True


def _first_line(record: logging.LogRecord) -> str:
    """The first line of what is said, without what was put into it."""
    text = record.msg if isinstance(record.msg, str) else type(record.msg).__name__
    return _SLOT.sub("…", text.strip().partition("\n")[0])


def _place(error: BaseException | None) -> str:
    """The kind and place of an error, innermost first, without its message, which may quote a visitor."""
    if error is None:
        return ""
    frames = traceback.extract_tb(error.__traceback__)[:-8:-1]
    places = (f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in frames)
    return f": {type(error).__name__} at {' < '.join(places)}"


def quieten() -> None:
    """Have what serves the app say what happened and no more."""
    discreet = Discreet()
    for name in (*_LOGGERS, *logging.root.manager.loggerDict):
        if name.partition(".")[0] in _LOGGERS:
            logging.getLogger(name).addFilter(discreet)
