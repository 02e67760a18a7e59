"""The induction model built by hand: its parameters, ideas for breaking it, and all short strings to try it on."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product

import numpy as np

from attnviz.core.changes import Change
from attnviz.core.parameters import Parameters
from attnviz.core.stage import Arrays
from attnviz.models.model import Model
from attnviz.models.task import Answers, Batch, Looks, Task, most_probable
from attnviz.models.training import forward_batch

WORDS = ("^", "a", "b", "c", "d")
N_PLACES = 16
SHARPNESS = 2000.0  # exp(-745.2) is 0; layer 2 needs 745.2 * sqrt(5) = 1666.3, layer 1 about half of that
WAVES = 2 * np.pi * np.array([1, 3, 5]) / N_PLACES
"""The angle of each wave per position; together they separate 16 positions well."""

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


class Following(Task):
    """The letter after the last one, where that came before exactly once."""

    title = "Built by hand"
    summary = (
        "Every parameter was chosen. Layer 1 notes the letter before each letter; layer 2 finds what followed the last "
        "letter."
    )
    question = "In “{sentence}”, what came after this letter last time?"
    about = (
        "No parameter of this model was learnt: each was chosen, so that the right answer has a probability of "
        "exactly 1."
    )
    layers = (
        "This layer is built so that each letter looks at the letter before it, and notes it.",
        "This layer is built so that the last letter finds the position that noted the same letter in layer 1.",
    )
    words_by_kind: Mapping[str, tuple[str, ...]] = {"begin of text": WORDS[:1], "letters": WORDS[1:]}
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
    embedding=reading(WORD, np.eye(5)).T,
    layers=(
        Parameters(  # each place looks at the one before it and copies its word into the block of the previous word
            w_q=reading(PLACE, rotation(-1))[None],
            w_k=reading(PLACE, SHARPNESS * np.eye(6))[None],
            w_v=reading(WORD, np.eye(5))[None],
            w_o=reading(PREVIOUS, np.eye(5)).T,
        ),
        Parameters(  # each word looks at the place whose previous word is the same, and copies the word there
            w_q=reading(WORD, np.eye(5))[None],
            w_k=reading(PREVIOUS, SHARPNESS * np.eye(5))[None],
            w_v=reading(WORD, np.eye(5))[None],
            w_o=reading(WORD, np.eye(5)).T,
        ),
    ),
    unembedding=reading(WORD, SHARPNESS * np.eye(5)),
    positions=reading(PLACE, waves(np.arange(N_PLACES)).T).T,
    residual=(True, False),
    causal=True,
    kind="built",
)
"""Its output is exactly one 1 wherever its question has an answer."""


@dataclass(frozen=True)
class Idea:
    """A change of some parameters, and what it shows."""

    title: str
    summary: str  # why some strings break, or why none does
    purposes: Mapping[str, str]  # the new purpose of each changed parameter
    changes: tuple[Change, ...]


def changes_setting(name: str, at: tuple[int | slice, ...], numbers: np.ndarray | float) -> tuple[Change, ...]:
    """The changes that set part of a parameter to `numbers`, one for each number that differs."""
    built = MODEL.arrays[name]
    changed = built.copy()
    changed[at] = numbers
    differ = map(tuple, np.argwhere(changed != built).tolist())
    return tuple(Change(name, index, float(changed[index]) + 0.0) for index in differ)  # + 0.0: no number is -0


def changed_parameters(changes: tuple[Change, ...]) -> Arrays:
    """The model's parameters with some numbers changed."""
    parameters = dict(MODEL.arrays)
    for change in changes:
        parameters[change.stage] = parameters[change.stage].copy()
        parameters[change.stage][change.index] = change.value
    return parameters


A, B, C = (MODEL.task.words.index(letter) for letter in "abc")

IDEAS = (
    Idea(
        "A sharpness of 5 instead of 2000, everywhere",
        "The right position still gets the most attention, but not all of it: in layer 2 as little as 55 %. The right "
        "letter still has the largest probability, but no output is exact, as only sharp attention makes it.",
        {
            "w_k_1": "Reads the position, times a sharpness of **5**: this is my position.",
            "w_k_2": "Reads the previous word, times a sharpness of **5**: I come after that word.",
            "w_u": "Reads the word, times a sharpness of **5**: its softmax leaks a little into the other answers.",
        },
        changes_setting("w_k_1", (0, PLACE), 5 * np.eye(6))
        + changes_setting("w_k_2", (0, PREVIOUS), 5 * np.eye(5))
        + changes_setting("w_u", (WORD,), 5 * np.eye(5)),
    ),
    Idea(
        "A sharpness of 2 in layer 2",
        "The right position still gets the largest share, but the other positions get the rest. In a long string one "
        "wrong letter can stand at so many of them that together they outvote the right position.",
        {"w_k_2": "Reads the previous word, times a sharpness of **2**: I come after that word."},
        changes_setting("w_k_2", (0, PREVIOUS), 2 * np.eye(5)),
    ),
    Idea(
        "No rotation in layer 1",
        "Each position asks for itself, not for the position before. So the block “previous word” holds the word "
        "itself, and the model repeats the last letter: right only where that letter came twice in a row.",
        {"w_q_1": "Reads the position, **and turns nothing**: I ask for my own position."},
        changes_setting("w_q_1", (0, PLACE), rotation(0)),
    ),
    Idea(
        "One wave instead of three",
        "Nothing breaks: one slow wave tells the positions apart. In layer 1 the right position gets all of the "
        "attention; the largest other share is 1e-27, where three waves leave exactly 0.",
        {"w_q_1": "Reads **one wave** of the position alone, turned back by one step: I ask for the one before mine."},
        changes_setting("w_q_1", (0, slice(PLACE.start + 2, PLACE.stop)), 0.0),
    ),
    Idea(
        "Layer 1 says b for a",
        "A position after an a now says that it comes after a b. A last letter a finds no such position and looks at "
        "all positions alike; a last letter b may find several.",
        {"w_v_1": "Reads the word, but **a as b**: this is what I pass on."},
        changes_setting("w_v_1", (0, A), np.eye(5)[B]),
    ),
    Idea(
        "Layer 1 does not pass on c",
        "A position after a c has an empty block “previous word”. A last letter c finds no such position and looks at "
        "all positions alike. The most frequent letter wins, which is right only by chance.",
        {"w_v_1": "Reads the word, **but not c**: this is what I pass on."},
        changes_setting("w_v_1", (0, C), 0.0),
    ),
)


LETTERS = "abc"
LENGTHS = range(2, 8)


@dataclass(frozen=True)
class Outcome:
    """The outcome for one string."""

    string: str
    right: str  # the letter that followed the last letter's earlier occurrence
    answered: tuple[str, ...]  # the most probable words; several if tied
    probability: float  # of the right answer
    is_exact: bool  # whether output and probabilities are exactly one 1, at the right answer, and otherwise 0

    @property
    def is_right(self) -> bool:
        """Whether the right answer alone has the largest probability."""
        return self.answered == (self.right,)


@cache
def strings_of_length(length: int) -> tuple[str, ...]:
    """The strings of that length whose last letter came before exactly once."""
    strings = map("".join, product(LETTERS, repeat=length))
    return tuple(string for string in strings if string[:-1].count(string[-1]) == 1)


@lru_cache(maxsize=64)
def outcomes(changes: tuple[Change, ...]) -> tuple[Outcome, ...]:
    """The outcome for all strings, shortest first, with some of the model's parameters changed."""
    parameters = changed_parameters(changes)
    return tuple(each for length in LENGTHS for each in _tried(length, parameters))


def _tried(length: int, parameters: Arrays) -> Iterator[Outcome]:
    """The strings of that length, as one batch through the operations of a pass."""
    strings, batch, answers = strings_of_length(length), _batch(length), MODEL.task.answers
    with np.errstate(over="ignore", invalid="ignore"):  # a number beyond float64 is no answer
        arrays = forward_batch(MODEL.trace(strings[0]).stages, parameters, batch)
    right = batch.answers[:, -1]
    one = MODEL.embedding[right]
    outputs, probabilities = arrays["output_2"][:, -1], arrays["probabilities"][:, -1]
    exact = (outputs == one).all(axis=-1) & (probabilities == one[:, WORD]).all(axis=-1)
    largest = most_probable(probabilities)
    for n, string in enumerate(strings):
        answered = tuple(answers[place] for place in np.flatnonzero(largest[n]))
        yield Outcome(string, answers[right[n]], answered, float(probabilities[n, right[n]]), bool(exact[n]))


@cache
def _batch(length: int) -> Batch:
    """The strings of that length as a batch, with targets at their last letters."""
    texts = [MODEL.tokens(string) for string in strings_of_length(length)]
    tokens = np.array([[MODEL.task.words.index(token) for token in tokens] for tokens in texts])
    answers, is_target = np.zeros_like(tokens), np.zeros(tokens.shape, dtype=bool)
    answers[:, -1] = [MODEL.task.answers.index(MODEL.task.right(tokens)[-1]) for tokens in texts]
    is_target[:, -1] = True
    return Batch(tokens, answers, is_target)
