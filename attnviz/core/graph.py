"""Graph: forward and backward passes through stages, by the `compute` and `vjp` of their operations."""

from collections.abc import Mapping, Sequence

import numpy as np

from attnviz.core.operations.operation import Source
from attnviz.core.stage import Stage

Arrays = dict[str, np.ndarray]
"""Arrays by the names of their stages; an extra first axis is a batch (see `Operation`)."""


def ancestors(stages: Sequence[Stage], name: str) -> tuple[Stage, ...]:
    """The stage `name` and everything it depends on, in order.

    >>> from attnviz import Settings, trace_of
    >>> [stage.name for stage in ancestors(trace_of(Settings("the cat sat")).stages, "k")]
    ['embeddings', 'x', 'w_k', 'k']
    """
    wanted = {name}
    for stage in reversed(stages):
        if stage.name in wanted:
            wanted.update(stage.inputs)
    return tuple(stage for stage in stages if stage.name in wanted)


def forward(stages: Sequence[Stage], given: Mapping[str, np.ndarray]) -> Arrays:
    """The array of each stage, with new numbers in some given stages; any of these may be a batch."""
    arrays: Arrays = {}
    for stage in stages:
        if isinstance(stage.operation, Source):
            arrays[stage.name] = given.get(stage.name, stage.value)
        else:
            arrays[stage.name] = stage.operation.compute(*(arrays[each] for each in stage.inputs))
    return arrays


def backward(stages: Sequence[Stage], arrays: Mapping[str, np.ndarray], upstream: Mapping[str, np.ndarray]) -> Arrays:
    """The derivatives of some number with respect to every cell it depends on, boolean masks aside.

    `upstream` has those with respect to the last stages.

    A cell set by hand is a constant: it has a derivative, but passes none back.
    """
    gradients = dict(upstream)
    for stage in reversed(stages):
        if stage.name not in gradients or isinstance(stage.operation, Source):
            continue
        upstream_here = gradients[stage.name]
        if stage.overridden:
            upstream_here = upstream_here.copy()
            for index in stage.overridden:
                upstream_here[index] = 0.0
        derivatives = stage.operation.vjp(upstream_here, *(arrays[each] for each in stage.inputs))
        for source, derivative in zip(stage.inputs, derivatives, strict=True):
            if derivative is not None:
                gradients[source] = gradients[source] + derivative if source in gradients else derivative
    return gradients
