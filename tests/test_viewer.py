"""What the viewer is sent, what it sends back, and its modules as one text."""

import functools
import json

import jsonschema
import numpy as np
import pytest
from page import ROOT, did, opened
from streamlit.testing.v1 import AppTest

from attnviz import Settings, trace_of
from attnviz.examples import EXAMPLES
from attnviz.text.steps import STEPS
from attnviz.ui.viewer.bundle import bundle
from attnviz.ui.viewer.messages import cells_in

BROWSER = ROOT / "attnviz" / "ui" / "viewer" / "browser"
SCHEMA = json.loads((BROWSER / "payload.schema.json").read_text("utf-8"))
WALKS = {
    f"the step {step.title}": {"step": step.title, "positions": "sinusoidal", "mask": "causal", "d_model": "6"}
    for step in STEPS
}
PAGES = {
    "a context": (
        "app.py",
        {"step": "Whole pass", "context": "der Hund", "sentence": "constructor toString __proto__"},
    ),
    "two heads more": ("app.py", {"step": "Q, K, V", "heads": "4", "mask": "padding", "sentence": "one two"}),
    "a trail": ("pages/take_apart.py", {"trail": "output[1,2]<concat[1,5]"}),
    "slopes": ("pages/take_apart.py", {"ask": "what would move it", "mask": "causal"}),
    "a change": ("pages/what_if.py", {"changes": "attention[0,2,0]=1", "mask": "causal"}),
} | {
    f"example {each.id} {variant.id}": ("app.py", {"step": "Whole pass", "source": f"{each.id} {variant.id}"})
    for each in EXAMPLES.values()
    for variant in each.variants
}
NO_MESSAGES = [None, 5, 1.5, True, [], {}, ["q[0,0,0]"], {"cell": "q[0,0,0]"}, "", "q", "q[0]", "q[9,9,9]", "\ud800"]


@functools.cache
def payloads():
    """What every picture of every page is sent; in the walkthrough with all that it gets when someone comes near."""
    sent = {}
    for name, (page, address) in PAGES.items():
        sent |= _sent(name, opened(ROOT / page, **address))
    for name, address in WALKS.items():
        at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=20)
        at.query_params.update(address)
        for key in ("picture", "contributions"):
            at.session_state[f"{key}_prefetch"] = True
        sent |= _sent(name, at.run())
    return sent


def _sent(name, at):
    assert not at.exception, name
    drawn = (each.proto for each in at.get("bidi_component") if each.proto.component_name == "attnviz.matrix")
    return {f"{name} ({place})": json.loads(proto.json) for place, proto in enumerate(drawn)}


def test_every_payload_is_one_of_the_schema():
    validator = jsonschema.Draft202012Validator(SCHEMA)
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert len(payloads()) > len(PAGES) + len(WALKS)
    for name, payload in payloads().items():
        assert [error.message[:200] for error in validator.iter_errors(payload)] == [], name


def test_the_schema_has_nothing_that_is_never_sent():
    """A field that no page sends is dead: each is in some payload."""
    sent = {key for payload in payloads().values() for key in _keys(payload)}
    objects = [SCHEMA, *SCHEMA["$defs"].values(), SCHEMA["properties"]["answer"], SCHEMA["properties"]["colours"]]
    assert {key for each in objects for key in each.get("properties", ())} <= sent


def _keys(value):
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _keys(each)


@pytest.mark.parametrize("address", [WALKS["the step Tokens"], PAGES["a context"][1]], ids=["heads", "a context"])
def test_the_coordinates_of_an_axis_span_it(address):
    at = opened(**address)
    (payload, *_) = _sent("", at).values()
    for name, axes in payload["axes"].items():
        for axis in axes:
            assert np.prod([length for _, length in axis["coordinates"]]) == len(axis["labels"]), name


@pytest.mark.parametrize("message", NO_MESSAGES, ids=repr)
def test_a_message_that_is_no_trail_has_no_cells(message):
    assert cells_in(trace_of(Settings("the cat sat")), message) == ()


def test_a_message_is_read_as_far_as_it_is_a_trail():
    trace = trace_of(Settings("the cat sat"))
    cells = cells_in(trace, "scores[0,1,2]<q[0,1,3]<scores[0,1,2]")
    assert list(map(str, cells)) == ["scores[0,1,2]", "q[0,1,3]"]


@pytest.mark.parametrize("event", ["pick", "follow", "prefetch"])
def test_no_message_breaks_a_page_or_moves_it(event):
    at = opened(step="Scores")
    for message in NO_MESSAGES[::2]:
        after = did(at, "picture", event, message)
        assert not after.exception, message
        (payload,) = _sent("", after).values()
        assert payload["answer"]["cells"] == ["scores[0,1,2]"], message


MODULES = {
    "entry.js": 'import { a } from "./a.js";\nimport {\n  b,\n} from "./b.js";\nexport default function () { a(b); }\n',
    "a.js": 'import { b } from "./b.js";\nexport function a() { return b; }\n',
    "b.js": "export const b = 1;\n",
}


def written(folder, **changed):
    for name, text in (MODULES | {f"{name}.js": text for name, text in changed.items()}).items():
        (folder / name).write_text(text, "utf-8")
    return folder / "entry.js"


def test_modules_are_joined_each_once_after_what_they_import(tmp_path):
    assert bundle(written(tmp_path)) == (
        "const b = 1;\n\nfunction a() { return b; }\n\nexport default function () { a(b); }\n"
    )


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"b": 'import { a } from "./a.js";\nexport const b = 1;\n'}, r"got a.js -> b.js -> a.js"),
        ({"b": "export const b = 1;\nfunction a() {}\n"}, r"b.js and a.js both declare a"),
        ({"b": "const b = 1;\n"}, r"imports b, which b.js does not export"),
        ({"b": "export const b = 1;\nexport { b as c };\n"}, r"b.js has 'export { b as c };'"),
        ({"b": 'import c from "./c.js";\nexport const b = 1;\n'}, r"b.js has 'import c from"),
        ({"a": 'import * as b from "./b.js";\nexport function a() { return b.b; }\n'}, r"a.js has 'import \* as"),
    ],
)
def test_what_can_not_be_joined_is_refused(tmp_path, changed, says):
    with pytest.raises(ValueError, match=says):
        bundle(written(tmp_path, **changed))


def test_every_module_is_reached_from_the_component():
    joined = bundle(BROWSER / "component.js")
    for path in BROWSER.glob("*.js"):
        assert path.read_text("utf-8").splitlines()[0] in joined, path.name
