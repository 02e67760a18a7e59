"""Models: attention whose parameters mean something, since they were learnt or chosen for a task.

>>> from attnviz.models import MODELS
>>> trained = MODELS["who-is-it"].at(seed=0)
>>> trace = trained.trace("the animal did not cross the street because it was too tired")
>>> trained.task.answers[trace["probabilities"].value[-1].argmax()]
'animal'
"""

from attnviz.models import byhand
from attnviz.models.built import Built
from attnviz.models.choice import Choice
from attnviz.models.recipes import RECIPES
from attnviz.models.recorded import Recorded
from attnviz.models.statefile import microgpt

MODELS: dict[str, Choice] = {
    "microgpt": Recorded(RECIPES["microgpt"], RECIPES["microgpt-own"]),
    "who-is-it": Recorded(RECIPES["who-is-it"]),
    "mirror": Recorded(RECIPES["mirror"]),
    "recall": Recorded(RECIPES["recall"]),
    "by-hand": Built(byhand.MODEL),
    "at-it": Recorded(RECIPES["at-it"]),
    "short-cut": Recorded(RECIPES["short-cut"]),
}
"""All models by their ids, which stand in addresses."""

__all__ = ["MODELS", "microgpt"]
