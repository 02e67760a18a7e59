"""The route of lessons: a moment, the same for everybody, without a session or a run of the page."""

import asyncio
import gzip
import hashlib
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from attnviz.classroom.responses import compressed_response
from attnviz.lessons.lesson import LESSONS, moment

PATH = "/moment"

_LANE = ThreadPoolExecutor(1, "moments")
"""One at a time: of a class that asks for the same, all but the first find it made."""
_KEPT = "public, no-cache"
"""A browser may keep it, and asks whether it is still the same: an update makes another."""


class Made(NamedTuple):
    """A moment as it is sent.

    Attributes
    ----------
    compressed : bytes
        Its JSON, by gzip.
    etag : str
        Of the same text the same, in every process.
    """

    compressed: bytes
    etag: str


def route() -> Route:
    """The route that lessons ask: `moment?lesson=masks&moment=3`."""
    return Route(f"/{{base:path}}{PATH[1:]}", _moment, methods=["GET"])  # wherever the app is mounted


async def _moment(request: Request) -> Response:
    lesson, number = (request.query_params.get(name, "") for name in ("lesson", "moment"))
    if lesson not in LESSONS:
        return PlainTextResponse(f"There is no such lesson. The lessons are {', '.join(LESSONS)}.", 404)
    n_moments = len(LESSONS[lesson].moment)
    if number not in map(str, range(1, n_moments + 1)):
        return PlainTextResponse(f"There is no such moment. The lesson {lesson} has moments 1 to {n_moments}.", 404)
    made = await asyncio.get_running_loop().run_in_executor(_LANE, _made, lesson, int(number))
    headers = {"Vary": "Accept-Encoding", "Cache-Control": _KEPT, "ETag": made.etag}
    if made.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return compressed_response(request, made.compressed, headers)


@cache
def _made(lesson: str, number: int) -> Made:
    """A moment, kept for good: there are some sixty, of 3 MB in all."""
    text = moment(lesson, number)
    return Made(gzip.compress(text, mtime=0), f'W/"{hashlib.blake2b(text, digest_size=8).hexdigest()}"')
