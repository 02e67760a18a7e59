"""Why: each step says what it does and what for, under its title on the sheet, and no band tells of mere arithmetic."""

import pytest
from passes import TRACES
from tab import resized

from attnviz.explain import bands as text_of_bands
from attnviz.explain.steps import STEPS, steps_of

PRESENTED = [(1024, 768), (1920, 1080), (3840, 2160)]


@pytest.mark.parametrize("name", [*TRACES])
def test_every_step_of_every_pass_says_why_in_one_or_two_sentences(name):
    for step in steps_of(TRACES[name]):
        (why,) = step.why
        said = "".join(text for _, text in why.text)
        assert said.endswith("."), (step.id, said)
        assert said.count(". ") <= 1, (step.id, said)
        assert 40 <= len(said) <= 220, (step.id, said)


def test_every_reason_is_given_in_some_pass():
    given = {
        (step.id.split("-")[0], each.name) for trace in TRACES.values() for step in steps_of(trace) for each in step.why
    }
    assert given == {(step.id.split("-")[0], each.name) for step in STEPS for each in step.why}


def test_no_band_says_that_a_number_becomes_another():
    said = [
        each
        for text, stories in text_of_bands._SENTENCES.values()
        for each in (text, *(story.text for story in stories))
    ]
    assert len(said) > 50
    assert not [each for each in said if "become" in each]


@pytest.mark.parametrize("size", PRESENTED)
def test_why_is_read_under_the_title_in_a_talk_too(opened, size):
    page = opened("?step=scores&view=sheet&present=1")
    resized(page, *size)
    why = page.locator(".step-text .why")
    assert "compared by their dot product" in why.inner_text()
    above, there = page.locator(".step-text h2").bounding_box(), why.bounding_box()
    assert above["y"] + above["height"] <= there["y"] + 1
    letters = why.evaluate("(line) => parseFloat(getComputedStyle(line).fontSize)")
    assert letters >= 0.015 * size[1]
