"""The page “Your own numbers”: its code for saving arrays, its examples, and its table in a notebook."""

import io
import runpy
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from implementations import Implementation

from attnviz import compare
from attnviz.app.sections import SNIPPET
from attnviz.checks.read.files import read_file
from attnviz.checks.uploads import EXAMPLES, UserParameters, example_file

RECORDED = Path(__file__).parents[1] / "data" / "pytorch_numbers.npz"


def is_pytorchs_own_pass(content):
    file = read_file("numbers.npz", content)
    found = compare(None, file.arrays)
    assert str(found).startswith("Attention and output agree to float32 rounding.")
    assert UserParameters.of(found.trace, found.block, file.texts).words == ("the", "cat", "sat", "down", "quietly")


def test_the_recorded_file_of_the_pages_code_agrees():
    assert np.load(RECORDED)["script"] == SNIPPET, "record it again: tests/data/README.md says how"
    is_pytorchs_own_pass(RECORDED.read_bytes())


def test_the_pages_code_runs_with_torch(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    Path("save.py").write_text(SNIPPET, "utf-8")
    runpy.run_path("save.py")
    is_pytorchs_own_pass(Path("numbers.npz").read_bytes())


def test_examples_have_their_mistakes_and_the_table_ticks_what_agrees():
    ticked = set()
    for name in EXAMPLES:
        arrays = np.load(io.BytesIO(example_file(name, None)))
        own = {each: arrays[each] for each in arrays.files if each != "tokens"}
        found = compare(None, own, true_is="visible")
        assert [cause.id for cause in found.causes] == ([] if name == "correct" else [name])
        for array, _, laid_out, verdict in (row.cells for row in found.rows):
            assert laid_out == ("(out, in)" if array.endswith(".weight") else "as attnviz's")
            if array in ("attention", "output"):
                agrees = np.allclose(np.squeeze(own[array]), np.squeeze(found.trace[array].value))
                assert verdict.startswith("✓ agrees to" if agrees else "✗ differs by up to"), (name, array)
                ticked.add(agrees)
            else:
                assert verdict == "where the pass begins"
    assert ticked == {True, False}


class Texts(HTMLParser):
    """The elements of a text in HTML, and what stands in its cells."""

    def __init__(self):
        super().__init__()
        self.elements, self.cells = set(), []

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        self.cells += [""] * (tag in ("td", "th", "strong"))

    def handle_data(self, data):
        if self.cells:
            self.cells[-1] += data


def test_a_notebook_shows_a_sentence_and_a_table_with_escaped_names():
    own = Implementation(np.random.default_rng(1), wrong="transposed")
    arrays = own.written("BERT", "output")
    bad = '<script>"&'
    shown = Texts()
    shown.feed(compare(None, {f"{bad}/{name}": each for name, each in arrays.items()} | {bad: np.eye(2)})._repr_html_())
    assert shown.elements == {"p", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    headline = "The first stage that differs: output. W_V was used transposed."
    assert any(each.startswith(headline) for each in shown.cells)
    assert f"{bad}/attention.self.query.weight" in shown.cells
    assert any("differs by up to" in each for each in shown.cells)
