"""Causes: how often `compare` names the mistake in a layer, and how many correct passes it calls wrong.

`python -m benchmarks.causes [STEP [PASSES]]` takes every `STEP`th mistake, and draws so many correct passes. For each
set of stages it prints how many mistakes are named alone, in a set with others that the numbers can't tell apart, by
their stage only, and wrongly. The correct passes have RoPE, groups, norms, sinks, biases and masks at random; some of
their stages are compared in float32 with their inputs and parameters, and with the pass itself.
`python -m benchmarks.causes kinds` does so for the mistakes of public threads in `tests/kinds.py`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from types import SimpleNamespace

import kinds
import numpy as np
import test_causes as planted
import test_kinds
from implementations import LAYOUTS, Implementation

from attnviz import Comparison, Parameters, RMSNorm, Trace, attend, compare
from attnviz.checks.causes import cause
from attnviz.core.operations.rotation import Rotation

SCORES = ("q", "k", "v", "q_rotated", "k_rotated", "scaled", "capped", "masked")
COMPARED = (*SCORES, "attention", "heads", "concat", "output")
STAGES = {  # which stages people have besides the input and the parameters
    "all": ("q", "k", "v", "scores", "scaled", "masked", "attention", "heads", "concat", "output"),
    "input, weights, output": ("output",),
    "attention, output": ("attention", "output"),
}


def saved(layout: str, stages: dict[str, np.ndarray], names: tuple[str, ...]) -> dict[str, np.ndarray]:
    """The pass with these stages, some of them named, as a library saves it."""
    parameters = planted.given()
    x, d = parameters.pop("x"), parameters["w_q"].shape[1] // planted.HEADS
    layer = SimpleNamespace(x=x, n_keys=None, mask=planted.SEEN, parameters=parameters, stages=stages)
    layer.n_heads, layer.d, layer.biased = planted.HEADS, d, True
    layer.heads_of = lambda w: w.reshape(len(w), -1, d)
    return Implementation.written(layer, layout, *names)


def measured(step: int) -> Iterator[tuple[str, str, str, str]]:
    """For every `step`th mistake: the available stages, the layout, the mistake, and how it was named."""
    for mistake in planted.CAUSES[::step]:
        stages = planted.pass_with(mistake)
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


def random_pass(random: np.random.Generator) -> Trace:
    """A correct pass of one layer."""
    n, n_heads, d = int(random.integers(2, 12)), int(random.choice([1, 2, 4])), int(random.choice([4, 6, 8]))
    n_groups = int(random.choice([g for g in (1, 2, 4) if n_heads % g == 0]))
    width, draw = n_heads * d, random.standard_normal
    parameters = {"w_q": draw((n_heads, width, d)), **{f"w_{each}": draw((n_groups, width, d)) for each in "kv"}}
    parameters["w_o"] = draw((width, width))
    parameters = {name: each / width**0.5 for name, each in parameters.items()}
    if random.random() < 0.4:
        parameters |= {f"b_{each}": draw((n_heads if each == "q" else n_groups, d)) for each in "qkv"}
    is_normed = random.random() < 0.4
    if is_normed:
        parameters |= {f"g_{each}_norm": 1 + draw(d) / 4 for each in "qk"}
    if random.random() < 0.3:
        parameters["sinks"] = draw(n_heads)
    rotation = Rotation(float(random.choice([1e4, 5e5, 1e6])), str(random.choice(["halves", "neighbours"])))
    masks = [None, np.tri(n, dtype=bool), np.tri(n, dtype=bool) & ~np.tri(n, k=-3, dtype=bool)]
    return attend(
        draw((n, width)),
        parameters=Parameters(**parameters),
        mask=masks[random.integers(3)],
        qk_norm=RMSNorm(float(random.choice([1e-5, 1e-6]))) if is_normed else False,
        rotation=rotation if random.random() < 0.6 else None,
    )


def called_wrong(n: int) -> Iterator[str]:
    """Each correct pass of `n` that is called wrong, in a line."""
    random = np.random.default_rng(0)
    for number in range(n):
        trace = random_pass(random)
        names = [each for each in COMPARED if each in trace and random.random() < 0.4] or ["output"]
        stages = {name: trace[name].value.astype(np.float32) for name in names}
        inputs = {stage.name: stage.value for stage in trace.stages if stage.is_given}
        inputs = {name: each if each.dtype == bool else each.astype(np.float32) for name, each in inputs.items()}
        for against, reference, arrays in (("its own", None, inputs | stages), ("the pass", trace, stages)):
            comparison = compare(reference, arrays)
            if comparison.first is not None:
                yield f"{number}, against {against}: {sorted(arrays)}: {comparison}"


def kinds_of_threads(writes: bool) -> int:
    """Print how the mistakes of public threads are named, a kind a line; returns how many cases fall short.

    `writes` lists those in tests/checks/kinds_short.txt, which the tests compare with.
    """
    short, by_kind = [], {}
    for case in kinds.cases():
        kind, _, stages = case
        said, is_enough = test_kinds.outcome(*case)
        by_kind.setdefault(kind, {}).setdefault(stages, Counter())[said] += 1
        if not is_enough:
            short.append(f"{test_kinds.name_of(case)}: {said}")
    for kind, counts in by_kind.items():
        print(
            kind,
            *(f"  {stages}: {', '.join(f'{n} {said}' for said, n in row.items())}" for stages, row in counts.items()),
            sep="\n",
        )
    print(f"{len(short)} of {len(kinds.cases())} fall short")
    if writes:
        test_kinds.SHORT.write_text("".join(f"{line}\n" for line in short), encoding="utf-8")
    return len(short)


def main(step: int = 1, n_passes: int = 1000) -> int:
    """Print the tables; returns how many mistakes were named wrongly, or correct passes called wrong."""
    counts, wrong = Counter(), []
    for available, layout, mistake, result in measured(step):
        counts[available, result] += 1
        if result == "wrongly":
            wrong.append(f"wrongly: {mistake} ({layout}; {available})")
    for available in STAGES:
        row = {result: n for (stages, result), n in counts.items() if stages == available}
        print(f"{available}: {', '.join(f'{n} {result}' for result, n in sorted(row.items()))}")
    correct = list(called_wrong(n_passes))
    print(*wrong, *correct, f"{len(correct)} of {2 * n_passes} called wrong", sep="\n")
    return len(wrong) + len(correct)


if __name__ == "__main__":
    if sys.argv[1:2] == ["kinds"]:
        sys.exit(kinds_of_threads(writes="write" in sys.argv) > 0)
    sys.exit(main(*map(int, sys.argv[1:])) > 0)
