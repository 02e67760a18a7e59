"""Gradients of one cell with respect to every earlier stage, and the difference between two passes."""

import operator
from collections.abc import Sequence

import numpy as np

from attnviz.core.errors import ArrayError
from attnviz.core.graph import backward
from attnviz.core.trace import Trace


def difference(before: Trace, after: Trace, name: str) -> np.ndarray:
    """The difference of a stage between two traces: after - before.

    0 where a key is hidden in both; -inf where it became hidden, inf where it became visible. In a boolean mask these
    are -1 and 1.
    """
    old, new = (np.asarray(trace[name].value, dtype=np.float64) for trace in (before, after))
    return np.subtract(new, old, out=np.zeros(new.shape), where=new != old)


def gradients(trace: Trace, name: str, index: Sequence[int]) -> dict[str, np.ndarray]:
    """The derivatives of one cell with respect to every cell that it was computed from.

    A cell that was set by hand is a constant: it has a derivative, but what would have computed it gets none through
    it.

    >>> from attnviz import Settings, trace_of
    >>> trace = trace_of(Settings("the cat sat", mask="causal"))
    >>> of_embeddings = gradients(trace, "output", (1, 0))["embeddings"]
    >>> [bool(row.any()) for row in of_embeddings]  # "cat" sees "the" and "cat", not "sat"
    [True, True, False]
    """
    index = tuple(map(operator.index, index))
    trace.terms(name, index)  # checks the index
    one = np.zeros(trace[name].shape)
    one[index] = 1.0
    arrays = {stage.name: stage.value for stage in trace.stages}
    with np.errstate(over="ignore", invalid="ignore"):  # looked at once, below
        slopes_of = backward(trace.stages, arrays, {name: one})
    if not all(np.isfinite(slopes).all() for slopes in slopes_of.values()):
        raise ArrayError(
            f"The slopes of {trace.name_of(trace[name].cell(index))} go beyond float64 (1.8e308); give smaller numbers."
        )
    return {stage.name: slopes_of[stage.name] for stage in trace.stages if stage.name in slopes_of}
