"""The pictures that lessons have of their own: a mistake with the mask, and the sweep of d_k."""

import json

import pytest
from alone import MODULES, SHEET, Alone

from attnviz.analysis.sweep import LENGTHS, sweep
from attnviz.lessons.lesson import LESSONS
from attnviz.lessons.mistaken import mistaken
from attnviz.lessons.moment import moment, opened

PAGE = """
<!doctype html><meta charset="utf-8"><style>%s</style><body><div class="viewer lesson-page"></div></body>
<script type="module">
    %s
    const made = { sweep: sweepPicture_js.makeSweepPicture, mistake: mistakePicture_js.makeMistakePicture };
    window.draw = (moment, isCovered, isPresented) => {
        const picture = made[moment.picture.kind]();
        document.querySelector(".viewer").replaceChildren(picture.element);
        picture.show(moment, isCovered, isPresented);
        window.uncover = () => picture.show(moment, false, isPresented);
    };
    document.body.dataset.ready = "";
</script>
"""

WIDTHS = """bars => bars.map(bar => {
    const { width, height } = bar.getBoundingClientRect();
    return height > 5 ? width / bar.parentNode.clientWidth : null;
})"""
"""How wide bars are that are seen, of the room that they have."""


@pytest.fixture(scope="module")
def tab(browser):
    tab = Alone(browser.new_context())
    tab.show(PAGE % (SHEET, MODULES), "[data-ready]")
    yield tab
    tab.page.context.close()


@pytest.fixture
def drawn(tab):
    """Draw the picture of a moment; it must make no errors."""

    def start(lesson, number, *, covered=False, presented=False):
        sent = json.loads(moment(lesson, number))
        tab.page.evaluate("of => draw(...of)", [{"picture": sent["picture"]}, covered, presented])
        return tab.page

    yield start
    assert tab.errors == []


def of_kind(kind):
    return [
        (name, number)
        for name, own in LESSONS.items()
        for number, each in enumerate(own.moment, start=1)
        if each.picture and type(each.picture).__struct_config__.tag == kind
    ]


@pytest.mark.parametrize("place", of_kind("mistake"))
def test_a_mistake_stands_beside_what_is_right_once_it_was_answered(drawn, place):
    made = LESSONS[place[0]].moment[place[1] - 1]
    row = mistaken(opened(made.at).trace(), made.picture.of, made.picture.word)
    page = drawn(*place, covered=True)
    assert page.locator(".share-bars").count() == 1, "the wrong shares would give the answer away"
    assert page.locator(".law").count() == 0
    page = drawn(*place)
    right, wrong = page.locator(".share-bars").all()
    for figure, shares in ((right, row.right), (wrong, row.wrong)):
        widths = figure.locator(".bar").evaluate_all(WIDTHS)
        assert widths == pytest.approx(shares.tolist(), abs=0.005)
        assert figure.locator("li.hidden").count() == row.hidden.sum()
        assert figure.locator(".sum").inner_text() == f"Sum {shares.sum():.4f}"
    assert page.locator(".law").all_inner_texts() == [f"Law broken: {law}" for law in row.laws]


@pytest.mark.parametrize("place", of_kind("sweep"))
def test_the_sweep_is_moved_by_keys_and_divided_by_buttons(drawn, place):
    asked = LESSONS[place[0]].moment[place[1] - 1].picture
    page = drawn(*place, covered=True)
    slider = page.get_by_role("slider", name="d_k")
    slider.press("End")
    assert page.locator("output").inner_text() == f"d_k = {asked.d_k // 8}", "the next ones would tell the answer"
    page.evaluate("uncover()")
    assert LENGTHS[int(slider.input_value())] == asked.d_k
    page = drawn(*place)
    assert page.locator("output").inner_text() == f"d_k = {asked.d_k}"
    for key, at in (("Home", 0), ("ArrowRight", 1), ("End", 9), ("ArrowLeft", 8)):
        slider.press(key)
        assert page.locator("output").inner_text() == f"d_k = {LENGTHS[at]}"
        assert slider.get_attribute("aria-valuetext") == f"d_k = {LENGTHS[at]}"
    for id, label in (("none", "not divided"), ("d_k", "divided by d_k"), ("root", "divided by √d_k")):
        if id not in asked.offered:
            assert page.get_by_role("button", name=label, exact=True).count() == 0, "asked about later"
            continue
        page.get_by_role("button", name=label, exact=True).click()
        assert page.get_by_role("button", name=label, exact=True).get_attribute("aria-pressed") == "true"
        swept = sweep()[id][8]
        assert (
            f"spread {swept.spread:.2f}, in theory {swept.expected:.2f} (the curve)."
            in page.locator(".chart p").first.inner_text()
        )
        widths = page.locator(".share-bars .bar").evaluate_all(WIDTHS)
        assert widths == pytest.approx(swept.shares.tolist(), abs=0.005)
        tall = page.locator("rect.bar").evaluate_all("all => all.map(each => Number(each.getAttribute('height')))")
        curve = page.locator(".curve").get_attribute("points").split()
        highest = min(float(point.split(",")[1]) for point in curve)
        assert sum(float(point.split(",")[1]) < highest + 0.01 for point in curve) == 1, "the curve is cut flat"
        assert [each > 0 for each in tall] == [count > 0 for count in swept.counts]
        assert page.locator(".averages dd").last.inner_text() == f"{swept.slope:.4f}"


@pytest.mark.parametrize("place", [of_kind("sweep")[0], of_kind("mistake")[0]])
def test_a_picture_has_room_on_a_phone_and_letters_for_a_hall(drawn, place):
    page = drawn(*place)
    page.set_viewport_size({"width": 390, "height": 640})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1366, "height": 768})
    page = drawn(*place, presented=True)
    sizes = page.locator(".own-picture :is(p, span, dt, dd, button, output, figcaption)").evaluate_all(
        "all => all.filter(each => each.textContent.trim()).map(each => parseFloat(getComputedStyle(each).fontSize))"
    )
    assert min(sizes) >= 0.015 * 768
