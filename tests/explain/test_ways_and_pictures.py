"""Every way to a pass times every first picture: the words and numbers that stand there are those of the arrays.

The words are stated for each way. The viewer draws in node, in a document without a layout (js/fakeDom.mjs); what is
printed, and the page of a file, are read in a browser.
"""

import io
import json
import re
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any

import fakemodules
import numpy as np
import pytest
from documents import document, fitted_at, whole
from fakemodules import tensor
from page import ROOT
from readback import LINES, lines, lines_of, written

from attnviz import Parameters, attend, compare, onnx_attention, record, scaled_dot_product_attention, show
from attnviz.checks.recording.recorded import pass_of
from attnviz.checks.uploads import UploadRequest, compared
from attnviz.core.numerals import digits
from attnviz.core.selection import Selection
from attnviz.core.stage import split_layer
from attnviz.core.trace import Trace
from attnviz.explain.wording import percent
from attnviz.models import MODELS, statefile
from attnviz.models.model import Built
from attnviz.scene.scene import Scene
from attnviz.scene.with_pass import SceneWithPass
from attnviz.viewer.site.static_edition import name_pages

pytestmark = pytest.mark.filterwarnings("ignore:A page of")
_DOCUMENT = re.compile(r'<script type="application/json" id="(?:document|given)">(.*?)</script>', re.DOTALL)
_QUOTED = re.compile("“(.+?)”")

ICH, HELLO = ["ich", "bin", "hier"], ["hello", "there", "my", "old", "friend"]
ONE_TO_FIVE = ["1", "2", "3", "4", "5"]


@dataclass(frozen=True)
class Way:
    """A pass by one of the ways to it."""

    given: Any  # What `show` takes, a scene beside its pass, or a page of the site
    trace: Trace
    queries: list[str]  # The words of its queries, and of its keys; None where these are the queries
    keys: list[str] | None = None
    weights: np.ndarray | None = None  # Its attention weights, computed here
    other: Trace | None = None  # The pass beside it
    texts: tuple[list[str], list[str]] | None = None  # The words that an encoder reads, and those of a decoder

    def at(self, layer):
        """The way with the words of one of its layers; outside of layers those of the last."""
        if self.texts is None or layer not in (1, 2):
            return self
        return replace(self, queries=self.texts[layer - 1], keys=None)

    def words(self, axis, name):
        layer = split_layer(name)[1]
        if self.texts and axis.name in ("query", "token", "key", "context token"):
            is_read = axis.name == "context token" or (layer != 2 if axis.name == "key" else layer == 1)
            return self.texts[0 if is_read else 1]
        if axis.name in ("query", "token"):
            return self.queries
        if axis.name in ("key", "context token"):
            return self.queries if self.keys is None else self.keys
        return list(axis.labels)

    def called(self, name, index, trace=None):
        axes = (trace or self.trace).axes(name)
        return f"{name}[{', '.join(self.words(axis, name)[place] for axis, place in zip(axes, index, strict=True))}]"

    def document(self):
        if isinstance(self.given, SceneWithPass):
            return document(self.given)
        html = self.given if isinstance(self.given, str) else show(self.given).html
        sent = json.loads(_DOCUMENT.search(html)[1])
        return whole(sent.get("pass", sent))


def drawn(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def weights_of(q, k, *, hidden=None, scale=None):
    """Attention weights, by their definition; a row that sees no key has zeros."""
    k = np.repeat(k, len(q) // len(k), axis=0)
    scores = np.einsum("hqd,hkd->hqk", q, k) * (q.shape[-1] ** -0.5 if scale is None else scale)
    powers = np.exp(scores - scores.max()) * (1 if hidden is None else ~hidden)
    sums = powers.sum(axis=-1, keepdims=True)
    return np.divide(powers, sums, out=np.zeros_like(powers), where=sums > 0)


def sdpa(n_queries, n_keys, tokens, keys=None, *, heads=2, groups=None, d_k=4, d_v=4, hidden=None):
    """A pass by `scaled_dot_product_attention`; without `keys` the words are one list."""
    q, k, v = (
        drawn(heads, n_queries, d_k),
        drawn(groups or heads, n_keys, d_k, seed=1),
        drawn(groups or heads, n_keys, d_v),
    )
    given = None if tokens is None else (tokens if keys is None else (tokens, keys))
    trace = scaled_dot_product_attention(
        *(each[None] for each in (q, k, v)),
        None if hidden is None else ~hidden,
        enable_gqa=groups is not None,
        tokens=given,
    )
    return Way(trace, trace, tokens, keys, weights_of(q, k, hidden=hidden))


def kept():
    """A step of decoding, with four kept keys."""
    q, k = drawn(2, 1, 4), drawn(2, 5, 4, seed=1)
    trace = scaled_dot_product_attention(
        q[None], k[None, :, 4:], k[None, :, 4:], past=(k[None, :, :4], k[None, :, :4]), is_causal=True, tokens=HELLO
    )
    return Way(trace, trace, HELLO[-1:], HELLO, weights_of(q, k))


def onnx(n_queries, n_keys, n_past=0, queries=None, keys=None):
    q, k = drawn(2, n_queries, 4), drawn(2, n_keys, 4, seed=1)
    past = (k[None, :, :n_past],) * 2 if n_past else (None, None)
    trace = onnx_attention(q[None], k[None, :, n_past:], k[None, :, n_past:], None, *past).trace
    if queries:
        trace = trace.labelled(query=queries, key=keys)
    numbers = [ONE_TO_FIVE[:n] for n in (n_queries, n_keys)]
    others = None if n_queries == n_keys and not keys else keys or numbers[1]
    return Way(trace, trace, queries or numbers[0], others, weights_of(q, k))


def attended(queries=None, keys=None):
    """A pass by `attend` with a context as long as the input, with words and without."""
    x, context, (w_q, w_k, w_v) = drawn(3, 6), drawn(3, 6, seed=1), drawn(3, 2, 6, 3)
    trace = attend(x, context, parameters=Parameters(w_q=w_q, w_k=w_k, w_v=w_v))
    if queries:
        trace = trace.labelled(token=queries, query=queries, key=keys, context_token=keys)
    return Way(trace, trace, queries or ONE_TO_FIVE[:3], keys or ONE_TO_FIVE[:3], weights_of(x @ w_q, context @ w_k))


def user_arrays(n_queries, n_keys, tokens, keys=None, *, mistaken=False, **more):
    """Somebody's arrays of cross-attention, whose scores were perhaps not divided."""
    q, k, v = drawn(2, n_queries, 4), drawn(2, n_keys, 4, seed=1), drawn(2, n_keys, 5)
    attention = weights_of(q, k, scale=1.0 if mistaken else None)
    words = {"tokens": tokens} | ({} if keys is None else {"context_tokens": keys})
    return dict(q=q, k=k, v=v, attention=attention, heads=attention @ v, **words, **more)


def of_compare(arrays, queries, keys):
    comparison = compare(None, arrays)
    weights = weights_of(arrays["q"], arrays["k"])
    return Way(comparison, comparison.trace, queries, keys, weights, comparison.theirs)


def uploaded(arrays, queries, keys):
    """What the walkthrough shows of a file, with the pass of its mistaken code beside it."""
    file = io.BytesIO()
    np.savez(file, **{name: np.asarray(array) for name, array in arrays.items()})
    found = compared(UploadRequest(tab="", filename="own.npz", **_ANSWERS), file.getvalue(), None)
    trace = found.parameters.trace()
    resolved = SceneWithPass(Scene(view="sheet"), trace, trace)
    return Way(resolved, trace, queries, keys, weights_of(arrays["q"], arrays["k"]))


_ANSWERS = {"example": "", "n_heads": "", "stage": "", "against": "own", "orientation": "", "true_is": ""}


class Cross(fakemodules.Attention):
    """Attention whose keys and values are made of its second argument, whatever that is called."""

    def forward(self, x, other):
        cut = lambda rows: np.swapaxes(rows.reshape(*rows.shape[:2], self.num_heads, -1), 1, 2)  # noqa: E731
        q, k, v = cut(self.W_query(x)), cut(self.W_key(other)), cut(self.W_value(other))
        attention = fakemodules.softmax(q @ np.swapaxes(k, 2, 3) * self.scale)
        return self.out_proj(np.swapaxes(attention @ v, 1, 2).reshape(x.shape)), tensor(attention)


class Translator(fakemodules.Module):
    """An encoder's layer, a decoder's, and one that looks from the decoder to the encoder."""

    def __init__(self):
        super().__init__()
        self.encoder, self.decoder, self.between = fakemodules.Attention(), fakemodules.Attention(seed=7), Cross(seed=9)

    def forward(self, x, context):
        return self.between(self.decoder(x)[0], self.encoder(context)[0])


def recorded(layer, n_queries, n_keys, queries, keys, **words):
    model = Translator()
    with record(model, **words) as found:
        model(tensor(drawn(1, n_queries, 6)), tensor(drawn(1, n_keys, 6, seed=1)))
    trace = pass_of(found, layer)
    return Way(show(found, layer=layer).html, trace, queries, keys, found[layer]["attention"])


def of_scene(queries=None, keys=None, **written_as):
    resolved = fitted_at(written_as)
    other = resolved.other and resolved.other.trace
    return Way(resolved, resolved.trace, queries or list(resolved.trace.labels["query"]), keys, other=other)


def translated():
    english, french = ["the", "black", "cat", "sleeps", "<end>"], ["<begin>", "le", "chat", "noir"]
    resolved = fitted_at({"model": "translator", "sentence": "the black cat sleeps", "written": "le chat noir"})
    return Way(resolved, resolved.trace, french, english, texts=(english, french))


def of_example(source):
    resolved = fitted_at({"source": source})
    labels = resolved.trace.labels
    numbers = [str(place + 1) for place in range(64)]
    sides = [
        labels.get(axis) or numbers[:n]
        for axis, n in zip(("query", "key"), resolved.trace["scores"].shape[1:], strict=True)
    ]
    return Way(resolved, resolved.trace, list(sides[0]), None if sides[0] == sides[1] else list(sides[1]))


def own_microgpt():
    text = statefile.to_json(MODELS["microgpt"].at(0))
    trace = Built(statefile.read(text)).at(0).trace("ada")
    return Way(trace, trace, list(trace.labels["query"]))


def of_site():
    page = next(name_pages())
    trace = fitted_at(
        {"model": "microgpt", "sentence": page.name.removeprefix("microgpt-").removesuffix(".html")}
    ).trace
    return Way(page.text, trace, list(trace.labels["query"]))


UNSEEING = np.array([[False, False, True], [True, True, True], [False, True, False]])
SIXTY = [f"w{place}" for place in range(64)]
WAYS = {
    "settings": {
        "one sentence": lambda: of_scene(["the", "cat", "sat"], sentence="the cat sat", mask="causal"),
        "a context": lambda: of_scene(
            ["the", "cat"], ["le", "chat", "noir"], sentence="the cat", context="le chat noir"
        ),
        "a context as long": lambda: of_scene(["the", "cat"], ["le", "chat"], sentence="the cat", context="le chat"),
        "a context of the same words": lambda: of_scene(
            ["the", "cat"], ["the", "cat"], sentence="the cat", context="the cat"
        ),
        "two layers": lambda: of_scene(["the", "cat"], sentence="the cat", layers="2"),
        "a pair": lambda: of_scene(["the", "cat", "sat"], sentence="the cat sat", mask="causal", beside="mask="),
        "a pair with a context": lambda: of_scene(
            ["the", "cat"], ["le", "chat", "noir"], sentence="the cat", context="le chat noir", beside="scaled=no"
        ),
    },
    "queries and keys": {
        "attend, a context": lambda: attended(ICH, HELLO[:3]),
        "attend, no words": attended,
        "two lists": lambda: sdpa(3, 5, ICH, HELLO),
        "two lists as long": lambda: sdpa(3, 3, ICH, HELLO[:3]),
        "more queries than keys": lambda: sdpa(5, 2, HELLO, ICH[:2]),
        "one list": lambda: sdpa(3, 3, ICH),
        "one token": lambda: sdpa(1, 1, ["one"], ["other"]),
        "one key": lambda: sdpa(3, 1, ICH, ["other"]),
        "other lengths of vectors": lambda: sdpa(3, 5, ICH, HELLO, d_k=3, d_v=6),
        "groups": lambda: sdpa(3, 5, ICH, HELLO, heads=4, groups=2),
        "a row that sees nothing": lambda: sdpa(3, 3, ICH, HELLO[:3], hidden=UNSEEING),
        "64 tokens": lambda: sdpa(64, 64, SIXTY, [f"key {word}" for word in SIXTY], heads=1),
        "kept keys": kept,
        "onnx": lambda: onnx(3, 3),
        "onnx, kept keys": lambda: onnx(2, 5, n_past=3),
        "onnx, words": lambda: onnx(3, 5, queries=ICH, keys=HELLO),
    },
    "own arrays": {
        "compare": lambda: of_compare(user_arrays(3, 5, ICH, HELLO), ICH, HELLO),
        "compare, as long": lambda: of_compare(user_arrays(3, 3, ICH, HELLO[:3]), ICH, HELLO[:3]),
        "compare, one list": lambda: of_compare(user_arrays(3, 3, ICH), ICH, None),
        "compare, too few words": lambda: of_compare(user_arrays(3, 5, ICH, ICH), ICH, ONE_TO_FIVE),
        "compare, no words of its context": lambda: of_compare(
            user_arrays(3, 3, ICH, context=drawn(3, 8)), ICH, ONE_TO_FIVE[:3]
        ),
        "compare, matrices that make nothing": lambda: of_compare(
            user_arrays(3, 3, ICH, w_q=drawn(8, 8), w_k=drawn(8, 8), w_v=drawn(8, 10)), ICH, None
        ),
        "both passes": lambda: of_compare(user_arrays(3, 5, ICH, HELLO, mistaken=True), ICH, HELLO),
        "both passes, as long": lambda: of_compare(user_arrays(3, 3, ICH, HELLO[:3], mistaken=True), ICH, HELLO[:3]),
        "upload": lambda: uploaded(user_arrays(3, 5, ICH, HELLO), ICH, HELLO),
        "upload, as long": lambda: uploaded(user_arrays(3, 3, ICH, HELLO[:3]), ICH, HELLO[:3]),
    },
    "recorded": {
        "encoder": lambda: recorded(0, 3, 5, HELLO, None, tokens=ICH, context_tokens=HELLO),
        "decoder": lambda: recorded(1, 3, 5, ICH, None, tokens=ICH, context_tokens=HELLO),
        "cross": lambda: recorded(2, 3, 5, ICH, HELLO, tokens=ICH, context_tokens=HELLO),
        "encoder, no words of its own": lambda: recorded(0, 3, 5, ONE_TO_FIVE, None, tokens=ICH),
        "cross, no words of the context": lambda: recorded(2, 3, 5, ICH, ONE_TO_FIVE, tokens=ICH),
        "encoder, as long": lambda: recorded(0, 3, 3, HELLO[:3], None, tokens=ICH, context_tokens=HELLO[:3]),
        "cross, as long": lambda: recorded(2, 3, 3, ICH, HELLO[:3], tokens=ICH, context_tokens=HELLO[:3]),
        "encoder, as long, no words of its own": lambda: recorded(0, 3, 3, ONE_TO_FIVE[:3], None, tokens=ICH),
    },
    "models and examples": {
        **{
            f"example {source}": lambda source=source: of_example(source)
            for source in ("000 sentence", "001 with", "002 sum", "003 steps", "004 code")
        },
        **{
            f"model {name}": lambda name=name: of_scene(model=name)
            for name in MODELS
            if name not in ("microgpt", "translator", "short-cut")  # the last has the shapes of the first visit
        },
        "a translator": translated,
        "microgpt": lambda: of_scene(model="microgpt", sentence="ada"),
        "own microgpt": own_microgpt,
        "site page": of_site,
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("group", WAYS)
def test_pictures_match_the_arrays(node, group):
    ways = {name: make() for name, make in WAYS[group].items()}
    documents = {name: way.document() for name, way in ways.items()}
    passes = [{"document": each, "places": places_in(each)} for each in documents.values()]
    found = json.loads(node(str(ROOT / "tests/js/drawn.mjs"), text=json.dumps({"lines": LINES, "passes": passes})))
    wrong = []
    for (name, way), given, pictures in zip(ways.items(), documents.values(), found, strict=True):
        reader = Reader(way, given)
        if way.weights is not None and not np.allclose(way.trace["attention"].value, way.weights, atol=1e-12):
            wrong.append(f"{name}: other attention weights than by their definition")
        for place, picture in zip([given["where"], *places_in(given)], pictures, strict=True):
            at = f"{name}, {place['view']} at {place['step']}, {[*place['cell'].values()][:3]}"
            wrong += [f"{at}: {each}" for each in reader.faults(place, picture)]
        wrong += [f"{name}: no {each} was read" for each in reader.missing()]
    assert not wrong, "\n".join(wrong[:40])


IN_A_BROWSER = ("two lists", "kept keys", "64 tokens", "both passes, as long", "upload, as long", "cross, as long")
THREAD = """(thread) => Object.fromEntries(["Queries", "Keys"].map((name) => {
  const words = [...thread.querySelector(`[aria-label="${name}"]`).children];
  const textOf = ({ textContent }) => textContent.replaceAll("\xa0", " ");
  const textsOf = (word) => [".text", ".said"].flatMap((each) => [...word.querySelectorAll(each)].map(textOf));
  return [name.toLowerCase(), words.map(textsOf)];
}).concat([["arcs", [...thread.querySelectorAll("svg.arcs")].map((svg) =>
  [...svg.children].map(({ dataset }) => dataset.arc))]]))"""
PAPER = "(page) => [...page.querySelectorAll('.sentence-whole .word')].map(({ textContent }) => textContent)"


@pytest.mark.parametrize("name", IN_A_BROWSER)
def test_pages_and_prints_match_the_arrays(offline, name):
    way = next(ways[name] for ways in WAYS.values() if name in ways)()
    given = way.document()
    html = way.given if isinstance(way.given, str) else show(way.trace if way.other is None else way.given).html
    page, reader = offline(html), Reader(way, given)
    assert page.title().startswith(" ".join(way.queries)[:40])
    if name == "cross, as long":  # a recording's page, which opens on all heads
        page.locator("button.head.exact").first.click()
    first = reader.steps[given["where"]["step"]]
    assert not [*reader.of_thread(first, given["where"]["cell"], page.locator(".thread").evaluate(THREAD))]
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    sheets = page.locator(".printed")
    assert sheets.count()
    for nth in range(sheets.count()):
        assert sheets.nth(nth).evaluate(PAPER)[-len(way.keys or way.queries) :] == (way.keys or way.queries)
        assert not [*reader.of_sheet(lines(page, f".printed:nth-of-type({nth + 1}) .sheet > table"))]
    attention = way.trace.layers[-1].names["attention"]
    assert {attention, "k", "v"} <= reader.read["one word"]


def places_in(given):
    """Where to look: each step, those of words in both views and at two queries; two keys of the attention weights."""
    steps, layers = given["steps"], given["layers"]
    are_alike = all(layer["words"] == layers[0]["words"] for layer in layers)

    def start(step):
        if are_alike:
            return given["where"]["cell"]
        return given["starts"][step["layer"]] | {"layer": step["layer"] or len(layers)}

    def last(step):
        return [len(layers[step["layer"] - 1]["words"][side]) - 1 for side in ("query", "key")]

    def elsewhere(step):
        query, key = last(step)
        return start(step) | {"head": 0, "query": query - start(step)["query"], "key": key}

    look = {"picked": "", "trail": []}
    shown = [steps[0], *(each for each in steps if each["arcs"] and each["bands"])]
    both = ("sheet", "matrices")
    places = [
        {"step": step["id"], "view": view, "cell": start(step), **look}
        for nth, step in enumerate(steps)
        for view in (both if any(step is each for each in shown) else both[nth % 2 :][:1])
    ]
    places += [
        {"step": step["id"], "view": both[nth % 2], "cell": elsewhere(step), **look} for nth, step in enumerate(shown)
    ]
    for step in [each for each in steps if each["attention"] in each["stages"]]:
        for key in sorted({0, last(step)[1]}):
            cell = start(step) | {"key": key}
            places.append({"step": step["id"], "view": "sheet", "cell": cell, **look, "picked": step["attention"]})
        places.append({"step": step["id"], "view": "sheet", "cell": start(step), **look, "isInHand": True})
    return [{"isInHand": False} | place for place in places]


class Reader:
    """What stands in the pictures of a way, against its arrays and its words."""

    def __init__(self, way, given):
        self.way, self.given = way, given
        self.steps = {step["id"]: step for step in given["steps"]}
        self.read = defaultdict(set)

    def faults(self, place, picture):
        step = self.steps[place["step"]]
        self.shown = self.way.at(step["layer"])
        yield from self.of_thread(step, place["cell"], picture["thread"])
        if picture["sheet"]:
            yield from self.of_sheet(lines_of(picture["sheet"]["lines"]))
            yield from self.of_sentence(picture["sheet"])
            for table in picture["sheet"]["hand"]:
                yield from self.of_rows(step, place["cell"], table)
        for matrix in picture["matrices"] or ():
            yield from self.of_matrix(matrix)
        if picture["whole"]:
            self.read["whole pass"].add("")
            if picture["panel"]["title"].partition(" = ")[0] not in picture["whole"]["said"]:
                yield f"the whole pass says “{picture['whole']['said']}”"
            words, end = picture["whole"]["words"], picture["whole"]["end"]
            if [word for word in self.way.queries if word in words] != words:
                yield f"the whole pass names its rows {words}"
            if end != (expected := self.end_of(place["cell"])):
                yield f"the whole pass ends in {end}, not {expected}"
        yield from self.of_panel(place["cell"], picture["panel"])

    def end_of(self, cell):
        """What the whole pass ends in: the selected answer and its probability, or the word whose row it is."""
        if not self.given["model"]:
            return [self.way.queries[cell["query"]]]
        probabilities = self.way.trace[self.given["model"]["answers"]].value
        answer = self.way.trace.axes("probabilities")[-1].label(cell["answer"])
        return [answer, percent(probabilities[cell["query"], cell["answer"]]).replace("\N{NO-BREAK SPACE}", " ")]

    def missing(self):
        """The pictures that nothing was read in."""
        attention = self.way.trace.layers[-1].names["attention"]
        expected = {
            "start": "",
            "one word": attention,
            "all words": attention,
            "panel": attention,
            "phone": attention,
            "whole pass": "",
        }
        return [each for each, stage in expected.items() if stage not in self.read[each]]

    def of_thread(self, step, cell, thread):
        way, is_first = self.way.at(step["layer"]), step["id"] == self.given["steps"][0]["id"]
        is_learning = (self.given["model"] or {}).get("training") and way.other is None
        if is_first and (is_learning or way.texts):
            self.read["start"].add("")
            return  # "It learns" or two rows of words stand there, which have tests of their own
        sides = {"queries": way.queries, "keys": way.keys or []}
        for side, words in sides.items():
            if [word for word, *_ in thread[side]] != words:
                yield f"the line of {side} is {thread[side]}"
                return
        line, empty = (thread["queries"], []) if way.keys is None else (thread["keys"], thread["queries"])
        if any("".join(said) for _, *said in empty):
            yield f"under queries there is {empty}"
        traces = {"": way.trace} if way.other is None else {"B ": way.trace, "A ": way.other}
        has_both = is_first and way.keys is None and len(way.trace.layers) == 1
        for nth, (side, trace) in enumerate(traces.items()):
            for key, (word, *said) in enumerate(line):
                expected = side + said_of(trace, step, cell, key) if step["arcs"] else ""
                is_small = bool(re.search(r"under 1 %|\b0 %", expected))  # these share one line
                is_small |= way.other is not None and is_first and "hidden" in expected
                if (nth and not has_both) or expected == side or (is_small and said[nth] == ""):
                    expected = ""
                if said[nth] != expected:
                    yield f"under “{word}” stands “{said[nth]}”, which has {expected}"
        if step["arcs"] and len(way.trace.layers) == 1 and not (way.keys is None and len(line) > 16 and is_first):
            row = way.trace[step["attention"]].value[cell["head"], cell["query"]]
            if {*thread["arcs"][0]} != {f"{cell['query']}-{key}" for key in np.flatnonzero(row >= 0.01)}:
                yield f"arcs {thread['arcs'][0]} of {row}"
        if is_first:
            self.read["start"].add("")

    def of_sheet(self, found):
        for line in found:
            is_of_a = "side-A" in line.kind.split()
            trace = self.way.other if is_of_a else self.way.trace
            named = [(cell, column) for cell, column in zip(line.cells, line.names, strict=False) if cell.name]
            along = axis_of(trace, [(cell.name, cell.index) for cell, _ in named])
            for nth, (cell, column) in enumerate(named):
                self.read["one word"].add(cell.name)
                axis = trace.axes(cell.name)[along]
                word = self.way.words(axis, cell.name)[cell.index[along]]
                if column not in ({word, counted(axis, word)} if nth == 0 else {word}):
                    yield f"{cell.name}{list(cell.index)} stands under “{column}”"
            for cell in filter(None, [line.before, *line.cells, *line.after]):
                if cell.name and "to-come" not in cell.kind:
                    trace = self.way.other if cell.heard.startswith("A, ") or is_of_a else self.way.trace
                    yield from self.of_number(trace, cell.name, cell.index, cell.text)
                    called = f"{self.way.called(cell.name, cell.index)} = "
                    if called + digits(trace[cell.name].value[cell.index]) not in cell.heard:
                        yield f"heard is “{cell.heard}” of {called}"

    def of_rows(self, step, cell, table):
        """On a phone each word is a row, and its attention weight stands in a column of its own."""
        keys = self.shown.queries if self.shown.keys is None else self.shown.keys
        head, *rows = table
        head = [each.replace("\u00ad", "") for each in head]  # soft hyphens
        named = [row for row in rows if row[0] in keys]
        if [row[0] for row in named] != sorted((row[0] for row in named), key=keys.index) or not named:
            yield f"the rows of a phone are {[row[0] for row in rows]}"
        for row in named if self.way.other is None else []:
            index = cell["head"], cell["query"], keys.index(row[0])
            yield from self.of_number(self.way.trace, step["attention"], index, row[head.index("attention weight")])
        self.read["phone"].add(step["attention"])

    def of_sentence(self, sheet):
        keys = self.shown.queries if self.shown.keys is None else self.shown.keys
        if sheet["sentence"] not in (None, keys):
            yield f"the sentence over the sheet is {sheet['sentence']}"

    def of_number(self, trace, name, index, text):
        expected = written(trace[name].value[index])
        if text != expected and not text.endswith(f" = {expected}"):
            yield f"{name}{list(index)} is “{text}”, which is {expected}"

    def of_matrix(self, matrix):
        name, trace = matrix["stage"], self.way.trace
        cells = [(text, re.fullmatch(r"(\w+)\[([\d,]+)\]", place)) for place, text in matrix["cells"]]
        cells = [(tuple(map(int, place[2].split(","))), text) for text, place in cells]
        axes = trace.axes(name)
        names = [[*self.way.words(axis, name)] for axis in axes]
        if name == "positions":  # of places, whatever stands there
            names[0] = [f"place {nth}" for nth in range(1, len(names[0]) + 1)]
        self.read["all words"].add(name)
        if not cells:  # a drawing
            for side, labels in zip(("columns", "rows"), matrix["labels"], strict=False):
                if labels and labels not in names:
                    yield f"{side} of {name} are called {labels}"
            return
        n_columns = len(matrix["columns"])
        for nth, (side, places) in enumerate((("columns", cells[:n_columns]), ("rows", cells[::n_columns]))):
            indices = [index for index, _ in places]
            along = [axis_of(trace, [(name, index) for index in indices])] if len(places) > 1 else range(len(axes))
            expected = [[names[at][index[at]] for index in indices] for at in along]
            labels = [matrix[side], *filter(None, [matrix["labels"][nth]])]
            if side == "rows" and not {axis.name for axis in axes[:-1]} - {"head", "group"}:
                continue  # a vector has one row, of no name
            if any(each not in expected for each in labels):
                yield f"{side} of {name} are called {labels[-1]}"
        values = trace[name].value
        for index, text in cells:
            if values.dtype == bool:
                if text != str(int(values[index])):
                    yield f"{name}{list(index)} is {text}"
            elif not self.given["other"]:  # of two passes all matrices stand twice
                yield from self.of_number(trace, name, index, text)

    def of_panel(self, cell, panel):
        trace = self.way.trace
        name = panel["title"].partition("[")[0]
        selection = Selection(**{each: place for each, place in cell.items() if each != "layer"})
        index = tuple(axis.place(selection) for axis in trace.axes(name))
        value = trace[name].value[index]
        called = self.way.called(name, index)
        if not panel["title"].startswith(f"{called} = ") or not panel["title"].endswith(digits(value)):
            yield f"the panel is about {panel['title']}, which is {called} = {digits(value)}"
        if name != trace.layers[-1].names["attention"]:
            return
        self.read["panel"].add(name)
        query, key = (
            self.way.words(axis, name)[place] for axis, place in list(zip(trace.axes(name), index, strict=True))[1:]
        )
        quoted = _QUOTED.findall(panel["story"])
        if not {query, key} & {*quoted[:2]} or not {*quoted} <= {*self.shown.queries, *(self.shown.keys or [])}:
            yield f"the panel says {panel['story']}"
        if value > 0 and (quoted[:2] != [query, key] or percent(value).replace("\xa0", " ") not in panel["story"]):
            yield f"the panel says {panel['story']} of “{key}”, which has {percent(value)}"


def said_of(trace, step, cell, key):
    """What is said of a key: its attention weight, or that it is hidden."""
    index = cell["head"], cell["query"], key
    weight, masked = trace[step["attention"]].value[index], trace.layer_of(step["attention"]).names["masked"]
    if weight == 0 and np.isneginf(trace[masked].value[index]):
        return "hidden"
    return percent(weight).replace("\xa0", " ")


def counted(axis, label):
    """What the first heading of a matrix may be: its number with what its axis counts; a word stands alone."""
    if axis.name in ("query", "key", "token", "context token", "answer"):
        return label
    return f"{'neuron' if axis.name == 'neuron' else 'dim'} {label}"


def axis_of(trace, cells):
    """The axis that the cells of a line lie along; of a single one that of keys, or the last."""
    if not cells:
        return None
    (name, first), (_, last) = cells[0], cells[-1]
    apart = [at for at, (one, other) in enumerate(zip(first, last, strict=True)) if one != other]
    axes = [axis.name for axis in trace.axes(name)]
    return apart[0] if apart else axes.index("key") if "key" in axes else len(axes) - 1
