"""A page of the app without a browser: opened at an address, read and clicked as Streamlit's AppTest allows."""

import json
from pathlib import Path
from urllib.parse import urlencode

from documents import read
from msgspec import convert, to_builtins
from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.testing.v1 import AppTest

from attnviz import Settings, trace_of
from attnviz.contract.article import Article
from attnviz.contract.request_reply import ActionsRequest
from attnviz.core.changes import parse_change, split_changes
from attnviz.examples import EXAMPLES
from attnviz.scene.actions.session import reply_to
from attnviz.scene.document.controls import settings
from attnviz.scene.document.reply import PARTS

ROOT = Path(__file__).parent.parent
PAGES = sorted(set(ROOT.glob("pages/*.py")) - {ROOT / "pages/lessons.py"})
"""The pages that read a scene from the address."""
SENTENCE = "the cat sat on the mat"

SOURCES = ["000 word", "001 with", "002 sum", "002 multihead", "003 steps", "004 code"]
"""A worked example of every kind of graph; the core's tests try them all."""

OWN = {"sentence": "the cat sat", "context": "le chat noir dort", "positions": "sinusoidal", "mask": "padding"}
ADDRESSES = {"own sentence": OWN, **{source: {"source": source} for source in SOURCES}}


def opened(path=ROOT / "app.py", **address):
    """A page at an address; by the router it is the walkthrough, to which that leads from `/`."""
    at = AppTest.from_file(str(path), default_timeout=600)
    if path.name == "app.py":
        at.switch_page("pages/walkthrough.py")
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


def components(at):
    """What each component was sent, by its key."""
    sent = {}
    for each in at.get("bidi_component"):
        sent[each.proto.id.rpartition("-")[2]] = read(each.proto.bytes or each.proto.json)
    return sent


def answer_of(at):
    """The answer that the last run gave: the settings, what is said of the scene, and what is shown of its pass."""
    sent = components(at)
    return next((sent[part] for part in PARTS if part in sent), None)


def sent(at):
    """The document that the viewer was given."""
    return answer_of(at)["pass"]


def address_of(at):
    """The address that a browser shows, which mends itself what is mended on arrival."""
    return mended(at.query_params, components(at)["address"]["address"])


def mended(written, address):
    """An address with these parameters, or for None without them."""
    return {name: text for name, text in (written | address).items() if text is not None}


def scene_of(at):
    """The scene that is kept for the tab."""
    return at.session_state["tab"].session.scene


def did(at, act, message):
    """The answer to what a person does in the viewer or its settings; the browser's address follows it."""
    tab, view = at.session_state["tab"], answer_of(at)["view"]
    look = urlencode(at.query_params, doseq=True)
    session = tab.session
    answer = read(reply_to(session, ActionsRequest(tab.token, session.address, look, view, [[act, message]], [])))
    written = mended(at.query_params, answer["address"])
    at.query_params.clear()
    at.query_params.update(written)
    return answer


def settings_of(scene):
    """The settings of a scene as a browser reads them."""
    return to_builtins(settings(scene))


def boxes(answer):
    """The settings of an answer that something can be done with, by the action that each asks for."""
    return {box["event"]: box for part in answer["settings"].values() for box in part if "event" in box}


def values(answer):
    """What the settings of an answer show."""
    return {act: box.get("value") for act, box in boxes(answer).items()}


def plain(text):
    """A text as a person reads it, without what escapes it."""
    return text.replace("\\", "").replace("\u2060", "")


def texts(at):
    return [plain(each.value) for each in at.markdown]


def warnings(at):
    """All that was mended or refused: what the browser says beside the settings, and the page's own boxes."""
    answer = answer_of(at)
    return [*(answer["notices"] if answer else []), *(plain(each.value) for each in at.warning)]


def quiet(at):
    return not at.exception and not warnings(at) and not at.error


def pieces_in(pieces):
    """All pieces of an article that are shown, one after the other."""
    for piece in pieces:
        yield piece
        inside = [piece.get("pieces", ()), *(piece["columns"] if piece["kind"] == "beside" else ())]
        inside += [each["pieces"] for each in piece.get("options", ()) if each["value"] == piece["value"]]
        for each in inside:
            yield from pieces_in(each)


def article(at, key):
    """The pieces of an article that are shown, by their kinds; it is as it is declared."""
    found, sent = {}, components(at)[key]
    convert(sent, Article)
    for piece in pieces_in(sent["pieces"]):
        found.setdefault(piece["kind"], []).append(piece)
    return found


def worded(piece):
    """What a piece or an option says, as a person reads it."""
    return "".join(text for _, text in piece["runs"])


def sends(at, key, event, value):
    """What an article's script says to the server; at.session_state calls nothing back."""
    states = at._tree.get_widget_states()
    state = states.widgets.add()
    (base,) = (each.proto.id for each in at.get("bidi_component") if each.proto.id.endswith(f"-{key}"))
    state.id = _make_trigger_id(base, "events")
    state.json_trigger_value = json.dumps([{"event": event, "value": value}])
    return at._run(states)
