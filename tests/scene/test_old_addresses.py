"""Addresses as links wrote them in November 2026 open the same scenes."""

import json
from pathlib import Path

import pytest
from documents import fitted_at

from attnviz.scene.address import query

RECORDED = json.loads((Path(__file__).parents[1] / "data" / "addresses.json").read_text("utf-8"))


@pytest.mark.parametrize("tenth", range(10))
def test_an_old_address_opens_the_same_scene(tenth):
    assert len(RECORDED) == 200
    for each in RECORDED[tenth::10]:
        assert query(fitted_at(each["address"]).scene) == each["scene"], each["address"]
