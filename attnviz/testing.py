"""Testing: assertions for the tests of an implementation of one's own."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from attnviz.text.check.report import compare


def assert_attention(arrays: Mapping[str, np.ndarray], **conventions: Any) -> None:
    """Assert that the arrays of a layer are attention, to rounding.

    Parameters
    ----------
    arrays : mapping of names to ndarray
    **conventions
        `n_heads`, `orientation` and `true_is`, as in `attnviz.compare`.

    Raises
    ------
    AssertionError
        With the first stage that differs, and the mistake where the numbers show one; or where nothing is computed
        from anything.
    OwnArraysError
        If an array holds no real numbers, or they don't fit each other.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> attention = np.exp(x @ x.T / 2**0.5)
    >>> assert_attention({"x": x, "attention": attention / attention.sum(axis=-1, keepdims=True)})
    >>> assert_attention({"x": x, "attention": attention / attention.sum()})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    AssertionError: Attention differs by up to 0.335; ...
    """
    report = compare(None, arrays, **conventions)
    if report.first is not None or not report.stages:
        raise AssertionError(str(report))
