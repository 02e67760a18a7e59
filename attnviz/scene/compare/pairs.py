"""Pairs: two passes that mean something beside each other, offered at one click."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from attnviz.core.changes import Change
from attnviz.core.coerce import is_applicable
from attnviz.core.masks import GLOBAL_LAYERS, LEAST_WINDOW, WITHOUT_WINDOW
from attnviz.core.settings import LATENTS, OPTIONS, divisors
from attnviz.core.stage import layered
from attnviz.scene.reading import has_options, joined, words_in
from attnviz.scene.scene import READY_MADE, Scene, choice_of, pinned, with_options


@dataclass(frozen=True)
class Pair:
    """Two scenes beside each other.

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
"""The parts that a pass may lack: the option, the label of its pair, and the setting that leaves it out."""


def pairs_of(scene: Scene) -> tuple[Pair, ...]:
    """The pairs that a scene is one half of."""
    now = pinned(scene)
    if scene.code is not None:
        return (Pair("code", "As your code computes / right", now, replace(now, code=None)),)
    pairs = [*_changed(now)]
    if has_options(scene):
        pairs += _of_options(now)
    elif choice_of(scene):
        pairs += [*_of_models(now), *_muted(now)]
    pairs += _shuffled(now)
    return tuple(each for each in pairs if each.a != each.b)  # whole numbers go with one head alone, say


def _changed(now: Scene) -> Iterator[Pair]:
    """The pass before anything was set or painted by hand, and after."""
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
    """Several layers that are all global beside some with a window, and a window in each beside one in some."""
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
    """Keys of each head beside those that heads share, or that come from a latent; and both orders of multiplying."""
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
"""The labels of pairs of the keys that each head has of its own and of others."""


def _of_models(now: Scene) -> Iterator[Pair]:
    model = choice_of(now)
    if len(model.checkpoints(now.model_seed)) > 1:
        before = replace(now, checkpoint=0)
        yield Pair("training", "Before training / after", before, replace(now, checkpoint=None))
    if len(model.seeds) > 1:
        following = model.seeds[(model.seeds.index(now.model_seed) + 1) % len(model.seeds)]
        yield Pair("seed", "This seed / the next", now, replace(now, model_seed=following))


def _muted(now: Scene) -> Iterator[Pair]:
    """A language model beside itself without its attention, or without its MLP."""
    model = choice_of(now).at(now.model_seed, now.checkpoint)
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
    yield Pair("words", "In this order / shuffled", now, replace(now, sentence=joined(now, shuffled)))
