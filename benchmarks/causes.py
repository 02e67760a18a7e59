"""Causes: how often `compare` names the mistake in a layer, over mistakes, layouts and the stages that people have.

`python -m benchmarks.causes` prints, for each set of stages, how many mistakes are named alone, in a set with others
that the numbers can't tell apart, by their stage only, and wrongly.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import test_causes as planted
from implementations import LAYOUTS, Implementation

from attnviz import Comparison, compare
from attnviz.checks.causes.table import cause

STAGES = {
    "all": ("q", "k", "v", "scores", "scaled", "masked", "attention", "heads", "concat", "output"),
    "input, weights, output": ("output",),
    "attention, output": ("attention", "output"),
}
"""Which stages people have, beside the input and the parameters."""


def saved(layout: str, stages: dict[str, np.ndarray], names: tuple[str, ...]) -> dict[str, np.ndarray]:
    """The pass with these stages, some of them named, as a library saves it."""
    parameters = planted.given()
    x, d = parameters.pop("x"), parameters["w_q"].shape[1] // planted.HEADS
    own = SimpleNamespace(x=x, n_keys=None, mask=planted.SEEN, parameters=parameters, stages=stages)
    own.n_heads, own.d, own.biased = planted.HEADS, d, True
    own.heads_of = lambda w: w.reshape(len(w), -1, d)
    return Implementation.written(own, layout, *names)


def measured(step: int = 1) -> Iterator[tuple[str, str, str, str]]:
    """For every `step`th mistake: the available stages, the layout, the mistake, and how it was named."""
    for mistake in planted.CAUSES[::step]:
        stages = planted.carried_out(mistake)
        for layout in LAYOUTS:
            for available, names in STAGES.items():
                arrays = saved(layout, stages, tuple(name for name in names if name in stages))
                options = {"true_is": "visible" if "mask" in arrays else "hidden", "n_heads": planted.HEADS}
                orientation = "(in, out)" if layout == "attnviz" else None
                comparison = compare(None, arrays, orientation=orientation, **options)
                yield available, layout, mistake, outcome(mistake, comparison)


def outcome(mistake: str, comparison: Comparison) -> str:
    """How a mistake was named."""
    if comparison.first is None:
        return "no difference to see"
    named = [cause(each) for each in comparison.causes[:1]]
    others = [cause(each) for pair in comparison.alternatives for each in pair]
    if mistake in named and not others:
        return "alone"
    if named and mistake in (*named, *others):
        return "in a set"
    return "wrongly" if named and comparison.explained else "by its stage"


def main(step: int) -> int:
    """Print the tables; returns how many were named wrongly."""
    counts, wrong = Counter(), []
    for available, layout, mistake, result in measured(step):
        counts[available, result] += 1
        if result == "wrongly":
            wrong.append(f"{result}: {mistake} ({layout}; {available})")
    for available in STAGES:
        row = {result: n for (stages, result), n in counts.items() if stages == available}
        sys.stdout.write(f"{available}: {', '.join(f'{n} {result}' for result, n in sorted(row.items()))}\n")
    sys.stdout.write("".join(f"{each}\n" for each in wrong))
    return len(wrong)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1) > 0)
