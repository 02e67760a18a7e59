"""The browser's scripts: what Streamlit is given of a component, and the route that serves each script. A script's path
contains a hash of its text, so browsers may keep it.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from attnviz.classroom.http import accepts_gzip
from attnviz.viewer.script import LATE, SCRIPTS, needed, whole

_LOADER = Path(__file__).with_name("loader.js").read_text("utf-8")
_PAGE_LOADER = Path(__file__).with_name("pageLoader.js").read_text("utf-8")


def loader(name: str) -> str:
    """The loader of one of `SCRIPTS`: Streamlit sends an inline component's code in every run, so it is short."""
    return _LOADER.replace("{path}", SCRIPTS[name].path.lstrip("/"))


def page_loader(name: str) -> str:
    """The loader of one of `viewer.script.PARTS`, with those that it comes after."""
    return _PAGE_LOADER.replace("{paths}", " ".join(paths(name)))


def paths(name: str) -> list[str]:
    """The paths of the scripts that a part needs, below the site, in the order in which they follow each other."""
    return [SCRIPTS[each].path.lstrip("/") for each in needed(name)]


def rerun() -> None:
    """An empty callback, for events that the next run handles: a callback can't open a page."""


_EXECUTOR = ThreadPoolExecutor(1, "scripts")  # one at a time, so none is bundled or compressed twice
SCRIPT_PATH = "/viewer/{name}-{text}.js"  # under any hash: a page from before an update requests the old one


async def handle_script(request: Request) -> Response:
    """The response to a request for a script."""
    name = request.path_params["name"]
    current = SCRIPTS.get(name)
    if current is None:
        return PlainTextResponse("There is no such script. Reload the page.", 404)
    is_current = request.url.path.endswith(current.path)
    caching = "public, max-age=31536000, immutable" if is_current else "no-store"
    headers = {"Vary": "Accept-Encoding", "Cache-Control": caching}
    is_compressed = accepts_gzip(request.headers.get("accept-encoding", ""))
    if is_compressed:
        headers["Content-Encoding"] = "gzip"

    def body() -> bytes:
        script = whole(name) if name in LATE and not is_current else current
        return script.compressed if is_compressed else script.text

    # the first request for a script takes up to 0.2 s, in which no other visitor should have to wait
    text = await asyncio.get_running_loop().run_in_executor(_EXECUTOR, body)
    return Response(text, media_type="text/javascript", headers=headers)
