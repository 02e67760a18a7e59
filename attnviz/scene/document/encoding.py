"""Data as JSON, and templates: all of a pass's document that doesn't depend on its numbers, sent to a browser once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from itertools import chain
from typing import TypeVar

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from attnviz.contract.document import LayerOfModel, PassParameters, PassShape, SentParameters, SentShape, Words
from attnviz.contract.stages import StageNumbers, StageValues
from attnviz.core.operations.scores import Scale
from attnviz.core.trace import Trace, cached_by_template
from attnviz.explain.payload import stages, step_data
from attnviz.explain.pictures import map_of
from attnviz.explain.steps import nearest, steps_of

SentTemplate = TypeVar("SentTemplate", SentShape, SentParameters)
Json = msgspec.Raw  # already encoded JSON, embedded unchanged in other data

# data as JSON that every browser reads: of lists, mappings with texts as keys, texts, numbers and `Json`
to_json = msgspec.json.Encoder().encode


def _named(kind: type[SentTemplate], parts: PassShape | PassParameters) -> SentTemplate:
    """Document parts shared with other documents, under a name derived from their content."""
    encoded = to_json(parts)
    return kind(name=hashlib.blake2b(encoded, digest_size=8).hexdigest(), parts=Json(encoded))


@cached_by_template
def template_of(trace: Trace) -> SentShape:
    """The template of a trace: everything except its numbers."""
    steps = steps_of(trace)
    layers = [
        LayerOfModel(
            attention=each.names["attention"],
            mask=each.names["mask"],
            purpose=" ".join(each.trace.origin.layers),
            title=" ".join(each.trace.origin.layer_titles),
            words=words_of(each.trace),
        )
        for each in trace.layers
    ]
    return _named(
        SentShape,
        PassShape(
            stages=stages(trace),
            steps=[step_data(trace, step) for step in steps],
            nearest=nearest(trace),
            map=map_of(trace, steps),
            words=layers[-1].words,
            layers=layers,
            fractions=any(isinstance(each.operation, Scale) and each.operation.base for each in trace.stages),
        ),
    )


def words_of(trace: Trace) -> Words:
    """The words of a pass of one layer."""
    query, key = (axis.labels for axis in trace.axes("scores")[-2:])
    is_shared = query == key and "context" not in trace
    return Words(
        query=query,
        key=key,
        shared=is_shared,
        unit=trace.origin.unit,
        sides=list(chain(*trace.origin.sides)),
    )


_OF_WORDS = {"token", "context token", "query", "key"}


def parameter_names(trace: Trace) -> list[str]:
    """The stages that are parameters."""
    return [stage.name for stage in trace.stages if stage.is_given and not _OF_WORDS.intersection(stage.axes)]


def parameters_of(trace: Trace, drawn: Mapping[str, StageNumbers]) -> tuple[SentParameters, dict[str, StageNumbers]]:
    """The parameters' numbers as a template, and the `drawn` stages without them. Other words have the same parameters,
    and most other settings.
    """
    names = parameter_names(trace)
    without = {name: replace(drawn[name], values=UNSET) for name in names}
    parameters = PassParameters(stages={name: StageValues(values=drawn[name].values) for name in names})
    return _named(SentParameters, parameters), {**drawn, **without}
