"""All three engines: the walkthrough's steps, a number set by hand, presenting; and questions of lessons, answered."""

import pytest
from documents import document, fitted_at
from engines import Chromium, started, until
from numerals import short
from page import SENTENCE
from tab import at

from attnviz import Settings, trace_of
from attnviz.core.changes import parse_change

pytestmark = [pytest.mark.browser, pytest.mark.slow]

DOCUMENT = document(fitted_at({"sentence": SENTENCE}))
STEPS, ASKS = DOCUMENT["steps"], DOCUMENT["where"]["cell"]["query"]
VIEWER = "[...document.querySelectorAll('*')].find((each) => each.shadowRoot?.querySelector('.viewer'))?.shadowRoot"
SEEN = f"""(() => {{
  const viewer = {VIEWER}, text = (selector) => viewer.querySelector(selector).textContent;
  if (!viewer?.querySelector(".step-text h2")) return null;
  const grids = [...viewer.querySelectorAll(".picture:not([hidden]) [role=grid]")];
  return {{
    place: text(".way .place"), heading: text(".step-text h2"), address: location.search,
    grids: grids.map((grid) => [...grid.querySelectorAll("[data-row]")].map((cell) => cell.textContent)),
    isWhole: [...viewer.querySelectorAll(".board")].every((board) => board.scrollHeight === board.clientHeight),
    sheet: [...viewer.querySelectorAll(".sheet:not([hidden]) [data-cell^=scaled]")].map((cell) => cell.firstChild.data),
    settings: viewer.querySelector(".settings").checkVisibility({{ visibilityProperty: true }}),
  }};
}})()"""

LINES = f"""[...{VIEWER}.querySelectorAll("button.link, .settings [title] > .name")]
  .map((each) => getComputedStyle(each).textDecoration)"""
BESIDE = f"""(() => {{
  const right = (each) => each.getBoundingClientRect().right, terms = {VIEWER}.querySelector(".terms");
  return right(terms) - Math.max(...[...terms.querySelectorAll(".value")].map(right));
}})()"""
"""How wide a scrollbar may be that lies over the terms but over none of their numbers."""

LESSON = f"""(() => {{
  const page = {VIEWER}, text = (selector) => page.querySelector(selector)?.textContent ?? "";
  if (!page?.querySelector(".lesson-said h2")) return null;
  const boxes = [...page.querySelectorAll(".lesson-said, .lesson-picture, .sheet:not([hidden])")];
  return {{
    place: `${{text(".about")}}, ${{text(".count")}}`, said: text(".lesson-said .verdict"), bars: text(".sweep output"),
    isWhole: boxes.every((each) => each.scrollHeight <= each.clientHeight + 1),
    arcs: page.querySelectorAll(".thread .arc").length, typed: page.querySelector(".typed")?.value,
  }};
}})()"""
"""What a moment of a lesson shows."""

UPRIGHT = """(() => {
  const roots = [...document.querySelectorAll("*")].flatMap((each) => each.shadowRoot ?? []), range = new Range();
  const labels = roots.flatMap((each) => [...each.querySelectorAll(".matrix :is(.long, [scope=rowgroup])")]);
  return labels.map((label) => {
    range.selectNodeContents(label);
    const { width, height } = range.getBoundingClientRect();
    return height > width;
  });
})()"""
"""Of each label of a matrix on the page that is to stand upright, whether it does."""


@pytest.fixture(params=["chromium", "firefox", "webkit"])
def engine(request, tmp_path):
    if request.param == "chromium":
        tab = request.getfixturevalue("visit")()
        yield Chromium(tab.page, tab.errors)
        return
    with started(request.param, tmp_path) as driven:
        yield driven


def test_every_step_a_number_set_by_hand_and_presenting(engine, server):
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
    """Type a number in place of the one in focus, and leave the box."""
    box = f"{VIEWER}.querySelector('.panel .by-hand input')"
    engine.read(f"{box}.focus()")
    engine.read(f"{box}.select()")
    for key in (*number, "Enter"):
        engine.press(key)
    engine.read(f"{box}.blur()")


def presented(engine, trace, number):
    """The sheet has the row of the word that asks, before and after Page Down; the settings are away meanwhile."""
    row = [short(each) for each in trace["scaled"].value[0, ASKS]]
    engine.press("p")
    place = until(engine, lambda seen: seen["sheet"] == row and not seen["settings"], SEEN)["place"]
    engine.press("PageDown")
    until(engine, lambda seen: seen["place"] != place and seen["sheet"] == row, SEEN)
    engine.press("PageUp")
    engine.press("Escape")
    until(engine, lambda seen: seen["settings"], SEEN)
    engine.press("w")
    shown(engine, trace, number)


def test_each_kind_of_question_of_a_lesson_is_answered(engine, server):
    engine.open(f"{server}{at(lesson='who-is-it', moment=1)}")
    moment_is(engine, "Who is “it”?", 1)
    engine.read(
        f"{VIEWER}.querySelector('.choices button:nth-child(2)').click()"
    )  # no key presses one in Firefox's headless window
    assert told(engine, "Right: animal")["arcs"] == 12
    engine.press("PageDown")
    moment_is(engine, "Who is “it”?", 2)
    engine.press("PageDown")
    told(engine, "It is street")
    engine.press("PageDown")
    moment_is(engine, "Who is “it”?", 3)
    held(engine, "[type=range]", "ArrowRight", "Enter")
    told(engine, "You said 51 %.")
    to_lesson(engine, 3)
    moment_is(engine, "Masks", 1)
    held(engine, ".typed", *"99", "Enter")
    told(engine, "You said 99 pairs.")
    to_lesson(engine, 4)
    moment_is(engine, "Why divide", 1)
    engine.press("PageDown")
    engine.press("PageDown")
    moment_is(engine, "Why divide", 2)
    engine.press("PageDown")
    until(engine, lambda seen: seen["bars"] == "d_k = 64" and seen["isWhole"], LESSON)
    held(engine, ".sweep [type=range]", "ArrowRight")
    until(engine, lambda seen: seen["bars"] == "d_k = 128" and seen["isWhole"], LESSON)
    to_lesson(engine, 8)
    moment_is(engine, "How a language model", 1)
    engine.press("PageDown")
    told(engine, "It is u.")
    assert engine.errors == []


def moment_is(engine, lesson, number):
    until(engine, lambda seen: lesson in seen["place"] and f"{number} of" in seen["place"] and seen["isWhole"], LESSON)


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
