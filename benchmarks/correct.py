"""Correct: how many of some thousand correct passes `compare` calls wrong: none should be.

`python -m benchmarks.correct 200` draws so many, with RoPE, groups, norms, sinks, biases and masks at random, and
compares some of their stages in float32 with their inputs and parameters, and with the pass itself.
"""

from __future__ import annotations

import sys

import numpy as np

from attnviz import Parameters, RMSNorm, Trace, attend, compare
from attnviz.core.operations.rotation import Rotation

_STAGES = [
    "q",
    "k",
    "v",
    "q_rotated",
    "k_rotated",
    "scaled",
    "capped",
    "masked",
    "attention",
    "heads",
    "concat",
    "output",
]


def drawn(random: np.random.Generator) -> Trace:
    """A pass of one layer."""
    n, n_heads, d = int(random.integers(2, 12)), int(random.choice([1, 2, 4])), int(random.choice([4, 6, 8]))
    n_groups = int(random.choice([g for g in (1, 2, 4) if n_heads % g == 0]))
    width, of = n_heads * d, random.standard_normal
    parameters = {
        "w_q": of((n_heads, width, d)),
        **{f"w_{each}": of((n_groups, width, d)) for each in "kv"},
        "w_o": of((width, width)),
    }
    parameters = {name: each / width**0.5 for name, each in parameters.items()}
    if random.random() < 0.4:
        parameters |= {f"b_{each}": of((n_heads if each == "q" else n_groups, d)) for each in "qkv"}
    is_normed = random.random() < 0.4
    if is_normed:
        parameters |= {f"g_{each}_norm": 1 + of(d) / 4 for each in "qk"}
    if random.random() < 0.3:
        parameters["sinks"] = of(n_heads)
    rotation = Rotation(float(random.choice([1e4, 5e5, 1e6])), str(random.choice(["halves", "neighbours"])))
    masks = [None, np.tri(n, dtype=bool), np.tri(n, dtype=bool) & ~np.tri(n, k=-3, dtype=bool)]
    return attend(
        of((n, width)),
        parameters=Parameters(**parameters),
        mask=masks[random.integers(3)],
        qk_norm=RMSNorm(float(random.choice([1e-5, 1e-6]))) if is_normed else False,
        rotation=rotation if random.random() < 0.6 else None,
    )


def main(n: int) -> int:
    """Print each that is called wrong; returns how many."""
    random, wrong = np.random.default_rng(0), 0
    for number in range(n):
        trace = drawn(random)
        names = [each for each in _STAGES if each in trace and random.random() < 0.4] or ["output"]
        stages = {name: trace[name].value.astype(np.float32) for name in names}
        given = {stage.name: stage.value for stage in trace.stages if stage.is_given}
        given = {name: each if each.dtype == bool else each.astype(np.float32) for name, each in given.items()}
        for reference, arrays in ((None, given | stages), (trace, stages)):
            comparison = compare(reference, arrays)
            if comparison.first is not None:
                wrong += 1
                against = "the pass" if reference else "its own"
                sys.stdout.write(f"{number}, against {against}: {sorted(arrays)}: {comparison}\n")
    sys.stdout.write(f"{wrong} of {2 * n} called wrong\n")
    return wrong


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000) > 0)
