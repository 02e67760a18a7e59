"""A name is written in a real browser: letter by letter, drawn or the most probable, to its end and back."""

import pytest
from tab import at, becomes, expect, parameters, resized, sentence
from test_continuation import written_by_a_loop

from attnviz.analysis.stream import parts
from attnviz.core.numerals import digits, short
from attnviz.models import MODELS
from attnviz.models.continuation import Sampling, filtered_probabilities, sample_token


def test_name_is_written_to_its_end(visit):
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
    name = written_by_a_loop("ka", drawing)
    expect(page.locator(".next-letter .said")).to_have_text(f"It ends here: “{name}”.")
    becomes(page, lambda: parameters(page).get("sentence"), name)
    page.get_by_role("button", name="Delete the last letter").click()
    expect(sentence(page)).to_have_value(name[:-1])
    page.get_by_role("button", name="Options", exact=True).click()
    page.get_by_role("button", name="the most probable", exact=True).click()
    becomes(page, lambda: "draw" in parameters(page), False)
    assert tab.errors == []


def test_kept_columns_are_marked(opened):
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


@pytest.mark.parametrize("address", [{}, {"present": "1"}])
def test_bar_labels_fit_their_bars(visit, address):
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


def test_neuron_is_muted_and_unmuted(visit):
    tab = visit()
    page = tab.open(at(model="microgpt", sentence="eliza", view="sheet", step="neurons", picked="hidden"))
    trace = MODELS["microgpt"].at(0).trace("eliza")
    neuron = int(abs(trace["active"].value[-1]).argmax())
    page.locator(f'td[data-cell="hidden[5,{neuron}]"]').click()
    page.get_by_role("button", name=f"Mute neuron {neuron + 1}", exact=True).click()
    becomes(page, lambda: parameters(page).get("changes"), f"active[:,{neuron}]=0")
    expect(page.locator(f'td[data-cell="active[5,{neuron}]"]')).to_contain_text("0.00")
    page.get_by_role("button", name=f"Unmute neuron {neuron + 1}", exact=True).click()
    becomes(page, lambda: "changes" in parameters(page), False)
    expect(page.locator(f'td[data-cell="active[5,{neuron}]"]')).to_contain_text(
        short(trace["active"].value[-1, neuron])
    )
