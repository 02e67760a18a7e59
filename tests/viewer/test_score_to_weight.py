"""From score to weight: the picture above the numbers of the sheet, in the viewer alone and in lessons."""

import numpy as np
import pytest
from alone import moving, sent
from cases import covering
from documents import fitted_at
from needs import needed
from page import SENTENCE
from readback import go
from tab import at, becomes, expect, frames, resized

printed = needed("paper").printed

BOX, DOTS = ".score-to-weight", ".score-to-weight .dot"
STEPS = ("scores", "scaling", "softmax")
WIDTHS = """bars => bars.map(bar => bar.getBoundingClientRect().width)"""
MOVES = """box => {
    window.moves = 0;
    let was = false;
    new MutationObserver(() => {
        const is = box.classList.contains("moving");
        window.moves += is && !was;
        was = is;
    }).observe(box, { attributeFilter: ["class"] });
}"""
"""Counts how often the picture has begun to move."""
DRAWN = """box => [...box.querySelectorAll("*")].map(each => {
    const attributes = [...each.attributes].map(({ name, value }) => `${name}=${value}`).sort();
    return `${each.tagName} ${attributes.join(" ")} ${each.children.length ? "" : each.textContent}`;
})"""
LETTERS = """box => [...box.querySelectorAll("text, .hint > *")].filter(each => each.textContent && !each.hidden)
    .map(each => {
        const zoom = each.closest("svg") ? each.getScreenCTM().a : 1;
        return 0.65 * parseFloat(getComputedStyle(each).fontSize) * zoom / innerHeight;
    })"""
"""How high the ink of a digit is, as a part of the screen's height."""
CROSSED = """box => [...box.querySelectorAll(".key")].filter(key => {
    const number = key.querySelector(".value").getBoundingClientRect();
    return number.width && [...key.querySelectorAll(".plus, .minus")].some(bar => {
        const { left, right } = bar.getBoundingClientRect();
        return left < number.right - 1 && number.left + 1 < right;
    });
}).length"""
SETTINGS = [{"mask": "causal"}, {"sinks": "drawn", "alibi": "true"}]


def picture(page):
    """The picture once it rests."""
    expect(page.locator(f"{BOX}:not(.moving) svg").first).to_be_visible()
    expect(page.locator(f"{BOX}.moving")).to_have_count(0)
    return page.locator(BOX).first.evaluate(DRAWN)


def trace_of_row(settings):
    return fitted_at(settings if "model" in settings else {"sentence": SENTENCE} | settings).trace


def dragged(page, key, by):
    box = page.locator(DOTS).nth(key).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + by, y, steps=4)


def test_motion_ends_as_it_is_without(opened):
    page = opened(at(view="sheet", step="scores"))
    moving(page)
    picture(page)
    page.locator(BOX).evaluate(MOVES)
    moved = []
    for n, _ in enumerate(STEPS[1:], start=1):
        page.keyboard.press("PageDown")
        becomes(page, lambda n=n: page.evaluate("moves") >= n, True)
        moved.append(picture(page))
    for step, then in zip(STEPS[1:], moved, strict=True):
        page = opened(at(view="sheet", step=step))
        assert picture(page) == then, step


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_one_bar_has_the_attention_weights(opened, settings):
    page = opened(at(view="sheet", step="softmax", cell="1.3.2.1.1"), **settings)
    trace = trace_of_row(settings)
    picture(page)
    widths = np.array(page.locator(f"{BOX} .bar").evaluate_all(WIDTHS))
    (whole,) = page.locator(f"{BOX} svg > .ghost").evaluate_all(WIDTHS)
    expected = trace["attention"].value[0, 2]
    assert widths / whole == pytest.approx(expected, abs=0.003)
    hidden = trace["masked"].value[0, 2] == -np.inf
    assert [text == "hidden" for text in page.locator(f"{BOX} .value").all_text_contents()] == hidden.tolist()
    shown = page.locator(DOTS).evaluate_all("dots => dots.map(dot => dot.style.opacity)")
    assert shown == [str(int(not each)) for each in hidden]


def test_chain_ends_in_the_score(opened):
    settings = {"d_model": "64", "heads": "1"}
    page = opened(at(view="sheet", step="scores"), **settings)
    trace = trace_of_row(settings)
    picture(page)
    chains = page.locator(f"{BOX} .key").evaluate_all(
        "keys => keys.map(key => [...key.querySelectorAll('.plus, .minus')].map(bar => "
        "(bar.matches('.plus') ? 1 : -1) * Number(bar.getAttribute('width'))))"
    )
    sums, scores = np.array([sum(chain) for chain in chains]), trace["scores"].value[0, 1]
    unit = sums @ scores / (scores @ scores)
    assert unit > 0
    assert sums == pytest.approx(unit * scores, abs=0.1)
    assert max(map(len, chains)) <= 8


@pytest.mark.parametrize(
    ("step", "settings", "stage"),
    [("scaling", {}, "scaled"), ("softmax", {"scaled": "false"}, "scores"), ("softmax", {"alibi": "true"}, "biased")],
)
def test_dragged_dot_is_set_by_hand(opened, step, settings, stage):
    page = opened(at(view="sheet", step=step, picked=stage, cell="1.2.4.1.1"), **settings)
    picture(page)
    weights = page.locator(f"{BOX} .key .weight")
    before = weights.all_text_contents()
    dragged(page, 3, 240)
    during = weights.all_text_contents()
    assert all(during)
    assert during != before
    assert sent(page) == []  # while it is dragged the browser alone counts
    page.mouse.up()
    (change,) = sent(page)
    _, message = change
    box = page.get_by_role("textbox", name="Set by hand")
    box.fill(str(message["value"]))
    box.press("Enter")
    becomes(page, lambda: sent(page), [change, change])
    assert message["cell"] == f"{stage}[0,1,3]"


def test_keys_move_a_dot_and_escape_takes_it_back(opened):
    page = opened(at(view="sheet", step="softmax"), changes="scaled[0,1,2]=0.5")
    picture(page)
    dots = page.locator(DOTS)
    assert dots.evaluate_all("dots => dots.filter(dot => dot.tabIndex === 0).length") == 1
    dots.nth(2).focus()
    page.keyboard.press("ArrowRight")
    becomes(page, lambda: sent(page), [["change", {"cell": "scaled[0,1,2]", "value": 0.6}]])
    page.keyboard.press("Escape")  # what was moved
    page.keyboard.press("Escape")  # what was set
    becomes(page, lambda: sent(page)[1:], [["drop", 0]])
    page.keyboard.press("ArrowDown")
    expect(dots.nth(3)).to_be_focused()
    page.get_by_role("button", name="As computed").click()
    becomes(page, lambda: sent(page)[2:], [["drop", 0]])


@pytest.mark.parametrize(("lesson", "number"), [("one-number", 1), ("one-number", 5)])
def test_nothing_that_is_asked_is_drawn(taught, lesson, number):
    page = taught(at(lesson=lesson, moment=number))
    frames(page)
    picture(page)
    assert page.locator(f"{BOX} .weight").all_text_contents() == [""] * (page.locator(f"{BOX} .key").count() + 1)
    assert set(page.locator(f"{BOX} .bar").evaluate_all(WIDTHS)) <= {0, 1}  # its border
    assert page.locator(f"{BOX} [role=slider]").count() == 0


@covering(settings=[{}, {"model": "who-is-it"}, {"beside": "seed=43"}], size=[(1366, 768), (3840, 2160), (1024, 768)])
def test_each_press_of_next_draws_more_in_large_letters(opened, settings, size):
    page = opened(at(view="sheet", present=1, step="scores", route="every-step"), **settings)
    page.add_style_tag(content=".viewer.presenting { height: 100vh !important } #other { display: none }")
    resized(page, *size)
    seen = []
    for _ in (*STEPS[:2], "exp", "weights"):
        becomes(page, lambda: [before for before in seen if before == picture(page)], [])
        seen.append(picture(page))
        boxes = page.locator(BOX)
        assert boxes.count() == 1 + ("beside" in settings)
        for box in boxes.all():
            assert min(box.evaluate(LETTERS)) >= 0.015
            assert box.evaluate("box => box.getBoundingClientRect().bottom <= innerHeight")
        page.keyboard.press("PageDown")


def test_two_passes_have_a_picture_each_on_one_axis(opened):
    settings = {"mask": "causal", "beside": "mask="}
    page = opened(at(view="sheet", step="softmax", cell="1.3.2.1.1"), **settings)
    picture(page)
    for nth, trace in enumerate([trace_of_row({}), trace_of_row({"mask": "causal"})]):
        box = page.locator(BOX).nth(nth)
        widths = np.array(box.locator(".bar").evaluate_all(WIDTHS))
        assert widths / widths.sum() == pytest.approx(trace["attention"].value[0, 2], abs=0.005)
        assert box.locator("[role=slider]").count() == (3 if nth else 0), "only B can be changed"
    ticks = [box.locator(".tick").all_text_contents()[:-1] for box in page.locator(BOX).all()]
    assert ticks[0] == ticks[1]


def test_no_number_is_written_over_a_bar(opened):
    page = opened(at(view="sheet", step=STEPS[0]))
    for width in (390, 1366):
        resized(page, width, 844)
        for step in STEPS:
            go(page, step=step)
            picture(page)
            becomes(page, lambda: page.locator(BOX).evaluate(CROSSED), 0)


def test_paper_has_the_picture_at_rest(opened):
    page = opened(at(view="sheet", step="softmax"))
    text = printed(page)[0].text
    assert "attention weight" in text
    assert "Drag" not in text
    assert "As computed" not in text
