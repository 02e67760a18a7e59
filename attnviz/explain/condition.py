"""Conditions: what is said of some traces and not of others."""

from collections.abc import Callable

import numpy as np

from attnviz.core.parameters import Kind
from attnviz.core.trace import Trace

Condition = Callable[[Trace], bool]


def always(trace: Trace) -> bool:
    """The condition that holds for every trace."""
    return True


def has(*names: str) -> Condition:
    """The condition that a trace has all of these stages."""
    return lambda trace: all(name in trace for name in names)


def lacks(*names: str) -> Condition:
    """The condition that a trace has none of these stages."""
    return lambda trace: not any(name in trace for name in names)


def both(*conditions: Condition) -> Condition:
    """The condition that all of these hold."""
    return lambda trace: all(condition(trace) for condition in conditions)


def one_head(trace: Trace) -> bool:
    """The condition that a trace has one head."""
    return trace["heads"].shape[0] == 1


def several_heads(trace: Trace) -> bool:
    """The condition that it has more."""
    return not one_head(trace)


def origin(*kinds: Kind) -> Condition:
    """The condition that a trace's parameters are from one of these."""
    return lambda trace: trace.origin.kind in kinds


def of_model(trace: Trace) -> bool:
    """The condition that a trace is a model's: of words of its own, with a task."""
    return bool(trace.origin.title)


def of_no_model(trace: Trace) -> bool:
    """The condition that it is no model's."""
    return not of_model(trace)


def hides(trace: Trace) -> bool:
    """The condition that the mask hides any key from any query."""
    return bool(np.isneginf(trace["masked"].value).any())


def hides_none(trace: Trace) -> bool:
    """The condition that it hides none."""
    return not hides(trace)
