"""Two passes in one viewer, in a real browser: pinned, matched by word, as a link, a difference and a file."""

import re

import pytest
from page import SENTENCE
from readback import go, lines
from tab import at, becomes, expect, from_menu, grid, parameters, pick, resized

from attnviz import Settings, trace_of
from attnviz.core.numerals import short

SHUFFLED = "mat the sat the cat on"


def test_pinned_pair_is_compared_and_downloaded(visit, browser, tmp_path):
    tab = visit()
    page = tab.open(at(sentence=SENTENCE, view="sheet", step="weighted-sum", cell="1.3.2.1.1"))
    page.keyboard.press("c")
    pairing, sheet = page.locator(".pairing"), page.locator(".sheet")
    expect(pairing).to_contain_text("A is pinned")
    pick(page, "Mask", "causal")
    expect(pairing).to_contain_text("15 of 36 pairs are hidden in one pass but not the other")
    expect(sheet.locator("td.said", has_text="here they part")).to_have_text(re.compile("^Masked scores"))
    page.get_by_role("button", name="B − A", exact=True).click()
    expect(sheet.locator("td.said", has_text="Attention: B − A")).to_be_visible()
    there = {"mask": "causal", "beside": "mask=", "compare": "difference"}
    becomes(page, lambda: parameters(page).items() >= there.items(), True)
    page.keyboard.press("c")
    expect(pairing).to_be_hidden()
    becomes(page, lambda: "beside" in parameters(page), False)

    pick(page, "Mask", "none")
    becomes(page, lambda: "mask" in parameters(page), False)
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_role("button", name="Scaled vs unscaled").click()
    expect(page.locator(".pairing")).to_contain_text("The first difference is at the scaled scores")
    resized(page, 1366, 768)
    for state in ("", "presenting"):
        if state:
            page.keyboard.press("p")
            expect(page.locator(".viewer.presenting")).to_be_visible()
            page.keyboard.press("6")
        becomes(page, lambda: sheet.evaluate("(box) => box.scrollHeight <= box.clientHeight"), True, state)
    page.keyboard.press("p")
    with page.expect_download() as kept:
        from_menu(page, "Download as a page").click()
    path = tmp_path / "pair.html"
    kept.value.save_as(path)
    assert tab.errors == []
    alone = browser.new_page(viewport={"width": 1366, "height": 768})
    alone.goto(path.as_uri())
    expect(alone.locator(".pairing")).to_contain_text("The first difference is at the scaled scores")
    expect(alone.locator(".sheet tr.side-A").first).to_be_visible()
    expect(alone.get_by_role("button", name="Unpin")).to_be_hidden()
    alone.close()


def test_difference_is_b_minus_a(opened):
    page = opened("?view=sheet&step=weighted-sum&cell=1.3.2.1.1", sentence=SENTENCE, mask="causal", beside="mask=")
    traces = {"A": trace_of(Settings(SENTENCE)), "B": trace_of(Settings(SENTENCE, mask="causal"))}
    sheet = page.locator(".sheet")
    expect(page.locator(".map .distance.first")).to_have_count(1)
    expect(page.locator(".map [data-step=mask] .distance.first")).to_be_visible()
    sheet.locator("tr.side-A td[data-cell='attention[0,2,1]']").click()
    expect(page.locator(".panel h3")).to_have_text(re.compile(r"attention\[head 1, sat, cat\] = 0\.83"))
    expect(sheet.locator("td.focus")).to_have_count(2)
    page.get_by_role("button", name="B − A", exact=True).click()
    difference = traces["B"]["attention"].value[0, 2] - traces["A"]["attention"].value[0, 2]
    cells = sheet.locator("td[data-cell^='attention[0,2,']")
    assert cells.all_inner_texts() == [short(each) for each in difference]


@pytest.mark.parametrize("compare", ["both", "difference"])
def test_views_of_b_alone_say_so(opened, compare):
    pair = {"sentence": "the cat sat", "mask": "causal", "beside": "mask="}
    page = opened(f"?step=softmax&view=matrices&compare={compare}", **pair)
    shares = page.locator(".thread .words .said:not(.in-a):visible").all_inner_texts()
    assert [each[0] for each in shares if each.strip()] == ["B"] * sum(bool(each.strip()) for each in shares) != []
    page = opened(f"?step=whole-pass&compare={compare}", **pair)
    said = page.locator(".whole > .said").inner_text()
    assert said.startswith("This is B alone, not B − A." if compare == "difference" else "This is B alone. ")
    page = opened("?step=whole-pass", sentence="the cat sat", mask="causal")
    assert page.locator(".whole > .said").inner_text().startswith("Where ")


def test_word_missing_in_a_keeps_its_name(opened):
    page = opened("?view=sheet&step=weighted-sum", sentence="mat the dog the cat on", beside=f"sentence={SENTENCE}")
    words, names = page.evaluate("given.words.query"), page.locator(".sheet tr.names").first.locator("button")
    assert names.all_inner_texts() == words
    names.nth(4).click()
    expect(page.locator(".sheet th.asks")).to_have_text("cat")
    assert parameters(page)["cell"].split(".")[1] == "5"


def test_shuffled_words_are_joined(opened):
    beside = f"sentence={SENTENCE}"
    page = opened("?step=softmax", sentence=SHUFFLED, beside=beside, positions="sinusoidal")
    expect(page.locator(".joined line")).to_have_count(6)
    a, b = (trace_of(Settings(text, positions="sinusoidal")) for text in (SENTENCE, SHUFFLED))
    words = b.labels["query"]
    tables = grid(page, "A: Attention"), grid(page, "B: Attention")
    places = [a.labels["query"].index(word) for word in words]
    for table in tables:
        expect(table.last.locator("tbody th").first).to_have_text(words[0])
    middles = (
        "(words) => words.map((each) => { const at = each.getBoundingClientRect(); return at.left + at.width / 2; })"
    )
    rows = [page.locator(".joined .row").nth(side).locator(".word").evaluate_all(middles) for side in (0, 1)]
    left = page.locator(".joined").evaluate("(box) => box.getBoundingClientRect().left")
    ends = "(lines) => lines.map((line) => [line.x1.baseVal.value, line.x2.baseVal.value])"
    for word, (start, end) in enumerate(page.locator(".joined line").evaluate_all(ends)):
        assert abs(rows[0][places[word]] - left - start) < 1.5
        assert abs(rows[1][word] - left - end) < 1.5
    tables[0].last.locator("[data-row='1'][data-column='2']").hover()  # what is pointed at in A is outlined in B
    focus = page.locator(".matrix .frame.focus")
    expect(focus).to_have_count(2)
    boxes = [each.bounding_box() for each in focus.all()]
    assert abs(boxes[0]["y"] - boxes[1]["y"]) < 1 or abs(boxes[0]["x"] - boxes[1]["x"]) < 1


def test_latents_say_what_a_lacks(opened):
    page = opened("?view=sheet&step=weighted-sum", sharing="absorbed", beside="sharing=latent&rope=none")
    said = page.locator(".sheet").inner_text()
    assert "same in both, but A has no absorbed queries" in said
    assert "same in both, but A has no collected latents" in said


MARKED = """(place) => {
  const pass = place.beside ? given.other.document : given, { masked } = pass.stages;
  Object.assign(masked, { overridden: [[place.at, 1]], overriddenBy: "as computed", marks: "What is marked is so." });
  show({});
}"""


@pytest.mark.parametrize(
    ("pair", "step", "said"),
    [({"beside": "mask="}, "weighted-sum", "Marked: as computed"), ({}, "softmax", "What is marked is so.")],
)
def test_marks_stand_beside_their_rows(opened, pair, step, said):
    page = opened(at(view="sheet", step=step), sentence=SENTENCE, mask="causal", **pair)
    page.evaluate(MARKED, {"beside": bool(pair), "at": 6 * 4 + 2})  # head 1, the fifth word, the third
    for query in (3, 4):
        go(page, step=step, cell={"head": 0, "query": query, "key": 1, "dim": 0})
        parts = {line.said for line in lines(page) if said in line.said}
        marked = [cell for line in lines(page) for cell in line.cells if "marked" in cell.kind.split()]
        assert (len(parts), [cell.name for cell in marked]) == ((1, ["masked"]) if query == 4 else (0, []))
    if not pair:
        page.set_viewport_size({"width": 390, "height": 800})
        for query in (3, 4):
            go(page, step="mask", cell={"head": 0, "query": query, "key": 1, "dim": 0})
            expect(page.locator(".sheet p.said", has_text=said)).to_have_count(int(query == 4))
