"""The initialiser `INTEGER_EXAMPLE`: integers for which every attention weight is a fraction, and its rules.

Scores are multiplied by ln 2 or ln 3, so that the exponential of a scaled score is a power of 2 or 3.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np

from attnviz.core.errors import SettingsError
from attnviz.core.parameters import Parameters
from attnviz.core.rng import stream
from attnviz.core.tokens import tokenize

INTEGER_EXAMPLE = "whole"
"""The name of this initialiser."""

N_WORDS = (3, 4)
N_DRAWS = 2_000
"""Draws per seed, before the next seed is tried."""

MOST = 99
"""The largest integer, numerator and denominator."""


@dataclass(frozen=True, eq=False)
class IntegerExample:
    """The embeddings and parameters of a pass of integers."""

    embeddings: np.ndarray  # (tokens, d_model): of 0, 1 and 2
    parameters: Parameters  # of one head, with numbers -1, 0 and 1
    base: int  # scores are multiplied by its logarithm
    seed: int  # the seed of the draw: the requested one, or the next that has such numbers

    @property
    def scale(self) -> float:
        """The factor of the scores."""
        return math.log(self.base)


def suits_integers(tokens: Sequence[str]) -> bool:
    """Whether a sentence has 3 or 4 words that differ; if all were alike, every row would be flat."""
    return len(tokens) in N_WORDS and len(set(tokens)) > 1


@lru_cache(maxsize=64)  # parsing a scene needs its seed, and its pass the numbers
def draw_integer_example(tokens: tuple[str, ...], d_model: int, seed: int) -> IntegerExample:
    """The first draw of integers that are easy to compute with by hand.

    All integers and numerators have at most two digits, so have denominators, and no row of shares is flat: not with
    every key visible, and with those up to any place only where their words are all alike. Each word and each matrix
    has a stream of its own; which draw of it is the first good one depends on the whole sentence.
    """
    while True:
        words = {token: stream(f"token {token}", seed).randint(0, 3, (N_DRAWS, d_model)) for token in tokens}
        x = np.stack([words[token] for token in tokens], axis=1)
        w_q, w_k, w_v, w_o = (
            stream(name, seed).randint(-1, 2, (N_DRAWS, d_model, d_model)) for name in ("w_q", "w_k", "w_v", "w_o")
        )
        base = stream("scale", seed).randint(2, 4, N_DRAWS)
        good = _good(tokens, x, (w_q, w_k, w_v, w_o), base)
        if good.any():
            at = int(good.argmax())
            heads = {"w_q": w_q[at][None], "w_k": w_k[at][None], "w_v": w_v[at][None]}
            return IntegerExample(x[at].astype(float), Parameters(**heads, w_o=w_o[at]), int(base[at]), seed)
        seed = (seed + 1) % 2**32


def _good(tokens: Sequence[str], x: np.ndarray, matrices: Sequence[np.ndarray], base: np.ndarray) -> np.ndarray:
    """Which draws are easy to compute with: booleans (draws,)."""
    w_q, w_k, w_v, w_o = matrices
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    scores = q @ k.swapaxes(-1, -2)
    lead = scores - scores.min(axis=-1, keepdims=True)
    powers = base[:, None, None] ** lead.clip(0, 7)  # 2^7 is more than `MOST` already
    heads, outputs = powers @ abs(v), powers @ abs(v @ w_o)  # no numerator is larger, whatever a mask hides
    integers = (q, k, v, v @ w_o, scores, powers.sum(axis=-1), heads, outputs)
    small = np.logical_and.reduce([abs(each).reshape(N_DRAWS, -1).max(axis=-1) <= MOST for each in integers])
    other = next(place for place, token in enumerate(tokens) if token != tokens[0])
    first = scores[..., : other + 1]
    return small & (first != first[..., :1]).any(axis=-1).all(axis=-1)


class SentenceSettings(Protocol):
    """The part of `Settings` that is checked here."""

    sentence: str
    context: str | None


INTEGER_OPTIONS: dict[str, Sequence] = {
    "d_model": range(2, 5),
    "n_heads": range(1, 2),
    "positions": ("none",),
    "layers": range(1, 2),
    "norm": ("none",),
    "sharing": ("none",),
    "qk_norm": (False,),
    "rope": ("none",),
    "scaled": (True,),
    "softcap": ("none",),
    "alibi": (False,),
    "sinks": ("none",),
    "blocks": ("none",),
}
"""The values that these options may have with the initialiser `INTEGER_EXAMPLE`."""

INTEGER_RULE = f"initialiser=whole needs {' or '.join(map(str, N_WORDS))} words, not all alike, and no context"


def suits_integer_example(sentence: str, context: str | None) -> bool:
    """Whether a sentence can have the initialiser `INTEGER_EXAMPLE`."""
    return not (context or "").strip() and suits_integers(tokenize(sentence))


def integer_option_rule(name: str) -> str:
    """The values that an option may have with this initialiser, in words."""
    first, *others = INTEGER_OPTIONS[name]
    return f"With initialiser=whole {name} is {f'{first} to {others[-1]}' if others else first}"


def check_integer_example(settings: SentenceSettings) -> None:
    """Raise SettingsError unless the settings allow this initialiser."""
    for name, allowed in INTEGER_OPTIONS.items():
        if getattr(settings, name) not in allowed:
            raise SettingsError(f"{integer_option_rule(name)}; got {getattr(settings, name)!r}.")
    if not suits_integer_example(settings.sentence, settings.context):
        n_words, context = len(tokenize(settings.sentence)), repr(settings.context)[:40]
        raise SettingsError(f"{INTEGER_RULE}; got {n_words} and the context {context}.")
