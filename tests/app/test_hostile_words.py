"""What people type to break a page is words wherever it comes: no page fails, none of it is run or in a log."""

import io
import json
import re
import unicodedata

import numpy as np
import pytest
from documents import document, fitted_at
from hostile import CASES
from page import ROOT, answer_of, opened, values, warnings
from tab import at, becomes

from attnviz.core.limits import MAX_TOKENS
from attnviz.core.tokens import tokenize
from attnviz.explain import export
from attnviz.scene.address import query

PAGES = {
    name: ROOT / "pages" / f"{name}.py" for name in ("walkthrough", "audit", "numpy_code", "by_hand", "worked_examples")
}
NUMBER = re.compile(r"\b\d+(\.\d+)?(e[+-]?\d+)?\b")
OVERRIDES = "\u202a\u202b\u202c\u202d\u202e"
NOTICED = ("step", "cell", "picked", "changes", "trail", "ask", "order", "notebook", "model", "seed", "heads", "mask")


ACTIVE = (
    *("Markdown", "Streamlit's Markdown", "HTML", "LaTeX", "slots of a story", "Python's format", "a terminal"),
    *("a new line of code", "control characters", "a lone surrogate", "right to left", "a very long word"),
)
"""Those that a notice could take for markup, a slot or the end of its line, or that no text may hold."""


def every_case(test):
    return pytest.mark.parametrize("text", CASES.values(), ids=CASES)(test)


def shown(text):
    """What stands in the box of a text that was typed: itself, a lone surrogate as a question mark."""
    return text.encode("utf-8", "replace").decode()


def logged(caplog, capfd):
    """What is in the log, or written beside it, but for Streamlit's word on AppTest."""
    records = [each.getMessage() for each in caplog.records if "ScriptRunContext" not in each.getMessage()]
    out, err = capfd.readouterr()
    return [*records, *out.splitlines(), *(line for line in err.splitlines() if "evil" in line)]


def neutral(trace):
    """A pass of as many words that mean nothing to anyone."""
    words = {
        name: " ".join(f"word{n}" for n in range(len(trace.labels[axis])))
        for name, axis in (("sentence", "query"), ("context", "key"))
    }
    return fitted_at(words).trace


@every_case
def test_a_text_makes_a_pass_of_its_words_or_a_sentence_says_why_not(text):
    fitted = fitted_at({"sentence": text})
    assert fitted.scene.sentence == shown(text)
    assert fitted_at(query(fitted.scene)).scene == fitted.scene
    if fitted.trace is None:
        assert tokenize(text) == () or len(tokenize(text)) > MAX_TOKENS
        assert "Type 1 to 64 words" in fitted.refused[0] or "Shorten it" in fitted.refused[0]
        return
    written = json.dumps(document(fitted), allow_nan=False, default=lambda array: len(array))
    written.encode()  # no lone surrogate in it
    assert len(fitted.trace.labels["query"]) == len(tokenize(text))


@every_case
def test_a_model_says_which_words_it_does_not_know(text):
    for source in ("microgpt", "by-hand", "who-is-it", "recall"):  # of letters, of a few, of words, in layers
        fitted = fitted_at({"model": source, "sentence": text})
        for said in fitted.refused:
            assert len(said) < 1000
            assert said.endswith(".")
            assert not any(unicodedata.category(each) == "Cc" or each in OVERRIDES for each in said)
        assert fitted.trace or len(fitted.refused) == 1


@every_case
def test_nothing_that_was_typed_is_in_a_script_and_its_arrays_hold_words_as_text_alone(text):
    trace = fitted_at({"sentence": text, "context": text}).trace
    if trace is None:
        return
    trace = trace.with_change("embeddings", (0, 0), 1.0)
    other = neutral(trace).with_change("embeddings", (0, 0), 1.0)
    script = export.script(trace)
    assert NUMBER.sub("#", script) == NUMBER.sub("#", export.script(other))
    compile(script, "script", "exec")
    arrays = np.load(io.BytesIO(export.arrays(trace)), allow_pickle=False)
    assert tuple(arrays["words_query"]) == trace.labels["query"]


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_every_page_opens_keeps_what_was_typed_in_its_box_and_writes_none_of_it_into_a_log(page, caplog, capfd):
    """Each of the texts on a page or two, as all of them come by one way to all pages."""
    nth = [*PAGES.values()].index(page)
    for text in map(shown, [*CASES.values()][nth % 3 :: 3]):
        address = {"model": "by-hand"} if page.stem == "by_hand" else {"d_model": "2", "changes": "embeddings[0,0]=1"}
        at_page = opened(page, sentence=text, **address)
        assert not at_page.exception
        answer = answer_of(at_page)
        typed = [values(answer)["sentence"]] if answer else []
        typed += [box.value for box in at_page.text_input if box.label == "A string of the letters a to d"]
        assert set(typed) <= {text}
        assert typed or page.stem == "worked_examples"
    assert logged(caplog, capfd) == []


@pytest.mark.parametrize("name", ACTIVE)
def test_a_value_that_is_none_is_named_in_a_sentence_and_none_of_it_is_markup(name, caplog, capfd):
    address = dict.fromkeys(NOTICED, shown(CASES[name])) | {"sentence": "the cat sat"}
    at_page = opened(**address)
    assert not at_page.exception
    said = warnings(at_page)
    assert any("no step called" in line for line in said)
    for name in ("ask", "order", "notebook", "model"):
        assert any(line.startswith(name) and "got" in line for line in said), name
    assert any("cell" in line and "got" in line for line in said)
    (box,) = opened(PAGES["by_hand"], **address).warning  # what Streamlit reads as Markdown
    assert not re.search(r"(?<!\\)[<\[`*$]", box.value)
    assert logged(caplog, capfd) == []


def test_in_a_browser_nothing_of_it_is_an_element_runs_or_asks_for_anything(visit):
    tab = visit()
    tab.page.on("dialog", lambda dialog: tab.errors.append(dialog.message))
    active = ("Markdown", "Streamlit's Markdown", "HTML", "a closed element", "an attribute", "LaTeX", "Plotly")
    texts = [shown(CASES[name]) for name in active]
    for turned in (0, 3):  # each text in two places of the address, and all of them among the words
        named = dict(zip(NOTICED[:-3], (texts * 3)[turned:], strict=False))
        sentence = " ".join(text[:40] for text in texts)
        page = tab.open(at(**named | {"sentence": sentence, "step": "scores"}))
        words = page.get_by_role("listbox", name="Queries").locator(".text")
        becomes(page, words.all_inner_texts, list(fitted_at({"sentence": sentence}).trace.labels["query"]))
        main = page.get_by_test_id("stMain")
        typed = "img, script, iframe, em, a[href*=evil], a[href^=mailto], .katex-error, [onerror], [onload], [onfocus]"
        assert main.locator(typed).count() == 0
        assert main.locator(".viewer b, .settings b, .notices :not(div, p, button)").count() == 0
