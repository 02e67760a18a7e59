"""Glossary: each term of the field that stands on a screen, in one sentence, with a number of the pass.

Whoever adds an operation adds its term (`Term.operation`); `python -m attnviz.viewer.glossary` gives the terms to the
browser, which finds their numbers in the pass that it shows.
"""

import re
from functools import lru_cache

from attnviz.explain.glossary.attention import ATTENTION
from attnviz.explain.glossary.cache import CACHE
from attnviz.explain.glossary.layers import LAYERS
from attnviz.explain.glossary.models import MODELS
from attnviz.explain.glossary.numbers import NUMBERS
from attnviz.explain.glossary.scores import SCORES
from attnviz.explain.glossary.vectors import VECTORS

TERMS = (*ATTENTION, *VECTORS, *LAYERS, *SCORES, *CACHE, *MODELS, *NUMBERS)
"""Of two that would begin at one place the former is marked there."""


@lru_cache(maxsize=512)  # each answer asks for the labels of all its settings
def explained(label: str) -> str:
    """The sentence of a label that is a term; nothing where it is none."""
    matches = (term for term in TERMS if re.fullmatch(term.pattern, label, re.IGNORECASE))
    return next((term.says.replace("{unit}", "token") for term in matches), "")
