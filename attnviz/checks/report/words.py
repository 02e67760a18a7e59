"""Words: clauses on arrays and stages, and the table of a report as HTML."""

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attnviz.checks.passes.comparison import Agreement
from attnviz.checks.read.labels import title

HEAD = ("your array", "read as", "laid out", "beside attnviz's")
_MOST_TIMES = 1e6  # a larger factor says no more than the two numbers


@dataclass(frozen=True)
class Row:
    """One array in the table: the user's name, the stage that it was read as, its layout ("" for attnviz's own)."""

    name: str
    stage: str
    layout: str
    verdict: str
    agrees: bool | None  # None if it was compared with nothing

    @property
    def cells(self) -> tuple[str, str, str, str]:
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


def capital(sentence: str) -> str:
    """The sentence with a capital first letter, unless it starts with a symbol."""
    return sentence if sentence[1:2] == "_" else sentence[:1].upper() + sentence[1:]


def is_stated(precision: str) -> bool:
    """Whether it is the user's tolerance."""
    return precision.startswith(("rtol", "atol"))


def to_rounding(precision: str) -> str:
    """The precision, or the user's tolerance, to follow "agree"."""
    if is_stated(precision):
        return f"within {precision}"
    return f"to {precision}" if precision[0].isdigit() else f"to {precision} rounding"


def difference_clause(stage: Agreement, precision: str) -> str:
    """How far an array is from a stage, as a predicate."""
    plural = title(stage.stage).endswith("s")
    if stage.shapes:
        yours, ours = stage.shapes
        has = "have" if plural else "has"
        return f"{has} the shape {yours}, where attnviz's {has} {ours}"
    differ = "differ" if plural else "differs"
    if not np.isfinite(stage.off):
        return f"{differ}: some of your numbers are {_infinity_clause(stage)}"
    if is_stated(precision):
        return f"{differ} by up to {stage.off:.3g}, which is not within {precision}"
    in_precision = f"to {precision}" if precision[0].isdigit() else f"in {precision}"
    times = round(stage.roundings) if stage.roundings < _MOST_TIMES else None
    less = "" if times is None else ", about as much" if times <= 1 else f", {times:,} times less"
    return f"{differ} by up to {stage.off:.3g}; rounding {in_precision} would leave {_power(stage.rounding)}{less}"


def _infinity_clause(stage: Agreement) -> str:
    if stage.value is None or stage.expected is None or np.isnan(stage.value).any():
        return "NaN where attnviz's are not"
    tests = {"−∞": np.isneginf, "∞": np.isposinf}
    infinite = {text: (test(stage.value), test(stage.expected)) for text, test in tests.items()}
    for text, (yours, ours) in infinite.items():
        if (yours & ~ours).any():
            return f"{text} where attnviz's are not"
    text = next((text for text, (yours, ours) in infinite.items() if (ours & ~yours).any()), "NaN")
    return f"finite where attnviz's are {text}{', as the key is hidden' if text == '−∞' else ''}"


def _power(value: float) -> str:
    """A small number in the usual notation.

    >>> _power(1.4901e-07), _power(0.0005)
    ('1.5 · 10^-7', '0.0005')
    """
    if value >= 1e-4:
        return f"{value:.2g}"
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa.removesuffix('.0')} · 10^{int(exponent)}"
