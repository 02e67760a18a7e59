"""A screen: what a page shows, as the messages of Streamlit 1.67's websocket tell it, and what asks for a run of it."""

from collections.abc import Iterable

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

_FIELDS = {
    "TextInput": "string_value",
    "Selectbox": "string_value",
    "Radio": "string_value",
    "NumberInput": "double_value",
    "Button": "trigger_value",
}
"""What a widget's state is called, by its kind."""


def state(widget: object, value: object) -> WidgetState:
    """The state of a widget that holds a value: a text, a number, or True."""
    return WidgetState(id=widget.id, **{_FIELDS[type(widget).__name__]: value})


class Screen:
    """What one tab shows.

    Attributes
    ----------
    query : str
        The parameters of its address, as the server wrote them last.
    elements : dict
        What the page shows: elements by their place in it.
    n_bytes : int
        How much it has received.
    """

    def __init__(self, query: str):
        self._kept: dict[str, ForwardMsg] = {}
        self._drawn: dict[tuple[int, ...], Element] = {}
        self._page_hash = ""
        self.query = query
        self.elements: dict[tuple[int, ...], Element] = {}
        self.n_bytes = 0

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
        """What the page says of errors."""
        return [each.message for each in self.shown("exception")]

    def texts(self) -> list[str]:
        """Its Markdown, plain text and notices."""
        return [each.body for kind in ("markdown", "text", "heading", "alert") for each in self.shown(kind)]

    def widgets(self) -> dict[str, object]:
        """The widgets and components on the page, by their keys."""
        held = (getattr(each, each.WhichOneof("type") or "empty") for each in self.elements.values())
        return {each.id.split("-", 2)[2]: each for each in held if getattr(each, "id", "").count("-") > 1}
