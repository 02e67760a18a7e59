"""The shell: the viewer as one HTML page that needs no server and no network, without what it shows.

Python fills it in (`page`) and so does the browser (`viewer/download.js`), which gets it as a script of the server.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import html
from pathlib import Path

from attnviz.viewer.bundle import bundle, module
from attnviz.viewer.styles import STYLES, joined

_OF_PAGES_OF_THE_APP = {"article", "classroom", "lesson", "settings", "views"}
THEME = Path(__file__).with_suffix(".css")
HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
{styles}
</head>
"""
_BODY = """<body>
<header><h1></h1><p id="alone"></p></header>
<main class="viewer"><noscript>Switch JavaScript on: a script in this page draws it.</noscript></main>
<p id="refused" role="status"></p>
<script type="application/json" id="document">{document}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def filled(document: bytes, title: str) -> str:
    """The page that shows a document.

    Parameters
    ----------
    document : bytes
        As `contract.document` declares it, in JSON.
    title : str
        Its words, whatever they hold.
    """
    return _shell().format(document=inert(document), title=html.escape(title))


def inert(document: bytes) -> str:
    """JSON as it stands in a script element: nothing in it ends that element, or begins a comment in it."""
    return document.decode().replace("<", r"\u003c")


def hash_source(script: str) -> str:
    """A script that stands in a page, as a policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


@functools.cache
def _shell() -> str:
    """The shell, with a place for the document and one for the title."""
    script = f"\n{bundle(module('standalone'))}"
    policy = (
        f"default-src 'none'; script-src {hash_source(script)}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    style = joined(name for name in STYLES if name not in _OF_PAGES_OF_THE_APP) + THEME.read_text("utf-8")
    fixed = {"policy": policy, "styles": f"<style>{style}</style>", "script": script}
    named = {name: text.replace("{", "{{").replace("}", "}}") for name, text in fixed.items()}
    return (HEAD + _BODY).format(**named, document="{document}", title="{title}")
