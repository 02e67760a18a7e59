"""Cases of a test: of several parameters not all combinations, and many of one kind in a single test."""

import inspect
import itertools
import math

import numpy as np
import pytest


def covering(**values):
    """Parametrise a test so that each value of each parameter comes at least once.

    There are as many cases as the longest list has values; a shorter one begins again at its end.
    """
    n = max(map(len, values.values()))
    cases = itertools.islice(zip(*map(itertools.cycle, values.values()), strict=True), n)
    return pytest.mark.parametrize(tuple(values), list(cases))


def of_each(parameter, cases):
    """Make one test of many cases, as pytest takes longer to count one than most laws take to be tried.

    Where cases have names, as in a dictionary, a failure names its case.
    """
    named = list(cases.items() if isinstance(cases, dict) else zip(cases, cases, strict=True))

    def over_all(test):
        def tried(**fixtures):
            for name, case in named:
                try:
                    test(**fixtures, **{parameter: case})
                except BaseException as failure:
                    failure.add_note(f"{parameter}: {name}")
                    raise

        tried.__name__, tried.__doc__, tried.__module__ = test.__name__, test.__doc__, test.__module__
        asked = inspect.signature(test).parameters.values()
        tried.__signature__ = inspect.Signature([each for each in asked if each.name != parameter])
        return tried

    return over_all


def spread(shape, most):
    """Some indices of an array, in order: its first, its last, and others whose places on every axis are unlike."""
    n, golden = math.prod(shape), (math.sqrt(5) - 1) / 2
    flat = {n - 1, *(int(n * (each * golden % 1)) for each in range(most - 1))}
    return [tuple(map(int, np.unravel_index(each, shape))) for each in sorted(flat)]
