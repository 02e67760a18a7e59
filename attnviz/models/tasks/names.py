"""Names: which letter comes next, letter by letter, as microgpt learns it from first names."""

import gzip
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from attnviz.core.rng import stream
from attnviz.core.tokens import clean
from attnviz.models.task import Answers, Batch, Learnable, Task
from attnviz.models.training import bigram_loss, guessing_loss

FILE = Path(__file__).parents[1] / "data" / "names.txt.gz"
BEGIN, END = "BOS", "end"
"""One token for begin and end, as in microgpt."""

LONGEST = 15
BEFORE = "the letter before"
SINCE = 3
"""From this letter on two letters precede, so that "the letter before" is a letter."""

HELD_OUT_PART = 10
"""One in this many distinct names is held out."""


class Letters(Task):
    """Texts as letters, one token each."""

    letters: tuple[str, ...]  # one character each
    begin = BEGIN
    read = "last"
    unit = "letter"
    is_open = True

    @property
    def words(self) -> tuple[str, ...]:
        """All letters, and the one token that begins and ends a text."""
        return (*self.letters, self.begin)

    def split(self, text: str) -> tuple[str, ...]:
        """The letters of a text, each as `known` reads it; without its spaces, unless they are letters."""
        return tuple(self.known(letter) for cluster in _clusters(text) for letter in self._letters_in(cluster))

    def _letters_in(self, cluster: str) -> str:
        """A letter with its marks: unchanged if the model knows all of its characters, else cleaned."""
        is_known = all(letter in self.letters for letter in cluster)
        return cluster if is_known else clean(cluster).replace(" ", "")

    def known(self, letter: str) -> str:
        """How a letter is read: as itself, else in lower case or without accent; as itself if none is known."""
        bare = unicodedata.normalize("NFD", letter)[0]
        return next((each for each in (letter, letter.lower(), bare, bare.lower()) if each in self.letters), letter)

    def joined(self, tokens: Sequence[str]) -> str:
        """The letters joined to a text, without the token that all texts begin with."""
        return "".join(token for token in tokens if token != self.begin)

    def notes(self, text: str) -> tuple[str, ...]:
        """Notes on letters that are read otherwise than they were typed."""
        clusters = dict.fromkeys(_clusters(text))
        typed = dict.fromkeys(letter for cluster in clusters for letter in self._letters_in(cluster))
        left_out = [cluster for cluster in clusters if not self._letters_in(cluster)]
        unseen = " and characters that nobody sees" * any(not cluster.isspace() for cluster in left_out)
        others = {letter: self.known(letter) for letter in typed if self.known(letter) != letter}
        accents = [f"“{letter}” as “{known}”" for letter, known in others.items() if letter.lower() != known]
        return (
            *(["Capitals are read as small letters."] * any(letter != letter.lower() for letter in others)),
            *([f"Spaces{unseen} are left out."] * bool(left_out)),
            *([f"Letters are read without accents: {', '.join(accents)}."] * bool(accents)),
        )

    def right(self, tokens: Sequence[str]) -> Answers:
        """Nothing: the next letter is unknown."""
        return (None,) * len(tokens)


def _clusters(text: str) -> list[str]:
    """The characters of a text, each with the marks that follow it."""
    clusters: list[str] = []
    for character in text:
        if clusters and unicodedata.category(character).startswith("M"):
            clusters[-1] += character
        else:
            clusters.append(character)
    return clusters


class Names(Letters, Learnable):
    """The next letter of a first name."""

    title = "microgpt"
    summary = (
        "A whole language model, of 4,192 numbers: it gives each letter that may come next a probability, and so it "
        "writes names."
    )
    question = "After “{sentence}”, which letter comes next?"
    about = (
        "This model learnt to continue first names that were given in the United States in 2018, letter by letter. "
        "That's all it knows. Its predictions say nothing about real people."
    )
    measured = "held-out names, from the third letter on"
    letters = tuple("abcdefghijklmnopqrstuvwxyz")
    answers = (*letters, END)
    words_by_kind: Mapping[str, tuple[str, ...]] = {"letters": letters}
    examples = (("so", "so"), ("eliza", "eliza"), ("quee", "quee"))

    def batch(self, random: np.random.RandomState, size: int) -> Batch:
        return self._asking(self._encoded[self.drawn(random, size)])

    def drawn(self, random: np.random.RandomState, size: int) -> np.ndarray:
        """The names of one or several batches, as indices of `names`."""
        return random.randint(self.n_held_out, len(self.names), size=size)

    def held_out(self) -> Batch:
        return self._asking(self._encoded[: self._n_held_out])

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All distinct names, those that are held out first."""
        with gzip.open(FILE, "rt", encoding="utf-8") as lines:
            names = list(dict.fromkeys(line.strip() for line in lines if not line.startswith("#")))
        return tuple(names[place] for place in stream("names", 0).permutation(len(names)))

    def met(self, text: str) -> str:
        """Whether a name is in the training list, was held out, or is new."""
        place = self._places.get(text)
        return "new" if place is None else "held out" if place < self._n_held_out else "in the list"

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    @property
    def n_held_out(self) -> int:
        """The number of names that are held out."""
        return len(self.names) // HELD_OUT_PART

    @cached_property
    def yardsticks(self) -> Mapping[str, float]:
        n = self._n_held_out
        trained_on, held_out = self._asking(self._encoded[n:]), self._asking(self._encoded[:n])
        return {
            "guessing": guessing_loss(len(self.answers)),
            "pairs of letters": bigram_loss(trained_on, held_out, len(self.words)),
        }

    @cached_property
    def _n_held_out(self) -> int:
        return self.n_held_out

    @cached_property
    def _encoded(self) -> np.ndarray:
        """Each name with what begins and ends it, as places among the words, (names, tokens); -1 after the end."""
        places = {word: place for place, word in enumerate(self.words)}
        encoded = np.full((len(self.names), LONGEST + 2), -1)
        for row, name in zip(encoded, self.names, strict=True):
            row[: len(name) + 2] = [places[token] for token in (self.begin, *name, self.begin)]
        return encoded

    def _asking(self, texts: np.ndarray) -> Batch:
        """A batch in which each token's answer is the next one; there is none after the end."""
        n_tokens = (texts >= 0).sum(axis=1).max() - 1
        tokens, answers = texts[:, :n_tokens], texts[:, 1 : n_tokens + 1]
        return Batch(tokens.clip(0), answers.clip(0), answers >= 0)

    def patterns(self, arrays: Mapping[str, np.ndarray], batch: Batch) -> dict[str, float]:
        before = self.looks_of(arrays, batch)[BEFORE]
        return {f"of head {head} on the letter before": share for head, share in enumerate(before, start=1)}

    def looks_of(self, arrays: Mapping[str, np.ndarray], batch: Batch) -> dict[str, list[float]]:
        """Where each head looks from the third letter on: mean shares, one for each head, which add up to 1."""
        attention, is_target = arrays["attention"], batch.is_target[:, SINCE:]
        back = [np.diagonal(attention, -by, -2, -1)[..., SINCE - by :] for by in range(SINCE)]
        begin = attention[..., SINCE:, 0]
        shares = dict(zip(("the letter itself", BEFORE, "the one before that"), back, strict=True))
        shares |= {"letters further back": 1 - sum(back) - begin, self.begin: begin}
        return {what: np.moveaxis(each, 1, -1)[is_target].mean(axis=0).tolist() for what, each in shares.items()}
