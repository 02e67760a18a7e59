"""Recipe: what a model is before training, and how it is trained."""

from dataclasses import dataclass

import numpy as np

from attnviz.core.parameters import Parameters
from attnviz.core.streams import stream
from attnviz.models.model import Model
from attnviz.models.task import Learnable


@dataclass(frozen=True)
class Recipe:
    """What a model is before training, and how it is trained.

    Attributes
    ----------
    id : str
        The name of the model in addresses and of its file; its random numbers depend on it and the seed alone.
    task : Learnable
    d_model : int
    rate : float
        How far Adam moves each parameter in a step.
    checkpoints : tuple of int
        After how many steps the parameters are kept; the last is the end of training.
    seeds : int
        How many models are trained, from the seeds 0, 1, ...
    n_places : int
        For how many tokens positions are learnt; 0 for none.
    n_layers : int
    residual, causal : bool
    """

    id: str
    task: Learnable
    d_model: int
    rate: float
    checkpoints: tuple[int, ...]
    seeds: int = 1
    n_places: int = 0
    n_layers: int = 1
    residual: bool = False
    causal: bool = False

    @property
    def steps(self) -> int:
        """How many steps of training there are."""
        return self.checkpoints[-1]

    def untrained(self, seed: int) -> Model:
        """The model with random parameters: each number N(0, 1 / rows) in matrices, N(0, 1 / 4) in vectors."""
        random, size = stream(self.id, seed), self.d_model
        square = (size, size)

        def drawn(*shape: int) -> np.ndarray:
            return random.normal(0, shape[-2] ** -0.5, shape)

        def vectors(count: int) -> np.ndarray:
            return random.normal(0, 0.5, (count, size))

        return Model(
            task=self.task,
            embedding=vectors(len(self.task.words)),
            positions=vectors(self.n_places) if self.n_places else None,
            layers=tuple(
                Parameters(w_q=drawn(1, *square), w_k=drawn(1, *square), w_v=drawn(1, *square), w_o=drawn(*square))
                for _ in range(self.n_layers)
            ),
            unembedding=drawn(size, len(self.task.answers)),
            residual=self.residual,
            causal=self.causal,
            kind="drawn",
        )
