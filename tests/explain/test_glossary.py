"""The glossary: every term on a screen has an entry, each with a number of the very pass, and is marked once."""

import json
import math
import re

import pytest
from documents import document, document_of
from operationcases import OPERATIONS
from page import ROOT, settings_of
from passes import TRACES
from playwright.sync_api import expect
from sentences import slots_of, told
from tab import resized

from attnviz.core.selection import Selection
from attnviz.explain.glossary import TERMS, measured
from attnviz.explain.one_word import bands
from attnviz.explain.steps import ENTRIES, steps_of
from attnviz.explain.story import renamed
from attnviz.models.training import recorded_parts
from attnviz.scene.scene import RANDOM, Scene
from attnviz.scene.with_pass import resolve
from attnviz.viewer.glossary import FILE, javascript

FIELD = re.compile(
    r"\b(quer(?:y|ies)|keys?|values?|scor(?:e|es)|shares?|softmax|heads?|W_O|residual stream|neurons?|logits?|loss"
    r"|nats?|held[- ]out|BOS|d_k|d_v|d_model|seeds?|temperature|top[- ][kp]|muted?|initialisers?|one-hot|sinusoidal"
    r"|causal|padding|window|projections?|embeddings?|unembedding|mask(?:s|ed)?|attention|layers?|MLP|LayerNorm|RMSNorm|ReLU|GELU"
    r"|checkpoints?|dot products?|bias(?:es)?|parameters?|concatenation|contributions?|weighted sum|positions?|tokens?"
    r"|probabilit(?:y|ies)|slopes?|sinks?|softcap|RoPE|ALiBi|groups?|encoders?|decoders?|memory|cross-attention)\b",
    re.IGNORECASE,
)
"""The field's terms, as people of the field write them."""

MODERN = ("a layer of 2025", "latents absorbed, with rope", "by blocks", "queries from a latent, absorbed")


def runs_on_screens():
    """All that steps and bands say, and all labels of stages and of settings, as runs."""
    for trace in TRACES.values():
        for step in steps_of(trace):
            yield from (run for text in (step.heading, step.why, step.text, *step.notes) for run in text)
            yield from (run for band in bands(trace, step) for run in [*band.sentence, ["", band.label]])
    for each in ENTRIES.values():
        yield from (
            ["", text] for text in (each.title, each.meaning, each.one, *(story.text for story in each.stories))
        )
    for source in (RANDOM, "microgpt", "who-is-it"):
        for boxes in settings_of(Scene(source=source)).values():
            yield from (["", text] for box in boxes for text in (box.get("label", ""), box.get("help", "")))
    yield from (
        ["", text] for text in ("loss", "held-out accuracy", "nats a letter", "temperature", "top-k", "top-p", "muted")
    )


def texts(run):
    _, said = run
    return [said] if isinstance(said, str) else [text for _, text in said["stories"]]


def test_every_field_term_on_screen_has_an_entry():
    said = [text for run in runs_on_screens() for text in texts(run)]
    assert len(set(said)) > 400
    for name in {found[0] for text in set(said) for found in FIELD.finditer(text)}:
        assert any(re.search(term.pattern, name, re.IGNORECASE) for term in TERMS), name


def test_every_operation_has_an_entry():
    assert {term.operation for term in TERMS} - {""} == {each.__name__ for each in OPERATIONS}


def test_entry_is_one_unique_sentence():
    assert len({term.id for term in TERMS}) == len(TERMS)
    for term in TERMS:
        assert re.fullmatch(r"[“A-Z].{20,125}\.", term.says), term.id
        assert not re.search(r"\. ", term.says), term.id


OF_TERMS = ("plain", "causal", "added mask", "a block", "two blocks with biases", "a model asked at a word")
OF_TERMS += ("two layers that learnt", "by blocks beside sinks", *MODERN)


def selected(trace):
    return Selection(0, 1, 0, 0, 0).within(trace)


@pytest.fixture(scope="module")
def said_of(node):
    """What is said of all terms for that selection of each pass, by the pass's name and their ids."""
    asked = [{"document": document_of(TRACES[each]), "cell": vars(selected(TRACES[each]))} for each in OF_TERMS]
    said = json.loads(node(str(ROOT / "tests/js/answers.mjs"), "glossary", text=json.dumps(asked)))
    return dict(zip(OF_TERMS, said, strict=True))


@pytest.mark.parametrize("name", OF_TERMS)
def test_term_number_is_the_selections(name, said_of):
    trace, at = TRACES[name], selected(TRACES[name])
    names = trace.layers[-1].names
    index = trace.cell_at(names["attention"], at).index
    for term in TERMS:
        stories = [("", renamed(each, names)) for each in ([term.here] if isinstance(term.here, str) else term.here)]
        number = told(trace, stories, names["attention"], index, at)
        says = term.says.replace("{unit}", "word") + (number and f" {number}")
        if term.id == "layer":
            says += f" Layers of this pass: {trace.n_layers}."
        assert said_of[name][term.id] == says


NUMBERS_OF = json.loads((ROOT / "tests/data/glossary_stages.json").read_text("utf-8"))
"""By the id of each term with a number the stages that its numbers are of."""


def test_term_numbers_come_from_its_stages():
    found = {
        term.id: {name for name, _ in slots_of(" ".join([*term.here]) if isinstance(term.here, tuple) else term.here)}
        for term in TERMS
    }
    labels = {"head", "query", "key", "answer"}
    assert {id_: names - labels for id_, names in found.items() if names} == {
        id_: {*names} for id_, names in NUMBERS_OF.items()
    }


def test_every_number_of_a_term_occurs(said_of):
    told = set()
    for name in OF_TERMS:
        said = said_of[name]
        told |= {term.id for term in TERMS if len(said[term.id]) > len(term.says.replace("{unit}", "word"))}
        assert not any("{" in each or "undefined" in each for each in said.values())
    assert {term.id for term in TERMS if term.here} - told == set()


def test_browser_glossary_is_current():
    assert FILE.read_text("utf-8") == javascript(), "python -m attnviz.viewer.glossary writes it again"


def test_loss_meaning_is_computed():
    scene = Scene(source="microgpt")
    said = document(resolve(scene))["measured"]
    ((loss, yardsticks),) = [(each["loss"], each["muted"]) for each in recorded_parts()[:1]]
    assert said["nats"] == f"{loss:.2f} nats: as unsure as between e^{loss:.2f} = {math.exp(loss):.2g} answers."
    assert f"Here {loss:.2f}, beside guessing {math.log(27):.2f}" in said["loss"]
    assert f"With attention muted the loss is {yardsticks['attention']:.2f}: no better than" in said["muted"]
    assert said["seed"] == "Here it is 0."
    assert measured(2, None, None) == {"layer": "Layers of this pass: 2."}


def marked(page):
    """The terms that are marked, each once."""
    ids = page.locator("dfn.term").evaluate_all("(all) => all.map(each => each.dataset.term)")
    assert len(ids) == len(set(ids))
    return set(ids)


def test_term_is_marked_once(opened):
    page = opened("?step=scores&view=sheet")
    assert {"query", "key", "dot product", "indices"} <= marked(page)
    page.get_by_role("button", name="Next", exact=False).first.click()
    expect(page.locator('dfn[data-term="softmax"]')).to_have_count(1)
    assert marked(page)


def test_code_is_no_term(opened):
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


def test_tooltip_by_mouse_keyboard_and_touch(opened):
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


def test_tooltip_never_covers_the_focus(opened):
    focused = ".score-to-weight:visible .label.chosen, .collecting:visible .cell.focus, .sheet td.focus"
    for step in ("scores", "scaling", "softmax", "output"):
        page = opened(f"?step={step}&view=sheet")
        for mark in page.locator("dfn.term").all():
            mark.focus()
            box, number = page.locator(".glossary").bounding_box(), page.locator(focused).first.bounding_box()
            apart = (
                box["x"] + box["width"] <= number["x"]
                or number["x"] + number["width"] <= box["x"]
                or box["y"] + box["height"] <= number["y"]
                or number["y"] + number["height"] <= box["y"]
            )
            assert apart, (step, mark.inner_text())


def test_redrawn_sheet_keeps_marks(opened):
    page = opened("?step=scaling&view=sheet")
    resized(page, 1200, 700)
    expect(page.locator(".sheet dfn.term").first).to_be_attached()
    assert {"dimension", "scaling"} <= marked(page)


def test_typed_word_is_no_term(opened):
    page = opened("?step=scores&view=sheet", sentence="the mask hides the seed")
    assert not {"mask", "seed"} & marked(page)


def asked_about(page, term):
    page.mouse.move(0, 0)
    page.locator(f".lesson-said dfn[data-term={term}]").hover()
    expect(page.locator(".glossary")).to_be_visible()
    return page.locator(".glossary").inner_text()


def test_lesson_gives_a_terms_number_after_the_answer(taught):
    page = taught("?lesson=who-is-it&moment=2")
    says = next(term.says for term in TERMS if term.id == "score")
    assert asked_about(page, "score") == says, "its number may be the answer"
    page.keyboard.press("PageDown")
    expect(page.locator(".lesson-said .verdict")).not_to_be_empty()
    said = asked_about(page, "score")
    assert said.startswith(says)
    assert re.search(r"“tired” scores −?\d+\.\d+ with “", said.removeprefix(says))


def test_first_lesson_screen_and_talks_mark_no_term(taught):
    page = taught("?lesson=who-is-it&moment=1")
    expect(page.locator(".lesson-said")).to_contain_text("model")
    expect(page.locator("dfn.term")).to_have_count(0)
    page.keyboard.press("PageDown")
    expect(page.locator(".lesson-said dfn.term")).not_to_have_count(0)
    page = taught("?lesson=who-is-it&moment=2&present=1")
    expect(page.locator(".lesson-said")).to_contain_text("query")
    expect(page.locator("dfn.term")).to_have_count(0)


def test_enter_on_a_term_reveals_nothing(taught):
    page = taught("?lesson=who-is-it&moment=2")
    page.locator(".lesson-said dfn[data-term=query]").focus()
    expect(page.locator(".glossary")).to_be_visible()
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(page.locator(".glossary")).not_to_be_visible()
    expect(page.locator(".lesson-said .verdict")).to_be_empty()
