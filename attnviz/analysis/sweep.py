"""A sweep over d_k: scores of random queries and keys, and their softmax."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from attnviz.core.operations.softmax import Softmax
from attnviz.core.rng import stream

LENGTHS = tuple(2**power for power in range(10))
"""The d_k that are swept: 1 to 512."""

N_PAIRS = 2_000
N_WORDS = 6
N_BINS = 61

DIVISORS = {"root": math.sqrt, "none": lambda d_k: 1.0, "d_k": float}
"""The divisors of scores."""

REACHES = {"root": 4.0, "none": 70.0, "d_k": 4.0}
"""The range of each histogram, for all lengths; numbers beyond it count in the last bin."""

AVERAGES: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "root": (
        (0.35795, 0.38411, 0.40069, 0.41008, 0.41509, 0.41767, 0.41898, 0.41964, 0.41997, 0.42014),
        (0.122566, 0.120853, 0.11974, 0.119084, 0.118722, 0.118531, 0.118432, 0.118382, 0.118357, 0.118344),
    ),
    "none": (
        (0.35795, 0.45951, 0.57584, 0.68688, 0.77654, 0.84228, 0.88889, 0.9217, 0.94477, 0.96101),
        (0.122566, 0.109767, 0.091478, 0.07063, 0.051766, 0.03707, 0.026329, 0.018647, 0.013194, 0.009332),
    ),
    "d_k": (
        (0.35795, 0.32211, 0.28173, 0.24813, 0.2235, 0.20622, 0.19424, 0.18594, 0.18018, 0.17616),
        (0.122566, 0.128588, 0.133268, 0.136013, 0.137444, 0.138166, 0.138527, 0.138708, 0.138798, 0.138844),
    ),
}
"""The expected largest weight of a row and slope of a weight, by divisor, for each of `LENGTHS`.

A query's scores are its length, which has a chi distribution, times six numbers of N(0, 1). They are the integrals over
both, to about 1e-5. A mean of 2,000 rows may be off by 0.01, and so by a digit of a percentage.
"""


@dataclass(frozen=True, eq=False)
class SweepResult:
    """The scores and weights for one length and one divisor."""

    d_k: int
    spread: float  # the root of the mean square of the scores, as measured
    expected: (
        float  # the same of a sum of d_k products of independent N(0, 1) numbers: the root of d_k, over the divisor
    )
    counts: np.ndarray  # (bins,)
    shares: np.ndarray  # (words,): the attention weights of the first query among its six keys
    largest: float  # the mean of a row's largest weight, over all rows (`AVERAGES`)
    slope: float  # the mean derivative of a weight with respect to its own score, p(1 - p)


@cache
def sweep() -> dict[str, tuple[SweepResult, ...]]:
    """The sweep by divisor: 2,000 random queries with six keys each; histograms show the first key's scores.

    A longer vector begins with the numbers of a shorter one.
    """
    random = stream("sweep", 0)
    queries = random.standard_normal((N_PAIRS, LENGTHS[-1]))
    scores = np.empty((len(LENGTHS), N_PAIRS, N_WORDS))
    for word in range(N_WORDS):  # one after the other: all keys at once are 50 MB
        sums = np.cumsum(queries * random.standard_normal(queries.shape), axis=1)
        scores[:, :, word] = sums[:, [d_k - 1 for d_k in LENGTHS]].T
    return {
        name: tuple(
            _swept(d_k, of_length, by(d_k), REACHES[name], *averages)
            for d_k, of_length, averages in zip(LENGTHS, scores, zip(*AVERAGES[name], strict=True), strict=True)
        )
        for name, by in DIVISORS.items()
    }


def _swept(d_k: int, undivided: np.ndarray, divisor: float, reach: float, largest: float, slope: float) -> SweepResult:
    scores = undivided / divisor
    pairs = scores[:, 0]
    counts, _ = np.histogram(pairs.clip(-reach, reach), bins=N_BINS, range=(-reach, reach))
    return SweepResult(
        d_k=d_k,
        spread=float(np.sqrt((pairs**2).mean())),
        expected=math.sqrt(d_k) / divisor,
        counts=counts,
        shares=Softmax().compute(scores[:1])[0],
        largest=largest,
        slope=slope,
    )
