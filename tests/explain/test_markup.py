"""Texts: markup as runs, where what a user typed is never markup; escaping; Python in colours; numbers in English."""

import ast
import json
import keyword
import re

import numpy as np
import pytest
from cases import of_each
from documents import with_verdict
from hypothesis import given
from hypothesis import strategies as st
from page import ADDRESSES, ROOT, answer_of, did, opened, trace_at
from passes import TRACES
from server import served
from sinks import SHOWN, WORDS
from tab import expect

from attnviz import Settings, trace_of
from attnviz.explain import export
from attnviz.explain.markup import STYLES, WORD_JOINER, coloured, markdown, runs
from attnviz.explain.steps import STEPS, steps_of
from attnviz.explain.wording import counted, percent, precise


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.5, "1.5000"), (-1e308, "−1.00e308"), (np.inf, "more than 1.79e308"), (-np.inf, "less than −1.79e308")],
)
def test_numbers(value, text):
    assert precise(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        *((0, "0"), (0.005, "under 1"), (0.01, "1"), (0.5, "50"), (0.99, "99"), (0.9901, "over 99"), (1, "100")),
        *((-0.125, "−13"), (-0.001, "0"), (2.5, "250")),
    ],
)
def test_shares_that_are_nearly_nothing_or_all_are_not_said_to_be_so(share, text):
    assert percent(share) == f"{text}\u00a0%"


def test_counts():
    assert [counted(n, "query", "queries") for n in (1, 2)] == ["1 query", "2 queries"]
    assert counted(0, "key") == "0 keys"


PAGE = ROOT / "pages" / "numpy_code.py"
SOURCES = sorted(ROOT.glob("attnviz/**/*.py"))[::5]


@pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES)
def test_the_page_shows_the_script_of_its_pass_character_for_character(address):
    runs = answer_of(opened(PAGE, **address))["script"]["runs"]
    assert "".join(text for _, text in runs) == export.script(trace_at(address))


def test_what_is_done_is_answered_with_the_script_of_the_pass_it_makes():
    at = opened(PAGE, sentence="the cat sat")
    runs = did(at, "mask", "causal")["script"]["runs"]
    assert "".join(text for _, text in runs) == export.script(trace_of(Settings("the cat sat", mask="causal")))


def test_modules_of_ours_keep_their_text_and_their_tokens_are_of_their_kinds():
    for path in SOURCES:
        code = path.read_text("utf-8")
        runs = coloured(code)
        assert "".join(text for _, text in runs) == code
        assert all(text for _, text in runs)
        for kind, text in runs:
            assert (kind == "keyword") == keyword.iskeyword(text), (path, text)
            if kind == "comment":
                assert text.startswith("#")
                assert "\n" not in text
            if kind == "number":
                assert isinstance(ast.literal_eval(text), int | float | complex)


def test_strings_and_names_are_those_that_python_reads():
    code = 'import a  # b\nif a:\n    print("if", \'# c\', f(a.g(1.5e3)), """d\n# e""")\n'
    named = [(kind, text) for kind, text in coloured(code) if kind]
    tree = list(ast.walk(ast.parse(code)))
    constants = [each.value for each in tree if isinstance(each, ast.Constant)]
    called = [getattr(each.func, "id", None) or each.func.attr for each in tree if isinstance(each, ast.Call)]
    assert sorted(text for kind, text in named if kind == "function") == sorted(called)
    read = [ast.literal_eval(text) for kind, text in named if kind in ("string", "number")]
    assert sorted(map(str, read)) == sorted(map(str, constants))
    assert [text for kind, text in named if kind in ("keyword", "comment")] == ["import", "# b", "if"]


def test_the_last_value_of_an_interactive_python_makes_no_name_a_function(monkeypatch):
    monkeypatch.setattr("builtins._", 1, raising=False)
    assert coloured("for _ in a: b()")[:3] == [["keyword", "for"], ["", " _ "], ["keyword", "in"]]


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
    said = f"no step called “{word}”; showing {STEPS[0].title}"
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
    with served("tests/explain/sinks.py") as (address, _):
        tab = visit(address=address, afresh=True)
        page = tab.open()
        keys = [f"{sink}_{place}" for place, (sink, _) in enumerate(SHOWN)]
        expect(page.locator(f".st-key-{keys[-1]} > *").first).to_be_visible()
        tab.settled()  # each kind of box comes with a script of its own
        for key, (sink, word), (text, n_markup) in zip(keys, SHOWN, page.evaluate(READ, keys), strict=True):
            expected = f"is {word} shown?" if sink == "inside" else word
            assert (text.replace(WORD_JOINER, "").strip(), n_markup) == (expected, 0), key
        tab.leave()  # before its server ends, which it would miss


@pytest.mark.parametrize(
    ("text", "said"),
    json.loads((ROOT / "tests/data/markup.json").read_text("utf-8")),
)
def test_each_kind_of_markup_has_its_style(text, said):
    assert runs(text, word="{word} *x*") == said


@given(st.text(min_size=1))
def test_a_persons_word_is_one_run_whatever_it_holds(word):
    assert runs("**In** “{word}”, {word}?", word=word)[2] == ["word", word]
    assert "".join(text for _, text in runs("“{word}”", word=word)) == f"“{word}”"


def test_a_run_enters_as_it_is():
    run = ["story", {"of": "attention", "stories": [["", "{query}"]]}]
    assert runs("what does “{word}” take", word=run) == [["", "what does “"], run, ["", "” take"]]


@of_each("trace", TRACES)
def test_no_markup_is_left_in_a_text_of_a_step(trace):
    for step in steps_of(trace):
        for said in (step.heading, with_verdict(trace, step.text), *step.notes):
            assert {style for style, _ in said} <= {*STYLES, "story"}
            ours = "".join(text for style, text in said if style not in ("math", "word", "story"))
            assert not re.search(r"[*`$\[\]{}]|:\w+\[", ours)
