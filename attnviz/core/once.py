"""Once: what is asked of a trace again and again is worked out a single time, and goes with the trace."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from attnviz.core.trace import Trace

Answer = TypeVar("Answer")


def once(ask: Callable[[Trace], Answer]) -> Callable[[Trace], Answer]:
    """Keep what a function says of a trace with the trace.

    The answer must hold no trace: one that held its own would keep it from
    being freed until Python next looks for circles.
    """
    name = f"{ask.__module__}.{ask.__qualname__}"

    @wraps(ask)
    def asked(trace: Trace) -> Answer:
        kept = vars(trace)
        if name not in kept:
            kept[name] = ask(trace)
        return kept[name]

    return asked
