"""The pages about models and their matrices, in a real browser."""

from answers import WIDE, answer_is, first_answer_is, trace_of_model
from tab import at, becomes, beyond, expect, parameters, resized, sentence


def main(page):
    return page.get_by_test_id("stMain")


def go_through(page, door):
    page.get_by_role("button", name=door, exact=True).click()


def test_typed_string_is_answered_and_opens(visit):
    page = visit().open("by_hand")
    expect(main(page)).to_contain_text("The answer is b, with a probability of 1 ✓. The output is exactly one 1")
    box = page.get_by_role("textbox", name="A string of the letters a to d")
    box.fill("")
    box.press_sequentially("dabcd", delay=20)
    expect(main(page)).to_contain_text("The answer is a, with a probability of 1 ✓. The output is exactly one 1")
    expect(main(page)).to_contain_text("The last “d (2)” looks most at “a”: 1.")
    expect(box).to_have_value("dabcd")
    go_through(page, "Open in the walkthrough")
    answer_is(page, "a", trace_of_model("by-hand", "dabcd"))
    expect(sentence(page)).to_have_value("dabcd")
    becomes(page, lambda: parameters(page), {"model": "by-hand", "sentence": "dabcd", "view": "sheet"})


def test_measurement_opens_its_pass(visit):
    page = visit().open("what_attention_says")
    go_through(page, "Wide")
    first_answer_is(page, "animal", trace_of_model("short-cut", WIDE))
    becomes(page, lambda: parameters(page), {"model": "short-cut", "sentence": WIDE, "view": "sheet"})


SEEN = "labels => labels.filter((label) => label.checkVisibility({ opacityProperty: true })).length"
HAND = "by_hand" + at(model="by-hand", sentence="abca")


def matrix(page, name):
    return page.get_by_role("table", name=name, exact=True)


def test_matrices_by_hand_on_desktop_and_phone(visit):
    page = visit().open(HAND)
    table = matrix(page, "The matrix W Q")
    for name in ("word", "position", "previous word", "a vector", "cos 3"):
        expect(table.get_by_role("rowheader", name=name, exact=True)).to_have_count(1)
    expect(table.get_by_role("columnheader", name="sin 3")).to_be_visible()
    cell = table.locator('tbody tr:nth-child(6) td[title="position cos 1, cos 1: 0.9238795325112867"]')
    expect(cell).to_have_text("0.92")

    resized(page, 390, 900)
    nothing = page.get_by_role("radio", name="Nothing")
    attention = matrix(page, "The attention of layer 1")
    becomes(page, lambda: nothing.bounding_box()["y"] < attention.bounding_box()["y"], True, "the choice comes first")
    for name, is_wide in (("The attention of layer 1", False), ("The output of the last letter", True)):
        box = matrix(page, name).locator("..")
        becomes(page, lambda box=box: box.evaluate("box => box.scrollWidth > box.clientWidth"), is_wide, name)
        expect(box).to_have_attribute("tabindex", "0" if is_wide else "-1")  # it is scrolled by keyboard too
    last = page.get_by_text("The answer", exact=True).bounding_box()
    assert last["x"] + last["width"] <= 390
    becomes(page, lambda: beyond(page)[1], 0)

    resized(page, 1366, 768)
    rotation = page.get_by_text("turned back by one step")
    choice = page.get_by_text("No rotation in layer 1", exact=True)
    table.evaluate("table => table.scrollIntoView({ block: 'center' })")
    for each in (rotation, choice, page.get_by_role("textbox", name="A string")):
        expect(each).to_be_in_viewport(ratio=1)
    choice.click()
    expect(page.get_by_text("I ask for my own position")).to_be_in_viewport(ratio=1)
    expect(rotation).to_have_count(0)
    page.get_by_text("Nothing", exact=True).click()
    expect(rotation).to_be_visible()

    page.get_by_role("radio", name="The answer").check()
    expect(matrix(page, "The matrix W U")).to_be_visible()
    expect(table).to_have_count(0)
    box = page.get_by_role("textbox", name="A string")
    box.fill("")
    box.press_sequentially("dabcd", delay=20)
    expect(page.get_by_text("The last “d (2)” looks most at “a”: 1.")).to_be_visible()
    expect(matrix(page, "The matrix W U")).to_be_visible()
    expect(box).to_be_focused()


def test_words_stand_above_their_columns(visit):
    page = visit(width=1366).open("what_attention_says")
    for width in (1366, 390):
        resized(page, width, 900)
        for key in ("measurement_1", "measurement_2", "measurement_3"):
            chart = page.locator(f".st-key-{key} .js-plotly-plot")
            expect(chart.locator(".xtick").first).to_be_visible()  # once Plotly has drawn it
            labels = chart.locator(".xtick text")
            becomes(page, lambda labels=labels: labels.evaluate_all(SEEN), 12)
