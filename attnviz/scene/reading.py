"""Reading: who reads the sentence of a scene: its model, or where that doesn't know a word, random parameters."""

from collections.abc import Sequence

from attnviz.core.settings import MAX_TOKENS
from attnviz.core.tokens import tokenize
from attnviz.models import MODELS
from attnviz.models.model import Model
from attnviz.scene.scene import READY_MADE, Scene


def model_of(source: str) -> Model:
    """A model of a source: all that were trained for it know the same words, and have as many places."""
    return MODELS[source].at(MODELS[source].seeds[0])


def unknown(scene: Scene) -> tuple[str, ...]:
    """The words of the sentence that the scene's model doesn't know, in small letters; none where there is no model."""
    return model_of(scene.source).unknown(scene.sentence) if scene.source in MODELS else ()


def reading_model(scene: Scene) -> Model | None:
    """The model that reads the sentence; None where it has random parameters, and in a worked example."""
    return model_of(scene.source) if scene.source in MODELS and not unknown(scene) else None


def has_options(scene: Scene) -> bool:
    """Whether the sentence has random parameters, so that the scene's options decide its pass."""
    return scene.source not in READY_MADE and reading_model(scene) is None


def words_in(scene: Scene) -> Sequence[str]:
    """The words of the sentence, as the scene's pass has them; of a long one, more than the pass."""
    model = reading_model(scene)
    return model.typed(scene.sentence) if model else tokenize(scene.sentence)


def room(scene: Scene) -> int:
    """How many tokens of the sentence the scene's pass has places for; what follows them isn't read."""
    model = reading_model(scene)
    return model.room(scene.sentence) if model else MAX_TOKENS


def spaced(scene: Scene) -> str:
    """The sentence, so that random parameters read as many words in it as its model does: "abc" becomes "a b c"."""
    words = words_in(scene)
    return scene.sentence if len(words) == len(tokenize(scene.sentence)) else " ".join(words)
