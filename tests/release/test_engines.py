"""All three engines: the walkthrough, a page as a file, a number set by hand, presenting; and lessons, answered."""

import pytest
from documents import document, fitted_at
from engines import Chromium, started, until
from needs import in_page
from page import SENTENCE
from tab import Tab, at

from attnviz import Settings, page, trace_of
from attnviz.core.changes import parse_change
from attnviz.core.numerals import short

pytestmark = [pytest.mark.browser, pytest.mark.slow]

DOCUMENT = document(fitted_at({"sentence": SENTENCE}))
STEPS, ASKS = DOCUMENT["steps"], DOCUMENT["where"]["cell"]["query"]
VIEWER = "[...document.querySelectorAll('*')].find((each) => each.shadowRoot?.querySelector('.viewer'))?.shadowRoot"
SEEN = in_page("seen.js").replace("VIEWER", VIEWER)

LINES = f"""[...{VIEWER}.querySelectorAll("button.link")]
  .map((each) => getComputedStyle(each).textDecoration)"""
BESIDE = f"""(() => {{
  const right = (each) => each.getBoundingClientRect().right, terms = {VIEWER}.querySelector(".terms");
  return right(terms) - Math.max(...[...terms.querySelectorAll(".value")].map(right));
}})()"""
"""How wide a scrollbar may be that lies over the terms but over none of their numbers."""

LESSON = in_page("seen_of_lesson.js").replace("VIEWER", VIEWER)
"""What a moment of a lesson shows."""

UPRIGHT = in_page("upright.js")
"""Of each label of a matrix on the page that is to stand upright, whether it does."""


@pytest.fixture(scope="module", params=["firefox", "webkit"])  # what Chromium does is what all other tests are of
def engine(request, tmp_path_factory):
    if request.param == "chromium":
        tab = Tab(request.getfixturevalue("window")("light")).begin(request.getfixturevalue("server"))
        yield Chromium(tab.page, tab.errors)
        tab.page.close()
        return
    with started(request.param, tmp_path_factory.mktemp(request.param)) as driven:
        yield driven


SEEN_IN_FILE = in_page("seen_in_file.js")


def test_file_works_in_every_engine(engine, tmp_path):
    file, trace = tmp_path / "a page.html", trace_of(Settings(SENTENCE))
    assert page(trace, file) == file.stat().st_size
    row = [short(each) for each in trace["scores"].value[0, 1]]
    engine.open(f"{file.as_uri()}#view=sheet&route=every+step")
    first = until(engine, lambda seen: seen["place"] == "step 1 of 10", SEEN_IN_FILE)
    assert first["title"] == f"{SENTENCE} – attnviz"
    for number in (2, 3, 4):  # the sheet begins with the tokens
        engine.press("ArrowRight")
        until(engine, lambda seen, n=number: seen["place"] == f"step {n} of 10", SEEN_IN_FILE)
    until(engine, lambda seen: seen["scores"] == row, SEEN_IN_FILE)
    engine.read("document.querySelector('[data-cell^=scores]').click()")
    number = f"{trace['scores'].value[0, 1, 0]:.4f}".replace("-", "−")
    until(engine, lambda seen: seen["focus"] == f"scores[head 1, cat, the] = {number}", SEEN_IN_FILE)
    engine.read("document.querySelector('.terms button').click()")
    typed = until(engine, lambda seen: "←" in seen["trail"], SEEN_IN_FILE)["typed"]
    engine.read("document.querySelector('.panel .by-hand input').select()")
    for key in ("3", "Enter"):
        engine.press(key)
    until(engine, lambda seen: "That needs attnviz itself" in seen["refused"] and seen["typed"] == typed, SEEN_IN_FILE)
    engine.read("document.activeElement.blur()")
    engine.press("p")
    until(engine, lambda seen: seen["isPresented"], SEEN_IN_FILE)
    for _ in range(2):  # products, then their sum
        engine.press("PageDown")
    until(engine, lambda seen: seen["place"] == "step 5 of 9", SEEN_IN_FILE)
    engine.press("Escape")
    until(engine, lambda seen: not seen["isPresented"], SEEN_IN_FILE)
    assert engine.errors == []


@pytest.mark.parametrize("engine", ["firefox", "webkit", "chromium"], indirect=True, scope="module")
def test_every_step_in_every_engine(engine, server):
    trace, headings = trace_of(Settings(SENTENCE)), set()
    engine.open(f"{server}/walkthrough{at(sentence=SENTENCE, route='every step')}")
    for number, step in enumerate(STEPS, 1):
        headings.add(shown(engine, trace, number)["heading"])
        if step["id"] == "scores":
            assert {"underline" in each for each in engine.read(LINES)} == {True}
            assert engine.read(BESIDE) > 8
            trace = trace.with_changes(parse_change("scores[0,1,2]=3"))
            set_by_hand(engine, "3")
            shown(engine, trace, number)
        if step["id"] == "scaling":
            presented(engine, trace, number)
        engine.press("ArrowRight")
    assert len(headings) == len(STEPS)
    engine.open(f"{server}/by_hand")
    assert until(engine, lambda labels: labels and all(labels), UPRIGHT)
    assert engine.errors == []


def shown(engine, trace, number):
    """Wait until all of that step is on the screen, counted from 1, with the numbers of the pass."""
    place, numbers = f"step {number} of {len(STEPS)}", numbers_of(trace, STEPS[number - 1])
    holds = lambda seen: seen["place"] == place and seen["isWhole"] and numbers in [*seen["grids"], []]  # noqa: E731
    return until(engine, holds, SEEN)


def numbers_of(trace, step):
    """The numbers of a step's result in the first head, as they are written; none where it has no picture."""
    if not step["pictures"]:
        return []
    value = trace[step["pictures"][0]["grid"][-1][-1]["stage"]].value
    return [short(each) for each in (value[0] if value.ndim == 3 else value).flat]


def set_by_hand(engine, number):
    box = f"{VIEWER}.querySelector('.panel .by-hand input')"
    engine.read(f"{box}.focus()")
    engine.read(f"{box}.select()")
    for key in (*number, "Enter"):
        engine.press(key)
    engine.read(f"{box}.blur()")


def presented(engine, trace, number):
    """The picture has the scores of the word that asks; Page Down leads on; the settings are away meanwhile."""
    row = [short(each) for each in trace["scaled"].value[0, ASKS]]
    engine.press("p")
    address = until(engine, lambda seen: seen["sheet"] == row and not seen["settings"], SEEN)["address"]
    engine.press("PageDown")
    until(engine, lambda seen: seen["address"] != address, SEEN)
    engine.press("PageUp")
    engine.press("Escape")
    until(engine, lambda seen: seen["settings"], SEEN)
    engine.press("w")
    shown(engine, trace, number)


def test_every_question_kind_in_every_engine(engine, server):
    engine.open(f"{server}{at(lesson='who-is-it', moment=1)}")
    moment_is(engine, 1, 1)
    engine.read(f"{VIEWER}.querySelector('.choices button:nth-child(2)').click()")  # no Enter in headless Firefox
    until(
        engine, lambda seen: seen["said"].startswith("Right: animal") and seen["arcs"] == 2, LESSON
    )  # "animal", "was"
    engine.press("PageDown")
    moment_is(engine, 1, 2)
    engine.press("PageDown")
    told(engine, "It is street")
    engine.press("PageDown")
    moment_is(engine, 1, 3)
    held(engine, "[type=range]", "ArrowRight", "Enter")
    told(engine, "You said 51 %.")
    engine.open(f"{server}{at(lesson='one-number', moment=3)}")
    moment_is(engine, 2, 3)
    held(engine, ".typed", *"99", "Enter")
    told(engine, "You said 99.")
    engine.press("PageDown")
    moment_is(engine, 2, 4)
    engine.press("PageDown")
    until(engine, lambda seen: seen, f"{VIEWER}.querySelectorAll('.worked li:not(.to-come)').length === 1")
    engine.open(f"{server}{at(lesson='one-number', moment=5)}")
    moment_is(engine, 2, 5)
    held(engine, ".gaps input", "1", "Enter")
    until(engine, lambda seen: seen, f"{VIEWER}.querySelector('.gaps .tick').textContent === '✓'")
    to_lesson(engine, 4)
    moment_is(engine, 4, 1)
    engine.press("PageDown")
    until(engine, lambda seen: seen["bars"] == "d_k = 64" and seen["isWhole"], LESSON)
    held(engine, ".sweep [type=range]", "ArrowRight")
    until(engine, lambda seen: seen["bars"] == "d_k = 128" and seen["isWhole"], LESSON)
    to_lesson(engine, 8)
    moment_is(engine, 8, 1)
    engine.press("PageDown")
    told(engine, "It is l.")
    assert engine.errors == []


def moment_is(engine, lesson, number):
    until(
        engine, lambda seen: seen["place"].startswith(f"Lesson {lesson} ") and f", {number} of" in seen["place"], LESSON
    )
    until(engine, lambda seen: seen["isWhole"], LESSON)


def told(engine, says):
    return until(engine, lambda seen: seen["said"].startswith(says) and seen["isWhole"], LESSON)


def to_lesson(engine, place):
    engine.read(f"{VIEWER}.querySelector('.contents li:nth-child({place}) a').click()")


def held(engine, selector, *keys):
    """Press keys in what is found, which has the keyboard."""
    until(engine, lambda found: found, f"Boolean({VIEWER}.querySelector('{selector}'))")
    engine.read(f"{VIEWER}.querySelector('{selector}').focus()")
    for key in keys:
        engine.press(key)
