"""Docstrings: what each of their examples shows is what comes of it."""

import doctest
from importlib import import_module

import pytest
from page import ROOT

SHOWING = [path.relative_to(ROOT) for path in ROOT.glob("attnviz/**/*.py") if ">>> " in path.read_text("utf-8")]
"""The modules with examples."""


@pytest.mark.parametrize("path", sorted(SHOWING), ids=str)
def test_what_a_docstring_shows_comes_of_it(path):
    module = import_module(".".join(path.with_suffix("").parts).removesuffix(".__init__"))
    found = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert not found.failed
