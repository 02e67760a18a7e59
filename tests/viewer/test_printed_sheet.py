"""The sheet on paper, with all numbers and as a worksheet: read back from the PDF, in a real browser."""

import json
import math
import re
from collections import Counter
from urllib.parse import urlencode

import numpy as np
import pytest
from alone import sent, written
from documents import fitted_at
from needs import needed
from tab import at, expect, from_menu

from attnviz.core.numerals import digits, short
from attnviz.explain.pictures import pictures
from attnviz.explain.steps import steps_of
from attnviz.lessons.talk_request import VersionsRequest, reply
from attnviz.scene.with_pass import start

printed = needed("paper").printed

WHO, RECALL = {"model": "who-is-it"}, {"model": "recall"}
TRANSLATOR = {"model": "translator", "sentence": "the black cat sleeps"}
CAUSAL = {"sentence": "the cat sat on the mat", "heads": "2", "mask": "causal", "seed": "7"}
FORTY = {"sentence": " ".join(f"word{number}" for number in range(1, 41)), "d_model": "64", "heads": "8"}
HOSTILE = "<b>x</b><img/src=//evil.example/x>"
A4 = (841.9, 595.3)
SMALLEST = 9
"""Points."""


def of_sheet(opened, settings, address="?view=sheet"):
    page = opened(address, **settings)
    page.evaluate("window.print = () => { window.isPrinted = true; }")
    return page, fitted_at(settings).trace, json.loads(written(**settings))


def copied(page, band, copy):
    """Choose a copy of the sheet in the dialog, "Worksheet" or "Its key", and with it a print of its own."""
    from_menu(page, "Print").click()
    page.get_by_label("Numbers left out from").select_option(band)
    page.get_by_role("button", name=copy, exact=True).click()


COPIES = ("Worksheet", "Its key")


def copies(page, band):
    """The printed sheets of a worksheet, and those of its key."""
    both = []
    for copy in COPIES:
        page.evaluate("window.isPrinted = false")
        copied(page, band, copy)
        assert page.evaluate("isPrinted")
        both.append(printed(page))
    return both


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


@pytest.mark.parametrize(
    "settings",
    [WHO, RECALL, CAUSAL, FORTY, TRANSLATOR],
    ids=["who is it", "two layers", "heads", "forty words", "two texts"],
)
def test_sheet_prints_a_page_per_word_with_its_weights(opened, settings):
    page, trace, document = of_sheet(opened, settings)
    sheets = printed(page)
    places = selections(document)
    assert len(sheets) == len(places)
    for nth, (sheet, text, (name, cell)) in enumerate(zip(sheets, texts(sheets), places, strict=True), start=1):
        layer = trace.layers[int(name[-1]) - 1]
        labels, title = layer.trace.labels, document["layers"][layer.number - 1]["title"]
        word, kind, words = labels["query"][cell["query"]], name.split("-")[0], labels["key"]
        assert f"Where “{word}” looks" in text if kind == "words" else f"What “{word}” becomes" in text
        assert ((title or f"Layer {name[-1]}") in text) == (len(trace.layers) > 1)
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


def test_worksheet_and_key_are_printed_apart(opened):
    page, trace, document = of_sheet(opened, CAUSAL)
    before, whole = page.url, texts(printed(page))
    worked, solved = map(texts, copies(page, "exp(score − max)"))
    for each in (worked, solved):
        assert [f"Page {nth} of {len(whole)}" in text for nth, text in enumerate(each, 1)] == [True] * len(whole)
    assert [numberless(f"Key {text}") for text in whole] == [numberless(text) for text in solved]
    for sheet, key, (_, cell) in zip(worked, solved, selections(document), strict=True):
        weights = line(trace["attention"].value[cell["head"], cell["query"]])
        assert weights in key
        assert weights not in sheet
        assert re.match("Worksheet.* Name ", sheet)
    assert (sent(page), page.url) == ([], before)
    assert texts(printed(page)) == whole


def numberless(text):
    return re.sub(r"Page \d of \d|The key is [^.]*[.] ", "", text)


SHEETS = """() => [...document.querySelectorAll(".viewer .of-sheet")].map((sheet) => ({
  said: [...sheet.querySelectorAll("td.said")].map((each) => each.innerText).join(" "),
  cells: Object.fromEntries([...sheet.querySelectorAll("td.number[data-cell]:not([data-cell=''])")]
    .map((each) => [each.dataset.cell, each.firstChild.data])),
  framed: [...sheet.querySelectorAll("th.chosen")].map((each) => each.textContent),
}))"""
IN_THE_END = {"output", "logits", "probabilities"}
FOLDED = {"q", "k", "v", "w_u"}
"""Of many dimensions those have a row that count most for the selected word, which is another on the key."""


@pytest.mark.parametrize(
    ("settings", "band", "out"),
    [
        (RECALL, "Attention", {"attention", "heads", "concat", "residual", *IN_THE_END, *FOLDED}),
        (CAUSAL, "exp(score − max)", {"attention", "heads", "contributions", *IN_THE_END}),
        (FORTY, "Scores", {"scores", "scaled", "attention", "heads", "contributions", *IN_THE_END, *FOLDED}),
    ],
)
def test_worksheet_leaks_no_number(opened, settings, band, out):
    page, trace, document = of_sheet(opened, settings)
    page.evaluate("window.print = () => window.dispatchEvent(new Event('beforeprint'))")
    worked = []
    for copy in COPIES:
        copied(page, band, copy)
        worked.append(page.evaluate(SHEETS))
        page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    for sheet, key, (name, cell) in zip(*worked, selections(document), strict=True):
        missing = key["cells"].keys() - sheet["cells"].keys()
        assert {re.split(r"_\d|\[", each)[0] for each in missing} <= out, "nothing else is left out"
        secret = {key["cells"][each] for each in missing} - set(sheet["cells"].values())
        assert not {*re.findall(r"−?\d+\.\d+", sheet["said"])} & secret, sheet["said"]
        layer = trace.layers[int(name.split("-")[1]) - 1]
        row = trace[layer.names["attention"]].value[cell["head"], cell["query"]]
        largest = {trace.labels["key"][row.argmax()]} if name.startswith("words") else set()
        if document["model"]:
            largest.add(trace.labels["answer"][trace["probabilities"].value[cell["query"]].argmax()])
        assert not largest & set(sheet["framed"])


WHOLE = {"sentence": "the cat sat", "initialiser": "whole", "d_model": "4", "seed": "7"}
FROM_SEED = {"mask": "causal", "heads": "1", "d_model": "4", "sentence": "the cat sat", "seed": "7"}
N_VERSIONS = 10


def versions_of(settings, n=N_VERSIONS):
    """The documents of the same pass with other seeds, whole as the browser has them."""
    made = json.loads(reply(VersionsRequest(at=urlencode(settings), n=n)))["documents"]
    seeds = [re.search(r"Seed: (\d+)", each["caption"])[1] for each in made]
    return [json.loads(written(**settings | {"seed": seed})) for seed in seeds]


def dispatching(page, documents):
    """The pages of a job are there once it has been printed, until the paper is put away."""
    page.evaluate(
        """documents => {
          window.prints = 0;
          window.versionsOf = async n => documents.slice(0, n);
          window.print = () => { window.dispatchEvent(new Event("beforeprint")); window.prints += 1; };
        }""",
        documents,
    )


def job(page, name, band, n):
    from_menu(page, "Print").click()
    page.get_by_label("Numbers left out from").select_option(band)
    page.get_by_label("Versions with other numbers").fill(str(n))
    page.get_by_role("button", name=name).click()
    page.wait_for_function("window.prints > 0")
    sheets = page.evaluate(SHEETS)
    copies = page.locator(".viewer .of-sheet .copy").all_inner_texts()
    foot = page.locator(".viewer .of-sheet footer").all_inner_texts()
    page.evaluate("window.dispatchEvent(new Event('afterprint')); window.prints = 0")
    return sheets, copies, foot


def read(text):
    """A number as it is printed: 0.62, or 8/13 = 0.62, which is read as a fraction."""
    text = text.split(" = ")[0].replace("−", "-").replace("∞", "inf")
    over, _, under = text.partition("/")
    return float(over) / float(under or 1)


def row_of(numbers, stage):
    """The numbers of the query “cat”, of a sheet's first page."""
    return np.array([numbers[f"{stage}[0,1,{place}]"] for place in range(4) if f"{stage}[0,1,{place}]" in numbers])


def matrix_of(numbers, stage):
    return np.array([[numbers[f"{stage}[0,{word},{place}]"] for place in range(4)] for word in range(3)])


def worked_out(numbers, base):
    """What somebody gets from the numbers printed on a worksheet who rounds each line as the key does.

    With whole numbers there is a base, whose powers are fractions.
    """
    scores = np.round(matrix_of(numbers, "k") @ row_of(numbers, "q"), 2)
    scaled = np.round(scores * (math.log(base) if base else 1 / 2), 2)
    powers = base**scores if base else np.exp(scaled[:2])  # “cat” doesn't see “sat”
    attention = powers / powers.sum()
    attention = attention if base else np.round(attention, 2)
    heads = attention @ matrix_of(numbers, "v")[: len(attention)]
    return {"scores": scores, "scaled": scaled, "attention": attention, "heads": heads}


@pytest.mark.parametrize(("settings", "off"), [(WHOLE, 0.00501), (FROM_SEED, 0.06)], ids=["whole", "random"])
def test_versions_have_keys_that_their_worksheets_give(opened, settings, off):
    page, documents = opened("?view=sheet&cell=1.2.1.1.1", **settings), versions_of(settings)
    dispatching(page, documents)
    worksheets, names, feet = job(page, "Their worksheets", "Scores", N_VERSIONS)
    keys, key_names, _ = job(page, "Their keys", "Scores", N_VERSIONS)
    pages = len(names) // N_VERSIONS
    assert names == [f"Worksheet {nth}" for nth in range(1, N_VERSIONS + 1) for _ in range(pages)]
    assert key_names == [f"Key {nth}" for nth in range(1, N_VERSIONS + 1) for _ in range(pages)]
    assert all(("unrounded" in foot) == (settings is FROM_SEED) for foot in feet)
    assert len({json.dumps(sheet["cells"]) for sheet in worksheets[::pages]}) == N_VERSIONS, "neighbours differ"
    wrong = []
    for nth, (sheet, key) in enumerate(zip(worksheets[::pages], keys[::pages], strict=True), start=1):
        given = {cell: read(text) for cell, text in sheet["cells"].items()}
        solved = {cell: read(text) for cell, text in key["cells"].items()}
        assert {cell for cell in given if not cell.startswith(("q[", "k[", "v["))} == set()
        assert given.items() <= solved.items(), "of the same numbers"
        for stage, numbers in worked_out(given, base_of(solved) if settings is WHOLE else None).items():
            if abs(row_of(solved, stage)[: len(numbers)] - numbers).max() > off:
                wrong.append((nth, stage, row_of(solved, stage), numbers))
    assert wrong == []


def base_of(solved):
    """The number whose powers a sheet of whole numbers takes, from its first score that isn't 0."""
    scores, scaled = row_of(solved, "scores"), row_of(solved, "scaled")
    place = np.flatnonzero(scores)[0]
    return round(math.exp(scaled[place] / scores[place]))


@pytest.mark.parametrize("paper", [{}, {"format": "Letter", "landscape": True}], ids=["A4", "Letter"])
def test_versions_print_a_page_each(opened, paper):
    page = opened("?view=sheet&cell=1.2.1.1.1", **WHOLE)
    dispatching(page, versions_of(WHOLE, 3))
    page.evaluate("window.print = () => { window.prints += 1; }")
    from_menu(page, "Print").click()
    page.get_by_label("Versions with other numbers").fill("3")
    page.get_by_role("button", name="Their worksheets").click()
    page.wait_for_function("window.prints > 0")
    sheets = printed(page, **paper)
    assert [re.match(r"Worksheet \d", sheet.text)[0] for sheet in sheets] == [
        f"Worksheet {n}" for n in (1, 1, 2, 2, 3, 3)
    ]
    assert all("Page 1 of 2" in sheet.text for sheet in sheets[::2])
    assert min(size for sheet in sheets for _, size in sheet.digits) >= SMALLEST - 0.01


def test_versions_are_offered_where_numbers_have_a_seed(opened):
    page, _, _ = of_sheet(opened, WHO)
    from_menu(page, "Print").click()
    expect(page.get_by_role("button", name="Worksheet", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Their worksheets")).to_be_hidden()


def test_failed_versions_say_why(opened):
    page, _, _ = of_sheet(opened, CAUSAL)
    page.evaluate("() => { window.versionsOf = async () => { throw new Error('No room for <b>30</b>.'); } }")
    from_menu(page, "Print").click()
    page.get_by_role("button", name="Their keys").click()
    expect(page.get_by_role("dialog").get_by_role("status")).to_have_text("That didn’t work: No room for <b>30</b>.")
    expect(page.get_by_role("dialog", name="Print")).to_be_visible()


def first_page_has_arcs_and_words(page):
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
    assert (len(seen), arcs) == (12, 1), "eleven words have under 1 %"
    assert min(seen) >= 0
    assert not muted
    assert not pressed, "nobody presses paper"
    assert scores == 0, "all places, also of a talk that has room for fewer"


def test_hostile_word_prints_as_text(bare):
    tab = bare("light")
    page = tab.open("?view=sheet&cell=1.2.1.1.1", written(**CAUSAL).replace('"cat"', json.dumps(HOSTILE)))
    for text in texts(printed(page)):
        assert re.search(f"What “{HOSTILE}” becomes|Where “{HOSTILE}” looks", text)
        assert re.search(f"(head 1 of 2|becomes) the {HOSTILE} sat on the \\(2\\) mat ", text)
    assert tab.errors == []


def test_print_dialog_traps_the_keyboard(opened):
    page, _, _ = of_sheet(opened, CAUSAL, "?view=sheet&step=scores&present=1")
    opener, dialog = page.get_by_role("button", name="Share", exact=True), page.get_by_role("dialog", name="Print")
    opener.press("Enter")
    expect(opener).to_have_attribute("aria-expanded", "true")
    from_menu(page, "Print").press("Enter")
    expect(dialog).to_be_visible()
    sizes = dialog.locator("button, select").evaluate_all(
        "(all) => all.map((each) => Math.min(each.offsetWidth, each.offsetHeight))"
    )
    assert len(sizes) == 7
    assert min(sizes) >= 24
    before = page.url
    for key in ("ArrowRight", "PageDown", "w", "1"):
        page.keyboard.press(key)
    assert page.url == before
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(opener).to_be_focused()
    assert page.url == before, "it closes the dialog, not the talk"


SMALLEST_IN_MATRICES = 7
"""Points."""
ON_A4 = {"format": "A4", "landscape": True}
PRESENTED = WHO | {"present": "1", "view": "matrices", "step": "scores"}


def rows_of(trace, slot):
    """The rows of a matrix, as they are written, for the selection that a pass is first seen with."""
    selected = start(trace, "question")
    places = [axis.place(selected) for axis in trace.axes(slot.stage)]
    index = [slot.fixed.get(axis, place) for axis, place in enumerate(places)]
    for axis in {slot.rows, slot.columns} - {None}:
        index[axis] = slice(None)
    matrix = np.atleast_2d(trace[slot.stage].value[tuple(index)])
    if slot.rows is not None and slot.rows > slot.columns:
        matrix = matrix.T
    return [" ".join(map(short, row)) for row in matrix]


def drawn(trace):
    """How many times each row of numbers is drawn in all steps."""
    slots = [slot for step in steps_of(trace) for picture in pictures(trace, step.stages) for slot in picture.matrices]
    return Counter(row for slot in slots for row in rows_of(trace, slot))


@pytest.mark.parametrize(
    ("settings", "paper"),
    [(PRESENTED, ON_A4), ({"model": "mirror", "sentence": "3 1 4 1"}, {})],
    ids=["who is it, as it is presented", "mirror, on letter paper"],
)
def test_every_matrix_prints_whole(opened, settings, paper):
    page = opened(at(**settings), **settings)
    trace = fitted_at(settings).trace
    if settings is PRESENTED:
        first_page_has_arcs_and_words(page)
    sheets = printed(page, **paper)
    text = "\n".join(sheet.text for sheet in sheets)
    missing = {row: n for row, n in drawn(trace).items() if text.count(row) < n}
    assert missing == {}
    assert all(sheet.is_wide for sheet in sheets)
    assert {size for sheet in sheets for _, size in sheet.digits if size < SMALLEST_IN_MATRICES} == set()
    cell = trace.cell_at("attention", start(trace, "question"))
    assert f"{trace.name_of(cell)} = {digits(trace['attention'].value[cell.index])}" in text


def test_large_matrices_print_as_lists(opened):
    words = [f"w{number}" for number in range(1, 41)]
    settings = {"sentence": " ".join(words), "d_model": "32", "heads": "2"}
    sheets = printed(opened(**settings), **ON_A4)
    trace = fitted_at(settings).trace
    attention, selected = trace["attention"].value[0], start(trace, "question")
    of_query = zip(words, attention[selected.query], strict=True)
    of_key = zip(words, attention[:, selected.key], strict=True)
    heading = "Scores become attention weights"
    (softmax,) = (" ".join(sheet.text.split()) for sheet in sheets if sheet.text.startswith(heading))
    for those in (of_query, of_key):
        assert " ".join(f"{word} {short(share)}" for word, share in those) in softmax
    for sheet in sheets[1:]:  # on the first, each word has its share below it
        assert set(words) <= set(sheet.text.split())
    assert {size for sheet in sheets for _, size in sheet.digits if size < SMALLEST_IN_MATRICES} == set()


def test_matrix_by_hand_fits_a_page(visit):
    sheets = printed(visit().open("by_hand"), **ON_A4)
    of_words, of_places = ("^", "a", "b", "c", "d"), [f"{wave} {turn}" for turn in (1, 2, 3) for wave in ("cos", "sin")]
    passed_on = ["a value", " ".join(of_words), *(f"{word} 1" for word in of_words), *of_places, *of_words]
    assert any("\n".join(passed_on) in sheet.text for sheet in sheets)
