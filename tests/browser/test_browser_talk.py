"""A talk of one's own in the app: collected, put in order, given with a speaker's window, opened elsewhere."""

import base64
import contextlib
import json
import random
import re

import numpy as np
import pytest
from axe import violations_but_contrast
from implementations import Implementation
from page import ROOT
from tab import AT_REST, Tab, at, becomes, expect, forget, frames, from_menu, heading, move_mouse

from attnviz.lessons.lesson import LESSONS

SCENES = [
    at(model="who-is-it", view="sheet"),
    at(model="microgpt", sentence="soph", view="sheet"),
    at(sentence="owls see mice", view="matrices", step="softmax"),
]
KEPT = "JSON.parse(localStorage.getItem('attnviz talk')).talk"


def drawer(page):
    return page.get_by_role("dialog", name="Your talk")


def said(page):
    return drawer(page).locator(".moment .said")


def collected(page, text):
    """Keep what is shown, say a text with it, and leave the drawer."""
    page.keyboard.press("m")
    drawer(page).get_by_label("Text (on the screen").fill(text)


def given_up(page):
    page.keyboard.press("Escape")
    expect(drawer(page)).to_be_hidden()


def count(page, text):
    expect(page.locator(".lesson-page .count")).to_have_text(text)


@pytest.fixture(scope="module")
def window_elsewhere(browser):
    return Tab(browser.new_context())


@pytest.fixture
def elsewhere(window_elsewhere, server):
    """A tab of somebody else, who is new; it must make no errors."""
    tab = window_elsewhere.begin(server, afresh=True)
    tab.page.goto(f"{server}/healthz")
    forget(tab.page)
    yield tab
    tab.leave()
    assert tab.errors == []


@contextlib.contextmanager
def offline(tab, file):
    tab.page.context.set_offline(True)
    try:
        tab.page.goto(file.as_uri())
        yield tab.page
    finally:
        tab.page.context.set_offline(False)


PACKED = """
    const bytes = new Blob([JSON.stringify(talk)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
    const text = String.fromCharCode(...new Uint8Array(await new Response(bytes).arrayBuffer()));
    return "#talk=" + btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
"""

TALK = json.loads((ROOT / "tests/data/talk.json").read_text("utf-8"))
"""A talk of five moments over three sources, as the drawer stores it."""


def emptied(tab):
    tab.page.goto(f"{tab.address}/healthz")
    forget(tab.page)
    return tab.page


@pytest.fixture
def talk(visit):
    """A tab that holds the talk, at its first scene in the walkthrough; nothing stays stored."""
    tab = visit(width=1366, afresh=True)
    store = "talk => localStorage.setItem('attnviz talk', JSON.stringify({ talk, pictures: {} }))"
    emptied(tab).evaluate(store, TALK)
    tab.open(SCENES[0])
    yield tab
    forget(tab.page)


@pytest.fixture
def given(talk):
    talk.page.keyboard.press("m")
    drawer(talk.page).get_by_role("button", name="Delete").click()  # the one that the key adds
    expect(said(talk.page)).to_have_count(5)
    drawer(talk.page).get_by_role("button", name="Give the talk").click()
    count(talk.page, "1 of 5")
    return talk.page


@pytest.fixture
def speaker(given):
    with given.context.expect_page() as opened:
        move_mouse(given)
        from_menu(given, "Speaker’s window", "Teach").click()
    yield opened.value
    opened.value.close()


def test_key_collects_a_moment(visit):
    tab = visit(width=1366, afresh=True)
    emptied(tab)
    for scene, moment in zip(SCENES, TALK["moment"], strict=False):
        page = tab.open(scene)
        collected(page, moment["text"])
        if "ask" in moment:
            drawer(page).get_by_role("combobox").select_option("0")  # the first that the pass answers, once it came
            expect(drawer(page).locator(".answer")).to_contain_text("The answer:")
        drawer(page).get_by_label("Notes for yourself").fill(moment["notes"])
        drawer(page).get_by_label("Minutes").fill("2")
        given_up(page)
    for moment in TALK["moment"][3:]:
        page.keyboard.press("ArrowRight")
        collected(page, moment["text"])
        given_up(page)

    def without_prompt(moment):
        return moment | {"ask": {**moment["ask"], "prompt": ""}} if "ask" in moment else moment

    assert [*map(without_prompt, page.evaluate(KEPT)["moment"])] == [*map(without_prompt, TALK["moment"])]
    forget(page)


def test_talk_is_given_with_a_speaker_window_and_goes_on_without_a_server(given, speaker):
    expect(speaker.locator(".speaker .own-notes")).to_have_text("Note 1")
    expect(given.locator(".menu .notes p")).to_have_text("")  # which the room would see
    expect(speaker.locator(".speaker .the-answer")).to_have_text("Answer: animal")
    expect(speaker.locator(".speaker .plan")).to_have_text("This moment ends at 2:00 of 6:00 planned")
    expect(speaker.locator(".speaker .next .small-picture path").first).to_be_attached()
    found = violations_but_contrast(speaker)
    assert [each for each in found if "stSkipToContent" not in each] == []  # which is Streamlit's
    speaker.keyboard.press("PageDown")
    expect(given.locator(".lesson-said .verdict")).to_contain_text("animal")
    given.keyboard.press("PageDown")
    count(speaker, "2 of 5")
    expect(speaker.locator(".speaker .own-notes")).to_have_text("Note 2")

    given.keyboard.press("Home")
    count(speaker, "1 of 5")
    given.keyboard.press("5")
    given.keyboard.press("Enter")
    for each in (given, speaker):
        count(each, "5 of 5")
    given.keyboard.press("PageDown")
    expect(given.locator(".talk-end")).to_have_text(f"{TALK['title']}The end")
    expect(given.locator(".talk-end")).to_be_visible()
    expect(speaker.locator(".speaker .room")).to_contain_text("the talk is over")
    expect(speaker.locator(".talk-end")).to_be_hidden()
    speaker.keyboard.press("PageUp")
    expect(given.locator(".talk-end")).to_be_hidden()
    given.keyboard.press("Home")
    count(given, "1 of 5")
    given.keyboard.press("b")
    expect(given.locator(".lesson-page.blank")).to_be_attached()
    expect(speaker.locator(".speaker .room")).to_contain_text("a black screen")
    speaker.keyboard.press("b")
    expect(given.locator(".lesson-page.blank")).not_to_be_attached()
    expect(speaker.locator(".speaker .room")).to_have_text("")

    speaker.close()
    page = given
    page.mouse.move(320, 320)
    page.get_by_role("link", name="Explore this in the walkthrough").click()
    expect(page.get_by_role("button", name="Back to the talk")).to_be_visible()
    expect(heading(page, "Walkthrough")).to_be_attached()
    page.keyboard.press("PageDown")
    count(page, "2 of 5")
    expect(page.locator(".lesson-said .prompt")).to_be_visible()
    page.wait_for_load_state("networkidle")  # all that is left of the talk is asked for ahead
    page.route("**/talk", lambda route: route.abort())  # as if there were no server any more
    for place in (2, 3, 4, 5):
        count(page, f"{place} of 5")
        expect(page.locator(".lesson-picture .viewer")).to_be_visible()
        for _ in range(1 + (place == 2)):  # it has a question
            page.keyboard.press("PageDown")
    expect(page.locator(".talk-end")).to_be_visible()
    page.unroute("**/talk")
    page.keyboard.press("Escape")  # it was begun in the walkthrough
    expect(heading(page, "Walkthrough")).to_be_attached()


ON_TOP = """each => {
    const { x, y } = each.getBoundingClientRect();
    return each.getRootNode().elementFromPoint(x + 5, y + 5) === each;
}"""


def test_talk_is_given_to_a_class_by_the_keyboard(talk):
    page = talk.page
    from_menu(page, "Your talk (5)").press("Enter")
    drawer(page).get_by_role("button", name="Give it to a class").press("Enter")
    expect(page.locator(".class-code .typed-code strong")).to_have_text(re.compile("^[A-Z]{6}$"))
    page.keyboard.press("Escape")
    count(page, "1 of 5")
    teach = page.get_by_role("button", name="Teach", exact=True)
    page.locator("footer .ways-on button").last.focus()
    for _ in range(3):
        page.keyboard.press("Tab")
    expect(teach).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Speaker’s window")).to_be_visible()
    page.keyboard.press("Escape")
    for key in ("5", "Enter", "PageDown"):
        page.keyboard.press(key)
    expect(page.locator(".talk-end")).to_be_visible()
    assert page.locator(".class-door strong").evaluate(ON_TOP), "who has come late finds the class"


def test_moments_are_put_in_order_and_opened_by_link_file_and_page(talk, elsewhere, tmp_path):
    page = talk.page
    from_menu(page, "Your talk (5)").click()
    expect(said(page)).to_have_count(5)
    given_up(page)
    from_menu(page, "Add this moment to my talk").click()
    expect(said(page)).to_have_count(6)
    drawer(page).get_by_role("button", name="Delete").click()
    expect(said(page)).to_have_count(5)
    drawer(page).get_by_role("button", name="Undo").click()
    expect(said(page)).to_have_count(6)
    drawer(page).locator("button.moment").nth(4).focus()
    page.keyboard.press("Alt+ArrowUp")
    expect(said(page).nth(3)).to_have_text("Moment 5.")
    drawer(page).locator("li").nth(3).drag_to(drawer(page).locator("li").nth(4))
    expect(said(page).nth(3)).to_have_text("Moment 4.")
    expect(drawer(page).locator(".small-picture path").first).to_be_attached()
    assert violations_but_contrast(page) == []

    files = {}
    for ending in ("File", "Page"):
        with page.expect_download() as saved:
            drawer(page).get_by_role("button", name=f"↓ {ending}").click()
        files[ending] = saved.value.path()
    kept = page.evaluate(KEPT)
    link = page.evaluate(f"async talk => {{ {PACKED} }}", kept)
    other = elsewhere.page
    other.goto(f"{talk.address}/?lesson=talk{link}")
    becomes(other, lambda: other.evaluate("localStorage.getItem('attnviz talk') !== null"), True)
    assert other.evaluate(KEPT)["moment"] == kept["moment"]
    count(other, "1 of 6")
    assert "#" not in other.url
    from_menu(other, "Your talk (", "Teach").click()
    drawer(other).get_by_role("button", name="Throw away").click()
    drawer(other).locator("> input[type=file]").set_input_files(files["File"])
    expect(said(other)).to_have_count(6)
    assert other.evaluate(KEPT) == kept
    expect(other.locator(AT_REST)).to_be_attached()

    (tmp_path / "talk.html").write_bytes(files["Page"].read_bytes())
    with offline(elsewhere, tmp_path / "talk.html") as other:
        count(other, "1 of 6")
        other.keyboard.press("PageDown")
        expect(other.locator(".lesson-said .verdict")).to_contain_text("animal")
        other.keyboard.press("PageDown")
        count(other, "2 of 6")
        assert other.locator("b").count() == 0


def test_drawer_reports_limits_and_errors(visit):
    tab = visit(afresh=True)
    page = tab.open(SCENES[0])
    long = {"title": "", "moment": [{"at": "", "text": str(random.Random(n).getrandbits(900))} for n in range(60)]}
    kept = {"talk": long, "pictures": {"": {"words": [], "arcs": []}}}
    store = "kept => localStorage.setItem('attnviz talk', JSON.stringify(kept))"
    page.evaluate(store, kept)
    page.evaluate("dispatchEvent(new StorageEvent('storage', { key: 'attnviz talk' }))")  # as another tab's is heard
    page.keyboard.press("m")
    expect(drawer(page).get_by_role("status")).to_contain_text("at most 60 moments")
    drawer(page).get_by_role("button", name="Copy link").click()
    expect(drawer(page).locator("footer .status")).to_contain_text("send the file")
    page.evaluate("localStorage.setItem('attnviz talk', '{')")
    drawer(page).locator("> input[type=file]").set_input_files(
        {"name": "no.toml", "mimeType": "text/plain", "buffer": b"title = 1"}
    )
    expect(drawer(page).locator("footer .status")).to_contain_text("This is no talk")
    tab.errors = [each for each in tab.errors if "400" not in each]  # the console says so, too
    page.evaluate(store, kept)
    drawer(page).get_by_role("button", name="QR code").click()
    expect(drawer(page).locator("footer .status")).to_contain_text("No code")
    drawer(page).get_by_role("button", name="Open a class").click()  # which follows the talk from its first moment
    expect(page.locator(".class-code .typed-code strong")).to_have_text(re.compile("^[A-Z]{6}$"))
    page.keyboard.press("Escape")
    count(page, "1 of 60")
    page.locator(".class-bar").get_by_role("button", name="Class", exact=True).click()
    page.get_by_role("button", name="End the class").click()
    page.get_by_role("button", name="End it").click()
    expect(page.locator(".class-bar")).to_be_hidden()
    link = page.evaluate(f"async talk => {{ {PACKED} }}", {"title": 1})
    page.goto(f"{page.evaluate('location.origin')}/?lesson=talk{link}")
    expect(drawer(page).locator("footer .status")).to_contain_text("This is no talk")
    tab.errors = [each for each in tab.errors if "400" not in each]
    expect(drawer(page).locator("> .note")).to_contain_text("Kept in this browser")
    page.evaluate("() => { Storage.prototype.setItem = () => { throw new DOMException('full') } }")
    drawer(page).get_by_label("Title of the talk").fill("Not kept")
    expect(drawer(page).locator("> .note")).not_to_contain_text("Kept in this browser")
    expect(drawer(page).locator("> .note")).to_contain_text("Save it by “↓ File”")
    forget(page)


def test_own_numbers_travel_with_the_talk(visit, elsewhere, tmp_path):
    tab = visit(width=1366, afresh=True)
    page = tab.open("your_own_numbers")
    forget(page)
    arrays = Implementation(np.random.default_rng(1), np.float64, n=4, mask=np.tri(4, dtype=bool)).written("BERT")
    np.savez(tmp_path / "mine.npz", **arrays, tokens=np.array(["owls", "see", "<b>", "mice"]))
    page.locator("input[type=file]").set_input_files(tmp_path / "mine.npz")
    page.get_by_role("button", name="Open in the walkthrough").click()
    expect(heading(page, "Walkthrough")).to_be_attached()
    expect(page.locator(".thread .words .text").first).to_have_text("owls")
    collected(page, "These are mine.")
    expect(drawer(page)).to_contain_text("One shows your own numbers: a file or a page of the talk has them")
    for way in ("Copy link", "QR code"):
        drawer(page).get_by_role("button", name=way).click()
        expect(drawer(page).locator("footer .status")).to_contain_text("No link holds your own numbers")
    files = {}
    for ending in ("File", "Page"):
        with page.expect_download() as saved:
            drawer(page).get_by_role("button", name=f"↓ {ending}").click()
        files[ending] = saved.value.path()
    forget(page)

    away = elsewhere.page
    away.goto(f"{tab.address}/?lesson=masks")
    away.get_by_role("button", name="All lessons").click()
    away.get_by_role("button", name="Your own talk").click()
    drawer(away).locator("> input[type=file]").set_input_files(files["File"])
    expect(said(away)).to_have_text(["These are mine."])
    expect(drawer(away).locator(".small-picture path").first).to_be_attached()
    said(away).click()
    drawer(away).get_by_role("button", name="Open it").click()
    expect(heading(away, "Walkthrough")).to_be_attached()
    expect(away.locator(".thread .words .text").first).to_have_text("owls")
    away.keyboard.press("m")
    drawer(away).get_by_role("button", name="Give the talk").click()
    count(away, "1 of 2")
    expect(away.locator(".lesson-picture .thread .words .text").first).to_have_text("owls")

    (tmp_path / "mine.html").write_bytes(files["Page"].read_bytes())
    with offline(elsewhere, tmp_path / "mine.html") as away:
        expect(away.locator(".lesson-picture .thread .words .text").first).to_have_text("owls")


def test_lesson_becomes_a_talk(visit):
    tab = visit(width=1366, afresh=True)
    page = tab.page
    page.goto(f"{tab.address}/?lesson=masks")
    forget(page)
    expect(page.locator(".lesson-said h2")).to_be_visible()
    from_menu(page, "Add this moment to my talk", "Teach").click()
    expect(said(page)).to_have_text([LESSONS["masks"].moment[0].title])
    given_up(page)
    page.get_by_role("button", name="All lessons").click()
    page.get_by_role("button", name="Begin one with this lesson").click()
    expect(said(page)).to_have_count(len(LESSONS["masks"].moment))
    expect(drawer(page).get_by_label("Title of the talk")).to_have_value(LESSONS["masks"].title)
    for name, begins in (("Questions for Moodle (GIFT)", "//"), ("Questions as slides (Markdown)", "# ")):
        drawer(page).get_by_role("button", name="Handout and questions").click()
        with page.expect_download() as saved:
            drawer(page).get_by_role("button", name=name).click()
        assert saved.value.path().read_text("utf-8").startswith(begins)
        page.keyboard.press("Escape")
    page.evaluate("window.print = () => { window.printed = document.title }")
    drawer(page).get_by_role("button", name="Handout and questions").click()
    drawer(page).get_by_role("button", name="Print a handout").click()
    expect(drawer(page)).to_be_hidden()
    becomes(page, lambda: page.evaluate("window.printed !== undefined"), True)
    assert "lesson=talk" in page.url
    from_menu(page, "Your talk (", "Teach").click()
    said(page).nth(1).click()
    drawer(page).get_by_role("button", name="Open it").click()
    expect(heading(page, "Walkthrough")).to_be_attached()
    expect(page.locator(".step-text h2")).to_be_visible()
    forget(page)


PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAQAAAACCAAAAABawyK/AAAADklEQVR4nGNg+A+EIAIAEfgD/eWkY78AAAAASUVORK5CYII="
)
"""Four pixels by two."""
PASTE = """(box, bytes) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([new Uint8Array(bytes)], "pasted.png", { type: "image/png" }));
    box.dispatchEvent(new ClipboardEvent("paste", { clipboardData: transfer, bubbles: true, cancelable: true }));
}"""
OWN_QUESTIONS = [
    (
        "own-choice",
        "An opinion, {count.d_k}?",
        "button:text-is('<b>yes</b>')",
        "You said <b>yes</b>. There is no right answer.",
    ),
    ("own-choice", "A choice?", "button:text-is('no')", "Right: no."),
    ("own-number", "A number?", "input", "You said 7 heads. It is 12 heads."),
    ("own-words", "In words?", "textarea", "You said “7”"),
]


def add_slide(page, headline):
    drawer(page).get_by_role("button", name="Add a slide").click()
    drawer(page).get_by_label("Headline").fill(headline)


def ask_of_ones_own(page, kind, prompt):
    drawer(page).get_by_role("combobox").select_option(kind)
    drawer(page).get_by_label("Asked as").fill(prompt)
    if kind == "own-choice":
        for nth, text in enumerate(("<b>yes</b>", "no"), start=1):
            drawer(page).get_by_label(f"Answer {nth}", exact=True).fill(text)
    if prompt == "A choice?":
        drawer(page).get_by_label("Answer 2 is right").check()
    if kind == "own-number":
        drawer(page).get_by_label("Right number, if any").fill("12")
        drawer(page).get_by_label("Unit").fill("heads")


def shown_image(page):
    """The width of the image on the slide once it is there, and its words."""
    image = page.locator(".lesson-picture .slide img")
    becomes(page, lambda: image.evaluate("image => image.naturalWidth"), 4)
    return image.get_attribute("alt")


def test_slides_and_own_questions_are_made_saved_and_given(visit, elsewhere, tmp_path):
    tab = visit(width=1366, afresh=True)
    emptied(tab)
    page = tab.open(SCENES[2])
    page.keyboard.press("m")
    add_slide(page, "{count.words} <b>ideas</b>")
    drawer(page).get_by_label("List, a line each").fill("one\ntwo")
    (tmp_path / "lies.png").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>", "utf-8")
    (tmp_path / "large.png").write_bytes(PNG.ljust(300_001, b"\0"))
    choosing = drawer(page).locator(".slide-form input[type=file]")
    for name, refusal in (("lies.png", "“lies.png” is none of them"), ("large.png", "has 301 kB")):
        choosing.set_input_files(tmp_path / name)
        expect(drawer(page).locator(".image-box .note")).to_contain_text(refusal)
    drawer(page).locator(".slide-form").evaluate(PASTE, list(PNG))
    expect(drawer(page).locator(".preview img")).to_be_visible()
    drawer(page).get_by_label("The image in words").fill("Four pixels")
    drawer(page).get_by_role("button", name="Undo").click()
    expect(drawer(page).get_by_label("The image in words")).to_have_value("")
    drawer(page).get_by_label("The image in words").fill("Four pixels")
    assert violations_but_contrast(page) == []
    for kind, prompt, _, _ in OWN_QUESTIONS:
        add_slide(page, f"Slide of “{prompt}”")
        ask_of_ones_own(page, kind, prompt)
    drawer(page).get_by_label("Also ask how sure they are").check()
    expect(drawer(page).get_by_role("button", name="Open it")).to_be_disabled()
    kept = page.evaluate(KEPT)
    assert (kept["moment"][1]["title"], kept["moment"][5]["confidence"]) == ("{count.words} <b>ideas</b>", True)

    page.reload()
    expect(page.locator(".step-text h2")).to_be_visible()
    expect(page.locator(AT_REST)).to_be_attached()
    page.keyboard.press("m")
    drawer(page).get_by_role("button", name="Delete").click()  # the one that the key adds
    expect(drawer(page).locator(".small-picture img")).to_be_visible()
    assert page.evaluate(KEPT) == kept
    drawer(page).get_by_role("button", name="Copy link").click()
    expect(drawer(page).locator("footer .status")).to_contain_text("It leaves out the images")
    files = {}
    for ending in ("File", "Page"):
        with page.expect_download() as saved:
            drawer(page).get_by_role("button", name=f"↓ {ending}").click()
        files[ending] = saved.value.path()
    link = page.evaluate(f"async talk => {{ {PACKED} }}", kept)
    forget(page)

    other = elsewhere.page
    other.goto(f"{tab.address}/?lesson=talk{link}")
    count(other, "1 of 6")
    other.keyboard.press("PageDown")
    expect(other.locator(".lesson-picture .slide .not-here")).to_have_text("Image: Four pixels")
    from_menu(other, "Your talk (", "Teach").click()
    drawer(other).locator("> input[type=file]").set_input_files(files["File"])
    expect(drawer(other).locator(".small-picture img")).to_be_visible()
    assert other.evaluate(KEPT) == kept
    drawer(other).get_by_role("button", name="Give the talk").click()
    count(other, "1 of 6")
    given_by_remote(other)

    (tmp_path / "slides.html").write_bytes(files["Page"].read_bytes())
    with offline(elsewhere, tmp_path / "slides.html") as alone:
        count(alone, "1 of 6")
        given_by_remote(alone)


SLIDES = [
    {"text": "Short."},
    {
        "items": [f"line {nth} of a list that is rather long for a slide" for nth in range(1, 9)],
        "image": "a",
        "alt": "x",
    },
    {"items": ["one of a hundred"] * 100},
]


def test_slide_is_as_large_as_it_fits_and_never_small(visit):
    tab = visit(afresh=True)
    moments = [{"at": "", "title": "A headline that is not short at all", "slide": each} for each in SLIDES]
    store = "talk => localStorage.setItem('attnviz talk', JSON.stringify({ talk }))"
    emptied(tab).evaluate(store, {"title": "", "moment": moments})
    page = tab.page
    sizes = """slide => {
        const { scrollHeight, clientHeight, scrollWidth, clientWidth } = slide;
        return [parseFloat(getComputedStyle(slide).fontSize), scrollHeight - clientHeight, scrollWidth - clientWidth];
    }"""
    for width, height in ((1024, 768), (1366, 768), (3840, 2160)):
        page.set_viewport_size({"width": width, "height": height})
        for nth in range(1, 1 + len(SLIDES)):
            page.goto(f"{tab.address}/?lesson=talk&moment={nth}&present=1")
            count(page, f"{nth} of {len(SLIDES)}")
            expect(page.locator(".slide h2")).to_be_visible()
            frames(page)
            letters, over_height, over_width = page.locator(".slide").evaluate(sizes)
            share = 100 * letters / height
            assert share >= 2, "as large as any sentence that is presented"
            assert over_width <= 1
            if nth < len(SLIDES):
                assert over_height <= 1
                assert share > (5 if nth == 1 else 2.2)
            else:
                assert over_height > 1
                assert page.locator(".slide").get_attribute("tabindex") == "0", "keys scroll it"
    forget(page)


def given_by_remote(page):
    """From the first moment to the last, answering each question."""
    page.keyboard.press("PageDown")
    count(page, "2 of 6")
    expect(page.locator(".slide h2")).to_have_text("{count.words} <b>ideas</b>")
    expect(page.locator(".slide li")).to_have_text(["one", "two"])
    assert shown_image(page) == "Four pixels"
    expect(page.locator(".lesson-said")).to_be_hidden()
    for nth, (_, prompt, answer, verdict) in enumerate(OWN_QUESTIONS, start=3):
        page.keyboard.press("PageDown")
        count(page, f"{nth} of 6")
        expect(page.locator(".lesson-said .prompt")).to_have_text(prompt)
        control = page.locator(f".lesson-said {answer}")
        if answer.startswith("button"):
            control.click()
        else:
            control.fill("7")
            page.locator(".lesson-said").get_by_role("button", name="Check").click()
        expect(page.locator(".lesson-said .verdict p").first).to_have_text(verdict)
        page.locator(".slide").click()  # away from the box, so that keys are a remote's
    assert page.locator(":is(.slide, .lesson-said) b").count() == 0
