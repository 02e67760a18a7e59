"""Names: the stage and the layer of an array, told by the name that a library or its author gave it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from attnviz.checks.read.stages import stages
from attnviz.core.errors import OwnArraysError
from attnviz.core.stage import split_layer

Orientation = Literal["(in, out)", "(out, in)"]
Meaning = Literal["visible", "hidden"]
MEANINGS: tuple[Meaning, ...] = ("visible", "hidden")


@dataclass(frozen=True)
class Convention:
    """What True means in the masks of a library."""

    library: str
    true_is: Meaning


@dataclass(frozen=True)
class Named:
    """The meaning of an array's name.

    Attributes
    ----------
    stage : str
        The stage; "w_qkv" and "b_qkv" for fused q, k and v.
    orientation : {"(in, out)", "(out, in)"}, optional
        The layout of matrices in the library that uses this name; None for a generic name.
    true_is : {"visible", "hidden"}, optional
        What True means in a mask of this name.
    """

    stage: str
    orientation: Orientation | None = None
    true_is: Meaning | None = None


_OUT_IN, _IN_OUT = "(out, in)", "(in, out)"
# The output matrix in GPT-NeoX and BLOOM, BERT, Phi, timm and DistilBERT
_BEFORE_O = r"(?:self_)?attention[./](?:output[./])?dense|self_attn[./]dense|attn[./]proj|out_lin"
_PATTERNS: tuple[tuple[str, Named], ...] = (
    # torch.nn.MultiheadAttention
    (r"in_proj_weight", Named("w_qkv")),
    (r"in_proj_bias", Named("b_qkv")),
    *((rf"{each}_proj_weight", Named(f"w_{each}", _OUT_IN)) for each in "qkv"),
    (r"(?:src_|tgt_)?key_padding_mask", Named("mask", true_is="hidden")),
    # GPT-2 and nanoGPT share names; their shapes tell them apart
    (r"c_attn[./]weight", Named("w_qkv")),
    (r"c_attn[./]bias", Named("b_qkv")),
    (r"attn[./]c_proj[./]weight|c_proj[./]weight", Named("w_o")),
    (r"attn[./]c_proj[./]bias|c_proj[./]bias", Named("b_o")),
    # layers of their own: of BERT, Raschka, Llama, d2l and T5 query, W_query, q_proj, W_q and q
    *(
        (rf"(?:(?:w_)?{word}|{each}_proj|{each}_lin|(?:w_?)?{each}|to_{each})[./]weight", Named(f"w_{each}", _OUT_IN))
        for each, word in (("q", "query"), ("k", "key"), ("v", "value"))
    ),
    *(
        (rf"(?:(?:w_)?{word}|{each}_proj|{each}_lin|(?:w_?)?{each}|to_{each})[./]bias", Named(f"b_{each}"))
        for each, word in (("q", "query"), ("k", "key"), ("v", "value"))
    ),
    *(
        (rf"linears[./]{at}[./]{kind}", Named(f"{kind[0]}_{each}", _OUT_IN if kind == "weight" else None))
        for at, each in enumerate("qkvo")
        for kind in ("weight", "bias")
    ),
    *(
        (rf"(?:{_BEFORE_O}|out_proj|o_proj|(?:w_?)?o|to_out(?:[./]0)?)[./]{kind}", Named(f"{kind[0]}_o", says))
        for kind, says in (("weight", _OUT_IN), ("bias", None))
    ),
    # of Qwen 3, Gemma 3 and OLMo 2, and of gpt-oss
    *((rf"{each}_?norm[./]weight|norm_?{each}[./]weight", Named(f"g_{each}_norm")) for each in "qk"),
    (r"sinks?", Named("sinks")),
    # Keras and Flax
    *(
        (rf"{word}[./]{kind}(?::0)?", Named(f"{letter}_{each}", _IN_OUT if kind == "kernel" else None))
        for each, word in (("q", "query"), ("k", "key"), ("v", "value"), ("o", "(?:attention_output|out)"))
        for letter, kind in (("w", "kernel"), ("b", "bias"))
    ),
    # TransformerLens; its W_Q is generic
    *((rf"hook_{each}", Named(each)) for each in "qkv"),
    (r"hook_attn_scores", Named("masked")),
    (r"hook_pattern", Named("attention")),
    (r"hook_z", Named("heads")),
    (r"hook_result", Named("contributions")),
    (r"hook_attn_out", Named("output")),
    (r"ln1[./]hook_normalized", Named("x")),
    *((rf"_{kind}_{each}", Named(f"{kind}_{each}".lower())) for kind in "Wb" for each in "KV"),  # those of groups
    # microgpt
    *((rf"attn_w{each}", Named(f"w_{each}", _OUT_IN)) for each in "qkvo"),
    # what anyone writes
    *(
        (rf"w_?{each}|{word}_weight|w_{word}", Named(f"w_{each}"))
        for each, word in zip("qkv", ("query", "key", "value"), strict=True)
    ),
    *(
        (rf"b_?{each}|{word}_bias|b_{word}", Named(f"b_{each}"))
        for each, word in zip("qkv", ("query", "key", "value"), strict=True)
    ),
    (r"w_?o|w_out|w_output", Named("w_o")),
    (r"b_?o|b_out|b_output", Named("b_o")),
    (r"w_?qkv|(?:qkv|wqkv|qkv_proj|query_key_value)[./]weight", Named("w_qkv")),
    (r"b_?qkv|(?:qkv|wqkv|qkv_proj|query_key_value)[./]bias", Named("b_qkv")),
    *((rf"{each}_(?:rot(?:ated)?|roped?|embed)|hook_rot_{each}", Named(f"{each}_rotated")) for each in "qk"),
    *((rf"{each}_normed|{each}_norm", Named(f"{each}_normed")) for each in "qk"),
    (r"(?:soft_?)?capped(?:_scores)?", Named("capped")),
    (r"biased(?:_scores)?", Named("biased")),
    (r"q|query|queries", Named("q")),
    (r"k|key|keys", Named("k")),
    (r"v|value|values", Named("v")),
    (r"x|inputs?|hidden_states", Named("x")),
    (r"context|memory|encoder_hidden_states", Named("context")),
    (r"embeddings", Named("embeddings")),
    (r"positions", Named("positions")),
    (r"scores|(?:attn|attention)_scores", Named("scores")),
    (r"scaled(?:_scores)?", Named("scaled")),
    (r"masked(?:_scores)?", Named("masked")),
    (r"(?:attn_|attention_|causal_|padding_|pad_|src_|tgt_)?mask", Named("mask")),
    (r"alibi|(?:relative_)?position_bias", Named("mask")),  # what is added to scores: of BLOOM, and of T5
    (
        r"a|att|attn|attentions?|weights|probs|pattern|(?:attn|attention)_(?:weights|probs)|attn_output_weights|softmax",
        Named("attention"),
    ),
    (r"heads|z|head_outputs?", Named("heads")),
    (r"concat(?:enated)?", Named("concat")),
    (r"contributions", Named("contributions")),
    (r"y|out|outputs?|(?:attn|attention)_out(?:put)?", Named("output")),
    (r"residual", Named("residual")),
)
_TABLE = [(re.compile(rf"(?:.*[./])?(?:{pattern})", re.IGNORECASE | re.DOTALL), named) for pattern, named in _PATTERNS]


def named(name: str) -> Named | None:
    """The meaning of a name; a prefix such as "blocks.0.attn." is ignored.

    Examples
    --------
    >>> named("transformer.h.0.attn.c_attn.weight").stage, named("blocks.0.attn.hook_z").stage, named("W_Q").stage
    ('w_qkv', 'heads', 'w_q')
    >>> named("mlp.c_proj.weight"), named("q_proj.weight").orientation
    (None, '(out, in)')
    """
    if name in stages():
        return Named(name)
    if re.search(r"(?:^|[./_])(?:mlp|ffn|intermediate|cross_?attn)[./_]", name, re.IGNORECASE):
        return None
    return next((each for pattern, each in _TABLE if pattern.fullmatch(name)), None)


_OF_TORCH = re.compile(r"(?:.*[./])?(?:in_proj_(?:weight|bias)|[qkv]_proj_weight)", re.DOTALL)
_OF_KERNELS = re.compile(r"(?:.*[./])?(?:query|key|value|attention_output)[./]kernel(?::0)?", re.DOTALL)


def convention(mask: str, is_bool: bool, names: Iterable[str]) -> Convention | None:
    """What True, or 1, means in a mask, judged by its name and the other names; None if no library is recognised.

    >>> convention("attn_mask", True, ["in_proj_weight"]).true_is, convention("attention_mask", False, []).true_is
    ('hidden', 'visible')
    """
    names, last = [*names], re.split(r"[./]", mask)[-1].lower()
    if any(map(_OF_KERNELS.fullmatch, names)):
        return Convention("Keras and Flax", "visible")
    if last == "attention_mask" and not is_bool:
        return Convention("Hugging Face", "visible")
    if is_bool and any(map(_OF_TORCH.fullmatch, names)):
        return Convention("torch.nn.MultiheadAttention", "hidden")
    if last == "attention_mask" and not any(map(is_by_heads, names)):  # Megatron's, of such names, hides where True
        return Convention("Hugging Face and Keras", "visible")
    return None


def is_by_heads(name: str) -> bool:
    """Whether the libraries that use this name interleave q, k and v by heads."""
    return bool(re.search(r"query_key_value|wqkv", name, re.IGNORECASE))


def is_in_three(name: str) -> bool:
    """Whether an array of this name holds all of q, then k, then v. True for PyTorch; GPT-2's name is ambiguous."""
    return bool(re.search(r"in_proj_weight", name, re.IGNORECASE))


def is_rotation_table(name: str) -> bool:
    """Whether an array of this name rotates queries and keys, like `cos` and `sin`.

    >>> is_rotation_table("rotary_emb.inv_freq"), is_rotation_table("cos_cached"), is_rotation_table("cosine_loss")
    (True, True, False)
    """
    pattern = r"(?:.*[./])?(?:rot(?:ary)?_?)?(?:cos|sin|inv_freq|freqs?_cis|freqs|sinusoid)(?:_cached|_?[qk])?"
    return bool(re.fullmatch(pattern, name, re.IGNORECASE | re.DOTALL))


def is_scale(name: str) -> bool:
    """Whether a number of this name is the factor of the scores."""
    return bool(re.fullmatch(r"(?:.*[./])?scal(?:e|ing)", name, re.IGNORECASE | re.DOTALL))


def is_softcap(name: str) -> bool:
    """Whether a number of this name is the softcap, as in Gemma's configuration and FlashAttention."""
    pattern = r"(?:.*[./])?(?:attn_)?(?:logits?_)?soft_?cap(?:ping)?"
    return bool(re.fullmatch(pattern, name, re.IGNORECASE | re.DOTALL))


def recognised(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The names of the arrays for each stage; only a mask may have several. OwnArraysError for other duplicates."""
    by_stage: dict[str, tuple[str, ...]] = {}
    for name in names:
        if known := named(name):
            before = by_stage.get(known.stage, ())
            if before and known.stage != "mask":
                raise OwnArraysError(
                    f"Each stage may come once; {before[0][:60]!r} and {name[:60]!r} are both {known.stage}. "
                    "Give the arrays of one layer, or say which one is meant (`layer=1` of `compare`)."
                )
            by_stage[known.stage] = (*before, name)
    return by_stage


# A path up to the layer's number; `linears.0` is a query matrix instead
NUMBERED = re.compile(r"(?P<path>(?:.*?[./_])?(?<!linears[./])(?P<layer>\d+))[./_].+")


def layers_of(names: Iterable[str]) -> dict[int, dict[str, str]]:
    """For each layer its arrays' names, and their names without the number of the layer.

    >>> layers_of(["layers.0.attention", "layers.1.attention", "x"])
    {0: {'layers.0.attention': 'layers.0.attention'}, 1: {'layers.1.attention': 'layers.1.attention'}}
    >>> layers_of(["scores_1", "scores_2"])
    {1: {'scores_1': 'scores'}, 2: {'scores_2': 'scores'}}
    """
    layers: dict[int, dict[str, str]] = {}
    for name in names:
        own, layer = split_layer(name)
        match = NUMBERED.fullmatch(name)
        if match and (named(name) or is_scale(name) or is_softcap(name)):
            layers.setdefault(int(match["layer"]), {})[name] = name
        elif layer and named(own):  # as attnviz's own files have it
            layers.setdefault(layer, {})[name] = own
    return dict(sorted(layers.items()))


def of_layer(arrays: Mapping[str, np.ndarray], layer: int) -> dict[str, np.ndarray]:
    """The arrays of one layer, counted from 1; all arrays if there is one layer.

    Mask, context and scale without a number belong to every layer, other unnumbered arrays to the first. OwnArraysError
    if there is no such layer.
    """
    layers = layers_of(arrays)
    if len(layers) < 2:
        return dict(arrays)
    if not 1 <= layer <= len(layers):
        raise OwnArraysError(f"The arrays are of {len(layers)} layers; got the layer {layer}.")
    names = [*layers.values()][layer - 1]
    of_any = {name for each in layers.values() for name in each}
    unnumbered = [name for name in arrays if name not in of_any and (layer == 1 or _is_shared(name))]
    return {names.get(name, name): arrays[name] for name in (*unnumbered, *names)}


def _is_shared(name: str) -> bool:
    known = named(name)
    return is_scale(name) or is_softcap(name) or (known is not None and known.stage in ("mask", "context"))
