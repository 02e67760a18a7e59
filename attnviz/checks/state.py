"""State: someone's arrays beside one pass, in one precision, stage by stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from attnviz.checks.agreement import Agreement, agreement, targets
from attnviz.checks.arrays import OwnArrays
from attnviz.checks.candidates import Candidate
from attnviz.checks.diagnosis import is_perfect, rank_of
from attnviz.checks.nodes import Nodes, evaluated
from attnviz.checks.rounding import Precision, Rounded
from attnviz.checks.unseeing import UNSEEING, filled


@dataclass(frozen=True, eq=False)
class State:
    """Someone's arrays beside one pass.

    Attributes
    ----------
    nodes : mapping of stages to Node
        Those of the pass.
    values : mapping of stages to Rounded
        Those that were made.
    stages : tuple of Agreement
        One for each array that a stage is compared with.
    unseeing : str
        What a query that sees no key gets in theirs, one of UNSEEING.
    """

    nodes: Nodes
    values: Mapping[str, Rounded]
    stages: tuple[Agreement, ...]
    unseeing: str


def state_of(
    own: OwnArrays,
    candidate: Candidate,
    nodes: Nodes,
    precision: Precision,
    before: State | None = None,
    until: set[str] | None = None,
) -> State:
    """The stages beside the arrays, with what suits these best where a query sees no key.

    Only those that `until` names, where it does; what `before` has made already isn't made again.
    """
    stages = [each for each in own if each in nodes and (until is None or until.intersection(targets(each)))]
    wanted = {name for each in stages for name in targets(each)} & set(nodes)
    wanted |= {"masked"} & set(nodes) if "attention" in nodes else set()
    old = (before.nodes, before.values) if before else None
    values = evaluated(nodes, precision, wanted, old)
    best = State(nodes, values, _agreements(own, candidate, values, stages, precision), UNSEEING[0])
    if is_perfect(best.stages) or "masked" not in values or not nodes["masked"].inputs or "attention" not in nodes:
        return best
    unseeing = np.isneginf(values["masked"].value).all(axis=-1)
    if not unseeing.any():
        return best
    for nature in UNSEEING[1:-1] if unseeing.all() else UNSEEING[1:]:
        other = {**nodes, "attention": filled(nodes["attention"], nature, nodes["masked"].inputs[0])}
        others = evaluated(other, precision, wanted, (nodes, values))
        agreements = _agreements(own, candidate, others, stages, precision)
        if rank_of(agreements) > rank_of(best.stages):
            best = State(other, others, agreements, nature)
    return best


def _agreements(
    own: OwnArrays, candidate: Candidate, values: Mapping[str, Rounded], stages: list[str], precision: Precision
) -> tuple[Agreement, ...]:
    return tuple(
        agreement(own[stage], stage, values, candidate, precision)
        for stage in stages
        if not candidate.begins_with(stage)
    )
