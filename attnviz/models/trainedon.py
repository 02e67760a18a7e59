"""Trained on: which of the names that there are a training has drawn, and in which step first."""

from collections.abc import Mapping

import numpy as np

from attnviz.models.recipe import Recipe
from attnviz.models.training import random_of


def first_steps(recipe: Recipe, seed: int) -> Mapping[str, int]:
    """The step in which each name is first trained on; without those that are never drawn.

    Parameters
    ----------
    recipe : Recipe
        Of a task that draws names (`Names`).
    seed : int

    Examples
    --------
    >>> from attnviz.models.recipes import OWN_MICROGPT
    >>> steps = first_steps(OWN_MICROGPT, 0)
    >>> len(steps), max(steps.values())
    (981, 1000)
    """
    names, random = recipe.task.names, random_of(recipe, seed)
    recipe.task.drawn(random, 1)  # which no step has
    drawn = recipe.task.drawn(random, recipe.steps * recipe.batch)
    steps = np.zeros(len(names), dtype=int)
    steps[drawn[::-1]] = np.arange(len(drawn))[::-1] // recipe.batch + 1  # of a name that comes twice the first stays
    return {names[place]: int(steps[place]) for place in np.flatnonzero(steps)}
