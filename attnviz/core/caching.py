"""Caching: what is asked of a trace again and again is worked out a single time, for it or for all of its plan."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from typing import Protocol, TypeVar


class Planned(Protocol):
    """A trace, as far as is asked here."""

    @property
    def plan(self) -> Hashable | None:
        """All that decides a pass but for its numbers."""


Answer = TypeVar("Answer")

MAX_PLANS = 32
"""Of so many plans, those asked of last, what is said is kept: each is about as large as a pass's texts."""


def cached_on_trace(ask: Callable[[Planned], Answer]) -> Callable[[Planned], Answer]:
    """Keep what a function says of a trace with the trace.

    The answer must hold no trace: one that held its own would keep it from
    being freed until Python next looks for circles.
    """
    return _kept(ask, vars)


def cached_by_plan(ask: Callable[[Planned], Answer]) -> Callable[[Planned], Answer]:
    """Keep what a function says of a trace for all traces of its plan; with the trace where it has none.

    The answer must follow from the plan alone, whatever the numbers are, and
    nobody may change it.
    """
    return _kept(ask, lambda trace: vars(trace) if trace.plan is None else _of_plan(trace.plan))


def _kept(ask: Callable[[Planned], Answer], where: Callable[[Planned], dict]) -> Callable[[Planned], Answer]:
    name = f"{ask.__module__}.{ask.__qualname__}"

    @wraps(ask)
    def cached(trace: Planned) -> Answer:
        kept = where(trace)
        if name not in kept:
            kept[name] = ask(trace)
        return kept[name]

    return cached


@lru_cache(maxsize=MAX_PLANS)
def _of_plan(plan: Hashable) -> dict[str, object]:
    """The answers that were kept of a plan."""
    return {}
