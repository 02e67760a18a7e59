"""Benchmarks: no test runs them, but each can be imported, and the README lists it."""

import importlib
import re

import pytest
import visitor
from needs import needed
from page import ROOT

from attnviz.viewer.bundle import module

LISTED = re.findall(r"^\| `(\w+)` \|", (ROOT / "benchmarks" / "README.md").read_text("utf-8"), re.M)
RUN = {path.stem for path in ROOT.glob("benchmarks/*.py") if "__main__" in path.read_text("utf-8")}


@pytest.mark.parametrize("name", LISTED)
def test_a_benchmark_can_be_imported(name):
    if name in ("latency", "weight"):
        needed("playwright")
    assert callable(importlib.import_module(f"benchmarks.{name}").main)


def test_a_visitor_has_as_many_templates_as_a_browser():
    kept = re.search(r"MAX_TEMPLATES = (\d+)", module("templates").read_text("utf-8"))
    assert int(kept[1]) == visitor.MAX_TEMPLATES


def test_the_readme_lists_every_benchmark():
    assert set(LISTED) == RUN
