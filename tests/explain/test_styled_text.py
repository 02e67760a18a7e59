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
from attnviz.explain.steps import STEPS, steps_of
from attnviz.explain.styled_text import STYLES, WORD_JOINER, coloured, markdown, runs
from attnviz.explain.wording import counted, percent, precise


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.5, "1.5000"), (-1e308, "−1.00e308"), (np.inf, "more than 1.79e308"), (-np.inf, "less than −1.79e308")],
)
def test_precise_numbers(value, text):
    assert precise(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        *((0, "0"), (0.005, "under 1"), (0.01, "1"), (0.5, "50"), (0.99, "99"), (0.9901, "over 99"), (1, "100")),
        *((-0.125, "−13"), (-0.001, "0"), (2.5, "250")),
    ],
)
def test_percent_near_0_and_100(share, text):
    assert percent(share) == f"{text}\u00a0%"


def test_counted_nouns():
    assert [counted(n, "query", "queries") for n in (1, 2)] == ["1 query", "2 queries"]
    assert counted(0, "key") == "0 keys"


PAGE = ROOT / "pages" / "numpy_code.py"
SOURCES = sorted(ROOT.glob("attnviz/**/*.py"))[::5]


@pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES)
def test_script_page_shows_the_script(address):
    runs = answer_of(opened(PAGE, **address))["script"]["runs"]
    assert "".join(text for _, text in runs) == export.script(trace_at(address))


def test_action_answers_with_the_new_script():
    at = opened(PAGE, sentence="the cat sat")
    runs = did(at, "mask", "causal")["script"]["runs"]
    assert "".join(text for _, text in runs) == export.script(trace_of(Settings("the cat sat", mask="causal")))


def test_coloured_code_keeps_its_text():
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


def test_coloured_tokens_match_python():
    code = 'import a  # b\nif a:\n    print("if", \'# c\', f(a.g(1.5e3)), """d\n# e""")\n'
    named = [(kind, text) for kind, text in coloured(code) if kind]
    tree = list(ast.walk(ast.parse(code)))
    constants = [each.value for each in tree if isinstance(each, ast.Constant)]
    called = [getattr(each.func, "id", None) or each.func.attr for each in tree if isinstance(each, ast.Call)]
    assert sorted(text for kind, text in named if kind == "function") == sorted(called)
    read = [ast.literal_eval(text) for kind, text in named if kind in ("string", "number")]
    assert sorted(map(str, read)) == sorted(map(str, constants))
    assert [text for kind, text in named if kind in ("keyword", "comment")] == ["import", "# b", "if"]


def test_underscore_is_no_function(monkeypatch):
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


@pytest.mark.slow
@given(st.text() | st.lists(st.sampled_from([*WORDS, *"w.:@/-<>=~ 1a\\`"])).map("".join))
def test_markdown_escapes_are_removable(text):
    assert re.sub(r"\\(.)", r"\1", markdown(text).replace(WORD_JOINER, "")) == text.replace(WORD_JOINER, "")


@pytest.mark.parametrize("number", ["1.5e-05", "-0.25", "1,075", "a = -3.5", "0.1/2"])
def test_number_is_copyable(number):
    assert WORD_JOINER not in markdown(number)


@pytest.mark.parametrize("word", ["www.evil.example", "`", "a\\b", "::", "<-"])
def test_unknown_step_is_quoted(word):
    said = f"no step called “{word}”; showing {STEPS[0].title}"
    for page in ("audit", "walkthrough"):  # the browser is given the very characters
        assert any(said in text for text in answer_of(opened(ROOT / "pages" / f"{page}.py", step=word))["notices"])
    (box,) = opened(ROOT / "pages" / "by_hand.py", step=word).warning  # Streamlit reads its own as Markdown
    assert markdown(said) in box.value
    assert "www." not in box.value.replace("\\", "")


@pytest.mark.parametrize("word", ["`", "\\", "*", "$", "<"])
def test_typed_word_in_banner_is_verbatim(word):
    answer = answer_of(opened(ROOT / "pages" / "audit.py", sentence=f"the {word}", changes="embeddings[1,0]=1"))
    assert answer["byHand"] == [["strong", "Set by hand:"], ["", f" embeddings[{word}, 1] = 1"]]


def test_streamlit_reads_no_word_as_markup(visit):
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
def test_each_markup_has_its_style(text, said):
    assert runs(text, word="{word} *x*") == said


@given(st.text(min_size=1))
def test_persons_word_is_one_run(word):
    assert runs("**In** “{word}”, {word}?", word=word)[2] == ["word", word]
    assert "".join(text for _, text in runs("“{word}”", word=word)) == f"“{word}”"


def test_run_passes_through():
    run = ["story", {"of": "attention", "stories": [["", "{query}"]]}]
    assert runs("what does “{word}” take", word=run) == [["", "what does “"], run, ["", "” take"]]


@of_each("trace", TRACES)
def test_no_markup_is_left_in_steps(trace):
    for step in steps_of(trace):
        for said in (step.heading, with_verdict(trace, step.text), *step.notes):
            assert {style for style, _ in said} <= {*STYLES, "story"}
            ours = "".join(text for style, text in said if style not in ("math", "word", "story"))
            assert not re.search(r"[*`$\[\]{}]|:\w+\[", ours)
