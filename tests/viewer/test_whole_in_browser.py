"""Whole numbers in the viewer: the shares on the sheet and in the panel are fractions, beside their decimals."""

from fractions import Fraction

import pytest
from documents import fitted_at

SETTINGS = {"sentence": "the cat sat", "initialiser": "whole", "d_model": "3", "heads": "1", "seed": "5"}

WIDTHS = """cells => cells.map(cell => {
    const text = document.createRange();
    text.selectNodeContents(cell);
    return text.getBoundingClientRect().width / cell.clientWidth;
})"""
"""How wide what cells hold is, of their own width."""


def test_a_share_is_a_fraction_beside_its_decimals(opened):
    shares = fitted_at(SETTINGS).trace["attention"].value[0, 1]
    page = opened("?view=sheet&step=softmax&cell=1.2.1.1.1", **SETTINGS)
    for key, share in enumerate(shares):
        exact, decimals = page.locator(f'.sheet [data-cell="attention[0,1,{key}]"]').first.inner_text().split(" = ")
        assert float(Fraction(exact)) == pytest.approx(share, abs=1e-12)
        assert decimals == f"{share:.2f}"
    title = page.locator(".panel h3").inner_text()
    exact = title.split(" = ")[1]
    assert float(Fraction(exact)) == pytest.approx(shares[0], abs=1e-12), title


@pytest.mark.parametrize("sentence", ["the cat sat", "the cat sat down"])
@pytest.mark.parametrize("present", ["", "&present=1"])
def test_a_fraction_has_room_in_its_cell(opened, sentence, present):
    page = opened(f"?view=sheet&step=softmax&cell=1.2.1.1.1{present}", **SETTINGS | {"sentence": sentence})
    cells = page.locator('.sheet [data-cell^="attention["]')
    assert cells.count() == len(sentence.split())
    wide = cells.evaluate_all(WIDTHS)
    assert max(wide) < 1
