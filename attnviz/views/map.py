"""Map: the whole pass as a diagram, step by step, with arrows from stage to stage."""

from collections.abc import Sequence

from attnviz.core.trace import Trace
from attnviz.text.step import Step


def columns(trace: Trace, steps: Sequence[Step]) -> dict[str, list[str]]:
    """The stages that stand in each step's column of the map; a step that shows none has an empty one."""
    return {step.id: [name for name in step.stages if name in trace] for step in steps}


def arrows(trace: Trace, shown: Sequence[str]) -> list[tuple[str, str]]:
    """From which of the shown stages each is computed, perhaps by way of others that are not shown."""
    return [(source, name) for name in shown for source in _sources(trace, name, frozenset(shown))]


def _sources(trace: Trace, name: str, shown: frozenset[str]) -> list[str]:
    names: dict[str, None] = {}
    for read in trace[name].inputs:
        names |= dict.fromkeys([read] if read in shown else _sources(trace, read, shown))
    return list(names)
