"""Mirror: eight digits, backwards."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from attnviz.core.streams import stream
from attnviz.models.task import Answers, Batch, Learnable

LENGTH = 8
HELD_OUT = 512


class Mirror(Learnable):
    """Each position answers with the digit at the mirrored position."""

    unit = "digit"
    title = "Mirror"
    summary = "Eight digits, reversed: each position looks at the position across the middle, whatever digit is there."
    question = "What is “{sentence}” backwards?"
    about = (
        f"This model was trained to reverse texts of {LENGTH} random digits: each position answers with the digit "
        "at the mirrored position."
    )
    words_by_kind: ClassVar = {"digits": tuple("0123456789")}
    answers = words_by_kind["digits"]
    examples = (("in order", "1 2 3 4 5 6 7 8"), ("one of a kind", "0 0 0 7 0 0 0 0"), ("π", "3 1 4 1 5 9 2 6"))
    read = "each"
    kinds = None

    def right(self, tokens: Sequence[str]) -> Answers:
        return tuple(reversed(tokens)) if len(tokens) == LENGTH else (None,) * len(tokens)

    def batch(self, random: np.random.RandomState, size: int) -> Batch:
        tokens = random.randint(len(self.words), size=(size, LENGTH))
        return Batch(tokens, tokens[:, ::-1], np.ones(tokens.shape, dtype=bool))

    def held_out(self) -> Batch:
        return self.batch(stream("mirror, held out", 0), HELD_OUT)

    def patterns(self, arrays: Mapping[str, np.ndarray], batch: Batch) -> dict[str, float]:
        mirrored = arrays["attention"][:, :, range(LENGTH), range(LENGTH - 1, -1, -1)]
        return {"attention on the mirrored position": float(mirrored.mean())}
