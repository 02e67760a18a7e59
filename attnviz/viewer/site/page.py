"""Page: a page of the site as HTML, around what its script draws or what it says by itself.

A page opens by a double click. There a browser fetches nothing, and Chromium and WebKit run no script by its hash. So
what is drawn stands in the page, as data that never runs, and the policy allows the scripts of the page's own folder.
"""

from __future__ import annotations

import html
import re
from typing import NamedTuple

from attnviz.scene.document.encoding import to_json
from attnviz.viewer.shell import HEAD, hash_source, inert

SCRIPT = "attnviz.js"
STYLES = {"": "pages.css", "article": "article.css", "lesson": "viewer.css", "pass": "viewer.css"}
"""The files that pages share: the script, and the styles of all of them and of each kind."""

INDEX, OWN = "index.html", "your-own-sentence.html"

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)
_BODY = """<body class="of-{kind}">
<header><h1>{heading}</h1><nav aria-label="attnviz">{ways}</nav></header>
<main>{main}</main>
{drawn}</body>
</html>
"""
_DRAWN = """<p id="refused" role="status"></p>
<script type="application/json" id="given">{given}</script>
<script src="{script}" defer></script>
"""
_LINK, _SCRIPT = re.compile('<link rel="stylesheet"[^>]*>\n'), f'<script src="{SCRIPT}" defer></script>'
_WAYS = re.compile('<nav aria-label="attnviz">.*?</nav>')
_UNDRAWN = "<noscript>Switch JavaScript on: a script beside this page draws it.</noscript>"


class Page(NamedTuple):
    """A page of the site.

    Attributes
    ----------
    name : str
        Of its file.
    text : str
        Its HTML.
    """

    name: str
    text: str


class Way(NamedTuple):
    """A link to another page of the site; to the page itself it is none."""

    name: str
    label: str


def drawn_page(name: str, kind: str, heading: str, given: dict, ways: tuple[Way, ...] = ()) -> Page:
    """A page that the script draws, of data whose `kind` it knows."""
    data = inert(to_json({"kind": kind, **given}))
    drawn = _DRAWN.format(given=data, script=SCRIPT)
    return Page(name, _filled(name, kind, heading, _UNDRAWN, drawn, ways))


def single_file(page: Page, script: str, styles: str) -> str:
    """A drawn page with its script and styles in it, which needs no file beside it and leads to none."""
    policy = _POLICY.replace("script-src 'self'", f"script-src {hash_source(script)}")
    policy = policy.replace("style-src 'self' ", "style-src ")
    head, _, body = page.text.partition("</head>")
    head = _LINK.sub("", head.replace(_POLICY, policy))
    body = _WAYS.sub("", body, count=1).replace(_SCRIPT, f'<script type="module">{script}</script>')
    return f"{head}<style>{styles}</style>\n</head>{body}"


def written_page(name: str, heading: str, main: str) -> Page:
    """A page that needs no script: its main part is HTML."""
    return Page(name, _filled(name, "written", heading, main, "", ()))


def link(way: Way) -> str:
    """A link as HTML."""
    return f'<a href="{html.escape(way.name)}">{html.escape(way.label)}</a>'


def _filled(name: str, kind: str, heading: str, main: str, drawn: str, ways: tuple[Way, ...]) -> str:
    before = () if name == INDEX else (Way(INDEX, "attnviz: all pages"), Way(OWN, "Your own sentence"))
    return (HEAD + _BODY).format(
        policy=_POLICY,
        title=html.escape(heading if name == INDEX else f"{heading} – attnviz"),
        styles="\n".join(f'<link rel="stylesheet" href="{STYLES[each]}">' for each in ("", kind) if each in STYLES),
        kind=kind,
        heading=html.escape(heading),
        ways="".join(_way(each, name) for each in (*before, *ways)),
        main=main,
        drawn=drawn,
    )


def _way(way: Way, name: str) -> str:
    return f'<strong aria-current="page">{html.escape(way.label)}</strong>' if way.name == name else link(way)
