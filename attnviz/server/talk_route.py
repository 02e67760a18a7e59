"""The route of talks: a moment of somebody's own, what may be asked of a scene, a talk's file. Nothing is kept."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from attnviz.core.settings import MAX_TALK_BYTES
from attnviz.lessons.talk import Talk, TalkError
from attnviz.lessons.talk_request import Asked, TalkRequest, reply
from attnviz.scene.document.encoding import to_json
from attnviz.scene.own.received import RequestError, received
from attnviz.site.edition import talk_file

PATH = "/talk"

MAX_REQUEST_BYTES = 2 * MAX_TALK_BYTES
"""Of a talk's file as a text in JSON."""

_LANE = ThreadPoolExecutor(1, "talks")
"""One at a time, beside lessons: whoever asks for many makes other talks wait, and nobody else."""
_TOO_LARGE = f"A talk has at most {MAX_TALK_BYTES:,} bytes; this one has more."


class PageAsked(Asked, tag="page", frozen=True):
    """A talk as one HTML file, of the edition that needs no server."""

    talk: Talk


@reply.register
def _(asked: PageAsked) -> bytes:
    return to_json({"page": talk_file(asked.talk)})


def route() -> Route:
    """The route that talks are asked of."""
    return Route(f"/{{base:path}}{PATH[1:]}", _talk, methods=["POST"])  # wherever the app is mounted


async def _talk(request: Request) -> Response:
    body = bytearray()
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > MAX_REQUEST_BYTES:
                return _refusal(413, _TOO_LARGE)
        asked = received(bytes(body), TalkRequest | PageAsked)
        made = await asyncio.get_running_loop().run_in_executor(_LANE, reply, asked)
    except (RequestError, TalkError) as error:
        return _refusal(400, str(error))
    except ClientDisconnect:
        return _refusal(400, _TOO_LARGE)
    return Response(made, media_type="application/json", headers={"Cache-Control": "no-store"})


def _refusal(status: int, rule: str) -> PlainTextResponse:
    return PlainTextResponse(rule, status, {"Connection": "close"})  # what else is sent is not read
