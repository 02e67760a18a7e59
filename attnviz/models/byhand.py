"""The model built by hand: what came after this letter, the last time? Every parameter is chosen, and none learnt.

A vector of 16 numbers is three blocks: which word it is, at which position it
stands, and which word came before it. Layer 1 fills the last block: a position
asks for the one before it. Layer 2 answers: a word asks who came after that
word, and copies it. All parameters are 0, 1, a cosine, a sine or one sharpness,
so large that every other share of attention is below the smallest float, and
the answer exactly one 1.
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from attnviz.core.parameters import Parameters
from attnviz.models.model import Model
from attnviz.models.task import Answers, Looks, Task

WORDS = ("^", "a", "b", "c", "d")
N_PLACES = 16
SHARPNESS = 2000.0  # exp(-745.2) is 0; layer 2 needs 745.2 * sqrt(5) = 1666.3, layer 1 about half of that
WAVES = 2 * np.pi * np.array([1, 3, 5]) / N_PLACES
"""The angle of each wave from one position to the next; together they tell 16 positions well apart."""

BLOCKS = {"word": slice(0, 5), "position": slice(5, 11), "previous word": slice(11, 16)}
"""The blocks of the 16 numbers of a vector."""

WORD, PLACE, PREVIOUS = BLOCKS.values()
D_MODEL = 16


def waves(places: np.ndarray) -> np.ndarray:
    """The cosine and sine of each wave at some places, (places, 6)."""
    turned = np.outer(places, WAVES)
    return np.stack([np.cos(turned), np.sin(turned)], axis=-1).reshape(len(places), -1)


def rotation(steps: int) -> np.ndarray:
    """The matrix (6, 6) that makes the waves of a place those of the place `steps` later: `waves(p) @ rotation(s)`."""
    turns = np.zeros((6, 6))
    for wave, angle in enumerate(WAVES * steps):
        pair = slice(2 * wave, 2 * wave + 2)
        turns[pair, pair] = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
    return turns


def reading(block: slice, matrix: np.ndarray) -> np.ndarray:
    """The matrix (16, columns) that reads one block of a vector, through `matrix`, and nothing else of it."""
    rows = np.zeros((D_MODEL, matrix.shape[-1]))
    rows[block] = matrix
    return rows


def previous_word() -> Parameters:
    """Layer 1: each place looks at the one before it, and takes its word over into the block of the previous word."""
    return Parameters(
        w_q=reading(PLACE, rotation(-1))[None],
        w_k=reading(PLACE, SHARPNESS * np.eye(6))[None],
        w_v=reading(WORD, np.eye(5))[None],
        w_o=reading(PREVIOUS, np.eye(5)).T,
    )


def following_word() -> Parameters:
    """Layer 2: each word looks at the place whose previous word is the same, and copies the word there."""
    return Parameters(
        w_q=reading(WORD, np.eye(5))[None],
        w_k=reading(PREVIOUS, SHARPNESS * np.eye(5))[None],
        w_v=reading(WORD, np.eye(5))[None],
        w_o=reading(WORD, np.eye(5)).T,
    )


def embedding() -> np.ndarray:
    """The vector (5, 16) of each word: a single 1, in its block."""
    return reading(WORD, np.eye(5)).T


def positions() -> np.ndarray:
    """The vector (16, 16) of each place: its waves, in its block."""
    return reading(PLACE, waves(np.arange(N_PLACES)).T).T


def unembedding() -> np.ndarray:
    """The matrix (16, 5) that reads the answer off the word's block, sharply."""
    return reading(WORD, SHARPNESS * np.eye(5))


class Following(Task):
    """The letter after the last one, where that came before exactly once."""

    title = "Built by hand"
    summary = (
        "Every parameter was chosen. Layer 1 notes the letter before each letter; layer 2 finds what followed the last "
        "letter."
    )
    question = "In “{sentence}”, what followed the last letter the time before?"
    about = (
        "No parameter of this model was learnt: each was chosen, so that the right answer has a probability of "
        "exactly 1."
    )
    layers = (
        "This layer is built so that each letter looks at the letter before it, and notes it.",
        "This layer is built so that the last letter finds the position that noted the same letter in layer 1.",
    )
    words_by_kind: ClassVar = {"begin of text": WORDS[:1], "letters": WORDS[1:]}
    answers = WORDS
    examples = (("b, after an a", "a b c a"), ("c, after a b", "a b c a b"), ("twice in a row", "b a a"))
    read = "last"
    begin = WORDS[0]
    unit = "letter"

    def right(self, tokens: Sequence[str]) -> Answers:
        *earlier, last = tokens
        answer = tokens[earlier.index(last) + 1] if earlier.count(last) == 1 else None
        return (*(None for _ in earlier), answer)

    def looks(self, tokens: Sequence[str]) -> Looks:
        if not any(self.right(tokens)):
            return ()
        before = tokens.index(tokens[-1])
        return (before + 1, before), (len(tokens) - 1, before + 1)


MODEL = Model(
    Following(),
    embedding=embedding(),
    layers=(previous_word(), following_word()),
    unembedding=unembedding(),
    positions=positions(),
    residual=(True, False),
    causal=True,
    kind="built",
)
"""Its output is exactly one 1 wherever its question has an answer."""
