"""A screen: what a page shows, and what a browser keeps of it, as the messages of Streamlit's websocket tell it."""

from __future__ import annotations

from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from benchmarks.protocol import first, inside

MAX_MESSAGE_AGE_RUNS = 2  # runs after which the browser forgets a message that was not used


class Screen:
    """What one tab shows.

    Attributes
    ----------
    query : str
        The parameters of its address, as the server wrote them last.
    elements : dict
        What the page shows: elements by their place in it.
    pages : dict
        The hashes of the menu's pages, by their paths.
    session : str
        What stands for its session.
    n_bytes : int
        How much it has received.
    """

    def __init__(self, query: str):
        self._kept: dict[str, tuple[int, ForwardMsg]] = {}
        self._states: dict[str, WidgetState] = {}
        self._fragments: dict[str, str] = {}
        self._n_runs = 0
        self._drawn: dict[tuple[int, ...], Element] = {}
        self._page_hash = ""
        self.query = query
        self.session = ""
        self.pages: dict[str, str] = {}
        self.elements: dict[tuple[int, ...], Element] = {}
        self.n_bytes = 0

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
            if getattr(inside(element), "id", "").endswith(f"-{key}"):
                return inside(element)
        raise KeyError(f"The page has no widget {key!r}; it has {sorted(self.keys())}.")

    def keys(self) -> set[str]:
        """The keys of all widgets and components on the page."""
        ids = (getattr(inside(each), "id", "") for each in self.elements.values())
        return {each.split("-", 2)[2] for each in ids if each.count("-") > 1}

    def _begin(self, new: object) -> None:
        self._page_hash = new.page_script_hash
        self._drawn = {}
        self.session = new.initialize.session_id or self.session

    def _draw(self, message: ForwardMsg) -> None:
        if message.delta.WhichOneof("type") != "new_element":
            return
        element = message.delta.new_element
        self._drawn[tuple(message.metadata.delta_path)] = element
        widget = inside(element)
        self._fragments[getattr(widget, "id", "")] = message.delta.fragment_id
        state = first(widget)
        if state is not None and (state.id not in self._states or widget.set_value):
            self._states[state.id] = state

    def _end(self, status: int) -> bool:
        if status == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            return False
        is_part = status == ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY
        self.elements = self.elements | self._drawn if is_part else self._drawn
        present = {getattr(inside(each), "id", "") for each in self.elements.values()}
        self._states = {name: state for name, state in self._states.items() if name in present}
        self._n_runs += 1
        self._kept = {
            name: (since, each)
            for name, (since, each) in self._kept.items()
            if self._n_runs - since <= MAX_MESSAGE_AGE_RUNS
        }
        return True
