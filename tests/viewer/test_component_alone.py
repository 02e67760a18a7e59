"""What Streamlit calls, called without it: pages come and go and are drawn again, and what is done is answered."""

import json
import re
from urllib.parse import urlsplit

import pytest
from alone import SHEET
from documents import answer_bytes, fitted_at
from needs import in_page
from tab import becomes, expect, parameters, step_is

from attnviz.app.scripts import paths
from attnviz.contract.base import received
from attnviz.contract.request_reply import ActionsRequest
from attnviz.explain import export
from attnviz.scene.actions.session import Session, reply_to
from attnviz.viewer.script import SCRIPTS

SITE = "http://component.test/"


class Site:
    """A tab at a site that answers what is done in it, and runs that answer as Streamlit's would."""

    def __init__(self, context):
        self.page, self.errors = context.new_page(), []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.route(f"{SITE}**", lambda route: self._answer(route))

    def open(self, **address):
        self.session = Session(fitted_at(address).scene)
        self.page.goto(SITE)
        self.page.wait_for_function("window.ready")
        return self.page

    def run(self, box, view="pass"):
        """Run the page, which view into a box the settings, and the pass where that is its view."""
        self.bring(box, answer_bytes(self.session, view, "a tab"))

    def bring(self, box, answer):
        """Bring the answer of a run into a box; returns whether that is busy then."""
        return self.page.evaluate("([box, answer]) => run(box, answer)", [box, answer.decode()])

    def _answer(self, route):
        path = urlsplit(route.request.url).path
        if route.request.method == "POST":
            route.fulfill(body=reply_to(self.session, received(route.request.post_data_buffer, ActionsRequest)))
        elif path.endswith(".js"):
            script = SCRIPTS[path.removeprefix("/viewer/").rpartition("-")[0]]
            route.fulfill(body=script.text, content_type="text/javascript")
        else:
            route.fulfill(body=in_page("component.html") % (SHEET, json.dumps(paths("pass"))), content_type="text/html")


@pytest.fixture(scope="module")
def tab(browser):
    site = Site(browser.new_context())
    yield site
    site.page.context.close()


@pytest.fixture
def site(tab):
    """The site with nobody in it, always in the same tab; it must make no errors."""
    tab.page.goto("about:blank")
    tab.errors.clear()
    yield tab
    assert tab.errors == []


def another_seed(site):
    """Ask for another seed, and wait until it is in the address."""
    before = parameters(site.page).get("seed")
    site.page.get_by_role("button", name="Another seed").click()
    becomes(site.page, lambda: parameters(site.page).get("seed") in (None, before), False)


def test_late_end_keeps_the_page(site):
    page = site.open(sentence="the cat sat")
    site.run("one")
    site.run("one")
    page.evaluate("ends[0]()")
    page.keyboard.press("PageDown")
    becomes(page, lambda: parameters(page).get("step"), "tokens")
    another_seed(site)
    becomes(page, page.get_by_role("textbox", name="Seed").input_value, parameters(page)["seed"])
    assert page.evaluate("asked") == []


def test_early_end_keeps_history_and_focus(site):
    page = site.open(sentence="the cat sat")
    site.run("one")
    for _ in range(2):
        page.keyboard.press("PageDown")
    page.go_back()
    becomes(page, lambda: parameters(page).get("step"), "tokens")
    page.get_by_role("textbox", name="Seed").focus()
    page.evaluate("ends[0]()")
    page.go_forward()
    site.run("one")
    becomes(page, lambda: parameters(page).get("step"), "qkv")
    step_is(page, 3)
    expect(page.get_by_role("textbox", name="Seed")).to_be_focused()


def test_page_is_busy_until_drawn(site):
    page = site.open(sentence="the cat sat")
    first = answer_bytes(site.session, tab="a tab")
    busy = page.locator("[aria-busy=true]")
    expect(busy).to_have_count(1)
    site.bring("one", first)
    expect(busy).to_have_count(0)
    another_seed(site)
    expect(busy).to_have_count(0)
    assert site.bring("one", first) == "true"
    expect(busy).to_have_count(0)
    becomes(page, page.get_by_role("textbox", name="Seed").input_value, parameters(page)["seed"])


DIALOG = """(role) => {
  const dialog = document.body.appendChild(document.createElement("section"));
  Object.assign(dialog, { role, tabIndex: -1 }).focus();
  dialog.remove();
}"""


def test_focus_returns_after_a_dialog(site):
    page = site.open(sentence="the cat sat")
    site.run("one")
    box = page.get_by_role("textbox", name="Sentence")
    box.press("ArrowLeft")
    place = box.evaluate("box => box.selectionStart")
    page.evaluate(DIALOG, "dialog")
    expect(box).not_to_be_focused()
    site.run("one")
    expect(box).to_be_focused()
    assert box.evaluate("box => box.selectionStart") == place
    page.evaluate(DIALOG, "note")
    site.run("one")
    expect(box).not_to_be_focused()


def test_returning_page_resumes(site):
    page = site.open(sentence="the cat sat")
    site.run("one")
    for _ in range(2):
        page.keyboard.press("PageDown")
    page.evaluate("leave('one', 0)")
    site.run("other")
    becomes(page, lambda: parameters(page).get("step"), "qkv")
    page.keyboard.press("PageDown")
    becomes(page, lambda: parameters(page).get("step"), "scores")
    another_seed(site)


def test_outlet_that_is_there_before_its_page_shows_the_audit(site):
    page = site.open(sentence="the cat sat")
    page.evaluate("outlet('apart')")
    site.run("one", "audit")
    shown = page.locator("#apart .verdict")
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    before = shown.inner_text()
    page.get_by_role("textbox", name="Sentence").fill("a dog")
    becomes(page, lambda: shown.inner_text() == before, False)
    assert page.evaluate("asked") == [], "no run is asked for"


def test_each_page_has_its_own_outlet(site):
    page = site.open(sentence="the cat sat")
    for box, outlet, view, selector in (("one", "apart", "audit", "table"), ("other", "elsewhere", "script", "pre")):
        site.run(box, view)
        page.evaluate(f"outlet('{outlet}')")
        expect(page.locator(f"#{outlet} {selector}")).to_be_visible()
        if box == "one":
            page.evaluate("leave('one', 0)")
    page.get_by_role("textbox", name="Sentence").fill("a dog")
    expect(page.locator("#elsewhere").get_by_text("(2, 2, 2): head, query, key").first).to_be_visible()


def test_outlet_is_marked_empty_without_a_pass(site):
    page = site.open(sentence="the cat sat")
    site.run("one", "audit")
    page.evaluate("outlet('apart')")
    host = page.locator("#apart")
    for text, is_empty in (("", True), ("a dog", False), ("", True)):
        page.get_by_role("textbox", name="Sentence").fill(text)
        becomes(page, lambda: host.get_attribute("data-empty") is not None, is_empty)
        assert page.locator(".audit").is_visible() != is_empty


def test_only_page_actions_request_a_run(site):
    page = site.open(sentence="w " * 30, changes="scores[0,1,2]=3")
    site.run("one", "audit")
    page.evaluate("outlet('apart')")
    page.get_by_role("button", name="Recompute").click()
    page.get_by_role("button", name="Change it").click()
    assert page.evaluate("asked") == [["run", "recompute"], ["run", "other numbers"]]
    page.get_by_role("button", name="Reset").click()
    expect(page.get_by_text("Set by hand:")).to_be_hidden()
    becomes(page, lambda: parameters(page).get("changes"), None)
    assert len(page.evaluate("asked")) == 2, "which is an act"


def test_script_is_copied_verbatim(site):
    page = site.open(sentence="the cat sat")
    site.run("one", "script")
    expect(page.locator("pre")).to_have_count(0)  # nothing stands above the text and goes
    page.evaluate("outlet('apart')")
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("status").filter(has_text="Copied.")).to_be_visible()
    page.locator("#paper").focus()
    page.keyboard.press("ControlOrMeta+V")
    expect(page.locator("#paper")).to_have_value(export.script(site.session.resolved().trace))


def test_missing_script_is_reported_and_what_was_done_goes_on_with_it(site):
    """Of the talk, which a key adds to. How long it keeps trying is tested with a clock of its own, by node."""
    page = site.open(sentence="the cat sat")
    page.evaluate("localStorage.clear()")
    site.run("one")
    page.route(f"{SITE}talk", lambda route: route.fulfill(json={"questions": []}))  # those that it suggests
    talk = re.compile("/viewer/talk-")
    page.route(talk, lambda route: route.abort())
    page.keyboard.press("m")
    notice = page.locator(".late-script")
    missing = "Part of this page hasn’t loaded. Nothing is lost; we keep trying."
    expect(notice.get_by_role("status")).to_have_text(missing)
    page.unroute(talk)
    notice.get_by_role("button", name="Try again").click()
    moments = page.get_by_role("dialog", name="Your talk").locator(".talk-moments > li")
    expect(moments).to_have_count(1)
    expect(moments).to_contain_text("the cat sat")
    expect(notice).to_have_count(0)
    page.evaluate("localStorage.clear()")
