"""A first visit in a real browser: what is read before the scripts are there, and what is fetched."""

import contextlib

import pytest
from tab import expect

SENTENCE = "The animal did not cross the street"
FIRST = ".first-moment > "
TEXTS = {"p.welcome": ".welcome", "h2": "h2", "p.why": ".why", "p.why + p": ".why + p"}
"""The lines of the first moment before the scripts are there, and of the lesson."""
PAINTED = '() => performance.getEntriesByName("first-contentful-paint").length'
LAST = 'localStorage.setItem("attnviz lessons", JSON.stringify({ last: { lesson: "masks", moment: 2 } }))'


@pytest.fixture
def newcomer(browser, server):
    """Open the first page as somebody new, whose scripts and stylesheet are held until the second result is called."""
    with contextlib.ExitStack() as stack:

        def start(theme="light", width=390, height=844, before="", **options):
            context = browser.new_context(color_scheme=theme, viewport={"width": width, "height": height}, **options)
            stack.callback(context.close)
            page, held, errors = context.new_page(), [], []
            stack.callback(lambda: errors == [] or pytest.fail(str(errors)))
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.on("console", lambda message: message.type == "error" and errors.append(message.text))
            if before:
                page.goto(f"{server}/healthz")
                page.evaluate(before)
            may_come = []
            page.route("**/*.{js,css}", lambda route: route.continue_() if may_come else held.append(route))
            page.goto(server, wait_until="commit")

            def release():
                may_come.append(True)
                for each in held:
                    each.continue_()

            return page, release

        yield start


def look(page, texts):
    """The boxes of the texts, and their sizes and colours, once the font is there."""
    page.evaluate("document.fonts.ready.then(() => document.fonts.load('1em \"First moment\"'))")
    found = [
        page.locator(each).evaluate(
            """(text) => {
              const { x, y, width, height } = text.getBoundingClientRect(),
                { fontSize, fontWeight, color } = getComputedStyle(text);
              return [[x, y, width, height], [fontSize, fontWeight, color]];
            }"""
        )
        for each in texts
    ]
    boxes, styles = zip(*found, strict=True)
    return [number for box in boxes for number in box], styles


@pytest.mark.parametrize(
    ("theme", "width", "height"),
    [("light", 390, 844), ("dark", 1366, 844), ("light", 3840, 2160), ("light", 2560, 1440)],
)
def test_the_first_sentence_is_read_before_scripts_and_stands_once_in_its_place_when_the_lesson_is_drawn(
    newcomer, theme, width, height
):
    page, release = newcomer(theme, width, height)
    expect(page.get_by_text(SENTENCE)).to_be_visible()
    page.wait_for_function(PAINTED)
    assert page.locator("#root > *").count() == 0, "no script has run"
    before = look(page, [FIRST + each for each in TEXTS])
    release()
    expect(page.locator(".lesson-said h2")).to_be_visible()
    expect(page.locator(".first-moment")).to_have_count(0)
    expect(page.get_by_text(SENTENCE)).to_have_count(1)
    boxes, styles = look(page, [f".lesson-said > {each}" for each in TEXTS.values()])
    assert styles == before[1]
    assert boxes == pytest.approx(before[0], rel=0, abs=0.5)


def test_somebody_who_has_been_here_sees_no_sentence_of_another_lesson(newcomer):
    page, release = newcomer(before=LAST)
    page.wait_for_function("() => document.readyState !== 'loading' || document.querySelector('#root ~ link')")
    expect(page.locator(".first-moment")).to_have_count(0)
    release()
    expect(page.get_by_text("lessons, about")).to_be_visible()


def test_without_scripts_streamlits_own_sentence_is_seen(newcomer):
    page, _ = newcomer(java_script_enabled=False)
    expect(page.locator("noscript", has=page.get_by_role("link"))).to_be_visible()
    expect(page.get_by_text(SENTENCE)).to_be_hidden()


def test_that_it_is_late_is_read_by_nobody_before_it_is(newcomer):
    page, _ = newcomer()
    expect(page.get_by_text(SENTENCE)).to_be_visible()
    late = page.get_by_text("Still loading")
    for seconds, is_seen in ((0, False), (19, False), (21, True), (59, True), (61, False)):
        page.evaluate(
            "(ms) => document.getAnimations().forEach((each) => { each.pause(); each.currentTime = ms; })",
            seconds * 1000,
        )
        assert late.is_visible() is is_seen, seconds


@pytest.mark.parametrize("element", ["st-key-article", "st-key-pass", "attnviz-connection"])
def test_the_first_moment_gives_way_to_another_page_and_to_a_missing_connection(newcomer, element):
    page, _ = newcomer()
    expect(page.get_by_text(SENTENCE)).to_be_visible()
    page.evaluate("(name) => { document.querySelector('#root').innerHTML = `<p class=${name}>x</p>`; }", element)
    expect(page.get_by_text(SENTENCE)).to_be_hidden()


def test_the_first_page_and_its_menus_need_no_icon_font(newcomer):
    page, release = newcomer()
    fonts = []
    page.on("request", lambda request: request.resource_type == "font" and fonts.append(request.url))
    release()
    expect(page.locator(".lesson-said h2")).to_be_visible()
    page.get_by_test_id("stMainMenu").click()
    expect(page.get_by_test_id("stMainMenuList")).to_be_visible()
    expect(page.get_by_text("light_mode")).to_be_hidden()
    page.keyboard.press("Escape")
    page.get_by_test_id("stExpandSidebarButton").click()
    expect(page.get_by_test_id("stSidebarNavLink").first).to_be_visible()
    page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()
    expect(page.get_by_test_id("stSidebarNavLink").first).to_be_hidden()
    assert not any("Material" in each for each in fonts)
