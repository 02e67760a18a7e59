"""Effect: which options mean something beside the others."""

from collections.abc import Mapping, Sequence
from typing import Any

from attnviz.core.limits import MAX_LAYERS
from attnviz.core.masks import SIZED, WITHOUT_WINDOW, has_global_layer
from attnviz.core.operations.rotation import PAIRS
from attnviz.core.settings import LATENTS, has_pairs

NEEDS: dict[str, Mapping[str, Sequence]] = {
    "mask_size": {"mask": SIZED},
    "latent_width": {"sharing": LATENTS},
    "query_latent_width": {"sharing": LATENTS},
    "qk_norm": {"sharing": ("none", "pairs", "all")},
    "rope_base": {"rope": PAIRS},
    "rope_base_global": {"rope": PAIRS},
    "rope_part": {"rope": PAIRS},
    "window_in": {"mask": tuple(WITHOUT_WINDOW), "layers": range(2, MAX_LAYERS + 1)},
}
"""Options that mean nothing unless others have one of these values each."""


def has_effect(options: Any, name: str) -> bool:
    """Whether an option means something beside the others, which are attributes of `options`."""
    if name == "rope":
        return has_pairs(options.d_model, options.n_heads, options.sharing)
    if name == "rope_base_global" and not has_global_layer(options.mask, options.window_in, options.layers):
        return False
    return all(getattr(options, other) in values for other, values in NEEDS.get(name, {}).items())
