"""Libraries: wrong and right lines of common causes in the words of the library whose names the arrays have.

They have the same slots as the cause's PyTorch lines, which are used where a library has none here.
"""

import re
from collections.abc import Iterable, Mapping

Lines = Mapping[str, tuple[str, str]]  # wrong and right by the cause's id

_MODULE: Lines = {  # nn.MultiheadAttention is called with its mask
    "mask inverted": ("attn(x, x, x, attn_mask=mask)", "attn(x, x, x, attn_mask=~mask)"),
    "mask not applied": ("attn(x, x, x)", "attn(x, x, x, attn_mask=~mask)"),
    "dropout left on": ("attn(x, x, x)", "attn.eval(); attn(x, x, x)"),
}

_IN_OUT: Lines = {  # matrices that rows are multiplied by as they stand
    "transposed": ("{product} = {factor} @ w_{part}.T", "{product} = {factor} @ w_{part}"),
    "bias forgotten": ("{product} = {factor} @ w_{part}", "{product} = {factor} @ w_{part} + b_{part}"),
    "matrices swapped": (
        "{letter}, {other} = x @ w_{other}, x @ w_{letter}",
        "{letter}, {other} = x @ w_{letter}, x @ w_{other}",
    ),
    "matrix of another projection": ("{letter} = x @ w_{other}", "{letter} = x @ w_{letter}"),
}

# --- Hugging Face: the eager function of its models

_HF_DOTS = "attn_weights = torch.matmul(query, key_states.transpose(2, 3))"
_HF_SCALED = f"{_HF_DOTS} * scaling"
_HF_SOFTMAX = "attn_weights = nn.functional.softmax(attn_weights, dim=-1)"
_HF_MIXED = "attn_output = torch.matmul(attn_weights, value_states)"
_HF_PROJECTED = "{letter} = self.{letter}_proj(hidden_states)"
_HF_SPLIT = f"{_HF_PROJECTED}.view(*input_shape, -1, head_dim).transpose(1, 2)"
_HF_JOINED = "attn_output = attn_output.transpose(1, 2).reshape(*input_shape, -1)"
_HUGGING_FACE: Lines = {
    "unscaled": (_HF_DOTS, _HF_SCALED),
    "wrong scale": (f"{_HF_DOTS} / {{divisor}}", _HF_SCALED),
    "scaled twice": (f"{_HF_SCALED} * scaling", _HF_SCALED),
    "scale inverted": (f"{_HF_DOTS} / scaling", _HF_SCALED),
    "softmax along the wrong axis": (_HF_SOFTMAX.replace("-1", "{dim}"), _HF_SOFTMAX),
    "mask not applied": (_HF_SOFTMAX, f"attn_weights = attn_weights + attention_mask; {_HF_SOFTMAX}"),
    "mask inverted": (
        "attention_mask = torch.where(mask, torch.finfo(dtype).min, 0)",
        "attention_mask = torch.where(mask, 0, torch.finfo(dtype).min)",
    ),
    "matrix of another projection": (_HF_PROJECTED.replace("self.{letter}", "self.{other}"), _HF_PROJECTED),
    "rotation left out": (_HF_SCALED, "query, key = apply_rotary_pos_emb(query, key, cos, sin)"),
    "keys used as values": (_HF_MIXED.replace("value", "key"), _HF_MIXED),
    "heads split without transposing": (f"{_HF_PROJECTED}.view(batch, -1, seq_len, head_dim)", _HF_SPLIT),
    "heads joined without transposing": ("attn_output = attn_output.reshape(*input_shape, -1)", _HF_JOINED),
    "groups tiled": ("{letter} = {letter}.repeat(1, n_rep, 1, 1)", "{letter} = repeat_kv({letter}, n_rep)"),
    "dropout left on": (
        "attn_weights = nn.functional.dropout(attn_weights, p=dropout)",
        "attn_weights = nn.functional.dropout(attn_weights, p=dropout, training=module.training)",
    ),
}

# --- Keras and Flax, whose heads are on the axis after the tokens

_FLAX_DOTS = 'scores = jnp.einsum("...qhd,...khd->...hqk", query, key)'
_FLAX_SCALED = f"{_FLAX_DOTS} / {{right}}"
_FLAX_SOFTMAX = "weights = jax.nn.softmax(scores, axis=-1)"
_FLAX_HIDDEN = "scores = jnp.where(mask, scores, jnp.finfo(dtype).min)"
_FLAX_MIXED = 'out = jnp.einsum("...hqk,...khd->...qhd", weights, value)'
_FLAX: Lines = {
    **_IN_OUT,
    "unscaled": (_FLAX_DOTS, _FLAX_SCALED),
    "wrong scale": (f"{_FLAX_DOTS} / {{divisor}}", _FLAX_SCALED),
    "softmax along the wrong axis": (_FLAX_SOFTMAX.replace("-1", "{dim}"), _FLAX_SOFTMAX),
    "mask inverted": (_FLAX_HIDDEN.replace("(mask", "(~mask"), _FLAX_HIDDEN),
    "mask not applied": (_FLAX_SOFTMAX, f"{_FLAX_HIDDEN}; {_FLAX_SOFTMAX}"),
    "attention transposed": (_FLAX_MIXED.replace("...hqk,", "...hkq,"), _FLAX_MIXED),
    "keys used as values": (_FLAX_MIXED.replace("value", "key"), _FLAX_MIXED),
    "q and k swapped": (_FLAX_DOTS.replace("query, key", "key, query"), _FLAX_DOTS),
    "heads split without transposing": (
        "{letter} = {letter}.reshape(n, n_heads, t, d_k).swapaxes(1, 2)",
        "{letter} = {letter}.reshape(n, t, n_heads, d_k)",
    ),
    "heads joined without transposing": (
        "out = out.swapaxes(1, 2).reshape(n, t, d_model)",
        "out = out.reshape(n, t, d_model)",
    ),
    "groups tiled": (
        "{letter} = jnp.tile({letter}, (1, 1, n_heads // n_groups, 1))",
        "{letter} = jnp.repeat({letter}, n_heads // n_groups, axis=2)",
    ),
    "dropout left on": ("attn(x, deterministic=False)", "attn(x, deterministic=True)"),
}

# --- NumPy, for one sentence

_NP_DOTS = "scores = q @ k.swapaxes(-2, -1)"
_NP_SCALED = f"{_NP_DOTS} / {{right}}"
_NP_SOFTMAX = "attention = softmax(scores, axis=-1)"
_NP_HIDDEN = "scores = np.where(mask, scores, -np.inf)"
_NP_SPLIT = "{letter} = {letter}.reshape(t, n_heads, d_k).swapaxes(0, 1)"
_NP_JOINED = "out = heads.swapaxes(0, 1).reshape(t, d_model)"
NUMPY: Lines = {
    **_IN_OUT,
    "unscaled": (_NP_DOTS, _NP_SCALED),
    "wrong scale": (f"{_NP_DOTS} / {{divisor}}", _NP_SCALED),
    "softmax along the wrong axis": (_NP_SOFTMAX.replace("-1", "{dim}"), _NP_SOFTMAX),
    "mask inverted": (_NP_HIDDEN.replace("(mask", "(~mask"), _NP_HIDDEN),
    "mask not applied": (_NP_SOFTMAX, f"{_NP_HIDDEN}; {_NP_SOFTMAX}"),
    "mask multiplied": ("scores = scores * mask", _NP_HIDDEN),
    "mask transposed": (_NP_HIDDEN.replace("(mask", "(mask.T"), _NP_HIDDEN),
    "q and k swapped": ("scores = k @ q.swapaxes(-2, -1)", _NP_DOTS),
    "attention transposed": ("heads = attention.swapaxes(-2, -1) @ v", "heads = attention @ v"),
    "heads split without transposing": ("{letter} = {letter}.reshape(n_heads, t, d_k)", _NP_SPLIT),
    "heads joined without transposing": ("out = heads.reshape(t, d_model)", _NP_JOINED),
    "groups tiled": (
        "{letter} = np.tile({letter}, (n_heads // n_groups, 1, 1))",
        "{letter} = np.repeat({letter}, n_heads // n_groups, axis=0)",
    ),
}

# --- Which library

LIBRARIES: tuple[tuple[str, Lines], ...] = (  # the first whose pattern matches a name
    (r"(?:.*[./])?in_proj_(?:weight|bias)", _MODULE),
    (r".*[./]kernel(?::0)?", _FLAX),
    (r"(?:.*[./])?(?:hidden_states|attention_mask|position_embeddings)", _HUGGING_FACE),
    (r".*(?:self_attn|attention[./]self|c_attn|query_key_value)[./].*", _HUGGING_FACE),
    (r".*[./](?:weight|bias)", {}),
)


def lines_of(names: Iterable[str], is_in_out: bool) -> Lines:
    """The lines of the library that the arrays' names are of: of other names, NumPy's if matrices are (in, out)."""
    names = [*names]
    found = (lines for pattern, lines in LIBRARIES if any(re.fullmatch(pattern, each, re.DOTALL) for each in names))
    return next(found, NUMPY if is_in_out else {})
