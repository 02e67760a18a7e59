"""Arguments: checks of what callers pass, which name the rule, what came and what to write instead."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from attnviz.core.arrays import as_numpy
from attnviz.core.errors import ArrayError

_MOST_SHOWN = 40  # characters of a value in an error


def quoted(value: object) -> str:
    """A value as an error quotes it: short ones in full, any other by its type."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str | slice):
        text = repr(value)
        return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


def did_you_mean(value: object, allowed: Iterable[str]) -> str:
    """A sentence with the allowed text that is nearest to `value`; "" if none is near.

    >>> did_you_mean("visble", ("visible", "hidden"))
    " Did you mean 'visible'?"
    """
    from difflib import get_close_matches  # for errors alone: `import attnviz` is fast

    near = get_close_matches(value, [*allowed], n=1) if isinstance(value, str) else []
    return f" Did you mean {near[0]!r}?" if near else ""


def check_choice(name: str, value: object, allowed: Sequence[str], error: type[ValueError] = ArrayError) -> None:
    """Raise `error` unless `value` is one of the allowed texts."""
    if not (isinstance(value, str) and value in allowed):
        rest = ", ".join(map(repr, allowed[:-1]))
        raise error(f"{name} must be {rest} or {allowed[-1]!r}; got {quoted(value)}.{did_you_mean(value, allowed)}")


def check_type(name: str, value: object, kind: Any, such_as: str, error: type[ValueError] = ArrayError) -> None:
    """Raise `error` unless `value` is an instance of a type or a union of types."""
    if not isinstance(value, kind):
        raise error(f"{name} must be {such_as}; got {quoted(value)}.")


def check_bool(name: str, value: object) -> None:
    """Raise ArrayError unless `value` is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ArrayError(f"{name} must be True or False; got {quoted(value)}.")


def check_int(name: str, value: object, least: int, of: str, error: type[ValueError] = ArrayError) -> None:
    """Raise `error` unless `value` is a whole number from `least` on; `of` says what it counts."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise error(f"{name} must be a whole number of at least {least}, {of}; got {quoted(value)}.")


def as_number(name: str, value: object) -> float:
    """One finite number, which an array or a tensor may hold; ArrayError for anything else."""
    try:
        array = np.asarray(as_numpy(value))
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape != () or array.dtype.kind not in "iuf":
        raise ArrayError(f"{name} must be one number, such as 0.125; got {quoted(value)}.")
    if not np.isfinite(array):
        raise ArrayError(f"{name} must be a finite number, such as 0.125; got {array}.")
    return float(array)
