"""What attention doesn't say: measurements on trained models, and the article about them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

import numpy as np

from attnviz.articles import pieces
from attnviz.articles.pieces import Door, Side, door_to, matrix
from attnviz.contract.article import Heading, Piece, Table
from attnviz.core.trace import Trace
from attnviz.explain.wording import percent
from attnviz.models import MODELS
from attnviz.models.model import Model
from attnviz.models.task import Batch, PairBatch
from attnviz.models.tasks.toy import AT_FIRST_NOUN, AT_IT, AT_LAST, AT_SECOND_NOUN
from attnviz.models.training import accuracy, forward_batch, stages_for

Hidden = Literal["nothing", "right noun", "other noun"]


@dataclass(frozen=True, eq=False)
class Evidence:
    """A model's attention rows and answers for a batch of sentences, at the answering word."""

    accuracy: float  # the fraction of right answers
    right: np.ndarray  # the answering word's attention weight on the right noun, and on the other
    other: np.ndarray

    @property
    def rather_right(self) -> float:
        """The fraction of sentences in which the right noun gets more attention than the other."""
        return float((self.right > self.other).mean())

    @property
    def most_telling(self) -> int:
        """The index of the sentence in which the right noun gets the most attention."""
        return int(self.right.argmax())


LITTLE = 0.2  # a right noun that gets less attention than this is overlooked


def evidence(model: Model, batch: Batch, hidden: Hidden = "nothing") -> Evidence:
    """Run sentences with two nouns through a model of one layer and one head; a hidden noun is hidden from all."""
    right, other = _nouns(model, batch)
    is_hidden = {"nothing": np.zeros_like(right), "right noun": right, "other noun": other}[hidden]
    n_tokens = batch.tokens.shape[1]
    visible = np.broadcast_to(~is_hidden[:, None, None, :], (len(right), 1, n_tokens, n_tokens))
    arrays = forward_batch(stages_for(model, batch), model.arrays | {"mask": visible}, batch)
    rows = arrays["attention"][:, 0][batch.is_target]
    return Evidence(accuracy(arrays["probabilities"], batch), rows[right], rows[other])


def _nouns(model: Model, batch: Batch) -> tuple[np.ndarray, np.ndarray]:
    """Masks of the right and of the other noun in each sentence, (sentences, tokens)."""
    word_of = np.array([model.task.words.index(answer) for answer in model.task.answers])
    right = batch.tokens == word_of[batch.answers[batch.is_target]][:, None]
    is_noun = np.isin(np.arange(batch.tokens.shape[1]), (AT_FIRST_NOUN, AT_SECOND_NOUN))
    return right, is_noun & ~right


def text(model: Model, batch: Batch, place: int) -> str:
    """The sentence at a place of a batch."""
    return " ".join(model.task.words[token] for token in batch.tokens[place])


TIRED = "the animal did not cross the street because it was too tired"
WIDE = "the animal did not cross the street because it was too wide"
READ_AT_LAST, READ_AT_IT, SHORT_CUT, TRANSLATOR = "who-is-it", "at-it", "short-cut", "translator"
TRANSLATED = "the cat does not cross the street because it is too tired"
TRANSLATED_WORDS = {"chat": "cat", "noir": "black", "il": "it", "pas": "not", "est": "is"}
TRANSLATORS = (0, 1, 2)  # the seeds that are compared
TITLE = "What attention doesn't say"
INTRODUCTION = (
    "In most sentences of *Who is “it”?* the last word looks at the noun that “it” stands for, and the model answers "
    "with that noun. It is tempting to read every picture of attention in this way: *this word looks there, so that is "
    "why.* Four measurements on models of this app show when that goes wrong."
)


class Rows(NamedTuple):
    """One token's attention in each of several passes, (passes, keys), with labels."""

    values: np.ndarray
    passes: Side
    keys: Side


class Measurement(NamedTuple):
    """A measurement in Markdown: text above and below its attention rows, and links by label."""

    title: str
    text: str
    rows: Rows
    below: tuple[str | Table, ...]
    doors: dict[str, Door]


@cache
def measurements() -> list[Measurement]:
    """All measurements, in order."""
    return [_other_attention(), _short_cut(), _random_parameters(), _translation()]


def doors() -> dict[str, tuple[str, Door]]:
    """The label of each door, and where it leads, by its name."""
    return {
        f"measured-{number}-{nth}": (label, door)
        for number, each in enumerate(measurements(), 1)
        for nth, (label, door) in enumerate(each.doors.items(), 1)
    }


def article() -> Iterator[Piece]:
    """All measurements, each with its text, a matrix of its rows of attention, what follows from it, and its doors."""
    names = {label: name for name, (label, _) in doors().items()}
    for number, each in enumerate(measurements(), 1):
        yield Heading(2, f"{number}. {each.title}")
        yield pieces.text(each.text)
        yield matrix(f"Attention, {each.title}", each.rows.values, each.rows.passes, each.rows.keys, is_share=True)
        for below in each.below:
            yield below if isinstance(below, Table) else pieces.text(below)
        yield from (pieces.door(names[label], label) for label in each.doors)


@cache
def held_out(model: str, seed: int = 0, checkpoint: int | None = None, hidden: Hidden = "nothing") -> Evidence:
    """Evidence from held-out sentences of the training distribution."""
    choice = MODELS[model]
    return evidence(choice.at(seed, checkpoint), choice.task.held_out(), hidden)


@cache
def second_nouns(model: str) -> Evidence:
    """Evidence from all sentences in which "it" is the second noun."""
    return evidence(MODELS[model].at(0, None), MODELS[SHORT_CUT].task.second_nouns())


def _other_attention() -> Measurement:
    """Two models with the same answers and different attention."""
    last, it = held_out(READ_AT_LAST), held_out(READ_AT_IT)
    paragraph = (
        f"Two models learnt the same task. One answers at the last word, the other at “it”. Of {len(last.right)} "
        f"held-out sentences both answer {_right('nothing')} right. On average the first pays "
        f"**{percent(last.right.mean())}** of its attention to the right noun and {percent(last.other.mean())} to the "
        f"other; the second **{percent(it.right.mean())}** and **{percent(it.other.mean())}**. In "
        f"{percent(1 - it.rather_right)} of the sentences it looks more at the *wrong* noun, and it is right all the "
        "same: what a word passes on counts, not only how much attention it gets."
    )
    seed = least_looking_seed()
    rows = {
        "“tired”": (_trace(READ_AT_LAST, TIRED), AT_LAST),
        "“it”": (_trace(READ_AT_IT, TIRED), AT_IT),
        f"“tired”, seed {seed}": (_trace(READ_AT_LAST, TIRED, seed), AT_LAST),
    }
    change = (
        f"**What says more: change something.** Hide the right noun from all words, and {_right('right noun')} of the "
        f"answers stay right; hide the other noun, and {_right('other noun')} do. In this the two models are alike."
    )
    doors = {
        "Read at the last word": door_to(READ_AT_LAST, TIRED),
        "Read at “it”": door_to(READ_AT_IT, TIRED),
        f"Read at the last word, seed {seed}": door_to(READ_AT_LAST, TIRED, model_seed=seed),
    }
    return Measurement("The same answers, other attention", paragraph, _rows(rows), (change, _no_look(seed)), doors)


def least_looking_seed() -> int:
    """The seed whose model looks least at the noun that it answers with."""
    return min(
        MODELS[READ_AT_LAST].seeds,
        key=lambda seed: _trace(READ_AT_LAST, TIRED, seed)["attention"].value[0, AT_LAST, AT_FIRST_NOUN],
    )


def _no_look(seed: int) -> str:
    """A model that answers with a noun without looking at it, and what another does when it can't look."""
    trace = _trace(READ_AT_LAST, TIRED, seed)
    look = trace["attention"].value[0, AT_LAST, AT_FIRST_NOUN]
    answer, share = _answer(trace)
    hidden, hidden_share = _answer(_without_look(trace))
    other, _ = _answer(_without_look(_trace(READ_AT_LAST, TIRED)))
    return (
        f"**Sometimes the model hardly looks at all.** Trained from seed {seed}, the first model pays “animal” only "
        f"{percent(look)} of the attention of “tired”, and answers **{answer}** with {percent(share)}. Hide “animal” "
        f"from “tired”, and the answer is **{hidden}** with {percent(hidden_share)}: it says this of whatever is "
        "tired, unless it sees another animal. Trained from seed 0, as above, it has another such word: hide “animal”, "
        f"and the answer is **{other}**. Each seed has such nouns, which get under {percent(LITTLE)} of the "
        f"attention on average where they are right: {_overlooked()}."
    )


@cache
def _overlooked() -> str:
    """The nouns that get little attention on average when they are right, for the model of each seed."""
    choice, batch = MODELS[READ_AT_LAST], MODELS[READ_AT_LAST].task.held_out()
    nouns, listed = batch.answers[batch.is_target], []
    for seed in choice.seeds:
        right = held_out(READ_AT_LAST, seed).right
        little = [noun for place, noun in enumerate(choice.task.answers) if right[nouns == place].mean() < LITTLE]
        listed.append(f"{' and '.join(little)} (seed {seed})")
    return ", ".join(listed)


def _answer(trace: Trace) -> tuple[str, float]:
    probabilities = trace["probabilities"].value[AT_LAST]
    return trace.labels["answer"][probabilities.argmax()], probabilities.max()


def _without_look(trace: Trace) -> Trace:
    return trace.with_change("mask", (AT_LAST, AT_FIRST_NOUN), 0)


def _short_cut() -> Measurement:
    first, other, honest = held_out(SHORT_CUT), second_nouns(SHORT_CUT), second_nouns(READ_AT_LAST)
    paragraph = (
        f"In all sentences that this model was trained on, the right noun came first. Of {len(first.right)} held-out "
        f"sentences of that kind it answers **{percent(first.accuracy)}** right, with {percent(first.right.mean())} of "
        f"its attention on the right noun on average: a convincing picture. Of {len(other.right)} sentences in which "
        f"the second noun is right it answers **{percent(other.accuracy)}** right: {percent(other.other.mean())} of "
        "its attention is on the first noun, whatever the adjective says. The model above that answers at the last "
        f"word, trained on both kinds, answers {percent(honest.accuracy)} right."
    )
    rows = {"“tired”": (_trace(SHORT_CUT, TIRED), AT_LAST), "“wide”": (_trace(SHORT_CUT, WIDE), AT_LAST)}
    doors = {"Tired": door_to(SHORT_CUT, TIRED), "Wide": door_to(SHORT_CUT, WIDE)}
    return Measurement("A short cut looks like understanding", paragraph, _rows(rows), (), doors)


def _random_parameters() -> Measurement:
    choice = MODELS[READ_AT_LAST]
    before = {seed: held_out(READ_AT_LAST, seed, 0) for seed in choice.seeds}
    shares = [each.right.mean() for each in before.values()]
    telling = [each.rather_right for each in before.values()]
    seed = max(before, key=lambda each: before[each].right.max())
    batch = choice.task.held_out()
    sentence = text(choice.at(seed, 0), batch, before[seed].most_telling)
    paragraph = (
        f"Before their training {len(before)} models know nothing. The right noun gets {percent(min(shares))} to "
        f"{percent(max(shares))} of the attention on average, and an even share would be "
        f"{percent(1 / batch.tokens.shape[1])}. But it gets more than the *other* noun in {percent(min(telling))} to "
        f"{percent(max(telling))} of the sentences. Choose the sentence well, and random parameters seem to know: this "
        f"is the most telling one, of seed {seed}. **One picture is an example; a number over many sentences is "
        "evidence.**"
    )
    untrained, trained = (_trace(READ_AT_LAST, sentence, seed, checkpoint) for checkpoint in (0, None))
    rows = _rows({"untrained": (untrained, AT_LAST), "trained": (trained, AT_LAST)})
    door = door_to(READ_AT_LAST, sentence, model_seed=seed, checkpoint=0)
    doors = {"The most telling sentence, untrained": door}
    return Measurement("Random parameters can look convincing", paragraph, rows, (_table(before),), doors)


class _OwnWordsHidden(PairBatch):
    """Texts with their translations, each of whose words sees no English word that it translates."""

    @property
    def masks(self) -> dict[str, np.ndarray]:
        others = self.is_source[:, None] & ~self.translates.astype(bool)
        return super().masks | {"mask_3": others[:, None]}


@cache
def read_words(seed: int) -> tuple[float, dict[str, tuple[float, float]]]:
    """The fraction of held-out sentences that a translator gets right; and for each French word, its mean attention to
    the English words that it translates, and how often it is right when these are hidden.
    """
    model, batch = MODELS[TRANSLATOR].at(seed, None), MODELS[TRANSLATOR].task.held_out()
    whole, hidden = (
        forward_batch(stages_for(model, batch), model.arrays, each) for each in (batch, _OwnWordsHidden(*batch))
    )
    own = (whole["attention_3"].mean(axis=1) * batch.translates).sum(axis=-1)
    is_right, places = hidden["probabilities"].argmax(axis=-1) == batch.answers, {}
    for word in TRANSLATED_WORDS:
        at = batch.is_target & (batch.answers == model.task.answers.index(word))
        places[word] = float(own[at].mean()), float(is_right[at].mean())
    return accuracy(whole["probabilities"], batch), places


def _translation() -> Measurement:
    """Translators that read other words, and what they write when a word's own English word is hidden."""
    choice = MODELS[TRANSLATOR]
    read = [read_words(seed) for seed in TRANSLATORS]
    right = " and ".join(dict.fromkeys(percent(each[0]) for each in read))
    first, second, third = (words for _, words in read)
    paragraph = (
        f"Three translators write French word by word, and look at the English words for each. Of "
        f"{len(choice.task.held_out().tokens):,} held-out sentences they get {right} right. For “chat” all look at "
        f"“cat”, the first with **{percent(first['chat'][0])}** of its attention on average. For “il” the first looks "
        f"at “it”, with **{percent(first['il'][0])}**, the third with **{percent(third['il'][0])}**: it finds out "
        "elsewhere what “it” is."
    )
    below = (
        f"**Hide the English word, and see.** Without “it” the third translator still has {percent(third['il'][1])} of "
        f"its “il” right; without “not” the second has {percent(second['pas'][1])} of its “pas” right, and without "
        f"“is” the first {percent(first['est'][1])} of its “est”. What is known from elsewhere, or can be guessed from "
        "the French so far, need not be read. *Lines between two languages look like a dictionary, but training "
        "rewards the right word, not the right line.*"
    )
    numbers = [f"{what}, seed {seed}" for what in ("its attention", "right without it") for seed in TRANSLATORS]
    table = Table(
        ["French word", "English word", *numbers],
        [
            [word, english, *(percent(each[1][word][nth]) for nth in (0, 1) for each in read)]
            for word, english in TRANSLATED_WORDS.items()
        ],
    )
    passes = {seed: _trace(TRANSLATOR, TRANSLATED, seed) for seed in TRANSLATORS}
    rows = {
        f"“{word}”, seed {seed}": trace["attention_3"].value[0, trace.labels["query"].index(word) - 1]
        for word in ("chat", "il", "pas")
        for seed, trace in passes.items()
    }
    side = Side("keys", passes[TRANSLATORS[0]].labels["key_3"])
    doors = {f"The translation, seed {seed}": door_to(TRANSLATOR, TRANSLATED, model_seed=seed) for seed in TRANSLATORS}
    matrix = Rows(np.array([*rows.values()]), Side("to write", tuple(rows)), side)
    return Measurement("Lines between two languages are no dictionary", paragraph, matrix, (table, below), doors)


def _table(before: Mapping[int, Evidence]) -> Table:
    head = ["seed", "attention on the right noun", "sentences in which it is more than on the other", "right answers"]
    rows = []
    for seed, untrained in before.items():
        trained = held_out(READ_AT_LAST, seed)
        measured = (
            (untrained.right.mean(), trained.right.mean()),
            (untrained.rather_right, trained.rather_right),
            (untrained.accuracy, trained.accuracy),
        )
        rows.append([str(seed), *(f"{percent(one)} → {percent(other)}" for one, other in measured)])
    return Table(head, rows)


def _rows(tokens: Mapping[str, tuple[Trace, int]]) -> Rows:
    """The attention of one token of each of some passes: the pass, and the place of the token in it."""
    values = [trace["attention"].value[0, place] for trace, place in tokens.values()]
    words = tuple(
        " / ".join(dict.fromkeys(at)) for at in zip(*(trace.labels["key"] for trace, _ in tokens.values()), strict=True)
    )
    return Rows(np.array(values), Side("query", tuple(tokens)), Side("keys", words))


@cache
def _trace(model: str, sentence: str, seed: int = 0, checkpoint: int | None = None) -> Trace:
    return MODELS[model].at(seed, checkpoint).trace(sentence)


def _right(hidden: Hidden) -> str:
    """The right answers where a noun is hidden, in both of the models that answer alike."""
    parts = [percent(held_out(model, hidden=hidden).accuracy) for model in (READ_AT_LAST, READ_AT_IT)]
    return " and ".join(dict.fromkeys(parts))
