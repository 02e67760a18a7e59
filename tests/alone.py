"""The viewer alone: a page that shows a document, without Streamlit. What it asks of a server is written down in it."""

import functools
import json

from documents import document, fitted_at
from needs import in_page
from page import SENTENCE

from attnviz.scene.scene import Scene
from attnviz.scene.with_pass import SceneWithPass
from attnviz.viewer.bundle import STYLES, bundle, inert, joined, module, modules_of, scoped
from attnviz.viewer.script import FIRST, PARTS

ALONE = "http://alone.test"
PAGE = in_page("alone.html")
UNSEEN = "@media screen { html:not(.painted) { opacity: 0.0001 } }"
"""Nothing is painted, which saves a fifth; all is laid out, pressed and, as it isn't 0, called visible as ever."""
SHEET = joined(STYLES) + UNSEEN
_ALL = [each for name, part in PARTS.items() if name != FIRST for each in part.exports]
MODULES = scoped(modules_of(*map(module, [*_ALL, "together"])))
"""Those of the app's pages as one text: sixty requests would take longer than the tests."""


def written(trace=None, **settings):
    """The document of a pass, or of the one that settings describe, as JSON; the usual sentence if they name none."""
    if trace is not None:
        return json.dumps(document(SceneWithPass(Scene(), trace, trace)))
    if settings.keys().isdisjoint({"model", "source"}):
        settings = {"sentence": SENTENCE} | settings
    return _written(tuple(settings.items()))


@functools.lru_cache(64)  # tests of a module show the same few
def _written(settings):
    return json.dumps(document(fitted_at(dict(settings))))


class Alone:
    """A tab that shows the viewer alone, and what went wrong in it."""

    def __init__(self, context):
        self.page, self.errors, self.is_mounted = context.new_page(), [], False
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.route(f"{ALONE}/**", self._answer)

    def open(self, address, document, afresh=False):
        """Show a document, given as JSON, at an address; all of it is drawn.

        The viewer that was there ends, and another is mounted in the same page, which takes a quarter of the time that
        the page takes. `afresh` loads the page, and has the next viewer load it again: for whoever leaves more in it
        than a viewer ends by itself, such as a listener or a route.
        """
        text = PAGE % (SHEET, MODULES, inert(document.encode()))
        if self.is_mounted and not afresh:
            self.text = text  # of a reload
            self._begin("leave()")
            self.page.evaluate("([search, document]) => beginAgain(search, document)", [address, document])
        else:
            self.show(text, ".viewer h2", address)
            self.page.evaluate("drawn()")
            self.is_mounted = not afresh
        return self.page

    def show(self, text, sign, address=""):
        """Show a page, given as HTML, at an address; some element is the sign that it is there."""
        self.text, self.is_mounted = text, False
        self._begin()
        self.page.goto(f"{ALONE}/{address}")
        self.page.wait_for_selector(sign, state="attached")
        return self.page

    def _begin(self, leave=""):
        self.page.bring_to_front()  # behind another tab there is a frame a second
        still(self.page)
        begin_at(self.page, {"width": 1366, "height": 768}, leave)
        self.page.mouse.move(0, 0)

    def _answer(self, route):
        route.fulfill(body=self.text, content_type="text/html")


def begin_at(page, size, leave):
    """Give a page another size, once what is there is gone: to draw that anew takes as long as what follows."""
    if page.viewport_size != size:
        if leave:
            page.evaluate(leave)
        page.set_viewport_size(size)


def still(page):
    """Have a page show each motion's end at once, as a reader may ask for."""
    page.emulate_media(reduced_motion="reduce")


def moving(page):
    """Have pictures move, until the next viewer."""
    page.emulate_media(reduced_motion="no-preference")


def exporting(name, export):
    """A module with its imports, in a scope of its own beside those that `MODULES` has."""
    return f"const {name}_js = (() => {{\n{bundle(module(name))}\nreturn {{ {export} }};\n}})();\n"


def tab_with(browser, name, modules=MODULES):
    """A tab that shows a page of `tests/data/page`, for a module's fixture."""
    tab = Alone(browser.new_context())
    tab.show(in_page(name) % (SHEET, modules), "[data-ready]")
    yield tab
    tab.page.context.close()


def show(page, document=None, **settings):
    """Show another document in place of the one that is shown, as the answer to an act does."""
    page.evaluate("(given) => viewer.show(given)", document or json.loads(written(**settings)))


def painted(page):
    """Have a page painted, for what looks at its colours."""
    page.evaluate("() => document.documentElement.classList.add('painted')")


def hasten(page):
    """From now on timers, such as that of Play, run a hundred times as fast, until the next viewer."""
    page.evaluate("() => { haste = 100; }")


def fill_the_window(page):
    """From now on a talk has all of the window, as in the app, until the next viewer."""
    page.add_style_tag(content=".viewer.presenting { height: 100vh !important } #other { display: none }")


def reveal(page):
    return page.locator(".viewer").get_attribute("data-reveal")


def number(page):
    """The number that the panel is about."""
    return page.locator(".panel h3").inner_text()


def sent(page):
    return page.evaluate("sent")
