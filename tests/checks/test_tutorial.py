"""docs/own-code.md is right: its code runs, and prints what the page says, with torch and transformers.

`PYTHONPATH=. python tests/checks/test_tutorial.py` runs it with both and writes what comes out into the page.
"""

import contextlib
import io
import re
from pathlib import Path

import numpy as np
import pytest

from attnviz import compare

PAGE = Path(__file__).parents[2] / "docs" / "own-code.md"
_BLOCK = re.compile(r"```python\n(?P<code>.*?)```\n(?:\n```text\n(?P<printed>.*?)```\n)?", re.DOTALL)


def blocks():
    """Each block of code, and what the page says that it prints."""
    return [(match["code"], match["printed"] or "") for match in _BLOCK.finditer(PAGE.read_text("utf-8"))]


def run():
    """What each block prints."""
    import torch

    torch.manual_seed(0)
    names = {"__name__": "tutorial"}
    for code, _ in blocks():
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(code, "docs/own-code.md", "exec"), names)
        yield printed.getvalue()


def without_numbers(text):
    """The text with every number the same: random parameters differ between versions of torch."""
    return re.sub(r"\d+(?:\.\d+)?", "0", text)


@pytest.mark.slow
def test_the_tutorial_prints_what_it_shows_where_torch_is():
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    shown = [printed for _, printed in blocks()]
    assert [*map(without_numbers, run())] == [*map(without_numbers, shown)]


def test_each_block_is_python_and_what_prints_shows_its_output():
    for code, printed in blocks():
        compile(code, "docs/own-code.md", "exec")
        assert ("print(" in code) == bool(printed)


def test_what_it_says_of_unchecked_parameters_is_what_a_verdict_says():
    x, w = np.eye(4)[:3], {f"w_{each}": np.random.default_rng(0).normal(size=(1, 4, 4)) for each in "qkv"}
    scores = {"scores": x @ w["w_q"] @ (x @ w["w_k"]).swapaxes(1, 2)}
    (said,) = (each for each in compare(None, {"x": x, **w, "w_o": np.eye(4), **scores}).notes if "Not checked" in each)
    assert said in PAGE.read_text("utf-8")


if __name__ == "__main__":
    printed = run()

    def renewed(match):
        text = next(printed)
        return f"```python\n{match['code']}```\n" + (f"\n```text\n{text}```\n" if text else "")

    PAGE.write_text(_BLOCK.sub(renewed, PAGE.read_text("utf-8")), "utf-8")
