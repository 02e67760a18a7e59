"""Stages: the graph of a pass as data, from which a viewer takes every number and how it is computed."""

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from msgspec import UNSET

from attnviz.contract.stages import Axis as SentAxis
from attnviz.contract.stages import (
    RuleArray,
    RuleLine,
    RuleNumbers,
    RuleShape,
    RuleVariant,
    StageNumbers,
    StageShape,
)
from attnviz.core.operations.rule import Rule, Slot
from attnviz.core.stage import Stage, split_layer
from attnviz.core.trace import Trace
from attnviz.explain.bands import marks
from attnviz.explain.micropython import called
from attnviz.explain.steps import entry, steps_of
from attnviz.explain.views.numbers import Chunks, Sent, chunks
from attnviz.explain.vocabulary import AXES, stories_of, symbol

HIDES = ("masked", "attention")
"""Stages in which the cells of hidden keys are drawn as hidden."""

ALL = Sent()
"""All numbers of a pass are sent."""

_OF_HEADS = ("h", "(g r)")
"""How the pattern of an array begins that has a part for each head."""


def stages(trace: Trace) -> dict[str, StageShape]:
    """Every stage as data, by its name, in the order of the pass: all of it but its numbers."""
    shown_in = {name: step.id for step in steps_of(trace) for name in step.stages}
    names = called(trace)
    return {stage.name: _stage(trace, stage, shown_in, names.get(stage.name, "")) for stage in trace.stages}


def numbers(
    trace: Trace, limits: Mapping[str, float], sent: Sent, whole: Collection[str] = ()
) -> dict[str, StageNumbers]:
    """The numbers of every stage, and where they are from; only those `sent`, but for stages that are `whole`."""
    return {
        stage.name: _numbers(trace, stage, limits[stage.name], sent, ALL if stage.name in whole else sent)
        for stage in trace.stages
    }


def values(stage: Stage, sent: Sent = ALL) -> Chunks:
    """The numbers of a stage, those of one head, or of one query of it, in one piece."""
    return chunks(stage.value, sent[:2] if by_row(stage) else sent[:1] if stage.is_headed else ())


def by_row(stage: Stage) -> bool:
    """Whether a stage is sent row by row: of each head and query it has a matrix."""
    return stage.is_headed and len(stage.shape) > 3


def _stage(trace: Trace, stage: Stage, shown_in: Mapping[str, str], in_microgpt: str) -> StageShape:
    words = entry(stage.name)
    rule = trace.rule(stage.name)
    return StageShape(
        symbol=symbol(stage),
        title=words.title,
        meaning=words.meaning,
        one=words.one or words.title.lower(),
        role=words.role,
        scale=_scale(stage),
        step=shown_in.get(stage.name, words.step),
        axes=[
            SentAxis(name=axis.name, title=AXES[axis.name], labels=axis.labels, coordinates=axis.coordinates)
            for axis in trace.axes(stage.name)
        ],
        hidden_by=_hidden_by(trace, stage.name),
        rule=None if rule is None else _rule(stage, rule),
        stories=[(story.when, story.text) for story in stories_of(trace, stage.name)],
        in_microgpt=in_microgpt,
    )


def _numbers(trace: Trace, stage: Stage, limit: float, sent: Sent, sent_of_it: Sent) -> StageNumbers:
    rule = trace.rule(stage.name)
    return StageNumbers(
        limit=limit,
        values=values(stage, sent_of_it),
        overridden=sorted(_run(index, stage.shape) for index in stage.overridden),
        overridden_by=stage.overridden_by or "set by hand",
        recipe=stage.operation.recipe if stage.is_given else "",
        marks=marks(stage),
        rule=UNSET if rule is None else RuleNumbers(arrays=_arrays(rule, sent)),
    )


def _run(index: Sequence[int], shape: Sequence[int]) -> tuple[int, int]:
    """The cells whose index begins so, as they stand in a row: the place of the first, and how many."""
    n = math.prod(shape[len(index) :])
    return int(np.ravel_multi_index(index, shape[: len(index)])) * n, n


def _hidden_by(trace: Trace, name: str) -> str:
    """The stage whose -inf hide cells of this one; empty if none does."""
    return trace.layer_of(name).names["masked"] if split_layer(name)[0] in HIDES else ""


def _scale(stage: Stage) -> str:
    """The colour scale of a stage's numbers: the vocabulary's, but for a mask that is not of booleans."""
    named = entry(stage.name).scale
    return "signed" if named == "flag" and stage.value.dtype != bool else named


def _rule(stage: Stage, rule: Rule) -> RuleShape:
    def slot(of: Slot) -> tuple[str, str]:
        source = stage.inputs[of.source] if isinstance(of.source, int) else of.source or stage.name
        return source, of.pattern

    return RuleShape(
        result=rule.result,
        sizes=rule.sizes,
        slots={name: slot(of) for name, of in rule.slots.items()},
        case=slot(rule.case) if rule.case else None,
        until=slot(rule.until) if rule.until else None,
        variants=[
            RuleVariant(**vars(each) | {"lines": [RuleLine(**vars(line)) for line in each.lines]})
            for each in rule.variants
        ],
    )


def _arrays(rule: Rule, sent: Sent) -> dict[str, RuleArray]:
    slots = (*rule.slots.values(), *filter(None, (rule.case, rule.until)))
    patterns = {of.source: of.pattern for of in slots}
    return {
        name: RuleArray(values=chunks(array, sent[:1] if patterns[name].startswith(_OF_HEADS) else ()))
        for name, array in rule.arrays.items()
    }
