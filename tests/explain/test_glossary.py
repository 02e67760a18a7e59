"""The glossary: every term on a screen has an entry, each with a number of the very pass, and is marked once."""

import importlib
import json
import math
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest
from documents import document, document_of
from numerals import short
from page import settings_of
from passes import TRACES
from playwright.sync_api import expect
from tab import resized

from attnviz.core import operations
from attnviz.core.operations.operation import Operation
from attnviz.core.selection import Selection
from attnviz.explain.glossary import TERMS, explained, measured
from attnviz.explain.one_word import bands
from attnviz.explain.steps import ENTRIES, steps_of
from attnviz.explain.wording import percent
from attnviz.models.training import recorded_parts
from attnviz.scene.scene import OWN, Scene
from attnviz.scene.with_pass import resolve
from attnviz.viewer.glossary import FILE, javascript

FIELD = re.compile(
    r"\b(quer(?:y|ies)|keys?|values?|scor(?:e|es)|shares?|softmax|heads?|W_O|residual stream|neurons?|logits?|loss"
    r"|nats?|held[- ]out|BOS|d_k|d_v|d_model|seeds?|temperature|top[- ][kp]|muted?|initialisers?|one-hot|sinusoidal"
    r"|causal|padding|window|projections?|embeddings?|unembedding|mask(?:s|ed)?|attention|layers?|MLP|LayerNorm|RMSNorm|ReLU|GELU"
    r"|checkpoints?|dot products?|bias(?:es)?|parameters?|concatenation|contributions?|weighted sum|positions?|tokens?"
    r"|probabilit(?:y|ies)|slopes?|sinks?|softcap|RoPE|ALiBi|groups?)\b",
    re.IGNORECASE,
)
"""The field's terms, as people of the field write them."""

DOING = {
    "Compare",
    "Divide",
    "Scale",
    "Mask",
    "Subtract",
    "Share",
    "Collect",
    "Each head",
    "Added up",
    "Square",
    "Norm",
    "Fire",
    "Turned",
    "Add",
    "Content",
}
"""What is strong beside a band, as it says what is done there."""
MODERN = ("a layer of 2025", "latents absorbed, with rope", "by blocks", "queries from a latent, absorbed")
ROOT = Path(__file__).parents[2]
NO_TERMS = {
    "added",
    "sum",
    "square",
    "adding up",
    "given",
    "no matrices of parameters",
    "random",
    "answer",
    "Added",
    "Added up",
    "exponentiate",
    "output",
}


def runs_on_screens():
    """All that steps and bands say, and all labels of stages and of settings, as runs."""
    for trace in TRACES.values():
        for step in steps_of(trace):
            yield from (
                run
                for text in (step.heading, step.reason, step.text, *(each.text for each in step.notes))
                for run in text
            )
            yield from (run for band in bands(trace, step) for run in [*band.sentence, ["", band.label]])
    for each in ENTRIES.values():
        yield from (
            ["", text] for text in (each.title, each.meaning, each.one, *(story.text for story in each.stories))
        )
    for source in (OWN, "microgpt", "who-is-it"):
        for boxes in settings_of(Scene(source=source)).values():
            yield from (["", text] for box in boxes for text in (box.get("label", ""), box.get("help", "")))
    yield from (
        ["", text] for text in ("loss", "held-out accuracy", "nats a letter", "temperature", "top-k", "top-p", "muted")
    )


def texts(run):
    _, said = run
    return [said] if isinstance(said, str) else [text for _, text in said["stories"]]


def terms_in(text):
    return [term.id for term in TERMS if re.search(term.pattern, text, re.IGNORECASE)]


def test_every_term_of_the_field_on_a_screen_has_an_entry():
    said = [text for run in runs_on_screens() for text in texts(run)]
    assert len(set(said)) > 400
    missing = {found[0] for text in set(said) for found in FIELD.finditer(text) if not terms_in(found[0])}
    assert missing == set()


def test_what_is_set_off_as_a_term_has_an_entry():
    strong = {said for style, said in runs_on_screens() if style in ("strong", "code", "q", "k", "v")}
    assert len(strong) > 15
    assert {text for text in strong if not terms_in(text)} <= NO_TERMS | DOING


def test_every_operation_has_an_entry():
    modules = [
        importlib.import_module(f"{operations.__name__}.{each.name}")
        for each in pkgutil.iter_modules(operations.__path__)
    ]
    made = {
        each.__name__
        for module in modules
        for each in vars(module).values()
        if isinstance(each, type) and Operation in each.__mro__ and each is not Operation
    }
    assert len(made) >= 15
    assert {term.operation for term in TERMS} - {""} == made


def test_an_entry_is_one_sentence_and_one_of_a_kind():
    assert len({term.id for term in TERMS}) == len(TERMS)
    for term in TERMS:
        assert re.fullmatch(r"[“A-Z].{20,125}\.", term.says), term.id
        assert not re.search(r"\. ", term.says), term.id


OF_NUMBERS = ("plain", "causal", "two layers that learnt", "a block", "added mask")
OF_TERMS = ("plain", "a block", "two blocks with biases", "a model asked at a word", "by blocks beside sinks", *MODERN)


def selected(trace):
    return Selection(0, 1, 0, 0, 0).within(trace)


@pytest.fixture(scope="module")
def said_of(node):
    """What is said of all terms for that selection of each pass, by the pass's name and their ids."""
    names = sorted({*OF_NUMBERS, *OF_TERMS})
    asked = [{"document": document_of(TRACES[each]), "cell": vars(selected(TRACES[each]))} for each in names]
    said = json.loads(node(str(ROOT / "tests/js/glossary.mjs"), text=json.dumps(asked)))
    return dict(zip(names, said, strict=True))


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_each_number_is_of_this_pass(name, said_of):
    trace = TRACES[name]
    layer, said = trace.layers[-1].trace, said_of[name]
    d_k = layer["k"].shape[-1]
    assert said["d_k"].endswith(f" d_k = {d_k} here, √d_k = {short(math.sqrt(d_k))}.")
    assert said["head"].endswith(f" {layer['heads'].shape[0]}.")
    assert said["layer"].endswith(f" {trace.n_layers}.")
    assert f" {short(layer['scores'].value[0, 1, 0])} with “{layer.label('key', 0)}”." in said["score"]
    if "active" in layer:
        row = layer["active"].value[1]
        assert f"{np.count_nonzero(row > 0)} of {row.size}" in said["neuron"]


class Told:
    """What is told of a layer where the second query is selected, and of all else the first, as it should be.

    A sentence that names a stage which the layer lacks raises.
    """

    def __init__(self, trace):
        self.trace, self.word, self.other = trace, trace.label("query", 1), trace.label("key", 0)

    def __getitem__(self, text):
        return short(self.at(text))

    def at(self, name):
        """A number of the selection, at its place on the axes that the stage has."""
        stage = self.trace[name]
        place = {"query": 1, "token": 1} | (
            {"token": len(stage.value) - 1} if name in ("logits", "probabilities") else {}
        )
        return float(stage.value[tuple(place.get(axis, 0) for axis in stage.axes)])

    def shape(self, name):
        return self.trace[name].value.shape

    def share(self, name):
        return percent(self.at(name)).replace("\N{NO-BREAK SPACE}", " ")


HERE = {
    "indices": lambda t: f"scores[head 1, {t.word}, {t.other}] is {t['scores']}.",
    "query": lambda t: f"Its length is {t.shape('q')[2]} here.",
    "key": lambda t: f"Its length is {t.shape('k')[2]} here.",
    "value": lambda t: f"Its length is {t.shape('v')[2]} here.",
    "score": lambda t: f"“{t.word}” scores {t['scores']} with “{t.other}”.",
    "scaling": lambda t: f"Here {t['scores']} is scaled to {t['scaled']}.",
    **dict.fromkeys(("share", "attention"), lambda t: f"“{t.word}” gives “{t.other}” {t.share('attention')}."),
    "softmax": lambda t: f"Here it makes {t.share('attention')} of {t['masked']}.",
    "rows over their sums": lambda t: f"Here it makes {t['attention']} of {t['masked']}.",
    "head": lambda t: f"Heads of this layer: {len(t.trace['attention'].value)}.",
    "W_O": lambda t: f"Here it is {t.shape('w_o')[0]} × {t.shape('w_o')[1]}.",
    "contribution": lambda t: f"Of the selected head it begins with {t['contributions']}.",
    "concatenation": lambda t: f"The length of the row is {t.shape('heads')[0] * t.shape('heads')[2]} here.",
    "parameter": lambda t: f"W_Q has {t.shape('w_q')[1]} × {t.shape('w_q')[2]} of them in each head.",
    "projection": lambda t: f"That of queries is {t.shape('w_q')[1]} × {t.shape('w_q')[2]} here.",
    "weighted sum": lambda t: f"“{t.other}” counts {t.share('attention')} here.",
    "dot product": lambda t: f"Products that are added here: {t.shape('k')[2]}.",
    "embedding": lambda t: f"Its length is {t.shape('embeddings')[1]} here.",
    "unembedding": lambda t: f"Here it is {t.shape('w_u')[0]} × {t.shape('w_u')[1]}.",
    "d_v": lambda t: f"d_v = {t.shape('v')[2]} here.",
    "d_model": lambda t: f"d_model = {t.shape('x')[1]} here.",
    "dimension": lambda t: f"A query has {t.shape('q')[2]} here.",
    "position": lambda t: f"Here the last is {t.shape('attention')[2]}.",
    "token": lambda t: f"There are {t.shape('attention')[2]}.",
    "residual stream": lambda t: f"Its width is {t.shape('residual')[1]} here.",
    "MLP": lambda t: f"Its neurons here: {t.shape('w_hidden')[1]}.",
    **dict.fromkeys(("ReLU", "GELU"), lambda t: f"Here it makes {t['active']} of {t['hidden']}."),
    **dict.fromkeys(("RMSNorm", "LayerNorm"), lambda t: f"The length of a row is {t.shape('x')[1]} here."),
    "mask": lambda t: f"For “{t.word}” and “{t.other}” it leaves {t['masked']}.",
    "RoPE": lambda t: f"Here {t['q_rotated']} is made of {t[t.trace['q_rotated'].inputs[0]]}.",
    "ALiBi": lambda t: f"Here it leaves {t['biased']} of {t['scaled']}.",
    "softcap": lambda t: f"Here it makes {t['capped']} of {t['scaled']}.",
    "group": lambda t: f"Groups of keys here: {len(t.trace['k'].value)}.",
    "query latent": lambda t: f"d_cq = {t.shape('q_latent')[1]} here.",
    "latent": lambda t: f"d_c = {t.shape('latent')[2]} here.",
    "absorbed": lambda t: f"An absorbed query has {t.shape('q_absorbed')[2]} numbers here.",
    "d_n": lambda t: f"d_n = {t.shape('q')[2]} here.",
    "d_r": lambda t: f"d_r = {t.shape('k_r')[2]} here.",
    "sink": lambda t: f"That of head 1 is {t['sinks']}, and takes {t.share('sink_share')}.",
    "running maximum": lambda t: f"At the end of the block of “{t.other}” it is {t['running_max']}.",
    "running sum": lambda t: f"At the end of the block of “{t.other}” it is {t['running_sum']}.",
    "running output": lambda t: f"At the end of the block of “{t.other}” it begins with {t['running_output']}.",
    "logit": lambda t: f"“{t.trace.label('answer', 0)}” has {t['logits']}.",
    "probability": lambda t: f"“{t.trace.label('answer', 0)}” has {t.share('probabilities')}.",
}
"""The sentence with a number of each term; those of d_k and of neurons stand in `test_each_number_is_of_this_pass`."""


@pytest.mark.parametrize("name", OF_TERMS)
def test_the_number_of_each_term_is_told_where_the_pass_has_it_and_is_its_own(name, said_of):
    told = Told(TRACES[name].layers[-1].trace)
    assert {term.id for term in TERMS if term.here} - HERE.keys() == {"d_k", "neuron", "fire"}
    for term in TERMS:
        if term.id not in HERE:
            continue
        try:
            expected = f" {HERE[term.id](told)}"
        except KeyError:
            expected = ""
        assert said_of[name][term.id] == term.says.replace("{unit}", "word") + expected


def test_every_term_that_has_a_number_tells_it_of_some_pass(said_of):
    told = set()
    for name in OF_TERMS:
        said = said_of[name]
        told |= {term.id for term in TERMS if len(said[term.id]) > len(term.says.replace("{unit}", "word"))}
        assert not any("{" in each or "undefined" in each for each in said.values())
    assert {term.id for term in TERMS if term.here} - told == set()


def test_the_browser_has_the_terms_as_they_are():
    assert FILE.read_text("utf-8") == javascript(), "python -m attnviz.viewer.glossary writes it again"


def test_what_a_loss_means_is_computed_from_the_training():
    scene = Scene(source="microgpt")
    said = document(resolve(scene))["measured"]
    ((loss, yardsticks),) = [(each["loss"], each["muted"]) for each in recorded_parts()[:1]]
    assert said["nats"] == f"{loss:.2f} nats: as unsure as between e^{loss:.2f} = {math.exp(loss):.2g} answers."
    assert f"Here {loss:.2f}, beside guessing {math.log(27):.2f}" in said["loss"]
    assert f"With attention muted the loss is {yardsticks['attention']:.2f}: no better than" in said["muted"]
    assert said["seed"] == "Here it is 0."
    assert measured(2, None, None) == {"layer": "Layers of this pass: 2."}


def test_a_setting_that_is_a_term_says_what_it_is():
    assert explained("Seed").startswith("Where random numbers begin")
    assert explained("A seed of grass") == ""
    boxes = [box for each in settings_of(Scene(source=OWN)).values() for box in each]
    (positions,) = [box for box in boxes if box["event"] == "positions"]
    assert positions["help"] == explained("Positions")


def test_a_term_is_marked_once_where_it_first_stands(opened):
    page = opened("?step=scores&view=sheet")
    marks = page.locator("dfn.term")
    ids = marks.evaluate_all("(all) => all.map(each => each.dataset.term)")
    assert {"query", "key", "dot product", "indices"} <= set(ids)
    assert len(ids) == len(set(ids))
    page.get_by_role("button", name="Next", exact=False).first.click()
    expect(page.locator('dfn[data-term="softmax"]')).to_have_count(1)
    ids = marks.evaluate_all("(all) => all.map(each => each.dataset.term)")
    assert len(ids) == len(set(ids))


def test_a_term_within_code_is_none(opened):
    page = opened("?step=scores&view=sheet")
    page.evaluate("""() => {
      const [of] = given.steps.filter(({ id }) => id === "scores");
      of.why = [["code", "softmax(x)"], ["", ", or softmax in words."]];
      show({});
    }""")
    marks = page.locator(".step-text dfn[data-term=softmax]")
    expect(page.locator(".step-text code")).to_have_text("softmax(x)")
    expect(marks).to_have_count(1)
    expect(page.locator(".step-text code dfn")).to_have_count(0)


def test_it_is_shown_to_the_mouse_the_keyboard_and_a_finger_and_escape_closes_it(opened):
    page = opened("?step=scores&view=sheet")
    tip, query = page.locator(".glossary"), page.locator('dfn[data-term="query"]')
    expect(tip).to_be_hidden()
    query.hover()
    expect(tip).to_have_text("What a word looks for, as a vector: it is compared with the keys. Its length is 4 here.")
    page.mouse.move(0, 0)
    expect(tip).to_be_hidden()
    query.focus()
    expect(tip).to_be_visible()
    assert query.get_attribute("aria-describedby") == tip.get_attribute("id")
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    assert query.get_attribute("aria-describedby") is None
    page.locator('dfn[data-term="key"]').dispatch_event("pointerdown", {"pointerType": "touch"})
    page.locator(".viewer").dispatch_event("pointerleave", {"pointerType": "touch"})
    page.wait_for_timeout(250)
    expect(tip).to_contain_text("What a word is found by")
    expect(tip).to_be_visible()
    page.locator(".step-text h2").dispatch_event("pointerdown", {"pointerType": "touch"})
    expect(tip).to_be_hidden()


@pytest.mark.slow
def test_it_never_covers_the_number_in_focus(opened):
    for step in ("scores", "scaling", "softmax", "output"):
        page = opened(f"?step={step}&view=sheet")
        for mark in page.locator("dfn.term").all():
            mark.focus()
            box, number = page.locator(".glossary").bounding_box(), page.locator(".sheet td.focus").bounding_box()
            apart = (
                box["x"] + box["width"] <= number["x"]
                or number["x"] + number["width"] <= box["x"]
                or box["y"] + box["height"] <= number["y"]
                or number["y"] + number["height"] <= box["y"]
            )
            assert apart, (step, mark.inner_text())


def test_a_sheet_that_is_drawn_again_has_its_marks(opened):
    page = opened("?step=scaling&view=sheet")
    resized(page, 1200, 700)
    expect(page.locator(".sheet dfn.term").first).to_be_attached()
    ids = page.locator("dfn.term").evaluate_all("(all) => all.map(each => each.dataset.term)")
    assert {"query", "key", "scaling"} <= set(ids)
    assert len(ids) == len(set(ids))


def test_a_talk_has_no_marks(opened):
    page = opened("?step=scores&view=sheet&present=1")
    expect(page.locator("dfn.term")).to_have_count(0)


def test_a_persons_word_is_no_term(opened):
    page = opened("?step=scores&view=sheet", sentence="the mask hides the seed")
    ids = page.locator("dfn.term").evaluate_all("(all) => all.map(each => each.dataset.term)")
    assert not {"mask", "seed"} & set(ids)


def asked_about(page, term):
    """What a lesson says of a term of its text."""
    page.mouse.move(0, 0)
    page.locator(f".lesson-said dfn[data-term={term}]").hover()
    expect(page.locator(".glossary")).to_be_visible()
    return page.locator(".glossary").inner_text()


@pytest.mark.slow
def test_a_lesson_tells_a_terms_number_once_its_question_is_answered(taught):
    page = taught("?lesson=who-is-it&moment=2")
    says = next(term.says for term in TERMS if term.id == "score")
    assert asked_about(page, "score") == says, "its number may be the answer"
    page.keyboard.press("PageDown")
    expect(page.locator(".lesson-said .verdict")).not_to_be_empty()
    said = asked_about(page, "score")
    assert said.startswith(says)
    assert re.search(r"“tired” scores −?\d+\.\d+ with “", said.removeprefix(says))


def test_no_term_stands_on_the_first_screen_of_lessons_and_none_in_a_talk(taught):
    page = taught("?lesson=who-is-it&moment=1")
    expect(page.locator(".lesson-said")).to_contain_text("model")
    expect(page.locator("dfn.term")).to_have_count(0)
    page.keyboard.press("PageDown")
    expect(page.locator(".lesson-said dfn.term")).not_to_have_count(0)
    page = taught("?lesson=who-is-it&moment=2&present=1")
    expect(page.locator(".lesson-said")).to_contain_text("query")
    expect(page.locator("dfn.term")).to_have_count(0)


def test_enter_on_a_term_does_not_show_the_answer(taught):
    page = taught("?lesson=who-is-it&moment=2")
    page.locator(".lesson-said dfn[data-term=query]").focus()
    expect(page.locator(".glossary")).to_be_visible()
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(page.locator(".glossary")).not_to_be_visible()
    expect(page.locator(".lesson-said .verdict")).to_be_empty()
