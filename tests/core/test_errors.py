"""Arrays that do not fit: each error says what was expected and what came."""

import re

import numpy as np
import pytest

from attnviz import Parameters, attend
from attnviz.core.errors import ArrayError
from attnviz.core.operations.norms import LayerNorm, RMSNorm

FITTING = {
    "w_q": np.ones((2, 5, 3)),
    "w_k": np.ones((2, 7, 3)),
    "w_v": np.ones((2, 7, 4)),
    "w_o": np.ones((8, 6)),
    "b_q": np.ones((2, 3)),
    "b_k": np.ones((2, 3)),
    "b_v": np.ones((2, 4)),
    "b_o": np.ones(6),
}
RAGGED = [[1.0], [1.0, 2.0]]


def attending(x=np.ones((3, 5)), context=np.ones((4, 7)), mask=None, scale=None, **changed):  # noqa: B008
    return attend(x, context, parameters=Parameters(**{**FITTING, **changed}), mask=mask, scale=scale)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"x": np.ones(5)}, ["x must have the shape (tokens, d_in)", "got (5,)"]),
        ({"x": np.ones((0, 5))}, ["x must have the shape (tokens, d_in), none of them 0", "got (0, 5)"]),
        ({"x": "cat"}, ["x must be an array of", "got str"]),
        ({"x": [[10**400]]}, ["x must be an array of", "got list"]),
        ({"x": np.ones((3, 5)) * 1j}, ["x must be an array of", "got ndarray"]),
        ({"x": np.full((3, 5), np.nan)}, ["x must hold finite numbers", "got 15 that are not"]),
        ({"x": np.array([[np.inf, 0, 0, 0, 0]])}, ["x must hold finite numbers", "got 1 that are not"]),
        ({"context": np.ones((4, 7, 1))}, ["context must have the shape (context tokens, d_context)", "got (4, 7, 1)"]),
        ({"w_q": np.ones((2, 6, 3))}, ["w_q must have axes", "of lengths (2, 5, 3)", "got (2, 6, 3)"]),
        ({"w_k": np.ones((2, 5, 3))}, ["w_k must have axes", "of lengths (2, 7, 3)", "got (2, 5, 3)"]),
        ({"w_q": np.ones((5, 3))}, ["w_q must have the shape (head, d_model, d_k)", "got (5, 3)"]),
        ({"w_v": np.full((2, 7, 4), -np.inf)}, ["w_v must hold finite numbers", "got 56 that are not"]),
        ({"w_k": np.ones((3, 7, 3))}, ["must have as many heads as w_q", "'w_q': 2, 'w_k': 3, 'w_v': 2"]),
        ({"w_k": np.ones((2, 7, 4)), "b_k": None}, ["same length d_k", "got q (2, 3, 3) and k (2, 4, 4)", "Check w_q"]),
        ({"w_o": np.ones((9, 6))}, ["w_o must have heads * d_v = 2 * 4 = 8 rows", "got (9, 6)"]),
        ({"w_o": np.ones(8)}, ["w_o must have the shape (heads * d_v, d_model)", "got (8,)"]),
        ({"b_q": np.ones((2, 4))}, ["b_q must have axes", "of lengths (2, 3)", "got (2, 4)"]),
        ({"w_o": None}, ["b_o is added after a projection; got no w_o. Give both or neither."]),
        ({"scale": np.nan}, ["scale must hold finite numbers"]),
        ({"scale": "half"}, ["scale must be", "got str"]),
        ({"mask": np.ones((4, 3), bool)}, ["keys) = (3, 4)", "(heads, queries, keys) = (2, 3, 4)", "got (4, 3)"]),
        ({"mask": np.ones((3, 3, 4), bool)}, ["mask must have the shape", "got (3, 3, 4)"]),
        ({"mask": np.ones((3, 4), int)}, ["boolean (True is visible) or float", "got int64. Write mask.astype(bool)"]),
        ({"mask": np.full((3, 4), "x")}, ["mask must be boolean (True is visible) or float", "got <U1"]),
        ({"mask": RAGGED}, ["mask must", "got list"]),
        ({"mask": np.full((3, 4), np.nan)}, ["A float mask may hold finite numbers and -inf; got NaN or inf."]),
        ({"mask": np.full((3, 4), np.inf)}, ["A float mask may hold finite numbers and -inf; got NaN or inf."]),
    ],
)
def test_the_error_names_what_was_expected_and_what_came(wrong, says):
    with pytest.raises(ArrayError) as error:
        attending(**wrong)
    for part in says:
        assert part in str(error.value)


@pytest.mark.parametrize(
    ("wrong", "stage"),
    [
        ({"w_q": np.full((2, 5, 3), 1e308)}, "q"),
        ({"w_k": np.full((2, 7, 3), -1e308)}, "k"),  # a -inf that nobody's mask made
        ({"w_q": np.full((2, 5, 3), 1e200), "w_k": np.full((2, 7, 3), -1e200)}, "scores"),
        ({"w_q": np.full((2, 5, 3), 1e100), "scale": 1e300}, "scaled"),
        ({"w_v": np.full((2, 7, 4), 1e307), "w_o": np.full((8, 6), 1e10)}, "contributions"),
    ],
)
def test_numbers_beyond_float64_are_refused_by_the_stage_that_made_them(wrong, stage):
    with pytest.raises(ArrayError, match=re.escape(f"{stage} holds numbers beyond float64 (1.8e308)")):
        attending(**wrong)


@pytest.mark.parametrize("norm", [RMSNorm, LayerNorm])
@pytest.mark.parametrize("epsilon", [0.0, -1e-5, float("nan"), float("inf"), "1e-5", None])
def test_an_epsilon_that_leaves_a_root_of_0_is_refused(norm, epsilon):
    with pytest.raises(ArrayError, match="epsilon must be a finite number above 0"):
        norm(epsilon)
