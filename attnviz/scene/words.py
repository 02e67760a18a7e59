"""Words: which of a pass's words were typed in one sentence, and that sentence with two of them swapped."""

from collections.abc import Sequence

from attnviz.core import tokens
from attnviz.models import MODELS
from attnviz.scene.fitting import Fitted
from attnviz.scene.scene import SOURCES, Scene


def n_typed(scene: Scene) -> int:
    """How many of the last words of its pass were typed in one sentence; 0 for two sentences and worked examples."""
    return 0 if scene.source in SOURCES or scene.context.strip() else len(_read(scene, scene.sentence))


def swapped(fitted: Fitted, one: int, other: int) -> str | None:
    """The sentence with two words of the pass in each other's place; None if they were not both typed in it."""
    scene, count = fitted.scene, n_typed(fitted.scene)
    if not count:
        return None
    first = len(fitted.trace.labels["query"]) - count  # after the word that all texts of a model begin with
    if min(one, other) < first:
        return None
    return tokens.swapped(scene.sentence, one - first, other - first, lambda text: _read(scene, text))


def _read(scene: Scene, text: str) -> Sequence[str]:
    """The words of a text, as the scene's pass has them."""
    if scene.source in MODELS:
        return MODELS[scene.source].at(scene.model_seed, scene.checkpoint).typed(text)
    return tokens.tokenize(text)
