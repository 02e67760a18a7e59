"""Addresses in the browser: the place that the viewer writes and reads is the one that the server means by it."""

import json
from urllib.parse import parse_qsl, urlencode

import pytest
from documents import document, fitted_at
from page import ROOT

from attnviz.scene.address import query

ADDRESSES = {
    "first visit": {},
    "one word": {"sentence": "alone"},
    "a cell": {"step": "output", "cell": "2.3.4.2.7", "picked": "w_o"},
    "a talk": {"step": "scores", "present": "1", "reveal": "2", "order": "index"},
    "a trail": {"step": "output", "trail": "output[1,2]<concat[1,5]", "ask": "slope"},
    "an example": {"source": "001 with", "step": "Softmax", "cell": "1.2.1.3.1", "ask": "whatif"},
}


@pytest.fixture(scope="module")
def answers(node):
    """What the viewer writes for the place that the server means, and what it reads from the server's address."""
    asked = []
    for address in ADDRESSES.values():
        sent = document(fitted_at(address))
        asked.append(
            {"document": sent, "where": sent["where"], "search": f"?{urlencode(query(fitted_at(address).scene))}"}
        )
    found = json.loads(node(str(ROOT / "tests/js/addresses.mjs"), text=json.dumps(asked)))
    return dict(zip(ADDRESSES, found, strict=True))


@pytest.mark.parametrize("name", ADDRESSES)
def test_the_server_reads_the_place_that_the_viewer_has_written(answers, name):
    written = dict(parse_qsl(answers[name]["search"].removeprefix("?")))
    read = fitted_at(written)
    assert document(read)["where"] == document(fitted_at(ADDRESSES[name]))["where"]
    assert not read.notices
    assert written == query(read.scene)


@pytest.mark.parametrize("name", ADDRESSES)
def test_the_viewer_reads_the_place_that_the_server_has_written(answers, name):
    unfolded = {"from": ""}  # on the sheet, of which no address speaks
    assert answers[name]["where"] == document(fitted_at(ADDRESSES[name]))["where"] | unfolded
