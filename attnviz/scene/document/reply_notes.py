"""What a reply says besides its scene: requested parts, notices on words the model can't read, and offers."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from difflib import get_close_matches

from attnviz.analysis.audit import Audit
from attnviz.contract.base import ActionLink
from attnviz.core.coerce import nearest
from attnviz.core.limits import MAX_TOKENS
from attnviz.core.tokens import labels, tokenize
from attnviz.scene.reading import (
    any_model_of,
    capacity,
    has_options,
    reading_model,
    translates,
    unknown_words,
    words_in,
)
from attnviz.scene.scene import FIXED_SOURCES, RANDOM, Scene, model_choice
from attnviz.scene.with_pass import SceneWithPass


@dataclass(frozen=True)
class ReplyNotes:
    """What a reply contains besides the scene."""

    notices: tuple[str, ...] = ()  # sentences
    seed: str | None = None  # the seed as typed
    heads: tuple[int, ...] = ()  # the requested heads of a large pass, latest last
    queries: tuple[int, ...] = ()  # the requested queries of stages that are sent row by row, latest last
    whole: bool = False  # whether to send all heads and queries, for a file
    without_parameters: bool = False  # whether to leave out those of a large pass, in a file
    slopes_of: str = ""  # the address of a cell whose gradients are sent
    flips_of: str = ""  # the address of an attention weight or probability whose flips are sent
    with_names: bool = False  # whether to send sample texts of a language model
    arrives: bool = False  # whether the viewer should move to the scene's selection instead of keeping its own
    audit: Audit | None = None  # the result of a requested audit of a large pass

    @property
    def asks(self) -> bool:
        """Whether the document needs parts that a first visit's lacks."""
        return bool(self.heads or self.queries or self.whole or self.slopes_of or self.flips_of or self.with_names)

    def then(self, later: ReplyNotes) -> ReplyNotes:
        """These notes updated with later ones; heads and queries of both are kept."""
        parts = {each.name: value for each in fields(later) if (value := getattr(later, each.name)) != each.default}
        for name in ("heads", "queries"):
            latest = getattr(later, name)
            parts[name] = (*(each for each in getattr(self, name) if each not in latest), *latest)
        return replace(self, **parts)

    def carried_over(self, scene: Scene) -> ReplyNotes:
        """The notes that stay for later replies: heads, queries, and the typed seed until the scene has another."""
        is_left = self.seed and has_options(scene) and not typed_seed(scene, self)[0]
        return ReplyNotes(seed=None if is_left else self.seed or None, heads=self.heads, queries=self.queries)


NO_NOTES = ReplyNotes()  # the notes of a first visit


def typed_seed(scene: Scene, notes: ReplyNotes) -> tuple[str, list[str]]:
    """The seed text as typed and notices on it; empty if the scene's seed has changed since."""
    if not notes.seed or not has_options(scene):
        return "", []
    seeds, notices = nearest({"seed": notes.seed})
    return (notes.seed, notices) if seeds["seed"] == scene.options.seed else ("", [])


MAX_NAMED_WORDS = 4  # the most unknown words that a notice lists
MAX_OFFERED_WORDS = 3  # the most known words offered as replacements
ENDINGS = ("ing", "ed", "es")  # endings of inflections, besides those that differ by one letter


def notices(resolved: SceneWithPass) -> list[str]:
    """Notices on unknown words, on text read differently than typed, and on text that is too long."""
    scene = resolved.scene
    if resolved.trace is None or scene.source in FIXED_SOURCES:
        return []
    typed, keys = len(words_in(scene)), len(tokenize(scene.context))
    reads = reading_model(scene)
    return [
        *([_of_words(scene)] if unknown_words(scene) else []),
        *(reads.task.notes(scene.sentence) if reads else ()),
        *([_of_length(scene, "sentence", typed, capacity(scene))] if typed > capacity(scene) else []),
        *([_of_length(scene, "context", keys, MAX_TOKENS)] if keys > MAX_TOKENS else []),
    ]


def offers(resolved: SceneWithPass) -> list[ActionLink]:
    """Buttons: replace or remove unknown words, go back to the model, or show a long sentence in full."""
    scene = resolved.scene
    if not model_choice(scene):
        return []
    if resolved.trace is None:
        return _nearest(scene) if translates(scene) and unknown_words(scene) else []
    if has_options(scene):
        back = ActionLink(event="source", value=scene.source, label=f"Back to {model_choice(scene).title}")
        return [*_nearest(scene), *_without(scene), back]
    typed = len(words_in(scene))
    if capacity(scene) < typed <= MAX_TOKENS and not translates(scene):  # random parameters translate nothing
        return [ActionLink(event="source", value=RANDOM, label=f"Show all {typed} with random parameters")]
    return []


def _of_words(scene: Scene) -> str:
    nearest = " The nearest words that it knows:" if _nearest(scene) else ""
    return f"This model doesn't know {_listed(scene)}, so the pass below has random parameters.{nearest}"


def _listed(scene: Scene) -> str:
    """The unknown words in a phrase; after the first few only their number."""
    named = [f"“{label}”" for label in _strange(scene).values()]
    others = [f"{len(named) - MAX_NAMED_WORDS} more"] if len(named) > MAX_NAMED_WORDS else []
    *first, last = named[:MAX_NAMED_WORDS] + others
    return f"{', '.join(first)} and {last}" if first else last


def _of_length(scene: Scene, name: str, n_tokens: int, most: int) -> str:
    reads = "A pass has" if has_options(scene) else "This model reads"
    return f"{reads} at most {most} tokens: the pass below has the first {most} of the {n_tokens} in this {name}."


def _nearest(scene: Scene) -> list[ActionLink]:
    """Offers of known words spelt like unknown ones; none for models of letters."""
    strange, known = _strange(scene), [word for word in any_model_of(model_choice(scene)).task.words if len(word) > 1]
    each = max(MAX_OFFERED_WORDS // len(strange), 1)
    return [
        ActionLink(event="replace", value=(word, by), label=f"{label} → {by}")
        for word, label in list(strange.items())[:MAX_OFFERED_WORDS]
        for by in get_close_matches(word, [by for by in known if _is_near(word, by)], n=each, cutoff=0.5)
    ]


def _is_near(word: str, by: str) -> bool:
    """Whether the two differ by one letter other than the first, by two adjacent letters swapped, or by an ending that
    inflects the known word.
    """
    begins = _n_alike(word, by)
    rest, other = word[begins:], by[begins:]
    ends = _n_alike(rest[::-1], other[::-1])
    rest, other = rest[: len(rest) - ends], other[: len(other) - ends]
    if len(rest) == len(other) == 2:
        return rest == other[::-1]
    return begins > 0 and (max(len(rest), len(other)) <= 1 or (not other and rest in ENDINGS))


def _n_alike(word: str, by: str) -> int:
    """How many letters two words have in common at their beginning."""
    return next(
        (n for n, (one, other) in enumerate(zip(word, by, strict=False)) if one != other), min(len(word), len(by))
    )


def _without(scene: Scene) -> list[ActionLink]:
    """An offer to drop the letters that a model of letters doesn't know, such as a hyphen."""
    model = any_model_of(model_choice(scene))
    known = model.task.joined([letter for letter in model.split(scene.sentence) if letter in model.task.words])
    return [ActionLink(event="sentence", value=known, label=f"Leave out {_listed(scene)}")] if known else []


def _strange(scene: Scene) -> dict[str, str]:
    """The unknown words, each with its label as typed."""
    typed = {token.lower(): token for token in reversed(tokenize(scene.sentence))}
    strange = unknown_words(scene)
    return dict(zip(strange, labels([typed.get(word, word) for word in strange]), strict=True))
