"""Fixtures: a real browser to visit the app with, node to run the viewer's modules, and how Hypothesis runs.

Without Chromium or node a person's run skips their tests and says so; where CI is set they fail.
"""

import contextlib
import functools
import gc
import importlib
import json
import os
import shutil
import subprocess
import time
from collections import defaultdict
from pathlib import Path

# NumPy's matrix products take one thread each: others wait by spinning, which takes up to four times the processor time
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import hypothesis
import pytest
from alone import ALONE, Alone, written
from boxes import page_of_settings
from needs import absent
from patience import PATIENCE_MS, PATIENCE_SECONDS
from server import served
from streamlit.components.v2 import manifest_scanner
from tab import Tab, resized
from taught import Taught

from attnviz.viewer.bundle import module

hypothesis.settings.register_profile("tests", max_examples=50, deadline=None, derandomize="CI" in os.environ)
hypothesis.settings.load_profile("tests")

# AppTest looks for components among all installed packages anew in every test, which takes ten times as long as a page
manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--in-process-gpu",  # one process less to draw through: the suite takes 4 % less
    "--js-flags=--no-opt --no-maglev --always-sparkplug",  # pages that live for a second: they load in 14 % less
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # the pages of suggestions that each window of Debian's Chromium loads beside its own: a window takes a third of the
    # processor without. The last list of features counts, so that this one has those of Playwright's that matter here
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,AvoidUnnecessaryBeforeUnloadCheckSync,"
    "DestroyProfileOnBrowserClose,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,LensOverlay,MediaRouter,PaintHolding,"
    "ThirdPartyStoragePartitioning,AvoidCorsURLLoaderRestartOnRedirect,OptimizationHints,NetworkTimeServiceQuerying,"
    "AimEnabled,PreconnectToSearch",
]

QUICK_FOLDERS = {"core", "checks", "explain"}


def pytest_addoption(parser):
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")
    parser.addoption("--chromium", default=found, help="the browser's path; empty for Playwright's own")


def pytest_xdist_auto_num_workers():
    """Three workers for two cores, as each waits for its browser at times."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    return 3 * (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1) // 2


def pytest_sessionstart(session):
    """Where all tests are collected, one of two workers begins at the end: a module that one compiles the other reads.

    To compile them takes pytest 10 s of processor, and in a fresh clone both do it at once.
    """
    gc.disable()  # nothing of what is collected is garbage, and to look for it takes a tenth of the time
    if os.environ.get("PYTEST_XDIST_WORKER") == "gw1" and session.config.args == session.config.getini("testpaths"):
        for path in sorted(Path(__file__).parent.glob("*/test_*.py"), reverse=True):
            with contextlib.suppress(Exception, pytest.skip.Exception):  # of which the collection tells
                importlib.import_module(path.stem)


def pytest_collection_finish():
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)  # rarer than by itself: looking for garbage is 7 % of the tests without a browser
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark what drives a browser as slow, and what a contributor runs often as quick."""
    for item in items:
        if "browser" in item.fixturenames:
            item.add_marker("browser")
            item.add_marker("slow")
        is_quick = item.path.parent.name in QUICK_FOLDERS or item.path.name == "test_javascript.py"
        if is_quick and not item.get_closest_marker("slow"):
            item.add_marker("quick")


@pytest.fixture(scope="session")
def server(tmp_path_factory, worker_id):
    """The address of the app, one for all workers: the first starts it, and ends it once the others have left."""
    folder = tmp_path_factory.getbasetemp()
    folder = folder if worker_id == "master" else folder.parent
    lock, file, users = folder / "server lock", folder / "server address", folder / "server users"
    with contextlib.ExitStack() as started:
        with locked(lock):
            users.mkdir(exist_ok=True)
            (users / worker_id).touch()
            if is_first := not file.exists():
                address, _ = started.enter_context(served())
                file.write_text(address, "utf-8")
            address = file.read_text("utf-8")
        yield address
        (users / worker_id).unlink()
        deadline = time.monotonic() + 20 * PATIENCE_SECONDS  # a worker that has crashed leaves its file
        while is_first:
            with locked(lock):
                if not any(users.iterdir()) or time.monotonic() > deadline:
                    file.unlink()
                    started.close()
                    break
            time.sleep(0.1)


@contextlib.contextmanager
def locked(folder):
    """Hold a lock that all workers share, on any system: a folder that only one of them can make."""
    deadline = time.monotonic() + 20 * PATIENCE_SECONDS
    while True:
        with contextlib.suppress(FileExistsError, PermissionError):  # the latter in Windows, while it is being removed
            folder.mkdir()
            break
        assert time.monotonic() < deadline, f"{folder} stays locked"
        time.sleep(0.05)
    try:
        yield
    finally:
        folder.rmdir()


@pytest.fixture(scope="session")
def browser(request):
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        absent("browser tests not run: no playwright (pip install -r requirements-dev.txt)")
    with sync_playwright() as playwright:
        chromium = request.config.getoption("--chromium") or playwright.chromium.executable_path
        if not Path(chromium).exists():
            how = "Debian: apt-get install chromium; elsewhere: playwright install chromium, or --chromium PATH"
            absent(f"browser tests not run: no {chromium} ({how})")
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS, timeout=PATIENCE_MS)
        browser.on("context", lambda context: context.set_default_timeout(PATIENCE_MS))
        yield browser
        browser.close()


def windows(browser, origin):
    """A window for each theme, made when it is asked for; to none is a person new, whichever test comes first."""
    opened = [{"origin": origin, "localStorage": [{"name": "attnviz was opened", "value": "yes"}]}]
    return functools.cache(
        lambda theme: browser.new_context(color_scheme=theme, storage_state={"cookies": [], "origins": opened})
    )


@pytest.fixture(scope="session")
def window(browser, server):
    """A browser window for each theme: its tabs share a cache, and each is used again by the tests that follow."""
    return windows(browser, server)


@pytest.fixture(scope="session")
def left():
    """The tabs of each theme that tests have left: to go elsewhere in one costs a third of opening another."""
    return defaultdict(list)


@pytest.fixture
def visit(window, left, server):
    """Open a tab: `visit(theme="light", width=1440)`. Its console must stay clean and its requests at home.

    `afresh` is for whoever needs pages that are loaded, or leaves more in them than a page of the app takes away.
    """
    tabs = []

    def start(theme="light", width=1440, address=server, afresh=False):
        tab = left[theme].pop() if left[theme] else Tab(window(theme))
        tabs.append((theme, tab))
        return tab.begin(address, width, afresh)

    yield start
    for theme, tab in tabs:
        tab.leave()
        left[theme].append(tab)
        assert (tab.errors, tab.elsewhere) == ([], set())


@pytest.fixture(scope="session")
def node():
    """Run node with some arguments; returns what it printed."""
    if not shutil.which("node"):
        absent("JavaScript's tests not run: no node (Debian: apt-get install nodejs)")

    def run(*arguments, text="", may_fail=False, **environment):
        done = subprocess.run(
            ["node", *arguments], input=text, capture_output=True, encoding="utf-8", env=os.environ | environment
        )
        assert may_fail or done.returncode == 0, done.stdout[-6_000:] + done.stderr[-2_000:]
        return done.stdout

    return run


@pytest.fixture(scope="session")
def called(node):
    """Call a function of a module with each of some arguments."""

    def call(name, function, each_arguments):
        source = f"""
            import {{ readFileSync }} from "node:fs";
            import {{ {function} }} from "{module(name).as_uri()}";
            const calls = JSON.parse(readFileSync(0, "utf-8"));
            console.log(JSON.stringify(calls.map((each) => {function}(...each))));
        """
        return json.loads(node("--input-type=module", "--eval", source, text=json.dumps(each_arguments)))

    return call


@pytest.fixture(scope="session")
def bare(browser):
    """A tab for each theme that shows the viewer alone."""
    window = windows(browser, ALONE)
    return functools.cache(lambda theme: Alone(window(theme)))


@pytest.fixture
def opened(bare):
    """Open the viewer alone at an address, always in the same page (`afresh`: Alone.open); it must make no errors."""
    tabs = {}

    def start(address="", theme="light", afresh=False, **shown):
        tabs[theme] = bare(theme)
        return tabs[theme].open(address, written(**shown), afresh)

    yield start
    for tab in tabs.values():  # what it shows is replaced by the next: to leave it costs as much as to open that
        assert tab.errors == []


@pytest.fixture
def offline(browser, tmp_path):
    """Open a page that is given as HTML from a file, without a network; nothing may fail or be refused."""
    context = browser.new_context(offline=True, viewport={"width": 1366, "height": 768}, accept_downloads=True)
    tab, heard = context.new_page(), []
    tab.on("console", lambda message: heard.append(message.text))
    tab.on("pageerror", lambda error: heard.append(str(error)))
    tab.on("dialog", lambda dialog: heard.append(dialog.message))
    tab.on("request", lambda request: None if request.url.startswith(("file:", "blob:")) else heard.append(request.url))

    def start(text, hash=""):
        file = tmp_path / "page.html"
        file.write_text(text, "utf-8")
        tab.goto(f"{file.as_uri()}{hash}")
        tab.wait_for_selector(".viewer h2")
        return tab

    yield start
    context.close()
    assert heard == []


@pytest.fixture(scope="session")
def lessons_tab(browser):
    """The lessons alone, in one page for all tests."""
    return functools.cache(lambda theme: Taught(browser.new_context(color_scheme=theme)))


@pytest.fixture
def taught(lessons_tab):
    """Show the lessons alone at an address: `taught("?lesson=masks")`; they must make no errors."""
    tabs = {}

    def start(search="", theme="light", **how):
        tabs[theme] = lessons_tab(theme)
        return tabs[theme].open(search, **how)

    yield start
    for tab in tabs.values():
        assert tab.errors == []


@pytest.fixture(scope="module")
def settings_tab(browser):
    """The settings alone, in a window of their own: it is dark at times, and printed."""
    tab = Alone(browser.new_context())
    tab.show(page_of_settings(), "#given")
    yield tab
    tab.page.context.close()


@pytest.fixture
def drawn(settings_tab):
    """Draw, by the settings alone, what an answer holds, as if it was the first; it must make no errors."""

    def start(**shown):
        resized(settings_tab.page, 1366, 768)
        settings_tab.page.evaluate("(shown) => start(shown)", shown)
        return settings_tab.page

    yield start
    assert settings_tab.errors == []
