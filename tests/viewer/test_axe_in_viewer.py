"""axe-core finds nothing in the viewer alone: in models, pairs and talks, with the print dialog open, and in a file."""

from axe import violations_of_page, violations_of_viewer
from boxes import coloured
from contrast import faint
from documents import fitted_at
from tab import at, expect, from_menu, resized, step_is

from attnviz import Settings, show, trace_of
from attnviz.explain.steps import steps_of

RECALL = {"model": "recall", "sentence": "g 5 g"}
PAIR = {"sentence": "the cat sat", "beside": "sentence=the cat ran"}
LETTERS = {"model": "microgpt", "sentence": "el"}
TRANSLATOR = {"model": "translator", "sentence": "the cow sleeps"}
CHANGED = {"sentence": "the cat sat", "mask": "causal", "changes": "scores[0,1,0]=3"}
VIEWS = [
    ("", {"model": "who-is-it"}),
    (at(step="softmax", view="sheet"), PAIR),
    (at(step="qkv-2", view="sheet", present=1), RECALL),
    (at(step="whole-pass", view="matrices"), RECALL),
    (at(step="answer", view="sheet"), LETTERS),
    (at(step="mlp", view="matrices", present=1), LETTERS),
    (at(step="tokens", view="matrices"), {"model": "by-hand"}),
    (at(step="weighted-sum", view="sheet", ask="what would move it"), {"sentence": "the cat sat", "heads": "2"}),
    (at(step="softmax", view="matrices", ask="what if"), CHANGED),
    ("", TRANSLATOR),
    (at(step="softmax-3", view="sheet"), TRANSLATOR),
    (at(step="qkv-3", view="matrices"), TRANSLATOR),
    (at(step="softmax-3", view="heads"), TRANSLATOR),
    ("", LETTERS | {"beside": "sentence=e", "draw": "1,3,1,0"}),
]
"""Where one is, and what is shown there: of few numbers, as each takes its time."""
THEMES = ("light", "dark")
ALIKE = ("Tokens", "Scaling", "Concatenation")
"""Steps of which another one has all kinds of parts."""


def test_axe_finds_nothing_in_any_view(opened):
    for place, (address, shown) in enumerate(VIEWS):
        page = opened(address, **shown)
        page.evaluate("() => { document.querySelector('#other').hidden = true }")  # it lies over what is low
        for theme in THEMES:
            assert faint_in(page, theme) == [[], [], []], (address, shown, theme)
        if place % 2:
            assert violations_of_viewer(page) == [], (address, shown)
        for width in (683, 320):  # at 200 and at 400 % of a usual screen all of it is as wide as that
            resized(page, width, 384)
            assert page.evaluate("document.documentElement.scrollWidth") == width, (address, shown)
        if not place % 2:
            assert violations_of_viewer(page) == [], (address, shown)


def test_axe_finds_nothing_in_any_step(opened):
    seen = {"Start", "Whole pass", *ALIKE}  # the first two are views; a second layer's steps look like the first's
    for shown in ({"sentence": "the cat sat", "d_model": "4", "mask": "causal", "positions": "sinusoidal"}, RECALL):
        page = opened(**shown)
        page.evaluate("() => { document.querySelector('#other').hidden = true }")
        for number, step in enumerate(steps_of(fitted_at(shown).trace), 1):
            step_is(page, number)
            if step.title not in seen:
                assert violations_of_viewer(page) == [], step.id
                assert faint_in(page, THEMES[len(seen) % 2]) == [[], [], []], step.id
            seen.add(step.title)
            page.keyboard.press("PageDown")
        expect(page.locator(".way .end button")).to_be_disabled()


def faint_in(page, theme):
    """What has too little contrast in a theme, in which the page is left."""
    page.evaluate(_COLOURED, coloured(theme))
    return faint(page)


_COLOURED = """(colours) => {
  const ours = document.querySelector("#colours") ?? document.createElement("style");
  ours.id = "colours";
  ours.textContent = colours;
  document.head.append(ours);
  show({});
  return drawn();
}"""


def test_buttons_are_24_pixels_high(opened):
    page = opened(at(step="qkv-2", view="sheet"), **RECALL)
    page.add_style_tag(content=".viewer { height: 34rem !important }")  # its least
    resized(page, 1366, 640)
    page.evaluate("drawn()")
    folded = page.locator(".sheet tr.button button")
    assert folded.count() == 2
    for each in folded.all():
        assert each.bounding_box()["height"] >= 24
    assert page.locator(".sheet").evaluate("(box) => box.scrollHeight <= box.clientHeight")


def test_print_pages_add_no_landmark(opened):
    page = opened(at(view="sheet"), model="who-is-it")
    from_menu(page, "Print").click()
    expect(page.get_by_role("dialog", name="Print")).to_be_visible()
    assert violations_of_viewer(page) == []
    page.keyboard.press("Escape")
    page = opened(at(view="matrices"), model="who-is-it")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".printed").count() > 0
    names = page.locator("section[aria-label=Training]").count()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert names == 1


def test_presented_file_has_a_heading(offline):
    html = show(trace_of(Settings("the cat sat", d_model=4))).html
    page = offline(html, "#step=softmax&view=sheet&present=1")
    expect(page.locator(".viewer.presenting")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    for theme in THEMES:
        assert violations_of_page(page, theme) == []
