"""Fixtures: a real browser to visit the app with, and how Hypothesis runs.

Without Chromium a person's run skips the browser tests and says so; where CI is set they fail.
"""

import functools
import os
from pathlib import Path

import hypothesis
import pytest
from streamlit.components.v2 import manifest_scanner
from tab import Tab, served

hypothesis.settings.register_profile("tests", deadline=None, derandomize="CI" in os.environ)
hypothesis.settings.load_profile("tests")

# AppTest looks for components among all installed packages anew in every test, which takes ten times as long as a page
manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_addoption(parser):
    parser.addoption("--remake-picture", action="store_true", help="take the README's picture again")


@pytest.fixture(scope="session")
def server():
    with served() as address:
        yield address


@pytest.fixture(scope="session")
def browser():
    try:
        from playwright.sync_api import sync_playwright

        missing = "" if CHROMIUM.exists() else f"no {CHROMIUM} (Debian: apt-get install chromium)"
    except ImportError:
        missing = "no playwright (pip install -r requirements-dev.txt)"
    if missing:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"browser tests not run: {missing}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def context(browser):
    """A browser window for each theme and width: tabs of one window share its cache, which halves the time."""

    @functools.cache
    def of(theme, width):
        return browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)

    return of


@pytest.fixture
def visit(context, server):
    """Open a tab: `visit(theme="light", width=1440)`. Its console must stay clean and its requests at home."""
    tabs = []

    def start(theme="light", width=1440, address=server):
        tabs.append(Tab(context(theme, width), address))
        return tabs[-1]

    yield start
    for tab in tabs:
        tab.page.close()
        assert (tab.errors, tab.elsewhere) == ([], set())


@pytest.fixture
def alone(browser, server):
    """Open a tab in a window of its own, for what would change the other tabs: `alone(reduced_motion="reduce")`."""
    tabs = []

    def start(**options):
        tabs.append(Tab(browser.new_context(viewport={"width": 1440, "height": 900}, **options), server))
        return tabs[-1]

    yield start
    for tab in tabs:
        tab.page.context.close()
        assert (tab.errors, tab.elsewhere) == ([], set())
