"""All heads: their statistics, what each is the mean of, and the way to one head and back, in a real browser."""

import math
import re

import pytest
from answers import trace_of_model
from page import SENTENCE
from tab import at, becomes, expect, frames, heading, parameters, resized

from attnviz import Settings, trace_of
from attnviz.core.numerals import digits

MICROGPT = {"model": "microgpt", "sentence": "eliza", "step": "softmax", "view": "heads"}
CAUSAL = {"sentence": SENTENCE, "heads": 8, "mask": "causal", "step": "softmax", "view": "heads"}
CROSS = {"sentence": "the cat sat", "context": "le chat est assis", "heads": 4, "step": "softmax", "view": "heads"}
RECALL = {"model": "recall", "step": "softmax-2", "view": "heads"}
PASSES = {
    "a model of four heads": (MICROGPT, lambda: trace_of_model("microgpt", "eliza"), ["attention"]),
    "a causal mask": (CAUSAL, lambda: trace_of(Settings(SENTENCE, n_heads=8, mask="causal")), ["attention"]),
    "two sentences": (
        CROSS,
        lambda: trace_of(Settings("the cat sat", context="le chat est assis", n_heads=4)),
        ["attention"],
    ),
    "two layers": (RECALL, lambda: trace_of_model("recall", "g 5 d 6 e 1 a 3 e"), ["attention_1", "attention_2"]),
}
READ = """(tiles) => tiles.map((tile) => [...tile.querySelectorAll(".statistic:not([hidden])")]
  .map((each) => [...each.children].map(({ textContent }) => textContent)))"""


def statistics(weights, masked, is_shared):
    """What stands below a head, by a loop over its rows and keys."""
    previous, itself, first, spread = [], [], [], []
    for i, row in enumerate(weights.tolist()):
        seen = [weight for weight, score in zip(row, masked[i].tolist(), strict=True) if score != -math.inf]
        if not seen:
            continue
        if i:
            previous.append(row[i - 1])
        itself.append(row[min(i, len(row) - 1)])
        first.append(row[0])
        entropy = sum(weight * math.log(1 / weight) for weight in seen if weight)
        spread.append(entropy / math.log(len(seen)) if len(seen) > 1 else 0.0)
    every = {"previous": previous, "itself": itself, "first": first, "spread": spread}
    shown = every if is_shared else {name: every[name] for name in ("first", "spread")}
    return [[name, percent(sum(numbers) / len(numbers))] for name, numbers in shown.items()]


def percent(share):
    if 0 < share < 0.005:
        return "<1\u00a0%"
    if 0.995 <= share < 1:
        return ">99\u00a0%"
    return f"{math.floor(100 * share + 0.5 + 1e-9)}\u00a0%"


def tiles(page):
    return page.locator(".tile")


@pytest.mark.parametrize("name", PASSES)
def test_statistics_are_those_of_a_loop(visit, name):
    address, trace, stages = PASSES[name]
    page = visit().open(at(**address))
    arrays = trace()
    expected = [
        statistics(
            arrays[stage].value[head], arrays[stage.replace("attention", "masked")].value[head], name != "two sentences"
        )
        for stage in stages
        for head in range(arrays[stage].value.shape[0])
    ]
    becomes(page, lambda: tiles(page).evaluate_all(READ), expected)


def test_a_statistic_opens_the_numbers_it_is_the_mean_of(visit):
    page = visit().open(at(**MICROGPT))
    weights = trace_of_model("microgpt", "eliza")["attention"].value
    opener = tiles(page).nth(1).locator(".statistic").first
    opener.click()
    working = page.get_by_role("group", name="How this was computed")
    expect(working.locator(".link")).to_have_text([f"{weights[1, i, i - 1]:.2f}" for i in range(1, 6)])
    expect(tiles(page).nth(1).locator(".frame.source")).to_have_count(5)
    expect(tiles(page).nth(0).locator(".frame.source")).to_have_count(0)
    working.locator(".link").nth(2).click()
    expect(heading(page, f"attention[head 2, i, l] = {digits(weights[1, 3, 2])}")).to_be_visible()
    page.keyboard.press("Escape")
    expect(working).to_be_hidden()
    expect(page.locator(".frame.source")).to_have_count(0)
    opener.focus()
    page.keyboard.press("Enter")
    expect(working).to_be_focused()
    page.keyboard.press("Escape")
    expect(opener).to_be_focused()


def test_a_head_is_enlarged_and_left_again(visit):
    page = visit().open(at(**MICROGPT))
    name = tiles(page).nth(2).get_by_role("button", name="Enlarge head 3")
    name.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("radio", name="head 3")).to_be_checked()
    expect(page.locator('[data-stage="attention"] [role="gridcell"]:focus')).to_have_count(1)
    becomes(page, lambda: parameters(page).get("view"), None)
    page.go_back()
    expect(tiles(page)).to_have_count(4)
    page.keyboard.press("h")
    expect(tiles(page)).to_have_count(0)
    page.keyboard.press("h")
    expect(tiles(page)).to_have_count(4)
    page.get_by_role("button", name="All letters").click()
    page.get_by_role("button", name="All heads").click()
    becomes(page, lambda: parameters(page)["view"], "heads")


def test_keys_lead_through_heads_and_their_cells(visit):
    page = visit().open(at(**MICROGPT))
    names = tiles(page).get_by_role("button", name=re.compile("^Enlarge"))
    names.first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(names.nth(2)).to_be_focused()
    expect(heading(page, re.compile(r"attention\[head 3, a, z\]"))).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.locator('.tile.chosen [role="gridcell"]:focus')).to_have_count(1)
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".all-heads .named")).to_have_text(re.compile("head 3: “a” gives “i” 23"))
    page.keyboard.press("]")
    expect(page.locator('.tile.chosen [role="gridcell"]:focus')).to_have_count(1)
    expect(heading(page, re.compile(r"attention\[head 4, a, i\]"))).to_be_visible()
    stops = page.locator('.tile [tabindex="0"]')
    expect(stops).to_have_count(2)


def test_steps_before_the_weights_say_where_they_come(visit):
    page = visit().open(at(**{**CAUSAL, "step": "scores"}))
    expect(tiles(page)).to_have_count(0)
    page.locator(".all-heads").get_by_role("button", name="Softmax").click()
    expect(tiles(page)).to_have_count(8)
    page.keyboard.press("PageDown")
    expect(tiles(page)).to_have_count(8)


def test_of_two_layers_the_second_is_still_to_come(visit):
    page = visit().open(at(**{**RECALL, "step": "scores-2"}))
    numbers = [tiles(page).nth(head).locator(".statistic .value") for head in range(2)]
    expect(numbers[1]).to_have_text(["–"] * 4)
    expect(numbers[0].first).to_have_text(re.compile("%"))
    page.keyboard.press("PageDown")
    page.keyboard.press("PageDown")
    page.keyboard.press("PageDown")
    expect(numbers[1].first).to_have_text(re.compile("%"))


def test_two_passes_stand_beside_each_other_in_each_head(visit):
    page = visit().open(at(sentence=SENTENCE, heads=2, step="softmax", view="heads", beside="mask=causal"))
    expect(page.locator(".tile .matrix")).to_have_count(4)
    before, now = (
        trace_of(Settings(SENTENCE, n_heads=2, mask=mask))["attention"].value[0, :, 0].mean()
        for mask in ("causal", "none")
    )
    expect(tiles(page).first.locator(".statistic .value").nth(2)).to_have_text(f"{percent(before)} → {percent(now)}")
    page.get_by_role("button", name="B − A").click()
    expect(page.locator(".tile .matrix")).to_have_count(2)


@pytest.mark.parametrize("present", ["", "1"])
def test_everything_of_every_head_is_in_sight(visit, present):
    for address in (MICROGPT, CAUSAL, {**CAUSAL, "heads": 12, "d_model": 12}):
        page = visit().open(at(**address, **({"present": 1} if present else {})))
        for width, height in ((1366, 768), (1024, 768), (1920, 1080)):
            resized(page, width, height)
            frames(page, 5)
            box = page.locator(".all-heads")
            becomes(page, lambda box=box: box.evaluate("(each) => each.scrollHeight - each.clientHeight"), 0)
            becomes(page, lambda box=box: box.evaluate("(each) => each.scrollWidth - each.clientWidth"), 0)
            for tile in (tiles(page).first, tiles(page).last):
                expect(tile).to_be_in_viewport(ratio=0.99)


def test_words_of_a_row_and_column_in_focus_are_named(visit):
    sentence = " ".join(f"w{n}" for n in range(1, 31))
    page = visit().open(at(sentence=sentence, heads=12, d_model=12, step="softmax", view="heads", cell="1.20.8.1.1"))
    resized(page, 1366, 768)
    lit = tiles(page).first.locator(".labels .lit")
    expect(lit).to_have_text(["w8", "w20"])
    for each in lit.all():
        expect(each).to_be_visible()
    all_words = tiles(page).first.locator(".labels.of-rows span")
    assert all_words.count() == 30 > all_words.filter(visible=True).count() > 2


def test_a_muted_head_says_so(visit):
    page = visit().open(at(**MICROGPT))
    page.get_by_role("button", name="Mute head 1").click()
    expect(tiles(page).first.locator(".kind")).to_contain_text("muted")
    expect(tiles(page).first).to_have_attribute(
        "aria-label", re.compile("^head 1, muted: looks mostly at the token before, 56")
    )


def test_one_head_is_large_and_said_to_be_the_only_one(visit):
    page = visit().open(at(model="who-is-it", step="softmax", view="heads"))
    expect(tiles(page)).to_have_count(1)
    expect(page.locator(".all-heads > .note")).to_contain_text("There is one head here")


def test_on_a_phone_heads_stand_two_in_a_row(visit):
    page = visit().open(at(**MICROGPT))
    resized(page, 390, 844)
    boxes = [tile.bounding_box() for tile in tiles(page).all()]
    assert [round(box["y"]) for box in boxes[:2]] == [round(boxes[0]["y"])] * 2
    assert boxes[2]["y"] > boxes[1]["y"] + 100
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
