"""Streamlit 1.67's protocol: the states of widgets as its browser writes them, and the message that asks for a run."""

from __future__ import annotations

import json
from collections.abc import Iterable

from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.WidgetStates_pb2 import WidgetState

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


def inside(element: Element) -> object:
    """What an element holds: a widget, a text, a chart."""
    return getattr(element, element.WhichOneof("type") or "empty")


def state(widget: object, value: object) -> WidgetState:
    """The state of a widget that holds a value: a text, a number, True, or the labels that are picked."""
    held = WidgetState(id=widget.id)
    field = _FIELDS[type(widget).__name__]
    if field.endswith("array_value"):
        getattr(held, field).data.extend(value)
    else:
        setattr(held, field, value)
    return held


def first(widget: object) -> WidgetState | None:
    """The state that the browser gives a widget as it draws it; None for buttons and what else has none."""
    kind = type(widget).__name__
    if _FIELDS.get(kind, "trigger_value") == "trigger_value":
        return None
    if kind == "ButtonGroup":
        labels = [each.content for each in widget.options]
        return state(widget, widget.raw_values if widget.set_value else [labels[place] for place in widget.default])
    if kind in ("Selectbox", "Radio"):
        if not (widget.set_value or widget.HasField("default")):
            return None
        return state(widget, widget.raw_value if widget.set_value else widget.options[widget.default])
    return state(widget, widget.value if widget.set_value else widget.default)


def trigger(component: object, event: str, value: object) -> WidgetState:
    """What the script of a component sends when it asks for a run."""
    sent = WidgetState(id=_make_trigger_id(component.id, "events"))
    sent.json_trigger_value = json.dumps([{"event": event, "value": value}])
    return sent


def rerun(address: str, query: str, states: Iterable[WidgetState], kept: Iterable[str], **parts: object) -> bytes:
    """The message that asks for a run.

    Parameters
    ----------
    address : str
        What the browser's address bar holds.
    query : str
        Its parameters.
    states : iterable of WidgetState
        Those of all widgets, and what is pressed.
    kept : iterable of str
        The hashes of the messages that need not be sent again.
    **parts
        Other fields of the message, such as the page or the fragment.
    """
    message = BackMsg()
    asked = message.rerun_script
    asked.query_string = query
    asked.widget_states.widgets.extend(states)
    asked.cached_message_hashes.extend(kept)
    asked.context_info.url = address
    asked.context_info.locale = "en-US"
    asked.context_info.timezone = "UTC"
    for name, value in parts.items():
        setattr(asked, name, value)
    return message.SerializeToString()
