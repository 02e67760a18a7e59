"""Seams: every name of Streamlit's that is not public stands in one module, and is still there."""

import ast
import re
from pkgutil import resolve_name

import pytest
from page import ROOT
from streamlit.testing.v1 import AppTest

from attnviz.app import streamlit_private
from attnviz.viewer.bundle import module

_FILES = ("page.css", "first_moment.html", "page_frame.py", "loader.js")
LEANING = (*(ROOT / "attnviz/app" / name for name in _FILES), module("streamlit"))
"""What finds something in Streamlit's pages."""
NAME = re.compile(
    r"\[data-(?!drawn|empty|presenting)[^]]+\]|script\[[^]]+\]|\.(?:st[A-Z]\w+|streamlit-\w+|js-\w[\w-]+)"
)
"""A selector of what isn't ours; containers that we give a key have one of ours, by Streamlit's public API."""


@pytest.mark.parametrize("name", streamlit_private.REASONS)
def test_streamlit_still_has_a_name_that_we_use(name):
    resolve_name(name)


def test_streamlit_still_tells_a_run_what_led_to_it():
    def page():
        import streamlit as st

        from attnviz.app import streamlit_private

        st.text(repr((streamlit_private.is_navigation(), streamlit_private.address())))
        st.text(streamlit_private.page())

    run = AppTest.from_function(page, default_timeout=600)
    run.query_params["step"] = "softmax"
    said, page_hash = (each.value for each in run.run().text)
    assert (said, bool(page_hash)) == ("(False, 'step=softmax')", True)


def imported(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_no_other_module_imports_a_part_of_streamlit():
    parts = {
        (path.name, name)
        for path in [ROOT / "app.py", *ROOT.glob("pages/*.py"), *ROOT.glob("attnviz/**/*.py")]
        for name in imported(path)
        if name.partition(".")[0] == "streamlit" and name != "streamlit"
    }
    assert {file for file, _ in parts} == {"streamlit_private.py"}
    for _, name in parts:
        assert any(f"{known}.".startswith(f"{name}.") for known in streamlit_private.REASONS), f"why is {name} used?"


def test_what_is_found_in_streamlits_pages_is_listed():
    found = {name for path in LEANING for name in NAME.findall(path.read_text("utf-8"))}
    attribute = "[data-test-connection-state]"  # which is no selector there
    assert attribute.strip("[]") in LEANING[-1].read_text("utf-8")
    assert found | {attribute} == set(streamlit_private.SELECTORS)


def test_no_other_module_in_the_browser_looks_into_streamlits_page():
    here = module("streamlit")
    others = [path for path in here.parents[1].glob("*/*.*") if path != here]
    assert [path.name for path in others if "data-test" in path.read_text("utf-8")] == []
