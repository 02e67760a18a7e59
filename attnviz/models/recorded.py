"""Recorded: trained models, kept as data, so that the same numbers are shown on every machine."""

from __future__ import annotations

import json
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from attnviz.core.errors import SettingsError
from attnviz.models.kinds import table
from attnviz.models.model import Model
from attnviz.models.recipe import Recipe

FOLDER = Path(__file__).parent / "recordings"
DECIMALS = 1
"""Parameters are kept at so many decimals, and written as whole numbers of tenths."""


class Recorded:
    """The models that were trained by one recipe: from several seeds, at several checkpoints along training.

    Parameters
    ----------
    recipe : Recipe
    """

    def __init__(self, recipe: Recipe):
        self.recipe, self.task = recipe, recipe.task
        self._kept = cache(self._model)

    @property
    def title(self) -> str:
        """The name of its task."""
        return self.task.title

    @property
    def lesson(self) -> str:
        """What is seen in it, in one sentence."""
        return self.task.lesson

    @property
    def words_by_kind(self) -> dict[str, tuple[str, ...]]:
        """All words that it knows."""
        return self.task.words_by_kind

    @property
    def examples(self) -> tuple[tuple[str, str], ...]:
        """Some texts, each after a short label."""
        return self.task.examples

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds that it was trained from."""
        return tuple(range(self.recipe.seeds))

    def checkpoints(self, seed: int) -> tuple[int, ...]:
        """After how many steps of training there is a model."""
        return tuple(each["step"] for each in self._run(seed)["checkpoints"])

    def curve(self, seed: int) -> list[list[float]]:
        """Along training: the step, and the loss and accuracy on texts that were held out."""
        return self._run(seed)["curve"]

    def at(self, seed: int, index: int | None = None) -> Model:
        """The model of a checkpoint, counted from 0; of the last by default.

        Raises
        ------
        SettingsError
            If there is none of that seed or at that place.
        """
        return self._kept(seed, self._place(seed, index))

    def training_data(self, seed: int, index: int | None = None) -> dict:
        """How training went, and what the checkpoint `index` has learnt, as plain data; the last by default."""
        index = self._place(seed, index)
        patterns = self._checkpoint(seed, index)["patterns"]
        return {
            "curve": self.curve(seed),
            "checkpoints": list(self.checkpoints(seed)),
            "at": index,
            "patterns": [{"label": label, "value": value} for label, value in patterns.items()],
            "kinds": table(self.at(seed, index)),
        }

    def _place(self, seed: int, index: int | None) -> int:
        return len(self.checkpoints(seed)) - 1 if index is None else index

    def _model(self, seed: int, index: int) -> Model:
        written = self._checkpoint(seed, index)["parameters"]
        arrays = {name: np.array(tenths) / 10**DECIMALS for name, tenths in written.items()}
        return self.recipe.untrained(seed).with_arrays(arrays, "learnt" if index else "drawn")

    def _checkpoint(self, seed: int, index: int) -> dict:
        checkpoints = self._run(seed)["checkpoints"]
        if index not in range(len(checkpoints)):
            raise SettingsError(f"checkpoint must be a whole number from 0 to {len(checkpoints) - 1}; got {index!r}.")
        return checkpoints[index]

    def _run(self, seed: int) -> dict:
        if seed not in self.seeds:
            raise SettingsError(f"seed must be one of {', '.join(map(str, self.seeds))} for this model; got {seed!r}.")
        return self._runs[seed]

    @cached_property
    def _runs(self) -> list[dict]:
        return json.loads((FOLDER / f"{self.recipe.id}.json").read_text("utf-8"))
