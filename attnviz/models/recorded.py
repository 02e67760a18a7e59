"""Recorded: trained models, kept as data, so that the same numbers are shown on every machine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from attnviz.core.errors import SettingsError
from attnviz.models.choice import Choice
from attnviz.models.kinds import tables
from attnviz.models.model import Model
from attnviz.models.recipe import Recipe

FOLDER = Path(__file__).parent / "recordings"
DECIMALS = 1
"""Parameters are kept at so many decimals, and written as whole numbers of tenths."""


class Recorded(Choice):
    """The models that were trained by one recipe: from several seeds, at several checkpoints along training."""

    def __init__(self, recipe: Recipe):
        self.recipe, self.task = recipe, recipe.task
        self.seeds = range(recipe.seeds)
        self._model = cache(self._read)
        self._kinds = cache(self._tables)

    def checkpoints(self, seed: int) -> Sequence[int]:
        return [each["step"] for each in self._run(seed)["checkpoints"]]

    def curve(self, seed: int) -> list[list[float]]:
        """Along training: the step, and the loss and accuracy on texts that were held out."""
        return self._run(seed)["curve"]

    def at(self, seed: int, checkpoint: int | None = None) -> Model:
        """The model of a checkpoint, counted from 0; the last for None.

        Raises
        ------
        SettingsError
            If there is none of that seed or at that place.
        """
        return self._model(seed, self._place(seed, checkpoint))

    def training_data(self, seed: int, checkpoint: int | None = None) -> dict:
        place = self._place(seed, checkpoint)
        patterns = self._run(seed)["checkpoints"][place]["patterns"]
        return {
            "curve": self.curve(seed),
            "checkpoints": self.checkpoints(seed),
            "at": place,
            "heldOut": self._run(seed)["held_out"],
            "met": self._run(seed)["met"],
            "patterns": [{"label": label, "value": value} for label, value in patterns.items()],
            "kinds": self._kinds(seed)[place],
        }

    def _read(self, seed: int, place: int) -> Model:
        written = self._run(seed)["checkpoints"][place]["parameters"]
        arrays = {name: np.array(tenths) / 10**DECIMALS for name, tenths in written.items()}
        return self.recipe.untrained(seed).with_arrays(arrays, "learnt" if place else "drawn")

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
        return json.loads((FOLDER / f"{self.recipe.id}.json").read_text("utf-8"))
