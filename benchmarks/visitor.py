"""A visitor: a client that speaks to the server as the app's pages do in a browser.

What is done in a viewer and its settings goes to the server's route for that. For
all else it speaks Streamlit 1.67's websocket protocol: it learns the widgets from
the messages it receives, sends the states of all of them with every run, and
answers with the hashes of the messages it keeps. It draws nothing, so hundreds fit
beside a server.

    async with Visitor("http://127.0.0.1:8501/?step=scores") as visitor:
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

from attnviz.scene.answer import PARTS
from benchmarks.connection import Connection
from benchmarks.protocol import rerun, state
from benchmarks.screen import Screen

ACTS = "/acts"
MAX_MESSAGE_BYTES = 64 * 2**20  # of a message; the browser has no limit


class RefusedError(Exception):
    """The server does not do what was done in a viewer."""


class Visitor(Screen):
    """One open tab.

    Attributes
    ----------
    http : Connection
        What its acts go through.
    answer : dict
        What the viewer and its settings were given last; empty on pages without them.
    seconds : float
        How long its last act or run took, from sending to the whole answer or the end of the script.
    """

    def __init__(self, address: str, **headers: str):
        self._address = urllib.parse.urlsplit(address)
        self._headers = headers
        super().__init__(self._address.query)
        self.http = Connection(self._address.hostname, self._address.port or 80, **headers)
        self.answer: dict = {}
        self._plans: list[str] = []
        self.seconds = 0.0

    async def __aenter__(self) -> Visitor:
        await self.connect()
        await self.run()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def connect(self, session: str = "") -> None:
        """Fetch the cookies and open the websocket; `session` is taken up again, as after a lost connection."""
        for path in (self._address.path or "/", "/_stcore/health"):  # the first gives a seat behind nginx
            await self.http.ask("GET", path)
        xsrf = self.http.cookies.get("_streamlit_xsrf")
        token = xsrf.value if xsrf else "PLACEHOLDER_AUTH_TOKEN"
        self.socket = await websockets.connect(
            f"ws://{self._address.netloc}/_stcore/stream",
            subprotocols=["streamlit", token, *([session] if session else [])],
            origin=f"{self._address.scheme}://{self._address.netloc}",
            additional_headers={"Cookie": self.http.cookie()} | self._headers,
            compression=None,
            max_size=MAX_MESSAGE_BYTES,
            max_queue=None,
            ping_interval=None,
            open_timeout=120,
        )

    async def close(self) -> None:
        """Close the tab."""
        await self.http.close()
        await self.socket.close()

    async def run(self, *triggered: object, **parts: object) -> None:
        """Run the script and wait for its end (see `ask`)."""
        await self.ask(*triggered, **parts)
        await self.finished()

    async def ask(self, *triggered: object, fragment: str = "", page: str = "", back: bool = False) -> None:
        """Ask for a run and don't wait for it.

        Parameters
        ----------
        *triggered : WidgetState
            States that count for this run alone, besides those of all widgets.
        fragment : str
            The fragment to be run; empty for all of the script.
        page : str
            The hash of another page; empty for the present one.
        back : bool
            Whether the browser's Back leads there.
        """
        known = page or self._page_hash
        message = rerun(
            urllib.parse.urlunsplit((*self._address[:3], self.query, "")),
            self.query,
            [*self._states.values(), *triggered],
            self._kept,
            fragment_id=fragment,
            is_history_navigation=back,
            page_script_hash=known,
            page_name="" if known else self._address.path.strip("/"),
        )
        self._asked = time.perf_counter()
        await self.raw(message)

    async def raw(self, data: bytes | str) -> None:
        """Send bytes as they are; a text is a frame that the server doesn't expect."""
        await self.socket.send(data)

    async def finished(self, timeout: float = 120) -> None:
        """Read messages until the script has ended and isn't run again by itself."""
        async with asyncio.timeout(timeout):
            while not self.hear(await self.socket.recv()):
                pass
        self.seconds = time.perf_counter() - self._asked
        given = [self.widget(key).bytes for key in PARTS if key in self.keys()]
        self._take(given[0] if given else b"{}")

    # what a person does

    async def act(self, name: str, value: object) -> None:
        """Do something in the viewer or its settings.

        Raises
        ------
        Refused
            With the status and what the server says, if it is anything but an answer.
        """
        started = time.perf_counter()
        given = {part: self.answer[part] for part in ("tab", "name", "address", "view")}
        said = given | {"look": f"?{self.query}", "acts": [[name, value]], "plans": self._plans}
        body = json.dumps(said).encode()
        answer = await self.http.ask("POST", ACTS, body, **{"Content-Type": "application/json"})
        self.seconds = time.perf_counter() - started
        self.n_bytes += answer.n_bytes
        if answer.status != 200:
            raise RefusedError(f"{answer.status}: {answer.body.decode(errors='replace')}")
        self._take(answer.body)

    async def set(self, key: str, value: object) -> None:
        """Set what has this name: a box of the settings, or a widget; a button is pressed with True."""
        if key in self.boxes():
            await self.act(key, value)
            return
        held = state(self.widget(key), value)
        triggered = [held] if held.trigger_value else []
        if not triggered:
            self._states[held.id] = held
        await self.run(*triggered, fragment=self._fragments[held.id])

    async def turn(self, page: str) -> None:
        """Open another page of the menu by its path; "" is the first."""
        self.query = ""
        await self.run(page=self.pages[page])

    # what it was answered

    @property
    def notices(self) -> list[str]:
        """What was said of the settings last."""
        return self.answer.get("notices", [])

    def boxes(self) -> dict[str, dict]:
        """The boxes of the settings, by the acts that they ask for."""
        listed = [each for part in self.answer.get("settings", {}).values() for each in part]
        return {each["event"]: each for each in listed if "event" in each}

    def _take(self, answer: bytes) -> None:
        """Keep what the viewer is given, and write its address as the viewer does."""
        self.answer = json.loads(answer)
        if self.answer.get("pass"):
            self._plans = [self.answer["pass"]["plan"]["name"]]
        address = self.answer.get("address", {})
        query = dict(urllib.parse.parse_qsl(self.query, keep_blank_values=True)) | address
        kept = {name: text for name, text in query.items() if text is not None}
        if address:
            self.query = urllib.parse.urlencode(kept)
