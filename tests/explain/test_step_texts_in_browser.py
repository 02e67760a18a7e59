"""Texts of steps in the browser: what a step says of a selection is so, and its formulas are those of its head."""

import json
import re

import numpy as np
import pytest
from cases import of_each
from documents import document_of, given
from page import ROOT
from passes import TRACES as PASSES
from passes import selections
from test_bands import share_said

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.core.changes import Change
from attnviz.core.selection import Selection
from attnviz.core.stage import split_layer
from attnviz.explain.steps import steps_of

OWN = {
    "two answers that tie": attend(np.eye(3), parameters=Parameters(), w_u=np.outer(np.ones(3), [2.0, 1.0, 2.0])),
    "two heads of three that add alike": attend(
        np.eye(3),
        parameters=Parameters(
            **{name: np.ones((3, 3, 1)) for name in ("w_q", "w_k", "w_v")}, w_o=np.array([[2.0], [2.0], [1.0]])
        ),
    ),
    "three answers alike": attend(np.eye(3), parameters=Parameters(), w_u=np.ones((3, 3))),
    "positions": trace_of(Settings("the cat sat", positions="sinusoidal")),
    "attention by hand": trace_of(Settings("the cat sat")).with_change("attention", (0, 0, 1), 5.0),
    "a hidden share by hand": trace_of(Settings("the cat sat", mask="causal")).with_change("attention", (0, 0, 2), 2.0),
    "nothing seen but by hand": PASSES["all hidden"].with_change("attention", (0, 1, 2), 0.5),
    "nine at the top": PASSES["many ties"].with_change("attention", (0, 0, 9), 0.0),
    "four at the top": trace_of(Settings("a a a a b")).with_change("attention", (0, 0, 4), 0.0),
    "output by hand": trace_of(Settings("the cat sat")).with_change("output", (0, 0), 1.0),
    "ten heads": trace_of(Settings("the cat", d_model=10, n_heads=10)),
    "tied but for rounding": trace_of(Settings("the cat sat")).with_changes(
        Change("attention", (0, 0, 0), 0.1 + 0.2), Change("attention", (0, 0, 1), 0.3)
    ),
    "parts longer than float64": attend(
        np.eye(4),
        parameters=Parameters(
            **dict.fromkeys(("w_q", "w_k", "w_v"), np.ones((2, 4, 1))), w_o=np.array([[1.2e308] * 4, [-1e308] * 4])
        ),
    ),
}
TRACES = PASSES | OWN
QUOTED = re.compile("“(.*?)”")


@pytest.fixture(scope="module")
def step_texts(node):
    """What the steps of each pass say: pairs of a selection and the texts by the ids of their steps."""
    asked = {name: some(trace) for name, trace in TRACES.items()}
    of_passes = [(TRACES[name], {"selections": [vars(each) for each in of_pass]}) for name, of_pass in asked.items()]
    found = json.loads(node(str(ROOT / "tests/js/stepTexts.mjs"), text=given(of_passes)))
    return {name: list(zip(asked[name], each, strict=True)) for name, each in zip(asked, found, strict=True)}


def some(trace):
    """A few queries in the first and the last head."""
    n_heads = trace.lengths["head"]
    return [each for each in selections(trace, most=3) if each.key == 0 and each.head in (0, 1, n_heads - 1)]


def plain(said):
    return "".join(text for _, text in said)


def text_of(node, trace, selection):
    """What the steps of one pass say of one selection."""
    asked = [{"document": document_of(trace), "selections": [vars(selection)]}]
    return json.loads(node(str(ROOT / "tests/js/stepTexts.mjs"), text=json.dumps(asked)))[0][0]


@pytest.mark.parametrize(
    ("settings", "asked"),
    [
        ({}, "In “the cat sat, sat!”, what does “cat” take from the others?"),
        ({"sentence": "the {query} *`"}, "In “the { query } * `”, what does “{” take from the others?"),
        ({"sentence": "a " * 17}, "In “" + "a " * 16 + "…”, what does “a (2)” take from the others?"),
        ({"sentence": "alone"}, "What does “alone” take from itself?"),
        ({"context": "der Hund der"}, "What does “cat” take from “der Hund der”?"),
    ],
)
def test_the_first_heading_asks_about_the_persons_own_sentence(node, settings, asked):
    trace = trace_of(Settings(**{"sentence": "the cat sat, sat!"} | settings))
    heading = text_of(node, trace, Selection().within(trace))["question"]["heading"]
    assert plain(heading) == asked
    assert sum(style == "word" for style, _ in heading) == asked.count("“")


@of_each("name", [*TRACES])
def test_what_is_told_is_told_of_the_selection(step_texts, name):
    trace = TRACES[name]
    for selection, said in step_texts[name]:
        word = trace.label("query", selection.query)
        if trace.labels.get("query") and not trace.origin.question:
            assert f"hat does “{word}” take" in plain(said["question"]["heading"])
        layer = " of the last layer" * (trace.n_layers > 1)
        assert f"In head {selection.head + 1}{layer}, “{word}” " in plain(said["whole-pass"]["text"])
        ours = "".join(t for each in said.values() for style, t in (*each["heading"], *each["text"]) if style == "")
        assert not re.search(r"[{}]|undefined|NaN|nfinity", ours)


@of_each("name", [*TRACES])
def test_from_whom_a_query_took_is_so(step_texts, name):
    """Each claim of the last step read back, and compared with the arrays of the last layer."""
    trace = TRACES[name].layers[-1].trace
    for selection, said in step_texts[name]:
        head, query = selection.head, selection.query
        took = re.search(rf"In head {head + 1}\b.*?\.( |$)", plain(said["whole-pass"]["text"]))[0]
        row, seen = (trace[each].value[head, query] for each in ("attention", "masked"))
        taken = [key for key in range(len(row)) if row[key] or np.isfinite(seen[key])]
        if "saw no key" in took:
            assert not taken
            continue
        most = [trace.label("key", key) for key in taken if np.isclose(row[key], max(row[taken]), rtol=1e-8)]
        if "keys alike" in took:
            count = re.search(r"(all \w+|both) keys", took)[1]
            assert len(taken) == {"both": 2, "all three": 3, "all four": 4, "all five": 5, "all six": 6}[count]
            assert len(most) == len(taken)
        else:
            assert QUOTED.findall(took)[1:] == most[:3]
            assert (" alone" in took) == (len(taken) == 1)
            assert (len(most) > 3) == (f" {len(most) - 3} other" in took)
            assert ("took most" in took) == (len(most) < len(taken))
        assert (" each" in took) == (len(most) > 1)
        share = re.search(r"share of (.+ %\)?)", took)[1].removesuffix(" each")
        assert share == share_said(trace, max(row[taken]))


@of_each("name", [name for name, trace in TRACES.items() if trace.output.name == "output"])
def test_the_head_that_added_most_is_so(step_texts, name):
    trace = TRACES[name]
    for selection, said in step_texts[name]:
        rows = trace["contributions"].value[:, selection.query]
        lengths = np.sqrt(((rows / (np.abs(rows).max() or 1)) ** 2).sum(axis=-1))
        most = [head for head in range(len(lengths)) if np.isclose(lengths[head], lengths.max(), rtol=1e-8)]
        adds_up = not any(trace[each].overridden for each in ("concat", "contributions", "output"))
        found = re.search(
            r"To the output of “(.*?)”, (head [\w, ]+) contributed most\.",
            plain(said["whole-pass"]["text"]),
        )
        assert bool(found) == (adds_up and len(most) < len(lengths))
        if found:
            assert found[1] == trace.label("query", selection.query)
            assert [int(each) - 1 for each in re.findall(r"\d+", found[2])] == most


@of_each("name", [name for name, trace in TRACES.items() if "probabilities" in trace])
def test_the_most_probable_answer_is_so(step_texts, name):
    trace = TRACES[name]
    for selection, said in step_texts[name]:
        row = trace["probabilities"].value[selection.query]
        most = np.flatnonzero(np.isclose(row, row.max(), rtol=1e-9, atol=0))
        text = plain(said["whole-pass"]["text"])
        claim = r"For “(.*?)” the (?:most probable (answers?) (is|are) (“.+”):|probability is) (.+? %)( each)?"
        asked, answers, verb, words, share, each = re.search(claim, text).groups()
        assert asked == trace.label("query", selection.query)
        assert 100 * row.max() == pytest.approx(float(re.search(r"\d+", share)[0]), abs=1)
        assert bool(each) == (len(most) > 1)
        assert (words is None) == (len(most) == len(row))
        if words:
            assert QUOTED.findall(words) == [trace.label("answer", place) for place in most[:3]]
            assert (answers, verb) == (("answers", "are") if len(most) > 1 else ("answer", "is"))


def test_the_last_step_tells_each_thing_of_some_selection(step_texts):
    told = " ".join(plain(said["whole-pass"]["text"]) for each in step_texts.values() for _, said in each)
    for claim in (
        "took most from",
        "alone: a share of",
        "all four keys alike",
        "both keys alike",
        "saw no key",
        "1 other:",
        "6 others:",
        "contributed most",
    ):
        assert claim in told


@of_each("name", [*TRACES])
def test_the_subject_of_a_step_is_shown_in_it(name):
    trace = TRACES[name]
    steps = {step.id: step for step in steps_of(trace)}
    for written in document_of(trace)["steps"]:
        stages = [name for name in steps[written["id"]].stages if split_layer(name)[0] != "sink_share"]
        expected = {"question": trace.layers[-1].names["attention"], "whole-pass": trace.output.name}
        assert written["subject"] == expected.get(written["id"], stages[-1] if stages else trace.output.name)


def leaves(tree):
    for child in tree["children"]:
        if isinstance(child, str):
            yield child
        else:
            yield from leaves(child)


def test_formulas_are_of_the_selected_head_and_no_command_is_left_in_them(step_texts, called):
    for name, of_pass in step_texts.items():
        for selection, said in of_pass:
            math = [latex for each in said.values() for latex in written(each)]
            assert not [latex for latex in math if re.search(r"_i(?![a-z])", latex)]
            for step in (each for each in said if each.startswith("scores")):
                number = step.removeprefix("scores-")
                layer = f"^{{({number})}}" if number.isdigit() else ""
                head = f"{selection.head + 1}" if selection.head < 9 else f"{{{selection.head + 1}}}"
                assert said[step]["formulas"][-1].split(" ")[0] == f"S{layer}_{head}", name
    all_of_them = sorted(
        {latex for each in step_texts.values() for _, said in each for one in said.values() for latex in written(one)}
    )
    for latex, tree in zip(all_of_them, called("latex", "parse", [[latex] for latex in all_of_them]), strict=True):
        shown = list(leaves(tree))
        assert not set("".join(shown)) & set("\\{}_^"), latex
        assert not {*re.findall(r"\\([a-z]+)", latex)} - {"exp", "ln", "max", "cos", "sin", "tanh"} & {*shown}, latex


def written(each):
    """All LaTeX of a text."""
    runs = (*each["heading"], *each["text"], *(run for note in each["notes"] for run in note))
    return [*each["formulas"], *(text for style, text in runs if style == "math")]
