"""Inputs: the stages from a sentence to what is projected."""

import numpy as np

from attnviz.core.arrays import real
from attnviz.core.builder import Builder
from attnviz.core.operations.addition import Addition
from attnviz.core.operations.identity import Identity
from attnviz.core.operations.layernorm import LayerNorm
from attnviz.core.operations.rmsnorm import RMSNorm
from attnviz.core.operations.source import Source
from attnviz.core.stage import Stage

Sourced = tuple[np.ndarray, str]
"""An array (tokens, d_model), and where it is from."""


def input_stages(
    embeddings: Sourced, positions: Sourced | None, *, context: bool = False, norm: RMSNorm | LayerNorm | None = None
) -> dict[str, Stage]:
    """The embeddings, the positions if any, their sum, and what a norm makes of it if there is one.

    Parameters
    ----------
    embeddings, positions : pair of ndarray (tokens, d_model) and str
    context : bool
        Whether it is the context that enters, and not `x`.
    norm : RMSNorm or LayerNorm, optional
        What makes `x` of the sum, which is then called `embedded`.
    """
    build = Builder()
    prefix, axes = ("context_", ("context token", "d_model")) if context else ("", ("token", "d_model"))
    given = {"embeddings": embeddings, **({"positions": positions} if positions else {})}
    for name, (value, recipe) in given.items():
        build.give(Stage.given(f"{prefix}{name}", real(f"{prefix}{name}", value, axes), axes, Source(recipe)))
    operation = Addition() if positions else Identity(axes[0])
    entered = "context" if context else "x"
    embedded = build.apply("embedded" if norm else entered, operation, *build.stages.values())
    if norm:
        build.apply(entered, norm, embedded)
    return build.stages
