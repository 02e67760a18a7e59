"""Testing: assertions for the tests of your own implementation."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np

from attnviz.checks.read.files import as_array
from attnviz.checks.read.labels import title
from attnviz.checks.read.layouts import score_stages, stages
from attnviz.checks.read.names import named, renamed
from attnviz.checks.report.compare_arrays import check_arrays, compare
from attnviz.checks.report.verdict import Comparison
from attnviz.core.errors import OwnArraysError


def assert_attention(
    arrays: Mapping[str, np.ndarray],
    *,
    allow: Collection[str] = (),
    names: Mapping[str, str] | None = None,
    **conventions: Any,
) -> None:
    """Assert that the arrays of a layer are attention, to rounding, and that each of them was checked.

    Parameters
    ----------
    arrays : mapping of names to ndarray
        What your code computed, as for `attnviz.compare`.
    allow : collection of str, optional
        What may stay open: arrays that attnviz doesn't know or has nothing to check against, by their names, and its
        questions, by their first clauses. The error says what to write here, once you have made sure of it.
    names : mapping of str to str, optional
        The stages of arrays with unknown names: `{"proj_a.weight": "w_q"}`.
    **conventions : keyword arguments
        `n_heads`, `orientation`, `true_is` and what else `attnviz.compare` takes.

    Raises
    ------
    AssertionError
        If a stage differs, with the outcome in its first line: the first such stage, and the mistake if the numbers
        show one. Also if nothing can be recomputed; if a number is NaN or infinite, except -inf in masks and hidden
        scores; or if an array or a question is open that `allow` doesn't name.
    OwnArraysError
        If an array holds no real numbers, they don't fit each other, or an argument has an invalid value.

    Examples
    --------
    >>> import numpy as np
    >>> from attnviz.testing import assert_attention
    >>> x = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> attention = np.exp(x @ x.T / 2**0.5)
    >>> right = {"x": x, "attention": attention / attention.sum(axis=-1, keepdims=True)}
    >>> assert_attention(right)
    >>> assert_attention({"x": x, "attention": attention / attention.sum()})
    Traceback (most recent call last):
    AssertionError: The first stage that differs: attention.
    Attention differs by up to 0.335; ...

    An array that attnviz doesn't know fails, as your code may use it in a way that wasn't checked:

    >>> assert_attention(right | {"cos": np.ones((2, 2))})
    Traceback (most recent call last):
    AssertionError: Attention agrees to float64 rounding, without your cos, which attnviz doesn't read.
    cos was not read, as attnviz doesn't know the name.
    If you know that this is right, pass allow=['cos'].
    ...
    >>> assert_attention(right | {"cos": np.ones((2, 2))}, allow=["cos"])
    """
    allowed = {allow} if isinstance(allow, str) else {*allow} if isinstance(allow, Collection) else {None}
    if not all(isinstance(each, str) for each in allowed):
        raise OwnArraysError(f"allow lists names and first clauses, as ['cos'] does; got {allow!r:.60}.")
    check_arrays("assert_attention takes arrays by their names", arrays)
    arrays = renamed(arrays, names or {})
    report = compare(None, arrays, **conventions)
    if report.first is not None or not report.stages:
        raise AssertionError(report.with_headline())
    unresolved = {why: name for why, name in _unresolved(report) if name not in allowed}
    still_open = [*dict.fromkeys(unresolved.values())]
    advice = [f"If you know that this is right, pass allow={still_open!r}."] if still_open else []
    if problems := [*_not_finite(arrays, report), *unresolved, *advice]:
        raise AssertionError(report.with_headline(*problems))


def _not_finite(arrays: Mapping[str, np.ndarray], report: Comparison) -> Iterator[str]:
    """A sentence on each array with numbers that correct attention can't have."""
    for name in arrays:
        known, array = named(name), as_array(name, arrays[name])
        if known is None or name in report.unread or array.dtype.kind != "f":
            continue
        hides = known.stage == "mask" or known.stage in score_stages()
        if n_wrong := int(np.count_nonzero(~np.isfinite(array) & ~(np.isneginf(array) & hides))):
            yield f"{name} holds {n_wrong} numbers that are NaN or infinite. A query that sees no key should get zeros."


def _unresolved(report: Comparison) -> Iterator[tuple[str, str]]:
    """What a report leaves open: a sentence, and its name for `allow`."""
    for name in report.unread:
        yield f"{name} was not read, as attnviz doesn't know the name.", name
    order = [*stages()]
    last = max(order.index(each.stage) for each in report.stages)
    for stage in report.not_recomputed:
        if stage not in "qkv" and order.index(stage) > last:
            for row in report.rows:
                if row.agrees is None and row.stage == title(stage):
                    yield f"{row.name} was compared with nothing, as what it is made of was not given.", row.name
    for question in (*(each for each in report.read if each.endswith("?")), *report.questions):
        yield question, re.split("[,;:?]", question)[0]
