"""The page of lessons in the app: the first screen, ways out and back, a talk, other pages' scenes, everyone."""

import re
from urllib.parse import parse_qsl

import pytest
from boxes import colours
from contrast import faint
from tab import at, becomes, expect, heading, lesson, parameters, sentence, to_page

from attnviz.lessons.lesson import LESSONS

LAST = len(LESSONS["who-is-it"].moment)

CONTROLS = """() => {
  const roots = [document, ...[...document.querySelectorAll("*")].map(({ shadowRoot }) => shadowRoot).filter(Boolean)];
  const control = "a[href], button, input, select, summary, [tabindex='0']";
  return roots
    .flatMap((root) => [...root.querySelectorAll(control)])
    .filter((each) => each.checkVisibility({ visibilityProperty: true }))
    .map((each) => each.innerText || each.ariaLabel || "");
}"""


def test_first_visit_is_a_question(visit):
    tab = visit(width=1366)
    page = lesson(tab)
    words = page.locator(".choices button").all_inner_texts()
    controls = page.evaluate(CONTROLS)
    assert len(words) == 12
    assert len(controls) - len(words) <= 13, controls
    becomes(page, lambda: parameters(page), {})
    tab.told.clear()
    page.get_by_role("button", name="animal", exact=True).click()
    expect(page.locator(".lesson-said .verdict.right")).to_be_visible()
    page.keyboard.press("PageDown")
    expect(page.locator(".count")).to_have_text(f"2 of {LAST}")
    kept = "JSON.parse(localStorage.getItem('attnviz lessons'))?.answered"
    becomes(page, lambda: page.evaluate(kept), {f"who-is-it.{LESSONS['who-is-it'].moment[0].id}": True})
    assert (tab.told, tab.actions) == ([], []), "nothing is told to the server"


def test_first_screen_draws_the_guess_as_an_arc(visit):
    page = lesson(visit(width=1366))
    word = lambda name: page.get_by_role("button", name=name, exact=True)  # noqa: E731
    ends = """each => {
        const numbers = each.getAttribute("d").match(/[-\\d.]+/g).map(Number),
          { left } = each.closest("svg").getBoundingClientRect();
        return [numbers[0] + left, numbers.at(-2) + left].map(Math.floor);
    }"""
    middles = lambda *names: [int(b["x"] + b["width"] / 2) for b in (word(n).bounding_box() for n in names)]  # noqa: E731
    word("street").hover()
    becomes(page, lambda: page.locator(".guess path").evaluate(ends), middles("tired", "street"))
    page.mouse.move(1, 1)
    word("tired").focus()
    page.keyboard.press("ArrowLeft")
    becomes(page, lambda: page.locator(".guess path").evaluate(ends), middles("tired", "too"))
    page.keyboard.press("Enter")
    expect(page.locator(".lesson-said .verdict.wrong")).to_be_visible()


def test_return_visit_opens_all_lessons(visit):
    page = lesson(visit(width=1366))
    page.get_by_role("button", name="animal", exact=True).click()
    page.keyboard.press("PageDown")
    expect(page.locator(".count")).to_contain_text("2 of ")
    page.goto(page.url.split("?")[0])
    expect(page.locator(".around-moments h2")).to_have_text("All lessons")
    becomes(page, lambda: parameters(page), {})
    marks = page.locator(".marks").first.get_by_role("listitem")
    expect(marks.first).to_contain_text(": right")
    expect(marks.last).to_contain_text(": not seen")
    page.get_by_role("link", name="Go on where you were").click()
    expect(page.locator(".count")).to_contain_text("2 of ")
    page = lesson(visit(width=1366), at(lesson="end"), ".around-moments")
    ways = page.get_by_role("navigation", name="Ways on")
    ways.get_by_role("link", name="microgpt").click()
    expect(heading(page, "microgpt")).to_be_attached()
    page.go_back()
    ways.get_by_role("link", name="Your own code").click()
    expect(heading(page, "Your own numbers")).to_be_attached()
    page.go_back()
    ways.get_by_role("link", name="Your own sentence").click()
    expect(heading(page, "Walkthrough")).to_be_attached()


def test_typed_sentence_opens_in_one_word(visit):
    page = lesson(visit(width=1366))
    page.get_by_label("Type your own sentence").fill("owls <b>see</b> mice & me")
    page.keyboard.press("Enter")
    expect(sentence(page)).to_have_value("owls <b>see</b> mice & me")
    becomes(page, lambda: parameters(page).get("view"), "sheet")
    for setting in ("d_model", "Heads", "Mask", "Seed"):
        expect(page.get_by_text(setting, exact=True).first).to_be_in_viewport()


def test_walkthrough_and_back_from_a_moment(visit):
    tab = visit()
    page = lesson(tab, at(lesson="who-is-it", moment=6))
    page.keyboard.press("PageDown")
    page.get_by_role("link", name="Explore this in the walkthrough").click()
    expect(heading(page, "Walkthrough")).to_be_attached()
    expect(sentence(page)).to_have_value("the animal did not cross the street because it was too wide")
    becomes(page, lambda: {"lesson", "moment"} & parameters(page).keys(), set())
    becomes(page, lambda: "beside" in parameters(page), True)
    page.go_back()
    expect(page.locator(".lesson-said h2")).to_have_text(LESSONS["who-is-it"].moment[5].title)
    expect(page.locator(".lesson-said .verdict")).not_to_be_empty()
    becomes(page, lambda: parameters(page), {"lesson": "who-is-it", "moment": "6"})


def test_the_walkthrough_opens_at_the_picture_of_the_moment(visit):
    """The view, the step and the number that was opened there."""
    for name, moment in (("order", 3), ("order", 5)):
        page = lesson(visit(), at(lesson=name, moment=moment))
        page.keyboard.press("PageDown")
        picture = page.locator(".lesson-picture")
        picture.locator("[role=gridcell]").nth(1).click()
        opened = page.locator(".number-line strong").inner_text()
        page.get_by_role("link", name="Explore this in the walkthrough").click()
        expect(heading(page, "Walkthrough")).to_be_attached()
        expect(page.locator(".panel h3")).to_have_text(opened)
        there = dict(parse_qsl(LESSONS[name].moment[moment - 1].at))
        becomes(page, lambda: parameters(page).get("step"), there["step"])  # noqa: B023
        assert parameters(page).get("view", "matrices") == there["view"]


def test_pages_keep_their_scene(visit):
    tab = visit()
    place_in_a_lesson = {"lesson": "who-is-it", "moment": 5}
    page = tab.open(at(sentence="owls see mice", step="scores", cell="1.2.3.1.1", **place_in_a_lesson))
    expect(sentence(page)).to_have_value("owls see mice")
    becomes(page, lambda: place_in_a_lesson.keys() & parameters(page).keys(), set())
    assert page.get_by_text(re.compile("parameters? of attnviz")).all_inner_texts() == []
    to_page(page, "Lessons")
    expect(page.locator(".lesson-said h2")).to_be_visible()
    becomes(page, lambda: parameters(page), {})
    page.keyboard.press("PageDown")
    page.keyboard.press("PageDown")
    becomes(page, lambda: parameters(page), {"lesson": "who-is-it", "moment": "2"})
    to_page(page, "Walkthrough")
    expect(sentence(page)).to_have_value("owls see mice")
    becomes(page, lambda: parameters(page).get("step"), "scores")
    tab.settled()
    assert not place_in_a_lesson.keys() & parameters(page).keys()
    to_page(page, "microgpt")
    becomes(page, lambda: parameters(page).get("model"), "microgpt")
    page.go_back()
    expect(sentence(page)).to_have_value("owls see mice")
    page = tab.open("microgpt" + at(model="microgpt", sentence="emm"))
    expect(sentence(page)).to_have_value("emm")


def test_lesson_is_presented(visit):
    tab = visit()
    page = lesson(tab, at(lesson="masks", moment=1, present=1))
    expect(page.get_by_test_id("stHeader")).not_to_be_visible()
    page.keyboard.press("PageDown")
    page.keyboard.press("PageDown")
    becomes(page, lambda: parameters(page), {"lesson": "masks", "moment": "2", "present": "1"})
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stHeader")).to_be_visible()
    becomes(page, lambda: parameters(page), {"lesson": "masks", "moment": "2"})


DIALOGS = """() => {
  window.dialogs = 0;
  new MutationObserver(() => {
    if (document.querySelector('[data-testid="stDialog"]')) window.dialogs = 1;
  }).observe(document.body, { childList: true });
}"""
"""Notes that Streamlit has opened a dialog, however soon it is closed."""


@pytest.fixture
def unserved(window, server):
    """A page of the app whose websocket the test opens and shuts: `(page, shut)`; shut, nothing is fetched either."""
    page, opened, is_shut = window("light").new_page(), [], []

    def connect(socket):
        if is_shut:
            socket.close()
        else:
            socket.connect_to_server()
            opened.append(socket)

    def shut():
        is_shut.append(True)
        page.route(f"{server}/**", lambda route: route.abort())
        for socket in opened:
            socket.close()

    def reopen():
        is_shut.clear()
        page.unroute_all()

    page.route_web_socket("**/_stcore/stream", connect)
    yield page, is_shut, shut, reopen
    page.close()


def test_blocked_websocket_is_named(unserved, server):
    page, is_shut, _, reopen = unserved
    is_shut.append(True)
    page.clock.install()
    page.goto(server)
    expect(page.get_by_test_id("stApp")).to_be_attached()
    said = page.locator(".attnviz-connection")
    becomes(page, lambda: page.clock.run_for(1000) or "WebSocket" in said.inner_text(), True)
    expect(said).to_be_visible()
    reopen()
    becomes(page, lambda: page.clock.run_for(1000) or said.inner_text(), "")


def test_lesson_continues_without_server(unserved, server):
    page, _, shut, reopen = unserved
    with page.expect_response(lambda response: "moment=3" in response.url) as next_moment:
        page.goto(f"{server}/?lesson=who-is-it&moment=2")
    next_moment.value.finished()
    becomes(page, lambda: page.evaluate("document.documentElement.dataset.connection"), "there")
    page.evaluate(DIALOGS)
    shut()
    said, dialog = page.locator(".attnviz-connection"), page.get_by_test_id("stDialog")
    expect(said).to_contain_text("The server doesn’t answer.")
    becomes(page, lambda: page.evaluate("dialogs"), 1)
    expect(dialog).to_have_count(0)
    page.locator(".choices").get_by_role("button", name="street").click()
    expect(page.locator(".lesson-said .verdict")).to_contain_text("Right: street")
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".lesson-said h2")).to_have_text(LESSONS["who-is-it"].moment[2].title)
    page.get_by_role("button", name="Check").click()
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".lesson-said")).to_contain_text("This moment didn’t come: the server doesn’t answer.")
    reopen()
    expect(said).to_be_empty()
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".lesson-said h2")).to_have_text(LESSONS["who-is-it"].moment[3].title)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_lesson_has_contrast(taught, theme):
    page = taught(at(lesson="who-is-it", moment=3), theme)
    page.emulate_media(reduced_motion="reduce")  # no colour is on its way to another
    colouring = page.add_style_tag(content=f"{colours()} html {{ background: var(--st-background-color) }}")
    found = {"a question": faint(page)}
    page.get_by_role("button", name="Check").click()
    expect(page.locator(".lesson-said .verdict")).not_to_be_empty()
    found["its answer"] = faint(page)
    page.get_by_role("button", name="All lessons").click()
    found["the list"] = faint(page)
    page.evaluate("again('?lesson=end')")
    expect(page.locator(".explained")).to_be_visible()
    found["the end page"] = faint(page)
    colouring.evaluate("(style) => style.remove()")
    page.emulate_media(reduced_motion="null")
    assert found == {each: [[], [], []] for each in found}
