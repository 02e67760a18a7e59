"""What one takes away from a lesson: a handout of three moments a page, and its questions as files."""

import json
import math
import re

import pytest
from alone import ALONE
from needs import needed
from tab import at, frames

from attnviz.contract.base import received
from attnviz.core.numerals import short
from attnviz.lessons.export import of_lesson
from attnviz.lessons.lesson import LESSONS, moment, passes_at
from attnviz.lessons.talk_request import TalkRequest, reply

CROWDED = """[...document.querySelectorAll(".handout article")].filter((each) =>
  [each.querySelector(":scope > .said"), each].some((box) => box.scrollHeight > box.clientHeight + 1))
  .map((each) => each.textContent)"""

FRAMED = """(within) => [...document.querySelectorAll(`${within} .matrix .frame`)].map((frame) => {
  const figure = frame.closest(".matrix"), { left, right, top, bottom } = frame.getBoundingClientRect();
  const isIn = (cell) => {
    const box = cell.getBoundingClientRect(), [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
    return left < x && x < right && top < y && y < bottom;
  };
  const cells = [...figure.querySelectorAll("td")].filter(isIn);
  return [figure.dataset.stage, frame.className, cells.map(({ dataset }) => `${dataset.row},${dataset.column}`)];
})"""
"""Which cells each frame of a picture stands around."""

ARCS = """() => [...document.querySelectorAll(".handout svg.arcs")].flatMap((svg) => {
  if (!svg.checkVisibility()) return [];
  const thread = svg.closest(".thread"), sheet = svg.closest(".sheet");
  const words = [...(thread ?? sheet).querySelectorAll(thread ? ".words .text" : "tr.names th:not(.place)")];
  return [...svg.children].map(({ dataset }) => dataset.arc.split("-").map((place) => words[place]?.innerText));
})"""
"""The words that each arc of a handout is from and to, in the order in which they are drawn."""


def bare(text):
    """A text without what stands between its letters, which paper may set apart."""
    return "".join(text.split())


def taken(page):
    page.get_by_role("button", name="Teach", exact=True).click()
    return page


def drawn(page, name="Print a handout"):
    """Press a button that prints a handout and wait for it: first all moments are fetched, or the paper is blank."""
    page.evaluate("""() => {
        window.prints = 0;
        window.print = () => { window.dispatchEvent(new Event("beforeprint")); window.prints += 1; };
    }""")
    page.get_by_role("button", name=name).click()
    page.wait_for_function("window.prints === 1 && document.querySelector('.handout .lines') !== null")
    return page


def put_away(page):
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator(".handout").count() == 0


def test_handout_has_three_moments_a_page(taught):
    paper = needed("paper")
    for lesson in ("root", "masks"):
        page = drawn(taken(taught(at(lesson=lesson, moment=2))))
        assert page.evaluate(CROWDED) == []
        others = page.locator(".handout :is(input, [aria-pressed='false'])")
        assert others.evaluate_all("all => all.filter(each => each.checkVisibility()).length") == 0, "to be moved"
        put_away(page)
        moments = LESSONS[lesson].moment
        sheets = paper.printed(drawn(page))
        assert len(sheets) == math.ceil(len(moments) / 3)
        for number, sheet in enumerate(sheets, 1):
            assert not sheet.is_wide
            letters = bare(sheet.text)
            assert bare(f"Page {number} of {len(sheets)}") in letters
            for place in range(3 * number - 2, min(3 * number, len(moments)) + 1):
                assert bare(f"{place}. {moments[place - 1].title}") in letters


@pytest.mark.parametrize("lesson", ["who-is-it", "masks"])
def test_handout_for_before_has_the_choices_and_no_answer(taught, lesson):
    page = taken(taught(at(lesson=lesson, moment=2)))
    told = {}
    for has_answers, name in ((False, "Print it without answers"), (True, "Print a handout")):
        articles = drawn(page, name).locator(".handout article").all()
        told[has_answers] = [bare(each.inner_text()) for each in articles]
        assert (page.locator(".handout .law").count() > 0) == (has_answers and lesson == "masks")
        assert page.evaluate(CROWDED) == []
        put_away(page)
    asked = 0
    for nth, (before, after) in enumerate(zip(told[False], told[True], strict=True), 1):
        sent = json.loads(moment(lesson, nth))
        question, said = sent["question"], "".join(run[1] for run in sent["after"] if isinstance(run[1], str))
        assert bare(sent["title"]) in before
        if not question:
            continue
        asked += 1
        assert not said or bare(said) not in before
        assert "Itis" not in before
        assert "Itis" in after or question["kind"] == "gaps"
        if question["kind"] == "choose":
            assert [each["label"] for each in question["candidates"] if bare(each["label"]) not in before] == []
    assert asked > 3


LARGE = """() => [...document.querySelectorAll(".handout article")].flatMap((article, nth) => {
  const rows = article.querySelector(".large-rows"), frame = article.querySelector(":scope > .frame");
  if (!rows) return [];
  const isWhole = rows.getBoundingClientRect().bottom <= frame.getBoundingClientRect().bottom + 1;
  const small = [...frame.querySelectorAll(".sheet td.number")].filter((each) => each.checkVisibility()).length;
  return [[nth + 1, isWhole, small, rows.innerText, parseFloat(getComputedStyle(rows).fontSize)]];
})"""
SMALLEST = 8 * 96 / 72
"""Pixels, of eight points."""


def test_asked_rows_of_long_sentences_print_large(taught):
    page = drawn(taken(taught(at(lesson="who-is-it", moment=2))))
    found = {nth: (is_whole, small, text, size) for nth, is_whole, small, text, size in page.evaluate(LARGE)}
    put_away(page)
    trace = passes_at(LESSONS["who-is-it"].moment[2].at).trace()
    tired = trace.labels["query"].index("tired")
    assert set(found) == {2, 3}, "a row of twelve words each: scores, and scores with weights"
    assert all(is_whole and not small and size >= SMALLEST for is_whole, small, _, size in found.values())
    for stage, rows in (("scaled", found[3]), ("attention", found[3]), ("scores", found[2])):
        numbers = [short(each) for each in trace[stage].value[0, tired]]
        half = len(numbers) // 2
        lines = [re.findall(r"−?\d+\.\d\d", line) for line in rows[2].splitlines()]
        assert numbers[:half] in lines
        assert numbers[half:] in lines


def test_last_lines_end_at_their_border(taught):
    paper = needed("paper")
    page = drawn(taken(taught(at(lesson="root", moment=2))))
    assert len(LESSONS["root"].moment) % 3 == 1
    assert paper.inked(page)[-1] < 0.4, "of three moments on a page, one is there"


def test_printed_frames_match_the_screen(taught):
    page = taught(at(lesson="one-number", moment=3))
    page.keyboard.press("PageDown")
    page.locator(".lesson-said .verdict:not(:empty)").wait_for()
    shown = page.evaluate(FRAMED, ".lesson-body")
    drawn(taken(page))
    assert len(shown) > 3
    assert page.evaluate(FRAMED, ".handout article:nth-of-type(3)") == shown
    put_away(page)


@pytest.mark.parametrize(
    ("lesson", "letters", "paper_format"),
    [("who-is-it", "", "A4"), ("who-is-it", "", "Letter"), ("two-layers", "body { font: 20px/1.5 serif }", "A4")],
)
def test_printed_arcs_end_at_their_words(taught, lesson, letters, paper_format):
    paper = needed("paper")
    page = taken(taught(at(lesson=lesson, moment=2)))
    style = page.add_style_tag(content=f".learns svg {{ display: none }} {letters}")  # whose bands are arcs, too
    drawn(page)
    frames(page)
    arcs = page.evaluate(ARCS)
    names = {bare(word) for arc in arcs for word in arc}
    printed = paper.arcs(page, names, format=paper_format)[::2]  # each is drawn twice: a pointer hits the other
    style.evaluate("style => style.remove()")
    put_away(page)
    assert len(arcs) >= 5
    assert len(printed) == len(arcs)
    # the ends of an arc to the word itself are beside its middle
    apart = [pair for pair in zip(printed, arcs, strict=True) if len(set(pair[1])) == 2]
    assert [bare("-".join(found)) for found, _ in apart] == [bare("-".join(meant)) for _, meant in apart]


def test_questions_download_as_files(taught, tmp_path):
    page = taught(at(lesson="masks", moment=1))
    asked = []

    def answer(route):
        asked.append(route.request.post_data_buffer)
        route.fulfill(body=reply(received(asked[-1], TalkRequest)), content_type="application/json")

    page.route("**/talk", answer)
    taken(page)
    for name, form, ending in (("Moodle (GIFT)", "gift", "gift.txt"), ("slides (Markdown)", "slides", "md")):
        with page.expect_download() as download:
            page.get_by_role("button", name=name).click()
        assert download.value.suggested_filename == f"Masks who may see whom.{ending}"
        download.value.save_as(tmp_path / "questions")
        assert (tmp_path / "questions").read_text("utf-8") == of_lesson(form, "masks", ALONE)
    page.unroute("**/talk")
