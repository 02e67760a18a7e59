"""What if: what moved between a trace and the same trace with some numbers set by hand."""

import numpy as np

from attnviz.changes import Change, parse_change, split_changes
from attnviz.errors import ChangeError
from attnviz.numerals import digits
from attnviz.trace import Trace
from attnviz.vocabulary import VOCABULARY


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


def caption(before: Trace, after: Trace, name: str) -> str:
    """What moved in a stage, in one line: the row that moved furthest, by how much, and how many rows did not.

    Examples
    --------
    >>> from attnviz import Settings, trace_of
    >>> before = trace_of(Settings("the cat sat", mask="causal"))
    >>> caption(before, before.changed("attention", (0, 2, 1), 1.0), "output")
    'The output of “sat” moved by 0.43; 2 of 3 rows did not move.'
    """
    stage, title = after[name], f"The {VOCABULARY[name].title.lower()}"
    moved = np.abs(difference(before, after, name))
    furthest = np.unravel_index(moved.argmax(), moved.shape)
    rows = moved.max(axis=-1)
    n_still = np.count_nonzero(rows == 0)
    if n_still == rows.size:
        return f"{title} did not move."
    if np.isinf(moved[furthest]) or stage.value.dtype == bool:
        hidden = not stage.value[furthest] if stage.value.dtype == bool else np.isneginf(stage.value[furthest])
        what = f"{after.name_of(stage.cell(furthest))} is {'hidden' if hidden else 'visible'} now"
    else:
        what = f"{title}{_of_row(after, name, furthest[:-1])} moved by {_short(moved[furthest])}"
    if rows.size == 1:
        return f"{what}."
    return f"{what}; {f'{n_still} of {rows.size} rows did not move' if n_still else 'every row moved'}."


def _of_row(trace: Trace, name: str, row: tuple[int, ...]) -> str:
    """A row as a person would say it: " of “sat” in head 2"."""
    words, places = "", []
    for axis, place in zip(trace[name].axes, row, strict=False):
        label = trace.label(axis, place)
        if axis in trace.labels:
            words = f" of “{label}”"
        else:
            places.append(label if axis == "head" else f"row {label}")
    return words + (f" in {', '.join(places)}" if places else "")


def _short(value: float) -> str:
    return f"{value:.2f}" if 0.01 <= value < 1e6 else digits(value)
