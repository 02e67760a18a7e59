"""Models: attention whose parameters mean something, since they were learnt or chosen for a task.

>>> from attnviz.models import MODELS
>>> trained = MODELS["who-is-it"]
>>> trace = trained.at(seed=0).trace("the animal did not cross the street because it was too tired")
>>> trained.task.answers[trace["probabilities"].value[-1].argmax()]
'animal'
"""

from attnviz.models.recipes import RECIPES
from attnviz.models.recorded import Recorded

MODELS: dict[str, Recorded] = {id: Recorded(recipe) for id, recipe in RECIPES.items()}
"""The models by their ids."""

__all__ = ["MODELS"]
