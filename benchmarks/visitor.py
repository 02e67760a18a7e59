"""A visitor: a client that speaks to the server as the app's pages do in a browser.

What is done in a viewer and its settings goes to the server's route for that. For
all else it speaks Streamlit's websocket protocol, and answers with the hashes of
the messages it keeps. It draws nothing, so hundreds fit beside a server.

    async with Visitor("http://127.0.0.1:8501/walkthrough?step=scores") as visitor:
        await visitor.set("mask", "causal")
        await visitor.act("reset", True)
        print(visitor.notices, visitor.query, visitor.exceptions())
"""

from __future__ import annotations

import asyncio
import json
import time
import urllib.parse

import websockets

from attnviz.scene.document.reply import PARTS
from benchmarks.connection import Connection
from benchmarks.screen import Screen, state

ACTS = "/acts"
MAX_MESSAGE_BYTES = 64 * 2**20  # of a message; the browser has no limit

MAX_TEMPLATES = 16
"""How many templates a browser says that it has: as in `talk/templates.js`."""


class RefusedError(Exception):
    """The server does not do what was done in a viewer."""


class Visitor(Screen):
    """One open tab.

    Parameters
    ----------
    address : str
    headers : str
        Of the websocket, besides the usual ones.

    Attributes
    ----------
    answer : dict
        What the viewer and its settings were given last; empty on pages without them.
    seconds : float
        How long its last act or run took, from sending to the whole answer or the end of the script.
    """

    def __init__(self, address: str, **headers: str):
        self._address = urllib.parse.urlsplit(address)
        super().__init__(self._address.query)
        self._http = Connection(self._address.hostname, self._address.port or 80)
        self._headers = headers
        self._templates: list[str] = []
        self.answer: dict = {}
        self.seconds = 0.0

    async def __aenter__(self) -> Visitor:
        await self.connect()
        await self.run()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def connect(self) -> None:
        """Fetch the cookies and open the websocket."""
        for path in (self._address.path or "/", "/_stcore/health"):  # the first gives a seat behind nginx
            await self._http.ask("GET", path)
        xsrf = self._http.cookies.get("_streamlit_xsrf")
        self.socket = await websockets.connect(
            f"ws://{self._address.netloc}/_stcore/stream",
            subprotocols=["streamlit", xsrf.value if xsrf else "PLACEHOLDER_AUTH_TOKEN"],
            origin=f"{self._address.scheme}://{self._address.netloc}",
            additional_headers={"Cookie": self._http.cookie(), **self._headers},
            compression=None,
            max_size=MAX_MESSAGE_BYTES,
            max_queue=None,
            ping_interval=None,
            open_timeout=600,
        )

    async def close(self) -> None:
        """Close the tab."""
        await self._http.close()
        await self.socket.close()

    async def run(self, *states: object) -> None:
        """Run the script, with widgets set to these states, and wait for its end."""
        address = urllib.parse.urlunsplit((*self._address[:3], self.query, ""))
        message = self.asks(address, self._address.path.strip("/"), states)
        started = time.perf_counter()
        await self.raw(message)
        await self.finished()
        self.seconds = time.perf_counter() - started
        self._take(next((each.bytes for key, each in self.widgets().items() if key in PARTS), b"{}"))

    async def raw(self, data: bytes | str) -> None:
        """Send bytes as they are; a text is a frame that the server doesn't expect."""
        await self.socket.send(data)

    async def finished(self, timeout: float = 600) -> None:
        """Read messages until the script has ended and isn't run again by itself."""
        async with asyncio.timeout(timeout):
            while not self.hear(await self.socket.recv()):
                pass

    async def act(self, name: str, value: object) -> None:
        """Do something in the viewer or its settings.

        Raises
        ------
        RefusedError
            With the status and what the server says, if it is anything but an answer.
        """
        started = time.perf_counter()
        given = {part: self.answer[part] for part in ("tab", "address", "view")}
        said = given | {"look": f"?{self.query}", "acts": [[name, value]], "templates": self._templates}
        answer = await self._http.ask("POST", ACTS, json.dumps(said).encode(), **{"Content-Type": "application/json"})
        self.seconds = time.perf_counter() - started
        self.n_bytes += answer.n_bytes
        if answer.status != 200:
            raise RefusedError(f"{answer.status}: {answer.body.decode(errors='replace')}")
        self._take(answer.body)

    async def set(self, key: str, value: object) -> None:
        """Set what has this name: a box of the settings, or a widget; a button is pressed with True."""
        boxes = [each for part in self.answer.get("settings", {}).values() for each in part]
        if any(each.get("event") == key for each in boxes):
            await self.act(key, value)
        else:
            await self.run(state(self.widgets()[key], value))

    @property
    def notices(self) -> list[str]:
        """What was said of the settings last."""
        return self.answer.get("notices", [])

    def _take(self, answer: bytes) -> None:
        """Keep what the viewer is given, and write its address as the viewer does."""
        self.answer = json.loads(answer)
        if self.answer.get("pass"):
            shown = [self.answer["pass"][each]["name"] for each in ("template", "parameters")]
            self._templates = [*(each for each in self._templates if each not in shown), *shown][-MAX_TEMPLATES:]
        if address := self.answer.get("address"):
            query = dict(urllib.parse.parse_qsl(self.query, keep_blank_values=True)) | address
            self.query = urllib.parse.urlencode({name: text for name, text in query.items() if text is not None})
