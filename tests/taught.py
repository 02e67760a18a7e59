"""The lessons alone: their page without Streamlit, with the moments that the server would send."""

import functools
import json
from urllib.parse import parse_qsl, urlsplit

from alone import ALONE, MODULES, SHEET, begin_at, still
from needs import in_page
from tab import expect

from attnviz.lessons.lesson import LESSONS, contents, moment
from attnviz.viewer.bundle import inert

PLACES = [(lesson, number) for lesson, own in LESSONS.items() for number in range(1, len(own.moment) + 1)]
"""Every moment: its lesson and its number."""

_PAGE = in_page("lessons.html")


@functools.cache
def sent(lesson, number):
    """A moment, as the server sends it."""
    return moment(lesson, number)


class Taught:
    """A tab that shows the lessons alone, and what went wrong in it."""

    def __init__(self, context):
        self.page, self.errors = context.new_page(), []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.route(f"{ALONE}/**", self._answer)
        self.page.goto(f"{ALONE}/")

    def open(self, search="", size=(1366, 768), kept=None):
        """Show the lessons at an address, to somebody whose browser has kept nothing, or what it has kept."""
        self.page.bring_to_front()
        still(self.page)
        begin_at(self.page, {"width": size[0], "height": size[1]}, "leave()")
        self.page.mouse.move(0, 0)
        self.page.evaluate(
            "kept => { localStorage.clear(); if (kept) localStorage.setItem('attnviz lessons', kept) }", kept
        )
        lessons = json.loads(contents.__wrapped__())["lessons"]  # a test may have added one
        self.page.evaluate("([search, lessons]) => begin(search, lessons)", [search, lessons])
        return self.settled()

    def settled(self):
        expect(self.page.locator(":is(.lesson-said, .around-moments) :is(h2, p):visible").first).to_be_visible()
        return self.page

    def _answer(self, route):
        address = urlsplit(route.request.url)
        asked = dict(parse_qsl(address.query))
        if address.path == "/moment":
            route.fulfill(body=sent(asked["lesson"], int(asked["moment"])), content_type="application/json")
        else:
            route.fulfill(body=_PAGE % (SHEET, MODULES, inert(contents())), content_type="text/html")
