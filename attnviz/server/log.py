"""What is written into the log: that a thing happened and where, once a minute, and nothing that a visitor sent.

Without it, a server that runs out of file descriptors writes a traceback for
each connection that it can't take, thousands a second.
"""

import logging
import re
import time
import traceback
from collections.abc import Callable

MINUTE = 60.0

_SLOT = re.compile(r"%[-#0 +]*\d*(\.\d+)?[a-z]")
_LOGGERS = ("asyncio", "uvicorn", "websockets", "streamlit", "attnviz")


class Throttle(logging.Filter):
    """Lets each thing pass once a minute, as one line, with how often it has happened meanwhile.

    A thing is a place in the code that writes and the kind of error, so there are only so many.

    Parameters
    ----------
    clock
        What tells the time, in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self.clock = clock
        self.last: dict[tuple, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is written; makes it the line that is."""
        if record.levelno < logging.WARNING:
            return False  # each visit is no news
        error = record.exc_info[1] if record.exc_info else None
        thing = record.pathname, record.lineno, type(error)
        said, since = self.last.get(thing, (-MINUTE, 0))
        if self.clock() - said < MINUTE:
            self.last[thing] = said, since + 1
            return False
        self.last[thing] = self.clock(), 0
        record.msg = _told(record) + _place(error) + (f" ({since:,} more before)" if since else "")
        record.args, record.exc_info, record.exc_text = (), None, None
        return True


def _told(record: logging.LogRecord) -> str:
    """The first line of what is said, without what was put into it."""
    text = record.msg if isinstance(record.msg, str) else type(record.msg).__name__
    return _SLOT.sub("…", text.strip().partition("\n")[0])


def _place(error: BaseException | None) -> str:
    """What kind of error and where, innermost first, without its message, which may quote a visitor."""
    if error is None:
        return ""
    frames = traceback.extract_tb(error.__traceback__)[:-8:-1]
    places = (f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in frames)
    return f": {type(error).__name__} at {' < '.join(places)}"


def quieten() -> None:
    """Have what serves the app say each thing once."""
    throttle = Throttle()
    for name in (*_LOGGERS, *logging.root.manager.loggerDict):
        if name.partition(".")[0] in _LOGGERS:
            logging.getLogger(name).addFilter(throttle)
