"""Scales: how far colours reach. Stages that hold the same kind of number share one scale."""

from collections.abc import Iterable, Sequence

import numpy as np

from attnviz.core.stage import Stage, split_layer
from attnviz.core.trace import Trace
from attnviz.explain.step import Step
from attnviz.explain.steps import entry


def limits(trace: Trace, steps: Sequence[Step]) -> dict[str, float]:
    """The end of each stage's colour scale: the largest finite size among all numbers of its kind, 1 if they are zeros.

    Of one kind are numbers that become each other place by place (the scores
    and the scaled scores, so that dividing is seen), and those that one step
    computes or uses side by side (queries, keys and values; their matrices).
    What enters a layer keeps its own, as what all layers add may be many times
    as large; so does each matrix that is built by hand, where one is of a
    sharpness and the others are of ones. Shares reach to 1; the attention of
    all heads to its largest, where that is so small that all would look white,
    but not where a training is to be watched: its colours would change with it.
    """
    kinds: list[set[str]] = []
    for together in (*_place_by_place(trace), *_side_by_side(trace, steps)):
        touched = [kind for kind in kinds if kind & together]
        kinds = [kind for kind in kinds if kind not in touched] + [together.union(*touched)]
    largest = {stage.name: _largest(stage) for stage in trace.stages}
    shared = {name: max(largest[each] for each in kind) for kind in kinds for name in kind}
    signed = {name: shared.get(name, size) or 1.0 for name, size in largest.items()}
    return signed | _of_shares(trace)


SMALL_SHARE = 0.3
"""Where no share is so large, colours reach to the largest: on a scale to 1 forty words are white."""


def _of_shares(trace: Trace) -> dict[str, float]:
    shares = [stage for stage in trace.stages if entry(stage.name).scale == "share"]
    attention = {stage.name for stage in shares if stage.axes[-1] == "key"}
    most = max((_largest(stage) for stage in shares if stage.name in attention), default=1.0)
    is_small = 0 < most < SMALL_SHARE and trace.origin.kind != "learnt"
    return {stage.name: most if is_small and stage.name in attention else 1.0 for stage in shares}


def _place_by_place(trace: Trace) -> Iterable[set[str]]:
    for stage in trace.stages:
        operands = () if stage.is_given else stage.operation.operands
        if operands and all(operand.reads == "cell" for operand in operands):
            read = stage.inputs[1:] if split_layer(stage.name)[0] in ("residual", "mlp_residual") else stage.inputs
            yield {name for name in (stage.name, *read) if entry(name).scale == "signed"}


def _side_by_side(trace: Trace, steps: Sequence[Step]) -> Iterable[set[str]]:
    if trace.origin.kind == "built":
        return
    for step in steps:
        signed = {name for name in step.stages if entry(name).scale == "signed"}
        used = {name for stage in signed for name in trace[stage].inputs}
        yield signed
        yield {name for name in used if entry(name).kind == "parameter"}


def _largest(stage: Stage) -> float:
    finite = stage.value[np.isfinite(stage.value)]
    return float(np.abs(finite).max(initial=0.0))
