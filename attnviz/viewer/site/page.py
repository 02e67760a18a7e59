"""A page of the site as HTML, around what its script draws or what it says by itself, with its data in it.

A page opens by a double click, where a browser fetches nothing, and Chromium and WebKit run no script by its hash. So
its data stands in the page, and the policy allows the scripts of its own folder. The moments of a lesson show the same
few passes, which gzip, looking back 32 kB, would not find: equal parts of the data are written once (`pooled`).
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from attnviz.scene.document.encoding import to_json
from attnviz.viewer.bundle import HEAD, hash_source, inert

LEAST_CHARACTERS = 100  # least size of a pooled part, roughly: a reference to a smaller one would hardly be shorter
PLACE = "$"  # The key of a reference to a pooled part. None of our data uses this key.
Data = Any  # a JSON value


def pooled(data: Data) -> dict[str, Data]:
    """Data with repeated parts written once: `parts`, each made of earlier ones, and `whole`, with references in place.

    >>> row = {"values": "0.25 " * 30}
    >>> made = pooled([row, {"of": row}])
    >>> made["whole"]
    [{'$': 0}, {'of': {'$': 0}}]
    >>> made["parts"] == [row]
    True
    """
    pool = _Pool()
    whole = pool.place_of(data)
    pool.count()
    return {"whole": pool.encoded(whole), "parts": pool.parts}


class _Pool:
    """All distinct parts of some data, each after its own parts."""

    def __init__(self) -> None:
        self.parts: list[Data] = []  # the pooled ones
        self._places: dict[tuple, int] = {}
        self._nodes: list[tuple] = []  # a scalar or a shape, and the indices of its parts
        self._sizes: list[int] = []
        self._uses: list[int] = []
        self._names: dict[int, dict] = {}  # references to the pooled ones

    def place_of(self, data: Data) -> int:
        """The index of a part; equal parts share one."""
        if isinstance(data, dict):
            node = (tuple(data), *map(self.place_of, data.values()))
        elif isinstance(data, list):
            node = (list, *map(self.place_of, data))
        else:
            node = (None, data, repr(data))  # 1 is not 1.0, nor True, and 0.0 not -0.0
        if node not in self._places:
            self._places[node] = len(self._nodes)
            self._nodes.append(node)
            self._sizes.append(self._size(node))
        return self._places[node]

    def count(self) -> None:
        """Count how many distinct parts contain each part."""
        self._uses = [0] * len(self._nodes)
        for node in self._nodes:
            for part in _parts(node):
                self._uses[part] += 1

    def encoded(self, place: int) -> Data:
        """A part, or a reference to it."""
        if self._uses[place] < 2 or self._sizes[place] < LEAST_CHARACTERS:
            return self._spelled(place)
        if place not in self._names:
            spelled = self._spelled(place)
            self._names[place] = {PLACE: len(self.parts)}
            self.parts.append(spelled)
        return self._names[place]

    def _spelled(self, place: int) -> Data:
        shape, *parts = self._nodes[place]
        if shape is None:
            return parts[0]
        made = [self.encoded(part) for part in parts]
        return made if shape is list else dict(zip(shape, made, strict=True))

    def _size(self, node: tuple) -> int:
        shape, *parts = node
        if shape is None:
            return len(parts[1])
        names = sum(map(len, shape)) + 3 * len(shape) if shape is not list else 0
        return names + len(parts) + 2 + sum(self._sizes[part] for part in parts)


def _parts(node: tuple) -> Iterable[int]:
    shape, *parts = node
    return () if shape is None else parts


SCRIPT = "attnviz.js"
# the stylesheets that pages share: of all pages, and of each kind of page
STYLESHEETS = {"": "pages.css", "article": "article.css", "lesson": "viewer.css", "pass": "viewer.css"}
INDEX, OWN = "index.html", "your-own-sentence.html"

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)
_BODY = """<body class="of-{kind}">
<header><h1>{heading}</h1><nav aria-label="attnviz">{links}</nav></header>
<main>{main}</main>
{drawn}</body>
</html>
"""
_DRAWN = """<p id="refused" role="status"></p>
<script type="application/json" id="given">{given}</script>
<script src="{script}" defer></script>
"""
_LINK, _SCRIPT = re.compile('<link rel="stylesheet"[^>]*>\n'), f'<script src="{SCRIPT}" defer></script>'
_NAVIGATION = re.compile('<nav aria-label="attnviz">.*?</nav>')
_UNDRAWN = "<noscript>Switch JavaScript on: a script beside this page draws it.</noscript>"


class Page(NamedTuple):
    """A page of the site: its file name and its HTML."""

    name: str
    text: str


class PageLink(NamedTuple):
    """A link to a page of the site; on that page itself it is plain text."""

    name: str
    label: str


def drawn_page(name: str, kind: str, heading: str, given: dict, links: tuple[PageLink, ...] = ()) -> Page:
    """A page that the script draws from data of a `kind`."""
    data = inert(to_json({"kind": kind, **given}))
    drawn = _DRAWN.format(given=data, script=SCRIPT)
    return Page(name, _filled(name, kind, heading, _UNDRAWN, drawn, links))


def single_file(page: Page, script: str, styles: str) -> str:
    """A drawn page with its script and styles inline, and without links to other files."""
    policy = _POLICY.replace("script-src 'self'", f"script-src {hash_source(script)}")
    policy = policy.replace("style-src 'self' ", "style-src ")
    head, _, body = page.text.partition("</head>")
    head = _LINK.sub("", head.replace(_POLICY, policy))
    body = _NAVIGATION.sub("", body, count=1).replace(_SCRIPT, f'<script type="module">{script}</script>')
    return f"{head}<style>{styles}</style>\n</head>{body}"


def written_page(name: str, heading: str, main: str) -> Page:
    """A page of HTML without a script."""
    return Page(name, _filled(name, "written", heading, main, "", ()))


def link(page_link: PageLink) -> str:
    """A link as HTML."""
    return f'<a href="{html.escape(page_link.name)}">{html.escape(page_link.label)}</a>'


def _filled(name: str, kind: str, heading: str, main: str, drawn: str, links: tuple[PageLink, ...]) -> str:
    before = () if name == INDEX else (PageLink(INDEX, "attnviz: all pages"), PageLink(OWN, "Your own sentence"))
    sheets = [STYLESHEETS[each] for each in ("", kind) if each in STYLESHEETS]
    return (HEAD + _BODY).format(
        policy=_POLICY,
        title=html.escape(heading if name == INDEX else f"{heading} – attnviz"),
        styles="\n".join(f'<link rel="stylesheet" href="{each}">' for each in sheets),
        kind=kind,
        heading=html.escape(heading),
        links="".join(_link_or_name(each, name) for each in (*before, *links)),
        main=main,
        drawn=drawn,
    )


def _link_or_name(page_link: PageLink, name: str) -> str:
    if page_link.name != name:
        return link(page_link)
    return f'<strong aria-current="page">{html.escape(page_link.label)}</strong>'
