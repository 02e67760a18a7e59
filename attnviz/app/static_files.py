"""Streamlit's static files, gzipped in front of Streamlit, which sends them as they are.

Streamlit leaves `/static` out of its compression on purpose (`starlette_gzip_middleware._should_bypass_gzip`): its
middleware would compress a file for each request, and a class that opens the page together would wait for the
processor. Here each file is compressed once, in a thread, and kept: the second of a class of 120 gets it from memory,
for less work than the plain file from disk. On a slow link a first visit takes a third of the time.
"""

import asyncio
import gzip
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attnviz.app import streamlit_private
from attnviz.classroom.http import accepts_gzip

_FOLDER = "static"
_TEXTS = {".css", ".js", ".json", ".map", ".svg", ".txt"}  # fonts and pictures are compressed already
_EXECUTOR = ThreadPoolExecutor(1, "static files")  # one at a time, so none is compressed twice
# request headers that would make Streamlit answer with less than the whole file
DROPPED = {b"range", b"if-none-match", b"if-modified-since", b"if-match", b"if-unmodified-since", b"if-range"}


def base_path(scope: Scope) -> str:
    """The path that the app is mounted at, without a slash at its end."""
    return scope.get("root_path", "") + f"/{st.get_option('server.baseUrlPath').strip('/')}".rstrip("/")


def local_path(scope: Scope) -> str | None:
    """The path below the mount path: empty at the mount path itself, None for a path that isn't below it."""
    base, path = base_path(scope), scope["path"]
    return path[len(base) :] if f"{path}/".startswith(f"{base}/") else None


@dataclass(frozen=True)
class _Compressed:
    """A gzipped file, and the headers that it is sent with."""

    body: bytes
    headers: dict[str, str]


class CompressedStatic:
    """Answer requests for Streamlit's text files gzipped, under any mount path; all others pass.

    The names come from a listing of the folder, so no path of a request is looked up on the disk.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        home = streamlit_private.static_folder()
        found = (path for path in (home / _FOLDER).rglob("*") if path.suffix in _TEXTS)
        self.files = {f"/{path.relative_to(home).as_posix()}": path for path in found}
        self.cache: dict[Path, _Compressed] = {}  # at most all of them: 7 MB

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        file = self._file(scope)
        if file is None:
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if "range" in headers or not accepts_gzip(headers.get("accept-encoding", "")):
            await self.app(scope, receive, _varying(send))  # a range counts the bytes of the plain file
            return
        compressed = self.cache.get(file) or await self._compressed(file, scope, receive)
        if compressed is None:
            await self.app(scope, receive, _varying(send))
            return
        await _response(compressed, scope["method"], headers)(scope, receive, send)

    def _file(self, scope: Scope) -> Path | None:
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            return None
        return self.files.get(local_path(scope) or "")

    async def _compressed(self, file: Path, scope: Scope, receive: Receive) -> _Compressed | None:
        """The file compressed; None if Streamlit doesn't send it or it has gone from the disk."""
        headers = await self._headers_of_file(scope, receive)
        return headers and await asyncio.get_running_loop().run_in_executor(_EXECUTOR, self._keep, file, headers)

    async def _headers_of_file(self, scope: Scope, receive: Receive) -> dict[str, str] | None:
        """The headers with which Streamlit sends a file, such as how long it may be cached; None if it sends none."""
        start: Message = {}

        async def sent(message: Message) -> None:
            start.update(message)

        asked = [(name, text) for name, text in scope["headers"] if name not in DROPPED]
        await self.app({**scope, "method": "HEAD", "headers": asked}, receive, sent)
        return dict(Headers(raw=start["headers"])) if start["status"] == 200 else None

    def _keep(self, file: Path, headers: dict[str, str]) -> _Compressed | None:
        if file not in self.cache:
            try:
                body = gzip.compress(file.read_bytes(), mtime=0)
            except OSError:  # Streamlit sends its page in place of a file that was deleted
                return None
            etag = headers["etag"].removesuffix('"') + '-gzip"'  # a strong one names these bytes
            ours = {"content-encoding": "gzip", "content-length": str(len(body)), "etag": etag}
            names = ("content-type", "cache-control", "last-modified")
            kept = {name: headers[name] for name in names} | ours | {"vary": "Accept-Encoding"}
            self.cache[file] = _Compressed(body, kept)
        return self.cache[file]


def _response(file: _Compressed, method: str, asked: Headers) -> Response:
    """The file, or that the browser has it: by its hash, or else by its date, which Streamlit's files keep for good."""
    known = asked.get("if-none-match")
    etags = {each.strip().removeprefix("W/") for each in (known or "").split(",")}
    is_known = asked.get("if-modified-since") == file.headers["last-modified"] if known is None else None
    if is_known or "*" in etags or file.headers["etag"] in etags:
        kept = ("etag", "cache-control", "last-modified", "vary")
        return Response(status_code=304, headers={name: file.headers[name] for name in kept})
    return Response(file.body if method == "GET" else None, headers=file.headers)


def _varying(send: Send) -> Send:
    """`send`, with a note for caches that the file also comes gzipped."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).add_vary_header("Accept-Encoding")
        await send(message)

    return sent
