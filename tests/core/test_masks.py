"""Masks: each against a double loop that says who sees whom."""

import numpy as np
import pytest
from cases import of_each

from attnviz.core.masks import MASKS, SIZED

SEES = {
    "none": lambda query, key, n_keys, size: True,
    "causal": lambda query, key, n_keys, size: key <= query,
    "causal window": lambda query, key, n_keys, size: query - size < key <= query,
    "padding": lambda query, key, n_keys, size: key + size < n_keys,
    "window": lambda query, key, n_keys, size: query - size <= key <= query + size,
}


@of_each("name", [*MASKS])
@of_each("lengths", [(1, 1), (4, 4), (3, 5), (5, 3)])
@of_each("size", [0, 1, 2, 5, 64])
def test_a_mask_is_its_double_loop(name, lengths, size):
    n_queries, n_keys = lengths
    mask = MASKS[name](n_queries, n_keys, size)
    assert mask.dtype == bool
    assert mask.tolist() == [[SEES[name](q, k, n_keys, size) for k in range(n_keys)] for q in range(n_queries)]


@pytest.mark.parametrize("name", MASKS)
def test_sized_masks_are_those_that_look_at_the_size(name):
    assert (name in SIZED) == (not np.array_equal(MASKS[name](6, 6, 1), MASKS[name](6, 6, 2)))
