"""Caching: what is asked of a trace again and again is worked out a single time, for it or for all of its template."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from typing import Any, Protocol, TypeVar


class HasTemplate(Protocol):
    """A trace, as far as is asked here."""

    @property
    def template(self) -> Hashable | None:
        """All that decides a pass but for its numbers."""


Traced = TypeVar("Traced", bound=HasTemplate)
Result = TypeVar("Result")

MAX_TEMPLATES = 32
"""Of so many templates, those asked of last, what is said is kept: each is about as large as a pass's texts."""


def cached_on_trace(ask: Callable[[Traced], Result]) -> Callable[[Traced], Result]:
    """Keep what a function says of a trace with the trace.

    The answer must hold no trace: one that held its own would keep it from
    being freed until Python next looks for circles.
    """
    return _kept(ask, vars)


def cached_by_template(ask: Callable[[Traced], Result]) -> Callable[[Traced], Result]:
    """Keep what a function says of a trace for all traces of its template; with the trace where it has none.

    The answer must follow from the template alone, whatever the numbers are, and
    nobody may change it.
    """
    return _kept(ask, lambda trace: vars(trace) if trace.template is None else _of_template(trace.template))


def _kept(ask: Callable[[Traced], Result], where: Callable[[Traced], dict]) -> Callable[[Traced], Result]:
    name = f"{ask.__module__}.{ask.__qualname__}"

    @wraps(ask)
    def cached(trace: Traced) -> Result:
        kept = where(trace)
        if name not in kept:
            kept[name] = ask(trace)
        return kept[name]

    return cached


@lru_cache(maxsize=MAX_TEMPLATES)
def _of_template(template: Hashable) -> dict[str, Any]:
    """The answers that were kept of a template."""
    return {}
