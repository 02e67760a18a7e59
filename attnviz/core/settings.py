"""Settings: what a person picks, and the limits of it. Every door to the core enforces them here."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields

from attnviz.core.embeddings import POSITIONS
from attnviz.core.errors import SettingsError
from attnviz.core.initialisers import INITIALISERS
from attnviz.core.masks import MASKS
from attnviz.core.tokens import tokenize

MAX_CHARACTERS = 2_000
MAX_TOKENS = 64
MAX_CHANGES = 16
WHOLE_NUMBERS = {"d_model": range(2, 129), "seed": range(2**32), "mask_size": range(MAX_TOKENS + 1)}
CHOICES = {"mask": tuple(MASKS), "initialiser": tuple(INITIALISERS), "positions": tuple(POSITIONS)}


@dataclass(frozen=True)
class Settings:
    """Everything that decides the numbers of a pass: equal settings, equal numbers.

    Parameters
    ----------
    sentence : str
        1 to 64 tokens, at most 2,000 characters. Queries come from it, and keys
        and values too unless `context` is given.
    context : str, optional
        The sentence that keys and values come from (cross-attention).
    d_model : int
        Length of a token's vector, 2 to 128.
    n_heads : int
        A divisor of `d_model`.
    mask : {"none", "causal", "padding", "window"}
    mask_size : int
        How many keys "padding" hides, or how far "window" reaches; 0 to 64.
    seed : int
        0 to 2**32 - 1.
    initialiser : {"normal", "xavier", "uniform", "standard normal", "pytorch"}
    positions : {"none", "sinusoidal"}
    scaled : bool
        Whether scores are divided by sqrt(d_k).

    Raises
    ------
    SettingsError
        If a value is outside its limits.
    """

    sentence: str
    context: str | None = None
    d_model: int = 8
    n_heads: int = 2
    mask: str = "none"
    mask_size: int = 1
    seed: int = 42
    initialiser: str = "normal"
    positions: str = "none"
    scaled: bool = True

    def __post_init__(self):
        _check_sentence("sentence", self.sentence)
        if self.context is not None:
            _check_sentence("context", self.context)
        for name, allowed in WHOLE_NUMBERS.items():
            _check_whole_number(name, getattr(self, name), allowed)
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise SettingsError(f"{name} must be one of {', '.join(allowed)}; got {getattr(self, name)!r}.")
        if not isinstance(self.scaled, bool):
            raise SettingsError(f"scaled must be True or False; got {self.scaled!r}.")
        if not _is_whole_number(self.n_heads) or self.n_heads not in divisors(self.d_model):
            raise SettingsError(
                f"n_heads must divide d_model, so that every head gets d_model / n_heads features; "
                f"got n_heads={_shown(self.n_heads)} for d_model={self.d_model}. "
                f"Choose one of {', '.join(map(str, divisors(self.d_model)))}."
            )

    @property
    def tokens(self) -> tuple[str, ...]:
        """The words of the queries."""
        return tokenize(self.sentence)

    @property
    def context_tokens(self) -> tuple[str, ...]:
        """The words of the keys and values."""
        return self.tokens if self.context is None else tokenize(self.context)


DEFAULTS = {field.name: field.default for field in fields(Settings) if field.name != "sentence"}


def divisors(d_model: int) -> tuple[int, ...]:
    """The numbers of heads that `d_model` can be shared among."""
    return tuple(n for n in range(1, d_model + 1) if d_model % n == 0)


def nearest(written: Mapping[str, str]) -> tuple[dict[str, int | str], list[str]]:
    """Bring values as someone wrote them, in an address say, to the nearest allowed ones.

    Parameters
    ----------
    written : mapping of setting names to text
        Sentences are passed over: they are what they are.

    Returns
    -------
    allowed : dict
        The value of each such setting, or its default where the text means nothing.
    notices : list of str
        One sentence for each value that was changed: the rule, what came, what is used.
    """
    allowed: dict[str, int | str] = {}
    notices = []
    for name, text in written.items():
        if name in WHOLE_NUMBERS:
            rule = f"a whole number from {WHOLE_NUMBERS[name][0]} to {WHOLE_NUMBERS[name][-1]}"
            allowed[name] = _nearest_number(text, WHOLE_NUMBERS[name], DEFAULTS[name])
        elif name in CHOICES:
            rule = f"one of {', '.join(CHOICES[name])}"
            allowed[name] = next((c for c in CHOICES[name] if c == text.strip().lower()), DEFAULTS[name])
        elif name == "scaled":
            rule = "true or false"
            allowed[name] = {"true": True, "false": False}.get(text.strip().lower(), DEFAULTS[name])
        else:
            continue
        if str(allowed[name]).lower() != text.strip().lower():
            notices.append(f"{name} is {rule}; got {_shortened(text)}, using {allowed[name]}.")
    if "n_heads" in written:
        d_model = allowed.get("d_model", DEFAULTS["d_model"])
        text = written["n_heads"]
        allowed["n_heads"] = nearest_heads(text, d_model)
        if str(allowed["n_heads"]) != text.strip():
            notices.append(
                f"heads is a divisor of d_model: for {d_model} one of {', '.join(map(str, divisors(d_model)))}; "
                f"got {_shortened(text)}, using {allowed['n_heads']}."
            )
    return allowed, notices


def nearest_heads(n_heads: int | str, d_model: int) -> int:
    """The divisor of `d_model` nearest to `n_heads`; of two, the smaller."""
    wanted = _nearest_number(str(n_heads), range(1, d_model + 1), DEFAULTS["n_heads"])
    return min(divisors(d_model), key=lambda n: (abs(n - wanted), n))


def _nearest_number(text: str, allowed: range, default: int) -> int:
    try:
        # at most 20 digits: int() of a megabyte of them is refused by Python, float() is not needed for fewer
        number = int(text) if len(text) <= 20 else float(text)
    except ValueError:
        try:
            number = float(text)
        except ValueError:
            return default
    if math.isnan(number):
        return default
    return round(min(max(number, allowed[0]), allowed[-1]))


def _shortened(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


def _check_whole_number(name: str, value: int, allowed: range) -> None:
    if not _is_whole_number(value) or value not in allowed:
        raise SettingsError(f"{name} must be a whole number from {allowed[0]} to {allowed[-1]}; got {_shown(value)}.")


def _is_whole_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _shown(value: object) -> str:
    """Its repr, which Python refuses for a whole number of more than 4300 digits."""
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
