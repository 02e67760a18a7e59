"""Effect: which options mean something beside the others."""

from collections.abc import Mapping, Sequence

from attnviz.core.limits import MAX_LAYERS
from attnviz.core.masks import SIZED, WITHOUT_WINDOW
from attnviz.core.operations.rotation import PAIRS
from attnviz.core.settings import LATENTS

NEEDS: dict[str, Mapping[str, Sequence]] = {
    "mask_size": {"mask": SIZED},
    "latent_width": {"sharing": LATENTS},
    "query_latent_width": {"sharing": LATENTS},
    "qk_norm": {"sharing": ("none", "pairs", "all")},
    "rope_base": {"rope": PAIRS},
    "rope_part": {"rope": PAIRS},
    "window_in": {"mask": tuple(WITHOUT_WINDOW), "layers": range(2, MAX_LAYERS + 1)},
}
"""Options that mean nothing unless others have one of these values each."""


def has_effect(options: object, name: str) -> bool:
    """Whether an option means something beside the others, which are attributes of `options`."""
    return all(getattr(options, other) in values for other, values in NEEDS.get(name, {}).items())
