"""Errors. Every message states the rule, what was given, and what to do."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager


class SettingsError(ValueError):
    """A setting outside its limits."""


class ArrayError(ValueError):
    """An array whose shape or numbers attention cannot use."""


class ChangeError(ValueError):
    """A what-if that cannot be read, or does not fit the trace."""


class OwnArraysError(ValueError):
    """A user's file or arrays that cannot be read, or not as parts of a pass."""


class TalkError(ValueError):
    """A file or link that is no talk, or has a moment that doesn't fit its pass."""


class UnexpectedError(ValueError):
    """A bug in attnviz. Its `__cause__` is the original error; the message asks for what we need to fix it."""


@contextmanager
def guarded(doing: str, needed: str) -> Iterator[None]:
    """Raise an UnexpectedError from any error that is neither attnviz's own nor the file system's.

    `doing` is what fails, as in "compare these arrays"; `needed` what helps us find out why.

    >>> with guarded("divide", "both numbers"):  # doctest: +ELLIPSIS
    ...     1 / 0
    Traceback (most recent call last):
    attnviz.core.errors.UnexpectedError: attnviz could not divide. That is a bug of ours: please report it with both
    numbers and this line: ZeroDivisionError at ...
    """
    try:
        yield
    except (OSError, Warning):
        raise
    except Exception as error:
        if type(error).__module__.partition(".")[0] == "attnviz":
            raise
        raise UnexpectedError(bug_report(doing, needed, error)) from error


def bug_report(doing: str, needed: str, error: BaseException) -> str:
    """A sentence about a bug: what failed, and what to send us. It quotes no user input."""
    return (
        f"attnviz could not {doing}. That is a bug of ours: please report it with {needed} and this line: "
        f"{error_location(error)}"
    )


def error_location(error: BaseException) -> str:
    """The kind and place of an error, innermost first, without its message, which may quote a visitor."""
    frames = traceback.extract_tb(error.__traceback__)[:-8:-1]
    places = (f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in frames)
    return f"{type(error).__name__} at {' < '.join(places)}"
