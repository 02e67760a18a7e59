"""Block: what a layer has, but for its arrays."""

from __future__ import annotations

from dataclasses import dataclass

from attnviz.core.operations.gelu import GELU
from attnviz.core.operations.layernorm import LayerNorm
from attnviz.core.operations.operation import Operation
from attnviz.core.operations.relu import ReLU
from attnviz.core.operations.rmsnorm import RMSNorm
from attnviz.core.operations.rotation import Rotation
from attnviz.core.operations.softmax import Softmax

Norm = RMSNorm | LayerNorm
Activation = ReLU | GELU
RELU = ReLU()
RMS_NORM = RMSNorm()
NORMS: dict[str, Norm] = {"rmsnorm": RMS_NORM, "layernorm": LayerNorm()}
ACTIVATIONS: dict[str, Activation] = {"relu": RELU, "relu2": ReLU(squared=True), "gelu": GELU()}
"""By their names; GELU is the exact one, as in PyTorch."""

ALL_ACTIVATIONS = ACTIVATIONS | {"gelu tanh": GELU(tanh=True)}
"""Those of models that somebody's own arrays may be of."""


@dataclass  # one is made for each layer of each pass, and a frozen one takes thrice as long
class Block:
    """A layer but for its arrays.

    Attributes
    ----------
    n_heads : int
        How often x is repeated where nothing projects it.
    d_k : int or None
        The length of a query; None if it isn't known, and scores can't be scaled.
    scale : float, optional
        What scores are multiplied by; 1 / sqrt(d_k) by default.
    normalise : type of Operation
        What makes attention of the masked scores.
    unprojected : bool
        Whether x itself is the queries, keys or values that have no matrix.
    attn_norm, mlp_norm : Norm, optional
        What stands before attention, and before the MLP.
    residual : bool
        Whether outputs are added to what entered.
    activation : Activation
        What stands between the two matrices of the MLP.
    qk_norm : RMSNorm, optional
        What norms each query and each key.
    rotation : Rotation, optional
        What turns queries and keys by their positions.
    softcap : float, optional
        What no score gets beyond.
    alibi : bool
        Whether each score loses a number that grows with the distance of its key.
    block_size : int, optional
        Of how many keys a query reads at once; without it all, and a row of all shares is kept.
    latent_norm : RMSNorm
        What norms latents, where keys and values, or queries too, come from such.
    expanded, absorbed : bool
        Whether latents are made into keys and values (naive), or queries and what heads find take the matrices of
        that over (absorbed).
    decoupled : bool
        Whether queries and keys have a part of their own for positions, whose scores are added.
    """

    n_heads: int
    d_k: int | None = None
    scale: float | None = None
    normalise: type[Operation] = Softmax
    unprojected: bool = True
    attn_norm: Norm | None = None
    mlp_norm: Norm | None = None
    residual: bool = False
    activation: Activation = RELU
    qk_norm: RMSNorm | None = None
    rotation: Rotation | None = None
    softcap: float | None = None
    alibi: bool = False
    block_size: int | None = None
    latent_norm: RMSNorm = RMS_NORM
    expanded: bool = True
    absorbed: bool = False
    decoupled: bool = False
