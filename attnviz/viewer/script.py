"""Scripts: modules and their styles as one text, which a browser fetches once and keeps."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from attnviz.viewer.bundle import BROWSER, bundle, module

STYLES = {path.stem: path for path in sorted(BROWSER.glob("*/*.css"), key=lambda path: path.name)}
"""The styles of all rooms, by the names of their files, which they follow each other by."""


@dataclass(frozen=True)
class Script:
    """The script of a component.

    Attributes
    ----------
    text : bytes
        A module: its default export is the component, `styles` are its styles.
    compressed : bytes
        The same.
    path : str
        Where it is served; another text has another path.
    """

    text: bytes
    compressed: bytes
    path: str

    @classmethod
    def of(cls, name: str, styles: Iterable[str]) -> Script:
        """The script of the module of this name, with the styles of these names."""
        rules = "\n".join(STYLES[each].read_text("utf-8") for each in styles)
        text = (bundle(module(name)) + f"export const styles = {json.dumps(rules)};\n").encode()
        path = f"/viewer/{name}-{hashlib.sha256(text).hexdigest()[:16]}.js"
        return cls(text, gzip.compress(text, mtime=0), path)


SCRIPTS = {
    "component": Script.of("component", (name for name in STYLES if name != "article")),
    "articles": Script.of("articles", ("formula", "article")),
}
"""The viewer with its settings, and the articles."""
