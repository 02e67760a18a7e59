"""Models: parameters with a task, the pass of a sentence, and what a person can pick them by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from attnviz.core.assembly import input_stages
from attnviz.core.attention import attend
from attnviz.core.errors import SettingsError
from attnviz.core.limits import MAX_CHARACTERS, MAX_TOKENS
from attnviz.core.masks import MASKS, REASONS
from attnviz.core.order import RELU, Activation, Norm
from attnviz.core.parameters import Kind, Origin, Parameters
from attnviz.core.stage import name_in_layer
from attnviz.core.tokens import first_tokens, labels
from attnviz.core.trace import Trace
from attnviz.models.task import Batch, PairBatch, Task

WHERE_FROM = {
    "drawn": "drawn at random, before any training",
    "learnt": "learnt in training",
    "built": "chosen by hand",
}
"""Where the parameters of each kind of model are from."""


MAX_NAMED_WORDS = 8
"""The most unknown words that an error lists."""


@dataclass(frozen=True, eq=False)
class Model:
    """Layers of attention between the vectors of words and a number for each answer."""

    task: Task
    embedding: np.ndarray  # (words, d_model)
    layers: tuple[Parameters, ...]
    unembedding: np.ndarray  # (d_model, answers)
    positions: np.ndarray | None = None  # (places, d_model): added at each position; without them order is invisible
    residual: bool | tuple[bool, ...] = False  # whether a layer adds its output to its input
    causal: bool = False  # whether tokens only see earlier tokens and themselves
    norm: Norm | None = None  # the norm after the embeddings, before attention and before each MLP
    activation: Activation = RELU  # the activation of the MLPs
    kind: Kind = "learnt"  # where the parameters are from

    @property
    def d_model(self) -> int:
        """The length of a token's vector."""
        return self.embedding.shape[1]

    @property
    def n_heads(self) -> int:
        """The number of heads of each layer."""
        return self.layers[0].n_heads

    @property
    def n_neurons(self) -> int:
        """The number of neurons in the MLP of each layer; 0 where there is none."""
        w_hidden = self.layers[0].w_hidden
        return 0 if w_hidden is None else w_hidden.shape[1]

    @property
    def mask(self) -> str:
        """The name of its mask."""
        return "causal" if self.causal else "none"

    @property
    def max_tokens(self) -> int:
        """The most tokens of a text, including the one that all texts begin with."""
        return MAX_TOKENS if self.positions is None else len(self.positions)

    @property
    def description(self) -> str:
        """Its size and kind, in words."""
        layers, heads = (
            f"{n} {name}{'s' * (n > 1)}" for n, name in ((len(self.layers), "layer"), (self.n_heads, "head"))
        )
        neurons = f"an MLP of {self.n_neurons} neurons" + " in each" * (len(self.layers) > 1)
        added = self.residual if isinstance(self.residual, tuple) else (self.residual,)
        n_places = self.max_tokens
        return ", ".join(
            (
                f"d_model {self.d_model}",
                layers,
                f"{heads} in each" if len(self.layers) > 1 else heads,
                *([neurons] if self.n_neurons else []),
                "a residual stream" if any(added) else "no residual stream",
                "a causal mask" if self.causal else "no mask",
                "no positions" if self.positions is None else f"positions for {n_places} token{'s' * (n_places > 1)}",
            )
        )

    @cached_property
    def arrays(self) -> dict[str, np.ndarray]:
        """All parameters by stage name; of embeddings and positions a text uses some rows."""
        given = {"embeddings": self.embedding, "positions": self.positions}
        for number, layer in enumerate(self.layers, start=len(self.layers) > 1):
            given |= {name_in_layer(field.name, number): getattr(layer, field.name) for field in fields(layer)}
        return {name: array for name, array in (given | {"w_u": self.unembedding}).items() if array is not None}

    def with_arrays(self, arrays: Mapping[str, np.ndarray], kind: Kind) -> Model:
        """The model with other parameters, by the names of their stages."""
        layers = tuple(
            Parameters(**{field.name: arrays.get(name_in_layer(field.name, number)) for field in fields(Parameters)})
            for number, _ in enumerate(self.layers, start=len(self.layers) > 1)
        )
        return replace(
            self,
            embedding=arrays["embeddings"],
            positions=arrays.get("positions"),
            layers=layers,
            unembedding=arrays["w_u"],
            kind=kind,
        )

    def tokens(self, text: str) -> tuple[str, ...]:
        """The words of a text, after the one that all begin with."""
        if not isinstance(text, str):
            raise SettingsError(f"sentence must be text; got {type(text).__name__}.")
        if len(text) > MAX_CHARACTERS:
            raise SettingsError(f"The sentence may have at most {MAX_CHARACTERS:,} characters; got {len(text):,}.")
        self._check(text)
        typed = self.split(text)
        return (*self._first_word(typed), *typed)

    def capacity(self, text: str) -> int:
        """The number of a text's tokens that fit, besides the one that all texts begin with."""
        return self.max_tokens - len(self._first_word(self.split(text)))

    def truncated(self, text: str) -> str:
        """A text as far as the model has places for its tokens."""
        typed, most = self.split(text), self.capacity(text)
        is_by_character = self.task.joined(typed) == text  # then each of its characters is a token
        return self.task.joined(typed[:most]) if is_by_character else first_tokens(text, most, self.split)

    def unknown(self, text: str) -> tuple[str, ...]:
        """The words of a text that the model doesn't know, in lower case, each once."""
        return tuple(word for word in dict.fromkeys(self.split(text)) if word not in self.task.words)

    def split(self, text: str) -> tuple[str, ...]:
        """The words of a text as they were typed, split by the task."""
        return self.task.split(text)

    def _first_word(self, typed: Sequence[str]) -> tuple[str, ...]:
        """The word that all texts begin with, if any and not typed."""
        return (self.task.begin,) * (bool(self.task.begin) and typed[:1] != (self.task.begin,))

    def _check(self, text: str) -> None:
        typed, most = self.split(text), self.capacity(text)
        known = f"This model knows {', '.join(self.task.words)}."
        if not typed and not self.task.is_open:
            raise SettingsError(f"The sentence has no words yet. {known} Type some of these.")
        unknown = self.unknown(text)
        if unknown:
            raise SettingsError(f"{quoted(unknown)}: not among the words of this model. {known}")
        if len(typed) > most:
            reason = "" if self.positions is None else ", one for each of its positions"
            raise SettingsError(
                f"This model reads at most {most} tokens{reason}; this text has {len(typed)}. Shorten it."
            )

    def trace(self, text: str) -> Trace:
        """The pass of a text, from its words to a probability for each answer."""
        return self.read(self.tokens(text))

    def read(self, tokens: tuple[str, ...]) -> Trace:
        """The pass of some of the words that it knows, at most as many as it has places for."""
        recipe, words = WHERE_FROM[self.kind], labels(tokens)
        rows = self.embedding[[self.task.words.index(token) for token in tokens]]
        places = None if self.positions is None else (self.positions[: len(tokens)], recipe)
        inputs = input_stages((rows, recipe), places, norm=self.norm)
        trace = attend(
            inputs["x"].value,
            parameters=self.layers,
            mask=MASKS[self.mask](len(tokens), len(tokens), 0),
            residual=self.residual,
            norm=self.norm,
            activation=self.activation,
            w_u=self.unembedding,
        )
        sources = dict.fromkeys(self.arrays, recipe) | {"mask": f"the mask “{self.mask}”: {REASONS[self.mask]}"}
        return (
            trace.with_first_stages(inputs.values())
            .with_sources(sources)
            .labelled(token=words, query=words, key=words, answer=labels(self.task.answers))
            .with_origin(self._origin(tokens))
        )

    def read_first(self, batch: Batch | PairBatch) -> Trace:
        """The pass of the first of some texts."""
        return self.read(tuple(self.task.words[place] for place in batch.tokens[0]))

    def _origin(self, tokens: tuple[str, ...]) -> Origin:
        task = self.task
        right, looks = task.right(tokens), task.looks(tokens)
        rows = tuple(task.words.index(token) for token in tokens)
        of_task = (task.title, task.question, task.about, task.read, right, task.layers, looks)
        return Origin(self.kind, *of_task, task.is_open, task.joined(tokens), task.unit, rows)


def quoted(words: Sequence[str]) -> str:
    """The first few words in quotation marks, and how many more there are."""
    shown = ", ".join(f"“{word}”" for word in labels(words)[:MAX_NAMED_WORDS])
    return shown + (f" and {len(words) - MAX_NAMED_WORDS} others" if len(words) > MAX_NAMED_WORDS else "")


class PickableModel(Protocol):
    """A model that a person can pick: all its seeds and checkpoints."""

    task: Task
    seeds: Sequence[int]  # the seeds that it was trained from; a single 0 without training

    def checkpoints(self, seed: int) -> Sequence[int]:
        """The training steps of each checkpoint; a single 0 without training."""

    def at(self, seed: int, checkpoint: int | None = None) -> Model:
        """The model of a checkpoint, counted from 0; the last for None."""

    def training_data(self, seed: int, checkpoint: int | None = None) -> dict | None:
        """The training curve and the measures at a checkpoint, as plain data; None without training."""

    def learning(self, seed: int, rows: tuple[int, ...]) -> dict | None:
        """Where the word at which a text is answered looks, at every checkpoint, as plain data; None without training.

        `rows` are the indices of the text's words.
        """
        return None

    def met(self, text: str, seed: int, checkpoint: int | None = None) -> str:
        """What is known of a sampled text: trained on, held out, or new."""
        return self.task.met(text)

    def seed_label(self, seed: int) -> str:
        """The label of a seed."""
        return str(seed)

    @property
    def title(self) -> str:
        """The name of its task."""
        return self.task.title

    @property
    def summary(self) -> str:
        """The sentence on its attention."""
        return self.task.summary

    @property
    def words_by_kind(self) -> Mapping[str, tuple[str, ...]]:
        """All words that it knows."""
        return self.task.words_by_kind

    @property
    def examples(self) -> tuple[tuple[str, str], ...]:
        """Some texts, each after a short label."""
        return self.task.examples

    @property
    def fixed_settings(self) -> str:
        """Its fixed settings, in words."""
        return self.at(self.seeds[0], None).description


class Built(PickableModel):
    """A pickable model without training: one seed, one checkpoint."""

    seeds = (0,)

    def __init__(self, model: Model):
        self.model, self.task = model, model.task

    def checkpoints(self, seed: int) -> Sequence[int]:
        return (0,)

    def at(self, seed: int, checkpoint: int | None = None) -> Model:
        return self.model

    def training_data(self, seed: int, checkpoint: int | None = None) -> None:
        return None
