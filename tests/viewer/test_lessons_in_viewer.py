"""Lessons, in a real browser without Streamlit: walked, answered in every way, covered, fitting, for everyone."""

import json
import re
from urllib.parse import parse_qsl

import pytest
from alone import moving
from axe import violations_but_contrast
from cases import covering
from patience import PATIENCE_MS
from tab import becomes, expect, forced_colours, frames, from_menu, parameters, resized
from taught import PLACES, sent

from attnviz.explain.wording import percent
from attnviz.lessons.lesson import LESSONS, passes_at
from attnviz.lessons.questions.picks import PickWord

LEAST = (1024, 768)
PHONE, LOW_PHONE = (390, 844), (390, 640)
FIRST = "?lesson=who-is-it&moment="
LAST = len(LESSONS["who-is-it"].moment)

_FRAMED = """() => [...document.querySelectorAll(".matrix .frame.focus")].map(frame => {
  const { left, right, top, bottom } = frame.getBoundingClientRect(),
    figure = frame.closest(".matrix"),
    cell = [...figure.querySelectorAll("td")].find(each => {
      const box = each.getBoundingClientRect(), [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
      return left < x && x < right && top < y && y < bottom;
    });
  return [`${figure.dataset.stage}[0,${cell.dataset.row},${cell.dataset.column}]`, cell.textContent];
})"""
"""Which cells of matrices are framed as those that one looks at, and what they show."""
_FEET = """(side) => [...document.querySelectorAll(".thread .words button")].flatMap((word, place) => {
  const share = word.querySelector(side === "A" ? ".in-a" : ".said:not(.in-a)"),
    middle = (each) => each.getBoundingClientRect().top + each.getBoundingClientRect().height / 2;
  if (!share.checkVisibility() || !share.textContent) return [];
  const range = new Range();
  range.selectNodeContents(share);
  return [[share.textContent, place, middle(share) - middle(word.firstChild), range.getBoundingClientRect().left]];
})"""
"""The shares of one of two passes: what each says, of which word, how far below it, and where it begins."""


def read(lesson, number):
    return json.loads(sent(lesson, number))


def title(page):
    return page.locator(".lesson-said h2").inner_text()


def verdict(page):
    return page.locator(".lesson-said .verdict")


def count_of(lesson, number):
    """Which moment this is, as the page counts them; an optional one is not counted."""
    read = [place for place, each in enumerate(LESSONS[lesson].moment, start=1) if not each.optional]
    return f"{read.index(number) + 1} of {len(read)}" if number in read else "For engineers"


def said_is(page, lesson, number):
    expect(page.locator(".count")).to_have_text(count_of(lesson, number))
    expect(page.locator(".about")).to_contain_text(LESSONS[lesson].title)


@pytest.mark.parametrize(("word", "kind"), [("animal", "right"), ("it", "wrong")])
def test_picked_word_gets_a_verdict(taught, word, kind):
    page = taught()
    page.get_by_role("button", name=word, exact=True).click()
    expect(verdict(page)).to_have_class(f"verdict {kind}")
    expect(verdict(page)).to_contain_text("Right: animal" if kind == "right" else "You said it. It is animal.")
    expect(page.locator(f".choices .{kind}")).to_have_text(word)
    assert page.locator(f".choices .{kind}").evaluate(_SIGN) == {"right": "✓", "wrong": "✗"}[kind]
    assert page.locator(".thread .arc").count() > 0


MADE = {(lesson, number): LESSONS[lesson].moment[number - 1] for lesson, number in PLACES}
POINTED = [place for place, each in MADE.items() if each.says_words_alone and isinstance(each.ask, PickWord)]


@covering(place=POINTED, size=[(1366, 768), PHONE])
def test_a_guess_begins_above_the_asking_word(taught, place, size):
    lesson, number = place
    moment = read(lesson, number)
    page = taught(f"?lesson={lesson}&moment={number}", size=size)
    asking = moment["document"]["where"]["cell"]["query"]
    assert asking not in moment["question"]["right"]
    mark = page.locator(".guess text").bounding_box()
    word = page.locator(".choices button").nth(asking).bounding_box()
    assert mark["x"] + mark["width"] / 2 == pytest.approx(word["x"] + word["width"] / 2, abs=1)
    assert mark["y"] < word["y"]
    page.mouse.move(mark["x"] + mark["width"] / 2, mark["y"] + mark["height"] / 2)
    page.mouse.down()
    page.locator(".choices button").nth(moment["question"]["right"][0]).hover()
    page.mouse.up()
    expect(verdict(page)).to_have_class("verdict right")


_SIGN = """(each) => getComputedStyle(each, "::after").content.replaceAll(/[" ]/g, "")"""
_TRUTH = """(track) => {
  const mark = getComputedStyle(track, "::after"), { width } = getComputedStyle(track.querySelector("input"));
  const colour = getComputedStyle(track.querySelector(".right")).color;
  return [parseFloat(mark.left), parseFloat(width) - parseFloat(mark.width), mark.backgroundColor, colour];
}"""
"""How far from the left the truth stands on a slider, how far the thumb can go, its colour and that of its number."""


def test_weight_is_guessed_on_the_slider(taught):
    page = taught(FIRST + "3")
    slider = page.get_by_role("slider")
    slider.focus()
    for _ in range(10):
        page.keyboard.press("ArrowLeft")
    expect(slider).to_have_attribute("aria-valuetext", "40 %")
    said_is(page, "who-is-it", 3)
    page.keyboard.press("Enter")
    expect(verdict(page)).to_contain_text("You said 40 %.")
    expect(verdict(page)).to_contain_text("For 40 % its scaled score would have to be")
    right = read("who-is-it", 3)["question"]["right"]
    at, width, colour, key = page.locator(".track").evaluate(_TRUTH)
    assert at == pytest.approx(right * width, abs=1)
    assert colour == key, "the truth is no answer of one's own"
    page = taught(FIRST + "3")
    page.get_by_role("slider").fill(str(round(100 * read("who-is-it", 3)["question"]["right"])))
    page.get_by_role("button", name="Check").click()
    expect(verdict(page)).to_have_class("verdict right")


def test_next_without_answer_reveals_and_scores_nothing(taught):
    for number in (1, 3, 5, 8):  # words alone, a share, a cell, two passes
        page = taught(f"{FIRST}{number}")
        page.get_by_role("button", name="Show me" if number == 1 else "Next", exact=True).click()
        expect(verdict(page)).to_have_class("verdict ")
        expect(verdict(page)).not_to_be_empty()
    page = taught(f"{FIRST}{LAST}")
    expect(page.locator(".score:visible")).to_have_count(0)


KEPT, LOST = "Kept in this browser only.", "This browser keeps nothing: it is gone when you close the page."


def own_words(page):
    return page.get_by_role("textbox", name="In your own words")


def last_of(lesson):
    return f"?lesson={lesson}&moment={len(LESSONS[lesson].moment)}"


def test_own_words_are_compared_and_kept_in_this_browser(taught):
    page = taught(last_of("who-is-it"))
    box, said = own_words(page), page.locator(".lesson-said")
    expect(said).not_to_contain_text(KEPT)
    box.press_sequentially("A query  asks.\nA <b>key</b> answers")
    expect(said).to_contain_text(KEPT)
    box.press("PageDown")
    expect(verdict(page).last).not_to_contain_text("has a query")
    button = page.get_by_role("button", name="Compare with an answer")
    assert button.bounding_box()["y"] > box.bounding_box()["y"]
    button.click()
    expect(verdict(page).last).to_contain_text("has a query")
    expect(box).to_have_value("A query  asks.\nA <b>key</b> answers")
    expect(page.get_by_role("button", name="Compare with an answer")).to_have_count(0)
    page.get_by_role("button", name="Next lesson").click()
    said_is(page, "one-number", 1)
    from_menu(page, "Present", "Teach").click()
    for key in ("End", "Escape"):
        page.keyboard.press(key)
    said_is(page, "one-number", len(LESSONS["one-number"].moment))
    expect(box).to_have_value("")
    expect(said).not_to_contain_text(KEPT)
    page.reload()
    page.evaluate("begin('?lesson=end')")
    own, other = page.locator(".explained > li").all()[:2]
    assert own.locator("blockquote").inner_text() == "A query  asks.\nA <b>key</b> answers"
    expect(other).to_contain_text(LESSONS["one-number"].ending.tell)
    own.get_by_role("link", name="Change them").click()
    expect(box).to_have_value("A query  asks.\nA <b>key</b> answers")
    expect(said).to_contain_text(KEPT)
    page.get_by_role("button", name="All lessons").click()
    page.get_by_role("button", name="Forget all").click()
    page.get_by_role("button", name="Keep them").click()
    page.get_by_role("button", name="Forget all").click()
    expect(box).not_to_have_value("")
    page.get_by_role("button", name="Yes, forget").click()
    expect(box).to_have_value("")
    assert "query" not in page.evaluate("JSON.stringify(localStorage)")


def test_words_that_a_browser_does_not_keep_last_as_long_as_the_page(taught):
    page = taught(last_of("who-is-it"))
    page.evaluate("() => { Storage.prototype.kept = Storage.prototype.setItem; Storage.prototype.setItem = null; }")
    try:
        own_words(page).fill("A key answers")
        expect(page.locator(".lesson-said")).to_contain_text(LOST)
        page.get_by_role("button", name="Back").click()
        said_is(page, "who-is-it", len(LESSONS["who-is-it"].moment) - 1)
        for _ in range(2):
            page.get_by_role("button", name="Next").click()
        expect(own_words(page)).to_have_value("A key answers")
        expect(page.locator(".lesson-said")).to_contain_text(LOST)
        assert "answers" not in page.evaluate("JSON.stringify(localStorage)")
    finally:
        page.evaluate("() => { Storage.prototype.setItem = Storage.prototype.kept; }")


_UNREAD = """() => {
  const plate = document.body.appendChild(document.createElement("i"));
  plate.style.color = "Canvas";
  const { color: canvas } = getComputedStyle(plate);
  plate.remove();
  const isUnread = (each) => {
    const { color, backgroundColor, forcedColorAdjust } = getComputedStyle(each);
    return forcedColorAdjust === "none" ? color === backgroundColor : color === canvas;
  };
  const all = [...document.querySelectorAll(".lesson-page :is(button, a, p, h2, span)")],
    labels = all.filter((each) => each.textContent && each.checkVisibility()),
    dots = [...document.querySelectorAll(".lesson-page .dots li")];
  return [
    ...labels.filter(isUnread).map((each) => each.textContent),
    ...dots.filter((each) => getComputedStyle(each).borderTopColor === canvas).map(() => "a dot"),
  ];
}"""
"""The labels that can't be read where colours are forced: there letters stand on a plate of the page's own colour."""


def test_labels_are_readable_in_forced_colours(taught):
    page = taught(FIRST + "2")
    with forced_colours(page):
        page.locator(".choices button").first.click()
        expect(verdict(page)).not_to_be_empty()
        expect(page.locator("footer .ways-on button.check")).to_have_text("Next")
        assert page.evaluate(_UNREAD) == []
        page.keyboard.press("PageDown")
        expect(page.locator(".slider .check")).to_be_visible()
        assert page.evaluate(_UNREAD) == []


BEGUN = json.dumps(
    {"last": {"lesson": "masks", "moment": 3}, "answered": {f"masks.{LESSONS['masks'].moment[0].id}": True}}
)


def test_lesson_is_resumed_from_the_list_of_all(taught):
    page = taught(kept=BEGUN)
    expect(page.locator(".around-moments h2")).to_have_text("All lessons")
    expect(page.locator(".lesson-said")).to_be_hidden()
    buttons = page.locator(".lesson-page :is(a, button):visible")
    assert buttons.first.inner_text() == "Go on where you were"
    going_on = page.get_by_role("link", name="Go on", exact=True)
    assert going_on.get_attribute("href") == "?lesson=masks&moment=2"
    buttons.first.click()
    said_is(page, "masks", 3)
    page.get_by_role("button", name="All lessons").click()
    names = page.get_by_role("group", name="All lessons").locator(".name")
    expect(names).to_have_text([each.title for each in LESSONS.values()])
    page.get_by_role("link", name=LESSONS["order"].title).click()
    said_is(page, "order", 1)
    becomes(page, lambda: parameters(page), {"lesson": "order", "moment": "1"})
    page.go_back()
    said_is(page, "masks", 3)
    page.go_back()
    expect(page.locator(".around-moments h2")).to_have_text("All lessons")
    page.keyboard.press("PageDown")
    said_is(page, "order", 1)


def test_list_of_all_lessons_has_a_mark_for_each_moment(taught):
    ids = [f"masks.{each.id}" for each in LESSONS["masks"].moment[:3]]
    results = dict(zip(ids, (True, False, None), strict=True))
    page = taught(kept=json.dumps({"last": {"lesson": "masks", "moment": 3}, "answered": results}))
    for name, lesson in LESSONS.items():
        entry = page.locator(".contents > ol > li").nth([*LESSONS].index(name))
        expect(entry).to_contain_text(lesson.why)
        expect(entry).to_contain_text(f"{lesson.minutes} min")
        said = {True: "right", False: "not right", None: "done", "": "not seen"}
        marks = [
            f"{each.title}: {said[results.get(f'{name}.{each.id}', '')]}" for each in lesson.moment if not each.optional
        ]
        assert entry.get_by_role("listitem").all_inner_texts() == marks


def test_links_into_the_walkthrough(taught):
    page = taught()
    page.get_by_role("link", name="open the whole walkthrough").click()
    page.keyboard.press("PageDown")
    page.get_by_role("link", name="Explore this in the walkthrough").click()
    *others, explored = page.evaluate("opened")
    assert others == [""]
    picture = {"cell": "1.12.2.1.1", "picked": "attention"}  # of the answer, which is framed
    assert dict(parse_qsl(explored)) == dict(parse_qsl(read("who-is-it", 1)["at"])) | picture
    again = taught(kept=json.dumps({"opensWalkthrough": True}))
    expect(again.locator("footer.prefers-walkthrough")).to_be_visible()


def test_number_in_text_opens_its_cell(taught):
    page = taught(FIRST + "3")
    number = page.locator(".lesson-said .text .number").first
    number.click()
    expect(page.locator(".number-line")).to_contain_text(f"scaled[head 1, tired, animal] = {number.inner_text()}")
    expect(page.locator('.sheet td[data-cell="scaled[0,11,1]"]')).to_have_class("number chosen focus")


def test_phone_shows_text_picture_answer_in_order(taught):
    page = taught("?lesson=microgpt&moment=9", size=PHONE)
    top = lambda each: page.locator(each).first.bounding_box()["y"]  # noqa: E731
    assert top(".lesson-said .text") < top(".lesson-picture") < top(".prompt") < top(".choices")
    assert page.locator(".lesson-picture").bounding_box()["height"] <= 0.4 * PHONE[1]
    assert page.locator(".hand tbody tr").count() <= 9
    held = page.locator(".hand th.chosen").bounding_box()
    picture = page.locator(".lesson-picture").bounding_box()
    assert picture["y"] <= held["y"] < picture["y"] + picture["height"]
    page.locator(".choices button").first.click()
    expect(verdict(page)).to_be_in_viewport(ratio=0.5)
    page = taught(FIRST + "3", size=PHONE)
    places = page.locator(".hand tbody td.to-come")
    assert places.count() == 2 * page.locator(".hand tbody tr").count() > 0, "a place for each number"
    assert set(page.locator(".hand tfoot td").all_inner_texts()) == {""}, "the sum of what is covered"


def test_phone_moment_starts_at_the_top(taught):
    page = taught(FIRST + "5", size=PHONE)
    page.get_by_role("button", name="dimension 1").click()
    picture = page.locator(".lesson-picture")
    expect(verdict(page)).to_be_in_viewport()
    beyond = "each => [each, each.querySelector('.matrices')].map(box => box.scrollHeight - box.clientHeight)"
    assert max(picture.evaluate(beyond)) <= 1
    assert page.evaluate("scrollY") > 100
    page.get_by_role("button", name="Next").click()
    said_is(page, "who-is-it", 6)
    assert page.evaluate("scrollY") == 0
    page = taught("?lesson=microgpt&moment=9", size=LOW_PHONE)
    head = page.locator(".hand .rows > thead th").last.bounding_box()
    assert picture.evaluate("(each) => each.scrollTop") > head["height"]
    assert head["y"] >= picture.bounding_box()["y"] - 1, "what its columns are"
    page.locator(".hand .number").first.click()
    expect(page.locator(".hand .workings")).to_be_visible()
    assert page.locator(".hand .questions").count() == 0, "no panel answers them here"


def test_focus_moves_on_after_an_answer(taught):
    page = taught()
    held = lambda: page.evaluate("document.activeElement.innerText")  # noqa: E731
    page.locator(".choices").get_by_role("button", name="animal", exact=True).press("Enter")
    assert held() == "Next"
    page.keyboard.press("Enter")
    said_is(page, "who-is-it", 2)
    assert held() == "Next"
    page.get_by_role("button", name="Back").press("Enter")
    said_is(page, "who-is-it", 1)
    assert held() == "Next", "there is nothing to go back to"
    page = taught(FIRST + "3")
    page.get_by_role("slider").press("Enter")
    assert held() == "Next"
    page = taught("?lesson=one-number&moment=3")
    page.get_by_role("textbox").fill("1")
    page.get_by_role("textbox").press("Enter")
    assert held() == "Next"
    page = taught(last_of("who-is-it"))
    page.get_by_role("button", name="Compare with an answer").press("Enter")
    assert held() == "Next lesson"


def test_end_page_follows_the_last_moment(taught):
    lesson = [*LESSONS][-1]
    page = taught(last_of(lesson))
    following = page.get_by_role("button", name="Next", exact=True)
    following.press("Enter")
    following.press("Enter")
    becomes(page, lambda: parameters(page), {"lesson": "end"})
    expect(page.locator(".lesson-said")).to_be_hidden()
    terms = [term.replace("$", "") for each in LESSONS.values() for term in each.terms]
    shown = page.locator(".terms li")
    plain = "each => each.textContent"
    assert len(terms) == shown.count()
    assert [each.evaluate(plain) for each in shown.all()][:3] == terms[:3]
    ways = page.get_by_role("navigation", name="Ways on").get_by_role("link")
    assert ways.evaluate_all("all => all.map(each => new URL(each.href).pathname)") == [
        "/microgpt",
        "/your_own_numbers",
    ]
    page.keyboard.press("PageDown")
    expect(shown.first).to_be_visible()
    page.keyboard.press("PageUp")
    said_is(page, lesson, len(LESSONS[lesson].moment))
    page.go_back()
    expect(shown.first).to_be_visible()
    page.get_by_role("link", name="mask", exact=True).click()
    expect(page.locator(".about")).to_contain_text(LESSONS["masks"].title)
    page.evaluate("again('')")
    page.get_by_role("link", name="The end").click()
    expect(shown.first).to_be_visible()


def test_end_page_is_printed_alone(taught):
    page = taught("?lesson=end", "dark")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    try:
        expect(page.locator(".explained")).to_be_visible()
        expect(page.locator(".explained")).to_have_css("color", "rgb(29, 31, 36)")
        for each in (".lesson-head", ".ways", "footer"):
            expect(page.locator(f".lesson-page {each}").first).to_be_hidden()
    finally:
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        page.emulate_media(media="screen")
    expect(page.locator(".ways")).to_be_visible()


def test_asked_matrix_is_presented(taught):
    lesson, number = next(each for each in PLACES if is_asked_in_a_matrix(*each))
    stage = read(lesson, number)["answerCell"].split("[")[0]
    page = taught(f"?lesson={lesson}&moment={number}&present=1", size=LEAST)
    expect(page.locator(f"[data-stage={stage}] td")).not_to_have_count(0)
    page.keyboard.press("PageDown")
    [(framed, text)] = page.evaluate(_FRAMED)
    assert (framed.split("[")[0], bool(text)) == (stage, True)


def is_asked_in_a_matrix(lesson, number):
    is_in_matrices = "view=matrices" in LESSONS[lesson].moment[number - 1].at
    return is_in_matrices and read(lesson, number)["answerCell"] is not None


def test_covered_weight_is_nowhere_in_the_picture(taught):
    page = taught(FIRST + "2")
    moving(page)
    page.evaluate("(search) => again(search)", FIRST + "3")
    picture, share = page.locator(".lesson-picture"), page.locator('.sheet td[data-cell="attention[0,11,9]"]')
    expect(page.locator('.sheet td[data-cell="scaled[0,11,9]"]')).to_have_text("7.34")
    expect(share).to_have_count(0)
    assert "%" not in picture.inner_text()
    page.keyboard.press("PageDown")
    expect(share).to_have_text("0.08")


@pytest.mark.parametrize("number", [1, 9])  # of one pass
def test_words_fit_under_their_arcs(taught, number):
    page = taught(f"{FIRST}{number}")
    page.keyboard.press("PageDown")
    frames(page)
    wide, room = page.locator(".thread").evaluate("each => [each.scrollWidth, each.clientWidth]")
    assert wide <= room + 1


@pytest.mark.parametrize(("number", "size"), [(6, (1366, 768)), (8, (1366, 768)), (8, PHONE)])
def test_weights_of_both_passes_sit_at_their_arcs(taught, number, size):
    page = taught(f"{FIRST}{number}", size=size)
    page.keyboard.press("PageDown")
    frames(page)
    wide, room = page.locator(".thread").evaluate("each => [each.scrollWidth, each.clientWidth]")
    assert wide <= room + 1
    passes = passes_at(LESSONS["who-is-it"].moment[number - 1].at)
    for side, way in (("B", -1), ("A", 1)):
        shares = passes.trace(side)["attention"].value[0, -1]
        seen = page.evaluate(_FEET, side)
        assert [(place, text) for text, place, *_ in seen] == [
            (place, f"{side} {percent(share)}") for place, share in enumerate(shares) if share >= 0.01
        ]
        assert min(way * below for *_, below, _ in seen) > 5
        assert min(left for *_, left in seen) >= page.locator(".thread").bounding_box()["x"]


TOLD = """(covers, isAnswered, told) => {
  const texts = [...document.querySelectorAll(".lesson-picture, .lesson-picture *")].flatMap((each) =>
    [each.title, each.ariaLabel, each.ariaDescription, ...[...each.childNodes].map((node) => node.data)]).join("\\n");
  return told.filter((each) => texts.includes(each) !== isAnswered).map((each) => `“${each}” is told: ${!isAnswered}`);
}"""
"""What is set by hand in one of two passes: the picture says it with the answer, seen or heard, and not before."""
GIVEN_AWAY = """(covers, isAnswered) => isAnswered ? [] : [...document.querySelectorAll("[data-cell]")]
  .filter(({ dataset, textContent }) => textContent && covers.some((each) => dataset.cell.startsWith(`${each}[`)))
  .filter((each) => !each.matches(".lesson-said *"))
  .map(({ dataset, textContent }) => `${dataset.cell}: ${textContent}`)"""
STILL_COVERED = """(covers, isAnswered) => !isAnswered ? [] : [...document.querySelectorAll(".lesson-picture .to-come")]
  .filter((each) => each.checkVisibility({ visibilityProperty: true }) && each.getBoundingClientRect().width)
  .map((each) => each.outerHTML.slice(0, 80))"""
SCROLLED = """() => ["html", ".lesson-said", ".lesson-picture", ".main", ".sheet"]
  .flatMap((each) => [...document.querySelectorAll(each)])
  .filter((each) => each.scrollHeight > each.clientHeight + 1 && each.clientHeight > 0)
  .map((each) => `${each.className}: ${each.scrollHeight} of ${each.clientHeight}`)"""
SIDEWAYS = """() => [document.scrollingElement.scrollWidth].filter((width) => width !== innerWidth)"""
CUT_OFF = """() => [...document.querySelectorAll(".lesson-picture .thread")]
  .filter((each) => each.scrollHeight > each.clientHeight + 1)
  .map((each) => `arcs and words: ${each.scrollHeight} of ${each.clientHeight}`)"""
IN_LINES = """() => [...document.querySelectorAll(".bars-of")]
  .map(({ children }) => new Set([...children].map((each) => each.getBoundingClientRect().top)).size)
  .filter((lines) => lines > 1)
  .map((lines) => `bars of letters in ${lines} lines`)"""
SMALL = """() => {
  const least = parseFloat(getComputedStyle(document.documentElement).fontSize), small = [];
  const texts = document.createTreeWalker(document.querySelector(".lesson-page"), NodeFilter.SHOW_TEXT);
  if (least * 0.65 < 0.015 * innerHeight) small.push(`the page: ${least}`);
  while (texts.nextNode()) {
    const { data, parentElement: own } = texts.currentNode;
    const counts = own.closest(".lesson-said") || (/[0-9]/.test(data) && own.closest("td, [role=gridcell], button"));
    if (!counts || !data.trim() || own.closest(".sr-only, math, sup")) continue;
    const size = parseFloat(getComputedStyle(own).fontSize);
    if (size && size < least - 0.5 && own.checkVisibility({ visibilityProperty: true }))
      small.push(`${own.className} “${data}”: ${size}`);
  }
  return small;
}"""
"""Sentences and digits that are smaller than the letters of the page, and those if they are for no hall."""

FITS = (SCROLLED, SMALL, IN_LINES)
CHOSEN = {
    **dict.fromkeys(
        [("who-is-it", 3), ("who-is-it", 6), ("microgpt", 2), ("microgpt", 9)], "a sheet, two passes' arcs"
    ),
    **dict.fromkeys([("heads", 2), ("heads", 4), ("heads", 6)], "all heads, a worked example, gaps"),
    **dict.fromkeys([("who-is-it", 5), ("one-number", 3), ("order", 3), ("two-layers", 1)], "matrices, one or more"),
    **dict.fromkeys(
        [("masks", 6), ("root", 1), ("root", 9), ("microgpt", 1)], "code, a sweep, the longest texts, letters"
    ),
}
"""Moments that have between them every kind of picture and of question, and the least room."""
OTHER_LAYOUTS = {
    (LEAST, ""): (SCROLLED,),
    ((3840, 2160), "&present=1"): FITS,
    (PHONE, ""): (SIDEWAYS, CUT_OFF, IN_LINES),
}
"""Sizes of windows, whether something is presented in them, and what must not be found there.

Presented in the least window a moment has the least room of all, so each is tried there.
"""

_WALKED = """async ([present, moments]) => {
  const frames = async (n) => { for (let i = 0; i < n; i += 1) await new Promise(requestAnimationFrame); };
  const textOf = (part) => document.querySelector(part)?.textContent ?? "";
  const laws = [%s], found = [];
  await document.fonts.ready;
  for (const { lesson, name, number, title, covers, told } of moments) {
    const deadline = performance.now() + %d;
    const isThere = () => textOf(".about").includes(name) && textOf(".lesson-said h2") === title;
    const look = (shown) => {
      const broken = laws.flatMap((law) => law(covers, shown === "answered", told));
      found.push(...broken.map((each) => `${lesson} ${number}, ${shown}: ${each}`));
    };
    again(`?lesson=${lesson}&moment=${number}${present}`);
    while (!isThere() && performance.now() < deadline) await frames(1);
    if (!isThere()) return [`${lesson} ${number} does not come`];
    await frames(3);
    look("asked");
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "PageDown", bubbles: true }));
    await frames(3);
    if (isThere()) look("answered");
    else if (told.length) found.push(`${lesson} ${number}: the answer does not come`);
  }
  return found;
}"""


def told_of(lesson, number):
    """What is set by hand in one of the two passes of a question."""
    made = LESSONS[lesson].moment[number - 1]
    if not made.ask or made.picture or not all(each in made.at for each in ("beside=", "changes")):
        return []
    between = read(lesson, number)["document"]["other"]["between"]
    return [each for name, *sides in between if name == "Set by hand" for each in sides]


def walked(page, places, size, present, laws):
    moments = [
        {"lesson": lesson, "name": LESSONS[lesson].title, "number": number}
        | {part: read(lesson, number)[part] for part in ("title", "covers")}
        | {"told": told_of(lesson, number)}
        for lesson, number in places
    ]
    resized(page, *size)
    walk = _WALKED % (", ".join((TOLD, GIVEN_AWAY, STILL_COVERED, *laws)), PATIENCE_MS)
    return page.evaluate(walk, [present, moments])


@pytest.mark.parametrize("lesson", LESSONS)
def test_no_moment_scrolls_shrinks_or_leaks_its_answer(taught, lesson):
    own = [place for place in PLACES if place[0] == lesson]
    page = taught(f"?lesson={lesson}")
    moving(page)
    assert walked(page, own, LEAST, "&present=1", FITS) == []


def test_what_is_set_by_hand_is_told_with_the_answer(taught):
    places = [place for place in PLACES if told_of(*place)]
    assert places
    assert walked(taught(), places, (1366, 768), "", ()) == []


@pytest.mark.parametrize(("size", "present"), OTHER_LAYOUTS)
def test_moments_fit_large_screens_and_phones(taught, size, present):
    assert walked(taught(), CHOSEN, size, present, OTHER_LAYOUTS[size, present]) == []


def test_phone_targets_are_44_pixels(taught):
    page = taught(FIRST + "2", size=PHONE)
    for each in page.locator(".choices button, footer button:visible").all():
        assert min(each.bounding_box()["height"], each.bounding_box()["width"]) >= 44, each.inner_text()


THUMBED = [
    ("who-is-it", 2, "street", "right"),
    ("who-is-it", 5, "dimension 1", "wrong"),
    ("order", 1, "the same", "right"),
    ("microgpt", 2, "e", "wrong"),
    ("masks", 6, "np.where(mask, scaled, -np.inf)", "right"),
    ("masks", 6, "Next", ""),
]
"""A moment of each kind of question, what is pressed there, and what that is."""


def test_touch_answers_every_question_kind(taught):
    page = taught(size=PHONE)
    touch = page.context.new_cdp_session(page)
    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": True})

    def tap(target):
        target.evaluate("(each) => each.scrollIntoView({ block: 'center' })")  # not below the ways on
        box = target.bounding_box()
        point = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    for lesson, number, label, kind in THUMBED:
        page = taught(f"?lesson={lesson}&moment={number}", size=PHONE)
        tap(page.locator(".choices, footer").get_by_role("button", name=label, exact=True))
        expect(verdict(page)).to_have_class(f"verdict {kind}")
        expect(verdict(page)).not_to_be_empty()
    page = taught(FIRST + "3", size=PHONE)
    tap(page.get_by_role("slider"))  # in its middle
    tap(page.get_by_role("button", name="Check"))
    expect(verdict(page)).to_contain_text("You said 50 %")
    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
    touch.detach()


@pytest.mark.parametrize(("search", "name"), [("", "All lessons"), ("?lesson=end", "the end page")])
def test_axe_finds_nothing_around_the_moments(taught, search, name):
    for size in ((1366, 768), PHONE):
        page = taught(search, size=size, kept=BEGUN)
        expect(page.locator(".around-moments h2").first).to_be_visible()
        assert violations_but_contrast(page) == [], name
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name


@pytest.mark.parametrize("number", [3, 5])
def test_axe_finds_nothing_in_a_moment(taught, number):
    page = taught(f"{FIRST}{number}")
    assert violations_but_contrast(page) == []
    page.keyboard.press("PageDown")
    assert violations_but_contrast(page) == []


def test_asked_cell_is_framed(taught):
    moment = read("one-number", 3)
    page = taught("?lesson=one-number&moment=3")
    if moment["askedCell"]:
        assert page.evaluate(_FRAMED) == [[moment["askedCell"], ""]]
    page.keyboard.press("PageDown")
    expect(verdict(page)).not_to_be_empty()
    [(framed, text)] = page.evaluate(_FRAMED)
    assert framed == moment["answerCell"]
    assert text


def test_cell_outside_the_picture_is_framed_by_its_source(taught):
    page = taught("?lesson=one-number&moment=9")
    expect(page.locator('.sheet td[data-cell="scores[0,1,0]"]')).to_have_class(re.compile("focus"))


def test_covered_number_opens_nothing(taught):
    page = taught(FIRST + "3")
    page.locator(".lesson-said .text .number").first.click()
    expect(page.locator(".number-line")).to_be_visible()
    page = taught("?lesson=one-number&moment=3")
    page.locator('[data-stage="k"] td').last.click()
    expect(page.locator(".number-line")).not_to_be_visible()


def test_first_answer_needs_no_picture(taught):
    """Its script may come whenever it comes: then the text stays as it is, and the keyboard where it is."""
    taught().evaluate("() => { window.held = new Promise(come => { window.come = come; }); }")
    page = taught()
    expect(page.locator(".lesson-picture > *")).to_have_count(0)
    page.get_by_role("button", name="animal").click()
    expect(page.locator(".verdict.right")).to_be_visible()
    page.get_by_role("button", name="Next").focus()
    page.evaluate("() => { window.verdict = document.querySelector('.verdict > p'); come(); delete window.held; }")
    expect(page.locator(".lesson-picture .thread .arcs").first).to_be_visible()
    expect(page.locator("dfn.term").first).to_be_visible()
    expect(page.get_by_role("button", name="Next")).to_be_focused()
    assert page.evaluate("() => verdict.isConnected")
