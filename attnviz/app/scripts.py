"""The browser's scripts: what Streamlit is given of a component, the route that serves each script, and the connection
script in Streamlit's own page. A script's path contains a hash of its text, so browsers may keep it.
"""

from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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


def runs() -> None:
    """An empty callback, for events that the next run handles: a callback can't open a page."""


STYLE = Path(__file__).with_name("page.css").read_text("utf-8")
_TAGS = (
    f"<style>{STYLE}</style>"  # after Streamlit's own, in the head
    f'<script type="module" src="./{SCRIPTS["connection"].path.lstrip("/")}"></script>'
).encode()
_END = b"</body>"
# request headers that would make Streamlit's page arrive compressed, or not at all
_DROPPED = {b"accept-encoding", b"if-none-match", b"if-modified-since"}


SCRIPT_PATH = "/viewer/{name}-{text}.js"  # under any hash: a page from before an update requests the old one


async def answer_script(request: Request) -> Response:
    """The response to a request for a script."""
    name = request.path_params["name"]
    script = SCRIPTS.get(name)
    if script is None:
        return PlainTextResponse("There is no such script. Reload the page.", 404)
    is_current = request.url.path.endswith(script.path)
    caching = "public, max-age=31536000, immutable" if is_current else "no-store"
    headers = {"Vary": "Accept-Encoding", "Cache-Control": caching}
    if name in LATE and not is_current:
        script = whole(name)
    if "gzip" in request.headers.get("accept-encoding", ""):  # compressed once, not for each of a class
        return Response(script.compressed, media_type="text/javascript", headers=headers | {"Content-Encoding": "gzip"})
    return Response(script.text, media_type="text/javascript", headers=headers)


class PageScript:
    """Add to Streamlit's page our styles, as a page would jump when they came with its parts, and the script that
    reports a lost connection: our others only run with a connection.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_get = scope["type"] == "http" and scope["method"] == "GET"
        if not is_get or "text/html" not in Headers(scope=scope).get("accept", ""):
            await self.app(scope, receive, send)
            return
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
                    page = bytes(body).replace(_END, _TAGS + _END, 1)
                    headers = MutableHeaders(scope=start)
                    headers["content-length"] = str(len(page))
                    del headers["etag"], headers["last-modified"]  # of the page without them
                    await send(start)
                    await send({"type": "http.response.body", "body": page})

        plain = [(name, text) for name, text in scope["headers"] if name not in _DROPPED]
        await self.app({**scope, "headers": plain}, receive, sent)
