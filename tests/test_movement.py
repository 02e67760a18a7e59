"""What moved and what would move, in numbers near the end of float64."""

import numpy as np
from passes import MODELS

from attnviz import Parameters, attend
from attnviz.analysis.gradients import gradients
from attnviz.core.changes import Change
from attnviz.text import movement

BIG = 1.5e308
MADE = attend(
    np.array([[3.0, 0.0], [-1.0, 1.0], [0.0, 2.0]]),
    parameters=Parameters(w_q=np.eye(2)[None], w_o=np.array([[3.0, 0.0], [0.0, 4.0]])),
).labelled(token=("a", "b", "c"), query=("a", "b", "c"), key=("a", "b", "c"))


def test_what_moved_between_numbers_near_the_end_of_float64():
    before = MADE.with_change("output", (0, 0), -BIG)
    after = before.with_change("output", (0, 0), BIG)
    assert movement.caption(before, after, "output") == (
        "The output moved most for “a”, by up to more than 1.79e308; 2 of 3 rows did not move."
    )
    assert movement.caption(MADE, MADE.with_change("output", (0, 0), 1e308), "output").startswith(
        "The output moved most for “a”, by up to 1.00e308;"
    )


def test_what_moved_is_told_its_layer():
    before = MODELS["two layers that learnt"]
    after = before.with_change("heads_1", (1,), 0.0)
    assert movement.caption(before, after, "masked_2").startswith("The masked scores of layer 2 moved most for “")
    assert movement.caption(before, after, "probabilities").startswith("The probabilities moved most for “")
    (change,) = after.changes
    assert movement.described(before, change) == "Head outputs of layer 1 of head 2, all of them = 0"
    assert movement.described(before, Change("scores_2", (0, 1, 1), 2.0)) == "scores_2[head 1, saw, saw] = 2"


def test_slopes_near_the_end_of_float64_are_finite():
    found = gradients(MADE, "output", (0, 0))
    rows = np.array([[1.3e308, 1.3e308], [1.0, 1.0], [BIG, BIG]])  # the lengths of two are beyond float64
    found |= {"x": rows, "w_o": np.full((2, 2), -BIG)}
    assert movement.steepest(MADE, "output", (0, 0), found) == (
        "output[a, 1] moves most with the word “c” (slope more than 1.79e308) and with the parameter "
        "w_o[1, 1] (slope −1.50e308)."
    )
