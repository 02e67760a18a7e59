"""Firefox and WebKit, each driven by the protocol that it speaks itself: `open(url)`, `press(key)`, `read(expression)`.

`click(element)` presses the mouse on what a JavaScript expression gives. What is done is done in `window`, one of
`windows()`; `close()` closes it.

A page that hangs answers nothing: each command has `PATIENCE_SECONDS`, and all that was started is killed at the end.
"""

import contextlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

from needs import absent
from patience import PATIENCE_SECONDS
from playwright.sync_api import Error
from server import free_port
from websockets.exceptions import InvalidHandshake
from websockets.sync.client import connect

NEEDED = {"firefox": {"firefox-esr": "firefox-esr"}, "webkit": {"WebKitWebDriver": "webkit2gtk-driver", "Xvfb": "xvfb"}}
"""The commands of each engine, and the packages of Debian that have them."""
SIZE = {"width": 1366, "height": 828}
KEYS = {
    **{"ArrowRight": "\ue014", "PageDown": "\ue00f", "PageUp": "\ue00e"},
    **{"Escape": "\ue00c", "Enter": "\ue007", "Home": "\ue011"},
}
"""What WebDriver calls the keys that write no letter."""


class Chromium:
    """A tab of Chromium, as the others are driven."""

    def __init__(self, page, errors):
        self.window, self.errors = page, errors

    def open(self, url):
        self.window.goto(url)

    def press(self, key):
        self.window.keyboard.press(key)

    def click(self, element):
        self.window.mouse.click(*middle(self, element))

    def windows(self):
        return self.window.context.pages

    def close(self):
        self.window.close()

    def read(self, expression):
        try:
            return self.window.evaluate(expression)
        except Error as error:
            if "navigation" not in error.message:  # one page is giving way to another
                raise
            return None


class Firefox:
    """Firefox by WebDriver BiDi. `errors` is what its console called one."""

    def __init__(self, socket):
        self.socket, self.ids, self.errors = socket, itertools.count(), []
        self._do("session.new", capabilities={})
        self._do("session.subscribe", events=["log.entryAdded"])
        [self.window] = self.windows()
        self._do("browsingContext.setViewport", context=self.window, viewport=SIZE)

    def open(self, url):
        self._do("browsingContext.navigate", context=self.window, url=url, wait="none")

    def press(self, key):
        self._do("input.performActions", context=self.window, actions=_pressed(key))

    def click(self, element):
        self._do("input.performActions", context=self.window, actions=_clicked(middle(self, element)))

    def windows(self):
        return [each["context"] for each in self._do("browsingContext.getTree")["contexts"]]

    def close(self):
        self._do("browsingContext.close", context=self.window)

    def read(self, expression):
        asked = {"expression": f"JSON.stringify({expression})", "target": {"context": self.window}}
        answer = self._do("script.evaluate", awaitPromise=False, **asked) or {}
        return json.loads(answer.get("result", {}).get("value", "null"))

    def _do(self, method, **params):
        number = next(self.ids)
        self.socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while (heard := json.loads(self.socket.recv(timeout=PATIENCE_SECONDS))).get("id") != number:
            entry = heard["params"]
            if entry.get("level") == "error":
                self.errors.append(entry["text"])
        return heard.get("result")  # none while one page is giving way to another


class WebKit:
    """WebKit by WebDriver, which doesn't tell what its console says."""

    def __init__(self, address):
        self.path, self.errors = f"{address}/session", []
        browser = {"binary": str(next(Path("/usr/lib").glob("*/webkit2gtk-4*/MiniBrowser"))), "args": ["--automation"]}
        asked = {"browserName": "MiniBrowser", "pageLoadStrategy": "none", "webkitgtk:browserOptions": browser}
        self.path += f"/{self._do('', capabilities={'alwaysMatch': asked})['sessionId']}"
        self._do("/window/rect", **SIZE)
        [self._window] = self.windows()

    def open(self, url):
        self._do("/url", url=url)

    def press(self, key):
        self._do("/actions", actions=_pressed(key))

    def click(self, element):
        self._do("/actions", actions=_clicked(middle(self, element)))

    @property
    def window(self):
        return self._window

    @window.setter
    def window(self, handle):
        self._do("/window", handle=handle)
        self._window = handle

    def windows(self):
        return self._answer(urllib.request.Request(f"{self.path}/window/handles"))

    def close(self):
        self._answer(urllib.request.Request(f"{self.path}/window", method="DELETE"))

    def read(self, expression):
        try:
            return self._do("/execute/sync", script=f"return ({expression})", args=[])
        except urllib.error.HTTPError as error:
            if error.code != 404:  # which says that there is no window: one page is giving way to another
                raise
            return None

    def _do(self, command, **params):
        return self._answer(urllib.request.Request(self.path + command, json.dumps(params).encode()))

    def _answer(self, request):
        with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
            return json.load(answer)["value"]


def missing(engine):
    """What has to be installed for an engine; nothing if all is there."""
    packages = [package for command, package in NEEDED[engine].items() if not shutil.which(command)]
    return f"no {engine} (Debian: apt-get install {' '.join(packages)})" if packages else ""


def started(engine, folder):
    """An engine with an empty folder of its own, until the end of the block; without it a test is skipped or fails."""
    if what := missing(engine):
        absent(f"browser tests not run: {what}")
    return _webkit() if engine == "webkit" else _firefox(folder)


def until(engine, holds, what):
    """What is seen, as soon as that holds of it. An engine that answers nothing raises by itself."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not ((seen := engine.read(what)) and holds(seen)):
        assert time.monotonic() < deadline, f"still {seen}"
        time.sleep(0.05)
    return seen


@contextlib.contextmanager
def _firefox(profile):
    port = free_port()
    url = f"ws://127.0.0.1:{port}/session"
    command = ["firefox-esr", "--headless", "--profile", profile, "--remote-debugging-port", str(port)]
    with _process(command), _soon(lambda: connect(url, max_size=None, ping_interval=None)) as socket:
        yield Firefox(socket)


@contextlib.contextmanager
def _webkit():
    port = free_port()
    with _display() as display, _process(["WebKitWebDriver", f"--port={port}"], DISPLAY=display):
        yield _soon(lambda: WebKit(f"http://127.0.0.1:{port}"))


@contextlib.contextmanager
def _display():
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", "1600x1200x24", "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    with open(read, encoding="utf-8") as told:
        number = told.readline().strip()
    try:
        yield f":{number}"
    finally:
        server.terminate()  # which takes its lock away
        server.wait()


@contextlib.contextmanager
def _process(command, **environment):
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, env=os.environ | environment, start_new_session=True, **quiet)
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # with all that it started: a page that hangs ends by nothing else
        process.wait()


def _soon(reach):
    """What can be reached once somebody listens."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return reach()
        except (OSError, InvalidHandshake):  # it may listen before it knows what is asked
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def middle(engine, element):
    """Where the middle of an element is, as it is seen."""
    return engine.read(f"""((element) => {{
      element.scrollIntoView({{ block: "nearest" }});
      const {{ left, top, width, height }} = element.getBoundingClientRect();
      return [Math.round(left + width / 2), Math.round(top + height / 2)];
    }})({element})""")


def _clicked(place):
    """A click of the mouse at a place of the window, as both protocols take it."""
    moves = [{"type": "pointerMove", "x": place[0], "y": place[1], "duration": 0}]
    moves += [{"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp")]
    return [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": moves}]


def _pressed(key):
    """A key as both protocols take it."""
    moves = [{"type": kind, "value": KEYS.get(key, key)} for kind in ("keyDown", "keyUp")]
    return [{"type": "key", "id": "keyboard", "actions": moves}]
