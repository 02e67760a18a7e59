"""Streamlit's `index.html` as browsers get it: with our styles, the script that watches the connection and, at the
first page's address, the first moment of the first lesson, which is read while Streamlit's scripts are on their way.
"""

import gzip
import html
import json
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path
from string import Template

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attnviz.app.scripts import paths
from attnviz.app.static_files import DROPPED, local_path
from attnviz.app.streamlit_private import INDEX_FONT, INDEX_STYLESHEET, INDEX_TITLE, late_scripts, static_folder
from attnviz.classroom.http import accepts_gzip
from attnviz.lessons.lesson import LESSONS, moment
from attnviz.viewer.script import SCRIPTS

STYLE = Path(__file__).with_name("page.css").read_text("utf-8")
# The connection's script runs before Streamlit's: it keeps Streamlit from fetching its icon font (shell/streamlit.js).
_HEAD = f'<title>attnviz</title>\n<script type="module" src="./{SCRIPTS["connection"].path.lstrip("/")}"></script>'
# What Streamlit would fetch only after its first run comes at once, behind its first scripts: ours, and two of its own.
_EVERYWHERE = [SCRIPTS["arrival"].path.lstrip("/"), *late_scripts()]
_OF_LESSONS = paths("lessons")
_FIRST = next(iter(LESSONS))  # the lesson
_MOMENT = Template(Path(__file__).with_name("first_moment.html").read_text("utf-8"))
# Runs before the moment is painted. Returning visitors see the list of lessons (lesson/navigation.js), so it removes
# the moment. For new visitors it preloads the moment's data, from the address that lesson/course.js fetches.
FIRST_MOMENT_SCRIPT = f"""{{
  let last = null;
  try {{ last = JSON.parse(localStorage.getItem("attnviz lessons"))?.last; }} catch {{}}
  const preload = {{ rel: "preload", as: "fetch", crossOrigin: "", href: "./moment?lesson={_FIRST}&moment=1" }};
  if (last) document.currentScript.parentElement.remove();
  else document.head.append(Object.assign(document.createElement("link"), preload));
}}"""
_END = "</body>"
_DROPPED = DROPPED | {b"accept-encoding"}  # with these Streamlit's page would come compressed, in part or not at all


class IndexPage:
    """Change Streamlit's page at the address of a page, and send it compressed; all other responses pass."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_get = scope["type"] == "http" and scope["method"] == "GET"
        if not is_get or "text/html" not in (asked := Headers(scope=scope)).get("accept", ""):
            await self.app(scope, receive, send)
            return
        path = local_path(scope)
        if path is None or path.count("/") != 1:  # a page is a single name; our own HTML, room/home, is none
            await self.app(scope, receive, send)
            return
        is_first = path == "/" and not scope["query_string"]  # no other lesson, moment or room is asked for
        is_compressed = accepts_gzip(asked.get("accept-encoding", ""))
        start: Message = {}
        body = bytearray()

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
            if not Headers(raw=start["headers"]).get("content-type", "").startswith("text/html"):
                await send(message)
            elif message["type"] == "http.response.body":
                body.extend(message.get("body", b""))
                if not message.get("more_body"):
                    page = _changed(bytes(body), is_first, is_compressed)
                    headers = MutableHeaders(scope=start)
                    headers["content-length"] = str(len(page))
                    headers.add_vary_header("Accept-Encoding")
                    if is_compressed:
                        headers["content-encoding"] = "gzip"
                    # these describe the unchanged page
                    del headers["etag"], headers["last-modified"], headers["accept-ranges"]
                    await send(start)
                    await send({"type": "http.response.body", "body": page})

        plain = [(name, text) for name, text in scope["headers"] if name not in _DROPPED]
        await self.app({**scope, "headers": plain}, receive, sent)


def warm_index_page() -> None:
    """Build and cache the page that most visitors get first."""
    # positional, as `IndexPage` passes them: lru_cache would keep keywords as another call
    _changed((static_folder() / "index.html").read_bytes(), True, True)


@lru_cache(8)
def _changed(index: bytes, is_first: bool, is_compressed: bool) -> bytes:
    page = with_our_parts(index.decode(), is_first).encode()
    return gzip.compress(page, mtime=0) if is_compressed else page


def with_our_parts(index: str, is_first: bool) -> str:
    """Streamlit's page with our parts. Its stylesheet (of formulas and fonts) moves below the first moment, which is
    painted without waiting for it, and the font that it preloads comes after the scripts; ours is the last style.
    """
    page = INDEX_TITLE.sub(lambda _: _HEAD, index, count=1)
    stylesheet = INDEX_STYLESHEET.search(page)
    font = INDEX_FONT.search(page)
    if stylesheet:
        page = page.replace(stylesheet[0], "", 1)
    if font:
        page = page.replace(font[0], font[0].replace("<link", '<link fetchpriority="low"'), 1)
    first = first_moment(font["address"]) if is_first and font else ""
    ours = f"{first}{stylesheet[0] if stylesheet else ''}<style>{STYLE}</style>{_preloads(is_first)}"
    return page.replace(_END, ours + _END, 1)


def _preloads(is_first: bool) -> str:
    paths = _EVERYWHERE + (_OF_LESSONS if is_first else [])
    return "".join(f'<link rel="modulepreload" crossorigin href="./{path}">' for path in paths)


@cache
def first_moment(font: str) -> str:
    """The first lesson's first moment, as its question is shown to a new visitor, in the font at this address. The
    browser removes it once the lesson is drawn (page/lessonsPage.js).
    """
    data = json.loads(moment(_FIRST, 1))
    texts = {"title": data["title"], "why": _plain(data["why"]), "text": _plain(data["text"])}
    texts["prompt"] = _plain(data["question"]["prompt"])
    escaped = {name: html.escape(text) for name, text in texts.items()}
    return _MOMENT.substitute(escaped, font=font, script=FIRST_MOMENT_SCRIPT)


def _plain(runs: Iterable[list]) -> str:
    return "".join(text if isinstance(text, str) else text["text"] for _, text in runs)
