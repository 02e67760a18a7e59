"""Whole pass: what one knows at its end."""

from collections.abc import Mapping

import numpy as np

from attnviz.core.selection import Selection
from attnviz.core.trace import Trace
from attnviz.text.condition import always, lacks
from attnviz.text.entry import Entry
from attnviz.text.markup import Runs, runs
from attnviz.text.step import Section, Step
from attnviz.text.steps.output import adds_up, is_set_by_hand
from attnviz.text.wording import counted, length, listed, number, numbered, percent, tied

MOST_NAMED = 3
"""How many words a sentence names."""


def _counted(trace: Trace, selection: Selection, entries: Mapping[str, Entry]) -> str:
    everything = sum(stage.value.size for stage in trace.stages)
    given = [stage for stage in trace.stages if stage.is_given]
    parameters = sum(stage.value.size for stage in given if entries[stage.name].kind == "parameter")
    n_queries, n_keys = trace["scores"].shape[1:]
    n_rows, width = trace.output.shape
    queries, keys = (trace.labels.get(axis) for axis in ("query", "key"))
    entered = f"{counted(n_queries, 'query', 'queries')} looked at {counted(n_keys, 'key')}, and"
    if queries and queries == keys:
        entered = f"{counted(n_queries, 'word')} went in and"
    return (
        f"{entered} {counted(n_rows, 'row')} of {counted(width, 'number')} came out: {everything:,} numbers in all, "
        f"{f'{parameters:,}' if parameters else 'none'} of them parameters."
    )


def _took(trace: Trace, selection: Selection, entries: Mapping[str, Entry]) -> Runs:
    """What the selected query took from whom."""
    row = trace["attention"].value[selection.head, selection.query]
    visible = np.isfinite(trace["masked"].value[selection.head, selection.query])
    taken = np.flatnonzero(visible | (row != 0))  # a hidden key's share may be set by hand
    most = taken[tied(row[taken], int(row[taken].argmax()))] if len(taken) else taken
    words = {f"key_{key}": trace.label("key", key) for key in most.tolist()}
    said = f"In head {selection.head + 1}, “{{query}}” {_taking(row, taken, most)}."
    return runs(said, query=trace.label("query", selection.query), **words)


def _taking(row: np.ndarray, taken: np.ndarray, most: np.ndarray) -> str:
    """What a query took, by its shares, the keys it took from and those of them with the largest share."""
    if not len(taken):
        return "saw no key and took nothing"
    share = f"{percent(row[most[0]])} of its attention"
    if len(taken) == 1:
        return f"took from {_slots(most)} alone: {share}"
    if len(taken) == len(most):
        return f"took the same from each of {len(taken)} keys: {share}"
    return f"took most from {_slots(most)}: {share}{' each' * (len(most) > 1)}"


def _slots(keys: np.ndarray) -> str:
    """A slot for each key, in quotation marks; of many the first, and how many more."""
    named = [f"“{{key_{key}}}”" for key in keys[:MOST_NAMED]]
    return listed(named + [counted(len(keys) - MOST_NAMED, "other")] * (len(keys) > MOST_NAMED))


def _added(trace: Trace, selection: Selection, entries: Mapping[str, Entry]) -> Runs:
    """Which head added most to the output of the selected query."""
    rows = trace["contributions"].value[:, selection.query]
    lengths = _relative_lengths(rows)
    most = tied(lengths, int(lengths.argmax()))
    part = f"a part of length {number(length(rows[most[0]]))}{' each' * (len(most) > 1)}"
    if not lengths.any():
        said = "No head added anything to the output of “{query}”."
    elif len(most) == len(lengths):
        said = f"{numbered('head', most).capitalize()} added {part} to the output of “{{query}}”."
    else:
        said = f"{numbered('head', most).capitalize()} added most to the output of “{{query}}”: {part}."
    return runs(said, query=trace.label("query", selection.query))


def _relative_lengths(rows: np.ndarray) -> np.ndarray:
    """The lengths of rows over the largest number in them: the lengths themselves may be beyond float64."""
    unit = float(np.abs(rows).max()) or 1.0
    return np.array([length(row / unit) for row in rows])


WHOLE_PASS = Step(
    id="whole-pass",
    title="Whole pass",
    headings=(Section("known", "The whole pass, from words to output"),),
    sections=(
        Section("counted", _counted),
        Section("took", _took),
        Section("added", _added, adds_up),
        Section("by hand", "Between the heads and the output numbers are set by hand.", is_set_by_hand),
        Section("no output", "The heads' results leave side by side: no matrix mixes them here.", lacks("output")),
    ),
    arcs=True,
    when=always,
)
