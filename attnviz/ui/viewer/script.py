"""Script: the viewer's modules and styles as one text, which a browser fetches once and keeps.

Streamlit sends the script of an inline component with every run. Ours is 230 kB,
so what it sends is a loader of a few lines; a route of the server has the rest.
"""

import gzip
import hashlib
import json
from pathlib import Path

from attnviz.ui.viewer.bundle import bundle

_BROWSER = Path(__file__).parent / "browser"
_STYLES = "\n".join(path.read_text("utf-8") for path in sorted(_BROWSER.glob("*.css")))

TEXT = (bundle(_BROWSER / "component.js") + f"export const styles = {json.dumps(_STYLES)};\n").encode()
"""A module: its default export is the component, `styles` are its styles."""

COMPRESSED = gzip.compress(TEXT, mtime=0)

PATH = f"/viewer/{hashlib.sha256(TEXT).hexdigest()[:16]}.js"
"""Where it is served; another text has another path."""

LOADER = (_BROWSER / "loader.js").read_text("utf-8").replace("{path}", PATH.lstrip("/"))
"""What Streamlit is given."""
