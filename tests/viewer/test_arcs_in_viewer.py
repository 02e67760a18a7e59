"""Arcs in the viewer: those of two layers in one picture."""

import pytest
from alone import number
from answers import RECALL, trace_of_model
from page import SENTENCE
from passes import TRACES
from sight import rectangles
from tab import becomes, expect, parameters, resized

TRACE = trace_of_model("recall", RECALL)
FIRST, LAST = (TRACE[f"attention_{n}"].value[0] for n in (1, 2))
# a score whose weight stays 1 is set by hand, as the training of the model as it is would be drawn instead
AT_REST = {"model": "recall", "sentence": RECALL, "changes": "scores_1[0,0,0]=0"}
ABOVE, BELOW = ".thread .spoken + .arcs", ".thread .words ~ .arcs"
THICKEST, LEAST, LITTLE = 13, 0.02, 0.01

_DRAWN = """(all) => all.map(({ dataset, firstChild: { style, classList } }) => {
  const kind = ["lit", "faint"].find((each) => classList.contains(each)) ?? "";
  return [dataset.arc, parseFloat(style.getPropertyValue("--thick")), kind];
})"""


def arc_of(text):
    return tuple(map(int, text.split("-")))


def drawn(page, place):
    """The arcs of a drawing, by query and key: how thick each is, and whether it is lit or faint."""
    found = page.locator(place).locator("g").evaluate_all(_DRAWN)
    return {arc_of(arc): (width, kind) for arc, width, kind in found}


def thick(share):
    return pytest.approx(THICKEST * share, abs=0.006)


def noted(asking):
    """What stands above the words while one of them asks: what those that it looks at looked at, and the rest faint."""
    seen = [query for query in range(len(LAST)) if LAST[asking, query] > LEAST]
    arcs = {}
    for query, shares in enumerate(FIRST):
        keys = {int(shares.argmax())} | {key for key in range(len(shares)) if query in seen and shares[key] > LEAST}
        arcs |= {(query, key): (thick(shares[key]), query in seen) for key in keys}
    return arcs


def box(locator):
    at = locator.bounding_box()
    return at["x"], at["y"], at["x"] + at["width"], at["y"] + at["height"]


def test_layer_1_arcs_above_words_and_layer_2_below(opened):
    page = opened(**AT_REST)
    assert drawn(page, BELOW) == {
        (8, key): (thick(share), "lit" if key == 5 else "") for key, share in enumerate(LAST[8]) if share >= LITTLE
    }
    above = drawn(page, ABOVE)
    assert {arc: (width, kind != "faint") for arc, (width, kind) in above.items()} == noted(8)
    assert [arc for arc, (_, kind) in above.items() if kind == "lit"] == [(5, 4)], "what the digit asked for noted"
    assert {(1, 0), (3, 2), (5, 4), (7, 6)} <= above.keys(), "each digit notes the letter before it"
    said = page.locator(".thread .purpose").all_inner_texts()
    assert said == [f"Layer {n} {purpose}" for n, purpose in enumerate(TRACE.origin.layers, start=1)]


def test_words_under_1_percent_have_no_arc_and_share_one_line(opened):
    page = opened(model="who-is-it", changes="scores[0,0,0]=0")  # of another row; the training is drawn otherwise
    words = page.locator(".thread .words .text").all_inner_texts()
    weights = trace_of_model("who-is-it", " ".join(words).replace(" (2)", ""))["attention"].value[0, -1]
    little = [word for word, weight in zip(words, weights, strict=True) if weight < LITTLE]
    assert len(little) > 5
    assert {key for _, key in drawn(page, ABOVE)} == {key for key, weight in enumerate(weights) if weight >= LITTLE}
    expect(page.locator(".thread .little")).to_have_text(f"under 1\u00a0%: {', '.join(little)}")
    said = page.locator(".thread .words .said").all_inner_texts()
    assert [each.strip() for each in said if each.strip()] == ["over 99\u00a0%"]


_POINTS = """(all) => all.map((target) => [0.2, 0.5, 0.8].map((part) => {
  const { x, y } = target.getPointAtLength(part * target.getTotalLength()).matrixTransform(target.getScreenCTM());
  return [x, y];
}))"""


def clicked(page, x, y):
    """Move the mouse there, as a hand does, and press its button; what the footer says is under it."""
    page.mouse.move(x, y - 4)
    page.mouse.move(x, y)
    page.wait_for_function(
        "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))"
    )
    under = page.locator(".status").inner_text().split(" =")[0]
    page.mouse.down()
    page.mouse.up()
    return under


_PLACES = [f".viewer {each}" for each in ("button", "td", "th", ".matrix", ".answer", ".step-text", ".panel", ".foot")]


@pytest.mark.parametrize(("address", "width"), [("?step=weighted-sum", 1366), ("", 760)])
def test_hover_on_arcs_moves_nothing(opened, address, width):
    page = opened(address)
    resized(page, width, 900)
    points = [middle for _, middle, _ in page.locator(".arcs:visible .target").evaluate_all(_POINTS)]
    before = rectangles(page, _PLACES)
    assert len(points) == 6
    for x, y in points:
        page.mouse.move(x, y)
        becomes(page, lambda: "attention" in page.locator(".status").inner_text(), True)
        assert rectangles(page, _PLACES) == before, (x, y)


@pytest.mark.parametrize(
    ("shown", "steps"),
    [
        ({"changes": "heads[0]=0"}, {"softmax"}),
        ({"mask": "causal", "beside": "mask="}, {"softmax"}),
        (AT_REST, {"softmax-1", "softmax-2"}),
    ],
    ids=["a muted head", "a pair", "two layers"],
)
def test_click_on_arc_opens_its_weight(opened, shown, steps):
    page = opened(**shown)
    points = [point for all in page.locator(".thread .target").evaluate_all(_POINTS) for point in all]
    assert len(points) >= 12
    seen = set()
    for x, y in points[:: max(1, len(points) // 4) | 1]:  # of each arc another part
        under = clicked(page, x, y)
        assert "attention" in under
        becomes(page, lambda: number(page).split(" =")[0], under)
        seen.add(parameters(page)["step"])
        page.go_back()
        expect(page.locator(".thread.large")).to_be_attached()
    assert seen == steps


def test_arcs_of_muted_head_are_dashed(opened):
    def seen(**shown):
        page = opened(**shown)
        dashed = page.locator(".thread .arc").evaluate_all(
            "(all) => all.map((each) => getComputedStyle(each).strokeDasharray !== 'none')"
        )
        return dashed, page.get_by_text("Dashed arcs are muted").is_visible(), box(page.locator(".thread .inner"))

    (whole, said, place), (muted, said_of_muted, place_of_muted) = seen(), seen(changes="heads[0]=0")
    assert (set(whole), said, set(muted), said_of_muted) == ({False}, False, {True}, True)
    assert place == place_of_muted
    assert set(seen(changes="heads[1]=0")[0]) == {False}, "another head is muted"
    assert set(seen(changes="output[:]=0")[0]) == {True}, "what attention adds is"


@pytest.mark.parametrize(
    ("width", "height", "address"),
    [(1366, 768, ""), (1280, 720, "?present=1&view=matrices"), (1280, 560, ""), (390, 844, "")],
)
def test_two_layers_never_overlap(opened, width, height, address):
    page = opened(address, **AT_REST)
    tall = "auto" if width < 820 else f"{height - (0 if address else 80)}px"
    page.add_style_tag(content=f".viewer {{ height: {tall} !important }}")
    resized(page, width, height)
    parts = [
        *page.locator(f".thread .purpose, {ABOVE}, {BELOW}, .thread .answer").all(),
        page.get_by_role("listbox").first,
    ]
    assert len(parts) == 6
    boxes, thread = [box(part) for part in parts], box(page.locator(".thread"))
    for place, (left, top, right, bottom) in enumerate(boxes):
        assert left < right
        assert thread[1] - 1 <= top < bottom <= thread[3] + 1
        for other in boxes[place + 1 :]:
            assert min(right, other[2]) - max(left, other[0]) <= 1 or min(bottom, other[3]) - max(top, other[1]) <= 1
    words = boxes[-1]
    assert box(page.locator(ABOVE))[3] <= words[1] + 1
    assert box(page.locator(BELOW))[1] >= words[3] - 1
    for arc in page.locator(".thread .arc").all():
        assert arc.evaluate(
            "(arc) => { const own = arc.getBBox(), { height } = arc.ownerSVGElement.getBoundingClientRect();"
            " return own.y >= -1 && own.y + own.height <= height + 1 }"
        )


def test_layers_without_purpose_are_numbered(opened):
    page = opened(trace=TRACES["two layers that learnt"])
    assert page.locator(".thread .purpose").all_inner_texts() == ["Layer 1", "Layer 2"]
    page = opened()
    assert page.locator(".thread .purpose:visible").count() == page.locator(BELOW).locator("g").count() == 0
    assert page.locator(ABOVE).locator("g").count() == len(SENTENCE.split())
