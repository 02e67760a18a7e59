"""Scripts: modules and their styles as one text, which a browser fetches once and keeps.

Streamlit sends the script of an inline component with every run. The viewer's is
230 kB, so what it sends is a loader of a few lines; a route of the server has the rest.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from attnviz.ui.viewer.bundle import bundle

_BROWSER = Path(__file__).parent / "browser"
_LOADER = (_BROWSER / "loader.js").read_text("utf-8")
_OF_ARTICLES, _OF_BOTH = _BROWSER / "article.css", _BROWSER / "formula.css"


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
    loader : str
        What Streamlit is given.
    """

    text: bytes
    compressed: bytes
    path: str
    loader: str

    @classmethod
    def of(cls, name: str, *styles: Path) -> Script:
        """The script of the module of this name."""
        rules = "\n".join(path.read_text("utf-8") for path in styles)
        text = (bundle(_BROWSER / f"{name}.js") + f"export const styles = {json.dumps(rules)};\n").encode()
        path = f"/viewer/{name}-{hashlib.sha256(text).hexdigest()[:16]}.js"
        return cls(text, gzip.compress(text, mtime=0), path, _LOADER.replace("{path}", path.lstrip("/")))


SCRIPTS = {
    "component": Script.of("component", *(path for path in sorted(_BROWSER.glob("*.css")) if path != _OF_ARTICLES)),
    "articles": Script.of("articles", _OF_BOTH, _OF_ARTICLES),
}
"""The viewer with its settings, and the articles."""
