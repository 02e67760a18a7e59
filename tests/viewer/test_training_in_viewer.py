"""It learns: the picture of a training, the slim line at other steps, answers beside the words, and swaps."""

import json
import re

import pytest
from alone import hasten, moving, sent, show, written
from readback import go
from sight import rectangles
from tab import becomes, expect, frames, move_mouse, resized

from attnviz.explain.wording import percent


def answered(page, checkpoint, model="who-is-it"):
    """Answer what was asked for: the document of that checkpoint."""
    show(page, model=model, checkpoint=str(checkpoint))


def training(model="who-is-it"):
    return json.loads(written(model=model))["model"]["training"]


def grip(page):
    return page.get_by_role("slider", name="Training steps")


def at_rest(page):
    """Wait until the picture is at rest."""
    expect(page.locator(".learns")).not_to_have_class(re.compile("moving|running"), timeout=20_000)


def weights_seen(page):
    """The percentages below the words."""
    return page.locator(".learns .words .share").all_inner_texts()


def weights_at(place):
    row = training()["learning"]["rows"][place][0]
    return [percent(weight) if weight >= 0.01 else "" for weight in row]


def test_curves_match_the_recorded_training(opened):
    page = opened(model="who-is-it")
    at_rest(page)
    _, *figures = zip(*training()["curve"], strict=True)
    lines = page.locator(".course .curve").evaluate_all("(all) => all.map((each) => each.getAttribute('points'))")
    feet = page.locator(".course .rule").evaluate_all("(all) => all.map((each) => Number(each.getAttribute('y1')))")
    for line, foot, numbers in zip(lines, feet, figures, strict=True):
        points = [tuple(map(float, point.split(","))) for point in line.split(" ")]
        heights, unit = [foot - y for _, y in points], (foot - points[numbers.index(max(numbers))][1]) / max(numbers)
        assert heights == pytest.approx([unit * number for number in numbers], abs=0.2)
        assert [x for x, _ in points] == sorted({x for x, _ in points})


def test_band_matches_the_answered_row(opened):
    page = opened(model="who-is-it", checkpoint="4")
    at_rest(page)
    assert weights_seen(page) == weights_at(4)
    drawn = page.locator(".learns .arc").evaluate_all(
        "(all) => all.map((each) => each.style.display ? 0 : Number(each.getAttribute('stroke-width')))"
    )
    row = training()["learning"]["rows"][4][0]
    whole = sum(drawn) / sum(weight for weight in row if weight >= 0.01)
    assert drawn == pytest.approx([whole * weight if weight >= 0.01 else 0 for weight in row], abs=0.02)
    expect(page.locator(".learns .answer-of")).to_contain_text("cat")
    expect(page.locator(".learns .read")).to_contain_text(
        "After step 40: 46\u00a0% sure. Right would be “animal” (7\u00a0%)."
    )
    expect(page.locator(".thread")).to_be_hidden()


def test_motion_hides_digits_and_ends_like_no_motion(opened):
    def end(*, is_calm):
        page = opened(model="who-is-it")
        if not is_calm:
            moving(page)
            grip(page).press("Home")
            expect(page.locator(".learns")).to_have_class(re.compile("moving"))
            opacities = "(all) => all.map((each) => getComputedStyle(each).opacity)"
            assert set(page.locator(".learns .digits").evaluate_all(opacities)) == {"0"}
        for key in ("Home", "ArrowRight", "ArrowRight", "End", "ArrowLeft"):
            grip(page).press(key)
        at_rest(page)
        return re.sub(r"about-model-\d+", "", page.locator(".learns").evaluate("(box) => box.outerHTML"))

    assert end(is_calm=False) == end(is_calm=True)


def test_keys_move_the_grip_and_request_the_pass(opened):
    page = opened(model="who-is-it")
    last = len(training()["checkpoints"]) - 1
    for key, place in (("Home", 0), ("ArrowRight", 1), ("End", last), ("ArrowLeft", last - 1), ("ArrowUp", last)):
        grip(page).press(key)
        becomes(page, lambda: grip(page).get_attribute("aria-valuenow"), str(place), key)
        assert weights_seen(page) == weights_at(place)
    assert sent(page) == [["checkpoint", place] for place in (0, 1, last, last - 1, last)]


def test_late_answer_does_not_lead_back(opened):
    page = opened(model="who-is-it")
    grip(page).press("Home")
    grip(page).press("ArrowRight")
    for place, seen in ((0, 1), (1, 1), (4, 4)):
        answered(page, place)
        becomes(page, lambda: grip(page).get_attribute("aria-valuenow"), str(seen), place)


def test_play_needs_no_server_and_ends_at_the_last(opened):
    page = opened(model="who-is-it", checkpoint="2")
    page.evaluate(
        """() => {
            globalThis.shown = [];
            const grip = document.querySelector(".learns .grip");
            const note = () => shown.push(Number(grip.getAttribute("aria-valuenow")));
            new MutationObserver(note).observe(grip, { attributeFilter: ["aria-valuenow"] });
        }"""
    )
    hasten(page)
    page.get_by_role("button", name="Play the training").click()
    last = len(training()["checkpoints"]) - 1
    becomes(page, lambda: page.evaluate("shown.at(-1)"), last)
    at_rest(page)
    assert page.evaluate("[...new Set(shown)]") == list(range(3, last + 1))
    assert sent(page) == [["checkpoint", last]]
    assert weights_seen(page) == weights_at(last)
    expect(page.get_by_role("button", name="Play the training")).to_be_visible()


def test_training_returns_to_the_answered_word(opened):
    page = opened(model="who-is-it")
    page.locator(".learns .words button").nth(1).click()
    expect(page.locator(".learns .words .asking")).to_contain_text("animal")
    row = json.loads(written(model="who-is-it"))
    expect(page.locator(".learns .words")).to_have_attribute(
        "aria-label", "The words, and what “animal” takes from each"
    )
    expect(page.locator(".learns .answer-of")).to_contain_text(row["model"]["right"][-1])
    grip(page).press("ArrowLeft")
    expect(page.locator(".learns .words .asking")).to_contain_text("tired")


def test_each_digit_is_above_its_answer(opened):
    page = opened("?step=softmax", model="mirror", sentence="3 1 4 1 5 9 2 6")
    assert page.locator(".thread .answer strong").all_inner_texts() == [*"62951413"]
    words, answers = (
        [box["x"] + box["width"] / 2 for box in (each.bounding_box() for each in page.locator(selector).all())]
        for selector in (".thread .words button", ".thread .answer")
    )
    assert words == [pytest.approx(x, abs=2) for x in answers]


def test_typed_words_can_be_swapped(opened):
    page = opened("?step=softmax&ask=what if&cell=1.12.2.1.1", model="who-is-it")
    page.get_by_role("button", name="Swap “tired” and “animal”").click()
    assert sent(page) == [["swap", [11, 1]]]
    page = opened("?step=softmax&ask=what if&cell=1.2.2.1.1", model="who-is-it")
    assert page.get_by_role("button", name="Swap").count() == 0, "a word and itself"
    page = opened("?step=softmax&ask=what if&cell=1.2.3.1.1", source="001 with")
    assert page.get_by_role("button", name="Swap").count() == 0, "nobody typed these"


PLACES = [
    *(".learns > *", ".learns .words button", ".learns .read > p", ".thread button", ".step-text", ".matrix"),
    *(".legend .scale", ".panel > :not(.reply)"),
]


def test_nothing_moves_while_training_plays(opened):
    model = "who-is-it"
    page = opened("?step=question", model=model)
    last = len(json.loads(written(model=model))["model"]["training"]["checkpoints"]) - 1
    there = {}
    for place in (1, last // 2, last):
        answered(page, place, model)
        at_rest(page)
        frames(page)
        there[place] = rectangles(page, PLACES)
    for place, now in there.items():
        moved = {name: (now.get(name), at) for name, at in there[last].items() if now.get(name) != at}
        assert moved == {}, place


@pytest.mark.parametrize(("model", "sentence", "answers"), [("mirror", "1 2 3", 3), ("who-is-it", "was", 1)])
def test_unjudged_answers_are_marked(opened, model, sentence, answers):
    page = opened("?step=softmax", model=model, sentence=sentence)
    marks = page.locator(".thread .answer").get_by_role(
        "img", name="No answer is right: the model was not made for this text"
    )
    assert marks.all_inner_texts() == ["?"] * answers
    assert page.locator(".thread .answer").first.get_attribute("title").startswith("No answer is right: ")


def test_phone_shows_question_first(opened):
    page = opened(model="who-is-it")
    resized(page, 366, 844)
    for step, pictures in (("question", [".learns"]), ("softmax", [".thread", ".learns"])):
        go(page, step=step, view="matrices")
        at_rest(page)
        order = [page.locator(each).bounding_box()["y"] for each in (".way", ".step-text", *pictures, ".panel")]
        assert order == sorted(order)
        for word in page.locator(":is(.thread, .learns .words) button").filter(visible=True).all():
            box = word.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 366


def test_strip_appears_with_the_mouse_in_a_talk(opened):
    page = opened("?present=1&view=matrices&step=answer", model="microgpt")
    strip = page.locator(".learns")
    for size in ((1024, 768), (3840, 2160)):
        resized(page, *size)
        move_mouse(page)
        becomes(page, lambda: strip.evaluate("(each) => getComputedStyle(each).opacity"), "1", size)
        assert strip.evaluate("(each) => each.clientWidth > 0 && each.scrollWidth <= each.clientWidth"), size
        page.keyboard.press("PageUp")
        becomes(page, lambda: strip.evaluate("(each) => getComputedStyle(each).opacity"), "0", size)
