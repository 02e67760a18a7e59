"""Sentences on what a change moved in each stage, and on what would move a number most."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from attnviz.analysis.pairing import difference
from attnviz.core.changes import Change
from attnviz.core.numerals import digits
from attnviz.core.operations.softmax import Softmax
from attnviz.core.terms import Cell
from attnviz.core.trace import Stage, Trace
from attnviz.explain.steps import AXES, entry, full_title
from attnviz.explain.texts import crosses, sides
from attnviz.explain.wording import length, precise

SATURATED = 0.99  # a row of a softmax with a larger number than this hardly moves


def caption(before: Trace, after: Trace, name: str) -> str:
    """How a stage changed, in one line: the row that moved furthest, by how much, and how many rows didn't.

    >>> from attnviz import Settings, trace_of
    >>> before = trace_of(Settings("the cat sat", mask="causal"))
    >>> caption(before, before.with_change("attention", (0, 2, 1), 1.0), "output")
    'Output: only the row of “sat” changed, by 0.43 at most.'
    """
    stage, title = after[name], full_title(name, after)
    with np.errstate(over="ignore"):  # the difference of two floats may overflow
        moved = np.abs(difference(before, after, name))
    furthest = np.unravel_index(moved.argmax(), moved.shape)
    rows = moved.max(axis=-1)
    n_still = np.count_nonzero(rows == 0)
    if n_still == rows.size:
        return f"{title}: nothing changed."
    toggled = np.argwhere(_hides(stage) != _hides(before[name]))
    if len(toggled):
        return f"{title}: {_seen(after, name, tuple(toggled[0].tolist()))}; {_stayed(n_still, rows.size)}."
    by = f"by {_short(moved[furthest])}{' at most' * (moved.shape[-1] > 1)}"
    row = _row(after, name, furthest[:-1])
    if not row:
        return f"{title}: changed {by}."
    if n_still == rows.size - 1:
        return f"{title}: {'only ' * (rows.size > 1)}{row} changed, {by}."
    return f"{title}: {row} changed most, {by}; {_stayed(n_still, rows.size)}."


def _seen(trace: Trace, name: str, cell: tuple[int, ...]) -> str:
    """The key that a query now sees, or no longer sees."""
    *head, query, key = trace.names_at(name, cell)
    sees = "can no longer see" if _hides(trace[name])[cell] else "can see"
    after = "What comes after " * crosses(trace.layer_of(name).trace)
    return f"{after}“{query}” {sees} “{key}”{''.join(f' in {each}' for each in head)}"


def _stayed(n_still: int, n_rows: int) -> str:
    if n_still == 0:
        return "every row changed"
    return "no other row changed" if n_still == n_rows - 1 else f"{n_still} of {n_rows} rows did not change"


def describe_change(trace: Trace, change: Change) -> str:
    """A number set by hand, in words."""
    stage = trace[change.stage]
    if len(change.index) < len(stage.shape) or None in change.index:
        axes = zip(trace.axes(change.stage), change.index, strict=False)
        named = [(axis.name, axis.label(place)) for axis, place in axes if place is not None]
        words = ", ".join(f"{'neuron ' * (axis == 'neuron')}{label}" for axis, label in named)
        title = full_title(change.stage, trace)
        joined = f"{', ' if title.endswith('”') else ' of '}{words}" if words else ""
        return f"{title}{joined}, all of them = {_signed(change.value)}"
    return f"{trace.name_of(stage.cell(change.index))} = {_signed(change.value)}"


def steepest(trace: Trace, name: str, index: Sequence[int], gradients: Mapping[str, np.ndarray]) -> str:
    """One line on the word and the parameter that would move a number most, and on saturation in a softmax.

    A word's slope is the length of its row of derivatives: the most that a step of length 1 along any direction can do.
    A parameter's is its derivative.

    >>> from attnviz import Settings, trace_of
    >>> from attnviz.analysis.provenance import gradients
    >>> trace = trace_of(Settings("the cat sat", mask="causal"))
    >>> steepest(trace, "output", (2, 0), gradients(trace, "output", (2, 0)))
    'output[sat, 1] moves most with the word “cat” (slope 0.4729) and with the parameter w_o[3, 1] (slope 1.8428).'
    """
    given = [trace[each] for each in gradients if each != name and not trace[each].inputs]
    parameters = [_parameter(trace, stage, gradients) for stage in given if entry(stage.name).kind == "parameter"]
    words = [
        _word(trace, stage, gradients)
        for stage in given
        if entry(stage.name).kind != "parameter" and stage.axes[-1] != "key"
    ]
    most = [max(group, key=lambda each: abs(each[0])) for group in (words, parameters) if group]
    movers = " and with ".join(f"{what} (slope {precise(slope)})" for slope, what in most if slope)
    number = trace.name_of(Cell(name, tuple(index), 0.0))
    moves = (
        f"{number} moves most with {movers}." if movers else f"No {trace.origin.unit} and no parameter moves {number}."
    )
    return " ".join(part for part in (moves, _saturation(trace, name, tuple(index))) if part)


def _saturation(trace: Trace, name: str, index: tuple[int, ...]) -> str:
    """Why every slope of an attention weight is small if one of its row is nearly 1; else nothing.

    The slope of a weight a by its own score is a (1 - a), by the score of a weight b it is -a b. None is larger in size
    than that of the largest weight by its own score.
    """
    stage = trace[name]
    if not isinstance(stage.operation, Softmax) or stage.is_overridden(index):
        return ""
    scores, *sinks = trace.inputs(name)
    shares = stage.operation.compute(*(each.value for each in (scores, *sinks)))[index[:-1]]  # as if nothing were set
    place = int(shares.argmax())
    most, rest = float(shares[place]), math.fsum(np.delete(shares, place))
    if most <= SATURATED or (not sinks and np.isfinite(scores.value[index[:-1]]).sum() == 1):
        return ""
    if sinks:
        rest += float(trace[trace.layer_of(name).names["sink_share"]].value[index[:-1]])
    axis = stage.axes[-1]
    others = f"all other {AXES[axis]}{' and the sink' if sinks else ''} together {precise(rest)}"
    parts = f"“{trace.axes(name)[-1].label(place)}” has {precise(most)} of it, {others}"
    return (
        f"This row is saturated: {parts}. No score moves a number of the row faster than the product of the two, "
        f"{precise(most * rest)}; what comes earlier acts through the scores."
    )


def _parameter(trace: Trace, stage: Stage, gradients: Mapping[str, np.ndarray]) -> tuple[float, str]:
    slopes = gradients[stage.name]
    place = np.unravel_index(np.abs(slopes).argmax(), slopes.shape)
    return slopes[place], f"the parameter {trace.name_of(stage.cell(place))}"


def _word(trace: Trace, stage: Stage, gradients: Mapping[str, np.ndarray]) -> tuple[float, str]:
    axis = stage.axes[-2]
    rows = np.moveaxis(gradients[stage.name], -2, 0).reshape(stage.shape[-2], -1)
    unit = float(np.abs(rows).max()) or 1.0
    relative = [length(row / unit) for row in rows]  # the lengths themselves may overflow
    steepest = int(np.argmax(relative))
    word = trace.axes(stage.name)[-2].label(steepest)
    called = axis.replace("context", sides(trace)[1] or "context").replace("token", trace.origin.unit)
    return unit * relative[steepest], f"the {called} “{word}”"


def _hides(stage: Stage) -> np.ndarray:
    return ~stage.value if stage.value.dtype == bool else np.isneginf(stage.value)


def _row(trace: Trace, name: str, row: tuple[int, ...]) -> str:
    """A row in words, such as "the row of “sat” in head 2"; empty for an array with a single row."""
    what, where = "the row", ""
    for axis, label in zip(trace[name].axes, trace.names_at(name, row), strict=False):
        if axis == "head":
            where = f" in {label}"
        else:
            what = f"the row of “{label}”" if trace.words(name, axis) else f"row {label}"
    return what + where if row else ""


def _short(value: float) -> str:
    return f"{value:.2f}" if 0.01 <= value < 1e6 else precise(value)


def _signed(value: float) -> str:
    if math.isinf(value):
        return digits(value)
    mantissa, _, exponent = f"{value:.6g}".partition("e")
    return f"{mantissa}{f'e{int(exponent)}' if exponent else ''}".replace("-", "−")
