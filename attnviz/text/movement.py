"""Movement: what a change moved in each stage, and what would move a number, in one line each."""

from collections.abc import Mapping, Sequence

import numpy as np

from attnviz.analysis.differences import difference
from attnviz.core.changes import Change
from attnviz.core.terms import Cell
from attnviz.core.trace import Stage, Trace
from attnviz.text.steps import entry, full_title
from attnviz.text.wording import length, precise


def caption(before: Trace, after: Trace, name: str) -> str:
    """What moved in a stage, in one line: the row that moved furthest, by how much, and how many rows did not.

    Examples
    --------
    >>> from attnviz import Settings, trace_of
    >>> before = trace_of(Settings("the cat sat", mask="causal"))
    >>> caption(before, before.with_change("attention", (0, 2, 1), 1.0), "output")
    'The output moved most for “sat”, by up to 0.43; 2 of 3 rows did not move.'
    """
    stage, title = after[name], f"The {full_title(name).lower()}"
    with np.errstate(over="ignore"):  # two numbers of float64 may be further apart than its largest
        moved = np.abs(difference(before, after, name))
    furthest = np.unravel_index(moved.argmax(), moved.shape)
    rows = moved.max(axis=-1)
    n_still = np.count_nonzero(rows == 0)
    if n_still == rows.size:
        return f"{title} did not move."
    toggled = np.argwhere(_hides(stage) != _hides(before[name]))
    if len(toggled):
        cell = tuple(toggled[0].tolist())
        what = f"{after.name_of(stage.cell(cell))} is {'hidden' if _hides(stage)[cell] else 'visible'} now"
    else:
        by = f"by {'up to ' * (moved.shape[-1] > 1)}{_short(moved[furthest])}"
        row = _row(after, name, furthest[:-1])
        what = f"{title} moved most {row}, {by}" if row else f"{title} moved {by}"
    if rows.size == 1:
        return f"{what}."
    return f"{what}; {f'{n_still} of {rows.size} rows did not move' if n_still else 'every row moved'}."


def described(trace: Trace, change: Change) -> str:
    """A number set by hand as a person would say it."""
    stage = trace[change.stage]
    if len(change.index) < len(stage.shape):
        words = ", ".join(trace.label(*at) for at in zip(stage.axes, change.index, strict=False))
        return f"{full_title(change.stage)} of {words}, all of them = {_signed(change.value)}"
    return f"{trace.name_of(stage.cell(change.index))} = {_signed(change.value)}"


def steepest(trace: Trace, name: str, index: Sequence[int], found: Mapping[str, np.ndarray]) -> str:
    """One line on what would move a number most: a word and a parameter.

    A word's slope is along its vector: the length of its row of derivatives,
    and so the most that a step of length 1 can do. A parameter's is its derivative.

    Parameters
    ----------
    trace : Trace
    name, index
        The cell.
    found : mapping of stage names to ndarray
        Its gradients.

    Examples
    --------
    >>> from attnviz import Settings, trace_of
    >>> from attnviz.analysis.gradients import gradients
    >>> trace = trace_of(Settings("the cat sat", mask="causal"))
    >>> steepest(trace, "output", (2, 0), gradients(trace, "output", (2, 0)))
    'output[sat, 1] moves most with the word “cat” (slope 0.4729) and with the parameter w_o[3, 1] (slope 1.8428).'
    """
    given = [trace[each] for each in found if each != name and not trace[each].inputs]
    parameters = [_parameter(trace, stage, found) for stage in given if entry(stage.name).kind == "parameter"]
    words = [
        _word(trace, stage, found) for stage in given if entry(stage.name).kind != "parameter" and _has_words(stage)
    ]
    most = [max(group, key=lambda each: abs(each[0])) for group in (words, parameters) if group]
    said = " and with ".join(f"{what} (slope {precise(slope)})" for slope, what in most if slope)
    number = trace.name_of(Cell(name, tuple(index), 0.0))
    return f"{number} moves most with {said}." if said else f"No word and no parameter moves {number}."


def _parameter(trace: Trace, stage: Stage, found: Mapping[str, np.ndarray]) -> tuple[float, str]:
    """The steepest slope of a parameter, and its name."""
    slopes = found[stage.name]
    place = np.unravel_index(np.abs(slopes).argmax(), slopes.shape)
    return slopes[place], f"the parameter {trace.name_of(stage.cell(place))}"


def _word(trace: Trace, stage: Stage, found: Mapping[str, np.ndarray]) -> tuple[float, str]:
    """The steepest slope of a word along its vector, over all heads, and the word."""
    axis = stage.axes[-2]
    rows = np.moveaxis(found[stage.name], -2, 0).reshape(stage.shape[-2], -1)
    unit = float(np.abs(rows).max()) or 1.0
    relative = [length(row / unit) for row in rows]  # the lengths themselves may be beyond float64
    steepest = int(np.argmax(relative))
    return unit * relative[steepest], f"the {axis.replace('token', 'word')} “{trace.label(axis, steepest)}”"


def _has_words(stage: Stage) -> bool:
    return stage.axes[-1] != "key"  # a row of a mask is no word


def _hides(stage: Stage) -> np.ndarray:
    """Where a stage hides keys."""
    return ~stage.value if stage.value.dtype == bool else np.isneginf(stage.value)


def _row(trace: Trace, name: str, row: tuple[int, ...]) -> str:
    """A row as a person would say it: "for “sat” in head 2"; of an array that is one row, nothing."""
    words, places = "", []
    for axis, place in zip(trace[name].axes, row, strict=False):
        label = trace.label(axis, place)
        if axis in trace.labels:
            words = f"for “{label}”"
        else:
            places.append(label if axis == "head" else f"row {label}")
    return " ".join(part for part in (words, places and f"in {', '.join(places)}") if part)


def _short(value: float) -> str:
    return f"{value:.2f}" if 0.01 <= value < 1e6 else precise(value)


def _signed(value: float) -> str:
    return f"{value:.6g}".replace("-", "−")
