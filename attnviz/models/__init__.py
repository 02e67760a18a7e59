"""Models: attention whose parameters mean something, since they were learnt or chosen for a task.

>>> from attnviz.models import MODELS
>>> trained = MODELS["who-is-it"].at(seed=0)
>>> trace = trained.trace("the animal did not cross the street because it was too tired")
>>> trained.task.answers[trace["probabilities"].value[-1].argmax()]
'animal'
"""

from attnviz.models import induction_byhand
from attnviz.models.model import Built, PickableModel
from attnviz.models.recipes import RECIPES
from attnviz.models.statefile import microgpt
from attnviz.models.trained import TrainedModel

MODELS: dict[str, PickableModel] = {
    "microgpt": TrainedModel(RECIPES["microgpt"], RECIPES["microgpt-own"]),
    "who-is-it": TrainedModel(RECIPES["who-is-it"]),
    "mirror": TrainedModel(RECIPES["mirror"]),
    "recall": TrainedModel(RECIPES["recall"]),
    "by-hand": Built(induction_byhand.MODEL),
    "at-it": TrainedModel(RECIPES["at-it"]),
    "short-cut": TrainedModel(RECIPES["short-cut"]),
    "translator": TrainedModel(RECIPES["translator"]),
}
"""All models by their ids, which stand in addresses."""

__all__ = ["MODELS", "microgpt"]
