"""What is done in a page is answered by the server, whole, in order and without a run, in a real browser."""

import os

from server import KILL, free_port, served
from tab import (
    IDLE,
    actions_held,
    at,
    becomes,
    cell,
    expect,
    heading,
    parameters,
    pick,
    picked_is,
    sentence,
    step_is,
    typed,
)

from attnviz import Settings, trace_of
from attnviz.analysis.audit import n_terms
from attnviz.core.numerals import digits
from attnviz.explain import export
from attnviz.explain.export import torch_script
from attnviz.scene.with_pass import start

WORDS = "owls see mice"
LONG = " ".join(f"w{n}" for n in range(30))


def score(**settings):
    """What stands over the score of the third word with the second, at which nobody begins."""
    settings = {"sentence": WORDS} | settings
    return f"= {digits(trace_of(Settings(**settings))['scores'].value[0, 2, 1])}"


def audited(page, **settings):
    """Wait until the verdict is on as many numbers as such a pass computes."""
    trace = trace_of(Settings(WORDS, **settings))
    made = sum(stage.value.size for stage in trace.stages if not stage.is_given)
    expect(page.get_by_role("status").filter(has_text=f"{made:,} of {made:,} numbers agree")).to_be_visible()


def asking(**settings):
    return f"Recompute {n_terms(trace_of(Settings(LONG, **settings))):,} terms"


def words_are(page, words):
    becomes(page, page.locator(".thread .text").all_inner_texts, words.split())


def test_settings_keep_focus_step_and_number(visit):
    tab = visit()
    page = tab.open(at(sentence="owls see", step="scores"))
    tab.told.clear()
    sentence(page).press("End")
    sentence(page).press_sequentially(" mice")
    becomes(page, lambda: tab.actions[-1:], [["sentence", WORDS]])  # three words are there before the last is whole
    tab.settled()
    words_are(page, WORDS)
    becomes(page, lambda: parameters(page), {"sentence": WORDS, "step": "scores"})
    cell(page, "Scores", 2, 1).click()
    mask = page.get_by_role("combobox", name="Mask")
    mask.focus()
    pick(page, "Mask", "causal")
    tab.settled()
    expect(mask).to_be_focused()
    step_is(page, 4)
    expect(cell(page, "Scores", 2, 1)).to_have_attribute("tabindex", "0")
    there = {"sentence": WORDS, "step": "scores", "picked": "scores", "cell": "1.3.2.1.1"}
    becomes(page, lambda: parameters(page), there | {"mask": "causal"})
    assert tab.told == []


def test_typing_is_sent_whole_and_in_order(visit):
    tab = visit()
    page = tab.open(at(sentence="a b", step="scores", cell="1.2.3.1.1"))
    sentence(page).fill(WORDS)
    pick(page, "Mask", "causal")
    trace = trace_of(Settings(WORDS, mask="causal"))
    first = start(trace, "scores")
    value = trace["scores"].value[0, first.query, first.key]
    expect(heading(page, f"= {digits(value)}")).to_be_visible()
    becomes(page, lambda: tab.actions, [["sentence", WORDS], ["mask", "causal"]])
    expect(sentence(page)).to_have_value(WORDS)
    picked_is(page, "Mask", "causal")

    tab.actions.clear()
    told = "one two three four five six seven"
    typed(sentence(page), told, delay=15)
    words_are(page, told)
    expect(sentence(page)).to_have_value(told)
    expect(sentence(page)).to_be_focused()
    becomes(page, lambda: tab.actions[-1:], [["sentence", told]])
    tab.settled()
    names, texts = zip(*tab.actions, strict=True)
    assert set(names) == {"sentence"}
    assert [len(text) for text in texts] == sorted({len(text) for text in texts})
    assert all(told.startswith(text) for text in texts)


def test_back_after_a_setting_and_theme_switch(visit):
    tab = visit(afresh=True)
    page = tab.open(at(sentence=WORDS, step="scores", cell="1.3.2.1.1"))
    pick(page, "d_model", "16")
    expect(heading(page, score(d_model=16))).to_be_visible()
    with actions_held(page):
        pick(page, "Heads", "4")
        page.go_back()
        expect(heading(page, score())).to_be_visible()
        picked_is(page, "d_model", "8")
    pick(page, "Mask", "causal")
    there = {"sentence": WORDS, "step": "scores", "mask": "causal", "cell": "1.3.2.1.1"}
    becomes(page, lambda: parameters(page), there)
    tab.settled()
    expect(heading(page, score())).to_be_visible()
    picked_is(page, "Mask", "causal")
    picked_is(page, "Heads", "2")

    n_entries = page.evaluate("history.length")
    page.evaluate("performance.now = () => 1e9")  # so much later that writing the address is a step of the history
    page.emulate_media(color_scheme="dark")
    becomes(page, lambda: tab.actions[-1:], [["nothing", True]])  # Streamlit has drawn anew what its last run had given
    tab.settled()
    picked_is(page, "Mask", "causal")
    assert (parameters(page)["mask"], page.evaluate("history.length")) == ("causal", n_entries)
    page.emulate_media(color_scheme="light")  # as other tests have it in this tab


def test_audit_follows_settings_and_large_ones_wait(visit):
    tab = visit()
    page = tab.open("audit" + at(sentence=WORDS))
    audited(page)
    tab.told.clear()
    pick(page, "d_model", "16")
    pick(page, "Heads", "4")
    becomes(page, lambda: parameters(page), {"sentence": WORDS, "d_model": "16", "heads": "4"})
    audited(page, d_model=16, n_heads=4)
    for heads in ("2", "4", "2"):  # of quick ones each
        pick(page, "Heads", heads)
    tab.settled()
    picked_is(page, "Heads", "2")
    assert tab.told == [], "no run is asked for"
    pick(page, "d_model", "8")
    sentence(page).fill(LONG)
    page.get_by_role("button", name=asking()).click()
    expect(page.get_by_role("status").filter(has_text="numbers agree, largest difference")).to_be_visible()
    expect(page.get_by_role("progressbar")).to_have_count(0)
    tab.settled()
    pick(page, "d_model", "64")  # which takes long enough to be seen
    page.get_by_role("button", name=asking(d_model=64)).click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    sentence(page).fill(WORDS)
    pick(page, "d_model", "32")
    audited(page, d_model=32)
    expect(page.get_by_role("progressbar")).to_have_count(0)


def test_downloaded_script_is_the_shown_one(visit):
    tab = visit()
    page = tab.open("numpy_code" + at(sentence="a b"))
    sentence(page).fill(WORDS)
    expect(page.locator(".script").get_by_text("(2, 3, 3): head, query, key").first).to_be_visible()
    trace = trace_of(Settings(WORDS))
    for language, name, text in (("NumPy", "pass", export.script(trace)), ("PyTorch", "torch", torch_script(trace))):
        page.get_by_role("button", name=language, exact=True).click()
        assert page.locator(".script pre").inner_text() == text
        with page.expect_download() as download:
            page.get_by_role("button", name=f"↓ attnviz_{name}.py").click()
        assert download.value.path().read_text("utf-8") == text
    sentence(page).fill("")
    expect(page.get_by_role("button", name="↓ attnviz_torch.py")).to_be_hidden()
    expect(heading(page, "The pass as a script")).to_be_hidden()
    sentence(page).fill(WORDS)
    expect(heading(page, "The pass as a script")).to_be_visible()


def test_restarted_server_loses_nothing(browser):
    port, page = free_port(), browser.new_page()
    with served(port=port) as (address, pid):
        page.goto(f"{address}/worked_examples{at(notebook='002')}")
        expect(heading(page, "Attention needs no parameters")).to_be_visible()
        expect(page.get_by_role("link", name="Your own numbers")).to_be_visible()
        page.goto(f"{address}/walkthrough{at(sentence=WORDS, step='scores', cell='1.3.2.1.1')}")
        expect(heading(page, score())).to_be_visible()
        os.kill(pid, KILL)
        expect(page.locator(IDLE)).to_have_count(0)
    pick(page, "Mask", "causal")
    sentence(page).press("End")
    sentence(page).press_sequentially(" run")
    sentence(page).press("ArrowLeft")
    with served(port=port):
        expect(page.locator(IDLE)).to_have_count(1)
        there = {"sentence": f"{WORDS} run", "mask": "causal", "step": "scores", "cell": "1.3.2.1.1"}
        becomes(page, lambda: parameters(page), there)
        expect(heading(page, score(sentence=f"{WORDS} run"))).to_be_visible()
        expect(sentence(page)).to_be_focused()
        assert sentence(page).evaluate("box => box.selectionStart") == len(f"{WORDS} ru")
        page.get_by_role("button", name="Next").first.click()
        for _ in range(2):  # a reload is the first visit to a new process
            step_is(page, 5)
            becomes(page, lambda: parameters(page), there | {"step": "scaling"})
            page.reload()
        page.close()  # before its server ends, which it would miss
