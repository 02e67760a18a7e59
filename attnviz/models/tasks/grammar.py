"""Grammar: the English sentences that the translator is trained on, and their French translations by rule.

The rules, each with where it is written down (BDL is the Banque de dépannage linguistique of the Office québécois de la
langue française, vitrinelinguistique.oqlf.gouv.qc.ca, by the number of its article):

- A size stands before its noun, a colour after it: Clefs du français pratique, "adjectif (place de l'adjectif avec un
  nom)"; Grevisse and Goosse, Le bon usage (2008), sections 325 to 332.
- With two subjects verb and adjective are plural, and the adjective is masculine unless both nouns are feminine:
  BDL 23997, "Accord de l'adjectif se rapportant à un doublet"; Alloprof, f1256.
- A noun of both genders shows its gender in the article or the adjective: BDL 23936, "Appellations de personnes
  épicènes". Its plural is masculine here, the unmarked gender: Académie française, "La féminisation des noms de
  métiers, fonctions, grades ou titres" (2014).
- "ne" stands before the verb and its pronoun, "pas" after it, and an object pronoun right before the verb: Grammaire du
  français pour finnophones, "Place et ordre des pronoms faibles" (grec.methodal.net).
- "a" becomes "de" at the object of a negated verb: BDL 23514, "De dans une phrase négative".
- "ne" becomes "n’" before "est": BDL, "Élisions obligatoires". No other word is elided here, as all that follow an
  article, a pronoun or "ne" begin with consonants; and "because" is "car", not "parce que".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from attnviz.models.tasks.lexicon import (
    ADJECTIVES,
    BE,
    DETERMINERS,
    LIVING,
    NOUNS,
    OBJECT_PRONOUNS,
    PRONOUNS,
    VERBS,
    Adjective,
    Noun,
    Verb,
)

NOUN_OF = {word: (noun, many) for noun in NOUNS for many, word in enumerate(noun.english)}
ADJECTIVE_OF = {adjective.english: adjective for adjective in ADJECTIVES}
VERB_OF = {form.split()[0]: (verb, third) for verb in VERBS for third, form in enumerate(verb.english)}

MASCULINE, FEMININE = "m", "f"


class Written(NamedTuple):
    """A French word, and the places of the English words that it translates."""

    word: str
    places: tuple[int, ...]


@dataclass(frozen=True)
class Phrase:
    """A noun with its determiner and adjectives, each with its place in the sentence."""

    determiner: tuple[str, int]
    adjectives: tuple[tuple[Adjective, int], ...]
    noun: Noun
    is_plural: bool
    place: int  # of the noun

    @property
    def genders(self) -> str:
        """The genders that its French noun can have here."""
        return self.noun.genders[0] if self.is_plural else self.noun.genders

    def french(self, gender: str, *, is_negated_object: bool = False) -> list[Written]:
        """Its French words."""
        form = 2 * self.is_plural + (gender == FEMININE)
        article, at = self.determiner
        becomes_de = article == "a" and is_negated_object
        adjectives = [(each.is_before, Written(each.french[form], (where,))) for each, where in self.adjectives]
        return [
            Written("de" if becomes_de else DETERMINERS[article][form], (at,)),
            *(word for is_before, word in adjectives if is_before),
            Written(self.noun.french[self.is_plural], (self.place,)),
            *(word for is_before, word in adjectives if not is_before),
        ]


@dataclass(frozen=True)
class Because:
    """The second clause: "because it is too wide"."""

    place: int  # of "because"; the others follow
    pronoun: str
    be: str
    adjective: Adjective
    referents: tuple[Phrase, ...]  # what the pronoun stands for: one phrase, or the two of the subject


@dataclass(frozen=True)
class Sentence:
    """An English sentence of the grammar, read."""

    subjects: tuple[Phrase, ...]  # one, or two with "and"
    is_plural: bool
    negation: tuple[int, ...]  # the places of "does not", or of "not"
    at_verb: tuple[int, ...]  # the places of the verb's words
    verb: Verb | None = None  # none with "is" and "are"
    object: Phrase | None = None
    pronoun: tuple[str, int] | None = None
    at_too: int | None = None
    predicate: tuple[Adjective, int] | None = None
    because: Because | None = None

    @property
    def phrases(self) -> tuple[Phrase, ...]:
        """All nouns, in order."""
        return self.subjects + (() if self.object is None else (self.object,))

    def french(self, genders: Sequence[str]) -> tuple[Written, ...]:
        """Its French translation, given the gender of each of its nouns."""
        of = dict(zip(map(id, self.phrases), genders, strict=True))
        first, *second = (phrase.french(of[id(phrase)]) for phrase in self.subjects)
        written = first
        if second:
            written = [*first, Written("et", (self.subjects[1].determiner[1] - 1,)), *second[0]]
        written += self._verb(agreeing(of[id(phrase)] for phrase in self.subjects))
        if self.object:
            written += self.object.french(of[id(self.object)], is_negated_object=bool(self.negation))
        if self.because:
            written += _reason(self.because, agreeing(of[id(phrase)] for phrase in self.because.referents))
        return tuple(written)

    def _verb(self, gender: str) -> Iterator[Written]:
        """The verb, or "est" and what follows it, between the parts of the negation."""
        is_be = self.verb is None
        if self.negation:
            yield Written("n’" if is_be and not self.is_plural else "ne", self.negation)
        if self.pronoun:
            word, place = self.pronoun
            yield Written(OBJECT_PRONOUNS[word], (place,))
        form = (tuple(BE.values()) if self.verb is None else self.verb.french)[self.is_plural]
        yield Written(form, self.at_verb)
        if self.negation:
            yield Written("pas", self.negation)
        if self.at_too is not None:
            yield Written("trop", (self.at_too,))
        if self.predicate:
            adjective, place = self.predicate
            yield Written(adjective.french[2 * self.is_plural + (gender == FEMININE)], (place,))


def agreeing(genders: Iterator[str]) -> str:
    """The gender of what is said of one noun or several: feminine if all are."""
    return FEMININE if set(genders) == {FEMININE} else MASCULINE


def _reason(because: Because, gender: str) -> list[Written]:
    many, feminine = because.pronoun == "they", gender == FEMININE
    words = ("car", PRONOUNS[because.pronoun][feminine], BE[because.be], "trop")
    adjective = because.adjective.french[2 * many + feminine]
    return [Written(word, (because.place + n,)) for n, word in enumerate((*words, adjective))]


def translations(english: Sequence[str]) -> tuple[tuple[Written, ...], ...]:
    """All right French translations of an English sentence; none if the grammar doesn't have it.

    There are several where a noun has both genders; its plural is masculine, the gender of a group that may be mixed.

    >>> [" ".join(word for word, _ in each) for each in translations("the judge is tired".split())]
    ['le juge est fatigué', 'la juge est fatiguée']
    """
    sentence = read(english)
    if sentence is None:
        return ()
    found = (sentence.french(genders) for genders in product(*(phrase.genders for phrase in sentence.phrases)))
    return tuple({tuple(word for word, _ in each): each for each in found}.values())


def read(english: Sequence[str]) -> Sentence | None:
    """An English sentence with its parts found; None if the grammar doesn't have it."""
    try:
        return _Reader(english).sentence()
    except _NoSentenceError:
        return None


class _NoSentenceError(Exception):
    """The words are no sentence of the grammar."""


class _Reader:
    """Reads an English sentence from left to right."""

    def __init__(self, words: Sequence[str]):
        self.words, self.at = tuple(words), 0

    @property
    def next(self) -> str:
        return self.words[self.at] if self.at < len(self.words) else ""

    def take(self, *allowed: str) -> str:
        """The next word, which must be one of these."""
        word = self.next
        _must(word in allowed)
        self.at += 1
        return word

    def sentence(self) -> Sentence:
        subjects = [self.phrase()]
        if self.next == "and":
            self.take("and")
            subjects.append(self.phrase())
        many = len(subjects) > 1 or subjects[0].is_plural
        found = self.of_be(tuple(subjects), many) if self.next in BE else self.of_verb(tuple(subjects), many)
        _must(self.at == len(self.words))
        return found

    def phrase(self) -> Phrase:
        at = self.at
        determiner, adjectives = self.take(*DETERMINERS), []
        while self.next in ADJECTIVE_OF:
            adjectives.append((ADJECTIVE_OF[self.take(*ADJECTIVE_OF)], self.at - 1))
        noun, many = NOUN_OF[self.take(*NOUN_OF)]
        _must(bool(DETERMINERS[determiner][2 * many]))
        befores = [each.is_before for each, _ in adjectives]
        _must(befores in ([], [True], [False], [True, False]))
        return Phrase((determiner, at), tuple(adjectives), noun, bool(many), self.at - 1)

    def of_be(self, subjects: tuple[Phrase, ...], many: bool) -> Sentence:
        at_be = (self.at,)
        self.take("are" if many else "is")
        negation = self.optional("not")
        at_too = self.optional("too")
        adjective = ADJECTIVE_OF[self.take(*ADJECTIVE_OF)]
        predicate = adjective, self.at - 1
        return Sentence(subjects, many, negation, at_be, at_too=at_too[0] if at_too else None, predicate=predicate)

    def optional(self, word: str) -> tuple[int, ...]:
        """The place of a word, if it comes next."""
        if self.next != word:
            return ()
        self.take(word)
        return (self.at - 1,)

    def of_verb(self, subjects: tuple[Phrase, ...], many: bool) -> Sentence:
        negation: tuple[int, ...] = ()
        if self.next in ("do", "does"):
            negation = (self.at, self.at + 1)
            self.take("do" if many else "does")
            self.take("not")
        start = self.at
        verb, third = VERB_OF[self.take(*VERB_OF)]
        _must(third == (not many and not negation))
        for particle in verb.particle:
            self.take(particle)
        found = Sentence(subjects, many, negation, tuple(range(start, self.at)), verb)
        if not verb.takes:
            return found
        if self.next in OBJECT_PRONOUNS:
            pronoun = self.take(*OBJECT_PRONOUNS), self.at - 1
            return Sentence(subjects, many, negation, found.at_verb, verb, pronoun=pronoun)
        other = self.phrase()
        because = self.because((subjects, (other,))) if self.next == "because" else None
        return Sentence(subjects, many, negation, found.at_verb, verb, other, because=because)

    def because(self, candidates: tuple[tuple[Phrase, ...], ...]) -> Because:
        """The reason; its pronoun must fit one of the subject and the object."""
        place = self.at
        self.take("because")
        pronoun = self.take(*PRONOUNS)
        be = self.take("are" if pronoun == "they" else "is")
        self.take("too")
        adjective = ADJECTIVE_OF[self.take(*ADJECTIVE_OF)]
        fitting = [each for each in candidates if _is_said_of(adjective, pronoun, each)]
        _must(len(fitting) == 1)
        return Because(place, pronoun, be, adjective, fitting[0])


def _must(holds: bool) -> None:
    if not holds:
        raise _NoSentenceError


def _is_said_of(adjective: Adjective, pronoun: str, phrases: tuple[Phrase, ...]) -> bool:
    many = len(phrases) > 1 or phrases[0].is_plural
    fits = all(phrase.noun.kind in adjective.fits for phrase in phrases)
    return fits and many == (pronoun == "they") and (many or phrases[0].noun.kind != "people")


def _is_reason(adjective: Adjective) -> bool:
    """Whether it can be said of animals alone, or of places alone, so that it tells what "it" stands for."""
    return adjective.has_degree and ("animals" in adjective.fits) != ("places" in adjective.fits)


PARTS = {"verb": 0.09, "object": 0.22, "pronoun": 0.08, "be": 0.27, "because": 0.34}
"""The kinds of sentences, and how often each is drawn."""

BE_SUBJECTS = ("people",), ("animals", "people"), ("places", "things")
"""The kinds of nouns of which something is said, each as often: people more, as their gender is not in the English."""

TWO_SUBJECTS = 0.3
NEGATED = 0.45
LONGEST = 13
"""The most English words of a sentence."""


def drawn(random: np.random.RandomState) -> tuple[str, ...]:
    """An English sentence, drawn at random."""
    while True:
        words = _Drawing(random).sentence()
        if len(words) <= LONGEST:
            return tuple(words)


class _Drawing:
    """Draws an English sentence, part by part."""

    def __init__(self, random: np.random.RandomState):
        self.random = random

    def one(self, of: Sequence):
        return of[self.random.randint(len(of))]

    def happens(self, share: float) -> bool:
        return self.random.random_sample() < share

    def sentence(self) -> list[str]:
        kind = tuple(PARTS)[int(np.searchsorted(np.cumsum(tuple(PARTS.values())), self.random.random_sample()))]
        return self.of_because() if kind == "because" else self.of_be() if kind == "be" else self.of_verb(kind)

    def nouns(self, *kinds: str) -> list[Noun]:
        return [noun for noun in NOUNS if noun.kind in kinds]

    def phrase(self, noun: Noun, many: bool, *, n_adjectives: int = 2, has_a: bool = True) -> list[str]:
        """A phrase with at most so many adjectives, of size and of colour."""
        determiners = [word for word, forms in DETERMINERS.items() if forms[2 * many] and (has_a or word != "a")]
        fitting = [each for each in ADJECTIVES if noun.kind in each.fits and not _is_reason(each)]
        sizes = [each.english for each in fitting if each.is_before]
        others = [each.english for each in fitting if not each.is_before]
        adjectives = []
        if n_adjectives and self.happens(0.5):
            adjectives.append(self.one(sizes))
        if n_adjectives > len(adjectives) and others and self.happens(0.5):
            adjectives.append(self.one(others))
        return [self.one(determiners), *adjectives, noun.english[many]]

    def subjects(self, nouns: Sequence[Noun], *, n_adjectives: int = 2) -> tuple[list[str], bool, list[Noun]]:
        """One subject or two, whether the verb is plural, and the nouns."""
        noun, many = self.one(nouns), self.happens(0.5)
        if not self.happens(TWO_SUBJECTS):
            return self.phrase(noun, many, n_adjectives=n_adjectives), many, [noun]
        is_person = noun.kind == "people"
        alike = [each for each in NOUNS if (each.kind in LIVING) == (noun.kind in LIVING)]
        other = self.one([each for each in alike if each != noun and not (is_person and each.kind == "people")])
        n_each = min(n_adjectives, 1)
        many = self.happens(0.25)
        both = [self.phrase(each, many, n_adjectives=n_each) for each in (noun, other)]
        return [*both[0], "and", *both[1]], True, [noun, other]

    def verb(self, verb: Verb, many: bool) -> list[str]:
        if self.happens(NEGATED):
            return ["do" if many else "does", "not", *verb.english[0].split()]
        return verb.english[not many].split()

    def of_verb(self, kind: str) -> list[str]:
        verbs = [verb for verb in VERBS if bool(verb.takes) != (kind == "verb")]
        if kind == "pronoun":
            verbs = [verb for verb in verbs if len(verb.takes) > 2]
        if kind == "object":
            verbs = [verb for verb in verbs if verb.english[0] != "block"]
        verb = self.one(verbs)
        words, many, nouns = self.subjects(self.nouns("animals", "people"))
        words += self.verb(verb, many)
        if kind == "pronoun":
            words.append(self.one(tuple(OBJECT_PRONOUNS)))
        if kind == "object":
            others = [noun for noun in self.nouns(*verb.takes) if noun not in nouns]
            words += self.phrase(self.one(others), self.happens(0.5))
        return words

    def of_be(self) -> list[str]:
        words, many, nouns = self.subjects(self.nouns(*self.one(BE_SUBJECTS)))
        fitting = [each for each in ADJECTIVES if all(noun.kind in each.fits for noun in nouns)]
        adjective = self.one(fitting)
        words += ["are" if many else "is", *["not"] * self.happens(NEGATED)]
        return [*words, *["too"] * (adjective.has_degree and self.happens(0.4)), adjective.english]

    def of_because(self) -> list[str]:
        animal, place = self.one(self.nouns("animals")), self.one(self.nouns("places"))
        numbers, is_animal = [self.happens(0.5), self.happens(0.5)], self.happens(0.5)
        with_adjective = [self.happens(0.25), False]
        with_adjective[1] = not with_adjective[0] and self.happens(0.25)
        animals_first = self.happens(0.5)
        nouns, verb = ((animal, place), "cross") if animals_first else ((place, animal), "block")
        first, second = (
            self.phrase(noun, many, n_adjectives=int(has), has_a=False)
            for noun, many, has in zip(nouns, numbers, with_adjective, strict=True)
        )
        many = numbers[is_animal != animals_first]  # whether the subject of the reason is plural
        said = [each.english for each in ADJECTIVES if _is_reason(each) and ("animals" in each.fits) == is_animal]
        reason = ["because", *(("they", "are") if many else ("it", "is")), "too", self.one(said)]
        return [*first, *self.verb(VERB_OF[verb][0], numbers[0]), *second, *reason]
