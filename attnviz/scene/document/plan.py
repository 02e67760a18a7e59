"""Plans: what a pass is but for its numbers, as JSON. A browser is sent each once, and after that its name."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from attnviz.core.caching import cached_by_plan
from attnviz.core.operations.scale import Scale
from attnviz.core.trace import Trace
from attnviz.scene.document.encoding import Json, json_of
from attnviz.text.glossary import glossary
from attnviz.text.ids import nearest
from attnviz.text.steps import steps_of
from attnviz.views import palette
from attnviz.views.map import arrows, columns
from attnviz.views.stages import stages
from attnviz.views.steps import step_data


class Plan(NamedTuple):
    """What a pass is but for its numbers.

    Attributes
    ----------
    name : str
        Of equal parts the same; 16 hexadecimal digits.
    parts : Json
        Those of its document that no number is in.
    """

    name: str
    parts: Json


@cached_by_plan
def plan_of(trace: Trace) -> Plan:
    """The plan of a trace."""
    parts = json_of(_parts(trace))
    return Plan(hashlib.blake2b(parts, digest_size=8).hexdigest(), Json(parts))


def _parts(trace: Trace) -> dict:
    steps = steps_of(trace)
    places = columns(trace, steps)
    return {
        "stages": stages(trace),
        "steps": [step_data(trace, step) for step in steps],
        "nearest": nearest(trace),
        "map": {
            "columns": [
                {"step": step.id, "title": step.title, "layer": step.layer, "stages": places[step.id]} for step in steps
            ],
            "arrows": arrows(trace, [name for names in places.values() for name in names]),
        },
        "words": _words(trace),
        "layers": [
            {"attention": layer.names["attention"], "purpose": " ".join(layer.trace.origin.layers)}
            for layer in trace.layers
        ],
        "fractions": any(isinstance(each.operation, Scale) and each.operation.base for each in trace.stages),
        "glossary": glossary(trace),
        "palette": {"negative": palette.NEGATIVE, "positive": palette.POSITIVE, "share": palette.SHARE},
    }


def _words(trace: Trace) -> dict:
    labels = {axis.name: list(axis.labels) for axis in trace.layers[0].trace.axes("scores")}
    return {"query": labels["query"], "key": labels["key"], "shared": "context" not in trace, "unit": trace.origin.unit}
