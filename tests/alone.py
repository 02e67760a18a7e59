"""The viewer alone: a page that shows a document, without Streamlit. What it asks of a server is written down in it."""

import json

from page import ROOT, SENTENCE

from attnviz.scene.address import parse
from attnviz.scene.document import document
from attnviz.scene.fitting import Fitted
from attnviz.scene.scene import Scene

BROWSER = ROOT / "attnviz" / "ui" / "viewer" / "browser"
PAGE = """
<!doctype html><meta charset="utf-8"><style>%s</style>
<style>body { margin: 0 } .viewer { height: 640px } #other { position: absolute; bottom: 0 }</style>
<div class="viewer"></div><input id="other">
<script type="module">
    import { readPlace } from "./address.js";
    import { addressOf } from "./history.js";
    import { readPass } from "./pass.js";
    import { mount } from "./viewer.js";
    window.sent = [];
    window.given = %s;
    const host = { send: (...message) => sent.push(message), address: addressOf(window) };
    window.viewer = mount(document.querySelector(".viewer"), host);
    window.show = (more) => viewer.show({ ...given, ...more });
    show({ where: readPlace(readPass(given), location.search) });
</script>
"""


def written(trace=None, **settings):
    """The document of a pass, or of the one that settings describe, as JSON; the usual sentence if they name none."""
    if settings.keys().isdisjoint({"model", "source"}):
        settings = {"sentence": SENTENCE} | settings
    return json.dumps(document(parse(settings) if trace is None else Fitted(Scene(), trace, trace)))


def answer(route, text):
    """Answer what a browser asks for: the page with a document, or a module."""
    name = route.request.url.split("?")[0].rsplit("/", 1)[1]
    if name.endswith(".js"):
        route.fulfill(path=BROWSER / name, content_type="text/javascript")
        return
    styles = "\n".join(path.read_text("utf-8") for path in sorted(BROWSER.glob("*.css")))
    route.fulfill(body=PAGE % (styles, text.replace("</", r"<\/")), content_type="text/html")


def moment(page):
    return page.locator(".viewer").get_attribute("data-moment")


def number(page):
    """The number that the panel is about."""
    return page.locator(".panel h3").inner_text()


def sent(page):
    return page.evaluate("sent")
