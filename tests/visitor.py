"""A visitor: a client that speaks to the server as the app's pages do in a browser.

Actions in a viewer and its settings go to their route. For all else it speaks Streamlit's websocket protocol, and sends
the hashes of the messages it has cached. It draws nothing, so hundreds fit beside a server.

    async with Visitor("http://127.0.0.1:8501/walkthrough?step=scores") as visitor:
        await visitor.set("mask", "causal")
        await visitor.act("reset", True)
        print(visitor.notices, visitor.query, visitor.exceptions())
"""

from __future__ import annotations

import asyncio
import gzip
import json
import time
import urllib.parse
from collections.abc import Iterable
from http.cookies import SimpleCookie
from typing import NamedTuple

import h11
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from attnviz.scene.document.reply import PARTS

READ_BYTES = 2**16


class Answer(NamedTuple):
    """An answer of the server."""

    status: int
    body: bytes  # before it was compressed
    n_bytes: int  # as they came


class Connection:
    """One connection to a server, opened when it is first needed, and anew where the server has closed it."""

    def __init__(self, host: str, port: int):
        self._host, self._port = host, port
        self._reader: asyncio.StreamReader | None = None
        self.cookies: SimpleCookie = SimpleCookie()

    async def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> Answer:
        """Send a request, and wait for all of the answer."""
        if self._reader is None or self._reader.at_eof():
            await self.close()
            self._reader, self._writer = await asyncio.open_connection(self._host, self._port)
        http = h11.Connection(h11.CLIENT)
        given = {"Host": f"{self._host}:{self._port}", "Accept-Encoding": "gzip", "Cookie": self.cookie()} | headers
        request = h11.Request(method=method, target=path, headers=[*given.items(), ("Content-Length", str(len(body)))])
        self._writer.write(b"".join(map(http.send, (request, h11.Data(body), h11.EndOfMessage()))))
        head = await self._event(http)
        pieces = []
        while isinstance(piece := await self._event(http), h11.Data):
            pieces.append(bytes(piece.data))
        if http.our_state is h11.MUST_CLOSE:
            await self.close()
        for name, value in head.headers:
            if name == b"set-cookie":
                self.cookies.load(value.decode())
        came = b"".join(pieces)
        is_packed = (b"content-encoding", b"gzip") in head.headers
        return Answer(head.status_code, gzip.decompress(came) if is_packed else came, len(came))

    async def close(self) -> None:
        if self._reader is not None:
            self._writer.close()
            self._reader = None

    def cookie(self) -> str:
        return "; ".join(f"{name}={each.value}" for name, each in self.cookies.items())

    async def _event(self, http: h11.Connection) -> h11.Response | h11.Data | h11.EndOfMessage:
        while (event := http.next_event()) is h11.NEED_DATA:
            http.receive_data(await self._reader.read(READ_BYTES))
        return event


_FIELDS = dict.fromkeys(("TextInput", "Selectbox", "Radio"), "string_value")
_FIELDS |= {"NumberInput": "double_value", "Button": "trigger_value"}
"""The field of a widget's state, by its kind."""


def state(widget: object, value: object) -> WidgetState:
    """The state of a widget that holds a value: a text, a number, or True."""
    return WidgetState(id=widget.id, **{_FIELDS[type(widget).__name__]: value})


class Screen:
    """What one tab shows."""

    def __init__(self, query: str):
        self._kept: dict[str, ForwardMsg] = {}
        self._drawn: dict[tuple[int, ...], Element] = {}
        self._page_hash = ""
        self.query = query  # the parameters of its address, as the server wrote them last
        self.elements: dict[tuple[int, ...], Element] = {}  # what the page shows, by its place in it
        self.n_bytes = 0  # received

    def hear(self, data: bytes) -> bool:
        """Take in one message; returns whether the script has ended with it."""
        self.n_bytes += len(data)
        message = ForwardMsg.FromString(data)
        kind = message.WhichOneof("type")
        if kind == "ref_hash":
            known = self._kept[message.ref_hash]
            known.metadata.CopyFrom(message.metadata)
            message, kind = known, "delta"
        if message.metadata.cacheable:
            self._kept[message.hash] = message
        if kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            self._drawn[tuple(message.metadata.delta_path)] = message.delta.new_element
        elif kind == "new_session":
            self._page_hash, self._drawn = message.new_session.page_script_hash, {}
        elif kind == "navigation":
            self._page_hash = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "script_finished" and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            self.elements = self._drawn
            return True
        return False

    def asks(self, address: str, page: str, states: Iterable[WidgetState]) -> bytes:
        """The message that asks for a run, at an address of a page, with the states of the widgets that were set."""
        message = BackMsg()
        asked = message.rerun_script
        asked.query_string = self.query
        asked.widget_states.widgets.extend(states)
        asked.cached_message_hashes.extend(self._kept)
        asked.page_script_hash, asked.page_name = self._page_hash, "" if self._page_hash else page
        asked.context_info.url, asked.context_info.locale, asked.context_info.timezone = address, "en-US", "UTC"
        return message.SerializeToString()

    def shown(self, kind: str) -> list:
        """The elements of a kind, in their order: "markdown", "alert", "exception", "text_input", ..."""
        places = sorted(place for place, each in self.elements.items() if each.WhichOneof("type") == kind)
        return [getattr(self.elements[place], kind) for place in places]

    def exceptions(self) -> list[str]:
        return [each.message for each in self.shown("exception")]

    def texts(self) -> list[str]:
        """Its Markdown, plain text and notices."""
        return [each.body for kind in ("markdown", "text", "heading", "alert") for each in self.shown(kind)]

    def widgets(self) -> dict[str, object]:
        """The widgets and components on the page, by their keys."""
        held = (getattr(each, each.WhichOneof("type") or "empty") for each in self.elements.values())
        return {each.id.split("-", 2)[2]: each for each in held if getattr(each, "id", "").count("-") > 1}


ACTIONS = "/actions"
MAX_MESSAGE_BYTES = 64 * 2**20  # of a message; the browser has no limit

MAX_TEMPLATES = 16
"""How many templates a browser says that it has: as in `shell/templates.js`."""


class RefusedError(Exception):
    """The server refused an action."""


class Visitor(Screen):
    """One open tab at an address; `headers` are those of its websocket besides the usual ones."""

    def __init__(self, address: str, **headers: str):
        self._address = urllib.parse.urlsplit(address)
        super().__init__(self._address.query)
        self._http = Connection(self._address.hostname, self._address.port or 80)
        self._headers = headers
        self._templates: list[str] = []
        self.answer: dict = {}  # what the viewer and its settings were sent last; empty on pages without them
        self.seconds = 0.0  # from sending the last action or run to the whole answer, or the end of the script

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

    async def finished(self) -> None:
        """Read messages until the script has ended and isn't run again by itself."""
        async with asyncio.timeout(600):
            while not self.hear(await self.socket.recv()):
                pass

    async def act(self, name: str, value: object) -> None:
        """Do something in the viewer or its settings; raises RefusedError with the server's status and reason."""
        started = time.perf_counter()
        given = {part: self.answer[part] for part in ("tab", "address", "view")}
        said = given | {"look": f"?{self.query}", "actions": [[name, value]], "templates": self._templates}
        answer = await self._http.ask(
            "POST", ACTIONS, json.dumps(said).encode(), **{"Content-Type": "application/json"}
        )
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
