"""Table: what each of someone's arrays was read as, and what came out; and that as HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

HEAD = ("your array", "read as", "laid out", "beside attnviz's")


@dataclass(frozen=True)
class Row:
    """One array.

    Attributes
    ----------
    name : str
        What its owner calls it.
    stage : str
        What it was read as.
    layout : str
        How it is laid out; empty for as attnviz does it.
    verdict : str
        What came out.
    agrees : bool or None
        Whether it agrees; None where it was compared with nothing.
    """

    name: str
    stage: str
    layout: str
    verdict: str
    agrees: bool | None

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """Its texts, below `HEAD`."""
        sign = {True: "✓ ", False: "✗ ", None: ""}[self.agrees]
        return self.name, self.stage, self.layout or "as attnviz's", sign + self.verdict


def html_of(sentences: Sequence[str], rows: Sequence[Row]) -> str:
    """Sentences, the first of them bold, and a table, as HTML in which whatever a name holds is text."""
    bold, *others = map(html.escape, sentences)
    paragraphs = f"<p><strong>{bold}</strong></p>" + "".join(f"<p>{each}</p>" for each in others)
    if not rows:
        return paragraphs
    head = "".join(f'<th scope="col">{html.escape(each)}</th>' for each in HEAD)
    lines = ("".join(f"<td>{html.escape(each)}</td>" for each in row.cells) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"{paragraphs}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
