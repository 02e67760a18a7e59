"""A talk: what is seen of it from the last row, and where a remote leads, with the viewer alone in a real browser."""

import json
import re
from itertools import pairwise

import pytest
from alone import fill_the_window, sent, written
from patience import PATIENCE_MS
from readback import go
from sight import INK
from tab import becomes, expect, frames, move_mouse, parameters, resized

LEAST = 1.5
"""Per cent of a window's height that the ink of a digit has."""
SIZES = ((1024, 768), (1366, 768), (3840, 2160))  # 1920 x 1080 is laid out as the last
WHO = {"model": "who-is-it"}
TALKS = {
    "who-is-it": WHO,
    "recall": {"model": "recall"},
    "microgpt": {"model": "microgpt", "sentence": "eliza"},
    "by-hand": {"model": "by-hand"},
    "mirror": {"model": "mirror"},
    "own": {"sentence": "the cat sat on the mat"},
}
EVERY = "&route=every+step"
MOST = {"who-is-it": 18, "own": 16, "recall": 32, "microgpt": 32}
"""How many stops every step takes at most: of long words, short ones, two layers and letters."""

_PRESS = """const press = (key) =>
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));"""
_WALKED = """async () => {
  const root = document.querySelector(".viewer"), at = () => new URLSearchParams(location.search);
  const place = () => [at().get("step") ?? "question", at().get("reveal")];
  %s
  const ink = %s;
  const main = root.querySelector(".main"), stops = [];
  const settled = async () => { // what observes sizes may draw again frames later, on a busy machine
    for (let before = "", same = 0; same < 2; await drawn()) { // and what moves has its digits at rest
      same = main.innerText === before && !main.querySelector(".moving") ? same + 1 : 0;
      before = main.innerText;
    }
  };
  for (let now = place(); String(stops.at(-1)?.place) !== String(now); now = place()) {
    await settled();
    const [[least, text]] = ink(root), names = [...root.querySelectorAll(".sheet:not([hidden]) tr.names th button")];
    const shown = main.innerText;
    stops.push({ place: now, least, text, shown, words: names.map((each) => each.innerText) });
    press("PageDown");
  }
  return stops;
}"""
_LED_BACK = """async (shown) => {
  const main = document.querySelector(".viewer .main");
  %s
  for (const expected of shown.reverse().slice(1)) {
    press("PageUp");
    const deadline = performance.now() + %d;
    while (main.innerText !== expected && performance.now() < deadline) await drawn();
    if (main.innerText !== expected) return { expected, is: main.innerText };
  }
  return null;
}"""
"""From the last of what was shown to the first: where Page Up does not lead to what was shown, with that."""

_SCROLLED = """() => [...document.querySelectorAll(".thread, .terms, .writers, .whole, .whole .row, .step-text")]
  .filter((each) => each.checkVisibility())
  .filter((each) => each.scrollWidth > each.clientWidth + 4
    || (each.scrollHeight > each.clientHeight + 4 && !each.matches(".row")))
  .map((each) => each.className)"""


def talk(opened, settings, route="", **more):
    """A talk from its first press on, on all of the window."""
    page = opened(f"?present=1&view=sheet{route}&reveal=0", **settings, **more)
    fill_the_window(page)
    frames(page)
    return page


def place(page):
    return parameters(page).get("step", "question"), parameters(page).get("reveal")


def pressed(page, key="PageDown"):
    """Press a key of a remote; whether it leads anywhere."""
    before = place(page)
    page.keyboard.press(key)
    frames(page, 1)
    return place(page) != before


def walked(page):
    """All stops that Page Down leads to: where each is, its least ink and of what, the words of the sheet."""
    return page.evaluate(_WALKED % (_PRESS, INK))


def talk_on_a_small_screen(opened, name, route=""):
    page = talk(opened, TALKS[name], route)
    resized(page, *SIZES[0])
    return page


@pytest.mark.parametrize("name", [pytest.param(each, marks=[pytest.mark.slow] * (each != "own")) for each in TALKS])
def test_short_route_is_legible_and_has_at_most_seven_presses(opened, name):
    page = talk_on_a_small_screen(opened, name)
    short = walked(page)
    for stop in short:
        assert stop["least"] >= LEAST, stop
        assert name != "who-is-it" or not stop["words"] or "street" in stop["words"], "the rival is never left out"
    assert short[0]["place"][0] == "question"
    offers = json.loads(written(**TALKS[name]))["offer"] is not None
    assert 4 <= len(short) - 1 + offers <= 7
    assert [act for act, _ in sent(page)] == ["example"] * offers, "the last press alone asks for anything"


@pytest.mark.parametrize("name", [pytest.param(each, marks=[pytest.mark.slow] * (each != "own")) for each in MOST])
def test_full_route_is_legible_and_every_press_shows_something(opened, name):
    page = talk_on_a_small_screen(opened, name, EVERY)
    whole = walked(page)
    if name == "own":
        assert page.evaluate(_LED_BACK % (_PRESS, PATIENCE_MS), [stop["shown"] for stop in whole]) is None
        assert not pressed(page, "PageUp"), "that was the first"
    for stop in whole:
        assert stop["least"] >= LEAST, stop
    bands = page.evaluate("given.steps.filter(({ bands }) => bands.length).map(({ id }) => id)")
    assert list(dict.fromkeys(stop["place"][0] for stop in whole[:-1])) == ["question", *bands], "and every step"
    assert 10 < len(whole) <= MOST[name]
    assert all(one["shown"] != other["shown"] for one, other in pairwise(whole)), "each press shows something"


def test_largest_screen_is_legible(opened):
    page = talk(opened, WHO)
    resized(page, *SIZES[-1])
    for stop in walked(page):
        assert stop["least"] >= LEAST, stop


def test_digit_jumps_to_its_stop(opened):
    page = talk(opened, WHO)
    counted = page.locator(".way .place")
    for number in (2, 6, 4, 1):
        page.keyboard.press(str(number))
        expect(counted).to_have_text(f"stop {number} of 6")
    page.keyboard.press("9")
    page.keyboard.press("0")
    expect(counted).to_have_text("stop 1 of 6")


_BELOW_THE_EDGE = """(root) => {
  const edge = root.querySelector(".edge"), { top, bottom, left, right } = edge.getBoundingClientRect(), found = [];
  const letters = document.createTreeWalker(root, NodeFilter.SHOW_TEXT), range = document.createRange();
  for (let text = letters.nextNode(); text; text = letters.nextNode()) {
    range.selectNodeContents(text);
    const box = range.getBoundingClientRect(), own = text.parentElement;
    const isSeen = text.data.trim() && own.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    const isUnder = box.right > left && box.left < right && box.bottom > top && box.top < bottom;
    if (isSeen && isUnder && own !== edge && !own.closest(".sr-only")) found.push(text.data);
  }
  return [edge.textContent, bottom <= innerHeight, found];
}"""


@pytest.mark.parametrize("name", ["own", pytest.param("microgpt", marks=pytest.mark.slow)])
def test_end_notice_covers_nothing(opened, name):
    page = talk(opened, TALKS[name])
    for size in SIZES[:2]:
        resized(page, *size)
        page.keyboard.press("End")
        page.keyboard.press("PageDown")
        frames(page)
        said, is_in_sight, under = page.locator(".viewer").evaluate(_BELOW_THE_EDGE)
        assert said.startswith("This is the last reveal.")
        assert is_in_sight
        assert under == []


def test_press_writes_a_letter_until_the_name_ends(opened):
    page = talk(opened, {"model": "microgpt", "sentence": "eli"})
    labels = page.locator(".next-letter .bar-of .name")
    expect(labels).to_have_count(11)
    expect(labels.last).to_have_text("other 17")
    for _ in range(2):
        page.keyboard.press("PageDown")
    assert sent(page) == [["next", True]] * 2
    assert place(page)[0] == "question"
    page = talk(opened, {"model": "microgpt"}, present="1")
    expect(page.locator(".thread .words .text")).to_have_text(["BOS"])
    page.keyboard.press("PageDown")
    assert sent(page) == [["next", True]]
    page = talk(opened, TALKS["microgpt"])
    assert pressed(page), "it has ended"
    assert sent(page) == []


def test_talk_of_a_finished_name_starts_over(opened):
    page = opened("", model="microgpt", sentence="eliza")
    before = page.url
    page.keyboard.press("p")
    assert sent(page) == [["anew", True]]
    assert page.url == before, "what was there is a step of the history of its own"
    page.evaluate("(document) => show(document)", json.loads(written(model="microgpt", sentence="")))
    becomes(page, lambda: parameters(page).get("present"), "1")
    expect(page.locator(".thread .words .text")).to_have_text(["BOS"])
    page.keyboard.press("PageDown")
    assert sent(page)[1:] == [["next", True]]
    page = opened("?step=scores", model="microgpt", sentence="eliza")
    page.keyboard.press("p")
    assert sent(page) == [], "of another step all that is written is shown"


def test_controls_hide_until_the_mouse_moves(opened):
    page = talk(opened, WHO)
    resized(page, *SIZES[0])
    seen = "(each) => each.checkVisibility({ opacityProperty: true })"
    bars = page.locator(".way, .foot")
    assert bars.evaluate_all(f"(all) => all.map({seen})") == [False, False]
    move_mouse(page)
    becomes(page, lambda: bars.evaluate_all(f"(all) => all.map({seen})"), [True, True])
    boxes = [each.bounding_box() for each in page.locator(".way button, .toolbar > button, .toolbar .choice").all()]
    boxes = [each for each in boxes if each]
    for nth, one in enumerate(boxes):
        for other in boxes[nth + 1 :]:
            across = min(one["x"] + one["width"], other["x"] + other["width"]) - max(one["x"], other["x"])
            down = min(one["y"] + one["height"], other["y"] + other["height"]) - max(one["y"], other["y"])
            assert min(across, down) <= 1
    page.keyboard.press("PageDown")
    becomes(page, lambda: bars.evaluate_all(f"(all) => all.map({seen})"), [False, False])


def test_full_route_is_in_the_address(opened):
    page = talk(opened, WHO)
    move_mouse(page)
    page.get_by_role("button", name="Every step").click()
    becomes(page, lambda: parameters(page).get("route"), "every-step")
    page.get_by_role("button", name="Short").click()
    becomes(page, lambda: "route" in parameters(page), False)


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("who-is-it", ("scores", "answer")),
        ("own", ("qkv", "weighted-sum")),
        ("mirror", ("positions", "qkv")),
        pytest.param("microgpt", ("input-norm", "softmax", "answer", "whole-pass"), marks=pytest.mark.slow),
        pytest.param("recall", ("scaling-1", "softmax-2", "whole-pass"), marks=pytest.mark.slow),
    ],
)
def test_all_words_drops_rows_rather_than_shrink(opened, name, steps):
    page = opened("?present=1&view=matrices", **TALKS[name])
    fill_the_window(page)
    for size in SIZES[:2]:
        resized(page, *size)
        for step in steps:
            go(page, view="matrices", step=step, present=True)
            frames(page)
            [ink, text], *_ = page.evaluate(f"() => ({INK})(document.querySelector('.viewer'))")
            assert ink >= LEAST, (step, size, text)
            assert page.locator(".plane.unwritten").count() == 0
            assert page.evaluate(_SCROLLED) == [], (step, size)
            for title in page.locator(".matrix figcaption .some").all_inner_texts():
                assert " of " in title


def test_all_words_states_what_is_left_out(opened):
    page = opened("?present=1&view=matrices&step=scores", **WHO)
    resized(page, *SIZES[0])
    labels = page.locator(".matrix .labels.of-rows").last.locator("span")
    expect(page.locator(".matrix figcaption .some").first).to_have_text(re.compile(r"^[2-7] of 8 × \d+ of 12$"))
    assert "tired" in page.locator(".matrix .labels span.lit").all_inner_texts()
    assert labels.count() < 12
