"""Taking numbers apart, changing them and watching them being made, in a real browser."""

import time

import numpy as np
import pytest
from page import SENTENCE, changes_of
from tab import at, becomes, cell, expect, grid, heading, parameters

from attnviz import Settings, trace_of
from attnviz.analysis.provenance import parse_trail
from attnviz.core.changes import parse_change
from attnviz.text.movement import caption

pytestmark = pytest.mark.browser

TRACE = trace_of(Settings(SENTENCE))


def crumbs(page):
    return page.get_by_role("navigation", name="The numbers that were taken apart").get_by_role("button")


def term(page, name):
    """A cell among the terms."""
    return page.locator(".terms").get_by_role("button", name=name, exact=True)


def trail_of(page):
    return parse_trail(TRACE, parameters(page).get("trail", ""))


def stays(page, read, seconds):
    """Whether what is read stays the same for a while."""
    before = read()
    page.wait_for_timeout(1000 * seconds)
    return read() == before


def test_from_a_term_in_the_walkthrough_down_to_an_embedding(visit):
    tab = visit()
    page = tab.open(at(step="Output", cell="1.4.1.1.2"))
    term(page, "concat[on, 6]").click()
    expect(heading(page, "How was this number made?")).to_be_visible()
    names = ["output[on, 2]", "concat[on, 6]"]
    expect(crumbs(page)).to_have_text(names)
    for name in ("heads[head 2, on, 2]", "v[head 2, the (2), 2]", "x[the (2), 3]", "embeddings[the (2), 3]"):
        term(page, name).click()
        names.append(name)
        expect(crumbs(page)).to_have_text(names)  # at once; the address follows when the server has answered
        page.wait_for_url(lambda _: len(trail_of(page)[0]) == len(names))
        value = trail_of(page)[0][-1].value
        expect(heading(page, f"{name} = {value!r}")).to_be_visible()
    expect(page.get_by_text("This is where the trail ends")).to_be_visible()
    expect(page.locator(".terms td.name").get_by_role("button")).to_have_count(0)
    cells, notice = trail_of(page)
    assert [TRACE.name_of(each) for each in cells] == names
    assert not notice

    page.reload()
    tab.settled()
    expect(crumbs(page)).to_have_text(names)
    crumbs(page).nth(2).click()
    expect(crumbs(page)).to_have_text(names[:3])
    expect(heading(page, f"{names[2]} = {cells[2].value!r}")).to_be_visible()
    page.wait_for_url(lambda _: trail_of(page) == (cells[:3], ""))


def test_a_number_that_is_set_moves_what_comes_after_and_is_undone(visit):
    page = visit().open("what_if" + at(stage="scores", cell="2.4.3.1.1"))
    box = page.get_by_label("scores[head 2, on, sat] becomes")
    expect(box).to_be_visible()
    box.fill("3.25")
    box.press("Enter")
    page.get_by_role("button", name="Set it").click()
    expect(heading(page, "What moved")).to_be_visible()
    after = TRACE.with_changes(*map(parse_change, ["scores[1,3,2]=3.25"]))
    for name in ("scores", "attention", "output"):
        expect(page.locator("li", has_text=caption(TRACE, after, name))).to_be_visible()
    expect(cell(page, "Output", 3, 0).last).to_be_visible()
    becomes(page, lambda: parameters(page).get("changes"), "scores[1,3,2]=3.25")
    changed = grid(page, "Scores").first
    expect(changed.locator('[data-row="3"][data-column="2"]')).to_have_text("3.25")
    assert changed.locator(".marked").evaluate_all("c => c.map(x => [x.dataset.row, x.dataset.column])") == [["3", "2"]]
    page.get_by_role("button", name="Undo the last").click()
    expect(heading(page, "What moved")).to_have_count(0)
    expect(page.locator(".marked")).to_have_count(0)
    becomes(page, lambda: parameters(page).get("changes"), None)


def test_a_link_with_changes_opens_on_what_they_move(visit):
    changes = "attention[0,1,0]=1;heads[1]=0;mask[0,2]=1"
    page = visit().open("what_if" + at(mask="causal", stage="heads", changes=changes))
    before = trace_of(Settings(SENTENCE, mask="causal"))
    after = before.with_changes(*changes_of(changes))
    for name in ("mask", "attention", "heads", "output"):
        expect(page.locator("li", has_text=caption(before, after, name))).to_be_visible()
    expect(page.get_by_role("button", name="Head 2 is muted")).to_be_disabled()
    page.get_by_role("button", name="Reset").click()
    expect(page.get_by_text("Nothing is changed yet")).to_be_visible()
    becomes(page, lambda: parameters(page).get("changes"), None)


def test_a_changed_pass_is_walked_through_and_taken_apart_until_it_is_reset(visit):
    tab = visit()
    page = tab.open("what_if" + at(stage="scores", cell="2.4.3.1.1", changes="scores[1,3,2]=3.25"))
    expect(heading(page, "What moved")).to_be_visible()
    page.get_by_role("link", name="Walkthrough").click()
    expect(page.get_by_text("Set by hand: scores[head 2, on, sat] = 3.25")).to_be_visible()
    page.get_by_role("radio", name="Scores").click()
    expect(cell(page, "Scores", 3, 2)).to_have_text("3.25")
    tab.settled()
    cell(page, "Scores", 3, 2).click()
    expect(page.locator(".terms")).to_contain_text("set by you")
    tab.settled()
    page.get_by_role("button", name="Take it apart").click()
    expect(heading(page, "How was this number made?")).to_be_visible()
    expect(heading(page, "scores[head 2, on, sat] = 3.25")).to_be_visible()
    becomes(page, lambda: parameters(page).get("changes"), "scores[1,3,2]=3.25")
    tab.settled()
    page.get_by_role("button", name="Reset").click()
    expect(heading(page, f"scores[head 2, on, sat] = {TRACE['scores'].value[1, 3, 2].item()!r}")).to_be_visible()
    becomes(page, lambda: parameters(page).get("changes"), None)
    page.get_by_role("link", name="Walkthrough").click()
    expect(page.get_by_role("radio", name="Scores")).to_be_visible()
    expect(page.get_by_text("Set by hand")).to_have_count(0)


def test_back_undoes_a_change(visit):
    tab = visit()
    page = tab.open("what_if" + at(mask="causal"))
    for head in (1, 2):
        page.wait_for_timeout(1_100)  # steps of the address within a second are made one
        page.get_by_role("button", name=f"Mute head {head}").click()
        expect(page.get_by_role("button", name=f"Head {head} is muted")).to_be_visible()
        tab.settled()
    page.go_back()
    expect(page.get_by_role("button", name="Mute head 2")).to_be_visible()
    becomes(page, lambda: parameters(page).get("changes"), "heads[0]=0")
    tab.settled()
    page.go_back()
    expect(page.get_by_role("button", name="Mute head 1")).to_be_visible()
    becomes(page, lambda: parameters(page).get("changes"), None)


def test_a_notebook_opens_without_the_changes_of_another_pass(visit):
    tab = visit()
    page = tab.open("what_if" + at(changes="attention[0,1,0]=1"))
    expect(heading(page, "What moved")).to_be_visible()
    page.get_by_role("link", name="Worked examples").click()
    page.get_by_role("button", name="Open in the walkthrough").first.click()
    expect(page.get_by_text("Worked example 000")).to_be_visible()
    expect(page.get_by_text("Set by hand")).to_have_count(0)


def test_the_audit_of_the_page_agrees(visit):
    page = visit().open("audit" + at(mask="causal"))
    expect(page.get_by_role("status").filter(has_text="720 of 720 numbers agree, largest difference")).to_be_visible()


def player(page):
    return page.locator(".player").first


def play(page):
    player(page).get_by_role("button").first.click()


def written(page, title="Scores"):
    return grid(page, title).last.locator("td[data-row]").all_text_contents()


def to_come(page):
    return page.locator(".to-come").count()


def numbers(values):
    return [f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−") for value in values.ravel()]


def test_a_result_is_computed_before_one_s_eyes_and_ends_on_the_same_numbers(visit):
    page = visit().open(at(step="Scores"))
    expect(grid(page, "Scores").last).to_be_visible()
    before = written(page)
    play(page)
    began = time.monotonic()
    assert to_come(page) >= 30
    expect(player(page).get_by_role("button", name="Pause")).to_be_visible()
    expect(page.locator(".to-come")).to_have_count(0, timeout=6_000)
    assert time.monotonic() - began < 6
    assert written(page) == before
    expect(player(page).get_by_role("button", name="Replay")).to_be_visible()
    expect(player(page).get_by_role("button", name="Skip")).to_be_hidden()


def test_every_kind_of_result_is_played_to_its_end(alone):
    tab = alone()
    tab.page.clock.install()
    for step, title in [
        ("Q, K, V", "Queries"),
        ("Scaling", "Scaled scores"),
        ("Mask", "Masked scores"),
        ("Softmax", "Attention"),
        ("Concatenation", "Concatenation"),
        ("Output", "Output O"),
    ]:
        page = tab.open(at(step=step, mask="causal"))
        result = grid(page, title).first if step == "Output" else grid(page, title).last
        cells = result.locator("td[data-row]")
        expect(cells.last).to_be_visible()
        before = cells.all_text_contents()
        page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 1)
        play(page)
        page.clock.run_for(100)
        assert to_come(page) == len(before), step
        page.clock.run_for(3_950)
        assert to_come(page) == 0, step
        assert cells.all_text_contents() == before
        page.clock.resume()


def test_the_first_cell_is_added_up_product_by_product_and_the_row_cell_by_cell(alone):
    page = alone().open(at(step="Scores"))
    expect(grid(page, "Scores").last.locator("td[data-row]")).to_have_text(numbers(TRACE["scores"].value[0]))
    q, k = (TRACE[name].value[0, 0] for name in "qk")
    page.clock.install()
    page.clock.pause_at(time.time() + 3600)
    play(page)
    page.clock.run_for(150)
    for n in range(1, 5):  # four products, 0.3 seconds each
        a, b, sum_so_far = numbers(np.array([q[n - 1], k[n - 1], q[:n] @ k[:n]]))
        expect(page.get_by_role("status").first).to_have_text(f"{a} × {b}, {n} of 4: the sum is {sum_so_far} so far")
        assert to_come(page) == 36
        page.clock.run_for(300 if n < 4 else 225)
    for n in range(1, 6):  # the cells of the first row, 0.15 seconds each
        assert to_come(page) == 36 - n
        page.clock.run_for(150)
    assert 0 < to_come(page) <= 30


def test_pause_stops_it_and_skip_ends_it(visit):
    page = visit().open(at(step="Scores"))
    play(page)
    expect(player(page).get_by_role("button", name="Skip")).to_be_visible()
    player(page).get_by_role("button", name="Pause").click()
    assert to_come(page) > 0
    assert stays(page, lambda: (to_come(page), page.get_by_role("status").first.text_content()), 0.7)
    player(page).get_by_role("button", name="Resume").click()
    assert not stays(page, lambda: (to_come(page), page.get_by_role("status").first.text_content()), 0.7)
    player(page).get_by_role("button", name="Skip").click()
    assert to_come(page) == 0
    assert stays(page, lambda: to_come(page), 0.5)
    player(page).get_by_role("button", name="Replay").click()
    assert to_come(page) == 36


def test_other_words_end_what_was_being_played(visit):
    page = visit().open(at(step="Scores"))
    play(page)
    page.get_by_label("Type a sentence").fill("owls see mice")
    expect(grid(page, "Scores").last.get_by_role("rowheader")).to_have_text(["owls", "see", "mice"])
    assert to_come(page) == 0
    expect(player(page).get_by_role("button", name="Watch it being computed")).to_be_visible()
    assert written(page) == numbers(trace_of(Settings("owls see mice"))["scores"].value[0])


def test_who_asked_for_less_motion_sees_the_end_at_once(alone):
    page = alone(reduced_motion="reduce").open(at(step="Scores"))
    expect(player(page)).to_be_visible()
    before = written(page)
    play(page)
    assert to_come(page) == 0
    assert stays(page, lambda: to_come(page), 0.3)
    assert written(page) == before


def test_starting_to_play_is_quiet_however_often(visit):
    page = visit().open(at(step="Scores"))
    for _ in range(12):  # a frame's clock may be behind that of the click that it follows
        player(page).get_by_role("button", name="Watch").or_(player(page).get_by_role("button", name="Replay")).click()
        player(page).get_by_role("button", name="Skip").click()
    assert to_come(page) == 0


PHONE = {
    "take_apart": at(trail="output[1,2]<concat[1,5]<heads[1,1,1]<attention[1,1,2]<masked[1,1,2]"),
    "take_apart, what moves it": at(trail="output[1,2]", ask="what would move it"),
    "what_if": at(stage="w_q", changes="w_q[0,3,1]=2.000000000000001;heads[1]=0;embeddings[0,0]=-1.25"),
    "what_if, mask": at(stage="mask", mask="causal", changes="mask[0,2]=1"),
    "audit": at(mask="causal", positions="sinusoidal"),
}


@pytest.mark.parametrize("case", PHONE)
def test_a_phone_shows_it_all_without_scrolling_sideways(visit, case):
    page = visit(width=390).open(case.partition(",")[0] + PHONE[case])
    main = '[data-testid="stMain"]'
    expect(page.locator(main).get_by_role("heading").first).to_be_visible()
    if case != "audit":
        expect(page.locator('[role="grid"]').last).to_be_visible()
    assert page.locator('[data-testid="stException"]').count() == 0
    assert page.evaluate(f"(m => m.scrollWidth - m.clientWidth)(document.querySelector('{main}'))") <= 0
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
