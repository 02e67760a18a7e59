"""A viewer in somebody's frame, and in a file: what is seen in a column of text, and where one is after a reload."""

import pytest
from alone import ALONE, MODULES, PAGE, SHEET, written
from tab import at, becomes, expect, resized

from attnviz import Settings, show, trace_of
from attnviz.viewer.bundle import inert

pytestmark = pytest.mark.browser

IN_A_COLUMN = '<iframe src="%s/inner?step=softmax" style="width: 900px; height: 720px; border: none"></iframe>'
"""As in the README."""
_CUT = """(page) => {
  const boxOf = (each) => each.getBoundingClientRect(), all = (selector) => [...page.querySelectorAll(selector)];
  const { left, right, top, bottom } = boxOf(page.querySelector(".map"));
  const isOut = (box) => box.left < left - 1 || box.right > right + 1 || box.top < top - 1 || box.bottom > bottom + 1;
  const cut = all(".map .step, .map .title").filter((each) => isOut(boxOf(each)));
  const beside = all(".way *, .training *").filter((each) => boxOf(each).right > innerWidth + 1);
  return [...cut, ...beside].map(({ tagName, textContent }) => `${tagName} ${textContent}`);
}"""
"""Steps of the map that are not all in sight, and parts above the sheet that reach out of the page."""


_DRAWN_AGAIN = """async (box) => {
  const frames = async (n) => { for (let i = 0; i < n; i += 1) await new Promise(requestAnimationFrame); };
  let n = 0;
  const observer = new MutationObserver((all) => { n += all.length; });
  observer.observe(box, { subtree: true, childList: true, attributes: true });
  await frames(3);
  observer.disconnect();
  return n;
}"""
"""How often a part is drawn again while nothing happens."""


@pytest.mark.slow
def test_a_frame_of_900_pixels_has_the_sheet_with_a_row_for_each_word(browser):
    context = browser.new_context(viewport={"width": 1366, "height": 900})
    page = context.new_page()
    inner = PAGE % (SHEET, MODULES, inert(written(model="who-is-it").encode()))
    page.route(f"{ALONE}/inner*", lambda route: route.fulfill(body=inner, content_type="text/html"))
    page.route(f"{ALONE}/", lambda route: route.fulfill(body=IN_A_COLUMN % ALONE, content_type="text/html"))
    page.goto(f"{ALONE}/")
    frame = page.frame_locator("iframe")
    rows = frame.locator(".hand .rows > tbody > tr")
    expect(rows).to_have_count(12)
    sizes = frame.locator(".hand .rows td .stop").evaluate_all(
        "(all) => all.map((each) => parseFloat(getComputedStyle(each).fontSize))"
    )
    assert min(sizes) >= 15
    frame.get_by_role("button", name="All words").click()
    expect(frame.locator(".picture")).to_be_visible()
    context.close()


@pytest.mark.slow
def test_an_address_to_embed_has_it_in_a_window_of_that_width_too(opened):
    search = "?step=softmax&embed=true"
    for width, more in ((900, {}), (830, {"model": "who-is-it"})):
        page = opened(search, **more)
        expect(page.locator(".picture")).to_be_visible()
        resized(page, width, 720)
        page.evaluate("([search, document]) => beginAgain(search, document)", [search, written(**more)])
        expect(page.locator(".hand .rows").first).to_be_visible()
        expect(page.locator(".picture")).to_be_hidden()


@pytest.mark.slow
@pytest.mark.parametrize(("model", "step"), [("recall", "scores-2"), ("who-is-it", "scores"), ("microgpt", "scores")])
def test_every_step_of_the_map_is_seen_in_windows_and_frames_of_any_width(opened, model, step):
    page = opened(at(step=step, view="sheet"), model=model)
    for width in (1366, 1024, 830, 700):
        resized(page, width, 720)
        becomes(page, lambda: page.locator(".viewer").evaluate(_CUT), [], width)
    page.get_by_role("toolbar", name="All steps").get_by_role("button").last.click()
    expect(page.locator(".map .step").last).to_have_attribute("aria-current", "step")
    becomes(page, lambda: page.locator(".whole").evaluate(_DRAWN_AGAIN), 0, "its own scrollbar has it drawn for ever")


@pytest.mark.slow
def test_a_file_keeps_its_place_in_its_address_and_after_a_reload(browser, tmp_path):
    file = tmp_path / "a page.html"
    file.write_text(show(trace_of(Settings("the cat sat on the mat"))).html, "utf-8")
    context = browser.new_context(offline=True, viewport={"width": 1366, "height": 768})
    page, errors = context.new_page(), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    heading = page.locator(".step-text h2")
    page.goto(f"{file.as_uri()}#step=softmax&view=sheet&present=1")
    expect(heading).to_contain_text("Scores become attention weights")
    expect(page.locator(".viewer.presenting")).to_be_visible()
    page.keyboard.press("PageDown")
    expect(heading).to_contain_text("Collect the values")
    for _ in range(2):
        becomes(page, lambda: "step=weighted-sum" in page.evaluate("location.hash"), True)
        page.reload()
        expect(heading).to_contain_text("Collect the values")
        expect(page.locator(".viewer.presenting")).to_be_visible()
    context.close()
    assert errors == []


@pytest.mark.slow
def test_the_numbers_of_a_file_are_as_wide_as_the_font_that_is_there(browser, tmp_path):
    """No number and no name is cut, in a font as wide as a typewriter's."""
    file = tmp_path / "wide.html"
    wide = show(trace_of(Settings("the animal saw the creature again"))).html
    file.write_text(wide.replace("--st-font: ", "--st-font: monospace, "), "utf-8")
    context = browser.new_context(offline=True, viewport={"width": 1100, "height": 768})
    page = context.new_page()
    page.goto(f"{file.as_uri()}#step=weighted-sum&view=sheet")
    expect(page.locator(".sheet td.number").first).to_be_visible()
    over = page.locator(".sheet :is(td.number, th button)").evaluate_all(
        """(all) => all.filter((each) => {
          const letters = document.createRange();
          letters.selectNodeContents(each);
          return letters.getBoundingClientRect().width > each.getBoundingClientRect().width + 1;
        }).map((each) => each.textContent)"""
    )
    context.close()
    assert over == []
