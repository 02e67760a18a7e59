"""Comparing two passes: pairs of settings worth comparing, where two passes part, and where a person's code is
furthest off.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from msgspec import Raw

from attnviz.analysis.pairing import Pairing, StagePair, pairing
from attnviz.contract.document import SentOther, StageDistance
from attnviz.core.changes import Change
from attnviz.core.coerce import is_applicable
from attnviz.core.masks import GLOBAL_LAYERS, LEAST_WINDOW, WITHOUT_WINDOW
from attnviz.core.numerals import digits
from attnviz.core.selection import Selection
from attnviz.core.settings import LATENTS, OPTIONS, divisors
from attnviz.core.stage import layered
from attnviz.core.trace import Trace
from attnviz.explain.movement import described
from attnviz.explain.steps import full_title
from attnviz.explain.wording import setting
from attnviz.scene.reading import has_options, join_words, source_name, words_in
from attnviz.scene.scene import READY_MADE, Scene, model_choice, pinned, with_options
from attnviz.scene.with_pass import SceneWithPass, at_cell


def furthest_apart(theirs: Trace, right: Trace, stage: str) -> dict[str, object]:
    """The parts of the scene that show the number of a stage that is furthest off.

    Parameters
    ----------
    theirs, right : Trace
    stage : str
        One of `right`; where it is the same in both, the first at which they part is shown.
    """
    pairs = pairing(theirs, right)
    stage_pair = next((each for each in (pairs.stages.get(stage), pairs.first) if each and each.at), None)
    if stage_pair is None:
        return {}
    return {"view": "sheet"} | at_cell(right, right[stage_pair.name].cell(stage_pair.at), Selection().within(right))


MAX_QUOTED = 60
"""The most characters quoted from a sentence."""


def other_pass(a: SceneWithPass, b: SceneWithPass, document: bytes) -> SentOther:
    """Pass A as part of pass B's document, with what differs between them."""
    pairs = pairing(a.trace, b.trace)
    return SentOther(
        document=Raw(document),
        between=differences(a, b),
        parted=first_difference(pairs),
        first=pairs.first.name if pairs.first and pairs.first.at else None,
        at=pairs.first.at if pairs.first else (),
        places=pairs.places,
        stages={name: _stage(stage) for name, stage in pairs.stages.items()},
    )


def first_difference(pairs: Pairing) -> str:
    """Where two passes part, in one sentence.

    Examples
    --------
    >>> from attnviz import Settings, trace_of
    >>> first_difference(pairing(trace_of(Settings("the cat sat")), trace_of(Settings("the cat sat", seed=7))))
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


def differences(a: SceneWithPass, b: SceneWithPass) -> list[tuple[str, str, str]]:
    """What differs between two scenes: each setting's name and its values in A and B."""
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
    if not model_choice(scene) or has_options(scene):
        return "none"
    steps = model_choice(scene).checkpoints(scene.model_seed)
    done = steps[-1 if scene.checkpoint is None else scene.checkpoint]
    return f"{done:,} steps" if done else "none"


def _changes(original: Trace, scene: Scene) -> str:
    return "; ".join(described(original, change) for change in scene.changes) or "nothing"


@dataclass(frozen=True)
class Pair:
    """Two scenes to compare.

    Attributes
    ----------
    id : str
    label : str
        What differs, as a person picks it.
    a, b : Scene
        What decides their passes; one of them is that of the scene it is offered for.
    """

    id: str
    label: str
    a: Scene
    b: Scene


_WITH = (
    ("norm", "Without a norm before attention / with", "rmsnorm"),
    ("query_latent_width", "Queries from what enters / from a latent", 4),
    ("qk_norm", "Without QK-norm / with", True),
    ("rope", "Without RoPE / with", "neighbours"),
    ("rope_base_global", "RoPE with one base / another in global layers", "1000000"),
    ("softcap", "Without a softcap / with", "1"),
    ("alibi", "Without ALiBi / with", True),
    ("sinks", "Without sinks / with", "zero"),
    ("blocks", "Softmax at once / by blocks", "2"),
)
"""Optional parts of a pass: the option, the pair's label, and the value that turns the part on."""


def pairs_of(scene: Scene) -> tuple[Pair, ...]:
    """The pairs offered for a scene, which is one half of each."""
    now = pinned(scene)
    if scene.code is not None:
        return (Pair("code", "As your code computes / right", now, replace(now, code=None)),)
    pairs = [*_changed(now)]
    if has_options(scene):
        pairs += _of_options(now)
    elif model_choice(scene):
        pairs += [*_of_models(now), *_muted(now)]
    pairs += _shuffled(now)
    return tuple(each for each in pairs if each.a != each.b)  # whole numbers go with one head alone, say


def _changed(now: Scene) -> Iterator[Pair]:
    """The pass before and after hand-set numbers, and before and after a painted mask."""
    if now.changes:
        yield Pair("change", "Before what was set by hand / after", replace(now, changes=()), now)
    if now.hidden is not None:
        yield Pair("mask", "The mask before / as painted", replace(now, hidden=None), now)


def _of_options(now: Scene) -> Iterator[Pair]:
    options = now.options

    def other(**values: int | str | bool) -> Scene:
        return replace(now, options=with_options(options, **values))

    if now.hidden is None and options.mask == "none":
        yield Pair("mask", "No mask / a causal one", now, other(mask="causal"))
    elif now.hidden is None:
        yield Pair("mask", "No mask / this one", other(mask="none"), now)
    yield from _of_windows(now, other)
    scaled, unscaled = (now, other(scaled=False)) if options.scaled else (other(scaled=True), now)
    yield Pair("scaled", "Scaled / not", scaled, unscaled)
    if options.positions == "none":
        yield Pair("positions", "Without positions / with", now, other(positions="sinusoidal"))
    else:
        yield Pair("positions", "Without positions / with", other(positions="none"), now)
    more = [n for n in divisors(options.d_model) if n > 1]
    if options.n_heads > 1:
        yield Pair("heads", f"One head / {options.n_heads}", other(n_heads=1), now)
    elif more:
        yield Pair("heads", f"One head / {more[0]}", now, other(n_heads=more[0]))
    if options.layers > 1:
        yield Pair("layers", f"One layer / {options.layers}", other(layers=1), now)
    else:
        yield Pair("layers", "One layer / 2", now, other(layers=2))
    yield from _of_sharing(now, other)
    for name, label, value in _WITH:
        if not is_applicable(options, name):
            continue
        plain = OPTIONS[name].default
        if getattr(options, name) == plain:
            yield Pair(name, label, now, other(**{name: value}))
        else:
            yield Pair(name, label, other(**{name: plain}), now)
    yield Pair("seed", "This seed / the next", now, other(seed=(options.seed + 1) % 2**32))


def _of_windows(now: Scene, other: Callable[..., Scene]) -> Iterator[Pair]:
    """Global layers against windowed ones, and a window in every layer against one in some."""
    options = now.options
    if options.layers == 1 or now.hidden is not None:
        return
    is_in_some = GLOBAL_LAYERS[options.window_in] in range(2, options.layers + 1)
    some = options.window_in if is_in_some else "every second layer"
    label = f"Global in every layer / window in {some}"
    if options.mask in WITHOUT_WINDOW:
        windowed = other(window_in=some)
        yield Pair("global", label, other(mask=WITHOUT_WINDOW[options.mask]), windowed)
        yield Pair("window_in", f"Window in every layer / in {some}", other(window_in="every layer"), windowed)
    elif options.mask == "causal":
        size = max(options.mask_size, LEAST_WINDOW)
        yield Pair("global", label, now, other(mask="causal window", mask_size=size, window_in=some))


def _of_sharing(now: Scene, other: Callable[..., Scene]) -> Iterator[Pair]:
    """Per-head keys against shared keys and a latent (MLA), and both orders of multiplying for MLA."""
    sharing = now.options.sharing
    if sharing not in LATENTS:
        shared = "all" if sharing == "none" else sharing
        yield Pair("sharing", _SHARED[shared], other(sharing="none"), other(sharing=shared))
        yield Pair("latent", _SHARED["latent"], other(sharing="none"), other(sharing="latent"))
    else:
        yield Pair("latent", _SHARED[sharing], other(sharing="none"), now)
        yield Pair("absorbed", "MLA: naive / absorbed, one output", other(sharing="latent"), other(sharing="absorbed"))


_SHARED = {
    "pairs": "Keys of each head / shared by two",
    "all": "Keys of each head / shared by all",
    "latent": "Keys of each head / from a latent (MLA)",
    "absorbed": "Keys of each head / absorbed (MLA)",
}
"""Labels of the pairs that compare per-head keys with shared or latent ones."""


def _of_models(now: Scene) -> Iterator[Pair]:
    model = model_choice(now)
    if len(model.checkpoints(now.model_seed)) > 1:
        before = replace(now, checkpoint=0)
        yield Pair("training", "Before training / after", before, replace(now, checkpoint=None))
    if len(model.seeds) > 1:
        following = model.seeds[(model.seeds.index(now.model_seed) + 1) % len(model.seeds)]
        yield Pair("seed", "This seed / the next", now, replace(now, model_seed=following))


def _muted(now: Scene) -> Iterator[Pair]:
    """A language model without and with its attention, and without and with its MLP."""
    model = model_choice(now).at(now.model_seed, now.checkpoint)
    if not model.task.is_open:
        return
    for what, base, label in (("attention", "output", "attention"), ("mlp", "mlp", "the MLP")):
        changes = tuple(
            Change(layered(base, number), (None,), 0.0)
            for number, _ in enumerate(model.layers, start=len(model.layers) > 1)
        )
        yield Pair(what, f"Without {label} / with", replace(now, changes=changes), replace(now, changes=()))


def _shuffled(now: Scene) -> Iterator[Pair]:
    words = list(words_in(now))
    if now.source in READY_MADE or len(set(words)) < 2:
        return
    shuffled, dice = words[:], random.Random(0)  # the same for everyone
    while shuffled == words:
        dice.shuffle(shuffled)
    yield Pair("words", "In this order / shuffled", now, replace(now, sentence=join_words(now, shuffled)))
