"""Names: the stage and the layer that the name of an array stands for."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Literal, NamedTuple

import numpy as np

from attnviz.checks.read.layouts import IN_OUT, OUT_IN, Orientation, stages
from attnviz.core.arguments import did_you_mean
from attnviz.core.errors import OwnArraysError
from attnviz.core.stage import split_layer

Meaning = Literal["visible", "hidden"]
MEANINGS: tuple[Meaning, ...] = ("visible", "hidden")

# The names of arrays of words
QUERY_WORDS = ("tokens", "words", "words_query", "words_token")
KEY_WORDS = ("context_tokens", "context_words", "words_key", "words_context_token")
WORD_NAMES = (*QUERY_WORDS, *KEY_WORDS)


class Convention(NamedTuple):
    """What True means in the masks of a library."""

    library: str
    true_is: Meaning


@dataclass(frozen=True)
class Named:
    """The meaning of an array's name; a generic name tells neither orientation nor what True means in a mask."""

    stage: str  # "w_qkv" and "b_qkv" for fused q, k and v
    orientation: Orientation | None = None
    true_is: Meaning | None = None


def _each(pattern: str, stage: str, orientation: Orientation | None = None, letters: str = "qkv") -> list:
    """A pattern for each letter, which stands for {e} in it, and the letter's word for {word}."""
    return [(pattern.format(e=e, word=_WORDS[e]), Named(stage.format(e=e), orientation)) for e in letters]


def _layers(pattern: str, letters: Iterable[str], orientation: Orientation | None = OUT_IN) -> list:
    """Patterns for the weights of layers, which have an orientation, and for their biases."""
    patterns = [(each, f"(?:{pattern.format(e=each, word=_WORDS.get(each))})[./]") for each in letters]
    weights = [(f"{prefix}weight", Named(f"w_{each}", orientation)) for each, prefix in patterns]
    return weights + [(f"{prefix}bias", Named(f"b_{each}")) for each, prefix in patterns]


_WORDS = {"q": "query", "k": "key", "v": "value", "o": "(?:attention_output|out)"}
_PATTERNS: list[tuple[str, Named]] = [
    # torch.nn.MultiheadAttention
    ("in_proj_weight", Named("w_qkv")),
    ("in_proj_bias", Named("b_qkv")),
    *_each("{e}_proj_weight", "w_{e}", OUT_IN),
    ("(?:src_|tgt_)?key_padding_mask", Named("mask", true_is="hidden")),
    # GPT-2 and nanoGPT share names; their shapes tell them apart
    *_layers("c_attn", ["qkv"], None),
    *_layers("(?:attn[./])?c_proj", "o", None),
    # separate layers: query, W_query, q_proj, W_q and q of BERT, Raschka, Llama, d2l and T5
    *_layers("(?:w_)?{word}|{word}_proj|{e}_proj|{e}_lin|(?:w_?)?{e}|to_{e}", "qkv"),
    *chain.from_iterable(_layers(word, word[0]) for word in ("queries", "keys", "values")),
    *chain.from_iterable(_layers(f"linears[./]{position}", letter) for position, letter in enumerate("qkvo")),
    # the output matrix in GPT-NeoX and BLOOM, BERT, Phi, timm and DistilBERT, then elsewhere
    *_layers("(?:self_)?attention[./](?:output[./])?dense|self_attn[./]dense|attn[./]proj|out_lin", "o"),
    *_layers("out(?:put)?_proj|o_proj|(?:w_?)?o|to_out(?:[./]0)?", "o"),
    # Qwen 3, Gemma 3 and OLMo 2; gpt-oss
    *_each("{e}_?(?:layer_?)?norm[./]weight|norm_?{e}[./]weight", "g_{e}_norm", letters="qk"),
    ("sinks?", Named("sinks")),
    # Keras and Flax
    *_each("{word}(?:_proj)?[./]kernel(?::0)?", "w_{e}", IN_OUT, "qkvo"),
    *_each("{word}(?:_proj)?[./]bias(?::0)?", "b_{e}", None, "qkvo"),
    # TransformerLens, whose W_Q is generic; _W_K and the like are those of groups
    ("hook_attn_scores", Named("masked")),
    ("hook_pattern", Named("attention")),
    ("hook_z", Named("heads")),
    ("hook_result", Named("contributions")),
    ("hook_attn_out", Named("output")),
    ("ln1[./](?:hook_)?normalized", Named("x")),
    *_each("_w_{e}", "w_{e}", None, "kv"),
    *_each("_b_{e}", "b_{e}", None, "kv"),
    # microgpt
    *_each("attn_w{e}", "w_{e}", OUT_IN, "qkvo"),
    # generic names
    *_each("w_?{e}|{word}(?:_proj)?_weight|w_{word}|{word}_proj", "w_{e}"),
    *_each("b_?{e}|{word}(?:_proj)?_bias|b_{word}", "b_{e}"),
    ("w_?o|w_out|w_output|out(?:put)?_proj", Named("w_o")),
    ("b_?o|b_out|b_output", Named("b_o")),
    *_layers("(?:to_)?qkv|wqkv|qkv_proj|query_key_value", ["qkv"], None),
    ("w_?qkv|to_qkv", Named("w_qkv")),
    ("b_?qkv", Named("b_qkv")),
    *_each("{e}_(?:rot(?:ated)?|roped?|embed)|hook_rot_{e}", "{e}_rotated", letters="qk"),
    *_each("{e}_normed|{e}_norm", "{e}_normed", letters="qk"),
    ("(?:soft_?)?capped(?:_scores)?", Named("capped")),
    ("biased(?:_scores)?", Named("biased")),
    ("past_(?:k|keys?)|(?:k|keys?)_cached?|cached?_(?:k|keys?)", Named("past_key")),
    ("past_(?:v|values?)|(?:v|values?)_cached?|cached?_(?:v|values?)", Named("past_value")),
    ("q|query|queries|hook_q", Named("q")),
    ("k|key|keys|hook_k", Named("k")),
    ("v|value|values|hook_v", Named("v")),
    ("x|inputs?(?:_q)?|hidden_states|resid_pre|normalized", Named("x")),
    ("context|memory|encoder_hidden_states|inputs_(?:kv?|v)", Named("context")),
    ("embeddings", Named("embeddings")),
    ("positions", Named("positions")),
    ("scores|(?:attn|attention)_scores", Named("scores")),
    ("scaled(?:_scores)?", Named("scaled")),
    ("masked(?:_scores)?", Named("masked")),
    ("(?:attn_|attention_|causal_|(?:sliding_)?window_|padding_|pad_|src_|tgt_)?mask", Named("mask")),
    (
        "alibi(?:_bias)?|(?:(?:relative_)?position|attn|attention)_bias",
        Named("mask"),
    ),  # what BLOOM and T5 add to scores
    ("a|att|attn|attentions?|weights|probs|pattern|(?:attn|attention)_(?:weights|probs)", Named("attention")),
    ("attn_output_weights|softmax", Named("attention")),
    ("heads|z|head_outputs?", Named("heads")),
    ("concat(?:enated)?", Named("concat")),
    ("contributions", Named("contributions")),
    ("y|out|outputs?|(?:attn|attention)_out(?:put)?", Named("output")),
    ("residual", Named("residual")),
]


def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern for a last part of a name, whatever its prefix."""
    return re.compile(rf"(?:.*[./])?(?:{pattern})", re.IGNORECASE | re.DOTALL)


_TABLE = [(compiled(pattern), named) for pattern, named in _PATTERNS]
_OTHER_BLOCKS = re.compile(r"(?:^|[./_])(?:mlp|ffn|intermediate|cross_?attn)[./_]", re.IGNORECASE)


def stage_named(name: str) -> str:
    """The stage that a name stands for; "" if none."""
    known = named(name)
    return known.stage if known else ""


_REMEMBERED = 200  # characters; longer names are none of a library


def named(name: str) -> Named | None:
    """The meaning of a name; a prefix such as "blocks.0.attn." is ignored."""
    return _named(name) if len(name) <= _REMEMBERED else _named.__wrapped__(name)


@lru_cache(maxsize=512)
def _named(name: str) -> Named | None:
    if name in stages():
        return Named(name)
    if _OTHER_BLOCKS.search(name):
        return None
    return next((each for pattern, each in _TABLE if pattern.fullmatch(name)), None)


# Names of an output matrix beside those of queries, but of others elsewhere
_OUTPUT = re.compile(
    r"(?:(?P<path>.*)[./])?(?:dense|fc_out|proj)(?:[./](?P<part>weight|bias|kernel)(?::0)?)?", re.DOTALL
)
_PART = re.compile(r"[./](?:weight|bias|kernel)(?::0)?$")


def outputs_beside(names: Iterable[str]) -> dict[str, Named]:
    """The meaning of names such as `dense.weight` in a module that makes queries and has no other output matrix."""
    known = {name: stage_named(name) for name in names}
    owners = {name: re.split(r"[./]?[^./]*$", _PART.sub("", name), maxsplit=1)[0] for name in known}
    queries = {owners[name] for name, stage in known.items() if stage in ("w_q", "w_qkv")}
    queries |= {f"{path[:-4]}output" for path in queries if re.search(r"(?:^|[./])self$", path)}  # as in BERT
    others = {owners[name] for name, stage in known.items() if stage == "w_o"}
    queries -= {""} if others else set()
    found: dict[str, Named] = {}
    for name, stage in known.items():
        match = None if stage or _OTHER_BLOCKS.search(name) else _OUTPUT.fullmatch(name)
        path = (match and match["path"]) or ""
        if match and path in queries and not any(re.match(rf"{re.escape(path)}(?:[./]|$)", each) for each in others):
            is_bias = match["part"] == "bias"
            orientation = {"weight": OUT_IN, "kernel": IN_OUT}.get(match["part"])
            found[name] = Named("b_o") if is_bias else Named("w_o", orientation)
    return found


def meanings(names: Iterable[str]) -> dict[str, Named]:
    """The meaning of each known name among all of a layer's."""
    names = [*names]
    return {name: known for name in names if (known := named(name))} | outputs_beside(names)


_TORCH = re.compile(r"(?:.*[./])?(?:in_proj_(?:weight|bias)|[qkv]_proj_weight)", re.DOTALL)
_KERNEL = re.compile(r"(?:.*[./])?(?:query|key|value|attention_output)[./]kernel(?::0)?", re.DOTALL)


def convention(mask: str, is_bool: bool, names: Iterable[str]) -> Convention | None:
    """What True, or 1, means in a mask, judged by its name and the other names; None if no library is recognised."""
    names, last = [*names], re.split(r"[./]", mask)[-1].lower()
    if any(map(_KERNEL.fullmatch, names)):
        return Convention("Keras and Flax", "visible")
    if last == "attention_mask" and not is_bool:
        return Convention("Hugging Face", "visible")
    if is_bool and any(map(_TORCH.fullmatch, names)):
        return Convention("torch.nn.MultiheadAttention", "hidden")
    if last == "attention_mask" and not any(map(is_by_heads, names)):  # Megatron's, of such names, hides where True
        return Convention("Hugging Face and Keras", "visible")
    return None


def is_by_heads(name: str) -> bool:
    """Whether the libraries that use this name interleave q, k and v by heads."""
    return bool(re.search(r"query_key_value|wqkv", name, re.IGNORECASE))


_PREFIX = r"(?:rot(?:ary)?_?|rope_?)?(?:pos(?:ition)?_?)?(?:emb(?:eddings?)?[._]?)?"
_ROTATION_KINDS = {
    "cos": compiled(rf"{_PREFIX}cos(?:ines?)?(?:_cached|_cache|_table|_emb)?"),
    "sin": compiled(rf"{_PREFIX}sin(?:es?)?(?:_cached|_cache|_table|_emb)?"),
    "cis": compiled(rf"{_PREFIX}(?:freqs?_?cis|freqs?_complex|pos_cis)"),
    "angles": compiled(r"(?:rot(?:ary)?_?|rope_?)?(?:inv_freqs?|freqs?|pos_emb|rotary_pos_emb)"),
    "positions": compiled(r"position_?ids?|pos_ids?|input_pos|cache_position"),
    "other": compiled(r"(?:rot(?:ary)?_?)?(?:cos|sin|inv_freq|freqs?_cis|freqs|sinusoid)(?:_cached|_?[qk])?"),
}
_NUMBERS = {"scale": compiled("scal(?:e|ing)"), "softcap": compiled(r"(?:attn_)?(?:logits?_)?soft_?cap(?:ping)?")}


def rotation_kind(name: str) -> str:
    """The kind of rotation table that a name stands for: cos, sin, cis (complex), angles, positions, other; or ""."""
    return next((kind for kind, pattern in _ROTATION_KINDS.items() if pattern.fullmatch(name)), "")


def is_rotation_table(name: str) -> bool:
    """Whether an array of this name rotates queries and keys, like `cos`, `sin` and `rotary_emb.inv_freq`."""
    return rotation_kind(name) not in ("", "positions")


def named_number(name: str) -> str:
    """Either "scale" or "softcap", if a number of this name is the factor or the limit of the scores; else ""."""
    return next((number for number, pattern in _NUMBERS.items() if pattern.fullmatch(name)), "")


def is_from_keras(scores: str, names: Iterable[str]) -> bool:
    """Whether this is what Keras calls its weights (`return_attention_scores`), among the names of Keras or Flax."""
    return re.split(r"[./]", scores)[-1].lower() == "attention_scores" and any(map(_KERNEL.fullmatch, names))


def names_by_stage(names: Iterable[str], weights: str) -> dict[str, tuple[str, ...]]:
    """The names of the arrays for each stage; only a mask may have several. OwnArraysError for other duplicates.

    `weights` is the name of attention weights that are called scores.
    """
    by_stage: dict[str, tuple[str, ...]] = {}
    for name, known in meanings(names).items():
        if stage := "attention" if name == weights else known.stage:
            before = by_stage.get(stage, ())
            if before and stage != "mask":
                raise OwnArraysError(
                    f"Each stage may come once; {before[0][:60]!r} and {name[:60]!r} are both {stage}. "
                    "Give the arrays of one layer, or say which one is meant (`layer=1` of `compare`)."
                )
            by_stage[stage] = (*before, name)
    return by_stage


def renamed(arrays: Mapping[str, np.ndarray], names: Mapping[str, str]) -> dict[str, np.ndarray]:
    """The arrays, those in `names` under the name of what they are; OwnArraysError if that isn't clear."""
    check_names(names, arrays)
    after = {name: names.get(name, name) for name in arrays}
    others = {meaning: name for name, meaning in after.items()}
    for name, meaning in after.items():
        if others[meaning] != name:
            raise OwnArraysError(
                f"Each stage may come once; {name[:60]!r} and {others[meaning][:60]!r} are both {meaning}."
            )
    return {after[name]: array for name, array in arrays.items()}


def check_names(names: object, present: Iterable[str]) -> None:
    """Raise OwnArraysError unless `names` maps names that are present to known ones."""
    if not isinstance(names, Mapping) or not all(isinstance(each, str) for pair in names.items() for each in pair):
        raise OwnArraysError(f'names says what arrays are, as in {{"proj_a.weight": "w_q"}}; got {names!r:.60}.')
    present = [*present]
    for name, meaning in names.items():
        if name not in present:
            has = ", ".join(each[:40] for each in present[:8])
            near = did_you_mean(name, present)
            raise OwnArraysError(f"names says what {name[:60]!r} is, and nothing is called so; there are {has}.{near}")
        if not (named(meaning) or named_number(meaning) or rotation_kind(meaning) or meaning in WORD_NAMES):
            raise OwnArraysError(
                f"names says which stage each is, such as {', '.join(_STATED[:-1])} or {_STATED[-1]}; "
                f"got {meaning[:60]!r} for {name[:60]!r}.{did_you_mean(meaning, _STATED)}"
            )


_STATED = (
    *("x", "context", "w_q", "w_k", "w_v", "b_q", "b_k", "b_v", "q", "k", "v", "scores", "scaled", "mask", "masked"),
    *("attention", "heads", "concat", "w_o", "b_o", "output"),
)
"""The stages that `names` may give and an error lists."""


def unknown_names(names: Iterable[str]) -> str:
    """A sentence on the names that attnviz doesn't know; "" if there are none."""
    names = [*names]
    known = meanings(names)
    unknown = [
        each for each in names if each not in known and not named_number(each) and not named(split_layer(each)[0])
    ]
    if not unknown:
        return ""
    return (
        f"Not read, as attnviz doesn't know the name: {', '.join(each[:40] for each in unknown[:8])}. Say which stage "
        f"each is, as in names={{{unknown[0][:40]!r}: 'w_q'}}."
    )


# A path up to the layer's number; `linears.0` is a query matrix instead
NUMBERED = re.compile(r"(?P<path>(?:.*?[./_])?(?<!linears[./])(?P<layer>\d+))[./_].+")


def layers_of(names: Iterable[str]) -> dict[int, dict[str, str]]:
    """For each layer its arrays' names, and their names without the number of the layer: "scores" of "scores_1"."""
    layers: dict[int, dict[str, str]] = {}
    for name in names:
        base, layer = split_layer(name)
        match = NUMBERED.fullmatch(name)
        if match and (named(name) or named_number(name)):
            layers.setdefault(int(match["layer"]), {})[name] = name
        elif layer and named(base):  # as in attnviz's own files
            layers.setdefault(layer, {})[name] = base
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
    unnumbered = [name for name in arrays if not any(name in each for each in layers.values())]
    shared = [name for name in unnumbered if named_number(name) or stage_named(name) in ("mask", "context")]
    return {names.get(name, name): arrays[name] for name in (*(unnumbered if layer == 1 else shared), *names)}
