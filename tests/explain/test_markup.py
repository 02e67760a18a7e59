"""Markup: our own texts as runs, in which a person's words are words whatever they hold."""

import re

import pytest
from cases import of_each
from documents import with_verdict
from hypothesis import given
from hypothesis import strategies as st
from passes import TRACES

from attnviz.explain.markup import STYLES, runs
from attnviz.explain.steps import steps_of


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("plain", [["", "plain"]]),
        ("**a** and *b*", [["strong", "a"], ["", " and "], ["em", "b"]]),
        ("`d_k` of $\\sqrt{d_k}$.", [["code", "d_k"], ["", " of "], ["math", "\\sqrt{d_k}"], ["", "."]]),
        (
            ":blue[**query**] :orange[key] :green[v] :violet[o]",
            [["q", "query"], ["", " "], ["k", "key"], ["", " "], ["v", "v"], ["", " "], ["output", "o"]],
        ),
        ("“{word}”", [["", "“"], ["word", "{word} *x*"], ["", "”"]]),
    ],
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
        for said in (step.heading, with_verdict(trace, step.text), *(note.text for note in step.notes)):
            assert {style for style, _ in said} <= {*STYLES, "story"}
            ours = "".join(text for style, text in said if style not in ("math", "word", "story"))
            assert not re.search(r"[*`$\[\]{}]|:\w+\[", ours)
