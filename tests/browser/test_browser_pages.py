"""From page to page, and by links, reloads and Back, in a real browser: what someone set and typed stays."""

from tab import at, becomes, expect, frames, heading, parameters, picked_is, sentence, to_page

SENTENCE = "come rain or shine"
ENTRY = "navigation.currentEntry.key"
"""What stands for where one is in the browser's history, whatever becomes of the address there."""

SLOW = "{ let now = 1e9; performance.now = () => now += 5000 }"
"""So slow a machine that seconds are between any two things that it does."""


def test_settings_survive_page_switch_and_reload(visit):
    tab = visit()
    page = tab.open(at(sentence=SENTENCE, heads=4, d_model=12, mask="causal", seed=5, step="Scores", cell="2.4.3.1.1"))
    expect(heading(page, "How well does each key")).to_be_visible()
    to_page(page, "The same in NumPy")
    expect(page.get_by_text("scores = q @ k.swapaxes(-1, -2)")).to_be_visible()
    expect(page.locator(".script").get_by_text("(4, 4, 4): head, query, key").first).to_be_visible()
    to_page(page, "Walkthrough")
    for _ in range(2):
        expect(heading(page, "How well does each key")).to_be_visible()
        expect(heading(page, "scores[head 2, shine, or]")).to_be_visible()
        expect(sentence(page)).to_have_value(SENTENCE)
        becomes(page, lambda: parameters(page).get("step"), "scores")
        page.reload()
        tab.settled()


def test_quick_page_switches_keep_settings(visit):
    tab = visit()
    page = tab.open(at(sentence=SENTENCE, seed=7, context="sun", step="Scores"))
    for name in ("Audit", "The same in NumPy", "Walkthrough") * 3:  # faster than the pages answer
        to_page(page, name)
    expect(heading(page, "How well does each key")).to_be_visible()
    tab.settled()
    expect(sentence(page)).to_have_value(SENTENCE)
    expect(page.get_by_role("textbox", name="Seed")).to_have_value("7")
    there = {"sentence": SENTENCE, "seed": "7", "context": "sun", "step": "scores"}
    becomes(page, lambda: parameters(page), there)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_bad_address_opens_with_notices(visit):
    page = visit().open(at(heads=7, d_model=8, seed=-1, step="nonsense", sentence="a" * 40_000))
    for text in ("got '7', using 8", "got '-1', using 0", "showing Start", "the address has 40,000"):
        expect(page.get_by_role("alert")).to_contain_text(text)


def test_back_restores_the_page(visit):
    tab = visit(afresh=True)
    page = tab.open(at(sentence=SENTENCE, heads=4, mask="causal", step="Scores"))
    becomes(page, lambda: parameters(page)["step"], "scores")
    before, entry = page.url, page.evaluate(ENTRY)
    page.evaluate(SLOW)
    to_page(page, "The same in NumPy")
    expect(page.locator(".script").get_by_text("(4, 4, 4): head, query, key").first).to_be_visible()
    tab.settled()
    page.wait_for_function("location.search.includes('heads=4') && location.search.includes('mask=causal')")
    page.go_back()
    expect(heading(page, "How well does each key")).to_be_visible()
    expect(sentence(page)).to_have_value(SENTENCE)
    assert (page.evaluate(ENTRY), page.url) == (entry, before)


def test_banner_leads_to_its_change(visit):
    tab = visit(afresh=True)
    page = tab.open("audit" + at(sentence="a new day", heads=4, changes="scores[0,1,2]=3"))
    banner = page.get_by_text("Set by hand: scores[head 1, new, day] = 3")
    expect(banner).to_be_visible()
    before, entry = page.url, page.evaluate(ENTRY)
    page.evaluate(SLOW)
    page.get_by_role("button", name="Change it").click()
    set_by_hand = {"heads": "4", "changes": "scores[0,1,2]=3", "step": "scores", "picked": "scores", "ask": "whatif"}
    becomes(page, lambda: parameters(page).items() >= set_by_hand.items(), True)
    tab.settled()
    there = page.url
    page.go_back()
    expect(banner).to_be_visible()
    expect(sentence(page)).to_have_value("a new day")
    picked_is(page, "Heads", "4")
    tab.settled()
    assert (page.evaluate(ENTRY), page.url) == (entry, before)
    page.go_forward()
    expect(page.get_by_role("button", name="what if")).to_have_attribute("aria-pressed", "true")
    tab.settled()
    assert page.url == there


def test_examples_switch_before_the_server_answers(visit):
    page = visit(afresh=True).open("worked_examples" + at(notebook="001"))
    title = page.locator(".article h2")
    expect(title).to_have_text("A causal mask hides the words to come")
    page.evaluate("performance.now = () => 1e9")  # what is chosen at one moment is one step of the history
    of_two_heads, of_a_sum = (page.get_by_role("radio", name=name) for name in ("Two heads", "Dividing by the sum"))
    shown = of_two_heads.evaluate(
        "radio => { radio.click(); return radio.getRootNode().querySelector('h2').textContent }"
    )
    assert shown == "Two heads, from the words to the output"
    of_a_sum.check()
    becomes(page, lambda: parameters(page).get("notebook"), "004")
    expect(title).to_have_text("Dividing by the sum is not softmax")
    expect(page.get_by_text("77 printed numbers")).to_be_visible()
    expect(of_a_sum).to_be_focused()
    page.go_back()
    becomes(page, lambda: parameters(page).get("notebook"), "001")
    expect(title).to_have_text("A causal mask hides the words to come")


WIDTH = 1200
LOADED = ("audit", "numpy_code", "worked_examples", "your_own_numbers")
"""Pages that keep still as they load; what the others show takes its time."""
SHIFTED = """(() => { globalThis.shifted = 0;
  new PerformanceObserver((list) => { for (const { value } of list.getEntries()) shifted += value; })
    .observe({ type: "layout-shift", buffered: true }); })()"""


def test_pages_of_text_have_one_template_and_keep_still_as_they_load(visit):
    loaded, backgrounds = visit(afresh=True, width=1366), {}
    loaded.page.add_init_script(SHIFTED)
    for name in ("by_hand", "what_attention_says", *LOADED):
        page = (loaded if name in LOADED else visit(width=1366)).open(name)
        column = page.locator(".st-key-article").bounding_box()
        assert column["width"] == WIDTH, name
        assert abs(2 * column["x"] + WIDTH - page.evaluate("innerWidth")) < 2, name
        expect(page.locator("h1")).to_be_in_viewport()
        menu = page.get_by_test_id("stTopNavSection")
        expect(menu).to_have_count(1)  # Streamlit measures the top bar, and shows another menu until then
        backgrounds[name] = menu.evaluate("(each) => getComputedStyle(each).backgroundColor")
        if name in LOADED:
            frames(page)
            assert page.evaluate("shifted") < 0.1, name
    other = backgrounds.pop("your_own_numbers")
    assert other not in backgrounds.values(), "the menu is marked that the page is in, and no other"
