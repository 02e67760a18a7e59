"""Worked examples, without a browser: each printed number beside the computed one, and what is claimed of them."""

import functools
import json
import re
from dataclasses import replace
from decimal import Decimal

import pytest
from page import ROOT, article, components, opened, pieces_in, scene_of, sends, texts, worded

from attnviz.examples import EXAMPLES
from attnviz.explain.steps import steps_of
from attnviz.explain.styled_text import runs
from attnviz.scene.scene import Scene
from attnviz.scene.with_pass import resolve

PAGE = ROOT / "pages" / "worked_examples.py"


@functools.cache
def folded_away(notebook):
    """The page of a notebook as it opens, for all who read it."""
    return opened(PAGE, notebook=notebook)


@functools.cache
def unfolded(notebook):
    """The page with the printed numbers of a notebook unfolded, for all who read it."""
    at = opened(PAGE, notebook=notebook)
    at.session_state[f"of_{scene_of(at).notebook}"] = True
    at.run()
    assert not at.exception
    return at


def half_a_unit(print_out, text):
    """How far the computed number may be from the printed one, if it agrees to the last digit printed."""
    last = Decimal(text).as_tuple().exponent if print_out["decimals"] is None else -print_out["decimals"]
    return 0.5 * 10.0**last


@pytest.mark.parametrize("notebook", EXAMPLES)
def test_every_printed_number_stands_beside_the_computed_one_with_its_mark(notebook):
    at = unfolded(notebook)
    recorded = json.loads((ROOT / "attnviz" / "examples" / "data" / f"{notebook}.json").read_text("utf-8"))
    printed = [(each, text) for each in recorded if "of" not in each for text in each["published"].split()]
    table = at.dataframe[0].value
    assert list(table.columns) == ["print-out", "published", "computed", "agrees", "kind"]
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
    (folded,) = folded_away(notebook).expander
    assert not folded.proto.expanded
    assert len(folded) == 0
    marks = unfolded(notebook).dataframe[0].value["agrees"].tolist()
    loosely = f", {marks.count('≈')} within rounding" * ("≈" in marks)
    apart = f", {marks.count('✗')} cannot come from the code shown" * ("✗" in marks)
    agree = f"{marks.count('✓')} agree to the last digit"
    assert folded.label == f"The notebook and its {len(marks)} printed numbers: {agree}{loosely}{apart}"


def test_a_table_is_left_unfolded_or_folded_as_it_was_by_another_page():
    at = opened().switch_page("pages/worked_examples.py").run()
    for is_open in (True, False):
        at.session_state[f"of_{scene_of(at).notebook}"] = is_open
        at.run()
        at.switch_page("pages/walkthrough.py").run()
        at.switch_page("pages/worked_examples.py").run()
        assert (at.expander[0].proto.expanded, len(at.dataframe)) == (is_open, is_open)


@pytest.mark.parametrize("notebook", EXAMPLES)
def test_a_print_out_s_line_gives_a_published_and_a_computed_number(notebook):
    at = unfolded(notebook)
    lines = [line for text in texts(at) for line in text.splitlines() if line.startswith(("- ✓", "- ✗"))]
    table = at.dataframe[0].value
    for line, print_out in zip(lines, EXAMPLES[notebook].print_outs, strict=True):
        assert (f"counted with “{print_out.of}”" in line) == bool(print_out.of)
        if print_out.of:
            continue
        rows = table[table["print-out"] == print_out.name]
        first = next((row for row in rows.itertuples() if row.agrees == "✗"), next(rows.itertuples()))
        assert f"**{print_out.name}**" in line
        assert f": {first.published} published, {first.computed} computed." in line
        assert line.startswith("- ✓" if "✗" not in rows["agrees"].tolist() else "- ✗")


def test_the_page_says_how_many_agree_and_how_closely():
    tables = [unfolded(notebook).dataframe[0].value for notebook in EXAMPLES]
    marks, kinds = ([each for table in tables for each in table[name]] for name in ("agrees", "kind"))
    (claim,) = (text for text in texts(opened(PAGE)) if text.startswith("Five notebooks"))
    assert f"They print {len(marks):,} numbers. **{marks.count('✓'):,} agree to the last digit**" in claim
    assert f"{kinds.count('input')} of these are inputs themselves, {kinds.count('label')} are labels" in claim
    assert f"{marks.count('≈')} agree within rounding; {marks.count('✗')} cannot come from the code shown." in claim
    sources = [example.source for example in EXAMPLES.values()]
    assert sum("author not named" in each for each in sources) == 4
    assert sum("GPL" in each for each in sources) == 1
    assert "Four of them name no author, and one is licensed under the GPL" in claim


def in_words(pieces):
    """All that pieces say, and the options of those that are choices."""
    for piece in pieces_in(pieces):
        yield from (piece[name] for name in ("text", "label") if name in piece)
        yield from (worded(each) for each in (piece, *piece.get("options", ())) if "runs" in each)


@pytest.mark.parametrize("notebook", EXAMPLES)
def test_an_example_is_named_by_what_it_teaches_and_its_notebook_is_named_only_where_it_is_folded_away(notebook):
    at = folded_away(notebook)
    example, shown = EXAMPLES[notebook], article(at, "notebook")
    (offered,) = shown["choice"]
    assert offered["value"] == notebook
    options = [worded(each) for each in offered["options"]]
    assert options[list(EXAMPLES).index(notebook)] == f"{example.title}. {example.summary}"
    assert shown["heading"][0]["text"] == example.title
    in_sight = " ".join(in_words(components(at)["notebook"]["pieces"]))
    assert not re.search(rf"In \[|[0-9a-f]{{16}}|\b{notebook}\b", in_sight)
    assert any(text.startswith(example.source) for text in texts(unfolded(notebook)))


@pytest.mark.parametrize("notebook", EXAMPLES)
def test_every_mistake_shows_the_wrong_number_and_then_the_right_one(notebook):
    boxes = article(folded_away(notebook), "notebook")["box"]
    for mistake, box in zip(EXAMPLES[notebook].mistakes, boxes, strict=True):
        title, explanation, sides, _ = box["pieces"]
        assert (title["runs"], explanation["runs"]) == ([["strong", mistake.title]], runs(mistake.explanation))
        for (says, number), (style, mark), side in zip(
            sides["columns"], (("wrong", "✗ "), ("right", "✓ ")), (mistake.wrong, mistake.right), strict=True
        ):
            assert says["runs"][0] == [style, mark]
            assert worded(says) == f"{mark}{side.what}:"
            assert number["runs"][0][0] == "code"


def test_all_examples_are_with_the_browser_and_what_is_chosen_there_is_the_scene_s():
    at = opened(PAGE)
    (offered,) = article(at, "notebook")["choice"]
    assert [each["value"] for each in offered["options"]] == list(EXAMPLES)
    sends(at, "notebook", "chosen", {"notebook": "003"})
    assert (scene_of(at).notebook, at.query_params["notebook"]) == ("003", "003")
    assert article(at, "notebook")["choice"][0]["value"] == "003"
    assert at.expander[0].label.endswith("127 printed numbers: 127 agree to the last digit")


@pytest.mark.parametrize("event", ["chosen", "opened"])
def test_a_message_that_no_article_sends_changes_nothing(event):
    at = opened(PAGE).run()
    before = dict(at.query_params)
    for message in (None, 3, "", "000", [], ["notebook"], {}, {"notebook": ["000"]}, {"notebook": "005"}):
        sends(at, "notebook", event, message)
        assert not at.exception
        assert at.query_params == before, message


@pytest.mark.parametrize("notebook", EXAMPLES)
def test_a_mistake_opens_the_step_that_shows_its_stage(monkeypatch, notebook):
    opened_pages = []
    monkeypatch.setattr("streamlit.switch_page", opened_pages.append)  # the page is opened without the router
    boxes = article(folded_away(notebook), "notebook")["box"]
    for mistake, box in zip(EXAMPLES[notebook].mistakes, boxes, strict=True):
        at = opened(PAGE, notebook=notebook)
        sends(at, "notebook", "opened", box["pieces"][-1]["door"])
        assert opened_pages.pop() == "pages/walkthrough.py"
        at.run()
        assert at.query_params["source"] == f"{notebook} {mistake.variant.id}"
        trace = mistake.variant.trace
        step = next(each for each in steps_of(trace) if each.id == at.query_params["step"])
        if trace[mistake.stage].is_given:
            assert step.id == "whole-pass"  # which draws what no step computes
        else:
            assert mistake.stage in step.stages


@pytest.mark.parametrize("notebook", EXAMPLES)
def test_an_example_opens_at_what_its_description_speaks_of_and_keeps_nothing_of_what_was_shown_before(
    monkeypatch, notebook
):
    monkeypatch.setattr("streamlit.switch_page", lambda page: None)  # the page is opened without the router
    example = EXAMPLES[notebook]
    before = {"sentence": "dog bites man", "d_model": "16", "seed": "7", "cell": "2.3.1.1.1", "picked": "q"}
    before |= {"step": "scores", "changes": "q[0,0,0]=1", "trail": "q[0,0,0]"}
    for variant in example.variants:
        at = opened(PAGE, notebook=notebook, **before)
        sends(at, "notebook", "opened", f"{notebook} {variant.id}")
        at.run()
        shown = resolve(scene_of(at)).scene
        first = Scene(source=f"{notebook} {variant.id}", step=example.step, selection=example.selection)
        assert shown == resolve(replace(first, notebook=notebook)).scene
        assert at.query_params.keys() <= {"source", "step", "cell", "notebook"}
        assert scene_of(at).sentence == "dog bites man"


def test_the_first_notebook_leads_to_the_translator(monkeypatch):
    opened_pages = []
    monkeypatch.setattr("streamlit.switch_page", opened_pages.append)
    notebook, example = next(iter(EXAMPLES.items()))
    at = opened(PAGE, notebook=notebook)
    doors = re.findall(r'"door": "(\w+)"', json.dumps(article(at, "notebook")))
    assert example.trained == "translator"
    assert "translator" in doors
    sends(at, "notebook", "opened", "translator")
    assert len(opened_pages) == 1
    at.run()
    assert at.query_params["model"] == "translator"
