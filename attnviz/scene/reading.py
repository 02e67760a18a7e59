"""Reading: who reads the sentence of a scene: its model, or where that doesn't know a word, random parameters."""

from collections.abc import Sequence
from dataclasses import replace

from attnviz.core.limits import MAX_TOKENS
from attnviz.core.tokens import tokenize
from attnviz.models.choice import Choice
from attnviz.models.model import Model
from attnviz.scene.scene import OWN_PARAMETERS, READY_MADE, SOURCES, Scene, choice_of, lacks_file


def model_of(choice: Choice) -> Model:
    """A model of a choice: all that were trained for it know the same words, and have as many places."""
    return choice.at(choice.seeds[0])


def unknown(scene: Scene) -> tuple[str, ...]:
    """The words of the sentence that the scene's model doesn't know, in small letters; none where there is no model."""
    choice = choice_of(scene)
    return model_of(choice).unknown(scene.sentence) if choice else ()


def reading_model(scene: Scene) -> Model | None:
    """The model that reads the sentence; None where it has random parameters, and in a worked example."""
    choice = choice_of(scene)
    return model_of(choice) if choice and not unknown(scene) else None


def has_options(scene: Scene) -> bool:
    """Whether the sentence has random parameters, so that the scene's options decide its pass."""
    return scene.source not in READY_MADE and not lacks_file(scene) and reading_model(scene) is None


def source_name(scene: Scene) -> str:
    """The name of a scene's source, as within a sentence."""
    if scene.source == OWN_PARAMETERS:
        return "somebody's own numbers"
    if scene.source in SOURCES:
        example, variant = SOURCES[scene.source]
        return f"{example.title}, {variant.title}"
    return "random parameters" if has_options(scene) else choice_of(scene).title


def words_in(scene: Scene) -> Sequence[str]:
    """The words of the sentence, as the scene's pass has them; of a long one, more than the pass."""
    model = reading_model(scene)
    return model.typed(scene.sentence) if model else tokenize(scene.sentence)


def joined(scene: Scene, words: Sequence[str]) -> str:
    """A sentence of such words, as one types it for the scene's pass: letters of a name have no spaces."""
    model = reading_model(scene)
    return (model and model.task.spoken(words)) or " ".join(words)


def is_spoken(scene: Scene) -> bool:
    """Whether each character of the sentence is a token, spaces too."""
    model = reading_model(scene)
    return model is not None and model.task.spoken(words_in(scene)) == scene.sentence != ""


def without_end(scene: Scene) -> str:
    """The sentence without spaces at its end, unless its model reads them."""
    stripped = scene.sentence.rstrip()
    return stripped if words_in(replace(scene, sentence=stripped)) == words_in(scene) else scene.sentence


def shortened(scene: Scene) -> str:
    """The sentence without its last word."""
    text, n_words = scene.sentence, len(words_in(scene))
    while text and len(words_in(replace(scene, sentence=text))) == n_words:
        text = text[:-1]
    return without_end(replace(scene, sentence=text))


def room(scene: Scene) -> int:
    """The number of the sentence's tokens that the scene's pass has places for; the rest isn't read."""
    model = reading_model(scene)
    return model.room(scene.sentence) if model else MAX_TOKENS


def spaced(scene: Scene) -> str:
    """The sentence, so that random parameters read as many words in it as its model does: "abc" becomes "a b c"."""
    words = words_in(scene)
    return scene.sentence if len(words) == len(tokenize(scene.sentence)) else " ".join(words)
