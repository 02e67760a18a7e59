"""The scripts that the server serves: modules and their styles as one text, which browsers cache."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from attnviz.viewer.bundle import STYLES, bundle, filled, joined, module


@dataclass(frozen=True)
class Script:
    """A module: its default export is a component, `styles` its styles; or `shell` is the page to download."""

    text: bytes
    compressed: bytes  # gzipped
    path: str  # with a hash of the text

    @classmethod
    def of(cls, name: str, styles: Iterable[str], **values: object) -> Script:
        """The script of a module, with these styles and constants."""
        return cls.exporting(name, bundle(module(name)), styles=joined(styles), **values)

    @classmethod
    def exporting(cls, name: str, code: str, **values: object) -> Script:
        """A script of some code and constants."""
        constants = "".join(f"export const {each} = {json.dumps(value)};\n" for each, value in values.items())
        text = (code + constants).encode()
        path = f"/viewer/{name}-{hashlib.sha256(text).hexdigest()[:16]}.js"
        return cls(text, gzip.compress(text, mtime=0), path)


_SHELL = filled(b"null", "attnviz")
_PAGE = Script.exporting("page", "", shell=_SHELL)

_NOT_IN_A_CLASS = {"allLayers", "article", "lessonPages", "settings", "talk", "views"}  # styles

# the viewer with its settings, articles, the upload, the page to download, the connection watcher, and of a phone in a
# class its page and the viewer for its pictures
SCRIPTS = {
    "component": Script.of(
        "component",
        (name for name in STYLES if name not in {"allLayers", "article", "phone"}),
        page={"path": _PAGE.path.lstrip("/"), "bytes": len(_SHELL)},
    ),
    "articles": Script.of("articles", ("tokens", "formula", "article")),
    "numbers": Script.of("numbers", ("tokens", "formula", "article", "settings")),
    "page": _PAGE,
    "connection": Script.exporting("connection", bundle(module("connection"))),
    "follower": Script.exporting("follower", bundle(module("follower"))),
    "classPictures": Script.of("classPictures", (name for name in STYLES if name not in _NOT_IN_A_CLASS)),
}
