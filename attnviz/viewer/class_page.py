"""The page of a phone in a class: HTML without Streamlit, small enough for a slow network.

Its script draws a moment as text, question and a glance at its pass; the viewer is a script of its own
(`classPictures`), which is fetched once somebody touches the picture.
"""

from __future__ import annotations

import functools
import html

from attnviz.viewer.bundle import THEME, joined
from attnviz.viewer.script import SCRIPTS

# of what is drawn without the viewer
STYLES = (
    "charts",
    "classVoices",
    "classroom",
    "frame",
    "lesson",
    "lessonOwnPictures",
    "phone",
    "slide",
    "tokens",
)
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Class · attnviz</title>
<link rel="icon" href="data:,">
<script type="module" src="{script}"></script>
<style>{styles}</style>
</head>
<body>
<main class="attnviz" data-room="{code}" data-pictures="{pictures}" aria-busy="true"><noscript>Switch JavaScript on: a
script draws the class.</noscript></main>
</body>
</html>
"""


def class_page(code: str) -> str:
    """The page of a room, which may not exist: then it asks for another code."""
    return _filled()[0] + html.escape(code) + _filled()[1]


@functools.cache
def _filled() -> tuple[str, str]:
    """The page before and after the code. Its addresses are relative: it lies next to the folder of the scripts."""
    styles = joined(STYLES) + THEME.read_text("utf-8")
    script, pictures = (SCRIPTS[name].path.lstrip("/") for name in ("follower", "classPictures"))
    before, after = _PAGE.format(script=script, pictures=pictures, styles=styles, code="\0").split("\0")
    return before, after
