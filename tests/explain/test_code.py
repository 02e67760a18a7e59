"""Code in colours: the text stays what it is, and each piece is of the kind that Python says."""

import ast
import keyword

import pytest
from page import ADDRESSES, ROOT, answer_of, did, opened, trace_at

from attnviz import Settings, trace_of
from attnviz.explain import export
from attnviz.explain.code import coloured

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
