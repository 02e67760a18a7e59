"""Comparing two passes: pairs worth comparing, where two passes part, and where the user's code is furthest off."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from msgspec import Raw

from attnviz.analysis.pairing import Pairing, StagePair, pairing
from attnviz.contract.document import SentOther, StageDistance
from attnviz.core.changes import Change
from attnviz.core.coerce import is_applicable
from attnviz.core.masks import GLOBAL_LAYERS, LEAST_WINDOW, WITHOUT_WINDOW
from attnviz.core.numerals import digits
from attnviz.core.selection import Selection
from attnviz.core.settings import LATENTS, OPTIONS, divisors
from attnviz.core.stage import name_in_layer, split_layer
from attnviz.core.tokens import replace_word
from attnviz.core.trace import Trace
from attnviz.explain.change_sentences import describe_change
from attnviz.explain.steps import full_title
from attnviz.explain.wording import setting
from attnviz.scene.presets import translator_parts
from attnviz.scene.reading import has_options, join_words, reading_model, source_name, translates, words_in
from attnviz.scene.scene import FIXED_SOURCES, Scene, model_choice, pinned, with_options
from attnviz.scene.with_pass import SceneWithPass, at_cell


def furthest_apart(theirs: Trace, right: Trace, stage: str) -> dict[str, object]:
    """The scene fields that select a stage's number that is furthest off; if all agree, the first differing stage's."""
    pairs = pairing(theirs, right)
    stage_pair = next((each for each in (pairs.stages.get(stage), pairs.first) if each and each.at), None)
    if stage_pair is None:
        return {}
    return {"view": "sheet"} | at_cell(right, right[stage_pair.name].cell(stage_pair.at), Selection().within(right))


MAX_QUOTED = 60  # the most characters quoted from a sentence


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
        stages={name: _distance_data(stage) for name, stage in pairs.stages.items()},
    )


def _distance_data(stage: StagePair) -> StageDistance:
    same = {"matched": not stage.mismatch, "tolerance": stage.tolerance, "largest": stage.largest}
    return StageDistance(text=distance(stage), other=stage.n_differing, of=stage.n_numbers, **same)


def first_difference(pairs: Pairing) -> str:
    """Where two passes part, in one sentence.

    >>> from attnviz import Settings, trace_of
    >>> first_difference(pairing(trace_of(Settings("the cat sat")), trace_of(Settings("the cat sat", seed=7))))
    'The first difference is at the embeddings: 24 of 24 differ, by up to 3.4918.'
    """
    first = pairs.first
    if first is None:
        moved = [list(places) != list(range(len(places))) for places in pairs.places.values()]
        return "Word by word they hold the same numbers." if any(moved) else "They hold the same numbers."
    title = full_title(first.name)
    if title[:1].isupper() and not title[1:2].isupper():
        title = title[0].lower() + title[1:]
    return f"The first difference is at the {title}: {distance(first)}."


def distance(stage: StagePair) -> str:
    """The distance of the numbers of one stage, as a clause."""
    if stage.mismatch:
        return stage.mismatch
    if not stage.n_differing:
        return "same in both"
    if stage.n_hidden == stage.n_differing:
        pairs = " pairs" if split_layer(stage.name)[0] == "mask" else ""
        return f"{stage.n_hidden} of {stage.n_numbers}{pairs} are hidden in one pass but not the other"
    hidden = f"{stage.n_hidden} of them hidden in only one" if stage.n_hidden else ""
    apart = f"by up to {digits(stage.largest)}" if stage.largest else ""
    return ", ".join(filter(None, (f"{stage.n_differing} of {stage.n_numbers} differ", hidden, apart)))


def differences(a: SceneWithPass, b: SceneWithPass) -> list[tuple[str, str, str]]:
    """What differs between two scenes: each setting's name and its values in A and B."""
    both = _described(a), _described(b)
    if both[0]["Source"] == both[1]["Source"]:
        both = tuple(parts | _settings(each.scene) for parts, each in zip(both, (a, b), strict=True))
    one, other = both
    return [(name, one[name], other[name]) for name in one if name in other and one[name] != other[name]]


def _described(resolved: SceneWithPass) -> dict[str, str]:
    """What decides a pass besides the settings that its source brings."""
    scene, original = resolved.scene, resolved.original
    return {
        "Source": source_name(scene),
        "Sentence": "its own" if scene.source in FIXED_SOURCES else _quoted(scene.sentence),
        "Set by hand": "; ".join(describe_change(original, change) for change in scene.changes) or "nothing",
        "Painted mask": "none" if scene.hidden is None else str(scene.hidden),
        "Computed by": "attnviz" if scene.code is None else "your code",
    }


def _settings(scene: Scene) -> dict[str, str]:
    options = {OPTIONS[name].label: setting(getattr(scene.options, name)) for name in OPTIONS if has_options(scene)}
    seed = {} if options else {"Seed": str(scene.model_seed)}  # the options have a seed of their own
    return {"Context": _quoted(scene.context)} | options | seed | {"Training": _training(scene)}


def _quoted(text: str) -> str:
    if not text:
        return "none"
    return f"“{text if len(text) <= MAX_QUOTED else text[: MAX_QUOTED - 1] + '…'}”"


def _training(scene: Scene) -> str:
    if not model_choice(scene) or has_options(scene):
        return "none"
    steps = model_choice(scene).checkpoints(scene.model_seed)
    done = steps[-1 if scene.checkpoint is None else scene.checkpoint]
    return f"{done:,} steps" if done else "none"


class Pair(NamedTuple):
    """Two scenes to compare, each reduced to what decides its pass; one is that of the current scene."""

    id: str
    label: str  # what differs, as a person picks it
    a: Scene
    b: Scene


_OTHER_FRENCH = (("cat", "cow"), ("cats", "cows"), ("tired", "wide"), ("black", "small"))
_OPTIONAL_PARTS = (  # the option, the pair's label, and the value that turns the part on
    ("norm", "No norm vs a norm before attention", "rmsnorm"),
    ("query_latent_width", "Queries from the input vs from a latent", 4),
    ("qk_norm", "No QK-norm vs QK-norm", True),
    ("rope", "No RoPE vs RoPE", "neighbours"),
    ("rope_base_global", "One RoPE base vs another in global layers", "1000000"),
    ("softcap", "No softcap vs softcap", "1"),
    ("alibi", "No ALiBi vs ALiBi", True),
    ("sinks", "No sinks vs sinks", "zero"),
    ("blocks", "Softmax at once vs by blocks", "2"),
)


def pairs_of(scene: Scene) -> tuple[Pair, ...]:
    """The pairs offered for a scene, which is one half of each."""
    now = pinned(scene)
    if scene.code is not None:
        return (Pair("code", "Your code vs the right pass", now, replace(now, code=None)),)
    pairs = [*_changed(now)]
    if has_options(scene):
        pairs += _of_options(now)
    elif model_choice(scene):
        pairs += [*(_of_translators if translates(now) else _muted)(now), *_of_models(now)]
    pairs += _shuffled(now)
    return tuple(each for each in pairs if each.a != each.b)  # the integer example, say, has one head only


def _changed(now: Scene) -> Iterator[Pair]:
    if now.changes:
        yield Pair("change", "Before vs after what was set by hand", replace(now, changes=()), now)
    if now.hidden is not None:
        yield Pair("mask", "Original vs painted mask", replace(now, hidden=None), now)


def _of_options(now: Scene) -> Iterator[Pair]:
    options = now.options

    def other(**values: int | str | bool) -> Scene:
        return replace(now, options=with_options(options, **values))

    if now.hidden is None and options.mask == "none":
        yield Pair("mask", "No mask vs a causal mask", now, other(mask="causal"))
    elif now.hidden is None:
        yield Pair("mask", "No mask vs this mask", other(mask="none"), now)
    yield from _of_windows(now, other)
    yield Pair("scaled", "Scaled vs unscaled", other(scaled=True), other(scaled=False))
    yield Pair("positions", "No positions vs sinusoidal", other(positions="none"), other(positions="sinusoidal"))
    n_heads = options.n_heads if options.n_heads > 1 else next(n for n in divisors(options.d_model) if n > 1)
    yield Pair("heads", f"One head vs {n_heads}", other(n_heads=1), other(n_heads=n_heads))
    n_layers = max(options.layers, 2)
    yield Pair("layers", f"One layer vs {n_layers}", other(layers=1), other(layers=n_layers))
    yield from _of_sharing(now, other)
    for name, label, value in _OPTIONAL_PARTS:
        if is_applicable(options, name):
            plain, current = OPTIONS[name].default, getattr(options, name)
            yield Pair(name, label, other(**{name: plain}), other(**{name: value if current == plain else current}))
    yield Pair("seed", "This seed vs the next", now, other(seed=(options.seed + 1) % 2**32))


def _of_windows(now: Scene, other: Callable[..., Scene]) -> Iterator[Pair]:
    """Global layers against windowed ones, and a window in every layer against one in some."""
    options = now.options
    if options.layers == 1 or now.hidden is not None:
        return
    is_in_some = GLOBAL_LAYERS[options.window_in] in range(2, options.layers + 1)
    some = options.window_in if is_in_some else "every second layer"
    label = f"Global in every layer vs window in {some}"
    if options.mask in WITHOUT_WINDOW:
        windowed = other(window_in=some)
        yield Pair("global", label, other(mask=WITHOUT_WINDOW[options.mask]), windowed)
        yield Pair("window_in", f"Window in every layer vs in {some}", other(window_in="every layer"), windowed)
    elif options.mask == "causal":
        size = max(options.mask_size, LEAST_WINDOW)
        yield Pair("global", label, now, other(mask="causal window", mask_size=size, window_in=some))


def _of_sharing(now: Scene, other: Callable[..., Scene]) -> Iterator[Pair]:
    """Per-head keys against shared keys and a latent (MLA), and both orders of multiplying for MLA."""
    sharing = now.options.sharing
    if sharing in LATENTS:
        label = "Per-head keys vs MLA" if sharing == "latent" else "Per-head keys vs absorbed MLA"
        yield Pair("latent", label, other(sharing="none"), now)
        yield Pair("absorbed", "MLA, naive vs absorbed: one output", other(sharing="latent"), other(sharing="absorbed"))
        return
    shared = "pairs" if sharing == "pairs" else "all"
    label = f"Per-head keys vs shared by {'two' if shared == 'pairs' else 'all'}"
    yield Pair("sharing", label, other(sharing="none"), other(sharing=shared))
    yield Pair("latent", "Per-head keys vs MLA", other(sharing="none"), other(sharing="latent"))


def _of_models(now: Scene) -> Iterator[Pair]:
    model = model_choice(now)
    if len(model.checkpoints(now.model_seed)) > 1:
        yield Pair("training", "Before vs after training", replace(now, checkpoint=0), replace(now, checkpoint=None))
    if len(model.seeds) > 1:
        following = model.seeds[(model.seeds.index(now.model_seed) + 1) % len(model.seeds)]
        yield Pair("seed", "This seed vs the next", now, replace(now, model_seed=following))


def _of_translators(now: Scene) -> Iterator[Pair]:
    """A word against one that French treats otherwise: another gender, another noun for "it", another place."""
    words, known = words_in(now), reading_model(now).task.words
    for pair in _OTHER_FRENCH:
        for word, other in (pair, pair[::-1]):
            if word in words and other in known and not {*pair} <= {*words}:
                changed = replace(now, sentence=replace_word(now.sentence, word, other), written=None)
                yield Pair(f"{word}-{other}", f"“{word}” vs “{other}”", now, changed)
    for part in translator_parts(now):
        muted, whole = (replace(now, changes=changes) for changes in (part.changes, ()))
        yield Pair(part.event, f"Without vs with: {part.label}", muted, whole)


def _muted(now: Scene) -> Iterator[Pair]:
    model = model_choice(now).at(now.model_seed, now.checkpoint)
    if not model.task.is_open:
        return
    for id_, base, label in (("attention", "output", "attention"), ("mlp", "mlp", "the MLP")):
        changes = tuple(
            Change(name_in_layer(base, number), (None,), 0.0)
            for number, _ in enumerate(model.layers, start=len(model.layers) > 1)
        )
        yield Pair(id_, f"Without vs with {label}", replace(now, changes=changes), replace(now, changes=()))


def _shuffled(now: Scene) -> Iterator[Pair]:
    words = list(words_in(now))
    if now.source in FIXED_SOURCES or len(set(words)) < 2:
        return
    shuffled, rng = words[:], random.Random(0)  # the same for everyone
    while shuffled == words:
        rng.shuffle(shuffled)
    after = replace(now, sentence=join_words(now, shuffled), written=None)  # the translation of the new words
    yield Pair("words", "In this order vs shuffled", now, after)
