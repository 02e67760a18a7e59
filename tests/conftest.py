"""The app on a port of its own, and a real browser to visit it with.

Without Chromium a person's run skips the browser tests and says so; where CI is set they fail.
"""

import contextlib
import functools
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
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
IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"][data-test-connection-state="CONNECTED"]'
FRESH = '() => !document.querySelector(\'[data-stale="true"], [data-testid="stSkeleton"]\')'


@contextlib.contextmanager
def served():
    """The app on a free port of this machine; yields its address."""
    with contextlib.closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--server.port", str(port), "--server.address", "127.0.0.1", "--server.headless", "true"]
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", *options],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        address = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + 60
        while not _healthy(address):
            assert server.poll() is None, "the server ended at once"
            assert time.monotonic() < deadline, "the server did not answer within a minute"
            time.sleep(0.1)
        yield address
    finally:
        server.terminate()
        server.wait(10)


def _healthy(address):
    with contextlib.suppress(OSError), urllib.request.urlopen(f"{address}/_stcore/health", timeout=1) as answer:
        return answer.read() == b"ok"  # any other path answers 200 too, with a page
    return False


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


class Visit:
    """One person's tab: what it shows, what its console said, and where it sent requests."""

    def __init__(self, context, address):
        self.address = address
        self.page = context.new_page()
        self.errors, self.elsewhere = [], set()
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", self._watch)

    def open(self, path=""):
        self.page.goto(f"{self.address}/{path}")
        return self.settled()

    def settled(self):
        self.page.wait_for_selector(IDLE, state="attached", timeout=30_000)
        self.page.wait_for_function(FRESH, timeout=30_000)
        return self.page

    def _hear(self, message):
        probe = message.location.get("url", "").endswith(("/_stcore/health", "/_stcore/host-config"))
        if message.type == "error" and not probe:  # on a deep link Streamlit tries these two paths, and gets 404s
            self.errors.append(message.text)

    def _watch(self, request):
        if not request.url.startswith((self.address, self.address.replace("http", "ws"), "data:", "blob:")):
            self.elsewhere.add(request.url)


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
    visits = []

    def start(theme="light", width=1440, address=server):
        visits.append(Visit(context(theme, width), address))
        return visits[-1]

    yield start
    for each in visits:
        each.page.close()
        assert each.errors == []
        assert each.elsewhere == set()
