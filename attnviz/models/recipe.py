"""Recipe: what a model is before training, and how it is trained."""

from dataclasses import dataclass

import numpy as np

from attnviz.core.order import Norm
from attnviz.core.parameters import Parameters
from attnviz.core.rng import stream
from attnviz.models.adam import Decay
from attnviz.models.model import Model
from attnviz.models.task import Learnable


@dataclass(frozen=True)
class Recipe:
    """A model before training, and its training.

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
    n_heads : int
    n_neurons : int
        Of the MLP of each layer; 0 for none.
    norm : RMSNorm or LayerNorm, optional
        As in `Model`.
    spread : float, optional
        The standard deviation of every number before training; by default it depends on what the number is of.
    betas : pair of float
        How much Adam keeps of the mean of the slopes, and of that of their squares.
    decay : {"late", "linear"}
        How Adam's rate falls (see `Adam`).
    batch : int
        How many texts a step has.
    decimals : int
        With how many decimals parameters are kept.
    called : str
        What this recipe is, where a model has several.
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
    n_heads: int = 1
    n_neurons: int = 0
    norm: Norm | None = None
    spread: float | None = None
    betas: tuple[float, float] = (0.9, 0.999)
    decay: Decay = "late"
    batch: int = 64
    decimals: int = 1
    called: str = ""

    @property
    def steps(self) -> int:
        """The number of steps of training."""
        return self.checkpoints[-1]

    def untrained(self, seed: int) -> Model:
        """The model with random parameters: without `spread` N(0, 1 / rows) in matrices, N(0, 1 / 4) in vectors."""
        random, size = stream(self.id, seed), self.d_model
        of_head = (self.n_heads, size, size // self.n_heads)

        def drawn(*shape: int) -> np.ndarray:
            return random.normal(0, self.spread or shape[-2] ** -0.5, shape)

        def vectors(count: int) -> np.ndarray:
            return random.normal(0, self.spread or 0.5, (count, size))

        def layer() -> Parameters:
            attention = {name: drawn(*of_head) for name in ("w_q", "w_k", "w_v")} | {"w_o": drawn(size, size)}
            mlp = {"w_hidden": (size, self.n_neurons), "w_mlp": (self.n_neurons, size)} if self.n_neurons else {}
            return Parameters(**attention, **{name: drawn(*shape) for name, shape in mlp.items()})

        return Model(
            task=self.task,
            embedding=vectors(len(self.task.words)),
            positions=vectors(self.n_places) if self.n_places else None,
            layers=tuple(layer() for _ in range(self.n_layers)),
            unembedding=drawn(size, len(self.task.answers)),
            residual=self.residual,
            causal=self.causal,
            norm=self.norm,
            kind="drawn",
        )
