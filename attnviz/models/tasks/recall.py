"""Recall: letters with a digit each, and a letter again, asked for its digit."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from attnviz.core.rng import stream
from attnviz.models.task import Answers, Batch, Learnable, Looks

LETTERS, DIGITS = tuple("abcdefgh"), tuple("01234567")
PAIRS = 4
HELD_OUT = 512


class Recall(Learnable):
    """The last letter is answered with the digit that followed it before."""

    title = "Associative recall"
    summary = (
        "Letters with a digit each, and one letter again. In layer 1 each digit looks at the letter before it; "
        "in layer 2 the last letter looks at the digit that followed it before."
    )
    question = "Which digit belongs to the last letter of “{sentence}”?"
    about = (
        f"This model was trained on random texts of {PAIRS} letters with a digit each, and one of these letters at the "
        "end."
    )
    layers = (
        "By the end of training each digit looks in this layer at the letter before it and notes it, so that layer 2 "
        "can find the digit by its letter.",
        "By the end of training the last letter looks at the digit that noted the same letter in layer 1.",
    )
    words_by_kind: ClassVar = {"letters": LETTERS, "digits": DIGITS}
    answers = DIGITS
    examples = (("e", "g 5 d 6 e 1 a 3 e"), ("d", "g 5 d 6 e 1 a 3 d"), ("e is 7 now", "g 5 d 6 e 7 a 3 e"))
    read = "last"
    kinds = None

    def right(self, tokens: Sequence[str]) -> Answers:
        *pairs, last = tokens or ("",)
        letters, digits = pairs[::2], pairs[1::2]
        is_text = len(letters) == len(digits) and set(letters) <= set(LETTERS) and set(digits) <= set(DIGITS)
        answer = digits[letters.index(last)] if is_text and letters.count(last) == 1 else None
        return (*[None] * len(pairs), answer)[: len(tokens)]

    def looks(self, tokens: Sequence[str]) -> Looks:
        if not any(self.right(tokens)):
            return ()
        letter = tokens.index(tokens[-1])
        return (letter + 1, letter), (len(tokens) - 1, letter + 1)

    def batch(self, random: np.random.RandomState, size: int) -> Batch:
        letters = random.random_sample((size, len(LETTERS))).argsort(axis=1)[:, :PAIRS]
        digits = random.randint(len(DIGITS), size=(size, PAIRS))
        asked_pair = random.randint(PAIRS, size=size)
        rows = np.arange(size)
        tokens = np.empty((size, 2 * PAIRS + 1), dtype=int)
        tokens[:, :-1:2], tokens[:, 1::2] = letters, len(LETTERS) + digits
        tokens[:, -1] = letters[rows, asked_pair]
        answers, is_target = np.zeros_like(tokens), np.zeros(tokens.shape, dtype=bool)
        answers[:, -1], is_target[:, -1] = digits[rows, asked_pair], True
        return Batch(tokens, answers, is_target)

    def held_out(self) -> Batch:
        return self.batch(stream("recall, held out", 0), HELD_OUT)

    def patterns(self, arrays: Mapping[str, np.ndarray], batch: Batch) -> dict[str, float]:
        first, second = (arrays[name].mean(axis=1) for name in ("attention_1", "attention_2"))
        digits = np.arange(1, 2 * PAIRS, 2)
        looked_up = 1 + 2 * (batch.tokens[:, :-1:2] == batch.tokens[:, -1:]).argmax(axis=1)
        return {
            "layer 1: attention on the letter before": float(first[:, digits, digits - 1].mean()),
            "layer 2: attention on the digit asked for": float(second[np.arange(len(looked_up)), -1, looked_up].mean()),
        }
