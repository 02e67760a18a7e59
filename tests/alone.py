"""The viewer alone: a page that shows a document, without Streamlit. What it asks of a server is written down in it."""

import json

from documents import document
from page import SENTENCE

from attnviz.scene.address import parse
from attnviz.scene.fitting import SceneWithPass
from attnviz.scene.scene import Scene
from attnviz.viewer.bundle import bundle, module
from attnviz.viewer.shell import inert
from attnviz.viewer.styles import STYLES, joined

ALONE = "http://alone.test"
PAGE = """
<!doctype html><meta charset="utf-8"><style>%s</style>
<style>
    body { margin: 0 }
    #other { position: absolute; bottom: 0 }
    @media (min-width: 821px) { .viewer { height: 640px } }
</style>
<div class="viewer"></div><input id="other">
<script type="module">
    %s
    window.sent = [];
    window.given = %s;
    const host = { send: (...message) => sent.push(message), type: () => {}, address: history_js.addressOf(window) };
    window.drawn = () => new Promise(afterFrame_js.afterFrame);
    window.mountAudit = audit_js.mountAudit;
    window.viewer = viewer_js.mount(document.querySelector(".viewer"), host);
    window.show = (more) => viewer.show({ ...given, ...more });
    show({ where: address_js.readPlace(pass_js.readPass(given), location.search) });
</script>
"""
SHEET = joined(STYLES)
MODULES = bundle(module("component"))
"""As one text: sixty requests would take longer than the tests."""


def written(trace=None, **settings):
    """The document of a pass, or of the one that settings describe, as JSON; the usual sentence if they name none."""
    if settings.keys().isdisjoint({"model", "source"}):
        settings = {"sentence": SENTENCE} | settings
    return json.dumps(document(parse(settings) if trace is None else SceneWithPass(Scene(), trace, trace)))


class Alone:
    """A tab that shows the viewer alone, and what went wrong in it."""

    def __init__(self, context):
        self.page, self.errors = context.new_page(), []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.route(f"{ALONE}/**", self._answer)

    def open(self, address, document):
        """Show a document, given as JSON, at an address; all of it is drawn."""
        page = self.show(PAGE % (SHEET, MODULES, inert(document.encode())), ".viewer h2", address)
        page.evaluate("drawn()")
        return page

    def show(self, text, sign, address=""):
        """Show a page, given as HTML, at an address; some element is the sign that it is there."""
        self.text = text
        self.page.bring_to_front()  # behind another tab there is a frame a second
        self.page.set_viewport_size({"width": 1366, "height": 768})
        self.page.mouse.move(0, 0)
        self.page.goto(f"{ALONE}/{address}")
        self.page.wait_for_selector(sign, state="attached")
        return self.page

    def _answer(self, route):
        route.fulfill(body=self.text, content_type="text/html")


def moment(page):
    return page.locator(".viewer").get_attribute("data-moment")


def number(page):
    """The number that the panel is about."""
    return page.locator(".panel h3").inner_text()


def sent(page):
    return page.evaluate("sent")
