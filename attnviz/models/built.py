"""Built: a model whose parameters were chosen, and none learnt."""

from collections.abc import Sequence

from attnviz.models.choice import Choice
from attnviz.models.model import Model


class Built(Choice):
    """The one model that there is of its kind."""

    seeds = (0,)

    def __init__(self, model: Model):
        self.model, self.task = model, model.task

    def checkpoints(self, seed: int) -> Sequence[int]:
        return (0,)

    def at(self, seed: int, checkpoint: int | None = None) -> Model:
        return self.model

    def training_data(self, seed: int, checkpoint: int | None = None) -> None:
        return None
