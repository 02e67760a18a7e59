"""Addresses at the pages: whatever one holds, the page opens, says what it mended, and holds the mended one itself."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from page import PAGES, ROOT, address_of, opened, warnings
from test_scene import PARAMETERS, WRITTEN


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
@settings(max_examples=4)
@given(written=st.dictionaries(st.sampled_from(PARAMETERS), WRITTEN.filter("\ud800".__ne__), max_size=5))
def test_no_address_breaks_a_page_and_the_one_it_leaves_says_nothing_more(page, written):
    at = opened(page, **written)
    assert not at.exception
    reopened = opened(page, **address_of(at))
    assert not reopened.exception
    assert not [text for text in warnings(reopened) if "got" in text]


@pytest.mark.parametrize("page", ["walkthrough", "audit", "worked_examples", "numpy_code"])
@pytest.mark.parametrize(
    "address",
    [
        {"step": ""},
        {"notebook": ""},
        {"ask": ""},
        {"source": "002 sum", "cell": "1.1.1.4.1"},
        {"source": "002 softmax", "cell": "1.1.1.9.1", "step": "Concatenation"},
        {"changes": "scores[0,1,2]=3", "heads": "4"},
        {"sentence": "the cat sat", "changes": "concat[0,0]=1.1e308;concat[0,1]=-1.1e308;w_o[0,0]=1.5;w_o[1,0]=1.5"},
        {
            "sentence": "the cat sat",
            "changes": "v[0,0,0]=1.7e308;w_o[0,0]=3;scaled[0,0,0]=-20;scaled[0,1,0]=-20;scaled[0,2,0]=-20",
            "trail": "output[0,0]",
            "ask": "slope",
        },
        {"source": "001 with", "changes": "mask[0,1]=-1e308;scaled[0,0,1]=-1e308"},
    ],
    ids=str,
)
def test_addresses_that_once_broke_a_page_open_on_those_that_show_a_pass(page, address):
    at = opened(ROOT / f"pages/{page}.py", **address)
    assert not at.exception
    assert not at.error  # what the audit says of a number that does not agree


def test_two_values_of_one_parameter_are_said_to_be_two():
    at = opened(step=["Scores", "Output"])
    assert address_of(at)["step"] == "output"
    assert any("2 times" in text for text in warnings(at))
