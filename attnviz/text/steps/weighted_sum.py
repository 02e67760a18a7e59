"""Weighted sum: each head mixes the values by the shares."""

import numpy as np

from attnviz.core.selection import Selection
from attnviz.core.trace import Trace
from attnviz.text.entry import Entry
from attnviz.text.step import Section, Step
from attnviz.text.steps.softmax import below_zero
from attnviz.text.wording import counted, listed, number, word, words

_MANY = 100.0  # a share that is hardly a percentage any more; only a number set by hand is so large


def portions(row: np.ndarray) -> list[tuple[str, list[int]]]:
    """The shares of a row as they are written, largest first, each with all keys that have it; no zeros."""
    groups: dict[str, list[int]] = {}
    for key in np.argsort(-row, kind="stable"):
        if row[key] > 0 and (share := _percent(row[key])) != "0%":
            groups.setdefault(share, []).append(int(key))
    return [(share, sorted(keys)) for share, keys in groups.items()]


def _percent(share: float) -> str:
    return f"{share:.0%}" if share < _MANY else f"{number(share)} times"


def _heads(trace: Trace, selection: Selection) -> str:
    row = trace["attention"].value[selection.head, selection.query]
    who = word(trace, "query", selection.query)
    if not row.any():
        return f"{who} sees no key in head {selection.head + 1}, so nothing is mixed and its row is zeros."
    return f"What head {selection.head + 1} makes of {who} is {_mixture(trace, row)}.{below_zero(trace, row)}"


def _mixture(trace: Trace, row: np.ndarray) -> str:
    """The one or two largest shares, each with all keys that have it."""
    n_mixed = int(np.count_nonzero(row))
    shown = portions(row)
    if not shown:
        little = (row > -0.005).all()
        return f"{'a little of each of' if little else 'a mixture of'} {counted(n_mixed, 'key')}"
    shown = shown[: 1 if len(shown[0][1]) > 1 else 2]
    named = sum(len(keys) for _, keys in shown)
    if shown[0][0] == "100%" and len(shown) == named == 1 and (row >= 0).all():
        return f"{'all' if n_mixed == 1 else 'almost all'} {words(trace, 'key', shown[0][1])}"
    parts = [f"{share}{' each of' * (len(keys) > 1)} {words(trace, 'key', keys)}" for share, keys in shown]
    return f"{listed(parts)}{', and less of the rest' * (named < n_mixed)}"


WEIGHTED_SUM = Step(
    id="weighted-sum",
    title="Weighted sum",
    headings=(Section("values", "Collect the values, in those shares"),),
    sections=(
        Section(
            "mixture",
            "Each query's result is a mixture of the :green[values] of all keys, each by its share of the attention. "
            "This is the only step in which tokens mix: a row of $H_i$ holds something of all that its query looked "
            "at.",
        ),
    ),
    stages=("heads",),
    entries={"heads": Entry("H_i", "Head outputs", "each head's mixture of values", "v", caption=_heads)},
)
