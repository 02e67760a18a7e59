"""A hundred quick clicks, and two tabs of one browser: what is shown is what the address says."""

import pytest
from documents import fitted_at
from tab import at, becomes, cell, parameters

from attnviz.core.numerals import digits
from attnviz.scene.with_pass import selected

pytestmark = pytest.mark.browser

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


def test_a_hundred_quick_clicks_and_a_storm_of_back_and_forward_end_in_what_the_address_says(visit):
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


def test_two_tabs_of_one_browser_are_two_scenes(visit):
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
