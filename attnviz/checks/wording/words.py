"""Words: the words in which someone's arrays and a pass are spoken of."""

from __future__ import annotations

import numpy as np

from attnviz.checks.agreement import Agreement
from attnviz.explain.steps import full_title

MAX_NAME_CHARACTERS = 40

SYMBOLS = {
    **{f"w_{letter}": f"W_{letter.upper()}" for letter in "qkvo"},
    **{f"b_{letter}": f"b_{letter.upper()}" for letter in "qkvo"},
    **{letter: letter.upper() for letter in "qkv"},
}
"""The words for parameters, queries, keys and values."""

_MOST_TIMES = 1e6
"""A larger factor says nothing that the two numbers don't."""


def shortened(name: str) -> str:
    """Someone's name for an array, short enough for a sentence."""
    return name if len(name) <= MAX_NAME_CHARACTERS else f"{name[: MAX_NAME_CHARACTERS - 3]}..."


def title(stage: str) -> str:
    """The name of a stage within a sentence."""
    words = full_title(stage).split()
    return SYMBOLS.get(
        stage, "x" if stage == "x" else " ".join(each if each.isupper() else each.lower() for each in words)
    )


def off(stage: Agreement, precision: str) -> str:
    """How far an array is from a stage, as a predicate."""
    plural = title(stage.stage).endswith("s")
    differ = "differ" if plural else "differs"
    if stage.shapes:
        yours, ours = stage.shapes
        return f"{'have' if plural else 'has'} the shape {yours}, where attnviz's {'have' if plural else 'has'} {ours}"
    if not np.isfinite(stage.off):
        return f"{differ}: {_not_finite(stage)}"
    expected = f"rounding {_in(precision)} would leave {_power(stage.rounding)}"
    times = f", {_times(stage.roundings)}" if stage.roundings < _MOST_TIMES else ""
    return f"{differ} by up to {stage.off:.3g}; {expected}{times}"


def to_rounding(precision: str) -> str:
    """How closely numbers agree, after "agree"."""
    return f"to {precision}" if precision[0].isdigit() else f"to {precision} rounding"


def _in(precision: str) -> str:
    return f"to {precision}" if precision[0].isdigit() else f"in {precision}"


def _not_finite(stage: Agreement) -> str:
    """Which of the two has numbers that are none."""
    yours, ours = stage.value, stage.expected
    if np.isnan(yours).any():
        return "some of your numbers are NaN where attnviz's are not"
    kinds = [(np.isneginf, "−∞"), (np.isposinf, "∞")]
    for kind, called in kinds:
        if (kind(yours) & ~kind(ours)).any():
            return f"some of your numbers are {called} where attnviz's are not"
    called = next(called for kind, called in kinds if (kind(ours) & ~kind(yours)).any())
    hidden = ", as the key is hidden" if called == "−∞" else ""
    return f"some of your numbers are finite where attnviz's are {called}{hidden}"


def _power(value: float) -> str:
    """A small number as people write it.

    >>> _power(1.4901e-07), _power(0.0005)
    ('1.5 · 10^-7', '0.0005')
    """
    if value >= 1e-4:
        return f"{value:.2g}"
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa.removesuffix('.0')} · 10^{int(exponent)}"


def _times(roundings: float) -> str:
    return "about as much" if round(roundings) <= 1 else f"{round(roundings):,} times less"


def capital(sentence: str) -> str:
    """A sentence with a capital letter first, unless a symbol begins it."""
    return sentence if sentence[1:2] == "_" else sentence[:1].upper() + sentence[1:]
