"""The routes of lessons and talks: moments of lessons, previews of talks, and a talk's file. They need no session,
except to exchange uploads: a moment may show a tab's, and a talk opened in a tab brings its own.
"""

import asyncio
import gzip
import hashlib
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Annotated
from urllib.parse import parse_qsl

from msgspec import Meta
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response

from attnviz.app.browser_tabs import OPEN, UNKNOWN
from attnviz.classroom.http import TooLargeError, compressed_response, json_response, read_body, refusal
from attnviz.contract.base import RequestError, received
from attnviz.contract.lesson import ShownUploads, WrittenPage
from attnviz.core.errors import OwnArraysError
from attnviz.core.limits import (
    MAX_ADDRESS_CHARACTERS,
    MAX_TALK_BYTES,
    MAX_TALK_IMAGE_CHARACTERS,
    MAX_TALK_UPLOAD_CHARACTERS,
)
from attnviz.lessons.lesson import LESSONS, moment
from attnviz.lessons.talk import TALK_SIZES, Talk, TalkError, Uploads, uploads_by_source, uploads_of_scene
from attnviz.lessons.talk_request import BrowserRequest, TalkRequest, reply
from attnviz.scene.actions.session import Session
from attnviz.scene.address import parse
from attnviz.scene.document.encoding import to_json
from attnviz.viewer.site.static_edition import talk_file

MOMENT_PATH = "/moment"
_LESSON_EXECUTOR = ThreadPoolExecutor(1, "moments")  # one at a time: all but the first of a class find a moment cached
_CACHING = {"Vary": "Accept-Encoding", "Cache-Control": "public, no-cache"}  # an update changes a moment


async def handle_moment(request: Request) -> Response:
    """The response to a request for a lesson's moment: `moment?lesson=masks&moment=3`."""
    lesson, number = (request.query_params.get(name, "") for name in ("lesson", "moment"))
    if lesson not in LESSONS:
        return PlainTextResponse(f"There is no such lesson. The lessons are {', '.join(LESSONS)}.", 404)
    n_moments = len(LESSONS[lesson].moment)
    if number not in map(str, range(1, n_moments + 1)):
        return PlainTextResponse(f"There is no such moment. The lesson {lesson} has moments 1 to {n_moments}.", 404)
    loop = asyncio.get_running_loop()
    compressed, etag = await loop.run_in_executor(_LESSON_EXECUTOR, _compressed_moment, lesson, int(number))
    headers = _CACHING | {"ETag": etag}
    if etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return compressed_response(request, compressed, headers)


@cache
def _compressed_moment(lesson: str, number: int) -> tuple[bytes, str]:
    """A moment's gzipped JSON and its hash, equal in all processes; cached for good: about sixty, 3 MB in all."""
    text = moment(lesson, number)
    return gzip.compress(text, mtime=0), f'W/"{hashlib.blake2b(text, digest_size=8).hexdigest()}"'


TALK_PATH = "/talk"
MAX_TALK_REQUEST_BYTES = 2 * MAX_TALK_BYTES + MAX_TALK_IMAGE_CHARACTERS + MAX_TALK_UPLOAD_CHARACTERS  # JSON escapes
# one at a time, apart from lessons: many requests delay other talks only
_TALK_EXECUTOR = ThreadPoolExecutor(1, "talks")
_TOO_LARGE = f"{TALK_SIZES}; this one has more."


class PageRequest(BrowserRequest, tag="page", frozen=True):
    """Request for a talk as one HTML file that needs no server."""

    talk: Talk


@reply.register
def _(request: PageRequest) -> bytes:
    return to_json(WrittenPage(page=talk_file(request.talk)))


class UploadsRequest(BrowserRequest, tag="uploads", frozen=True):
    """Request for a tab's uploads that a scene shows."""

    tab: str
    at: Annotated[str, Meta(max_length=MAX_ADDRESS_CHARACTERS)]


class UploadsOffer(BrowserRequest, tag="give", frozen=True):
    """A talk's uploads, for a tab that lacks them."""

    tab: str
    uploads: Uploads


@reply.register
def _(request: UploadsRequest) -> bytes:
    parameters = dict(parse_qsl(request.at, keep_blank_values=True))
    return to_json(ShownUploads(uploads=uploads_of_scene(parse(parameters, _session(request.tab).uploads).scene)))


@reply.register
def _(request: UploadsOffer) -> bytes:
    _session(request.tab).keep(*uploads_by_source(request.uploads, request.uploads).values())
    return b"{}"


def _session(token: str) -> Session:
    tab = OPEN.get(token)
    if tab is None or tab.session is None:
        raise TalkError(UNKNOWN)
    return tab.session


async def handle_talk(request: Request) -> Response:
    """The response to a request about a talk."""
    try:
        body = await read_body(request, MAX_TALK_REQUEST_BYTES)
        message = received(body, TalkRequest | PageRequest | UploadsRequest | UploadsOffer)
        made = await asyncio.get_running_loop().run_in_executor(_TALK_EXECUTOR, reply, message)
    except (RequestError, TalkError, OwnArraysError) as error:
        return refusal(400, str(error))
    except TooLargeError:
        return refusal(413, _TOO_LARGE)
    except ClientDisconnect:
        return refusal(400, _TOO_LARGE)
    return json_response(made)
