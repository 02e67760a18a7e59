"""Cases of a test with several parameters: each value of each parameter at least once, and no product of all."""

import itertools

import pytest


def covering(**values):
    """Parametrise a test over as many cases as the longest list has values; a shorter one begins again at its end."""
    n = max(map(len, values.values()))
    cases = itertools.islice(zip(*map(itertools.cycle, values.values()), strict=True), n)
    return pytest.mark.parametrize(tuple(values), list(cases))
