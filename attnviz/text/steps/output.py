"""Output: the last matrix mixes the heads."""

from typing import NamedTuple

import numpy as np

from attnviz.core.selection import Selection
from attnviz.core.trace import Trace
from attnviz.text.entry import Entry
from attnviz.text.step import Chart, Section, Step, both, has
from attnviz.text.wording import alike, length, number, numbered, same, tied, word


class Parts(NamedTuple):
    """What the heads add to one row of the output.

    Attributes
    ----------
    lengths : ndarray (heads,)
        Infinite where a length is beyond float64.
    longest, shortest : ndarray of int
        The heads whose part is the longest, and the shortest.
    equal : bool
        Whether all are equally long.
    """

    lengths: np.ndarray
    longest: np.ndarray
    shortest: np.ndarray
    equal: bool


def parts(trace: Trace, query: int) -> Parts:
    """How long the parts are that the heads add."""
    rows = trace["contributions"].value[:, query]
    unit, relative = _unit(rows), relative_lengths(rows)
    return Parts(
        np.array([unit * part for part in relative.tolist()]),
        tied(relative, int(relative.argmax())),
        tied(relative, int(relative.argmin())),
        same(relative),
    )


def relative_lengths(rows: np.ndarray) -> np.ndarray:
    """The lengths of rows over the largest number in them: the lengths themselves may be beyond float64."""
    unit = _unit(rows)
    return np.array([length(row / unit) for row in rows])


def _unit(rows: np.ndarray) -> float:
    return float(np.abs(rows).max()) or 1.0


def adds_up(trace: Trace) -> bool:
    """Whether the contributions make the output: not once a number between the heads and the output is set by hand."""
    return not any(trace[name].overridden for name in ("concat", "contributions", "output"))


def _contributions(trace: Trace, selection: Selection) -> str:
    part = trace["contributions"].value[selection.head, selection.query]
    who = word(trace, "query", selection.query)
    if not part.any():
        return f"Head {selection.head + 1} adds nothing to the output of {who}: its part is zeros."
    output = trace["output"].value[selection.query]
    return (
        f"Head {selection.head + 1} adds a vector of length {number(length(part))} to the output of {who}, "
        f"whose length is {number(length(output))}."
    )


def _output(trace: Trace, selection: Selection) -> str:
    output = trace["output"].value[selection.query]
    leaves = f"{word(trace, 'query', selection.query)} leaves as a vector of length {number(length(output))}."
    lengths, longest, shortest, equal = parts(trace, selection.query)
    if not adds_up(trace):
        return leaves
    if not lengths.any():
        return f"{leaves} No head adds anything to it."
    if len(lengths) == 1:
        return f"{leaves} The only head adds a part of length {number(lengths[0])}."
    if equal or alike(lengths):
        each = f"{number(lengths[0])} each{'' if equal else ', to two decimals'}"
        return f"{leaves} The parts that the {len(lengths)} heads add are equally long: {each}."
    return (
        f"{leaves} Of the parts that the heads add, the longest has length {number(lengths.max())}, "
        f"from {numbered('head', longest)}, and the shortest {number(lengths.min())}, "
        f"from {numbered('head', shortest)}."
    )


OUTPUT = Step(
    id="output",
    title="Output",
    headings=(Section("mixed", "W_O mixes the heads"),),
    sections=(
        Section(
            "mixed",
            "One last matrix of parameters, :violet[$W^O$], brings the heads together into the :violet[**output**]: "
            "one new row for each query. As the heads stand side by side, this is the same as sending each head "
            "through its own band of rows of $W^O$ and **adding up** what comes out.",
        ),
        Section("bias", "The bias $b^O$ is added once.", has("b_o")),
        Section("contributions", "Below is what each head contributes.", adds_up),
    ),
    stages=("output",),
    entries={
        "w_o": Entry("W^O", "Output parameters", "the matrix that mixes the heads", "output", kind="parameter"),
        "b_o": Entry("b^O", "Output bias", "what is added to every output", "output", kind="parameter"),
        "contributions": Entry(
            "O_i", "Contributions", "each head's own part of the output", "output", caption=_contributions
        ),
        "output": Entry("O", "Output", "what leaves: one vector for each query", "output", caption=_output),
    },
    notes=(
        Section(
            "set by hand",
            "Numbers between the heads and the output are set by hand here, so the contributions $O_i$ of the heads do "
            "not add up to the output.",
            both(has("contributions"), lambda trace: not adds_up(trace)),
            stages=("contributions",),
        ),
    ),
    charts=(Chart("contributions", adds_up, stages=("contributions",)),),
)
