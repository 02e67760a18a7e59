"""Map: the whole pass as a diagram, step by step, with arrows from stage to stage."""

from collections.abc import Sequence

from attnviz.contract.document import Map, MapColumn
from attnviz.core.trace import Trace
from attnviz.explain.step import Step


def map_of(trace: Trace, steps: Sequence[Step]) -> Map:
    """The map: each step with its stages, and from which of all these each is computed.

    Perhaps by way of others that are not shown.
    """
    columns = [MapColumn(step=step.id, title=step.title, layer=step.layer, stages=step.stages) for step in steps]
    shown = {name: None for column in columns for name in column.stages}
    return Map(columns=columns, arrows=[(source, name) for name in shown for source in _sources(trace, name, shown)])


def _sources(trace: Trace, name: str, shown: dict[str, None]) -> list[str]:
    names: dict[str, None] = {}
    for read in trace[name].inputs:
        names |= dict.fromkeys([read] if read in shown else _sources(trace, read, shown))
    return list(names)
