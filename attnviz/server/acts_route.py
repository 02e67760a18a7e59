"""The route of acts: what is done in a viewer is answered here, without a run of the page."""

import asyncio
import json
import re
import time
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qs

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from attnviz.scene.answer import PARTS, ActsRequest, reply_to
from attnviz.ui.state import turns
from attnviz.ui.state.tabs import OPEN, Tab

PATH = "/acts"

MAX_REQUEST_BYTES = 128_000
"""Bytes of one request; a viewer sends a few hundred, and a few of the longest sentences at most."""

MAX_ACTS = 5
"""Acts in one request: what was done while the answer to the one before was on its way."""

MAX_WAITING_REQUESTS = 4
"""Requests of one tab that have no answer yet; a viewer sends the next when it has one."""

HEAVY_SECONDS = 1.0
"""Seconds of processor; a tab that has used as many (see `CpuQuota.used`) works in the other lane. No person does."""

LONG = ("flip", "names")
"""Acts that take up to a second of processor, and have their turns among all long work."""

_LANE, _OTHER_LANE = ThreadPoolExecutor(4, "acts"), ThreadPoolExecutor(1, "many acts")
_TAB = re.compile(rb'{"tab": ?"(\w*)"')  # how a request begins: for no tab, nothing else is looked at
_FIELDS = ("tab", "name", "address", "look", "view", "acts", "plans")
_REFUSED = f"What is asked here is a viewer's own: {{{', '.join(_FIELDS)}}}. Reload the page."
_BUSY = f"In one tab at most {MAX_WAITING_REQUESTS} things are done at once; ask again when one is answered."
_UNKNOWN = "This process knows no such tab; the page gets another one as it connects again."


def read(body: bytes) -> ActsRequest | None:
    """What a request says, or None if no viewer would say so."""
    try:
        said = json.loads(_well_formed(json.loads(body)))
        tab, name, address, look, view, acts, plans = (said[field] for field in _FIELDS)
        look = parse_qs(look.removeprefix("?"), keep_blank_values=True, max_num_fields=100)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    is_read = (
        isinstance(tab, str)
        and isinstance(name, str)
        and isinstance(address, dict)
        and all(isinstance(text, str | None) for text in address.values())
        and isinstance(view, str)
        and view in PARTS
        and isinstance(acts, list)
        and len(acts) <= MAX_ACTS
        and all(isinstance(each, list) and len(each) == 2 for each in acts)
        and isinstance(plans, list)
        and all(isinstance(each, str) for each in plans)
    )
    return ActsRequest(tab, name, address, look, view, acts, plans) if is_read else None


def route() -> Route:
    """The route that viewers ask."""
    return Route(f"/{{base:path}}{PATH[1:]}", _acts, methods=["POST"])  # wherever the app is mounted


async def _acts(request: Request) -> Response:
    body = await _read(request)
    begun = _TAB.match(body)
    if begun is None:
        return _refusal()
    tab = OPEN.get(begun[1].decode())
    if tab is None:
        return PlainTextResponse(_UNKNOWN, 404)
    if tab.n_waiting == MAX_WAITING_REQUESTS:
        return PlainTextResponse(_BUSY, 429)
    with tab.waiting():
        async with tab.turn:
            await asyncio.sleep(tab.cpu_quota.wait(time.monotonic()))
            lane = _LANE if tab.cpu_quota.used < HEAVY_SECONDS else _OTHER_LANE
            made = await asyncio.get_running_loop().run_in_executor(lane, _response, tab, body, LONG)
            return made or await turns.in_one_piece(_response, tab, body)


def _response(tab: Tab, body: bytes, left: Collection[str] = ()) -> Response | None:
    """The answer to a request of a tab, whose quota it is to read it too: 128 kB of brackets take 0.1 s.

    None where it tells one of the acts that are `left` for another time; nothing is done then.
    """
    with tab.cpu_quota.noted():
        done = read(body)
        if done is None or done.tab != tab.token:  # JSON may say a part twice
            return _refusal()
        if done.name not in tab.places:
            return PlainTextResponse(_UNKNOWN, 404)
        if any(name in left for name, _ in done.acts):
            return None
        answer = reply_to(tab.places[done.name], done)
    return Response(answer, media_type="application/json", headers={"Cache-Control": "no-store"})


def _refusal() -> Response:
    return PlainTextResponse(_REFUSED, 400, {"Connection": "close"})  # what else it sends is not read


def _well_formed(said: object) -> str:
    """The same as JSON, in which U+FFFD stands for half a character: no answer could be sent with that."""
    text = json.dumps(said, ensure_ascii=False)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


async def _read(request: Request) -> bytes:
    """What was sent, or nothing if that is too much or never comes."""
    body = b""
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > MAX_REQUEST_BYTES:
                return b""
    except ClientDisconnect:
        return b""
    return body
