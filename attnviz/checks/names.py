"""Names: which stage an array is, by the name that a library or its author gave it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from attnviz.checks.stages import stages
from attnviz.core.errors import OwnArraysError

Orientation = Literal["(in, out)", "(out, in)"]
Meaning = Literal["visible", "hidden"]
MEANINGS: tuple[Meaning, ...] = ("visible", "hidden")


@dataclass(frozen=True)
class Convention:
    """What True means in the masks of a library.

    Attributes
    ----------
    library : str
    true_is : {"visible", "hidden"}
    """

    library: str
    true_is: Meaning


@dataclass(frozen=True)
class Named:
    """The meaning of the name of an array.

    Attributes
    ----------
    stage : str
        The stage that it is; "w_qkv" and "b_qkv" are those of q, k and v in one.
    orientation : {"(in, out)", "(out, in)"}, optional
        How the library that the name is from lays a matrix out; None if anyone uses the name.
    true_is : {"visible", "hidden"}, optional
        What True means in a mask of this name.
    """

    stage: str
    orientation: Orientation | None = None
    true_is: Meaning | None = None


_OUT_IN, _IN_OUT = "(out, in)", "(in, out)"
_BEFORE_O = r"(?:self_)?attention[./](?:output[./])?dense|self_attn[./]dense|attn[./]proj|out_lin"
"""The last matrix in GPT-NeoX and BLOOM, BERT, Phi, timm and DistilBERT."""

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
    # TransformerLens; its W_Q is anybody's
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
    """The meaning of a name; the part before its last words, such as "blocks.0.attn.", says nothing.

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
    """What True, or 1, means in a mask of this name beside arrays of these names; None where no library says it.

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
    """Whether a library is known to hold q, k and v of each head beside each other in an array of this name."""
    return bool(re.search(r"query_key_value|wqkv", name, re.IGNORECASE))


def is_in_three(name: str) -> bool:
    """Whether an array of this name holds all of q, then all of k and v: PyTorch's do; GPT-2's name is others', too."""
    return bool(re.search(r"in_proj_weight", name, re.IGNORECASE))


def turns(name: str) -> bool:
    """Whether an array of this name rotates queries and keys by their positions, as `cos` and `sin` do.

    >>> turns("rotary_emb.inv_freq"), turns("cos_cached"), turns("cosine_loss")
    (True, True, False)
    """
    pattern = r"(?:.*[./])?(?:rot(?:ary)?_?)?(?:cos|sin|inv_freq|freqs?_cis|freqs|sinusoid)(?:_cached|_?[qk])?"
    return bool(re.fullmatch(pattern, name, re.IGNORECASE | re.DOTALL))


def is_scale(name: str) -> bool:
    """Whether a number of this name says by what scores are multiplied."""
    return bool(re.fullmatch(r"(?:.*[./])?scal(?:e|ing)", name, re.IGNORECASE | re.DOTALL))


def is_softcap(name: str) -> bool:
    """Whether a number of this name is the limit that no score gets beyond: in Gemma's configuration, and Flash's."""
    pattern = r"(?:.*[./])?(?:attn_)?(?:logits?_)?soft_?cap(?:ping)?"
    return bool(re.fullmatch(pattern, name, re.IGNORECASE | re.DOTALL))


def recognised(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The name of the array for each stage that is named; several of the mask, all of which hide keys.

    Raises
    ------
    OwnArraysError
        If two arrays are the same stage otherwise, as those of two layers are.
    """
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
