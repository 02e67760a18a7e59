"""A person's tab in a real browser: what it shows, and where things are in it."""

import contextlib
import re
import time
from urllib.parse import parse_qsl, quote, urlencode

from needs import in_page
from patience import PATIENCE_MS, PATIENCE_SECONDS

from attnviz.core.numerals import short

try:
    from playwright.sync_api import expect

    expect.set_options(timeout=PATIENCE_MS)
except ImportError:  # the fixture `browser` says so, and whether it matters
    expect = None

IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"][data-test-connection-state="CONNECTED"]'
_TO_COME = ", ".join(
    [
        *('[data-stale="true"]', '[data-testid="stSkeleton"]', '[aria-busy="true"]'),
        *('[data-testid^="stBidiComponent"]:not(:has(div))', '[data-testid="stPlotlyChart"]:not(:has(.main-svg))'),
    ]
)
EMPTY = "audit?sentence="
"""A page of the app that shows nothing of the one before."""

AT_REST = f"{IDLE}:has(h1):not(:has({_TO_COME}))"
"""A page that is whole and waits for nothing, all at one moment: an answer may be followed by a run."""

PLAYED_AND_PAUSED = "(button) => { button.click(); button.click(); }"
"""What the button that plays is pressed with, to stop at once: from then on it is played by hand, at any speed."""

_FRAMES = """async (n) => {
  await document.fonts.ready;
  for (let i = 0; i < n; i += 1) await new Promise(requestAnimationFrame);
}"""
_ARRIVED = in_page("arrived.js").replace("IDLE", IDLE)
"""Come to an address of the app within the app, as Forward does; whether that could be done."""


def from_menu(page, name, menu="Share"):
    """An item of a menu, which is opened."""
    opener = page.get_by_role("button", name=menu, exact=True)
    if opener.get_attribute("aria-expanded") != "true":
        opener.click()
    return page.get_by_role("group", name=menu, exact=True).get_by_role("button", name=name)


class Tab:
    """One person's tab: what it shows, what its console said, where it sent requests, and what it told the server.

    `told` is what was said to Streamlit, `actions` (name and message) what the server was asked to answer.
    """

    def __init__(self, context):
        self.page = context.new_page()
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", self._watch)
        self.page.on("websocket", lambda socket: socket.on("framesent", lambda sent: self.told.append(sent)))

    def begin(self, address, width=1440, afresh=False):
        """Be as good as new, for a visit to an address; `afresh` has each page loaded."""
        self.address, self.is_afresh = address, afresh
        self.errors, self.elsewhere, self.told, self.actions = [], set(), [], []
        self.page.bring_to_front()  # behind another tab there is a frame a second
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.mouse.move(0, 0)
        return self

    def leave(self):
        """Go where nothing is shown, before another visit begins."""
        if self.is_afresh or not self._arrive(f"{self.address}/{EMPTY}"):
            self.page.goto("about:blank")

    def open(self, path="walkthrough"):
        """Open a page, whole; parameters alone are the walkthrough's.

        A tab that is in the app stays in it, as where Forward leads there: to load a page takes six times as long.
        """
        url = f"{self.address}/{'walkthrough' if path.startswith('?') else ''}{path}"
        if self.is_afresh or not self._arrive(url):
            self.page.goto(url)
        return self.settled()

    def _arrive(self, url):
        return self.page.evaluate(_ARRIVED, url)

    def settled(self):
        expect(self.page.locator(AT_REST)).to_be_attached()
        return self.page

    def _hear(self, message):
        probe = message.location.get("url", "").endswith(("/_stcore/health", "/_stcore/host-config"))
        if message.type == "error" and not probe:  # on a deep link Streamlit tries these two paths, and gets 404s
            self.errors.append(message.text)

    def _watch(self, request):
        if request.url == f"{self.address}/actions":
            self.actions += request.post_data_json["actions"]
        if not request.url.startswith((self.address, self.address.replace("http", "ws"), "data:", "blob:")):
            self.elsewhere.add(request.url)


def lesson(tab, search="", shown=".lesson-said"):
    """Open the page of lessons in a browser that has kept nothing of them; the moment is there, or the `shown` box."""
    tab.page.goto(f"{tab.address}/healthz")
    tab.page.evaluate("localStorage.removeItem('attnviz lessons')")
    page = tab.open(f"./{search}")
    expect(page.locator(f"{shown} h2").first).to_be_visible()
    return page


AT_ONCE = ("Lessons", "Walkthrough", "microgpt", "Your own numbers")
"""The pages that the navigation shows; the others are in its menu."""


def to_page(page, name):
    """Go to a page by the navigation. While it measures its room, Streamlit draws a link or a menu twice."""
    if name in AT_ONCE:
        page.get_by_test_id("stTopNavLink").filter(has_text=name).last.click()
    else:
        page.get_by_test_id("stTopNavSection").last.click()
        page.get_by_test_id("stTopNavDropdownLink").filter(has_text=name).click()


def at(**address):
    return "?" + urlencode(address, quote_via=quote)


def grid(page, title):
    """The table of a stage."""
    return page.get_by_role("grid", name=re.compile(f"^{re.escape(title)}(?!\\w)"))


def cell(page, title, row, column):
    return grid(page, title).last.locator(f'[data-row="{row}"][data-column="{column}"]')


def heading(page, text):
    return page.get_by_role("heading", name=text)


def numbers_are(page, title, expected):
    """Wait until the tables of a stage end in one with these very numbers."""
    cells = grid(page, title).last.locator("[data-row]")
    becomes(page, cells.all_inner_texts, ["−∞" if each == float("-inf") else short(each) for each in expected.flat])


def pick(page, label, option):
    """Pick an option of a list."""
    page.get_by_role("combobox", name=label, exact=True).select_option(label=option)


def picked_is(page, label, option):
    """Wait until that option of a list is shown as the one that is picked."""
    shown = page.get_by_role("combobox", name=label, exact=True).locator("option:checked")
    expect(shown).to_have_text(option)


def sentence(page):
    """The box of the words."""
    return page.get_by_role("textbox", name="Sentence", exact=True)


def typed(box, text, delay=0):
    """Type a text in place of what a box holds, so many ms from key to key."""
    box.press("ControlOrMeta+a")
    box.press_sequentially(text, delay=delay)


@contextlib.contextmanager
def actions_held(page):
    """Keep what is done in the page from the server until the end of the block."""
    kept = []
    page.route("**/actions", lambda route: kept.append(route))
    try:
        yield
    finally:  # or the tests that follow in this tab would wait for ever
        for route in kept:
            route.continue_()
        page.unroute("**/actions")  # which lets those go that came meanwhile


def beyond(page):
    """How far the page has to be scrolled, down and sideways."""
    main = "e => [e.scrollHeight - e.clientHeight, e.scrollWidth - e.clientWidth]"
    return page.get_by_test_id("stMain").evaluate(main)


def forget(page):
    """Have a browser know nothing of what was kept in it."""
    page.evaluate("localStorage.clear(); sessionStorage.clear()")


def move_mouse(page):
    """Move the mouse, which brings back what a talk hides."""
    page.mouse.move(300, 300)
    page.mouse.move(310, 310)


@contextlib.contextmanager
def forced_colours(page):
    """Have the system force its own few colours on a page."""
    page.emulate_media(forced_colors="active")
    try:
        yield
    finally:
        page.emulate_media(forced_colors="none")


def resized(page, width, height):
    """Give a page another size, and wait until it has it."""
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_function("size => String([innerWidth, innerHeight]) === String(size)", arg=[width, height])
    frames(page)


def frames(page, n=3):
    """Wait for so many frames, in which what observes sizes and themes follows them, with all letters there."""
    page.evaluate(_FRAMES, n)


def parameters(page):
    """The parameters of the address."""
    return dict(parse_qsl(page.evaluate("location.search.slice(1)")))  # page.url hears of it a moment later


def becomes(page, read, expected, message=""):
    """Wait until what is read is the very value that is expected."""
    deadline, pause_ms = time.monotonic() + PATIENCE_SECONDS, 20
    while (found := read()) != expected and time.monotonic() < deadline:
        page.wait_for_timeout(pause_ms)
        pause_ms = min(2 * pause_ms, 100)  # to read may take as long as what is waited for
    assert found == expected, message or f"{found!r} is not {expected!r}"


def step_is(page, number):
    """Wait until that step is shown, counted from 1."""
    expect(page.locator(".way .place")).to_have_text(re.compile(f"^step {number} of "))
