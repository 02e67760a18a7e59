"""Styles: those of the browser's rooms, a file for each thing that they are of."""

from collections.abc import Iterable

from attnviz.viewer.bundle import BROWSER

STYLES = {path.stem: path for path in sorted(BROWSER.glob("*/*.css"), key=lambda path: path.name)}
"""The styles of all rooms, by the names of their files, which they follow each other by."""


def joined(names: Iterable[str]) -> str:
    """The styles of these names as one text."""
    return "\n".join(STYLES[each].read_text("utf-8") for each in names)
