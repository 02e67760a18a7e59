"""Two toy tasks: the digit that followed a letter before (recall), and the word that “it” refers to (reference)."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import product

import numpy as np

from attnviz.core.rng import stream
from attnviz.models.task import Answers, Batch, Learnable, Looks

LETTERS, DIGITS = tuple("abcdefgh"), tuple("01234567")
PAIRS = 4
HELD_OUT = 512


class Recall(Learnable):
    """The digit that followed the last letter earlier in the text."""

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
    words_by_kind: Mapping[str, tuple[str, ...]] = {"letters": LETTERS, "digits": DIGITS}
    answers = DIGITS
    examples = (("e", "g 5 d 6 e 1 a 3 e"), ("d", "g 5 d 6 e 1 a 3 d"), ("e is 7 now", "g 5 d 6 e 7 a 3 e"))
    read = "last"

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


ANIMALS = ("animal", "dog", "cat", "horse", "child", "cow")
PLACES = ("street", "road", "river", "bridge", "field", "path")
OF_ANIMALS = ("tired", "sleepy", "scared", "lazy", "hungry")
OF_PLACES = ("wide", "long", "deep", "narrow", "busy")
ANIMAL_FIRST = "the {animal} did not cross the {place} because it was too {adjective}"
PLACE_FIRST = "the {place} did not stop the {animal} because it was too {adjective}"
AT_FIRST_NOUN, AT_SECOND_NOUN, AT_IT, AT_LAST = 1, 6, 8, 11
N_TOKENS = AT_LAST + 1
N_TEXTS = 2 * len(ANIMALS) * len(PLACES) * len(OF_ANIMALS + OF_PLACES)


class Reference(Learnable):
    """Which noun of a sentence "it" refers to.

    With `at_it` the answer is read at "it", not at the last word, the adjective. With `first_nouns` the texts are only
    those in which "it" is the first noun.
    """

    words_by_kind: Mapping[str, tuple[str, ...]] = {
        "animals": ANIMALS,
        "places": PLACES,
        "what animals are": OF_ANIMALS,
        "what places are": OF_PLACES,
        "other words": ("the", "did", "not", "cross", "stop", "because", "it", "was", "too"),
    }
    answers = ANIMALS + PLACES
    examples = (
        ("tired", "the animal did not cross the street because it was too tired"),
        ("wide", "the animal did not cross the street because it was too wide"),
        ("street first, narrow", "the street did not stop the animal because it was too narrow"),
        ("street first, scared", "the street did not stop the animal because it was too scared"),
    )

    def __init__(
        self, title: str, summary: str, question: str, about: str, *, at_it: bool = False, first_nouns: bool = False
    ):
        self.title, self.summary, self.question, self.about = title, summary, question, about
        self.at_it, self.first_nouns = at_it, first_nouns
        self.read = "each" if at_it else "last"  # with `each` only "it" has a right answer
        if not at_it and not first_nouns:  # scores are then the same in every text, and the adjective is the query
            self.kinds = ("what animals are", "what places are"), ("animals", "places")

    def right(self, tokens: Sequence[str]) -> Answers:
        """The noun that the adjective fits, in whatever order the words are: of an animal, a place, an adjective."""
        answers: list[str | None] = [None] * len(tokens)
        animals, places, adjectives = (
            [token for token in tokens if token in kind] for kind in (ANIMALS, PLACES, OF_ANIMALS + OF_PLACES)
        )
        if len(animals) == len(places) == len(adjectives) == 1:
            noun = (animals if adjectives[0] in OF_ANIMALS else places)[0]
            if self.at_it and tokens.count("it") == 1:
                answers[tokens.index("it")] = noun
            elif not self.at_it and tokens[-1] == adjectives[0]:
                answers[-1] = noun
        return tuple(answers)

    def batch(self, random: np.random.RandomState, size: int) -> Batch:
        return self._texts.picked(random.randint(len(self._texts.tokens) // 2, size=size))

    def held_out(self) -> Batch:
        return self._texts.picked(slice(len(self._texts.tokens) // 2, None))

    def second_nouns(self) -> Batch:
        """All texts in which "it" is the second noun."""
        return self._of([text for text in _all_texts() if not _is_first(text)])

    @cached_property
    def _texts(self) -> Batch:
        """All texts that there are to train with, and then as many that are held out."""
        texts = self._of([text for text in _all_texts() if _is_first(text) or not self.first_nouns])
        return texts.picked(stream("who is it", 0).permutation(len(texts.tokens)))

    def _of(self, texts: Sequence[Sequence[str]]) -> Batch:
        words, at = self.words, AT_IT if self.at_it else AT_LAST
        tokens = np.array([[words.index(token) for token in text] for text in texts])
        answers, is_target = np.zeros_like(tokens), np.zeros(tokens.shape, dtype=bool)
        answers[:, at] = [self.answers.index(self.right(text)[at]) for text in texts]
        is_target[:, at] = True
        return Batch(tokens, answers, is_target)

    def patterns(self, arrays: Mapping[str, np.ndarray], batch: Batch) -> dict[str, float]:
        at = AT_IT if self.at_it else AT_LAST
        first, second = (arrays["attention"][:, :, at, place].mean(axis=1) for place in (AT_FIRST_NOUN, AT_SECOND_NOUN))
        nouns = np.array(self.words)[batch.tokens[:, AT_FIRST_NOUN]]
        is_first = nouns == np.array(self.answers)[batch.answers[:, at]]
        return {
            "attention on the right noun": float(np.where(is_first, first, second).mean()),
            "attention on the other noun": float(np.where(is_first, second, first).mean()),
        }


def _all_texts() -> list[list[str]]:
    """All sentences, as words."""
    return [
        form.format(animal=animal, place=place, adjective=adjective).split()
        for form, animal, place, adjective in product(
            (ANIMAL_FIRST, PLACE_FIRST), ANIMALS, PLACES, OF_ANIMALS + OF_PLACES
        )
    ]


def _is_first(text: Sequence[str]) -> bool:
    """Whether "it" is the first noun."""
    return (text[AT_FIRST_NOUN] in ANIMALS) == (text[AT_LAST] in OF_ANIMALS)
