"""The sheet on paper, with all numbers and as a worksheet: read back from the PDF, in a real browser."""

import json
import re
from collections import Counter

import numpy as np
import pytest
from alone import sent, written
from documents import fitted_at
from needs import needed
from numerals import short
from tab import expect

printed = needed("paper").printed

pytestmark = pytest.mark.browser

WHO, RECALL = {"model": "who-is-it"}, {"model": "recall"}
CAUSAL = {"sentence": "the cat sat on the mat", "heads": "2", "mask": "causal", "seed": "7"}
FORTY = {"sentence": " ".join(f"word{number}" for number in range(1, 41)), "d_model": "64", "heads": "8"}
HOSTILE = "<b>x</b><img/src=//evil.example/x>"
AFTER_ONE_HEAD = ["concat", "output", "output", "logits", "probabilities"]
"""On the second page: what is multiplied, what that gives, and so on."""
A4 = (841.9, 595.3)
SMALLEST = 9
"""Points."""


def of_sheet(opened, settings, address="?view=sheet"):
    page = opened(address, **settings)
    page.evaluate("window.print = () => { window.isPrinted = true; }")
    return page, fitted_at(settings).trace, json.loads(written(**settings))


def worksheet(page, band):
    page.get_by_role("button", name="Print", exact=True).click()
    page.get_by_label("Numbers left out from").select_option(band)
    page.get_by_role("button", name="Worksheet and key").click()
    assert page.evaluate("isPrinted")
    return printed(page)


def selections(document):
    """Where one looks on each page of the sheet, which is the last place of its steps, and in which layer.

    How the first query is made is seen on the screen alone.
    """
    bands = [step for step in document["steps"] if step["bands"]]
    last = {step["page"]: step for step in bands if not step["page"].startswith("query")}
    return [(page, document["starts"][step["layer"]]) for page, step in last.items()]


def line(numbers):
    return " ".join(map(short, numbers)).replace("-inf", "−∞")


def texts(sheets):
    return [" ".join(sheet.text.split()) for sheet in sheets]


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings", [WHO, RECALL, CAUSAL, FORTY], ids=["who is it", "two layers", "heads", "forty words"]
)
def test_each_page_of_the_sheet_is_one_of_paper_with_the_shares_of_its_word(opened, settings):
    page, trace, document = of_sheet(opened, settings)
    sheets = printed(page)
    places = selections(document)
    assert len(sheets) == len(places)
    for nth, (sheet, text, (name, cell)) in enumerate(zip(sheets, texts(sheets), places, strict=True), start=1):
        word, layer = trace.labels["query"][cell["query"]], trace.layers[int(name[-1]) - 1]
        kind, words = name.split("-")[0], trace.labels["key"]
        assert f"Where “{word}” looks" in text if kind == "words" else f"What “{word}” becomes" in text
        assert (f"Layer {name[-1]}" in text) == (len(trace.layers) > 1)
        assert " ".join(words) in text, "the sentence whole"
        assert f"Page {nth} of {len(sheets)}" in text
        assert ("Model: " if "model" in settings else f"Seed: {settings.get('seed', 42)}") in text
        shares = trace[layer.names["attention"]].value[:, cell["query"]]
        if kind == "words" and len(words) <= 16:
            assert line(shares[cell["head"]]) in text
        elif kind == "words":
            assert short(shares[cell["head"]].max()) in text
        elif len(shares) > 1 and len(words) <= 16:
            assert [row for row in map(line, shares) if row not in text] == []
        assert np.allclose(sheet.size, A4, atol=1)
        assert min(size for _, size in sheet.digits) >= SMALLEST - 0.01
    assert "Probabilities" in texts(sheets)[-1] if document["model"] else "Output" in texts(sheets)[-1]


def numbers_in(text):
    return Counter(re.findall(r"−?\d+\.\d+", text))


def left_out(trace, cell, names):
    """The numbers of the selected word in some stages, in the selected head; `exp` is what a softmax divides."""
    rows = []
    for name in names:
        stage = trace["attention" if name == "exp" else name]
        row = stage.value[cell["head"], cell["query"]] if stage.axes[0] == "head" else stage.value[cell["query"]]
        rows.append(row / row.max() if name == "exp" else row)
    return Counter(short(each) for row in rows for each in row)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "band", "out"),
    [
        (WHO, "Scores", {"words": ["scores", "scaled", "exp", "attention", "heads"], "join": AFTER_ONE_HEAD}),
        (
            CAUSAL,
            "exp(score − max)",
            {"words": ["exp", "attention", "heads"], "join": ["attention", "heads", "output"]},
        ),
    ],
    ids=["from the scores on", "of one of two heads"],
)
def test_a_worksheet_lacks_the_numbers_from_a_band_on_and_its_key_has_them(opened, settings, band, out):
    page, trace, document = of_sheet(opened, settings)
    before, whole = page.url, texts(printed(page))
    pages = texts(worksheet(page, band))
    worked, solved = pages[: len(whole)], pages[len(whole) :]
    assert [numberless(f"Key {text}") for text in whole] == [numberless(text) for text in solved]
    for sheet, key, (name, cell) in zip(worked, solved, selections(document), strict=True):
        assert sheet.startswith("Worksheet")
        assert "Name" in sheet
        missing, expected = numbers_in(key) - numbers_in(sheet), left_out(trace, cell, out[name.split("-")[0]])
        assert expected - missing == Counter(), "all of them are left out"
        if "scores" in out["words"] and name.startswith("words"):
            best = short(trace["scores"].value[cell["head"], cell["query"]].max())
            assert (numbers_in(key)[best], numbers_in(sheet)[best]) == (2, 0), "what is said doesn't tell it either"
    assert (sent(page), page.url) == ([], before)
    if settings == CAUSAL:
        assert texts(printed(page)) == whole, "the next print has all numbers"


def numberless(text):
    return re.sub(r"Page \d of \d", "", text)


SHEETS = """() => [...document.querySelectorAll(".viewer .of-sheet")].map((sheet) => ({
  said: [...sheet.querySelectorAll("td.said")].map((each) => each.innerText).join(" "),
  cells: Object.fromEntries([...sheet.querySelectorAll("td.number[data-cell]:not([data-cell=''])")]
    .map((each) => [each.dataset.cell, each.firstChild.data])),
  framed: [...sheet.querySelectorAll("th.chosen")].map((each) => each.textContent),
}))"""
IN_THE_END = {"output", "logits", "probabilities"}
FOLDED = {"q", "k", "v", "w_u"}
"""Of many dimensions those have a row that count most for the selected word, which is another on the key."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "band", "out"),
    [
        (RECALL, "Attention", {"attention", "heads", "concat", "residual", *IN_THE_END, *FOLDED}),
        (CAUSAL, "exp(score − max)", {"attention", "heads", "contributions", *IN_THE_END}),
        (FORTY, "Scores", {"scores", "scaled", "attention", "heads", "contributions", *IN_THE_END, *FOLDED}),
    ],
)
def test_a_worksheet_tells_no_number_that_is_left_to_be_written_and_frames_no_largest(opened, settings, band, out):
    page, trace, document = of_sheet(opened, settings)
    page.evaluate("window.print = () => window.dispatchEvent(new Event('beforeprint'))")
    page.get_by_role("button", name="Print", exact=True).click()
    page.get_by_label("Numbers left out from").select_option(band)
    page.get_by_role("button", name="Worksheet and key").click()
    sheets, places = page.evaluate(SHEETS), selections(document)
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    for sheet, key, (name, cell) in zip(sheets[: len(places)], sheets[len(places) :], places, strict=True):
        missing = key["cells"].keys() - sheet["cells"].keys()
        assert {re.split(r"_\d|\[", each)[0] for each in missing} <= out, "nothing else is left out"
        secret = {key["cells"][each] for each in missing} - set(sheet["cells"].values())
        assert not numbers_in(sheet["said"]).keys() & secret, sheet["said"]
        layer = trace.layers[int(name.split("-")[1]) - 1]
        row = trace[layer.names["attention"]].value[cell["head"], cell["query"]]
        largest = {trace.labels["key"][row.argmax()]} if name.startswith("words") else set()
        if document["model"]:
            largest.add(trace.labels["answer"][trace["probabilities"].value[cell["query"]].argmax()])
        assert not largest & set(sheet["framed"])


@pytest.mark.slow
def test_a_worksheet_leaves_out_what_the_selected_head_adds_and_has_that_of_the_other(opened):
    page, trace, document = of_sheet(opened, {"sentence": CAUSAL["sentence"]})
    pages, (_, cell) = texts(worksheet(page, "Scores")), selections(document)[1]
    added = trace["contributions"].value
    own, other = (line(added[head, cell["query"]]) for head in (cell["head"], 1 - cell["head"]))
    assert own not in pages[1]
    assert other in pages[1]
    assert "head 1 adds _______ in" in pages[1]
    assert own in pages[3]
    assert own in texts(worksheet(page, "Output"))[1]


@pytest.mark.slow
def test_the_first_page_of_all_steps_has_its_arcs_and_its_words_whole_in_a_talk_too(opened):
    page = opened("?view=matrices&present=1&step=scores", **WHO)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    first = page.locator(".printed").first
    words = first.locator(".thread .words button")
    seen = words.evaluate_all("(all) => all.map((each) => each.offsetLeft)")
    arcs, muted = first.locator(".thread .arc").count(), first.locator(".muted-said").is_visible()
    scores = page.locator(".printed .matrix figcaption .some").count()
    page.emulate_media(media="print")
    pressed = first.locator(".thread .flip").is_visible()
    page.emulate_media(media="null")
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert len(seen) == arcs == 12
    assert min(seen) >= 0
    assert not muted
    assert not pressed, "nobody presses paper"
    assert scores == 0, "all places, also of a talk that has room for fewer"


@pytest.mark.slow
def test_a_worksheet_of_layers_leaves_out_the_same_bands_in_each(opened):
    page, trace, document = of_sheet(opened, RECALL)
    pages, places = texts(worksheet(page, "Attention")), selections(document)
    worked, solved = pages[: len(places)], pages[len(places) :]
    for sheet, key, (name, cell) in zip(worked, solved, places, strict=True):
        kind, layer = name.split("-")
        row = line(
            trace[f"{'attention' if kind == 'words' else 'residual'}_{layer}"].value[..., cell["query"], :].ravel()
        )
        assert sheet.count(row) < key.count(row)
    scores = line(trace["scaled_2"].value[0, places[2][1]["query"]])
    assert scores in worked[2]
    came_in = line(trace["residual_1"].value[places[3][1]["query"]])
    assert came_in in solved[3]
    assert came_in not in worked[3], "what the layer before was asked for"


def test_a_word_is_a_word_on_paper_whatever_it_holds(bare):
    tab = bare("light")
    page = tab.open("?view=sheet&cell=1.2.1.1.1", written(**CAUSAL).replace('"cat"', json.dumps(HOSTILE)))
    for text in texts(printed(page)):
        assert re.search(f"What “{HOSTILE}” becomes|Where “{HOSTILE}” looks", text)
        assert re.search(f"(head 1 of 2|becomes) the {HOSTILE} sat on the \\(2\\) mat ", text)
    assert tab.errors == []


def test_the_dialog_is_reached_by_the_keyboard_which_moves_nothing_behind_it(opened):
    page, _, _ = of_sheet(opened, CAUSAL, "?view=sheet&step=scores&present=1")
    opener, dialog = page.get_by_role("button", name="Print", exact=True), page.get_by_role("dialog", name="Print")
    opener.press("Enter")
    expect(dialog).to_be_visible()
    sizes = dialog.locator("button, select").evaluate_all(
        "(all) => all.map((each) => Math.min(each.offsetWidth, each.offsetHeight))"
    )
    assert len(sizes) == 4
    assert min(sizes) >= 24
    before = page.url
    for key in ("ArrowRight", "PageDown", "w", "1"):
        page.keyboard.press(key)
    assert page.url == before
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(opener).to_be_focused()
    assert page.url == before, "it closes the dialog, not the talk"
