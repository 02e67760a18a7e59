"""An ASGI app asked one thing, without a server."""

import asyncio
import functools
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.routing import Mount

from attnviz.app import app_wiring

MARKER = "mangosteen"
"""What a visitor sends, and no log may hold."""


def run(story: Coroutine):
    """What a coroutine returns; in a thread of its own, as the browser's tests leave a loop running in theirs."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, story).result()


def in_loop(test):
    """Run an asynchronous test in a loop of its own."""

    @functools.wraps(test)
    def run_test(*arguments, **fixtures):
        run(test(*arguments, **fixtures))

    return run_test


def ask(app, path, method="GET", host="127.0.0.1", body=b"", read=None, root_path="", **headers):
    """The app's answer: its `status`, `headers`, `body` and `text`; what it reads of the body is put into `read`."""
    return run(asked(app, path, method, host, body, read, root_path, **headers))


async def asked(app, path, method="GET", host="127.0.0.1", body=b"", read=None, root_path="", messages=None, **headers):
    """The same in a loop in which other things are asked too; a body may come in `messages`, one after the other."""
    sent = []
    path, _, query = path.partition("?")
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "root_path": root_path,
        "query_string": query.encode(),
        "headers": [(name.encode(), text.encode("latin-1")) for name, text in {"host": host, **headers}.items()],
    }

    async def receive():
        if messages is not None:
            return await anext(messages)
        if read is not None:
            read.append(body)
        return {"type": "http.request", "body": body}

    async def send(message):
        sent.append(message)

    await app(scope, receive, send)
    body = b"".join(message["body"] for message in sent[1:])
    text, headers = body.decode(errors="replace"), Headers(raw=sent[0]["headers"])
    return SimpleNamespace(status=sent[0]["status"], headers=headers, body=body, text=text)


def drive(guard, incoming, host="127.0.0.1", origin="http://127.0.0.1"):
    """A guard around an app that takes all messages of a websocket: what it took, and what was sent back."""
    taken, sent = [], []

    async def app(scope, receive, send):
        while (message := await receive())["type"] == "websocket.receive":
            taken.append(message.get("bytes"))

    async def receive():
        return incoming.pop(0) if incoming else {"type": "websocket.disconnect", "code": 1005}

    async def send(message):
        sent.append(message)

    headers = [(b"host", host.encode()), (b"origin", origin.encode())]
    run(guard(app)({"type": "websocket", "path": "/_stcore/stream", "headers": headers}, receive, send))
    return taken, sent


APP = Starlette(
    routes=[*app_wiring.routes(), Mount("/", app=PlainTextResponse("a page"))], middleware=app_wiring.middleware()
)
"""What `app.py` serves, with one page in place of Streamlit's."""


def all_guards(app):
    """An app behind all guards."""
    for each in reversed(app_wiring.middleware()):
        app = each.cls(app, *each.args)
    return app
