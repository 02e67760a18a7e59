"""Words: which of a pass's words were typed in one sentence, and that sentence with two of them swapped."""

from dataclasses import replace

from attnviz.core import tokens
from attnviz.scene.reading import is_spoken, joined, room, words_in
from attnviz.scene.resolution import SceneWithPass
from attnviz.scene.scene import READY_MADE, Scene


def n_typed(scene: Scene) -> int:
    """The number of the pass's last words that were typed in one sentence; 0 for two sentences and worked examples."""
    if scene.source in READY_MADE or scene.context.strip():
        return 0
    return min(len(words_in(scene)), room(scene))


def swapped(resolved: SceneWithPass, one: int, other: int) -> str | None:
    """The sentence with two words of the pass in each other's place; None if they were not both typed in it."""
    scene, count = resolved.scene, n_typed(resolved.scene)
    if not count:
        return None
    first = len(resolved.trace.labels["query"]) - count  # after the word that all texts of a model begin with
    if min(one, other) < first:
        return None
    words, (one, other) = list(words_in(scene)), (one - first, other - first)
    if is_spoken(scene):
        words[one], words[other] = words[other], words[one]
        return joined(scene, words)
    return tokens.swapped(scene.sentence, one, other, lambda text: words_in(replace(scene, sentence=text)))
