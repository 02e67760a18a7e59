"""Training in a real browser: the server's pass follows the slider, and two words are swapped where they were typed."""

import pytest
from tab import at, becomes, cell, parameters

pytestmark = pytest.mark.browser

ADJECTIVE, ANIMAL = 11, 1


def test_the_pass_follows_the_slider_and_a_reload_shows_the_same_checkpoint(visit):
    tab = visit()
    page = tab.open(at(model="who-is-it", step="softmax"))
    figures = page.locator(".training .figures")

    def share():
        return float(cell(page, "Attention", ADJECTIVE, ANIMAL).inner_text())

    becomes(page, lambda: share() > 0.9, True)
    page.get_by_role("slider", name="Training steps").press("Home")
    becomes(page, lambda: share() < 0.2, True)
    becomes(page, lambda: parameters(page).get("checkpoint"), "0")
    assert parameters(page)["step"] == "softmax"
    assert figures.inner_text().startswith("before training")
    page.reload()
    tab.settled()
    becomes(page, lambda: figures.inner_text().startswith("before training"), True)
    page.get_by_role("slider", name="Training steps").press("End")
    becomes(page, lambda: parameters(page).get("checkpoint"), None)
    becomes(page, lambda: share() > 0.9, True)


def test_swapping_two_words_changes_the_sentence_and_nothing_else_where_order_makes_no_difference(visit):
    page = visit().open(at(model="who-is-it", step="softmax", ask="what if", cell="1.2.7.1.1"))
    answer = page.locator(".thread .answer strong")
    becomes(page, answer.inner_text, "animal")
    page.get_by_role("button", name="Swap “animal” and “street”").click()
    becomes(page, lambda: page.locator(".thread .words .text").all_inner_texts()[1], "street")
    assert parameters(page)["sentence"] == "the street did not cross the animal because it was too tired"
    assert answer.inner_text() == "animal"
    page.get_by_role("button", name="Swap “street” and “animal”").click()
    becomes(page, lambda: page.locator(".thread .words .text").all_inner_texts()[1], "animal")
