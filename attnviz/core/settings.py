"""Settings: what a person can choose, validated here for every caller."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeGuard

from attnviz.core.arguments import did_you_mean
from attnviz.core.errors import SettingsError
from attnviz.core.initialisers import INITIALISERS, POSITIONS
from attnviz.core.integer_example import INTEGER_EXAMPLE, check_integer_example
from attnviz.core.limits import MAX_CHARACTERS, MAX_D_MODEL, MAX_LAYERS, MAX_TOKENS
from attnviz.core.masks import GLOBAL_LAYERS, MASKS, mask_in_layer
from attnviz.core.operations.rotation import PAIRS, Rotation
from attnviz.core.order import NORMS
from attnviz.core.tokens import tokenize


@dataclass(frozen=True)
class Option:
    """A setting: its values, label and help."""

    default: int | str | bool
    allowed: Sequence[int | str | bool]  # a number of heads must also divide `d_model`
    label: str  # its name on the screen
    help: str = ""  # what it does, if the label doesn't tell

    @property
    def rule(self) -> str:
        """The values, in words."""
        if isinstance(self.allowed, range):
            return f"a whole number from {self.allowed[0]} to {self.allowed[-1]}"
        return "True or False" if self.is_switch else f"one of {', '.join(map(str, self.allowed))}"

    @property
    def is_switch(self) -> bool:
        """Whether it is on or off."""
        return isinstance(self.default, bool)

    def allows(self, value: object) -> bool:
        """Whether this value is allowed; 1 is not True."""
        is_a_kind = isinstance(value, type(self.default)) and isinstance(value, bool) == self.is_switch
        return is_a_kind and value in self.allowed

    def nearest(self, text: str) -> int | str | bool:
        """The allowed value that a text names (in any case) or is nearest to; else the default."""
        if isinstance(self.allowed, range):
            return _nearest_number(text, self.allowed, int(self.default))
        return next((each for each in self.allowed if str(each).lower() == text.strip().lower()), self.default)


def _nearest_number(text: str, allowed: range, default: int) -> int:
    try:
        # Python refuses int() of very long texts; float() is not needed for short ones
        number = int(text) if len(text) <= 20 else float(text)
    except ValueError:
        try:
            number = float(text)
        except ValueError:
            return default
    if math.isnan(number):
        return default
    return round(min(max(number, allowed[0]), allowed[-1]))


LATENTS = ("latent", "absorbed")
SHARING = ("none", "pairs", "all", *LATENTS)
"""Which heads share keys and values, or whether these come from latents, naive or absorbed."""
ROPE_BASES = ("10", "100", "10000", "150000", "500000", "1000000")
ROPE_PARTS = {"all": 1, "half": 2, "quarter": 4}
"""The part of a query that is rotated, as a divisor of its length."""


def _option(default: int | str | bool, allowed: Iterable, label: str, help: str = "") -> Any:
    """A field of `Settings` with its option."""
    allowed = allowed if isinstance(allowed, range) else tuple(allowed)
    return field(default=default, metadata={"option": Option(default, allowed, label, help)})


@dataclass(frozen=True)
class Settings:
    """Everything that decides the numbers of a pass of a sentence: equal settings, equal numbers, on every machine.

    Parameters
    ----------
    sentence : str
        1 to 64 tokens, at most 2,000 characters. Queries come from it, and keys and values too unless `context` is
        given.
    context : str, optional
        The sentence that keys and values come from (cross-attention).
    d_model : int
        Length of a token's vector, 2 to 128.
    n_heads : int
        A divisor of `d_model`.
    mask : {"none", "causal", "causal window", "padding", "window"}
        Which keys a query sees: all of them; its own and earlier ones; the latest `mask_size` of these; all but the
        last `mask_size` of the sentence; or those at most `mask_size` places away.
    mask_size : int
        How many keys "padding" hides, how far "window" reaches, or how many keys "causal window" leaves; 0 to 64.
    seed : int
        0 to `2**32 - 1`. It decides all embeddings and parameters.
    initialiser : {"normal", "xavier", "uniform", "standard normal", "pytorch", "whole"}
        How the matrices are drawn: from N(0, 1 / d_model); uniformly within ±sqrt(6 / (rows + columns)) of each head's
        matrix; uniformly from [0, 1); from N(0, 1); as `torch.nn.MultiheadAttention` draws them; or from -1, 0 and 1,
        so that the pass is easy to compute by hand. "whole" needs 3 or 4 words, not all alike, no context, a `d_model`
        of 2 to 4, one head and no positions; it chooses its own scale.
    positions : {"none", "sinusoidal"}
        What is added to the embeddings: nothing, or the waves of the first Transformer.
    layers : int
        1 to 6, with `layers * d_model` at most 128. Several form a residual stream: each adds its output to its input.
        They have no MLP.
    norm : {"none", "rmsnorm", "layernorm"}
        The norm before each layer's attention; without gains, as before training.
    sharing : {"none", "pairs", "all", "latent", "absorbed"}
        How many heads share keys and values; "pairs" does nothing where the number of heads is odd. With the last two
        all come from a latent (MLA); "absorbed" computes the same output without computing keys and values.
    latent_width : int
        How many numbers a latent has, 1 to 128.
    query_latent_width : int
        How many numbers a latent of queries has, 0 to 128; 0 for none. It has no effect without a latent of keys.
    qk_norm : bool
        Whether queries and keys are normed; with latents, those are normed instead.
    rope : {"none", "neighbours", "halves"}
        Which dimensions form the pairs that are rotated by their positions. Without latents it needs a `d_model` of at
        least 2 for each head.
    rope_base : {"10", "100", "10000", "150000", "500000", "1000000"}
        The base of the rotation's angles: the larger, the slower the later pairs turn.
    rope_base_global : {"same", "10", "100", "10000", "150000", "500000", "1000000"}
        The base in global layers, if `window_in` has any.
    rope_part : {"all", "half", "quarter"}
        How much of a query is rotated: its first dimensions, at least one pair. With latents it is an additional part
        of this length.
    scaled : bool
        Whether scores are divided by sqrt(d_k).
    softcap : {"none", "1", "5", "50"}
        The limit c, if any: scores become c tanh(score / c), as in Gemma 2.
    alibi : bool
        Whether scores fall with the distance of the key (ALiBi).
    window_in : {"every layer", "every second layer", "all but every sixth layer"}
        Which of several layers have the mask "window" or "causal window". The others (the second, fourth ..., or the
        sixth) are global: without a limit to the distance, so "causal window" becomes "causal".
    sinks : {"none", "zero", "drawn"}
        The extra score of each head that belongs to no key: none, 0, or drawn from N(0, 1).
    blocks : {"none", "1", "2", "4", "8", "16"}
        How many keys a query reads at once (FlashAttention); "none" for all.

    Raises
    ------
    SettingsError
        If a value is outside its limits.

    Examples
    --------
    >>> from attnviz import Settings, trace_of
    >>> settings = Settings("the cat sat", n_heads=4, mask="causal")
    >>> settings.tokens
    ('the', 'cat', 'sat')
    >>> trace_of(settings)["attention"][0].round(2)
    array([[1.  , 0.  , 0.  ],
           [0.9 , 0.1 , 0.  ],
           [0.5 , 0.36, 0.14]])
    """

    sentence: str
    context: str | None = None
    d_model: int = _option(8, range(2, MAX_D_MODEL + 1), "d_model", "How many numbers stand for a token.")
    n_heads: int = _option(
        2, range(1, 129), "Heads", "The heads share the d_model numbers, so their number divides d_model."
    )
    mask: str = _option(
        "none",
        MASKS,
        "Mask",
        "causal: no token sees a later token. causal window: only the latest few keys are seen, its own counted. "
        "padding: the last keys are hidden. window: only near keys are seen.",
    )
    mask_size: int = _option(1, range(MAX_TOKENS + 1), "Mask size")
    seed: int = _option(
        42,
        range(2**32),
        "Seed",
        "The seed decides every embedding and parameter: the same seed gives the same numbers, on every machine.",
    )
    initialiser: str = _option(
        "normal",
        (*INITIALISERS, INTEGER_EXAMPLE),
        "Parameters",
        "Where the matrices come from. normal: N(0, 1/d_model). xavier: uniform, by each head's size. uniform: [0, 1). "
        "standard normal: N(0, 1). pytorch: the very matrices of torch.nn.MultiheadAttention. "
        "whole: −1, 0 and 1, for 3 or 4 words and one head, so that every share is a fraction.",
    )
    positions: str = _option(
        "none",
        POSITIONS,
        "Positions",
        "What tells a word its place: without it the order of the words makes no difference. sinusoidal: waves of many "
        "lengths are added, as in the first Transformer.",
    )
    layers: int = _option(
        1,
        range(1, MAX_LAYERS + 1),
        "Layers",
        "Each layer reads what the one before it passes on. Several are on a residual stream: each adds its output to "
        "what entered it. No MLP stands between them. Layers times d_model are at most 128.",
    )
    norm: str = _option(
        "none",
        ("none", *NORMS),
        "Norm before attention",
        "Gives what each layer reads the same size; what passes by on the residual stream stays as it is. "
        "rmsnorm: as in Llama, Gemma and gpt-oss. layernorm: as in GPT-2. Before training their gains are 1.",
    )
    sharing: str = _option(
        "none",
        SHARING,
        "Keys and values shared",
        "none: each head has its own. pairs: two heads in a row share theirs, if their number is even (grouped-query "
        "attention). all: all heads share the same (multi-query attention). latent: all are made of one short vector "
        "for each token (MLA). absorbed: the same output without making them, as queries and heads take over matrices.",
    )
    latent_width: int = _option(4, range(1, 129), "Latent width", "How many numbers of each token make all its keys.")
    query_latent_width: int = _option(
        0,
        range(129),
        "Query latent width",
        "So many numbers of each token make all its queries, as in DeepSeek-V2 and V3. 0: what enters makes them.",
    )
    qk_norm: bool = _option(
        False,
        (False, True),
        "Norm queries and keys (QK-norm)",
        "Gives all queries and keys the same size, so that no score gets huge, as in Qwen 3 and Gemma 3.",
    )
    rope: Literal["none", "neighbours", "halves"] = _option(
        "none",
        ("none", *PAIRS),
        "RoPE",
        "Turns queries and keys by their positions, pair by pair. neighbours: dimensions 1 and 2 are a pair, as in "
        "Llama’s own code. halves: 1 and d_k/2 + 1 are a pair, as in Hugging Face’s.",
    )
    rope_base: str = _option(
        "10000",
        ROPE_BASES,
        "RoPE’s base",
        "The larger it is, the slower later pairs turn. 10000: RoFormer and Llama 2. 150000: gpt-oss. "
        "500000: Llama 3. 1000000: Qwen 3. 10 and 100: for a few words.",
    )
    rope_base_global: str = _option(
        "same",
        ("same", *ROPE_BASES),
        "RoPE’s base in global layers",
        "Global layers are those without the window of the others. same: they have the base of the others. 1000000: "
        "as in Gemma 3, beside 10000 in the others.",
    )
    rope_part: str = _option(
        "all",
        tuple(ROPE_PARTS),
        "RoPE’s part",
        "How many of the dimensions are turned, from the first on; the others don’t know the position. quarter: as in "
        "GPT-NeoX. With a latent as many more dimensions are added, and those are turned.",
    )
    scaled: bool = _option(
        True,
        (True, False),
        "Divide scores by √d_k",
        "Keeps scores from growing with d_k: without it long vectors give one word nearly all the weight.",
    )
    softcap: str = _option("none", ("none", "1", "5", "50"), "Softcap", "What no score gets beyond, as in Gemma 2.")
    alibi: bool = _option(
        False,
        (False, True),
        "Penalise distant words (ALiBi)",
        "Takes from each score a slope times the distance, in each head another slope, as in BLOOM and MPT.",
    )
    window_in: str = _option(
        "every layer",
        GLOBAL_LAYERS,
        "Window in",
        "Which layers have the window; the others are global, and no key is too far away in them. every layer: as in "
        "Mistral 7B. every second layer: the first, the third and so on, as in Gemma 2 and gpt-oss. "
        "all but every sixth layer: as in Gemma 3, of 6 layers or more.",
    )
    sinks: str = _option(
        "none",
        ("none", "zero", "drawn"),
        "Sinks",
        "A score of no key that takes a share, too. zero: 0 in each head (softmax plus one). drawn: a number for each "
        "head, as learnt ones are.",
    )
    blocks: str = _option(
        "none",
        ("none", "1", "2", "4", "8", "16"),
        "Softmax by blocks",
        "So many keys are read at once (FlashAttention), and no row of all shares is needed. none: all keys at once.",
    )

    def __post_init__(self):
        _check_sentence("sentence", self.sentence)
        if self.context is not None:
            _check_sentence("context", self.context)
        for name, option in FREE_OPTIONS.items():
            if not option.allows(getattr(self, name)):
                value = getattr(self, name)
                # a seed's range has four billion numbers, and no text
                texts = [] if isinstance(option.allowed, range) else [*map(str, option.allowed)]
                near = did_you_mean(value, texts)
                raise SettingsError(f"{name} must be {option.rule}; got {_shown(value)}.{near}")
        if not _is_whole_number(self.n_heads) or self.n_heads not in divisors(self.d_model):
            raise SettingsError(
                f"n_heads must divide d_model, so that every head gets d_model / n_heads features; "
                f"got n_heads={_shown(self.n_heads)} for d_model={self.d_model}. "
                f"Choose one of {', '.join(map(str, divisors(self.d_model)))}."
            )
        if self.rope != "none" and not has_pairs(self.d_model, self.n_heads, self.sharing):
            raise SettingsError(
                f"{RULE_OF_PAIRS}; got rope={self.rope} with d_model={self.d_model} and n_heads={self.n_heads}. "
                "Choose fewer heads, or rope=none."
            )
        if not OPTIONS["layers"].allows(self.layers) or self.layers > most_layers(self.d_model):
            raise SettingsError(
                f"layers must be a whole number from 1 to {MAX_LAYERS}, and layers times d_model at most "
                f"{MAX_D_MODEL}; got layers={_shown(self.layers)} for d_model={self.d_model}. "
                f"Choose at most {most_layers(self.d_model)}."
            )
        if self.initialiser == INTEGER_EXAMPLE:
            check_integer_example(self)

    @property
    def shared_by(self) -> int:
        """How many heads share keys and values."""
        return {"pairs": 1 + (self.n_heads % 2 == 0), "all": self.n_heads}.get(self.sharing, 1)

    @property
    def has_latents(self) -> bool:
        """Whether keys and values come from a latent."""
        return self.sharing in LATENTS

    @property
    def n_rotated(self) -> int:
        """How many dimensions of queries and keys RoPE rotates; with latents these are additional."""
        d_k = self.d_model // self.n_heads
        turned = max(2, d_k // ROPE_PARTS[self.rope_part] // 2 * 2)
        return 0 if self.rope == "none" else turned if self.has_latents else min(turned, d_k // 2 * 2)

    def rotation_in_layer(self, layer: int) -> Rotation | None:
        """The rotation in a layer, counted from 1; None without RoPE."""
        if self.rope == "none":
            return None
        is_global = self.mask_in_layer(layer) != self.mask
        base = self.rope_base_global if is_global and self.rope_base_global != "same" else self.rope_base
        return Rotation(float(base), self.rope, self.n_rotated or None)

    def mask_in_layer(self, layer: int) -> str:
        """The name of the mask in a layer, counted from 1."""
        return mask_in_layer(self.mask, self.window_in, layer)

    @property
    def tokens(self) -> tuple[str, ...]:
        """The words of the queries."""
        return tokenize(self.sentence)

    @property
    def context_tokens(self) -> tuple[str, ...]:
        """The words of the keys and values."""
        return self.tokens if self.context is None else tokenize(self.context)


OPTIONS: dict[str, Option] = {each.name: each.metadata["option"] for each in fields(Settings) if each.metadata}
"""Everything that can be set besides the sentences. Scenes, addresses, controls and actions follow it."""

FREE_OPTIONS = {name: option for name, option in OPTIONS.items() if name not in ("n_heads", "layers")}
"""The options whose allowed values don't depend on others."""


def divisors(d_model: int) -> tuple[int, ...]:
    """The possible numbers of heads."""
    return tuple(n for n in range(1, d_model + 1) if d_model % n == 0)


RULE_OF_PAIRS = "RoPE turns pairs of dimensions, so d_model / n_heads is at least 2, unless keys come from a latent"


def has_pairs(d_model: int, n_heads: int, sharing: str) -> bool:
    """Whether RoPE has a pair of dimensions to rotate; with latents it adds its own."""
    return d_model >= 2 * n_heads or sharing in LATENTS


def most_layers(d_model: int) -> int:
    """The largest number of layers for a `d_model`."""
    return min(MAX_LAYERS, MAX_D_MODEL // d_model)


def _is_whole_number(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _shown(value: object) -> str:
    """The repr of a value; Python refuses it for integers of more than 4300 digits."""
    return f"{value:#x}"[:40] + "..." if _is_whole_number(value) and value.bit_length() > 128 else repr(value)


def _check_sentence(name: str, text: str) -> None:
    if not isinstance(text, str):
        raise SettingsError(f"{name} must be text; got {type(text).__name__}.")
    if len(text) > MAX_CHARACTERS:
        raise SettingsError(
            f"The {name} may have at most {MAX_CHARACTERS:,} characters; this one has {len(text):,}. Shorten it."
        )
    n_tokens = len(tokenize(text))
    if n_tokens == 0:
        raise SettingsError(f"The {name} has no words yet. Type 1 to {MAX_TOKENS} words or punctuation marks.")
    if n_tokens > MAX_TOKENS:
        raise SettingsError(
            f"The {name} may have at most {MAX_TOKENS} tokens (words and punctuation marks); "
            f"this one has {n_tokens}. Shorten it."
        )
