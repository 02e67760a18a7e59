"""Differences: how far the numbers of a trace are from those of the same trace with some of them set by hand."""

import numpy as np

from attnviz.core.trace import Trace


def difference(before: Trace, after: Trace, name: str) -> np.ndarray:
    """The movement of each cell of a stage: after - before, in the stage's shape.

    0 where a key is hidden in both; -inf where it was hidden, inf where it came
    into sight. In a boolean mask these are -1 and 1.
    """
    old, new = (np.asarray(trace[name].value, dtype=np.float64) for trace in (before, after))
    return np.subtract(new, old, out=np.zeros(new.shape), where=new != old)
