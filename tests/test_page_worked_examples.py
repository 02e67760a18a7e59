"""Worked examples, without a browser: each printed number beside the computed one, and what is claimed of them."""

import json
import re
from decimal import Decimal

import pytest
from page import ROOT, opened, plain, texts

from attnviz.examples import EXAMPLES
from attnviz.text.steps import steps_of

PAGE = ROOT / "pages" / "worked_examples.py"


def half_a_unit(print_out, text):
    """How far the computed number may be from the printed one, if it agrees to the last digit printed."""
    last = Decimal(text).as_tuple().exponent if print_out["decimals"] is None else -print_out["decimals"]
    return 0.5 * 10.0**last


@pytest.mark.parametrize("notebook", EXAMPLES)
def test_every_printed_number_stands_beside_the_computed_one_with_its_mark(notebook):
    at = opened(PAGE, notebook=notebook)
    assert not at.exception
    recorded = json.loads((ROOT / "attnviz" / "examples" / "data" / f"{notebook}.json").read_text("utf-8"))
    printed = [(each, text) for each in recorded for text in each["published"].split()]
    table = at.dataframe[0].value
    assert list(table.columns) == ["print-out", "published", "computed", "agrees"]
    assert table["print-out"].tolist() == [print_out["name"] for print_out, _ in printed]
    assert table["published"].tolist() == [text for _, text in printed]
    computed = [number.computed for number in EXAMPLES[notebook].numbers]
    for (print_out, text), row, exact in zip(printed, table.itertuples(), computed, strict=True):
        unit = half_a_unit(print_out, text)
        assert float(row.computed) == exact or abs(float(row.computed) - exact) <= 0.11 * unit
        off = 0 if float(text) == exact else abs(float(text) - exact)
        assert row.agrees == ("✓" if off <= unit else "≈" if off <= unit + print_out.get("slack", 0) else "✗")


@pytest.mark.parametrize("notebook", EXAMPLES)
def test_the_table_is_folded_away_and_its_label_counts_it(notebook):
    at = opened(PAGE, notebook=notebook)
    marks = at.dataframe[0].value["agrees"].tolist()
    (folded,) = at.expander
    assert not folded.proto.expanded
    loosely = f", {marks.count('≈')} of them not to the last digit, but as closely as rounded inputs allow"
    agree = f"{len(marks) - marks.count('✗')} of {len(marks)} agree"
    assert folded.label == f"The notebook and its printed numbers: {agree}{loosely * ('≈' in marks)}"


@pytest.mark.parametrize("notebook", EXAMPLES)
def test_a_print_out_s_line_gives_a_published_and_a_computed_number(notebook):
    at = opened(PAGE, notebook=notebook)
    (lines,) = (text.splitlines() for text in texts(at) if text.startswith("- :"))
    table = at.dataframe[0].value
    for line, print_out in zip(lines, EXAMPLES[notebook].print_outs, strict=True):
        rows = table[table["print-out"] == print_out.name]
        first = next((row for row in rows.itertuples() if row.agrees == "✗"), next(rows.itertuples()))
        assert f"**{print_out.name}**" in line
        assert f": {first.published} published, {first.computed} computed." in line
        assert line.startswith("- :green[✓]" if "✗" not in rows["agrees"].tolist() else "- :red[✗]")


def test_the_page_says_how_many_agree_and_how_closely():
    marks = [mark for notebook in EXAMPLES for mark in opened(PAGE, notebook=notebook).dataframe[0].value["agrees"]]
    (claim,) = (text for text in texts(opened(PAGE)) if text.startswith("Five notebooks"))
    assert f"Of the {len(marks):,} numbers" in claim
    assert f"**{marks.count('✓'):,} come out to the last digit printed**, and {marks.count('≈')} more" in claim
    assert f"the other {marks.count('✗')} cannot follow" in claim


@pytest.mark.parametrize("notebook", EXAMPLES)
def test_an_example_is_named_by_what_it_teaches_and_its_notebook_is_named_only_where_it_is_folded_away(notebook):
    at = opened(PAGE, notebook=notebook)
    example = EXAMPLES[notebook]
    assert at.radio(key="notebook").value == notebook
    assert at.radio(key="notebook").options[list(EXAMPLES).index(notebook)] == f"**{example.title}.** {example.lesson}"
    assert at.header[0].value == example.title
    folded = {plain(each.value) for each in at.expander[0].markdown}
    assert example.source in folded
    in_sight = " ".join([*at.radio(key="notebook").options, *(set(texts(at)) - folded)])
    assert not re.search(rf"In \[|[0-9a-f]{{16}}|\b{notebook}\b", in_sight)


@pytest.mark.parametrize("notebook", EXAMPLES)
def test_every_mistake_shows_the_wrong_number_and_then_the_right_one(notebook):
    at = opened(PAGE, notebook=notebook)
    said = texts(at)
    for mistake in EXAMPLES[notebook].mistakes:
        place = said.index(f"**{mistake.title}**")
        assert said[place + 1] == mistake.explanation
        assert said[place + 2].startswith(f":red[✗] {mistake.wrong.what}:")
        assert said[place + 3].startswith(f":green[✓] {mistake.right.what}:")


@pytest.mark.parametrize("notebook", EXAMPLES)
def test_a_mistake_opens_the_step_that_shows_its_stage(monkeypatch, notebook):
    opened_pages = []
    monkeypatch.setattr("streamlit.switch_page", opened_pages.append)  # the page is opened without the router
    for number, mistake in enumerate(EXAMPLES[notebook].mistakes):
        at = opened(PAGE, notebook=notebook)
        at.button(key=f"mistake_{notebook}_{number}").click().run()
        assert opened_pages.pop() == "pages/walkthrough.py"
        at.run()
        assert at.query_params["source"] == f"{notebook} {mistake.variant.id}"
        trace = mistake.variant.trace
        step = next(each for each in steps_of(trace) if each.id == at.query_params["step"])
        if trace[mistake.stage].is_given:
            assert step.id == "whole-pass"  # which draws what no step computes
        else:
            assert mistake.stage in step.stages
