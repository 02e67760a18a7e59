"""Errors. Every message states the rule, what was given, and what to do."""

import os.path
import traceback
from collections.abc import Iterator
from contextlib import contextmanager


class SettingsError(ValueError):
    """A setting outside its limits.

    Examples
    --------
    >>> from attnviz import Settings, SettingsError
    >>> try:
    ...     Settings("the cat sat", mask="casual")
    ... except SettingsError as error:
    ...     print(error)
    mask must be one of none, causal, causal window, padding, window; got 'casual'. Did you mean 'causal'?
    """


class ArrayError(ValueError):
    """An array or an argument that attention can't be computed with.

    Examples
    --------
    >>> import numpy as np
    >>> from attnviz import ArrayError, Parameters, attend
    >>> try:
    ...     attend(np.eye(3), parameters=Parameters(w_q=np.ones((2, 4, 2))))
    ... except ArrayError as error:
    ...     print(error)
    w_q must have axes ('head', 'd_model', 'd_k') of lengths (2, 3, 2); got (2, 4, 2).
    """


class ChangeError(ValueError):
    """A number set by hand that can't be read, or doesn't fit the trace.

    Examples
    --------
    >>> from attnviz import ChangeError, trace_of
    >>> try:
    ...     trace_of("the cat").with_change("scores", (0, 2, 0), 1.0)
    ... except ChangeError as error:
    ...     print(error)
    scores has axes ('head', 'query', 'key') of lengths (2, 2, 2), counted from 0; got the index (0, 2, 0).
    """


class OwnArraysError(ValueError):
    """A file or arrays of yours that can't be read, or not as parts of a pass.

    Examples
    --------
    >>> import numpy as np
    >>> from attnviz import OwnArraysError, compare
    >>> try:
    ...     compare(None, {"x": np.eye(3), "w_q": np.ones((2, 2)), "attention": np.eye(3)})
    ... except OwnArraysError as error:
    ...     print(error)
    The arrays must fit each other in some layout, those of one sentence or all of a batch; got x (3, 3), w_q (2, 2),
    attention (3, 3). Check which axis counts what.
    """


class TalkError(ValueError):
    """A file or link that is no talk, or has a moment that doesn't fit its pass."""


class UnexpectedError(ValueError):
    """A bug in attnviz. Its `__cause__` is the original error; the message asks for what we need to fix it.

    Examples
    --------
    >>> from attnviz import UnexpectedError, compare
    >>> class Broken:
    ...     def __array__(self, dtype=None, copy=None):
    ...         raise RuntimeError
    >>> try:
    ...     compare(None, {"x": Broken()})
    ... except UnexpectedError as error:
    ...     print(error)
    attnviz could not compare these arrays. That is a bug of ours: please report it with the arrays, or their names and
    shapes, and this line: RuntimeError at ...
    """


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
        if type(error).__module__.partition(".")[0] == "attnviz" or _is_wrong_call(error):
            raise
        raise UnexpectedError(bug_report(doing, needed, error)) from error


def _is_wrong_call(error: Exception) -> bool:
    """Whether Python refused the arguments of a guarded function, as it does an unknown keyword."""
    innermost = [frame for frame, _ in traceback.walk_tb(error.__traceback__)][-1]
    return isinstance(error, TypeError) and innermost.f_globals["__name__"] == "contextlib"


def bug_report(doing: str, needed: str, error: BaseException) -> str:
    """A sentence about a bug: what failed, and what to send us. It quotes no user input."""
    return (
        f"attnviz could not {doing}. That is a bug of ours: please report it with {needed} and this line: "
        f"{error_location(error)}"
    )


def error_location(error: BaseException) -> str:
    """The kind and place of an error, innermost first, without its message, which may quote a visitor."""
    frames = traceback.extract_tb(error.__traceback__)[:-8:-1]
    places = (f"{os.path.basename(frame.filename)}:{frame.lineno}" for frame in frames)
    return f"{type(error).__name__} at {' < '.join(places)}"
