"""From step to step and number to number, by hundreds of clicks and in two tabs, in a real browser."""

import pytest
from documents import fitted_at
from page import SENTENCE
from tab import PLAYED_AND_PAUSED, at, becomes, cell, expect, heading, parameters, step_is

from attnviz import Settings, trace_of
from attnviz.core.numerals import digits
from attnviz.scene.address import query
from attnviz.scene.scene import FIRST_VISIT
from attnviz.scene.with_pass import selected

TRACE = trace_of(Settings(SENTENCE))


def trail(page):
    return page.get_by_role("navigation", name="The numbers that were unfolded")


def test_steps_need_no_server(visit):
    tab = visit()
    page = tab.open(at(step="Scores"))
    tab.told.clear()
    tab.actions.clear()
    cell(page, "Scores", 3, 4).click()
    page.get_by_role("radio", name="head 2").click()
    page.locator(".terms button").first.click()
    page.get_by_role("button", name="in order").click()
    page.keyboard.press("PageDown")
    page.get_by_role("button", name="Q, K, V", exact=True).click()
    page.get_by_role("option", name="mat").click()
    page.get_by_role("button", name="Play").evaluate(PLAYED_AND_PAUSED)
    page.keyboard.press("p")
    page.keyboard.press("Escape")
    expect(page.locator("html[data-presenting]")).to_have_count(0)
    step_is(page, 3)  # of those of the sheet
    tab.settled()
    assert (tab.told, tab.actions) == ([], [])


def test_reload_and_link_restore_the_place(visit):
    tab = visit()
    page = tab.open(at(step="Softmax", heads=4))
    cell(page, "Attention", 3, 4).click()
    page.locator(".terms button").nth(2).click()
    number = page.locator(".panel h3").inner_text()
    crumbs = trail(page).inner_text()
    there = parameters(page)
    assert there.items() >= {"heads": "4", "step": "softmax", "picked": "attention"}.items()
    other = visit()
    other.open(at(**there))
    page.reload()
    for each in (tab, other):
        expect(heading(each.page, number)).to_be_visible()
        step_is(each.page, 6)
        assert trail(each.page).inner_text() == crumbs
        becomes(each.page, lambda each=each: parameters(each.page), there)


def test_arrows_move_through_a_matrix(opened):
    page = opened(at(step="softmax", cell="2.1.1.1.1"))
    cell(page, "Attention", 0, 0).click()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft"):
        page.keyboard.press(key)
    value = digits(TRACE["attention"].value[1, 1, 1])
    expect(heading(page, f"attention[head 2, cat, cat] = {value}")).to_be_visible()
    expect(page.locator(".terms .total:not(.rest) .value")).to_have_text(value)
    expect(page.get_by_label("Queries").locator(".query")).to_contain_text("cat")
    becomes(page, lambda: parameters(page).get("cell"), "2.2.2.1.1")
    expect(cell(page, "Attention", 1, 1)).to_be_focused()
    step_is(page, 6)


@pytest.mark.parametrize(
    ("address", "mended"),
    [
        ({}, query(FIRST_VISIT)),
        ({"step": "Scores"}, {"sentence": SENTENCE, "step": "scores"}),
    ],
    ids=["first visit", "older link"],
)
def test_back_leaves_the_app(visit, address, mended):
    tab = visit()
    tab.page.goto("about:blank")
    page = tab.open(at(**address))
    becomes(page, lambda: parameters(page), mended)
    page.go_back()
    becomes(page, lambda: page.url, "about:blank")


CLICKS = """([selector, n]) => {
  const roots = [...document.querySelectorAll("*")].map((each) => each.shadowRoot).filter(Boolean);
  const found = () => [document, ...roots].flatMap((root) => [...root.querySelectorAll(selector)]);
  for (let i = 0; i < n; i += 1) found()[i % found().length].click();
}"""


def shows_its_address(tab):
    """Wait until the words, the settings and the number in focus are those of the pass that the address stands for."""
    page = tab.settled()
    words, selects = page.get_by_role("listbox", name="Queries").locator(".text"), page.locator(".settings > .choice")
    seed, number = page.get_by_role("textbox", name="Seed"), page.locator(".panel h3")

    def shown():
        picked = selects.locator("option:checked").all_inner_texts()
        return [words.all_inner_texts(), picked[1:], seed.input_value(), number.inner_text()]

    def meant():
        fitted = fitted_at(parameters(page))
        options, trace = fitted.scene.options, fitted.trace
        score = trace.cell_at("scores", selected(fitted.scene, trace))
        picked = [str(options.d_model), str(options.n_heads), options.mask]
        said = f"{trace.name_of(score)} = {digits(score.value)}"
        return [list(trace.labels["query"]), picked, str(options.seed), said]

    becomes(page, lambda: [pair for pair in zip(shown(), meant(), strict=True) if pair[0] != pair[1]], [])


STORM = """async (settings, moves) => {
  // a move that overtakes another on its way may load the page anew (seen once); further back is another test's page
  const traversed = (by) => new Promise((done) => {
    if (!(by < 0 ? navigation.canGoBack : navigation.canGoForward)) return done();
    addEventListener("popstate", done, { once: true });
    history.go(by);
  });
  const [, , , mask] = settings.querySelectorAll("select"), seed = settings.querySelector(".press");
  for (const move of moves) {
    if (Number(move)) await traversed(Number(move));
    else if (move === "seed") seed.click();
    else {
      mask.value = move;
      mask.dispatchEvent(new Event("change"));
    }
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
}"""


def test_storm_of_clicks_ends_at_the_address(visit):
    tab = visit()
    page = tab.open(at(sentence="one two three", step="scores", cell="1.2.3.1.1"))
    page.get_by_role("button", name="Another seed").click()
    becomes(page, lambda: "seed" in parameters(page), True)
    for moves in ("seed -1 causal 1", "-1 seed 1 -1 none 1", "none seed causal -1"):
        page.locator(".settings").evaluate(STORM, moves.split())
        shows_its_address(tab)
    for selector, n in ((".settings .press", 20), (".viewer [data-row]", 80)):
        page.evaluate(CLICKS, [selector, n])
    cell(page, "Scores", 0, 1).click()
    shows_its_address(tab)


def test_two_tabs_are_independent(visit):
    sentences = ("one two three", "four five six seven")
    tabs = [visit() for _ in sentences]
    for tab, words in zip(tabs, sentences, strict=True):
        tab.open(at(sentence=words, step="scores", cell="1.2.3.1.1"))
    for tab in (*tabs, *tabs, tabs[0]):  # once more in one of them, as both come by the same seeds
        tab.page.bring_to_front()  # behind another there is a frame a second
        tab.page.get_by_role("button", name="Another seed").click()
    for tab, words in zip(tabs, sentences, strict=True):
        tab.page.bring_to_front()
        shows_its_address(tab)
        becomes(tab.page, lambda tab=tab: parameters(tab.page).get("sentence"), words)
    assert len({parameters(tab.page)["seed"] for tab in tabs}) == 2
