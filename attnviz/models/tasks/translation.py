"""Translation: English sentences of a small grammar into French, word by word."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from typing import Protocol

import numpy as np

from attnviz.core.rng import stream
from attnviz.core.tokens import clean, tokenize
from attnviz.models.task import Answers, Learnable, PairBatch, Task
from attnviz.models.tasks.grammar import Sentence, Written, drawn, read, translations
from attnviz.models.tasks.lexicon import (
    ADJECTIVES,
    BE,
    DETERMINERS,
    NOUNS,
    OBJECT_PRONOUNS,
    OTHER_ENGLISH,
    OTHER_FRENCH,
    PRONOUNS,
    VERBS,
)

BEGIN, END = "<begin>", "<end>"

N_PLACES = 14
"""The most words of a text in either language, with the one that ends it or begins it."""

N_TRAINING, N_HELD_OUT = 20_000, 1_000

HELD_OUT_PAIRS = {
    "noun and adjective": (1, 0),
    "noun and predicate": (1, 1),
    "subject and verb": (1, 2),
    "verb and object": (2, 4),
    "subject and object": (3, 3),
    "two subjects": (2, 1),
    "two adjectives": (3, 2),
}
"""Of each kind of pair a fifth is never trained on: those with (first + a second) % 5 = b, for these a and b."""


LEFT_OUT = (".", "!", ",", ";", ":", "…", '"', "“", "”")
MOST_QUOTED = 14  # words of a note
_ENDINGS = {"n't": "not", "'s": "is", "'re": "are"}


class TypedEnglish(Task, Protocol):
    """A task that reads English as it is typed."""

    def split(self, text: str) -> tuple[str, ...]:
        """The words of a text, in small letters: "Doesn't it sleep." is "does", "not", "it", "sleep"."""
        return tuple(part for _, parts in self._read(text) for part in parts)

    def notes(self, text: str) -> tuple[str, ...]:
        """A note on text that is read otherwise than it was typed."""
        read = list(self._read(text))
        ways = {
            "in small letters": any(token != token.lower() for token, _ in read),
            "short forms in full": any(len(parts) > 1 for _, parts in read),
            "without punctuation marks": any(not parts for _, parts in read),
        }
        how, words = [way for way, is_so in ways.items() if is_so], self.split(text)
        shown = " ".join(words[:MOST_QUOTED]) + "…" * (len(words) > MOST_QUOTED)
        return (f"This is read as “{shown}”: {', '.join(how)}.",) if how and words else ()

    def _read(self, text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Each token as it was typed, with the words that it is read as."""
        for token in tokenize(text):
            word = token.lower()
            yield token, () if word in LEFT_OUT else (word,) if word in self.words else self._parts_of(word)

    def _parts_of(self, word: str) -> tuple[str, ...]:
        """A short form in full, if both of its words are known."""
        plain = word.replace("’", "'")
        for ending, whole in _ENDINGS.items():
            stem = plain.removesuffix(ending)
            if stem != plain and stem in self.words and whole in self.words:
                return stem, whole
        return (word,)


_INDEX = {each: at for lexicon in (NOUNS, ADJECTIVES, VERBS) for at, each in enumerate(lexicon)}


def pairs(sentence: Sentence) -> Iterator[tuple[str, int, int]]:
    """The pairs of words of a sentence: their kind, and the indices of both in the lexicon."""
    for phrase in sentence.phrases:
        noun = _INDEX[phrase.noun]
        adjectives = [_INDEX[adjective] for adjective, _ in phrase.adjectives]
        yield from (("noun and adjective", noun, adjective) for adjective in adjectives)
        yield from (("two adjectives", *two) for two in pairwise(adjectives))
    subjects = [_INDEX[phrase.noun] for phrase in sentence.subjects]
    yield from (("two subjects", *two) for two in pairwise(subjects))
    if sentence.predicate:
        yield from (("noun and predicate", noun, _INDEX[sentence.predicate[0]]) for noun in subjects)
    if sentence.because:
        said = _INDEX[sentence.because.adjective]
        yield from (("noun and predicate", _INDEX[each.noun], said) for each in sentence.because.referents)
    if sentence.verb:
        verb = _INDEX[sentence.verb]
        yield from (("subject and verb", noun, verb) for noun in subjects)
        if sentence.object:
            other = _INDEX[sentence.object.noun]
            yield "verb and object", verb, other
            yield from (("subject and object", noun, other) for noun in subjects)


def is_combination(sentence: Sentence) -> bool:
    """Whether it has a pair of words that never occur together in training."""
    return any(
        (first + by * second) % 5 == rest
        for kind, first, second in pairs(sentence)
        for by, rest in (HELD_OUT_PAIRS[kind],)
    )


def is_held_out_sentence(words: Sequence[str]) -> bool:
    """Whether it is one of the fifth of sentences that are never trained on, whatever their words."""
    return hashlib.blake2b(" ".join(words).encode(), digest_size=4).digest()[0] % 5 == 0


def _unique(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in words if word))


def _nouns(language: str) -> dict[str, tuple[str, ...]]:
    """The forms of all nouns of a language by kind."""
    kinds = dict.fromkeys(noun.kind for noun in NOUNS)
    return {
        kind: tuple(chain.from_iterable(getattr(noun, language) for noun in NOUNS if noun.kind == kind))
        for kind in kinds
    }


ENGLISH: Mapping[str, tuple[str, ...]] = _nouns("english") | {
    "adjectives": tuple(each.english for each in ADJECTIVES),
    "verbs": _unique(word for verb in VERBS for form in verb.english for word in form.split()),
    "articles": tuple(DETERMINERS),
    "pronouns": (*PRONOUNS, *OBJECT_PRONOUNS),
    "other words": (*BE, *OTHER_ENGLISH),
}
"""All English words by kind."""

FRENCH: Mapping[str, tuple[str, ...]] = _nouns("french") | {
    "adjectives": _unique(chain.from_iterable(each.french for each in ADJECTIVES)),
    "verbs": tuple(chain.from_iterable(verb.french for verb in VERBS)),
    "articles": _unique(chain(*DETERMINERS.values(), ["de"])),
    "pronouns": tuple(chain.from_iterable(PRONOUNS.values())),
    "other words": (*BE.values(), *OTHER_FRENCH),
}
"""All French words by kind; the object pronouns are among the articles."""


class Translation(TypedEnglish, Learnable):
    """The French translation of an English sentence."""

    title = "Translator"
    summary = (
        "An encoder and a decoder of 8,656 numbers turn English into French: each French word reads the English one "
        "that it translates, wherever that stands."
    )
    question = "What is “{sentence}” in French?"
    about = (
        "This model learnt from 20,000 sentences of a small grammar with 84 English words. Ten such "
        "models were trained: in this one, “il” and “elle” depend most on what “it” stands for."
    )
    layers = (
        "English words look at each other: an article and an adjective learn the gender of their noun, and “it” what "
        "it stands for.",
        "French words look back at those written so far: an adjective far from its noun learns which gender was "
        "chosen.",
        "Each French word looks at the English word that is due next, and so finds what to write.",
    )
    layer_titles = ("English looks at English", "French so far", "French reads English")
    sides = (("English", "English"), ("French", "French"), ("French", "English"))
    words_by_kind = ENGLISH
    french_by_kind = FRENCH
    answers = (*chain.from_iterable(FRENCH.values()), END)
    examples = (
        ("small and black", "the small black cat does not sleep"),
        ("too tired", "the cat does not cross the street because it is too tired"),
        ("too wide", "the cat does not cross the street because it is too wide"),
        ("looking for them", "this dog does not look for them"),
        ("two subjects", "the cat and the cow are black"),
        ("he or she", "the judge is not tired"),
    )
    read = "last"
    is_open = True
    measured = "held-out sentences"

    @cached_property
    def english(self) -> tuple[str, ...]:
        """All words that the encoder reads."""
        return (*self.words, END)

    @cached_property
    def french(self) -> tuple[str, ...]:
        """All words that the decoder reads."""
        return (BEGIN, *self.answers[:-1])

    def english_rows(self, words: Iterable[str]) -> tuple[int, ...]:
        """The rows of English words in their embedding matrix."""
        return tuple(self._places[0][word] for word in words)

    def french_rows(self, words: Iterable[str]) -> tuple[int, ...]:
        """The rows of French words in theirs; that of an answer is its place among the answers, and 1 more."""
        return tuple(self._places[1][word] for word in words)

    @cached_property
    def _places(self) -> tuple[dict[str, int], ...]:
        return tuple({word: at for at, word in enumerate(words)} for words in (self.english, self.french))

    def split_french(self, text: str) -> tuple[str, ...]:
        """The words of a French text, in small letters: "n'est" is two."""
        return tuple(clean(text).lower().replace("'", "’").replace("’", "’ ").split())

    def french_text(self, words: Iterable[str]) -> str:
        """French words as one reads them, without what begins and ends them."""
        return " ".join(word for word in words if word not in (BEGIN, END)).replace("’ ", "’")

    def right(self, tokens: Sequence[str]) -> Answers:
        """Nothing: a French text alone has no right answer."""
        return (None,) * len(tokens)

    def translations(self, english: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """All right translations, each with its end; none where the grammar doesn't have the sentence."""
        return tuple((*(word for word, _ in each), END) for each in translations(english))

    def batch(self, random: np.random.RandomState, size: int) -> PairBatch:
        return self._training.picked(random.randint(N_TRAINING, size=size))

    def held_out(self) -> PairBatch:
        """Sentences with pairs of words that never stand together in training."""
        return self._combinations

    @cached_property
    def _combinations(self) -> PairBatch:
        return self.batch_of(sample("combinations", N_HELD_OUT), asks_choices=False)

    @cached_property
    def _training(self) -> PairBatch:
        return self.batch_of(sample("training", N_TRAINING), asks_choices=True)

    def batch_of(self, pairs: Sequence[tuple[Sequence[str], Sequence[Written]]], *, asks_choices: bool) -> PairBatch:
        """Pairs of sentences.

        Where the English leaves the gender open, the first French word that shows it is a target only with
        `asks_choices`.
        """
        source, tokens, answers = np.zeros((3, len(pairs), N_PLACES), dtype=int)
        is_source, is_target = np.zeros((2, len(pairs), N_PLACES), dtype=bool)
        translates = np.zeros((len(pairs), N_PLACES, N_PLACES), dtype=bool)
        for row, (words, written) in enumerate(pairs):
            n_source, n = len(words) + 1, len(written)
            source[row, :n_source], is_source[row, :n_source] = self.english_rows((*words, END)), True
            tokens[row, 1 : n + 1] = self.french_rows(word for word, _ in written)
            answers[row, : n + 1] = (*(tokens[row, 1 : n + 1] - 1), len(self.answers) - 1)
            is_target[row, : n + 1] = [asks_choices or not each for each in self._choices(words, written)]
            for at, (_, places) in enumerate(written):
                translates[row, at, list(places)] = True
        return PairBatch(source, is_source, tokens, answers, is_target, translates).picked(slice(None))

    def _choices(self, english: Sequence[str], written: Sequence[Written]) -> list[bool]:
        """For each word of a translation, and for its end, whether another right translation continues differently."""
        words = (*(word for word, _ in written), END)
        others = self.translations(english)
        if len(others) == 1:
            return [False] * len(words)
        return [any(each[:n] == words[:n] and each[n] != word for each in others) for n, word in enumerate(words)]

    def patterns(self, arrays: Mapping[str, np.ndarray], batch: PairBatch) -> dict[str, float]:
        attention, translates = arrays["attention_3"].mean(axis=1), batch.translates
        shares, is_word = (attention * translates).sum(axis=-1), np.asarray(translates.any(axis=-1))
        first = np.where(is_word, translates.argmax(axis=-1), np.arange(translates.shape[1]))
        order = np.arange(first.shape[1])
        crosses: np.ndarray = (first[:, :, None] - first[:, None]) * (order[:, None] - order) < 0
        moves = (crosses & is_word[:, None]).any(axis=-1) & is_word
        return {
            "attention on the English words that are translated": float(shares[is_word].mean()),
            "the same, where words change places": float(shares[moves].mean()),
        }


@lru_cache(maxsize=2)  # the held-out ones, which several figures are of
def sample(which: str, count: int) -> tuple[tuple[tuple[str, ...], tuple[Written, ...]], ...]:
    """Distinct pairs of an English sentence and a right translation, drawn at random.

    "training"; "combinations", which have a pair of words that is never trained on; or "sentences", of which only the
    whole is new.
    """
    random = stream(f"translation, {which}", 0)
    found: dict[tuple[str, ...], tuple[Written, ...]] = {}
    while len(found) < count:
        words = drawn(random)
        if words in found or _part(words) != which:
            continue
        right = translations(words)
        found[words] = right[random.randint(len(right))]
    return tuple(found.items())


def _part(words: Sequence[str]) -> str:
    sentence = read(words)
    assert sentence is not None
    if is_combination(sentence):
        return "combinations"
    return "sentences" if is_held_out_sentence(words) else "training"
