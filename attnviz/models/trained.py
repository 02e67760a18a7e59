"""Trained models: recordings of each seed and checkpoint, read from and written to `recordings/`."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import product
from pathlib import Path

import numpy as np

from attnviz.core.changes import Change
from attnviz.core.errors import SettingsError
from attnviz.core.stage import name_in_layer
from attnviz.models.continuation import Sampling, sample_texts
from attnviz.models.model import Model, PickableModel
from attnviz.models.task import Batch, PairBatch
from attnviz.models.tasks.grammar import read
from attnviz.models.tasks.lexicon import PRONOUNS
from attnviz.models.tasks.names import Names
from attnviz.models.tasks.translation import N_HELD_OUT, sample
from attnviz.models.training import (
    FILE,
    MUTED,
    Recipe,
    accuracy,
    batch_stream,
    batches,
    first_step_below,
    forward_batch,
    loss,
    recorded_parts,
    stages_for,
    train,
    without_head,
    without_part,
)
from attnviz.models.translator import Translator


def tables(models: Iterable[Model]) -> list[dict | None]:
    """The table of each model, with a common `limit` for their colours: the largest size in all."""
    all_tables = [table(model) for model in models]
    limit = max((abs(value) for each in all_tables if each for row in each["values"] for value in row), default=0.0)
    return [each and each | {"limit": limit} for each in all_tables]


def table(model: Model) -> dict | None:
    """The mean scaled score of each kind of query with each kind of key, as plain data; None if the task names none.

    Only for models without positions, whose words have the same scores in every text.
    """
    if not model.task.kinds:
        return None
    words_of = model.task.words_by_kind
    rows, columns = ([words_of[kind] for kind in kinds] for kinds in model.task.kinds)
    words = [word for kind in (*rows, *columns) for word in kind]
    scaled = model.trace(" ".join(words))["scaled"].value.mean(axis=0)
    means = [
        scaled[np.ix_([words.index(each) for each in row], [words.index(each) for each in column])].mean()
        for row, column in product(rows, columns)
    ]
    return {
        "title": "mean scaled score",
        "rows": [f"{row[0]} …" for row in rows],
        "columns": [f"{column[0]} …" for column in columns],
        "values": np.reshape(means, (len(rows), len(columns))).tolist(),
    }


def first_steps(recipe: Recipe, seed: int) -> Mapping[str, int]:
    """The step in which each name is first trained on; without those that are never drawn.

    >>> from attnviz.models.recipes import OWN_MICROGPT
    >>> steps = first_steps(OWN_MICROGPT, 0)
    >>> len(steps), max(steps.values())
    (981, 1000)
    """
    task, random = recipe.task, batch_stream(recipe, seed)
    assert isinstance(task, Names)
    task.drawn(random, 1)  # the draw before the first step
    drawn = task.drawn(random, recipe.steps * recipe.batch)
    steps = np.zeros(len(task.names), dtype=int)
    steps[drawn[::-1]] = np.arange(len(drawn))[::-1] // recipe.batch + 1  # a repeated name keeps its first step
    return {task.names[place]: int(steps[place]) for place in np.flatnonzero(steps)}


N_WRITTEN = 10
"""The number of texts that each checkpoint writes."""

AS_IN_MICROGPT = Sampling(temperature=0.5)
"""microgpt's sampling settings, from the first seed."""

CACHED_TEXTS = 64
"""The texts whose attention along a training is kept in memory, for each model."""

FOLDER = Path(__file__).parent / "recordings"


def recording_path(recipe: Recipe) -> Path:
    """The file of a recipe's trainings, compressed if they have many decimals."""
    return FOLDER / f"{recipe.id}.json{'.gz' * (recipe.decimals > 1)}"


class TrainedModel(PickableModel):
    """The models trained by a recipe, from several seeds at several checkpoints."""

    def __init__(self, recipe: Recipe, *others: Recipe):
        self.task = recipe.task
        self._trainings = [(each, seed) for each in (recipe, *others) for seed in each.all_seeds]
        self.seeds = range(len(self._trainings))
        self._model = cache(self._read)
        self._kinds = cache(self._tables)
        self._writes = cache(self._names)
        self._learning = lru_cache(CACHED_TEXTS)(self._learning_of)
        self._translations = lru_cache(CACHED_TEXTS)(self._translations_of)
        self._first_steps = cache(lambda seed: first_steps(*self._trainings[seed]))

    def seed_label(self, seed: int) -> str:
        recipe, _ = self._trainings[seed]
        return f"{seed}: {recipe.label}" if recipe.label else str(seed)

    def checkpoints(self, seed: int) -> Sequence[int]:
        return [each["step"] for each in self._run(seed)["checkpoints"]]

    def curve(self, seed: int) -> list[list[float]]:
        """Along training: the step, and the loss and accuracy on texts that were held out."""
        return self._run(seed)["curve"]

    def figures(self, seed: int) -> dict:
        """Other measurements at the end of training; empty for most models (see `pronoun_figures`)."""
        return self._run(seed).get("figures", {})

    def at(self, seed: int, checkpoint: int | None = None) -> Model:
        """The model of a checkpoint, counted from 0; the last for None."""
        return self._model(seed, self._place(seed, checkpoint))

    def met(self, text: str, seed: int, checkpoint: int | None = None) -> str:
        """Whether a sampled text was trained on by this checkpoint; else what the task knows of it."""
        known = self.task.met(text)
        if known != "in the list":
            return known
        until = self.checkpoints(seed)[self._place(seed, checkpoint)]
        return "trained on" if 0 < self._first_steps(seed).get(text, 0) <= until else known

    def training_data(self, seed: int, checkpoint: int | None = None) -> dict:
        place = self._place(seed, checkpoint)
        is_last = place == len(self.checkpoints(seed)) - 1
        patterns, writes_names = self._run(seed)["checkpoints"][place]["patterns"], isinstance(self.task, Names)
        return {
            "curve": self.curve(seed),
            "checkpoints": self.checkpoints(seed),
            "at": place,
            "heldOut": self._run(seed)["held_out"],
            "met": self._run(seed)["met"],
            "over": self.task.measured,
            "patterns": [{"label": label, "value": value} for label, value in patterns.items()],
            "kinds": self._kinds(seed)[place],
            "yardsticks": self._yardsticks(seed, is_last=is_last),
            "heads": recorded_parts()[seed] if writes_names and is_last else None,
            "writes": {"how": vars(AS_IN_MICROGPT), "texts": self._writes(seed, place)} if writes_names else None,
            "learning": None,
            "translations": [],
        }

    def translations(self, seed: int, text: str) -> list[dict]:
        """What the translator of each checkpoint writes for an English text."""
        return self._translations(seed, text)

    def learning(self, seed: int, rows: tuple[int, ...]) -> dict:
        return self._learning(seed, rows)

    def _learning_of(self, seed: int, rows: tuple[int, ...]) -> dict:
        """One graph with the parameters of each checkpoint in turn: a tenth of the time of as many passes."""
        right = self.task.right([self.task.words[row] for row in rows])
        asking = max((at for at, answer in enumerate(right) if answer is not None), default=len(rows) - 1)
        ids = np.array([rows])
        text = Batch(ids, np.zeros_like(ids), np.zeros_like(ids, dtype=bool))
        models = [self.at(seed, place) for place in range(len(self.checkpoints(seed)))]
        stages, n_layers = stages_for(models[0], text), len(models[0].layers)
        last = name_in_layer("attention", n_layers if n_layers > 1 else 0)
        arrays = [forward_batch(stages, model.arrays, text) for model in models]
        shares, answer = np.array([each["probabilities"][0, asking] for each in arrays]), right[asking]
        return {
            "asking": asking,
            "rows": [_as_sent(each[last][0, :, asking]) for each in arrays],
            "answers": [self.task.answers[best] for best in shares.argmax(axis=-1)],
            "shares": _as_sent(shares.max(axis=-1)),
            "right": answer,
            "rightShares": [] if answer is None else _as_sent(shares[:, self.task.answers.index(answer)]),
        }

    def _translations_of(self, seed: int, text: str) -> list[dict]:
        found = []
        for place in range(len(self.checkpoints(seed))):
            model = self.at(seed, place)
            assert isinstance(model, Translator)
            words, rows = model.translation(text)
            right = list(model.right(text, words))
            found.append({"words": list(words), "rows": [_as_sent(row) for row in rows], "right": right})
        return found

    def _names(self, seed: int, place: int) -> list[dict]:
        """Some texts that a checkpoint writes, from the same seeds at each, and what its task knows of them."""
        texts = sample_texts(self.at(seed, place), AS_IN_MICROGPT, N_WRITTEN)
        return [{"text": text, "is": self.met(text, seed, place)} for text in texts]

    def _yardsticks(self, seed: int, *, is_last: bool) -> list[dict]:
        """Baseline losses, and the step from which the model is better; at the end also those with a part muted."""
        curve = self.curve(seed)
        others = [
            {"label": label, "loss": loss, "passed": first_step_below(curve, loss), "isLine": True}
            for label, loss in self.task.yardsticks.items()
        ]
        if not others or not is_last:
            return others
        return others + [
            {"label": f"with {what} muted", "loss": loss, "passed": None, "isLine": False}
            for what, loss in recorded_parts()[seed]["muted"].items()
        ]

    def _read(self, seed: int, place: int) -> Model:
        written = self._run(seed)["checkpoints"][place]["parameters"]
        recipe, own_seed = self._trainings[seed]
        arrays = {name: np.array(whole) / 10**recipe.decimals for name, whole in written.items()}
        return recipe.untrained(own_seed).with_arrays(arrays, "learnt" if place else "drawn")

    def _tables(self, seed: int) -> list[dict | None]:
        return tables(self.at(seed, place) for place in range(len(self.checkpoints(seed))))

    def _place(self, seed: int, checkpoint: int | None) -> int:
        count = len(self.checkpoints(seed))
        place = count - 1 if checkpoint is None else checkpoint
        if place not in range(count):
            raise SettingsError(f"checkpoint must be a whole number from 0 to {count - 1}; got {checkpoint!r}.")
        return place

    def _run(self, seed: int) -> dict:
        if seed not in self.seeds:
            raise SettingsError(f"seed must be one of {', '.join(map(str, self.seeds))} for this model; got {seed!r}.")
        return self._runs[seed]

    @cached_property
    def _runs(self) -> list[dict]:
        recipes = dict.fromkeys(recipe for recipe, _ in self._trainings)
        return [run for recipe in recipes for run in _read_runs(recording_path(recipe))]


def _read_runs(file: Path) -> list[dict]:
    written = file.read_bytes()
    return json.loads(gzip.decompress(written) if file.suffix == ".gz" else written)


def _as_sent(shares: np.ndarray) -> list:
    """Shares at 6 decimals; one that is neither nothing nor all doesn't become so."""
    within = np.clip(shares.round(6), 1e-6, 1 - 1e-6)
    return np.where((shares > 0) & (shares < 1), within, shares).tolist()


CURVE_POINTS = 50


def record(recipe: Recipe) -> None:
    """Train a model from all seeds of its recipe, and write its file."""
    runs = [recorded_run(recipe, seed) for seed in recipe.all_seeds]
    text, file = json.dumps(runs, separators=(",", ":")) + "\n", recording_path(recipe)
    packed = gzip.compress(text.encode(), mtime=0) if file.suffix == ".gz" else text.encode()
    file.write_bytes(packed)


def record_parts(choice: PickableModel) -> None:
    """Measure the parts of a model's trainings, and the loss without each, and write the file."""
    FILE.write_text(json.dumps([measure_parts(choice.at(seed)) for seed in choice.seeds]) + "\n", "utf-8")


def measure_parts(model: Model) -> dict:
    """The content of the file of one model, measured on all that is held out."""
    assert isinstance(model.task, Names)
    held_out = model.task.held_out()
    arrays = forward_batch(stages_for(model, held_out), model.arrays, held_out)
    looks = model.task.looks_of(arrays, held_out)

    def lost(other: Model) -> float:
        return measures(other, held_out)["loss"]

    return {
        "loss": lost(model),
        "muted": {what: lost(without_part(model, what)) for what in MUTED},
        "heads": [
            {
                "looks": {what: round(shares[head], 4) for what, shares in looks.items()},
                "loss": lost(without_head(model, head)),
            }
            for head in range(model.n_heads)
        ],
    }


def recorded_run(recipe: Recipe, seed: int) -> dict:
    """One run of training, as plain data; all measures are those of the parameters as they are written."""
    held_out = recipe.task.held_out()
    curve, checkpoints = [], []
    for step, model in enumerate(train(recipe, seed)):
        is_recorded = step in recipe.recorded(seed)
        if is_recorded or step % (recipe.steps // CURVE_POINTS) == 0:
            rounded = model.with_arrays(
                {name: array.round(recipe.decimals) for name, array in model.arrays.items()}, "learnt"
            )
            measured = measures(rounded, held_out)
            curve.append([step, measured["loss"], measured["accuracy"]])
            if is_recorded:
                checkpoints.append(
                    {
                        "step": step,
                        "patterns": measured["patterns"],
                        "parameters": as_integers(model.arrays, recipe.decimals),
                    }
                )
    return {
        "curve": curve,
        "checkpoints": checkpoints,
        "held_out": len(held_out.tokens),
        "met": count_repeated(recipe, seed),
        "loss_unrounded": measures(model, held_out)["loss"],
    } | ({"figures": pronoun_figures(rounded)} if isinstance(rounded, Translator) else {})


def count_repeated(recipe: Recipe, seed: int) -> int:
    """The number of held-out texts that come up in training after all: where texts are drawn at random, a few may."""
    if recipe.task.is_open:
        return 0  # training and held-out texts are separated before any is drawn
    _, *trained_on = batches(recipe, seed)
    seen = {tuple(text) for batch in trained_on for text in batch.tokens.tolist()}
    return sum(tuple(text) in seen for text in recipe.task.held_out().tokens.tolist())


def measures(model: Model, batch: Batch | PairBatch) -> dict:
    """The loss and accuracy of a model on a batch, and the patterns of its attention, at 4 decimals."""
    arrays = forward_batch(stages_for(model, batch), model.arrays, batch)
    patterns = model.task.patterns(arrays, batch)
    return {
        "loss": round(loss(arrays["probabilities"], batch), 4),
        "accuracy": round(accuracy(arrays["probabilities"], batch), 4),
        "patterns": {label: round(value, 4) for label, value in patterns.items()},
    }


def as_integers(arrays: dict[str, np.ndarray], decimals: int) -> dict[str, list]:
    """Parameters as whole numbers: of tenths, at one decimal."""
    return {name: (array * 10**decimals).round().astype(int).tolist() for name, array in arrays.items()}


def pronoun_figures(model: Translator) -> dict:
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
    """For each held-out sentence with nouns of unlike gender, whether "il" or "elle" changes as one noun is hidden from
    "it" and "is" in the encoder: the noun that "it" stands for (the referent), or the other one. If it changes with the
    referent alone, these two words get the gender from there.
    """
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
