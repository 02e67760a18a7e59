"""Count: how many there are of something, pairs that are hidden, parameters, multiplications."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnviz.contract.lesson import Fill, Near
from attnviz.lessons.figures import figure, mask_of
from attnviz.lessons.questions.ask import Ask, computed_from
from attnviz.lessons.reference import Passes
from attnviz.lessons.slots import filled, format_number, sentence

Reading = tuple[float, str]


class Count(Ask, tag="count", frozen=True):
    """How many.

    Attributes
    ----------
    of
        A figure of the pass (see `figures`), without "count."; perhaps after "A.".
    unit
        What is counted, in the plural.
    """

    of: str
    unit: str

    def question(self, passes: Passes) -> Fill:
        prefix, _, name = self.of.rpartition(".")
        right = figure(f"{prefix}.count.{name}".lstrip("."), passes)
        nears: dict[float, Near] = {}
        for value, text in _NEARS.get(name, lambda passes: ())(passes):
            if value != right and value not in nears:
                nears[value] = Near(value=value, tolerance=0.0, feedback=sentence(text))
        return Fill(
            prompt=filled(self.prompt, passes),
            right=right,
            text=format_number(right),
            tolerance=0.0,
            is_share=False,
            nears=list(nears.values()),
            unit=self.unit,
        )

    def covers(self, passes: Passes) -> set[str]:
        trace = passes.trace()
        names = [layer.names[stage] for layer in trace.layers for stage in _GIVING.get(self.of, ())]
        return computed_from(trace, names)


_GIVING = {"hidden": ("mask",), "visible": ("mask",), "differing": ("attention",)}
"""The stages on which one could count them."""


def _hidden(passes: Passes) -> list[Reading]:
    seen = mask_of(passes.trace())
    return [
        (int(seen.sum()), "That is how many are visible."),
        (int((~seen).sum() + np.trace(seen)), "That hides each word from itself, too."),
        (int((~(seen & seen.T)).sum()), "That hides each of these pairs the other way round, too."),
        (int((~seen)[0].sum()), "That is how many are hidden from the first word."),
        (seen.size / 2, "That is half of all pairs."),
        (seen.size, "That is all pairs."),
    ]


def _parameters(passes: Passes) -> list[Reading]:
    trace, right = passes.trace(), figure("count.parameters", passes)
    n_heads = figure("count.heads", passes)
    one = sum(trace[name].size for name in ("w_q", "w_k", "w_v") if name in trace)
    return [
        (right - one + one * n_heads, "That would give each head matrices of the full width."),
        (right * n_heads, "That is as many for each head."),
        (right / n_heads, "That is one head’s part."),
        (one, "That leaves $W^O$ out."),
    ]


def _cached(passes: Passes) -> list[Reading]:
    every, new = (figure(f"count.multiplications{each}", passes) for each in ("", "_cached"))
    return [
        (every, "That is how many there are if every letter is computed anew."),
        (every - new, "That is how many are saved."),
    ]


def _differing(passes: Passes) -> list[Reading]:
    a, b = (passes.trace(of)["attention"].value for of in ("A", "B"))
    placewise = int((~np.isclose(a, b, rtol=0, atol=1e-12)).sum()) if a.shape == b.shape else a.size
    return [
        (placewise, "That compares place by place: compare each word with the same word."),
        (b.size, "That is all of them."),
    ]


_NEARS: dict[str, Callable[[Passes], list[Reading]]] = {
    "hidden": _hidden,
    "parameters": _parameters,
    "multiplications_cached": _cached,
    "differing": _differing,
}
