"""The HTML page of a class, `?room=KTQWRM`, and the file that its phones take home. The page is sent without Streamlit,
whose scripts would cost a phone 3 MB. The file holds the moments of the talk that were shown, and needs no server.
"""

import gzip
import html
import math
import time
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from urllib.parse import parse_qs

import msgspec
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from attnviz.app.static_files import base_path, local_path
from attnviz.classroom.codes import code_in, seat_age
from attnviz.classroom.fair_queue import FairQueue
from attnviz.classroom.http import NO_STORE, accepts_gzip, compressed_response
from attnviz.classroom.room_entry import ROOMS
from attnviz.core.errors import TalkError
from attnviz.lessons.talk import Talk, TalkMoment, talk_moment
from attnviz.scene.document.encoding import to_json
from attnviz.viewer.bundle import THEME, joined
from attnviz.viewer.script import SCRIPTS
from attnviz.viewer.site.static_edition import talk_file

_HEADERS = {"Vary": "Accept-Encoding", "Cache-Control": "no-cache"}  # an update changes the scripts that it names


def room_in(query: str) -> str:
    """The room that a query asks for, as people type it ("ktq-wrm."); empty if it asks for none."""
    typed = parse_qs(query).get("room", [""])[-1].upper()
    return "".join(filter(str.isalnum, typed))[:20]


class ClassPages:
    """Answer requests for a room at the first page's address, under any mount path."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self._page(scope) or self.app)(scope, receive, send)

    def _page(self, scope: Scope) -> Response | None:
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            return None
        path = local_path(scope)
        if path not in ("", "/") or not (code := room_in(query := scope["query_string"].decode("latin-1"))):
            return None
        if not path:  # the page's addresses are relative
            return RedirectResponse(f"{base_path(scope).rpartition('/')[2]}/?{query}")
        if code_in(code) and accepts_gzip(Request(scope).headers.get("accept-encoding", "")):
            return Response(_compressed(code), media_type="text/html", headers=_HEADERS | {"Content-Encoding": "gzip"})
        return Response(class_page(code), media_type="text/html", headers=_HEADERS)


@lru_cache(64)
def _compressed(code: str) -> bytes:
    return gzip.compress(class_page(code).encode(), mtime=0)


# the styles of everything that is drawn without the viewer
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
    """The page of a room; if there is no such room, it asks for another code."""
    return _template().replace("\0", html.escape(code))


@cache
def _template() -> str:
    r"""The page, with `\0` for the code. Its addresses are relative: it lies next to the folder of the scripts."""
    styles = joined(STYLES) + THEME.read_text("utf-8")
    script, pictures = (SCRIPTS[name].path.lstrip("/") for name in ("follower", "classPictures"))
    return _PAGE.format(script=script, pictures=pictures, styles=styles, code="\0")


HOME_PATH = "/room/home"
MAX_BYTES = 8_000_000  # size limit of a file's moments, uncompressed; later ones are left out
_QUEUE = FairQueue("talks of classes")
_GONE = "This talk can’t be taken home any more: a class’s talk is here for 15 minutes after its end, for its phones."


async def handle_take_home(request: Request) -> Response:
    """The talk of an ended class as one HTML file, for a seat of it: `room/home?room=KTQWRM&seat=...`."""
    code = code_in(request.query_params.get("room", "")) or ""
    talk, seat = ROOMS.ended_talk(code), request.query_params.get("seat", "")
    if talk is None or math.isinf(seat_age(seat, talk.key, time.time())):
        return PlainTextResponse(_GONE, 404)
    file = await _QUEUE.run((code, ""), _file, talk.moments, tuple(talk.images.items()))
    headers = {**NO_STORE, "Content-Disposition": 'attachment; filename="attnviz-class.html"'}
    return compressed_response(request, file, headers, "text/html")


@lru_cache(4)
def _file(moments: tuple[str, ...], images: tuple[tuple[str, str], ...]) -> bytes:
    return gzip.compress(talk_file(shown_talk(moments, dict(images))).encode(), 6)


def shown_talk(moments: Iterable[str], images: Mapping[str, str]) -> Talk:
    """The moments that were shown, as many as fit."""
    kept, size = [], 0
    for text in moments:
        moment = msgspec.json.decode(text, type=TalkMoment)
        try:
            size += len(to_json(talk_moment(moment, images=images)))
        except TalkError:
            continue
        if size > MAX_BYTES:
            break
        kept.append(moment)
    return Talk(title="What the class was shown", moment=tuple(kept), images=dict(images))
