"""Pairs: of "x / y" A is x and B is y, read back from the passes of every pair of every scene."""

import functools
import re
from dataclasses import replace

import numpy as np
from page import changes_of

from attnviz.models import MODELS
from attnviz.scene.compare import pairs_of
from attnviz.scene.scene import Options, Scene, of_model, pinned
from attnviz.scene.with_pass import resolve

resolved = functools.lru_cache(64)(resolve)  # each pair has the present pass, and most claims ask for one again

OPTIONS = (
    {},
    {"mask": "causal", "scaled": False, "positions": "sinusoidal", "n_heads": 1},
    {"mask": "padding", "n_heads": 4, "seed": 2**32 - 1},
    {"mask": "window", "d_model": 9, "n_heads": 3},
    {"sharing": "all", "qk_norm": True, "rope": "halves", "softcap": "5", "alibi": True, "sinks": "drawn"},
    {"sharing": "pairs", "n_heads": 4},
    {"sharing": "latent", "rope": "halves", "qk_norm": True},
    {"layers": 2, "mask": "causal"},
    {"layers": 3, "mask": "window", "window_in": "every second layer"},
    {"layers": 6, "mask": "causal window", "mask_size": 2, "window_in": "all but every sixth layer"},
    {"layers": 2, "mask": "causal window", "window_in": "every second layer", "rope": "halves"},
    {"sharing": "absorbed", "rope": "neighbours", "latent_width": 3},
    {"sharing": "absorbed", "rope": "neighbours", "query_latent_width": 3},
)
SCENES = [
    *(Scene(options=Options(**values)) for values in OPTIONS),
    Scene(changes=changes_of("scores[0,2,1]=4")),
    *map(of_model, MODELS),
    replace(of_model("recall"), model_seed=MODELS["recall"].seeds[-1], checkpoint=1),
]


def hides(visible):
    """Whether exactly these keys are seen."""
    return lambda now, scene, trace: np.array_equal(trace["mask"].value, visible(*trace["mask"].shape))


def reaches(*layers):
    """Whether the last word sees the first in these layers alone; so does the first the last, unless that is later."""

    def holds(now, scene, trace):
        masks = {n: layer.trace["mask"].value for n, layer in enumerate(resolved(scene).trace.layers, start=1)}
        seen = {n for n in masks if n in layers}
        back, ahead = ({n for n, mask in masks.items() if mask[corner]} for corner in ((-1, 0), (0, -1)))
        return back == seen and ahead == (seen if now.options.mask == "window" else set())

    return holds


def has_heads(n):
    return lambda now, scene, trace: len(trace["attention"].value) == n


def has_layers(n):
    return lambda now, scene, trace: len(resolved(scene).trace.layers) == n


def has_bases(*bases):
    """Whether RoPE has these bases, layer by layer."""

    def holds(now, scene, trace):
        return [layer.trace["q_rotated"].operation.base for layer in resolved(scene).trace.layers] == [*bases]

    return holds


def d_k_of(trace):
    """How many numbers of a query are compared, of content and for positions."""
    return sum(trace[name].shape[-1] for name in ("q", "q_r") if name in trace)


def is_divided_by(divisor):
    return lambda now, scene, trace: np.allclose(trace["scores"].value / divisor(d_k_of(trace)), trace["scaled"].value)


def is_now(now, scene, trace):
    return scene == pinned(now)


def is_of_the_next_seed(now, scene, trace):
    seeds = MODELS[now.source].seeds if now.source in MODELS else None
    if seeds is None:
        return scene.options.seed == (now.options.seed + 1) % 2**32
    return seeds[seeds.index(now.model_seed) - len(seeds) + 1] == scene.model_seed


def has_positions(said):
    return has_stage("positions", said)


def has_stage(name, said):
    return lambda now, scene, trace: (name in trace) == said


def has_groups(said):
    """Whether all heads share one group of keys, or each has its own."""
    return lambda now, scene, trace: len(trace["k"]) == (1 if said else len(trace["q"]))


def has_pairs(now, scene, trace):
    return 2 * len(trace["k"].value) == len(trace["q"].value)


def makes_keys(said):
    """Whether keys are made of latents, or these matrices absorbed: with the output that the other order has."""

    def holds(now, scene, trace):
        orders = [replace(scene, options=replace(scene.options, sharing=each)) for each in ("latent", "absorbed")]
        naive, absorbed = (resolved(each).trace.output.value for each in orders)
        return "latent" in trace and ("k" in trace) == said and np.allclose(naive, absorbed, rtol=0, atol=1e-13)

    return holds


def adds_up_to_one(said):
    """Whether the shares of a row that sees a key add up to 1; with a sink they add up to less."""

    def holds(now, scene, trace):
        sees = np.isfinite(trace["masked"].value).any(axis=-1)
        sums = trace["attention"].value.sum(axis=-1)[sees]
        return np.allclose(sums, 1) if said else (sums < 1).all()

    return holds


def is_changed(said):
    return lambda now, scene, trace: trace.changes == (now.changes if said else ())


def is_trained(said):
    """Whether a pass has the parameters of the last checkpoint, or of the first."""

    def holds(now, scene, trace):
        model = MODELS[now.source].at(now.model_seed, None if said else 0)
        return np.array_equal(trace["w_u"].value, model.trace(now.sentence)["w_u"].value)

    return holds


def writes(**stages):
    """Whether of attention and MLP each writes something, or nothing."""
    return lambda now, scene, trace: all(trace[name].value.any() == some for name, some in stages.items())


def is_shuffled(now, scene, trace):
    one, other = (resolved(each).trace.labels["token"] for each in (now, scene))
    plain = [sorted(label.split()[0] for label in each) for each in (one, other)]
    return plain[0] == plain[1] and scene.sentence != now.sentence


CLAIMS = {
    "Before what was set by hand / after": (is_changed(False), is_changed(True)),
    "No mask / a causal one": (hides(lambda *n: np.ones(n)), hides(lambda *n: np.tri(*n))),
    "Global in every layer / window in every second layer": (reaches(*range(1, 7)), reaches(2, 4, 6)),
    "Global in every layer / window in all but every sixth layer": (reaches(*range(1, 7)), reaches(6)),
    "Window in every layer / in every second layer": (reaches(), reaches(2, 4, 6)),
    "Window in every layer / in all but every sixth layer": (reaches(), reaches(6)),
    "No mask / this one": (hides(lambda *n: np.ones(n)), is_now),
    "Scaled / not": (is_divided_by(np.sqrt), is_divided_by(lambda d_k: 1)),
    "Keys of each head / shared by all": (has_groups(False), has_groups(True)),
    "Keys of each head / shared by two": (has_groups(False), has_pairs),
    "Keys of each head / from a latent (MLA)": (has_stage("latent", False), makes_keys(True)),
    "Keys of each head / absorbed (MLA)": (has_stage("latent", False), makes_keys(False)),
    "MLA: naive / absorbed, one output": (makes_keys(True), makes_keys(False)),
    "Queries from what enters / from a latent": (has_stage("q_latent", False), has_stage("q_latent", True)),
    "Without a norm before attention / with": (has_stage("attn_norm", False), has_stage("attn_norm", True)),
    "Without QK-norm / with": (has_stage("q_normed", False), has_stage("q_normed", True)),
    "Without RoPE / with": (has_stage("q_rotated", False), has_stage("q_rotated", True)),
    "RoPE with one base / another in global layers": (has_bases(1e4, 1e4), has_bases(1e4, 1e6)),
    "Without a softcap / with": (has_stage("capped", False), has_stage("capped", True)),
    "Without ALiBi / with": (has_stage("biased", False), has_stage("biased", True)),
    "Without sinks / with": (adds_up_to_one(True), adds_up_to_one(False)),
    "Softmax at once / by blocks": (has_stage("running_max", False), has_stage("running_max", True)),
    "Without positions / with": (has_positions(False), has_positions(True)),
    **{f"One head / {n}": (has_heads(1), has_heads(n)) for n in (2, 3, 4)},
    **{f"One layer / {n}": (has_layers(1), has_layers(n)) for n in (2, 3, 6)},
    "This seed / the next": (is_now, is_of_the_next_seed),
    "Before training / after": (is_trained(False), is_trained(True)),
    "Without attention / with": (writes(output=False, mlp=True), writes(output=True, mlp=True)),
    "Without the MLP / with": (writes(output=True, mlp=False), writes(output=True, mlp=True)),
    "In this order / shuffled": (is_now, is_shuffled),
}
"""What each label says of A and of B."""


def test_of_each_pair_a_is_what_stands_before_the_stroke_and_b_what_stands_behind():
    made = set()
    for now in SCENES:
        for pair in pairs_of(now):
            for scene, holds in zip((pair.a, pair.b), CLAIMS[pair.label], strict=True):
                assert holds(now, scene, resolved(scene).trace.layers[0].trace), (pair.label, now)
            made.add(pair.label)
    assert made == set(CLAIMS)


def test_no_pair_is_of_one_pass_twice():
    for now in SCENES:
        for pair in pairs_of(now):
            assert pair.a != pair.b
            assert re.fullmatch(r"[A-Z][^/]+ / [^/]+", pair.label)
