"""Softmax: masked scores become attention."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from attnviz.core.numerals import bracketed, digits
from attnviz.core.operations.softmax import Share
from attnviz.core.operations.sumnormalise import SumNormalise
from attnviz.core.selection import Selection
from attnviz.core.trace import Trace
from attnviz.text.entry import Entry
from attnviz.text.step import Chart, Section, Step, both
from attnviz.text.steps.mask import before, moves, others_see_nothing
from attnviz.text.wording import alike, number, same, tied, word, words


class Looks(NamedTuple):
    """How a query divides its attention.

    Attributes
    ----------
    seen : ndarray of int
        The keys that it sees.
    most : float
        Its largest share.
    best : ndarray of int
        All keys that have it.
    times : float
        How many times an even share the largest is; infinite beyond float64.
    mean : float
        The mean share of the keys that it sees.
    evenly : bool
        Whether the shares of the keys that it sees are the same.
    nearly : bool
        Whether they look it, as multiples of an even share.
    """

    seen: np.ndarray
    most: float
    best: np.ndarray
    times: float
    mean: float
    evenly: bool
    nearly: bool


def looks(trace: Trace, head: int, query: int) -> Looks:
    """How a query that sees a key divides its attention in one head."""
    row = trace["attention"].value[head, query]
    seen = np.flatnonzero(np.isfinite(trace["masked"].value[head, query]))
    place = int(row.argmax())
    times = np.array([float(share) * len(seen) for share in row[seen]])  # floats overflow without a warning
    return Looks(
        seen=seen,
        most=float(row[place]),
        best=tied(row, place),
        times=float(row[place]) * len(seen),
        mean=float((row[seen] / len(seen)).sum()),
        evenly=same(row[seen]),
        nearly=alike(times),
    )


def below_zero(trace: Trace, shares: np.ndarray) -> str:
    """A sentence on the keys whose shares are below 0, as those of no softmax are."""
    keys = np.flatnonzero(shares < 0)
    if not len(keys):
        return ""
    return f" {words(trace, 'key', keys)} {'has a share' if len(keys) == 1 else 'have shares'} below 0."


def row_steps(trace: Trace, selection: Selection) -> tuple[str, ...]:
    """The softmax of the selected number, in four lines of Markdown; none where it is not made by a softmax."""
    terms = trace.terms("attention", (selection.head, selection.query, selection.key))
    if not isinstance(terms, Share) or not terms.divisor:
        return ()
    score, exponential = terms.row[terms.place].value, terms.exponentials[terms.place]
    shifted = score - terms.shift
    return (
        f"**Shift** by the row's largest score: {digits(score)} − {bracketed(terms.shift)} = {digits(shifted)}",
        f"**Exponentiate**: exp({digits(shifted)}) = {digits(exponential)}",
        f"**Sum** the exponentials of the row: {digits(terms.divisor)}",
        f"**Divide**: {digits(exponential)} ÷ {digits(terms.divisor)} = {digits(terms.total())}",
    )


def _attention(trace: Trace, selection: Selection) -> str:
    row = trace["attention"].value[selection.head, selection.query]
    who = f"In head {selection.head + 1} {word(trace, 'query', selection.query)}"
    others = f"{below_zero(trace, row)}{others_see_nothing(trace, selection)}"
    if not np.isfinite(trace["masked"].value[selection.head, selection.query]).any():
        return f"{who} sees no key, so its row is zeros.{others}"
    seen, most, best, times, mean, evenly, nearly = looks(trace, selection.head, selection.query)
    if len(seen) == 1:
        return f"{who} sees {words(trace, 'key', seen)} alone: its share is {number(row[seen[0]])}.{others}"
    if evenly or nearly:
        how, about = ("evenly", "") if evenly else ("almost evenly", "about ")
        share = f"{about}{number(mean)} each"
        return f"{who} divides its attention {how} among the {len(seen)} keys that it sees: {share}.{others}"
    return (
        f"{who} looks most at {words(trace, 'key', best)}: {number(most)}{' each' * (len(best) > 1)}, "
        f"{number(times)} times an even share (1/{len(seen)}).{others}"
    )


def _sums(trace: Trace) -> bool:
    return isinstance(trace["attention"].operation, SumNormalise)


def _exponentiates(trace: Trace) -> bool:
    return not _sums(trace)


def _untouched(trace: Trace) -> bool:
    return not trace["attention"].overridden


def _no_mask(trace: Trace, entries: Mapping[str, Entry]) -> str:
    masked, seen = entries["masked"], entries[before(trace).name]
    return (
        f"No mask hides anything here, so the masked scores are the {seen.title.lower()}: "
        f"${masked.symbol} = {seen.symbol}$."
    )


SOFTMAX = Step(
    id="softmax",
    title="Softmax",
    headings=(
        Section("softmax", "Scores become shares", _exponentiates),
        Section("sum", "Scores over their sum, which is not softmax", _sums),
    ),
    sections=(
        Section(
            "softmax",
            "Each row goes through the **softmax**: subtract the row's largest score (which changes no share, and "
            "keeps $\\exp$ from overflowing), exponentiate, and divide by the row's sum. The result is the "
            "**attention**: the share that each query gives each key.",
            _exponentiates,
        ),
        Section(
            "shares",
            "No share is negative, and the row of a query that sees any key sums to 1.",
            both(_exponentiates, _untouched),
        ),
        Section(
            "sum",
            "This example divides each row by its **sum**. So a share can be negative, and adding the same number to "
            "all scores changes the shares.",
            _sums,
        ),
        Section(
            "sum to 1",
            "The rows do add up to 1, as those of a softmax do.",
            both(_sums, _untouched),
        ),
    ),
    stages=("attention",),
    entries={
        "attention": Entry(
            "A_i",
            "Attention",
            "the share of its attention that a query gives each key",
            scale="share",
            caption=_attention,
        )
    },
    notes=(
        Section(
            "no mask",
            _no_mask,
            lambda trace: not moves(trace),
            stages=("masked",),
        ),
    ),
    charts=(Chart("shares"), Chart("heads")),
)
