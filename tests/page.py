"""A page of the app without a browser: opened at an address, read and clicked as Streamlit's AppTest allows."""

import json
from pathlib import Path

from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.testing.v1 import AppTest

from attnviz import Settings, trace_of
from attnviz.core.changes import parse_change, split_changes
from attnviz.examples import EXAMPLES

ROOT = Path(__file__).parent.parent
PAGES = sorted(ROOT.glob("pages/*.py"))
REDIRECTS = [ROOT / "pages" / name for name in ("take_apart.py", "what_if.py")]
"""Pages that no menu names: links to them open the walkthrough."""
SENTENCE = "the cat sat on the mat"

SOURCES = ["000 word", "001 with", "002 sum", "002 multihead", "003 steps", "004 code"]
"""A worked example of every kind of graph; the core's tests try them all."""

OWN = {"sentence": "the cat sat", "context": "le chat noir dort", "positions": "sinusoidal", "mask": "padding"}
ADDRESSES = {"own sentence": OWN, **{source: {"source": source} for source in SOURCES}}


def opened(path=ROOT / "app.py", **address):
    by_router = path in REDIRECTS  # a page's own file knows no other page
    at = AppTest.from_file(str(ROOT / "app.py" if by_router else path), default_timeout=20)
    if by_router:
        at.switch_page(str(path.relative_to(ROOT)))
    for key, value in address.items():
        at.query_params[key] = value
    return at.run()


def changes_of(text):
    """The changes that an address writes so."""
    return tuple(map(parse_change, split_changes(text)))


def trace_at(address):
    """The pass that an address stands for."""
    if "source" in address:
        example, variant = address["source"].split()
        return EXAMPLES[example].variant(variant).trace
    return trace_of(Settings(**address))


def component(at, key):
    return next(each.proto for each in at.get("bidi_component") if each.proto.id.endswith(f"-{key}"))


def sent(at, key="pass"):
    """What a component was sent."""
    proto = component(at, key)
    return json.loads(proto.bytes or proto.json)


def address_of(at):
    """The address that a browser shows, which mends itself what is mended on arrival."""
    mended = at.query_params | sent(at, "address")["address"]
    return {name: value for name, value in mended.items() if value is not None}


def did(at, key, event, value):
    """What the component's script says to the server when a person clicks; at.session_state calls nothing back."""
    states = at._tree.get_widget_states()
    state = states.widgets.add()
    state.id = _make_trigger_id(component(at, key).id, "events")
    state.json_trigger_value = json.dumps([{"event": event, "value": value}])
    return at._run(states)


def plain(text):
    """A text as a person reads it, without what escapes it."""
    return text.replace("\\", "").replace("\u2060", "")


def texts(at):
    return [plain(each.value) for each in at.markdown]


def warnings(at):
    return [plain(each.value) for each in at.warning]


def quiet(at):
    return not at.exception and not at.warning and not at.error
