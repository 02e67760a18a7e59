"""Record caches of TransformerLens, with its version: `python tests/lenscaches.py` where it is installed.

    pip install "transformer_lens<3" && PYTHONPATH=tests python tests/lenscaches.py

Two layers of random weights: plain; with RMSNorm and RoPE; with two groups of keys and values.
"""

from pathlib import Path

import numpy as np

RECORDED = Path(__file__).parent / "data" / "transformerlens.npz"
SIZES = {"n_layers": 2, "d_model": 8, "n_ctx": 6, "d_head": 4, "n_heads": 4, "d_vocab": 5, "act_fn": "gelu", "seed": 1}
CASES = {
    "plain": {"normalization_type": "LN"},
    "rotary": {"normalization_type": "RMS", "positional_embedding_type": "rotary", "rotary_dim": 4},
    "groups": {"normalization_type": "LN", "n_key_value_heads": 2},
}


def recorded(name: str) -> dict[str, np.ndarray]:
    """The cache of a case with the parameters beside it."""
    arrays = np.load(RECORDED)
    return {each.removeprefix(f"{name}/"): arrays[each] for each in arrays.files if each.startswith(f"{name}/")}


def main() -> None:
    """Call each model with two sentences of four tokens, and keep all that its layers leave in the cache."""
    from importlib.metadata import version

    import torch
    from transformer_lens import HookedTransformer, HookedTransformerConfig

    kept = {"version": np.array(version("transformer_lens"))}
    for name, options in CASES.items():
        model = HookedTransformer(HookedTransformerConfig(**SIZES, **options))
        _, cache = model.run_with_cache(torch.tensor([[0, 1, 2, 3], [4, 3, 1, 0]]))
        arrays = {**cache, **model.state_dict()}
        of_attention = [each for each in arrays if each.startswith("blocks") and ("attn" in each or "ln1" in each)]
        kept |= {f"{name}/{each}": np.asarray(arrays[each].detach()) for each in of_attention}
    np.savez_compressed(RECORDED, **kept)


if __name__ == "__main__":
    main()
