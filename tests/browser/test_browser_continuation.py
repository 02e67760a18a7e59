"""A name is written in a real browser: letter by letter, drawn or the most probable, to its end and back."""

import re

import pytest
from numerals import short
from tab import at, becomes, expect, parameters, resized, sentence

from attnviz.analysis.stream import parts
from attnviz.core.changes import Change
from attnviz.core.numerals import digits
from attnviz.explain.payload import model_data
from attnviz.explain.wording import percent
from attnviz.models import MODELS
from attnviz.models.continuation import Sampling, filtered_probabilities, sample_token

pytestmark = pytest.mark.browser


def name_of(text, drawing):
    model = MODELS["microgpt"].at(0)
    while len(text) < 15:
        row = model.trace(text)["probabilities"].value[-1]
        answer = model.task.answers[sample_token(row, drawing, len(text))]
        if answer == "end":
            return text
        text += answer
    return text


def test_a_name_is_written_to_its_end_and_a_letter_taken_away(visit):
    tab = visit()
    page = tab.open(at(model="microgpt", sentence="ka", draw="0.5,5,0.9,3"))
    drawing, model = Sampling(0.5, 5, 0.9, 3), MODELS["microgpt"].at(0)
    bars = page.locator(".next-letter .bar-of")
    row = model.trace("ka")["probabilities"].value[-1]
    answers = model.task.answers
    ranked = sorted(range(27), key=lambda place: -row[place])
    becomes(page, page.locator(".next-letter .bar-of .name").all_inner_texts, [answers[place] for place in ranked])
    weights = filtered_probabilities(row, drawing)
    out = "(bars) => bars.filter((bar) => bar.classList.contains('out')).map((bar) => bar.lastChild.textContent)"
    assert sorted(bars.evaluate_all(out)) == sorted(answers[place] for place in range(27) if not weights[place])
    training = MODELS["microgpt"].training_data(0)
    losses = [f"this model {short(training['curve'][-1][1])}"]
    for each in training["yardsticks"]:
        passed = f" (passed at step {each['passed']})" if each["passed"] else ""
        losses.append(f"{each['label']} {short(each['loss'])}{passed}")
    expect(page.locator(".yardsticks")).to_have_text(
        f"Loss in nats a letter, on names never seen: {'; '.join(losses)}."
    )
    written = page.locator(".training .writes")
    expect(written).to_have_text(
        " ".join(
            [
                "It writes after 22,000 of 22,000 steps, at temperature 0.5 from seeds 0 to 9:",
                *(each["text"] for each in training["writes"]["texts"]),
            ]
        )
    )
    expect(page.locator(".panel .habit")).to_have_text(model_data(model.trace("ka"), training).training.heads[0])
    bars.nth(2).click()
    expect(page.locator(".panel h3")).to_have_text(f"probabilities[a, {answers[ranked[2]]}] = {digits(row[ranked[2]])}")
    writers = page.get_by_role("region", name="The logit as a sum")
    values = [float(text.replace("−", "-")) for text in writers.locator(".value").all_inner_texts()]
    logit = model.trace("ka")["logits"].value[-1][ranked[2]]
    assert sum(values) == pytest.approx(logit, abs=0.00005 * (len(values) + 1))
    assert abs(values[0]) == max(map(abs, values[:-1]))
    n_writers = len(parts(model.trace("ka"), 2))
    expect(writers.locator("li").last).to_contain_text(f"{n_writers - 6} others together")
    page.get_by_role("button", name=f"Next letter: {answers[sample_token(row, drawing, 2)]}").click()
    expect(sentence(page)).to_have_value(f"ka{answers[sample_token(row, drawing, 2)]}")
    page.get_by_role("button", name="Write to the end").click()
    name = name_of("ka", drawing)
    expect(page.locator(".next-letter .said")).to_have_text(f"It ends here: “{name}”.")
    becomes(page, lambda: parameters(page).get("sentence"), name)
    page.get_by_role("button", name="Delete the last letter").click()
    expect(sentence(page)).to_have_value(name[:-1])
    page.get_by_role("button", name="the most probable", exact=True).click()
    becomes(page, lambda: "draw" in parameters(page), False)
    assert tab.errors == []


def test_the_sheet_marks_the_columns_that_are_kept(opened):
    page = opened(at(view="sheet", step="softmax", cell="1.5.3.1.1"), model="microgpt", sentence="eliza")
    kept = page.locator(".sheet tr.kept td")
    becomes(
        page,
        lambda: [text for text in kept.all_inner_texts() if text],
        ["3,664 multiplications instead of 18,320", "keys and values kept", "new"],
    )
    assert kept.evaluate_all("(cells) => cells.map(({ colSpan }) => colSpan)")[:3] == [2, 4, 1]
    page.get_by_role("grid").get_by_role("button", name="BOS", exact=True).click()
    expect(page.locator(".sheet tr.kept")).to_have_count(0)


def test_two_passes_have_their_answers_and_their_arcs_on_one_page(visit):
    tab = visit()
    page = tab.open(at(model="microgpt", sentence="eliza", view="sheet", beside="changes=output%5B%3A%5D%3D0"))
    resized(page, 1366, 768)
    expect(page.locator(".next-letter .kept")).to_have_text(
        re.compile("^Bars are B, lines A. Only the row for “a” is new")
    )
    model = MODELS["microgpt"].at(0)
    muted = model.trace("eliza").with_changes(Change("output", (None,), 0.0))
    rows = [trace["probabilities"].value[-1] for trace in (model.trace("eliza"), muted)]
    for answer, name in enumerate(model.task.answers):
        b, a = (percent(row[answer]) for row in rows)
        expect(page.get_by_role("button", name=f"{name}: {b}, in A {a}", exact=True)).to_be_visible()
    lines = page.locator(".next-letter .in-a").evaluate_all("(all) => all.map((each) => parseFloat(each.style.bottom))")
    assert sorted(lines) == pytest.approx(sorted(100 * rows[1] / max(map(max, rows))), abs=1e-3)
    arcs, foot = (page.locator(each).last.bounding_box() for each in (".thread .arcs", ".thread .purpose"))
    assert 0 < arcs["height"] < arcs["y"] < foot["y"] + foot["height"] < page.locator(".toolbar").bounding_box()["y"]


@pytest.mark.parametrize("address", [{}, {"present": "1"}])
def test_what_a_bar_says_is_as_wide_as_the_bar_at_most(visit, address):
    page = visit().open(at(model="microgpt", sentence="marian", view="matrices", **address))
    bars = page.locator(".next-letter .bar-of")
    expect(bars).to_have_count(11 if address else 27)  # in a talk ten, and the others together
    for width in (1440, 1024, 830, 390):
        resized(page, width, 768)
        wide = bars.evaluate_all(
            "(all) => all.filter((bar) => bar.scrollWidth > bar.clientWidth).map((bar) => bar.ariaLabel)"
        )
        assert (width, wide) == (width, [])
        rows = bars.evaluate_all("(all) => new Set(all.map((bar) => bar.offsetTop)).size")
        assert (rows == 1) is (width >= 1024) or address


def test_a_neuron_is_muted_and_fires_again(visit):
    tab = visit()
    page = tab.open(at(model="microgpt", sentence="eliza", view="sheet", step="neurons", picked="hidden"))
    trace = MODELS["microgpt"].at(0).trace("eliza")
    firing, added_up = (abs(trace[name].value[-1]) for name in ("active", "hidden"))
    neuron = int(firing.argmax())
    largest = sorted(range(64), key=lambda each: (firing[each], added_up[each]), reverse=True)[:12]
    assert (added_up[largest] > 0).sum() > (firing[largest] > 0).sum(), "some that do not fire"
    names = page.locator(".sheet tr.names", has_text="the largest; 52 more").locator("th button")
    becomes(page, names.all_inner_texts, [str(each + 1) for each in sorted(largest)])
    for name in ("hidden", "active"):
        found = page.locator(f'.sheet td[data-cell^="{name}["]').evaluate_all(
            "(all) => all.map((each) => each.dataset.cell)"
        )
        assert found == [f"{name}[5,{each}]" for each in sorted(largest)]
    page.locator(f'td[data-cell="hidden[5,{neuron}]"]').click()
    page.get_by_role("button", name=f"Mute neuron {neuron + 1}", exact=True).click()
    becomes(page, lambda: parameters(page).get("changes"), f"active[:,{neuron}]=0")
    expect(page.locator(f'td[data-cell="active[5,{neuron}]"]')).to_contain_text("0.00")
    page.get_by_role("button", name=f"Unmute neuron {neuron + 1}", exact=True).click()
    becomes(page, lambda: "changes" in parameters(page), False)
    expect(page.locator(f'td[data-cell="active[5,{neuron}]"]')).to_contain_text(
        short(trace["active"].value[-1, neuron])
    )
