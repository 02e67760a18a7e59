"""Pronouns: how much the translator's "il" and "elle" depend on the noun that "it" stands for.

In sentences with nouns of unlike gender one noun is hidden from "it" and "is" in the encoder. If the pronoun's gender
turns where this is the noun that it stands for, and stays where it is the other, then these words get the gender there.
"""

from attnviz.core.changes import Change
from attnviz.models.tasks.grammar import read
from attnviz.models.tasks.lexicon import PRONOUNS
from attnviz.models.tasks.translation import N_HELD_OUT, sample
from attnviz.models.training import accuracy, forward_batch, stages_for
from attnviz.models.translator import Translator


def figures(model: Translator) -> dict:
    """The share of held-out sentences it translates where each pair of words is known, and of pronouns that turn."""
    batch = model.task.batch_of(sample("sentences", N_HELD_OUT), asks_choices=False)
    probabilities = forward_batch(stages_for(model, batch), model.arrays, batch)["probabilities"]
    turned = turned_pronouns(model)
    n_pronouns = len(turned["referent"])
    return {
        "sentences": round(accuracy(probabilities, batch), 4),
        "pronouns": n_pronouns,
        "turned": {noun: round(sum(each) / n_pronouns, 4) for noun, each in turned.items()},
    }


def turned_pronouns(model: Translator) -> dict[str, list[bool]]:
    """For each held-out sentence whether its pronoun turns, with its referent hidden and with the other noun hidden."""
    answers = model.task.answers
    pronouns = [answers.index(word) for words in PRONOUNS.values() for word in words]
    turned: dict[str, list[bool]] = {"referent": [], "other noun": []}
    for words, written in sample("combinations", N_HELD_OUT):
        sentence = read(words)
        because = sentence and sentence.because
        if not sentence or not because or len({phrase.noun.genders for phrase in sentence.phrases}) < 2:
            continue
        french = tuple(word for word, _ in written)
        trace = model.read((*words, model.task.english[-1]), french[: french.index("car") + 1])
        queries = because.place + 1, because.place + 2  # "it" and "is"
        (other,) = (phrase for phrase in sentence.phrases if phrase not in because.referents)

        def pronoun(hidden: int | None, trace=trace, queries=queries) -> int:
            changes = () if hidden is None else (Change("mask_1", (query, hidden), 0) for query in queries)
            return max(pronouns, key=trace.with_changes(*changes)["probabilities"].value[-1].item)

        whole = pronoun(None)
        turned["referent"].append(pronoun(because.referents[0].place) != whole)
        turned["other noun"].append(pronoun(other.place) != whole)
    return turned
