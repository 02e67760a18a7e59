"""Words: clauses on arrays and stages, and the table of a report as HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attnviz.checks.explain.agreement import Agreement
from attnviz.explain.steps import full_title

HEAD = ("your array", "read as", "laid out", "beside attnviz's")


@dataclass(frozen=True)
class Row:
    """One array in the table.

    Attributes
    ----------
    name : str
        The user's name for it.
    stage : str
        The stage that it was read as.
    layout : str
        Its layout; empty for attnviz's own.
    agrees : bool or None
        None if it was compared with nothing.
    """

    name: str
    stage: str
    layout: str
    verdict: str
    agrees: bool | None

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """The texts of its cells, in the order of `HEAD`."""
        sign = {True: "✓ ", False: "✗ ", None: ""}[self.agrees]
        return self.name, self.stage, self.layout or "as attnviz's", sign + self.verdict


def html_of(sentences: Sequence[str], rows: Sequence[Row]) -> str:
    """Sentences, the first in bold, and a table, as escaped HTML."""
    bold, *others = map(html.escape, sentences)
    paragraphs = f"<p><strong>{bold}</strong></p>" + "".join(f"<p>{each}</p>" for each in others)
    if not rows:
        return paragraphs
    head = "".join(f'<th scope="col">{html.escape(each)}</th>' for each in HEAD)
    lines = ("".join(f"<td>{html.escape(each)}</td>" for each in row.cells) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"{paragraphs}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


MAX_NAME_CHARACTERS = 40

# How parameters, queries, keys and values are written
SYMBOLS = {
    **{f"w_{letter}": f"W_{letter.upper()}" for letter in "qkvo"},
    **{f"b_{letter}": f"b_{letter.upper()}" for letter in "qkvo"},
    **{letter: letter.upper() for letter in "qkv"},
}

_MOST_TIMES = 1e6  # a larger factor says no more than the two numbers


def shortened(name: str) -> str:
    """A user's name for an array, shortened for a sentence."""
    return name if len(name) <= MAX_NAME_CHARACTERS else f"{name[: MAX_NAME_CHARACTERS - 3]}..."


def title(stage: str) -> str:
    """The name of a stage within a sentence."""
    words = full_title(stage).split()
    return SYMBOLS.get(
        stage, "x" if stage == "x" else " ".join(each if each.isupper() else each.lower() for each in words)
    )


def difference_clause(stage: Agreement, precision: str) -> str:
    """How far an array is from a stage, as a predicate."""
    plural = title(stage.stage).endswith("s")
    differ = "differ" if plural else "differs"
    if stage.shapes:
        yours, ours = stage.shapes
        return f"{'have' if plural else 'has'} the shape {yours}, where attnviz's {'have' if plural else 'has'} {ours}"
    if not np.isfinite(stage.off):
        return f"{differ}: {_not_finite(stage)}"
    expected = f"rounding {_in(precision)} would leave {_power(stage.rounding)}"
    times = f", {_times(stage.roundings)}" if stage.roundings < _MOST_TIMES else ""
    return f"{differ} by up to {stage.off:.3g}; {expected}{times}"


def to_rounding(precision: str) -> str:
    """The precision, to follow "agree"."""
    return f"to {precision}" if precision[0].isdigit() else f"to {precision} rounding"


def _in(precision: str) -> str:
    return f"to {precision}" if precision[0].isdigit() else f"in {precision}"


def _not_finite(stage: Agreement) -> str:
    """Which numbers are NaN or infinite on one side only."""
    yours, ours = stage.value, stage.expected
    if np.isnan(yours).any():
        return "some of your numbers are NaN where attnviz's are not"
    kinds = [(np.isneginf, "−∞"), (np.isposinf, "∞")]
    for kind, called in kinds:
        if (kind(yours) & ~kind(ours)).any():
            return f"some of your numbers are {called} where attnviz's are not"
    called = next(called for kind, called in kinds if (kind(ours) & ~kind(yours)).any())
    hidden = ", as the key is hidden" if called == "−∞" else ""
    return f"some of your numbers are finite where attnviz's are {called}{hidden}"


def _power(value: float) -> str:
    """A small number in the usual notation.

    >>> _power(1.4901e-07), _power(0.0005)
    ('1.5 · 10^-7', '0.0005')
    """
    if value >= 1e-4:
        return f"{value:.2g}"
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa.removesuffix('.0')} · 10^{int(exponent)}"


def _times(roundings: float) -> str:
    return "about as much" if round(roundings) <= 1 else f"{round(roundings):,} times less"


def capital(sentence: str) -> str:
    """The sentence with a capital first letter, unless it starts with a symbol."""
    return sentence if sentence[1:2] == "_" else sentence[:1].upper() + sentence[1:]
