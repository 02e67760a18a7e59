"""A visitor: a client that speaks Streamlit 1.67's websocket protocol as its browser does.

It learns the widgets from the messages it receives, sends the states of all of
them with every run, answers with the hashes of the messages it keeps, and reads
what the page shows. It draws nothing, so hundreds fit beside a server.

    async with Visitor("http://127.0.0.1:8501/?step=scores") as visitor:
        await visitor.set("mask", "causal")
        await visitor.send("pass", "reset", True)
        print(visitor.texts(), visitor.exceptions())
"""

from __future__ import annotations

import asyncio
import json
import time
import urllib.parse
from http.cookies import SimpleCookie

import websockets
from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

LARGEST = 64 * 2**20  # bytes of a message; the browser has no limit
MESSAGE_AGE = 2  # runs after which the browser forgets a message that was not used


class Visitor:
    """One open tab.

    Attributes
    ----------
    query : str
        The parameters of its address, as the server wrote them last.
    elements : dict
        What the page shows: elements by their place in it.
    n_bytes : int
        How much it has received.
    seconds : float
        How long its last run took, from sending to the end of the script.
    """

    def __init__(self, address: str, **headers: str):
        self._address = urllib.parse.urlsplit(address)
        self._headers = headers
        self._cookies: SimpleCookie = SimpleCookie()
        self._page_hash = ""
        self._kept: dict[str, tuple[int, ForwardMsg]] = {}
        self._states: dict[str, WidgetState] = {}
        self._fragments: dict[str, str] = {}
        self._n_runs = 0
        self._drawn: dict[tuple[int, ...], Element] = {}
        self.query = self._address.query
        self.session = ""
        self.pages: dict[str, str] = {}
        self.elements: dict[tuple[int, ...], Element] = {}
        self.n_bytes = 0
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
            await self._fetch(path)
        xsrf = self._cookies.get("_streamlit_xsrf")
        token = xsrf.value if xsrf else "PLACEHOLDER_AUTH_TOKEN"
        self.socket = await websockets.connect(
            f"ws://{self._address.netloc}/_stcore/stream",
            subprotocols=["streamlit", token, *([session] if session else [])],
            origin=f"{self._address.scheme}://{self._address.netloc}",
            additional_headers={"Cookie": self._cookie()} | self._headers,
            compression=None,
            max_size=LARGEST,
            max_queue=None,
            ping_interval=None,
            open_timeout=120,
        )

    async def close(self) -> None:
        """Close the tab."""
        await self.socket.close()

    async def run(self, *triggered: WidgetState, **parts: object) -> None:
        """Run the script and wait for its end (see `ask`)."""
        await self.ask(*triggered, **parts)
        await self.finished()

    async def ask(self, *triggered: WidgetState, fragment: str = "", page: str = "", back: bool = False) -> None:
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
        message = BackMsg()
        asked = message.rerun_script
        asked.query_string = self.query
        asked.widget_states.widgets.extend([*self._states.values(), *triggered])
        asked.fragment_id = fragment
        asked.is_history_navigation = back
        asked.page_script_hash = page or self._page_hash
        if not asked.page_script_hash:
            asked.page_name = self._address.path.strip("/")
        asked.cached_message_hashes.extend(self._kept)
        asked.context_info.url = urllib.parse.urlunsplit((*self._address[:3], self.query, ""))
        asked.context_info.locale = "en-US"
        asked.context_info.timezone = "UTC"
        self._asked = time.perf_counter()
        await self.raw(message.SerializeToString())

    async def raw(self, data: bytes | str) -> None:
        """Send bytes as they are; a text is a frame that the server doesn't expect."""
        await self.socket.send(data)

    async def finished(self, timeout: float = 120) -> None:
        """Read messages until the script has ended and isn't run again by itself."""
        async with asyncio.timeout(timeout):
            while not self.hear(await self.socket.recv()):
                pass

    def hear(self, data: bytes) -> bool:
        """Take in one message; returns whether the script has ended with it."""
        self.n_bytes += len(data)
        message = ForwardMsg.FromString(data)
        kind = message.WhichOneof("type")
        if kind == "ref_hash":
            known = self._kept[message.ref_hash][1]
            known.metadata.CopyFrom(message.metadata)
            message, kind = known, "delta"
        if message.metadata.cacheable:
            self._kept[message.hash] = (self._n_runs, message)
        if kind == "delta":
            self._draw(message)
        elif kind == "new_session":
            self._begin(message.new_session)
        elif kind == "navigation":
            self.pages = {page.url_pathname: page.page_script_hash for page in message.navigation.app_pages}
            self._page_hash = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "script_finished":
            return self._end(message.script_finished)
        return False

    # what a person does

    async def set(self, key: str, value: object) -> None:
        """Set the widget of a key, or press the button: a text, a number, True, or the labels that are picked."""
        state = _state(self.widget(key), value)
        triggered = [state] if state.trigger_value else []
        if not triggered:
            self._states[state.id] = state
        await self.run(*triggered, fragment=self._fragments[state.id])

    async def send(self, key: str, event: str, value: object) -> None:
        """Send what the script of a component says: an event of the component with this key."""
        state = WidgetState(id=_make_trigger_id(self.widget(key).id, "events"))
        state.json_trigger_value = json.dumps([{"event": event, "value": value}])
        await self.run(state)

    async def turn(self, page: str) -> None:
        """Open another page of the menu by its path; "" is the first."""
        self.query = ""
        await self.run(page=self.pages[page])

    # what the page shows

    def shown(self, kind: str) -> list:
        """The elements of a kind, in their order: "markdown", "alert", "exception", "text_input", ..."""
        places = sorted(place for place, each in self.elements.items() if each.WhichOneof("type") == kind)
        return [getattr(self.elements[place], kind) for place in places]

    def exceptions(self) -> list[str]:
        """What the page says of errors."""
        return [each.message for each in self.shown("exception")]

    def texts(self) -> list[str]:
        """Its Markdown, plain text and notices."""
        return [each.body for kind in ("markdown", "text", "heading", "alert") for each in self.shown(kind)]

    def widget(self, key: str) -> object:
        """The widget or component of a key."""
        for element in self.elements.values():
            if getattr(_inside(element), "id", "").endswith(f"-{key}"):
                return _inside(element)
        raise KeyError(f"The page has no widget {key!r}; it has {sorted(self.keys())}.")

    def keys(self) -> set[str]:
        """The keys of all widgets and components on the page."""
        ids = (getattr(_inside(each), "id", "") for each in self.elements.values())
        return {each.split("-", 2)[2] for each in ids if each.count("-") > 1}

    # what it keeps

    def _begin(self, new: object) -> None:
        self._page_hash = new.page_script_hash
        self._drawn = {}
        self.session = new.initialize.session_id or self.session

    def _draw(self, message: ForwardMsg) -> None:
        if message.delta.WhichOneof("type") != "new_element":
            return
        element = message.delta.new_element
        self._drawn[tuple(message.metadata.delta_path)] = element
        widget = _inside(element)
        self._fragments[getattr(widget, "id", "")] = message.delta.fragment_id
        state = _first(widget)
        if state is not None and (state.id not in self._states or widget.set_value):
            self._states[state.id] = state

    def _end(self, status: int) -> bool:
        if status == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            return False
        is_part = status == ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY
        self.elements = self.elements | self._drawn if is_part else self._drawn
        present = {getattr(_inside(each), "id", "") for each in self.elements.values()}
        self._states = {name: state for name, state in self._states.items() if name in present}
        self._n_runs += 1
        self._kept = {
            name: (since, each) for name, (since, each) in self._kept.items() if self._n_runs - since <= MESSAGE_AGE
        }
        self.seconds = time.perf_counter() - self._asked
        return True

    def _cookie(self) -> str:
        return "; ".join(f"{name}={each.value}" for name, each in self._cookies.items())

    async def _fetch(self, path: str) -> None:
        """Fetch a path for its cookies."""
        host, port = self._address.hostname, self._address.port or 80
        reader, writer = await asyncio.open_connection(host, port)
        headers = {"Host": self._address.netloc, "Connection": "close", "Cookie": self._cookie()} | self._headers
        given = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(f"GET {path} HTTP/1.1\r\n{given}\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        writer.close()
        for line in head.split("\r\n"):
            name, _, value = line.partition(":")
            if name.lower() == "set-cookie":
                self._cookies.load(value.strip())


_FIELDS = {
    "TextInput": "string_value",
    "TextArea": "string_value",
    "Selectbox": "string_value",
    "Radio": "string_value",
    "Checkbox": "bool_value",
    "ButtonGroup": "string_array_value",
    "Slider": "double_array_value",
    "NumberInput": "double_value",
    "Button": "trigger_value",
}
"""What a widget's state is called, by its kind."""


def _inside(element: Element) -> object:
    return getattr(element, element.WhichOneof("type") or "empty")


def _state(widget: object, value: object) -> WidgetState:
    state = WidgetState(id=widget.id)
    field = _FIELDS[type(widget).__name__]
    if field.endswith("array_value"):
        getattr(state, field).data.extend(value)
    else:
        setattr(state, field, value)
    return state


def _first(widget: object) -> WidgetState | None:
    """The state that the browser gives a widget as it draws it; None for buttons and what else has none."""
    kind = type(widget).__name__
    if _FIELDS.get(kind, "trigger_value") == "trigger_value":
        return None
    if kind == "ButtonGroup":
        labels = [each.content for each in widget.options]
        return _state(widget, widget.raw_values if widget.set_value else [labels[place] for place in widget.default])
    if kind in ("Selectbox", "Radio"):
        if not (widget.set_value or widget.HasField("default")):
            return None
        return _state(widget, widget.raw_value if widget.set_value else widget.options[widget.default])
    return _state(widget, widget.value if widget.set_value else widget.default)
