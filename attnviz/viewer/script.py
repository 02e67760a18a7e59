"""Scripts: modules and their styles as one text, which a browser fetches once and keeps."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from attnviz.viewer.bundle import bundle, module
from attnviz.viewer.shell import filled
from attnviz.viewer.styles import STYLES, joined


@dataclass(frozen=True)
class Script:
    """The script of a component.

    Attributes
    ----------
    text : bytes
        A module: its default export is the component, `styles` are its styles; or the page to download is its `shell`.
    compressed : bytes
        The same.
    path : str
        Where it is served; another text has another path.
    """

    text: bytes
    compressed: bytes
    path: str

    @classmethod
    def of(cls, name: str, styles: Iterable[str], **values: object) -> Script:
        """The script of the module of this name, with the styles of these names and other constants."""
        return cls.exporting(name, bundle(module(name)), styles=joined(styles), **values)

    @classmethod
    def exporting(cls, name: str, code: str, **values: object) -> Script:
        """The script of this name: some code, and constants."""
        constants = "".join(f"export const {each} = {json.dumps(value)};\n" for each, value in values.items())
        text = (code + constants).encode()
        path = f"/viewer/{name}-{hashlib.sha256(text).hexdigest()[:16]}.js"
        return cls(text, gzip.compress(text, mtime=0), path)


_SHELL = filled(b"null", "attnviz")
_PAGE = Script.exporting("page", "", shell=_SHELL)

SCRIPTS = {
    "component": Script.of(
        "component",
        (name for name in STYLES if name != "article"),
        page={"path": _PAGE.path.lstrip("/"), "bytes": len(_SHELL)},
    ),
    "articles": Script.of("articles", ("formula", "article")),
    "numbers": Script.of("numbers", ("formula", "article", "settings")),
    "page": _PAGE,
    "connection": Script.exporting("connection", bundle(module("connection"))),
}
"""The viewer with its settings, the articles, what takes a file, the page to download, the watch over the server."""
