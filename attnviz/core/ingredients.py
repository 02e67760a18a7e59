"""Ingredients: what settings make a pass of: what enters it, and of each layer the parameters and the mask."""

from dataclasses import replace

import numpy as np

from attnviz.core.embeddings import POSITIONS, embed
from attnviz.core.initialisers import INITIALISERS, stream_in_layer, with_latent
from attnviz.core.inputs import input_stages
from attnviz.core.layers import layered
from attnviz.core.masks import MASKS, REASONS
from attnviz.core.parameters import LATENT_AXES, Parameters
from attnviz.core.settings import Settings
from attnviz.core.stage import Stage
from attnviz.core.whole import WholeNumbers

SINKS = {
    "none": "",
    "zero": "0 in each head: softmax plus one",
    "drawn": "drawn from N(0, 1) by the seed {seed}",
}


def entering(tokens: tuple[str, ...], settings: Settings, *, context: bool = False) -> dict[str, Stage]:
    """The stages from a sentence to what is projected."""
    embeddings = embed(tokens, settings.d_model, settings.seed)
    encode = POSITIONS[settings.positions]
    positions = encode and (encode(len(tokens), settings.d_model), f"{settings.positions} encoding of the position")
    recipe = f"drawn from N(0, 1) by the word and the seed {settings.seed}"
    return input_stages((embeddings, recipe), positions, context=context)


def entering_whole(whole: WholeNumbers) -> dict[str, Stage]:
    """The stages from whole embeddings to what is projected."""
    recipe = f"0, 1 or 2, drawn by the word and the seed {whole.seed} until the whole pass is easy to compute by hand"
    return input_stages((whole.embeddings, recipe), None)


def drawn(settings: Settings, layer: int) -> Parameters:
    """The parameters of a layer as the initialiser draws them; shared keys and values have those of their first head.

    From a latent they have matrices of their own.
    """
    name, seed = settings.initialiser, settings.seed
    parameters = INITIALISERS[name](settings.d_model, settings.n_heads, seed, layer)
    if settings.has_latents:
        widths = (settings.latent_width, settings.query_latent_width)
        parameters = with_latent(name, parameters, widths, settings.n_turned, seed, layer)
    elif settings.shared_by > 1:
        parameters = replace(
            parameters, **{each: getattr(parameters, each)[:: settings.shared_by] for each in ("w_k", "w_v")}
        )
    if settings.sinks == "none":
        return parameters
    random = stream_in_layer("sinks", seed, layer)
    is_drawn = settings.sinks == "drawn"
    return replace(
        parameters, sinks=random.standard_normal(settings.n_heads) if is_drawn else np.zeros(settings.n_heads)
    )


def mask(settings: Settings, layer: int) -> np.ndarray:
    """The mask of a layer."""
    n_queries, n_keys = len(settings.tokens), len(settings.context_tokens)
    return MASKS[settings.mask_in_layer(layer)](n_queries, n_keys, settings.mask_size)


def recipes(settings: Settings, whole: WholeNumbers | None) -> dict[str, str]:
    """Where each stage of each layer comes from that is given."""
    drawn = f"drawn by the initialiser “{settings.initialiser}” from the seed {whole.seed if whole else settings.seed}"
    by_stage = {}
    for layer in range(1, settings.layers + 1):
        name = settings.mask_in_layer(layer)
        of_layer = {
            **dict.fromkeys(("w_q", "w_k", "w_v", "w_o", *LATENT_AXES), drawn),
            "sinks": SINKS[settings.sinks].format(seed=settings.seed),
            "mask": f"the mask “{name}”: {REASONS[name].format(size=settings.mask_size)}",
        }
        number = layer if settings.layers > 1 else 0
        by_stage |= {layered(each, number): recipe for each, recipe in of_layer.items()}
    return by_stage
