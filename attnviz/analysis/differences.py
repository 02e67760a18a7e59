"""What if: what moved between a trace and the same trace with some numbers set by hand."""

import numpy as np

from attnviz.core.changes import Change, parse_change, split_changes
from attnviz.core.errors import ChangeError
from attnviz.core.trace import Trace


def muted(head: int) -> Change:
    """The change that silences a head, counted from 0: its output is set to zeros."""
    return Change("heads", (head,), 0.0)


def toggled(trace: Trace, index: tuple[int, ...]) -> Change:
    """The change that hides a visible cell of the mask, and shows a hidden one."""
    mask = trace["mask"].value
    if mask.dtype == bool:
        return Change("mask", index, not mask[index])
    return Change("mask", index, 0.0 if np.isneginf(mask[index]) else -np.inf)


def replaced(changes: tuple[Change, ...], change: Change) -> tuple[Change, ...]:
    """The changes with `change` at the end, in place of an earlier one of the same cells."""
    return (*(each for each in changes if (each.stage, each.index) != (change.stage, change.index)), change)


def fitting(trace: Trace, text: str) -> tuple[tuple[Change, ...], list[str]]:
    """Read the changes of an address, and leave out what does not fit this trace.

    Returns
    -------
    changes : tuple of Change
    notices : list of str
        One sentence for each that was left out: the rule and what came.
    """
    changes, notices = [], []
    try:
        parts = split_changes(text)
    except ChangeError as error:
        return (), [str(error)]
    for part in parts:
        try:
            change = parse_change(part)
            trace.check(change)
            changes.append(change)
        except ChangeError as error:
            notices.append(str(error))
    return tuple(changes), notices


def difference(before: Trace, after: Trace, name: str) -> np.ndarray:
    """How far each cell of a stage moved: after - before, in the stage's shape.

    0 where a key is hidden in both; -inf where it was hidden, inf where it came
    into sight. In a boolean mask these are -1 and 1.
    """
    old, new = (np.asarray(trace[name].value, dtype=np.float64) for trace in (before, after))
    return np.subtract(new, old, out=np.zeros(new.shape), where=new != old)
