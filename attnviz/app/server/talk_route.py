"""The route of talks: a moment of somebody's own, what may be asked of a scene, a talk's file. Nothing is kept.

A tab is asked for the files of somebody's own that a moment shows, and is given those of a talk that is opened in it.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated
from urllib.parse import parse_qsl

from msgspec import Meta
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from attnviz.app.state.tabs import OPEN, UNKNOWN
from attnviz.classroom.responses import TooLargeError, body_of, json_response, refusal
from attnviz.contract.base import RequestError, received
from attnviz.contract.lesson import ShownUploads, WrittenPage
from attnviz.core.errors import OwnArraysError
from attnviz.core.limits import MAX_ADDRESS_CHARACTERS, MAX_FILE_SIZE, MAX_TALK_BYTES, MAX_TALK_UPLOAD_CHARACTERS
from attnviz.lessons.talk import Talk, TalkError, Uploads, by_source, of_scene
from attnviz.lessons.talk_request import Asked, TalkRequest, reply
from attnviz.scene.actions.session import Session
from attnviz.scene.address import parse
from attnviz.scene.document.encoding import to_json
from attnviz.viewer.site.edition import talk_file

PATH = "/talk"

MAX_REQUEST_BYTES = 2 * MAX_TALK_BYTES + MAX_TALK_UPLOAD_CHARACTERS
"""Of a talk's file as a text in JSON."""

_LANE = ThreadPoolExecutor(1, "talks")
"""One at a time, beside lessons: whoever asks for many makes other talks wait, and nobody else."""
_TOO_LARGE = f"A talk has at most {MAX_TALK_BYTES:,} bytes, and {MAX_FILE_SIZE} of your own files; this one has more."


class PageAsked(Asked, tag="page", frozen=True):
    """A talk as one HTML file, of the edition that needs no server."""

    talk: Talk


@reply.register
def _(request: PageAsked) -> bytes:
    return to_json(WrittenPage(page=talk_file(request.talk)))


class UploadsAsked(Asked, tag="uploads", frozen=True):
    """The files that somebody gave in a tab and the scene of an address shows."""

    tab: str
    at: Annotated[str, Meta(max_length=MAX_ADDRESS_CHARACTERS)]


class UploadsGiven(Asked, tag="give", frozen=True):
    """A talk's files of somebody's own, for a tab that lacks them."""

    tab: str
    uploads: Uploads


@reply.register
def _(request: UploadsAsked) -> bytes:
    written = dict(parse_qsl(request.at, keep_blank_values=True))
    return to_json(ShownUploads(uploads=of_scene(parse(written, _session(request.tab).uploads).scene)))


@reply.register
def _(request: UploadsGiven) -> bytes:
    _session(request.tab).keep(*by_source(request.uploads, request.uploads).values())
    return b"{}"


def _session(token: str) -> Session:
    tab = OPEN.get(token)
    if tab is None or tab.session is None:
        raise TalkError(UNKNOWN)
    return tab.session


def route() -> Route:
    """The route that talks are asked of."""
    return Route(f"/{{base:path}}{PATH[1:]}", _talk, methods=["POST"])  # wherever the app is mounted


async def _talk(request: Request) -> Response:
    try:
        body = await body_of(request, MAX_REQUEST_BYTES)
        message = received(body, TalkRequest | PageAsked | UploadsAsked | UploadsGiven)
        made = await asyncio.get_running_loop().run_in_executor(_LANE, reply, message)
    except (RequestError, TalkError, OwnArraysError) as error:
        return refusal(400, str(error))
    except TooLargeError:
        return refusal(413, _TOO_LARGE)
    except ClientDisconnect:
        return refusal(400, _TOO_LARGE)
    return json_response(made)
