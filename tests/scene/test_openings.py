"""Opening: the walkthrough, opened for other numbers, shows what they are about."""

from dataclasses import replace

import pytest
from documents import fitted_at

from attnviz.contract.view_params import QUESTIONS
from attnviz.explain.steps import STEPS
from attnviz.scene.with_pass import what_if

IF = QUESTIONS[-1]


@pytest.mark.parametrize(
    ("address", "step", "picked"),
    [
        ({"stage": "attention"}, "softmax", "attention"),
        ({"stage": "w_q", "changes": "scores[0,1,2]=1"}, "qkv", "w_q"),
        ({"changes": "scores[0,1,2]=1;heads[1]=0"}, "weighted-sum", "heads"),
    ],
)
def test_what_if_opens_at_the_stage_picked_or_at_the_last_change(address, step, picked):
    parts = what_if(fitted_at(address))
    assert (parts["step"], parts["picked"], parts["question"]) == (step, picked, IF)


def test_what_if_is_asked_of_the_changed_number_and_not_of_one_that_was_unfolded():
    fitted = fitted_at({"changes": "mask[1,0]=0", "trail": "attention[0,1,0]"})
    assert fitted.scene.trail
    asked = replace(fitted.scene, **what_if(fitted))
    assert (asked.trail, asked.step) == ((), "mask")


def test_a_muted_head_is_the_one_that_is_shown():
    assert what_if(fitted_at({"changes": "heads[1]=0"}))["selection"].head == 1


def test_what_if_without_anything_to_show_opens_the_whole_pass():
    assert what_if(fitted_at({})) == {"step": STEPS[-1].id, "question": IF, "trail": ()}


@pytest.mark.parametrize(
    "address", [{"sentence": ""}, {"sentence": "", "trail": "output[0,0]", "changes": "q[0,0,0]=1"}]
)
def test_a_sentence_that_makes_no_pass_opens_nothing_in_it(address):
    assert what_if(fitted_at(address)) == {"question": IF, "trail": ()}
