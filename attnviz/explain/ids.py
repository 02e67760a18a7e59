"""Ids: what steps are called in addresses, and which step a pass shows for each."""

import re
from functools import lru_cache

from attnviz.core.limits import MAX_LAYERS
from attnviz.core.trace import Trace, cached_by_template
from attnviz.explain.steps import ENTERING, LAYER, LEAVING, QUESTION, STEPS, steps_of


def ids(n_layers: int) -> list[str]:
    """The ids of all steps that a pass of so many layers may have, in order."""
    numbers = range(1, n_layers + 1) if n_layers > 1 else ()
    in_layers = [f"{step.id}-{number}" for number in numbers for step in LAYER] or [step.id for step in LAYER]
    return [*(step.id for step in (QUESTION, *ENTERING)), *in_layers, *(step.id for step in LEAVING)]


@cached_by_template
def nearest(trace: Trace) -> dict[str, str]:
    """For each step that there may be the id of the one that the trace shows for it: itself, or the next that it has.

    A step of a layer that the trace doesn't have is that step of its first or last layer.
    """
    return _nearest(trace.n_layers, frozenset(step.id for step in steps_of(trace)))


@lru_cache(maxsize=64)  # more than there are kinds of passes
def _nearest(count: int, present: frozenset[str]) -> dict[str, str]:
    order = ids(count)
    return {
        wanted: next(each for each in order[order.index(_moved(wanted, count)) :] if each in present)
        for n_layers in (1, MAX_LAYERS, count)
        for wanted in ids(n_layers)
    }


def _moved(id_: str, n_layers: int) -> str:
    """The same step in a pass of so many layers."""
    base, layer = _split(id_)
    if base not in (step.id for step in LAYER) or n_layers == 1:
        return base
    return f"{base}-{min(max(layer, 1), n_layers)}"


def _split(id_: str) -> tuple[str, int]:
    """The id of a step without its layer, and the layer, 0 where there is none."""
    base, layer = re.fullmatch(r"(.*?)(?:-(\d+))?", id_).groups()
    return base, int(layer or 0)


def find(text: str) -> str | None:
    """The id of the step whose id or title this is, in upper or lower case; None if there is none.

    >>> find("q, k, v"), find("QKV-2"), find("nonsense")
    ('qkv', 'qkv-2', None)
    """
    named = {id_: id_ for n_layers in (1, MAX_LAYERS) for id_ in ids(n_layers)}
    named |= {step.title.casefold(): step.id for step in STEPS}
    return named.get(text.strip().casefold())


def title(id_: str) -> str:
    """The title of the step of an id."""
    base, _ = _split(id_)
    return next(step.title for step in STEPS if step.id == base)


def layer_number(id_: str) -> int:
    """The number of the layer that the step of an id is of; 0 where its id names none."""
    return _split(id_)[1]
