"""Two rows of words: an English text, the French one that is written from it, and lines of attention between them."""

import json

import pytest
from alone import hasten, moving, sent, show, written
from documents import fitted_at
from sight import rectangles
from tab import becomes, expect, frames, resized

from attnviz.explain.wording import percent

SHORT = {"model": "translator", "sentence": "the black cat sleeps"}
LONG = {"model": "translator", "sentence": "the cat does not cross the street because it is too wide"}
READ, WRITTEN = ".two-rows .read .words button", ".two-rows .written .words button"
LITTLE = 0.01
SIZES = [(1366, 768), (1024, 768), (390, 844)]

_LINES = """(all) => all.map((group) => {
  const path = group.firstChild, box = path.ownerSVGElement.getBoundingClientRect();
  const at = (length) => { const { x, y } = path.getPointAtLength(length); return [x + box.left, y + box.top]; };
  return [group.dataset.line, at(0), at(path.getTotalLength()), Number(path.getAttribute("stroke-width"))];
})"""
_CLIPPED = """(root) => {
  const words = [...root.querySelectorAll(".words button .text")].map((each) => each.getBoundingClientRect());
  const { left, right, top, bottom } = root.getBoundingClientRect();
  return [...root.querySelectorAll("svg text")].filter((each) => {
    const at = each.getBoundingClientRect();
    const isOver = (word) => at.top < word.bottom && word.top < at.bottom;
    const meets = (word) => at.left < word.right && word.left < at.right && isOver(word);
    return at.left < Math.max(left, 0) || at.right > right || at.top < top || at.bottom > bottom || words.some(meets);
  }).map((each) => each.textContent);
}"""


def places(page):
    """Where words are, measured from the first."""
    found = rectangles(page, [READ, WRITTEN])
    left, top, *_ = found[f"{READ} 0"]
    return {name: [x - left, y - top, *size] for name, (x, y, *size) in found.items()}


def weights_of(shown):
    return fitted_at(shown).trace["attention_3"].value[0]


def lines_in(page):
    """Where each line begins and ends, and how wide it is, by the places of its words."""
    found = page.locator(".two-rows .lines g").evaluate_all(_LINES)
    return {tuple(map(int, name.split("-"))): rest for name, *rest in found}


def seen(page, width, height):
    resized(page, width, height)
    expect(page.locator(".two-rows .lines g").first).to_be_attached()


@pytest.mark.parametrize("size", SIZES)
def test_lines_end_at_their_words_which_stay_whatever_is_opened(opened, size):
    page, weights = opened(**LONG), weights_of(LONG)
    seen(page, *size)
    drawn = lines_in(page)
    assert drawn.keys() == {(row, key) for row, each in enumerate(weights) for key, w in enumerate(each) if w >= LITTLE}
    is_column = size[0] < 600
    along = 1 if is_column else 0
    words = {name: list(rectangles(page, [name]).values()) for name in (READ, WRITTEN)}
    band = max(width / weights[at] for at, (_, _, width) in drawn.items() if weights[at] > 0.5)
    for (row, key), (start, end, width) in drawn.items():
        assert width == pytest.approx(max(band * weights[row, key], 0.75), abs=0.02)
        for name, place, point, slack in ((WRITTEN, row, start, band), (READ, key, end, 1)):
            corner, length = words[name][place][along], words[name][place][along + 2]
            assert point[along] == pytest.approx(corner + length / 2, abs=slack + 1)
        assert end[1 - along] < start[1 - along] or is_column

    before = places(page)
    for row in (0, 8, len(weights) - 1):
        page.locator(WRITTEN).nth(row).click()
        lit = [key for key, weight in enumerate(weights[row]) if weight >= LITTLE]
        expect(page.locator(".two-rows .lines g:not(.faint)")).to_have_count(len(lit))
        said = page.locator(".two-rows .digits text").all_text_contents()
        assert said[: len(lit)] == [percent(weights[row, key]) for key in lit]
        assert page.locator(".two-rows").evaluate(_CLIPPED) == []
        assert places(page) == before
    page.locator(READ).nth(8).click()
    expect(page.locator(".two-rows .read .held")).to_have_text("it")
    reads_it = fitted_at(LONG).trace.labels["query"][weights[:, 8].argmax()]
    expect(page.locator(".panel h3")).to_contain_text(f"{reads_it}, it")
    assert page.locator(".two-rows").evaluate(_CLIPPED) == []
    assert places(page) == before
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    page.keyboard.press("Escape")
    for what in (".looks .target", ".open"):  # an arc over the English text opens its weight
        page.locator(READ).nth(8).click()
        page.locator(f".two-rows {what}").last.dispatch_event("click")
        expect(page.locator(".panel h3")).to_contain_text("it,")
        expect(page.locator(".panel .acts button").nth(0)).to_contain_text("from “it” in “English looks at English”")
        expect(page.locator("[data-act=mute]")).to_contain_text("of “English looks at English”")
        expect(page.locator(".two-rows .read .held")).to_have_text("it")
        assert places(page) == before
        page.keyboard.press("Escape")


def test_the_row_of_a_word_is_that_of_the_word_before_it(opened):
    page, trace, weights = opened(**SHORT), fitted_at(SHORT).trace, weights_of(SHORT)
    page.locator(WRITTEN, has_text="noir").click()
    expect(page.locator(".panel h3")).to_contain_text("chat, black")
    row = list(trace.labels["query"]).index("chat")
    assert int(weights[row].argmax()) == 1
    caption = page.locator(".two-rows .caption")
    expect(caption).to_contain_text(f"“noir”, written after “chat”, reads “black” {percent(weights[row, 1])}")
    head = trace["attention_1"].value[:, 1].max(axis=1)
    for most in head:
        expect(caption).to_contain_text(percent(most))
    expect(caption).to_contain_text("Among the English words, “black” looks most at")
    for row, key, number in ((1, 2, "le, cat"), (2, 1, "chat, black")):  # as does a line
        page.locator(f'.two-rows .lines [data-line="{row}-{key}"] .target').dispatch_event("click")
        expect(page.locator(".panel h3")).to_contain_text(number)


def test_what_is_muted_looks_so(opened):
    page = opened(**SHORT, changes="heads_1[:]=0;heads_3[:]=0")
    expect(page.locator(".two-rows g.muted")).to_have_count(2)
    for muted in ("looks", "lines"):
        expect(page.locator(f".two-rows .{muted}.muted")).to_be_attached()


def test_keys_lead_along_each_row_which_is_one_stop(opened):
    page = opened(**SHORT)
    stops = page.locator(".two-rows .words button[tabindex='0']")
    expect(stops).to_have_count(2)
    page.locator(WRITTEN).nth(1).focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".two-rows .written .held")).to_have_text("noir")
    expect(page.locator(WRITTEN).nth(2)).to_be_focused()
    expect(stops).to_have_count(2)
    page.keyboard.press("Escape")
    expect(page.locator(".two-rows .held, .two-rows .faint")).to_have_count(0)
    page.locator(READ).nth(0).focus()
    page.keyboard.press("End")
    expect(page.locator(".two-rows .read .held")).to_have_text("<end>")


def test_next_writes_a_word_whose_lines_grow(opened):
    page = opened(**SHORT, written="le chat")
    last = page.locator(WRITTEN).last
    expect(last).to_have_text(
        "noir" + percent(fitted_at(SHORT | {"written": "le chat"}).trace["probabilities"].value[-1].max())
    )
    page.get_by_role("button", name="Next word: noir").click()
    assert sent(page)[-1] == ["next", True]
    moving(page)
    parts = """() => [...document.querySelectorAll(".two-rows .lines g:not(.faint) .line")].map((each) =>
      [each.parentNode.dataset.line.split("-")[0], each.getAttribute("stroke-dasharray")])"""
    before = page.locator(WRITTEN).nth(1).bounding_box()
    show(page, **SHORT, written="le chat noir")
    assert {row for row, part in page.evaluate(parts) if part != "none"} == {"3"}
    becomes(page, lambda: {part for _, part in page.evaluate(parts)}, {"none"})
    assert page.locator(WRITTEN).nth(1).bounding_box() == before


def film(document, texts):
    """A document with a training in which these texts were written."""
    keys = len(document["words"]["key"])
    translations = [
        {"words": text.split(), "rows": [[1 / keys] * keys for _ in text.split()], "right": texts[-1].split()}
        for text in texts
    ]
    steps = [10 * place for place in range(len(texts))]
    training = {"curve": [[step, 2.0, 0.25] for step in steps], "checkpoints": steps, "at": len(texts) - 1}
    training |= {"heldOut": 100, "met": 0, "patterns": [], "kinds": None, "yardsticks": [], "over": "sentences"}
    training |= {"heads": [], "writes": None, "learning": None, "translations": translations}
    return document | {"model": document["model"] | {"training": training}}


def test_a_training_shows_what_was_written_then(opened):
    page = opened(**SHORT)
    document = film(json.loads(written(**SHORT)), ["les les", "le noir chat <end>", "le chat noir dort <end>"])
    show(page, document)
    for size in SIZES[1:]:
        seen(page, *size)
        before = rectangles(page, [READ])
        page.get_by_role("slider", name="Training steps").focus()
        page.keyboard.press("Home")
        texts, verdict = page.locator(f"{WRITTEN} .text"), page.locator(".learns .verdict-of")
        expect(texts).to_have_text(["les", "les"])
        expect(page.locator(".two-rows .wrong")).to_have_count(2)
        expect(verdict).to_contain_text("✗ 2 of 2 words wrong")
        page.keyboard.press("ArrowRight")
        expect(texts).to_have_text(["le", "noir", "chat", "<end>"])
        expect(page.locator(".two-rows .wrong")).to_have_text(["chat", "<end>"])
        assert rectangles(page, [READ]) == before
        page.keyboard.press("ArrowRight")
        expect(texts).to_have_text(["le", "chat", "noir", "dort", "<end>"])
        expect(verdict).to_contain_text("✓")
        assert {row for row, _ in lines_in(page)} == set(range(5)), "the pass itself"


def test_that_no_right_translation_is_known_is_said_once(opened):
    page = opened(**SHORT)
    document = json.loads(written(**SHORT))
    document["next"]["right"] = []
    document["model"]["training"] = None
    trained = film(document, ["le chat noir dort <end>"])
    trained["model"]["training"]["translations"][0]["right"] = []
    for shown, said_in in ((trained, ".learns .verdict-of"), (document, ".two-rows .caption")):
        show(page, shown)
        said = page.locator(".learns .verdict-of, .two-rows .caption").filter(has_text="grammar")
        expect(said.and_(page.locator(said_in))).to_be_visible()
        expect(said.filter(visible=True)).to_have_count(1)


def test_a_translation_is_whole_again_after_a_talk(opened):
    page = opened(**SHORT)
    page.keyboard.press("p")
    assert sent(page) == [["anew", True]]
    show(page, json.loads(written(**SHORT, written="")))
    expect(page.locator(f"{WRITTEN} .text")).to_have_count(1)
    page.keyboard.press("Escape")
    assert sent(page)[1:] == [["whole", True]]
    page = opened("?present=1", **SHORT, written="le")
    page.keyboard.press("Escape")
    assert sent(page) == [], "no talk emptied it"


def test_a_translation_is_written_again_word_by_word(opened):
    page = opened(**SHORT)
    hasten(page)
    page.get_by_role("button", name="Write again").click()
    assert sent(page)[-1] == ["anew", True]
    for written_so_far in ("", "le"):
        count = len(sent(page))
        show(page, **SHORT, written=written_so_far)
        becomes(page, lambda count=count: sent(page)[count:], [["next", True]])
    page.get_by_role("button", name="Pause").click()
    count = len(sent(page))
    show(page, **SHORT, written="le chat")
    frames(page, 20)
    assert len(sent(page)) == count
    expect(page.get_by_role("button", name="Write all")).to_be_visible()


def test_writing_stops_at_the_end_and_at_another_sentence(opened):
    page = opened(**SHORT)
    hasten(page)
    whole = SHORT | {"written": "le chat noir dort"}
    for then in (whole, SHORT | {"sentence": "the black cow sleeps", "written": "la"}):
        show(page, **SHORT)
        page.get_by_role("button", name="Write again").click()
        count = len(sent(page))
        show(page, **SHORT, written="")
        becomes(page, lambda count=count: sent(page)[count:], [["next", True]])
        show(page, **then)
        frames(page, 20)
        assert sent(page)[count:] == [["next", True]]
        expect(page.get_by_role("button", name="Pause")).to_have_count(0)


def test_lines_move_to_other_numbers(opened):
    page = opened(**SHORT)
    moving(page)
    drawn = "(all) => all.map((each) => each.getAttribute('stroke-width'))"

    def widths():
        return sorted(page.locator(".two-rows .lines .line").evaluate_all(drawn))

    before = widths()
    show(page, **SHORT, changes="heads_2[:]=0", written="le chat noir dort")
    expect(page.locator(".two-rows.moving")).to_be_visible()
    expect(page.locator(".two-rows.moving")).to_have_count(0)
    assert widths() != before


def test_what_a_compared_pass_writes_stands_below_with_its_other_words_marked(opened):
    page = opened(**SHORT, beside="model=translator&sentence=the cow sleeps")
    expect(page.locator(".of-a .words span")).to_have_text(["la ", "vache ", "dort ", "<end> "])
    expect(page.locator(".of-a strong")).to_have_text(["la", "vache"])
    expect(page.get_by_role("radio", name="B − A")).to_be_hidden()
