"""What the viewer sends back, read as what it means; and its modules as one text."""

import math
import re

import pytest
from cases import of_each
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz import Settings, trace_of
from attnviz.core.changes import Change
from attnviz.core.errors import ChangeError
from attnviz.core.order import LAYER
from attnviz.models import MODELS
from attnviz.scene.actions.messages import cell_in, change_in, index_in, indices_in, option_in, writer_in
from attnviz.viewer.bundle import BROWSER, STYLES, bundle, module, modules_of, style
from attnviz.viewer.script import PARTS, SCRIPTS

TRACE = trace_of(Settings("the cat sat", mask="causal"))
_SLIDER = re.compile(r"^(?P<of>[^\n{]*)::(?P<part>-webkit-slider-\S+|-moz-range-\S+) \{(?P<does>[^}]*)\}", re.MULTILINE)
_PARTS = {"-webkit-slider-runnable-track": "-moz-range-track", "-webkit-slider-thumb": "-moz-range-thumb"}
_OF_ONE = {"appearance", "margin-top", "box-sizing"}
"""What one of the two needs for what the other does by itself."""
NONSENSE = [None, 5, 1.5, True, [], {}, ["q[0,0,0]"], "", "q", "q[0]", "q[9,9,9]", "\ud800", "a" * 100_000]

HEADS = [
    *({"stage": stage, "place": 0} for stage in (*NONSENSE, "scores", "heads_9")),
    *({"stage": "heads", "place": place} for place in (None, -1, 2, "0")),
]
READERS = {
    "cell": (lambda message: cell_in(TRACE, message), [{"cell": "q[0,0,0]"}]),
    "change": (lambda message: change_in(TRACE, message), [{"cell": each, "value": 1.5} for each in NONSENSE]),
    "position": (lambda message: index_in(message, 3), [-1, 3, 2.5, math.nan, math.inf, 10**400]),
    "two positions": (lambda message: indices_in(message, 3), [[0, 0], [0, 3], [0, 1, 2], [None, 1], {"0": 1}]),
    "head": (lambda message: writer_in(TRACE, message), HEADS),
}
"""How messages of each kind are read, and what is none of that kind besides nonsense."""


@pytest.mark.parametrize("kind", READERS)
def test_unknown_message_is_none(kind):
    read, others = READERS[kind]
    for message in NONSENSE + others:
        assert read(message) is None, repr(message)[:40]


@of_each("value", ["1", True, [], {}, "nan"])
def test_change_without_a_number_is_none(value):
    assert change_in(TRACE, {"cell": "q[0,0,0]", "value": value}) is None


def test_message_is_parsed():
    assert cell_in(TRACE, "scores[0,1,2]") == ("scores", (0, 1, 2))
    assert (index_in(0, 3), index_in(2.0, 3), indices_in([2, 0], 3)) == (0, 2, (2, 0))
    assert writer_in(TRACE, {"stage": "heads", "place": 1}) == (1, "heads")
    letters = MODELS["microgpt"].at(0).trace("ab")
    assert writer_in(letters, {"stage": "active", "place": 63}) == (63, "active")
    assert writer_in(letters, {"stage": "active", "place": 64}) is None
    assert writer_in(letters, {"stage": "hidden", "place": 0}) is None


@pytest.mark.parametrize(
    ("value", "number"), [(1.5, 1.5), (2, 2.0), (-0.0, -0.0), (None, -math.inf), (1e308, 1e308)], ids=repr
)
def test_change_is_parsed(value, number):
    assert change_in(TRACE, {"cell": "masked[0,1,2]", "value": value}) == Change("masked", (0, 1, 2), number)


@pytest.mark.parametrize(
    ("cell", "value"),
    [*(("scores[0,1,2]", value) for value in (math.nan, math.inf, 10**400, None)), ("mask[0,1]", 0.5)],
    ids=lambda each: repr(each)[:13],
)
def test_impossible_number_is_refused(cell, value):
    with pytest.raises(ChangeError):
        change_in(TRACE, {"cell": cell, "value": value})


@pytest.mark.parametrize(
    ("message", "options"),
    [(True, (1, 2)), (1, (True, False)), (1.0, (1, 2)), ("1", (1, 2)), (1, ("1",)), ([1], (1,)), (None, (1,))],
)
def test_option_needs_the_exact_type(message, options):
    assert option_in(message, options) is None
    assert all(option_in(each, options) is each for each in options)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from([2**70, -0.0, 10**400]),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=3), inside, max_size=3),
    max_leaves=6,
)
ADDRESS = st.builds(
    "{}[{}]".format,
    st.sampled_from([stage.name for stage in TRACE.stages] + ["scores_2", "w_q_9", "answer", "q[0]"]),
    st.lists(st.sampled_from([0, 1, 2, 3, -1, 9999, 10**20]), max_size=4).map(lambda at: ",".join(map(str, at))),
)
MEANT = st.one_of(
    JSON,
    ADDRESS,
    st.fixed_dictionaries({}, optional={"cell": ADDRESS | JSON, "value": JSON, "stage": ADDRESS | JSON, "head": JSON}),
    st.lists(JSON, min_size=2, max_size=2),
)


@settings(max_examples=150)
@given(MEANT)
def test_any_message_stays_within_the_pass(message):
    cell, head = cell_in(TRACE, message), writer_in(TRACE, message)
    assert cell is None or TRACE[cell[0]].value[cell[1]].shape == ()
    assert head is None or TRACE[head[1]].value[head[0]].ndim == 2
    assert index_in(message, 3) in (None, 0, 1, 2)
    option = option_in(message, (1, 2, "a", True))
    assert option is None or (type(option), option) == (type(message), message)
    places = indices_in(message, 3)
    assert places is None or {*places} < {0, 1, 2}
    try:
        change = change_in(TRACE, message)
    except ChangeError:
        return
    assert change is None or change.value == TRACE.with_changes(change)[change.stage].value[change.index]


MODULES = {
    "entry.js": 'import { a } from "./a.js";\nimport {\n  b,\n} from "./b.js";\nexport default function () { a(b); }\n',
    "a.js": 'import { b } from "./b.js";\nexport function a() { return b; }\n',
    "b.js": "export const b = 1;\n",
}


def written(folder, **changed):
    for name, text in (MODULES | {f"{name}.js": text for name, text in changed.items()}).items():
        (folder / name).write_text(text, "utf-8")
    return folder / "entry.js"


def test_bundle_orders_modules_by_import(tmp_path):
    assert bundle(written(tmp_path)) == (
        "const b_js = (() => {\nconst b = 1;\nreturn { b };\n})();\n\n"
        "const a_js = (() => {\nconst { b } = b_js;\nfunction a() { return b; }\nreturn { a };\n})();\n\n"
        "const { a } = a_js;\nconst {\n  b,\n} = b_js;\nexport default function () { a(b); }\n"
    )


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"b": 'import { a } from "./a.js";\nexport const b = 1;\n'}, r"a.js -> b.js -> a.js"),
        ({"b": "const b = 1;\n"}, r"imports b, which b.js does not export"),
        ({"b": "export const b = 1;\nexport { b as c };\n"}, r"b.js has 'export { b as c };'"),
        ({"b": 'import c from "./c.js";\nexport const b = 1;\n'}, r"b.js has 'import c from"),
        ({"a": 'import * as b from "./b.js";\nexport function a() { return b.b; }\n'}, r"a.js has 'import \* as"),
    ],
)
def test_bundle_refuses_other_imports(tmp_path, changed, says):
    with pytest.raises(ValueError, match=says):
        bundle(written(tmp_path, **changed))


def test_bundle_strips_type_comments():
    assert "/** @" in module("state").read_text("utf-8")
    lines = [line for name in PARTS for line in SCRIPTS[name].text.decode().split("\n")]
    assert not any(line.strip().startswith("/** @") and line.endswith("*/") for line in lines)


def test_viewer_names_no_attention_variant():
    """Neither a stage nor an option that a layer may lack, nor a model: a new operation asks nothing of the viewer."""
    options = {"qk_norm", "rotation", "softcap", "alibi", "block_size", "absorbed", "decoupled"}
    names = {step.name for step in LAYER if step.option in options} - {"heads"} | options - {"rotation"}
    names |= {"rope", "sinks", "sink_share", "latent", "gqa", "mla", "flashattention", "llama", "gemma", "qwen"}
    word = re.compile(rf"\b({'|'.join(sorted(names))})(_\d+)?\b", re.IGNORECASE)
    modules = [*BROWSER.rglob("*.js"), *BROWSER.rglob("*.css")]
    assert {f"{path.name}: {found[0]}" for path in modules for found in word.finditer(path.read_text("utf-8"))} == set()
    assert len(modules) > 80


def test_every_module_is_reachable():
    entries = (
        "component",
        "articles",
        "numbers",
        "arrival",
        "connection",
        "standalone",
        "site",
        "follower",
        "classPictures",
        "headsAlone",
        "headsWithPass",
    )
    late = [each for part in PARTS.values() for each in part.exports]
    reached = modules_of(*map(module, [*entries, *late]))
    assert {*BROWSER.glob("*/*.js")} <= reached.keys()


def test_bundle_keeps_only_licence_comments():
    kept = module("leanQr").read_text("utf-8")
    assert "// MIT License\n" in kept
    sent = "".join(SCRIPTS[name].text.decode() for name in PARTS)
    comments = re.findall(r"^ *//.*\n", sent, re.MULTILINE)
    assert comments == re.findall(r"^ *//.*\n", kept, re.MULTILINE)
    assert "/*" not in "".join(map(style, STYLES))


def test_slider_styles_match_in_firefox():
    """No browser reads a rule of the other's parts, so each is written twice."""
    rules = {"-webkit": {}, "-moz": {}}
    for found in _SLIDER.finditer((BROWSER / "styles/lesson.css").read_text("utf-8")):
        does = dict(" ".join(each.split()).split(": ", 1) for each in found["does"].split(";") if each.strip())
        part = _PARTS.get(found["part"], found["part"])
        kept = {name: value for name, value in does.items() if name not in _OF_ONE}
        rules["-moz" if "moz" in found["part"] else "-webkit"][found["of"], part] = kept
    assert rules["-webkit"]
    assert rules["-webkit"] == rules["-moz"]
