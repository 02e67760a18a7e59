"""Every page opens and answers, from its own file and through the router, without a browser."""

import numpy as np
import pytest
from page import ROOT, SOURCES, matrices, opened, warnings

from attnviz import Settings, trace_of
from attnviz.examples import EXAMPLES
from attnviz.text.steps import STEPS, find, steps_of

PAGES = sorted(ROOT.glob("pages/*.py"))
DOORS = [ROOT / "app.py", ROOT / "pages" / "walkthrough.py"]


@pytest.mark.parametrize("page", [ROOT / "app.py", *PAGES], ids=lambda path: path.name)
def test_a_page_opens_and_answers(page):
    at = opened(page)
    assert not at.exception
    if page.name == "worked_examples.py":
        at.segmented_control(key="notebook").set_value("003").run()
    else:
        at.text_input(key="sentence").set_value("snow falls").run()
    assert not at.exception
    assert not at.warning


@pytest.mark.parametrize("door", DOORS, ids=lambda path: path.name)
@pytest.mark.parametrize("step", [step.title for step in STEPS])
def test_every_step_opens(door, step):
    at = opened(door, step=step, positions="sinusoidal", mask="causal", context="der Hund")
    assert not at.exception
    assert at.session_state["step"] == find(step)


def test_the_first_visit_shows_the_example_and_what_to_try():
    at = opened()
    assert at.text_input(key="sentence").value == "the cat sat on the mat"
    assert any("Try" in each.value for each in at.markdown)


def test_drawn_numbers_are_the_core_s():
    at = opened(step="Output", sentence="one two three", d_model="6", heads="3", seed="7")
    expected = trace_of(Settings("one two three", d_model=6, n_heads=3, seed=7))["output"].value
    assert np.array_equal(matrices(at)["output"]["values"], expected)


def test_hidden_scores_travel_as_null():
    values = matrices(opened(step="Mask", mask="causal"))["masked"]["values"]
    assert [cell is None for cell in values[0]] == [False, True, True, True, True, True]


def test_previous_and_next_walk_through_every_step_and_back():
    at = opened(positions="sinusoidal", mask="window")
    for step in STEPS:
        assert at.session_state["step"] == step.id
        if step is not STEPS[-1]:
            at.button(key="Next_top").click().run()
    assert at.button(key="Next_top").disabled
    for step in reversed(STEPS):
        assert at.session_state["step"] == step.id
        if step is not STEPS[0]:
            at.button(key="Previous_bottom").click().run()


@pytest.mark.parametrize(
    ("address", "says", "key", "value"),
    [
        ({"heads": "7", "d_model": "8"}, "got '7', using 8", "n_heads", 8),
        ({"d_model": "1e9"}, "got '1e9', using 128", "d_model", 128),
        ({"d_model": "1e400"}, "got '1e400', using 128", "d_model", 128),
        ({"seed": "-1"}, "got '-1', using 0", "seed", "0"),
        ({"seed": "1e400"}, "using 4294967295", "seed", "4294967295"),
        ({"mask": "all"}, "got 'all', using none", "mask", "none"),
        ({"scaled": "maybe"}, "got 'maybe', using True", "scaled", True),
        ({"step": "nonsense"}, "got 'nonsense', using Tokens", "step", "tokens"),
        ({"source": "009 none"}, "got '009 none'", "source", "your own sentence"),
        ({"cell": "1.2.x"}, "got '1.2.x'", "step", "tokens"),
        # longer than 524,288 characters, Streamlit ignores the address; and before that the server itself
        # answers 400: seen at 200,000 characters, not yet at 100,000
        ({"sentence": "a" * 500_000}, "the address has 500,000", "d_model", 8),
    ],
)
def test_a_bad_value_in_the_address_becomes_the_nearest_and_says_so(address, says, key, value):
    at = opened(**address)
    assert not at.exception
    assert any(says in text for text in warnings(at)), warnings(at)
    assert at.session_state[key] == value


def test_a_good_address_says_nothing():
    at = opened(d_model="12", heads="3", mask="window", mask_size="2", seed="9", step="Softmax", cell="3.1.1.1.1")
    assert not warnings(at)
    assert at.session_state["n_heads"] == 3


def test_a_smaller_d_model_brings_the_heads_to_a_divisor():
    at = opened(heads="4")
    at.selectbox(key="d_model").set_value(6).run()
    assert not at.exception
    assert at.session_state["n_heads"] == 3


@pytest.mark.parametrize(
    ("sentence", "says"), [("", "no words yet"), (" \t ", "no words yet"), ("word " * 65, "at most 64 tokens")]
)
def test_a_sentence_that_cannot_be_shown_gets_help_and_stays_in_the_box(sentence, says):
    at = opened()
    at.text_input(key="sentence").set_value(sentence).run()
    assert not at.exception
    assert any(says in text for text in warnings(at))
    assert at.text_input(key="sentence").value == sentence


def test_a_mask_that_goes_takes_its_step_along():
    at = opened(mask="causal", step="Mask")
    at.selectbox(key="mask").set_value("none").run()
    assert not at.exception
    assert at.session_state["step"] == "softmax"


@pytest.mark.parametrize("d_model", [3, 17, 128])
@pytest.mark.parametrize("step", [step.title for step in STEPS])
def test_sizes_beyond_written_numbers(step, d_model):
    at = opened(step=step, d_model=str(d_model), heads="1", sentence="x " * (d_model % 50 + 1))
    assert not at.exception


def test_one_word_and_a_mask_that_hides_everything():
    for step in STEPS:
        at = opened(step=step.title, sentence="alone", mask="padding", mask_size="1")
        assert not at.exception


@pytest.mark.parametrize("source", SOURCES)
def test_every_worked_example_opens_at_every_step(source):
    at = opened(source=source)
    example, variant = source.split()
    steps = steps_of(EXAMPLES[example].variant(variant).trace)
    for step in steps:
        assert not at.exception
        assert not at.warning
        assert at.session_state["step"] == step.id
        if step is not steps[-1]:
            at.button(key="Next_top").click().run()


def test_a_worked_example_draws_its_own_numbers_and_can_be_left():
    at = opened(source="004 softmax", step="Weighted sum")
    expected = EXAMPLES["004"].variant("softmax").trace["heads"].value[0]
    assert np.array_equal(matrices(at)["heads"]["values"], expected)
    at.button(key="own_sentence").click().run()
    assert matrices(at)["heads"]["rows"] == ["the", "cat", "sat", "on", "the (2)", "mat"]


def test_a_picked_cell_stands_in_the_address_and_stays_for_later_steps():
    at = opened(step="Scores")
    at.selectbox(key="pick_query").set_value(4).run()
    at.selectbox(key="pick_key").set_value(0).run()
    assert at.query_params["cell"] == "1.5.1.1.1"
    at.button(key="Next_top").click().run()
    assert matrices(at)["scaled"]["selected"] == [4, 0]
