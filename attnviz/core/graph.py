"""Graph: forward and backward passes through stages, by the `compute` and `vjp` of their operations."""

from collections.abc import Mapping, Sequence

import numpy as np

from attnviz.core.operations.operation import Source
from attnviz.core.stage import Stage

Arrays = dict[str, np.ndarray]
"""Arrays by the names of their stages; an extra first axis is a batch (see `Operation`)."""


def leading_to(stages: Sequence[Stage], name: str) -> tuple[Stage, ...]:
    """The stage `name` and everything it depends on, in order.

    Examples
    --------
    >>> from attnviz import Settings, trace_of
    >>> [stage.name for stage in leading_to(trace_of(Settings("the cat sat")).stages, "k")]
    ['embeddings', 'x', 'w_k', 'k']
    """
    wanted = {name}
    for stage in reversed(stages):
        if stage.name in wanted:
            wanted.update(stage.inputs)
    return tuple(stage for stage in stages if stage.name in wanted)


def forward(stages: Sequence[Stage], given: Mapping[str, np.ndarray]) -> Arrays:
    """The array of each stage, with new numbers in some given stages.

    Parameters
    ----------
    stages : sequence of Stage
        With everything they depend on.
    given : mapping of stage names to ndarray
        The new numbers; any of them may be a batch.
    """
    arrays: Arrays = {}
    for stage in stages:
        if isinstance(stage.operation, Source):
            arrays[stage.name] = given.get(stage.name, stage.value)
        else:
            arrays[stage.name] = stage.operation.compute(*(arrays[each] for each in stage.inputs))
    return arrays


def backward(stages: Sequence[Stage], arrays: Mapping[str, np.ndarray], upstream: Mapping[str, np.ndarray]) -> Arrays:
    """The derivatives of some number with respect to every cell it depends on.

    A cell set by hand is a constant: it has a derivative, but passes none back.

    Parameters
    ----------
    stages : sequence of Stage
    arrays : mapping of stage names to ndarray
        The arrays of the stages, as from `forward`.
    upstream : mapping of stage names to ndarray
        The derivatives with respect to the last stages.

    Returns
    -------
    dict of stage names to ndarray
        The derivatives with respect to these stages and everything they depend on, boolean masks aside.
    """
    gradients = dict(upstream)
    for stage in reversed(stages):
        if stage.name not in gradients or isinstance(stage.operation, Source):
            continue
        inputs = (arrays[each] for each in stage.inputs)
        derivatives = stage.operation.vjp(_passed_back(stage, gradients[stage.name]), *inputs)
        for source, derivative in zip(stage.inputs, derivatives, strict=True):
            if derivative is not None:
                gradients[source] = gradients[source] + derivative if source in gradients else derivative
    return gradients


def _passed_back(stage: Stage, derivatives: np.ndarray) -> np.ndarray:
    """The derivatives with 0 in the cells that were set by hand."""
    if not stage.overridden:
        return derivatives
    passed = derivatives.copy()
    for index in stage.overridden:
        passed[index] = 0.0
    return passed
