"""What a question needs can be read before its answer is shown: on a desktop, a phone, a projector, in a frame."""

import re
import time

import msgspec
import pytest
from needs import in_page
from patience import PATIENCE_SECONDS
from tab import expect, resized
from taught import PLACES

from attnviz.lessons.lesson import LESSONS, passes_at
from attnviz.lessons.needs import need
from attnviz.lessons.questions import AnyQuestion
from attnviz.lessons.questions.numbers import Number
from attnviz.lessons.talk import TalkMoment, talk_moment
from attnviz.lessons.talk_request import suggested_questions
from attnviz.scene.document.encoding import to_json

LAPTOP, PROJECTOR, FRAME, PHONE = (1366, 768), (1024, 768), (900, 600), (390, 844)
PROJECTED = [PROJECTOR, FRAME]
ASKED = [(lesson, number) for lesson, number in PLACES if LESSONS[lesson].moment[number - 1].ask]
_SEEN = in_page("seenTexts.js")
_SEEN_AT_ONCE = _SEEN.replace("hidden|clip", "hidden|clip|auto|scroll")
"""The same without those that one would have to scroll to, which no audience can."""
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


def lacking(page, needs, script=_SEEN):
    """The needs, pairs of one and its ways to be written, that don't come to be on the screen."""
    deadline = time.monotonic() + PATIENCE_SECONDS / 20
    while True:
        seen = "\n".join(page.evaluate(script)).replace("\xa0", " ").lower()
        lacks = [each for each, texts in needs if not any(is_in(text, seen) for text in texts)]
        if not lacks or time.monotonic() > deadline:
            return lacks
        page.wait_for_timeout(50)


def is_in(text, seen):
    """Whether a word or number is among texts, and not as a part of another."""
    return re.search(rf"(?<![\w−.]){re.escape(text.replace(chr(0xA0), ' ').lower())}(?!\w|[.,]\d)", seen) is not None


@pytest.mark.parametrize("lesson", LESSONS)
def test_what_a_question_needs_is_on_the_screen(taught, lesson):
    """In the least windows for every moment; those with more room take turns."""
    missing = {}
    for nth, number in enumerate(number for name, number in ASKED if name == lesson):
        needs = needs_of(lesson, number)
        page = taught(f"?lesson={lesson}&moment={number}", size=FRAME)
        for size in (FRAME, (LAPTOP, PROJECTOR)[nth % 2], PHONE):
            resized(page, *size)
            if lacks := lacking(page, needs) + page.evaluate(_CUT):
                missing[number, LESSONS[lesson].moment[number - 1].id, size] = lacks
        page = taught(f"?lesson={lesson}&moment={number}&present=1", size=FRAME)
        for size in (FRAME, PROJECTOR)[: 1 + nth % 2]:
            resized(page, *size)
            if lacks := lacking(page, needs, _SEEN_AT_ONCE):
                missing[number, LESSONS[lesson].moment[number - 1].id, size, "presented"] = lacks
    assert not missing


COMPUTED = {  # moments of talks with a computed question, and whether their pictures have room for its numbers
    "model=who-is-it&checkpoint=9&view=sheet&step=scores&cell=1.12.2.1.1": True,
    "model=who-is-it&checkpoint=9&view=matrices&step=scores&cell=1.12.2.1.1": False,  # three dimensions of eight
    "model=who-is-it&checkpoint=9&view=sheet&step=weighted-sum&cell=1.12.2.1.1": False,
    "model=translator&view=sheet&step=scores": False,  # the answer takes more digits
}


@pytest.mark.parametrize("at", COMPUTED)
def test_numbers_of_a_computed_question_are_on_a_projector(taught, monkeypatch, at):
    (ask,) = [ask for ask in suggested(at) if isinstance(ask, Number)]
    moment = talk_moment(TalkMoment(at=at, ask=ask))
    monkeypatch.setattr("taught.sent", lambda lesson, number: to_json(moment))
    needs = [(row.name, {text}) for row in moment.given for text in row.texts]
    page = taught("?lesson=heads&moment=3&present=1", size=PROJECTED[0])
    for size in PROJECTED:
        resized(page, *size)
        assert lacking(page, needs, _SEEN_AT_ONCE) == [], size
        assert page.locator(".given-strip").is_visible() is not COMPUTED[at], "what the picture shows isn't repeated"
        assert not is_in(moment.question.text, "\n".join(page.evaluate(_SEEN)))
    page.keyboard.press("Enter")
    expect(page.locator(".lesson-said .verdict:not(:empty)")).to_be_visible()
    expect(page.locator(".given-strip")).to_be_hidden()


def suggested(at):
    questions = suggested_questions(passes_at(at))
    return [msgspec.convert(each.ask, AnyQuestion) for each in questions]
