"""docs/own-code.md is right: its code runs, and prints what the page says, with torch and transformers."""

import re

import numpy as np
import pytest
import tutorial

from attnviz import compare


def without_numbers(text):
    """The text with every number the same: random parameters differ between versions of torch."""
    return re.sub(r"\d+(?:\.\d+)?", "0", text)


@pytest.mark.slow
def test_the_tutorial_prints_what_it_shows_where_torch_is():
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    shown = [printed for _, printed in tutorial.blocks()]
    assert [*map(without_numbers, tutorial.run())] == [*map(without_numbers, shown)]


def test_each_block_is_python_and_what_prints_shows_its_output():
    for code, printed in tutorial.blocks():
        compile(code, "docs/own-code.md", "exec")
        assert ("print(" in code) == bool(printed)


def test_what_it_says_of_unchecked_parameters_is_what_a_verdict_says():
    x, w = np.eye(4)[:3], {f"w_{each}": np.random.default_rng(0).normal(size=(1, 4, 4)) for each in "qkv"}
    scores = {"scores": x @ w["w_q"] @ (x @ w["w_k"]).swapaxes(1, 2)}
    (said,) = (each for each in compare(None, {"x": x, **w, "w_o": np.eye(4), **scores}).notes if "Not checked" in each)
    assert said in tutorial.PAGE.read_text("utf-8")
