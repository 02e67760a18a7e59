"""A person's words reach the page as those very characters, whatever Markdown and Streamlit would make of them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from page import ROOT, answer_of, opened
from sinks import SHOWN, WORDS
from tab import expect

from attnviz.explain.escaping import WORD_JOINER, markdown
from attnviz.explain.steps import STEPS
from benchmarks.server import served

MARKUP = "a, img, em, strong, code, del, h1, h2, ol, ul, blockquote, .katex, p [data-testid=stIconMaterial]"
READ = f"""(keys) => keys.map((key) => {{
  const shown = document.querySelector(`.st-key-${{key}}`);
  const within = {{number: "label", label: "label", option: "input", button: "button p", segment: "button p"}};
  const at = within[key.split("_")[0]];
  const text = at ? shown.querySelector(at) : shown;
  return [text.value ?? text.textContent, shown.querySelectorAll("{MARKUP}").length];
}})"""


@given(st.text() | st.lists(st.sampled_from([*WORDS, *"w.:@/-<>=~ 1a\\`"])).map("".join))
def test_without_what_escapes_it_the_text_is_what_it_was(text):
    assert re.sub(r"\\(.)", r"\1", markdown(text).replace(WORD_JOINER, "")) == text.replace(WORD_JOINER, "")


@pytest.mark.parametrize("number", ["1.5e-05", "-0.25", "1,075", "a = -3.5", "0.1/2"])
def test_a_number_can_be_copied(number):
    assert WORD_JOINER not in markdown(number)


@pytest.mark.parametrize("word", ["www.evil.example", "`", "a\\b", "::", "<-"])
def test_a_step_that_is_not_there_is_named_as_it_was_typed(word):
    said = f"got {word!r}, using {STEPS[0].title}"
    for page in ("audit", "walkthrough"):  # the browser is given the very characters
        assert any(said in text for text in answer_of(opened(ROOT / "pages" / f"{page}.py", step=word))["notices"])
    (box,) = opened(ROOT / "pages" / "by_hand.py", step=word).warning  # Streamlit reads its own as Markdown
    assert markdown(said) in box.value
    assert "www." not in box.value.replace("\\", "")


@pytest.mark.parametrize("word", ["`", "\\", "*", "$", "<"])
def test_a_word_in_the_banner_is_as_it_was_typed(word):
    answer = answer_of(opened(ROOT / "pages" / "audit.py", sentence=f"the {word}", changes="embeddings[1,0]=1"))
    assert answer["byHand"] == [["strong", "Set by hand:"], ["", f" embeddings[{word}, 1] = 1"]]


@pytest.mark.browser
def test_in_a_browser_every_word_is_shown_at_every_place_and_none_is_read_as_markup(visit):
    with served("tests/sinks.py") as (address, _):
        tab = visit(address=address, afresh=True)
        page = tab.open()
        keys = [f"{sink}_{place}" for place, (sink, _) in enumerate(SHOWN)]
        expect(page.locator(f".st-key-{keys[-1]} > *").first).to_be_visible()
        tab.settled()  # each kind of box comes with a script of its own
        for key, (sink, word), (text, n_markup) in zip(keys, SHOWN, page.evaluate(READ, keys), strict=True):
            expected = f"is {word} shown?" if sink == "inside" else word
            assert (text.replace(WORD_JOINER, "").strip(), n_markup) == (expected, 0), key
        tab.leave()  # before its server ends, which it would miss


@pytest.mark.browser
def test_in_a_browser_a_step_that_is_not_there_is_no_link(visit):
    page = visit(afresh=True).open("?step=www.evil.example")
    expect(page.get_by_role("alert")).to_contain_text(f"got 'www.evil.example', using {STEPS[0].title}.")
    assert page.get_by_role("alert").locator("a").count() == 0
