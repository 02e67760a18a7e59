"""Report: two passes beside each other, in words and as data."""

from __future__ import annotations

from msgspec import Raw

from attnviz.analysis.pairing import Pairing, StagePair, pairing
from attnviz.contract.document import SentOther, StageDistance
from attnviz.core.numerals import digits
from attnviz.core.settings import OPTIONS
from attnviz.core.trace import Trace
from attnviz.explain.movement import described
from attnviz.explain.steps import full_title
from attnviz.explain.wording import setting
from attnviz.scene.reading import has_options, source_name
from attnviz.scene.resolution import SceneWithPass
from attnviz.scene.scene import READY_MADE, Scene, choice_of

MAX_QUOTED = 60
"""Characters of a sentence that are quoted of it."""


def other_pass(a: SceneWithPass, b: SceneWithPass, document: bytes) -> SentOther:
    """The part of a document of pass B on a pass A beside it, which has a document of its own."""
    pairs = pairing(a.trace, b.trace)
    return SentOther(
        document=Raw(document),
        between=differing(a, b),
        parted=parted(pairs),
        first=pairs.first.name if pairs.first and pairs.first.at else None,
        at=pairs.first.at if pairs.first else (),
        places=pairs.places,
        stages={name: _stage(stage) for name, stage in pairs.stages.items()},
    )


def parted(pairs: Pairing) -> str:
    """Where two passes part, in one sentence.

    Examples
    --------
    >>> from attnviz import Settings, trace_of
    >>> parted(pairing(trace_of(Settings("the cat sat")), trace_of(Settings("the cat sat", seed=7))))
    'They part at the embeddings: 24 of 24 differ, by up to 3.4918.'
    """
    first = pairs.first
    if first is None:
        moved = [list(places) != list(range(len(places))) for places in pairs.places.values()]
        return "Word by word they hold the same numbers." if any(moved) else "They hold the same numbers."
    title = _title(first.name)
    if not first.n_other:
        return f"They part at the {title}: {first.other}."
    return f"They part at the {title}: {distance(first)}."


def distance(stage: StagePair) -> str:
    """The distance of the numbers of one stage, as a clause."""
    if stage.other:
        return stage.other
    if not stage.n_other:
        return "same in both"
    apart = f"by up to {digits(stage.largest)}" if stage.largest else ""
    if stage.n_hidden == stage.n_other:
        return f"{stage.n_hidden} of {stage.n_numbers} hidden in only one of them"
    hidden = f"{stage.n_hidden} of them hidden in only one" if stage.n_hidden else ""
    return ", ".join(filter(None, (f"{stage.n_other} of {stage.n_numbers} differ", hidden, apart)))


def _stage(stage: StagePair) -> StageDistance:
    return StageDistance(
        text=distance(stage),
        other=stage.n_other,
        of=stage.n_numbers,
        matched=not stage.other,
        tolerance=stage.tolerance,
        largest=stage.largest,
    )


def _title(name: str) -> str:
    title = full_title(name)
    return title if title[1:2].isupper() or not title[:1].isupper() else title[0].lower() + title[1:]


def differing(a: SceneWithPass, b: SceneWithPass) -> list[tuple[str, str, str]]:
    """The differences between two scenes: the name of each, and what it is in A and in B."""
    return [(name, one, other) for name, one, other in _parts(a, b) if one != other]


def _parts(a: SceneWithPass, b: SceneWithPass) -> list[tuple[str, str, str]]:
    one, other = a.scene, b.scene
    what = [
        ("Source", source_name(one), source_name(other)),
        ("Sentence", _sentence(one), _sentence(other)),
        ("Set by hand", _changes(a.original, one), _changes(b.original, other)),
        ("Painted mask", _painted(one), _painted(other)),
        ("Computed by", _computed_by(one), _computed_by(other)),
    ]
    if source_name(one) != source_name(other):  # which brings its own settings
        return what
    names = [name for name in OPTIONS if has_options(one)]
    return [
        *what,
        ("Context", _quoted(one.context), _quoted(other.context)),
        *((OPTIONS[name].label, *(setting(getattr(each.options, name)) for each in (one, other))) for name in names),
        ("Seed", str(one.model_seed), str(other.model_seed)),
        ("Training", _training(one), _training(other)),
    ]


def _sentence(scene: Scene) -> str:
    return "its own" if scene.source in READY_MADE else _quoted(scene.sentence)


def _quoted(text: str) -> str:
    if not text:
        return "none"
    return f"“{text if len(text) <= MAX_QUOTED else text[: MAX_QUOTED - 1] + '…'}”"


def _computed_by(scene: Scene) -> str:
    return "attnviz" if scene.code is None else "your code"


def _painted(scene: Scene) -> str:
    return "none" if scene.hidden is None else str(scene.hidden)


def _training(scene: Scene) -> str:
    if not choice_of(scene) or has_options(scene):
        return "none"
    steps = choice_of(scene).checkpoints(scene.model_seed)
    done = steps[-1 if scene.checkpoint is None else scene.checkpoint]
    return f"{done:,} steps" if done else "none"


def _changes(original: Trace, scene: Scene) -> str:
    return "; ".join(described(original, change) for change in scene.changes) or "nothing"
