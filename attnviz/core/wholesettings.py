"""Whole settings: what the settings of a pass of whole numbers may be."""

from collections.abc import Sequence
from typing import Protocol

from attnviz.core.errors import SettingsError
from attnviz.core.tokens import tokenize
from attnviz.core.whole import N_WORDS, can_be_whole


class Asked(Protocol):
    """Settings, as far as they are asked whether they can be whole numbers."""

    sentence: str
    context: str | None


OF_WHOLE: dict[str, Sequence] = {
    "d_model": range(2, 5),
    "n_heads": range(1, 2),
    "positions": ("none",),
    "layers": range(1, 2),
    "norm": ("none",),
    "sharing": ("none",),
    "qk_norm": (False,),
    "rope": ("none",),
    "scaled": (True,),
    "softcap": ("none",),
    "alibi": (False,),
    "sinks": ("none",),
    "blocks": ("none",),
}
"""The values of some options with the initialiser `WHOLE`."""

RULE_OF_WHOLE = f"initialiser=whole needs {' or '.join(map(str, N_WORDS))} words, not all alike, and no context"


def has_whole(sentence: str, context: str | None) -> bool:
    """Whether a sentence can have the initialiser `WHOLE`."""
    return not (context or "").strip() and can_be_whole(tokenize(sentence))


def rule_of_whole(name: str) -> str:
    """The values of an option with whole numbers, in words."""
    first, *others = OF_WHOLE[name]
    return f"With initialiser=whole {name} is {f'{first} to {others[-1]}' if others else first}"


def check_whole(settings: Asked) -> None:
    """Raise SettingsError unless these can be settings with whole numbers."""
    for name, allowed in OF_WHOLE.items():
        if getattr(settings, name) not in allowed:
            raise SettingsError(f"{rule_of_whole(name)}; got {getattr(settings, name)!r}.")
    if not has_whole(settings.sentence, settings.context):
        n_words, context = len(tokenize(settings.sentence)), repr(settings.context)[:40]
        raise SettingsError(f"{RULE_OF_WHOLE}; got {n_words} and the context {context}.")
