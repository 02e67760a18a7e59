"""Titles: what stages and the user's arrays are called within a sentence."""

from attnviz.checks.read.decode_steps import KEPT
from attnviz.explain.steps import full_title

MAX_NAME_CHARACTERS = 40

# How parameters, queries, keys and values are written
SYMBOLS = {f"{kind.lower()}_{letter}": f"{kind}_{letter.upper()}" for kind in "Wb" for letter in "qkvo"}
SYMBOLS |= {letter: letter.upper() for letter in "qkv"}


def shortened(name: str) -> str:
    """A user's name for an array, shortened for a sentence."""
    return name if len(name) <= MAX_NAME_CHARACTERS else f"{name[: MAX_NAME_CHARACTERS - 3]}..."


def title(stage: str) -> str:
    """The name of a stage within a sentence."""
    if stage in KEPT:
        return f"{'values' if stage.endswith('value') else 'keys'} of the cache"
    if stage in SYMBOLS or stage == "x":
        return SYMBOLS.get(stage, "x")
    return " ".join(each if each.isupper() else each.lower() for each in full_title(stage).split())
