"""Advice: what is said of a sentence that is not read as it was typed, and what is offered instead."""

from difflib import get_close_matches

from attnviz.contract.answer import Offer
from attnviz.core.limits import MAX_TOKENS
from attnviz.core.tokens import labels, tokenize
from attnviz.scene.reading import has_options, model_of, reading_model, room, unknown, words_in
from attnviz.scene.resolution import SceneWithPass
from attnviz.scene.scene import OWN, READY_MADE, Scene, choice_of

MAX_NAMED_WORDS = 4
"""The most words that a model doesn't know that are named."""

MAX_OFFERED_WORDS = 3
"""The most known words that are offered for them."""

MIN_LIKENESS = 0.7
"""The least ratio of common letters, as difflib counts, of a word and one that is offered for it."""


def notices(resolved: SceneWithPass) -> list[str]:
    """A sentence on the words that the model doesn't know, and one on what is left out of a long text."""
    scene = resolved.scene
    if resolved.trace is None or scene.source in READY_MADE:
        return []
    typed, keys = len(words_in(scene)), len(tokenize(scene.context))
    reads = reading_model(scene)
    return [
        *([_of_words(scene)] if unknown(scene) else []),
        *(reads.task.notes(scene.sentence) if reads else ()),
        *([_of_length(scene, "sentence", typed, room(scene))] if typed > room(scene) else []),
        *([_of_length(scene, "context", keys, MAX_TOKENS)] if keys > MAX_TOKENS else []),
    ]


def offers(resolved: SceneWithPass) -> list[Offer]:
    """Buttons: known words for unknown ones, or none of them; the way back; or the whole of a long sentence."""
    scene = resolved.scene
    if resolved.trace is None or not choice_of(scene):
        return []
    if has_options(scene):
        back = Offer(event="source", value=scene.source, label=f"Back to {choice_of(scene).title}")
        return [*_nearest(scene), *_without(scene), back]
    typed = len(words_in(scene))
    if room(scene) < typed <= MAX_TOKENS:
        return [Offer(event="source", value=OWN, label=f"Show all {typed} with random parameters")]
    return []


def _of_words(scene: Scene) -> str:
    nearest = " The nearest words that it knows:" if _nearest(scene) else ""
    return f"This model doesn't know {_listed(scene)}, so the pass below has random parameters.{nearest}"


def _listed(scene: Scene) -> str:
    """The words that the model doesn't know, the first of them by name."""
    named = [f"“{label}”" for label in _strange(scene).values()]
    others = [f"{len(named) - MAX_NAMED_WORDS} more"] if len(named) > MAX_NAMED_WORDS else []
    *first, last = named[:MAX_NAMED_WORDS] + others
    return f"{', '.join(first)} and {last}" if first else last


def _of_length(scene: Scene, name: str, n_tokens: int, most: int) -> str:
    reads = "A pass has" if has_options(scene) else "This model reads"
    return f"{reads} at most {most} tokens: the pass below has the first {most} of the {n_tokens} in this {name}."


def _nearest(scene: Scene) -> list[Offer]:
    """Known words, each in place of an unknown one that it is spelt like; none where all known words are letters."""
    strange, known = _strange(scene), [word for word in model_of(choice_of(scene)).task.words if len(word) > 1]
    each = max(MAX_OFFERED_WORDS // len(strange), 1)
    return [
        Offer(event="replace", value=(word, by), label=f"{label} → {by}")
        for word, label in list(strange.items())[:MAX_OFFERED_WORDS]
        for by in get_close_matches(word, known, n=each, cutoff=MIN_LIKENESS)
    ]


def _without(scene: Scene) -> list[Offer]:
    """The letters of the sentence that a model of letters knows, if there are any: a name may have a hyphen."""
    model = model_of(choice_of(scene))
    known = model.task.spoken([letter for letter in model.typed(scene.sentence) if letter in model.task.words])
    return [Offer(event="sentence", value=known, label=f"Leave out {_listed(scene)}")] if known else []


def _strange(scene: Scene) -> dict[str, str]:
    """The words that the model doesn't know, each with the label that it has as it was typed."""
    typed = {token.lower(): token for token in reversed(tokenize(scene.sentence))}
    strange = unknown(scene)
    return dict(zip(strange, labels([typed.get(word, word) for word in strange]), strict=True))
