"""Besides: what a module's hooks can hear beside its projections, where attnviz reads that in their place.

T5 adds a bias by position to its scores, BLOOM one that it is called with. OLMo 2 norms all heads of its queries and
keys at once, which attnviz has no operation for. DeepSeek makes keys and values of a latent, and apart from these the
part of each key that knows positions.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Any

import numpy as np

POSITION_BIAS = "position_bias"
Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Latents:
    """Where queries, keys and values lie in what the projections of latent attention (MLA) return.

    Attributes
    ----------
    n_heads : int
    d_n, d_r : int
        How many numbers of a query and a key know nothing of positions, and how many are rotated by them.
    rank : int
        How many numbers a latent has.
    """

    n_heads: int
    d_n: int
    d_r: int
    rank: int

    @classmethod
    def of(cls, module: Any) -> Latents | None:
        """Those of a module that declares its lengths as DeepSeek's do; None of any other."""
        names = ("num_heads", "qk_nope_head_dim", "qk_rope_head_dim", "kv_lora_rank")
        lengths = [getattr(module, name, None) for name in names]
        return cls(*lengths) if all(isinstance(each, int) for each in lengths) else None

    def queries(self, rows: np.ndarray) -> Arrays:
        """The queries (heads, tokens, d_r + d_n): the dimensions that are rotated stand first."""
        cut = self._by_heads(rows)
        return {"q": np.concatenate([cut[..., self.d_n :], cut[..., : self.d_n]], axis=-1)}

    def keys_and_values(self, rows: np.ndarray, compressed: np.ndarray) -> Arrays:
        """The keys, as the queries are, and the values, of the expanded latents and of what holds the latents."""
        cut = self._by_heads(rows)
        rotated = np.broadcast_to(compressed[:, self.rank :], (*cut.shape[:-1], self.d_r))
        return {"k": np.concatenate([rotated, cut[..., : self.d_n]], axis=-1), "v": cut[..., self.d_n :]}

    def _by_heads(self, rows: np.ndarray) -> np.ndarray:
        return rows.reshape(len(rows), self.n_heads, -1).swapaxes(0, 1)


def besides(module: Any) -> dict[str, Any]:
    """The modules inside one that are heard beside its projections, by what they make."""
    children = dict(module.named_modules())
    heard = {}
    if "relative_attention_bias" in children:
        heard[POSITION_BIAS] = children["relative_attention_bias"]
    if has_latents(module):
        heard |= {
            "latent q": children.get("q_b_proj") or children["q_proj"],
            "compressed": children["kv_a_proj_with_mqa"],
            "latent kv": children["kv_b_proj"],
        }
    return heard


def has_latents(module: Any) -> bool:
    """Whether a module makes its keys and values of a latent, by DeepSeek's names."""
    children = dict(module.named_modules())
    return {"kv_a_proj_with_mqa", "kv_b_proj", "o_proj"} <= children.keys() and Latents.of(module) is not None


def notes(besides: Container[str]) -> str:
    """A sentence on what is taken otherwise than the module's parameters say; empty where nothing is."""
    if "latent kv" in besides:
        return (
            "its keys and values come from a latent. Queries, keys and values are recorded as they are before RoPE, "
            "the dimensions that it turns first."
        )
    if "g_q_norm" in besides:
        return (
            "it norms all heads of its queries and keys at once, which attnviz has no operation for. They are recorded "
            "as they are after that."
        )
    return ""
