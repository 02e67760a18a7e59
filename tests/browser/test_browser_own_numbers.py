"""Files of one's own in a real browser: picked, compared, and opened in the walkthrough."""

import json
import re

import numpy as np
from implementations import Implementation
from readback import numerals
from tab import becomes, expect, numbers_are, parameters, pick, sentence
from test_microgpt import own as own_microgpt

from attnviz import attend
from attnviz.core.parameters import Parameters
from attnviz.models import statefile


def own(wrong=""):
    return Implementation(np.random.default_rng(1), np.float64, n=4, mask=np.tri(4, dtype=bool), wrong=wrong)


def given(page, path, arrays):
    np.savez(path, **arrays)
    page.locator("input[type=file]").set_input_files(path)
    expect(page.get_by_text(path.name, exact=True)).to_be_visible()


def says(page, text):
    expect(page.locator(".came").first).to_contain_text(text)


def test_mistake_in_a_file_is_named(visit, tmp_path):
    tab = visit()
    page = tab.open("your_own_numbers")
    given(page, tmp_path / "transposed.npz", own("transposed").written("BERT", "attention", "output"))
    says(page, "The first stage that differs: output. W_V was used transposed.")
    page.get_by_role("button", name="Open both passes beside each other").click()
    tab.settled()
    expect(page.locator(".pairing")).to_contain_text("Computed by: your code")
    *_, marked = numerals(page.locator(".panel h3").inner_text())
    expect(page.locator(".panel .beside")).to_contain_text(f"B {marked}")
    page.go_back()
    says(page, "W_V was used transposed.")
    correct = own("mask inverted")
    given(page, tmp_path / "<b>.npz", correct.written("BERT", "attention"))
    says(page, "The first stage that differs: attention. The mask was applied the other way round.")
    page.locator("summary").filter(has_text="More").click()
    pick(page, "True in a mask is", "a key that is seen")
    says(page, "The first stage that differs: attention. The mask was applied the other way round.")
    assert page.locator(".matrix td.marked").all_inner_texts() == ["NaN", page.locator("td.marked").nth(1).inner_text()]
    expect(page.get_by_role("row", name="attention.self.query.weight")).to_contain_text("(out, in)")
    pick(page, "Heads", "4")
    says(page, "The first stage that differs")
    expect(page.get_by_role("row", name=re.compile("^attention attention"))).to_contain_text("shape")
    pick(page, "Heads", "2")
    says(page, "The mask was applied the other way round.")
    page.get_by_role("button", name="Open in the walkthrough").click()
    tab.settled()
    page.get_by_role("button", name="Softmax", exact=True).click()
    page.get_by_role("button", name="All words").click()
    parameters = {name: each for name, each in correct.written("attnviz").items() if name[1:2] == "_"}
    expected = attend(correct.x, parameters=Parameters(**parameters), mask=correct.mask)
    numbers_are(page, "Attention", expected["attention"].value[0])
    assert "%3Cb%3E" not in page.url
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("own numbers, which no link holds")


def test_own_microgpt_opens_as_a_model(visit, tmp_path):
    tab = visit()
    page = tab.open("your_own_numbers")
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(own_microgpt(n_layer=4)), "utf-8")
    page.locator("input[type=file]").set_input_files(path)
    says(page, "A microgpt of your own")
    page.get_by_role("button", name="Open in the walkthrough").click()
    tab.settled()
    expect(page.get_by_role("combobox", name="Show").locator("option:checked")).to_have_text("Your own microgpt")
    sentence(page).fill("zyx")
    page.get_by_role("button", name="Layer 4", exact=True).click()
    page.get_by_role("button", name="Softmax", exact=True).click()
    page.get_by_role("button", name="All letters").click()
    trace = statefile.read(path.read_bytes()).trace("zyx")
    numbers_are(page, "Attention", trace["attention_4"].value[0])
    becomes(page, lambda: parameters(page).get("step"), "softmax-4")
    says(tab.open("your_own_numbers"), "A microgpt of your own")  # again, and the page is busy no more
    assert tab.errors == []


def test_unreadable_file_is_reported(visit, tmp_path):
    """As a folder that was dropped, or a file that was written anew since it was picked."""
    page = visit().open("your_own_numbers")
    read, refused = "File.prototype.arrayBuffer", "Promise.reject(new DOMException('', 'NotReadableError'))"
    page.evaluate(f"() => {{ window.read = {read}; {read} = () => {refused}; }}")
    given(page, tmp_path / "gone.npz", own().written("BERT", "attention"))
    says(page, "The browser can’t read this")
    page.evaluate(f"() => {{ {read} = window.read; }}")
    given(page, tmp_path / "there.npz", own().written("BERT", "attention"))
    says(page, "Attention agrees to float64 rounding.")
