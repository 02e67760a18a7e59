"""The route of acts: what is done in a viewer is answered here, without a run of the page."""

import asyncio
import re
import time
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from attnviz.app.state.tabs import LONG_WORK, OPEN, UNKNOWN, Tab
from attnviz.classroom.responses import TooLargeError, body_of, json_response, refusal
from attnviz.contract.answer import read_request
from attnviz.contract.base import RequestError
from attnviz.scene.actions.session import answer_to

PATH = "/acts"

MAX_REQUEST_BYTES = 128_000
"""Bytes of one request; a viewer sends a few hundred, and a few of the longest sentences at most."""

HEAVY_SECONDS = 1.0
"""Seconds of processor; a tab that has used as many (see `CpuQuota.used`) works in the other lane. No person does."""

LONG = ("flip", "names")
"""Acts that take up to a second of processor, and have their turns among all long work."""

_LANE, _OTHER_LANE = ThreadPoolExecutor(4, "acts"), ThreadPoolExecutor(1, "many acts")
_TAB = re.compile(rb'{"tab": ?"(\w*)"')  # how a request begins: for no tab, nothing else is looked at
_REFUSED = "What is asked here is a page's own, of its tab and of a bounded size. Reload the page."


def route() -> Route:
    """The route that viewers ask."""
    return Route(f"/{{base:path}}{PATH[1:]}", _acts, methods=["POST"])  # wherever the app is mounted


async def _acts(request: Request) -> Response:
    try:
        body = await body_of(request, MAX_REQUEST_BYTES)
    except (TooLargeError, ClientDisconnect):
        return refusal(400, _REFUSED)
    begun = _TAB.match(body)
    if begun is None:
        return refusal(400, _REFUSED)
    tab = OPEN.get(begun[1].decode())
    if tab is None:
        return PlainTextResponse(UNKNOWN, 404)
    async with tab.turn:
        await asyncio.sleep(tab.cpu_quota.wait(time.monotonic()))
        lane = _LANE if tab.cpu_quota.used < HEAVY_SECONDS else _OTHER_LANE
        made = await asyncio.get_running_loop().run_in_executor(lane, _response, tab, body, LONG)
        return made or await LONG_WORK.in_one_piece(tab.who, _response, tab, body)


def _response(tab: Tab, body: bytes, left: Collection[str] = ()) -> Response | None:
    """The answer to a request of a tab, whose quota it is to read it too.

    None where it tells one of the acts that are `left` for another time; nothing is done then.
    """
    with tab.cpu_quota.noted():
        try:
            done = read_request(body)
        except RequestError as error:
            return refusal(400, str(error))
        if done.tab != tab.token:  # JSON may say a part twice
            return refusal(400, _REFUSED)
        if tab.session is None:
            return PlainTextResponse(UNKNOWN, 404)
        if any(name in left for name, _ in done.acts):
            return None
        answer = answer_to(tab.session, done)
    return json_response(answer)
