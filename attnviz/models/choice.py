"""Choice: a model that a person can pick, with all there is of it."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from attnviz.models.model import Model
from attnviz.models.task import Task


class Choice(Protocol):
    """A model that a person can pick: one, or several that were trained from different seeds, along their training.

    Attributes
    ----------
    task : Task
    seeds : sequence of int
        The seeds that it was trained from; a single 0 where it was not.
    """

    task: Task
    seeds: Sequence[int]

    def checkpoints(self, seed: int) -> Sequence[int]:
        """After how many steps of training there is a model; a single 0 where there was none."""

    def at(self, seed: int, checkpoint: int | None = None) -> Model:
        """The model of a checkpoint, counted from 0; the last for None."""

    def training_data(self, seed: int, checkpoint: int | None = None) -> dict | None:
        """The course of training, and the view at a checkpoint, as plain data; None where there was none."""

    def met(self, text: str, seed: int, checkpoint: int | None = None) -> str:
        """The kind of a text that the model of a checkpoint wrote."""
        return self.task.met(text)

    def seed_label(self, seed: int) -> str:
        """The name of a training where one of several is picked."""
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
    def given(self) -> str:
        """The settings that come with it and nobody can change, in words."""
        return self.at(self.seeds[0], None).described
