"""A lesson that is given to a class by a presenter remote alone, and by what the speaker has besides."""

import functools
import json
import re
import urllib.error
import urllib.request

import pytest
from axe import violations_but_contrast
from playwright.sync_api import expect
from tab import becomes, forget, from_menu, move_mouse

from attnviz.lessons.lesson import LESSONS

LESSON = "masks"  # it has questions of all kinds
SEEN = """page => {
    const board = page.querySelector(":is(.class-board, .placed-dots):not([hidden])");
    const marked = page.querySelectorAll(":is(.class-board, .placed-dots):not([hidden]) .right").length;
    const lines = page.querySelectorAll(".worked > li:not(.to-come)").length;
    const isAnswered = page.querySelector(".lesson-said").classList.contains("answered");
    const said = isAnswered ? "shown" : board ? "answers" : lines ? `line ${lines}` : "asked";
    const handle = page.querySelector(".slider:not(.unanswered)");
    const count = page.querySelector("footer .count").textContent;
    return [count, said, !isAnswered && (marked > 0 || handle !== null)];
}"""


def seen_on(page):
    """What the room sees: the count, what of the moment is shown, and whether anything gives the answer away before."""
    return page.locator(".lesson-page").evaluate(SEEN)


class Follower:
    """A phone of the class that asks for its state, without a browser."""

    def __init__(self, site, code):
        self.site, self.code, self.seat = site, code, ""
        self.seat = self.send(do="join")["seat"]

    def _asked(self, path, body=None):
        with urllib.request.urlopen(f"{self.site}/room{path}room={self.code}&seat={self.seat}", body) as answer:
            return json.loads(answer.read())

    def send(self, **message):
        return self._asked("?", json.dumps(message).encode())

    @property
    def now(self):
        """Where the class is, as the stream would say."""
        return self._asked("/now?")["now"]

    def question(self):
        return self._asked(f"/moment?shows={self.now['shows']}&")["question"]

    def answers(self, value):
        """Whether its answer was taken: one a second is."""
        now = self.now
        about = {"question": now["round"]["question"], "round": now["round"]["number"]}
        try:
            self.send(do="answer", seat=self.seat, value=value, **about)
        except urllib.error.HTTPError:
            return False
        return True


@pytest.fixture
def page(browser, server):
    """A presented lesson in a browser of its own, which makes no errors."""
    context = browser.new_context(viewport={"width": 1366, "height": 768})
    page, errors = context.new_page(), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{server}/?lesson={LESSON}&moment=1")
    yield page
    forget(page)
    context.close()
    assert errors == []


def begins(page, server):
    """The code of a class at the lesson that is presented, and two followers."""
    from_menu(page, "Open a class: phones follow you", "Teach").click()
    code = page.locator(".typed-code strong").inner_text()
    page.keyboard.press("Escape")
    page.keyboard.press("p")
    expect(page.locator(".lesson-page.presenting")).to_be_attached()
    return code, [Follower(server, code) for _ in range(2)]


def stages(moment, question):
    """What presses show of a moment, one after the other."""
    if moment.worked:
        return ["asked", *(f"line {n}" for n in range(1, len(moment.worked) + bool(moment.after))), "shown"]
    if question is None:
        return ["asked", "shown"]
    return ["asked", "shown"] if question["kind"] == "gaps" else ["asked", "answers", "shown"]


def an_answer(question):
    return question["right"] if question["kind"] == "fill" else len(question["candidates"]) - 1


def test_lesson_is_given_by_a_remote_alone(page, server):
    _, followers = begins(page, server)
    seen = []

    def is_at(*expected):
        becomes(page, lambda: seen_on(page), [*expected, False])
        seen.append(seen_on(page))

    moments = [(n, each) for n, each in enumerate(LESSONS[LESSON].moment, start=1) if not each.optional]
    for nth, (number, moment) in enumerate(moments, start=1):
        count = f"{nth} of {len(moments)}"
        is_at(count, "asked")
        at = f"lesson={LESSON}&moment={number}"
        becomes(page, lambda at=at: [followers[0].now[each] == at for each in ("at",)], [True])
        question = followers[0].question()
        if question and question["kind"] != "gaps":
            for each in followers:
                becomes(page, functools.partial(each.answers, an_answer(question)), True)
            expect(page.locator(".class-count")).to_contain_text("2 answered")
            assert seen_on(page)[1:] == ["asked", False], "nobody sees what the others say"
        for stage in stages(moment, question)[1:]:
            page.keyboard.press("PageDown")
            is_at(count, stage)
            if question:
                becomes(page, lambda: followers[1].now["isShown"], stage == "shown")
        if nth == 2:
            for is_blank in (True, False):
                page.keyboard.press("b")
                expect(page.locator(".lesson-page.blank")).to_have_count(int(is_blank))
        if nth < len(moments):
            page.keyboard.press("PageDown")
    there, seen = seen, []
    is_at(*there[-1][:2])
    for before in reversed(there[:-1]):
        page.keyboard.press("PageUp")
        is_at(*before[:2])
    assert seen == there[::-1]


def test_speaker_sees_counts_and_presses_elsewhere(page, server, browser):
    _, followers = begins(page, server)
    move_mouse(page)
    page.locator(".class-bar").get_by_role("button", name="Class", exact=True).click()
    expect(page.get_by_role("button", name="Another device of mine")).to_be_hidden()
    with page.context.expect_page() as opened:
        page.get_by_role("button", name="Speaker’s window").click()
    window = opened.value
    window.get_by_role("button", name="Another device of mine").click()
    offered = window.locator(".class-hand strong").inner_text()
    assert offered not in page.locator(".lesson-page").inner_text()
    for each, choice in zip(followers, (3, 4), strict=True):
        assert each.answers(choice)

    phone = browser.new_context(viewport={"width": 390, "height": 640}, has_touch=True)
    device = phone.new_page()
    device.goto(f"{server}/{offered}")
    for each in (window, device):
        expect(each.locator(".class-counts li").nth(4)).to_contain_text("1")
        expect(each.locator(".class-counts .right")).not_to_have_count(0)
    assert page.locator(":is(.class-board, .placed-dots, .choices, .class-counts) .right").count() == 0
    press = device.get_by_role("button", name="Show answers")
    press.click()
    becomes(page, lambda: seen_on(page)[1:], ["answers", False])
    expect(window.get_by_role("button", name="Reveal")).to_have_count(1)
    device.get_by_role("button", name="Ask again").click()
    becomes(page, lambda: seen_on(page)[1:], ["asked", False])
    becomes(page, lambda: followers[0].answers(3), True)
    for each in (window, device):
        expect(each.locator(".class-counts li").nth(3)).to_contain_text("1 → 1")
    device.get_by_role("button", name="Reveal").click()
    becomes(page, lambda: seen_on(page)[1], "shown")
    expect(window.locator(".lesson-said.answered")).to_be_visible()
    device.get_by_role("button", name="Back", exact=True).click()
    becomes(page, lambda: seen_on(page)[1:], ["asked", False])
    expect(window.locator(".lesson-said.answered")).to_have_count(0)
    window.keyboard.press("PageDown")
    becomes(page, lambda: seen_on(page)[1:], ["answers", False])
    for each in (window, device):
        assert [found for found in violations_but_contrast(each) if "stSkipToContent" not in found] == []
    device.locator(".class-foot .check").click()
    becomes(page, lambda: seen_on(page)[1], "shown")
    device.get_by_role("button", name="Next").click()
    expect(page.locator("footer .count")).to_have_text(re.compile("^2 of"))

    window.get_by_role("button", name="Forget devices").click()
    expect(device.locator(".class-form")).to_contain_text("forgotten this device")
    expect(window.locator(".class-hand")).to_have_text("")
    device.reload()
    expect(device.locator(".class-state")).to_have_text("● following")
    phone.close()
