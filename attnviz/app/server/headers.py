"""Headers: a browser runs our scripts alone, guesses no types, and sends no referrer."""

import base64
import hashlib
import os
import re

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attnviz.app import seams

_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def policy(frame_ancestors: str) -> str:
    """The content security policy: what a page may load, and in whose pages it may stand.

    Streamlit hands a component's module to the browser as a blob and writes its
    styles into the page. Its protocol buffers multiply 64-bit integers by a
    WebAssembly module, on every page. Without leave for that they do so more slowly,
    and Firefox calls the refusal an error. The leave starts no script: only one that
    runs already can compile a module, and a module does nothing that its script can't.
    Plotly and the tables need nothing more.

    Parameters
    ----------
    frame_ancestors
        The pages that may embed ours, as in the header: `'self' https://course.example.edu`.
    """
    if not re.fullmatch(r"[^\s;,]+( [^\s;,]+)*", frame_ancestors):
        raise ValueError(
            "ATTNVIZ_FRAME_ANCESTORS takes origins with one space between them, as in "
            f"\"'self' https://course.example.edu\"; it is {frame_ancestors!r}."
        )
    return "; ".join(
        (
            "default-src 'self'",
            f"script-src 'self' blob: 'wasm-unsafe-eval' {_inline_scripts()}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
            f"frame-ancestors {frame_ancestors}",
        )
    )


def _inline_scripts() -> str:
    """Streamlit's own inline scripts, each by its hash, so that no other one runs."""
    page = (seams.static_folder() / "index.html").read_text(encoding="utf-8")
    digests = [hashlib.sha256(script.encode()).digest() for script in _INLINE.findall(page)]
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


def configured_policy() -> str:
    """The policy with the pages that the operator has set; where they are none, the server doesn't start."""
    try:
        return policy(os.environ.get("ATTNVIZ_FRAME_ANCESTORS", "'self'"))
    except ValueError as error:
        raise SystemExit(str(error)) from None


class Headers:
    """Adds the headers to every answer."""

    def __init__(self, app: ASGIApp, policy: str) -> None:
        self.app = app
        self.headers = {
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "same-origin",  # an address holds what a person typed
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self.headers)
            await send(message)

        await self.app(scope, receive, sent)
