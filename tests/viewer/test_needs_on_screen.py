"""What a question needs can be read before its answer is shown, on a desktop, a small laptop and a phone."""

import re
import time

import pytest
from needs import in_page
from patience import PATIENCE_SECONDS
from tab import resized
from taught import PLACES

from attnviz.lessons.lesson import LESSONS, passes_at
from attnviz.lessons.needs import need

pytestmark = pytest.mark.browser

SIZES = [(1366, 768), (1024, 768), (390, 844)]
ASKED = [(lesson, number) for lesson, number in PLACES if LESSONS[lesson].moment[number - 1].ask]
_SEEN = in_page("seenTexts.js")
_CUT = """() => [...document.querySelectorAll(".lesson-said input")].filter((input) => {
  const { left, right } = input.getBoundingClientRect();
  for (let each = input.parentElement; each; each = each.parentElement) {
    const box = each.getBoundingClientRect(), isOpen = getComputedStyle(each).overflowX === "visible" || !box.width;
    if (!isOpen && (left < box.left - 1 || right > box.right + 1)) return true;
  }
  return left < 0 || right > innerWidth;
}).map((input) => `the input ${input.ariaLabel ?? ""}`)"""
"""Where one types an answer, and would have to scroll sideways to it."""


def needs_of(lesson, number):
    """What has to be found, each as the ways in which it may be written."""
    made = LESSONS[lesson].moment[number - 1]
    return [(each, ways) for each in made.ask.needs for ways in need(each, passes_at(made.at)).ways]


def lacking(page, lesson, number):
    """The needs of a question that don't come to be on the screen."""
    deadline = time.monotonic() + PATIENCE_SECONDS / 20
    while True:
        seen = "\n".join(page.evaluate(_SEEN)).replace("\xa0", " ").lower()
        lacks = [each for each, texts in needs_of(lesson, number) if not any(is_in(text, seen) for text in texts)]
        if not lacks or time.monotonic() > deadline:
            return lacks
        page.wait_for_timeout(50)


def is_in(text, seen):
    """Whether a word or number is among texts, and not as a part of another."""
    return re.search(rf"(?<![\w−.]){re.escape(text.replace(chr(0xA0), ' ').lower())}(?!\w|[.,]\d)", seen) is not None


@pytest.mark.parametrize("lesson", LESSONS)
def test_what_a_question_needs_is_on_the_screen(taught, lesson):
    missing = {}
    for number in (number for name, number in ASKED if name == lesson):
        page = taught(f"?lesson={lesson}&moment={number}", size=SIZES[0])
        for size in SIZES:
            resized(page, *size)
            if lacks := lacking(page, lesson, number) + page.evaluate(_CUT):
                missing[number, LESSONS[lesson].moment[number - 1].id, size] = lacks
    assert not missing
