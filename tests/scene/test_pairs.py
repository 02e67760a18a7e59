"""Pairs: of "x vs y" A is x and B is y, read back from the passes of every pair of every scene."""

import functools
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
    """Exactly these keys are seen."""
    return lambda now, scene, trace: np.array_equal(trace["mask"].value, visible(*trace["mask"].shape))


def reaches(*layers):
    """The last word sees the first in these layers alone; so does the first the last, unless the mask is causal."""

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
    """RoPE has these bases, layer by layer."""
    return lambda now, scene, trace: (
        [layer.trace["q_rotated"].operation.base for layer in resolved(scene).trace.layers] == [*bases]
    )


def is_divided_by(divisor):
    def holds(now, scene, trace):
        d_k = sum(trace[name].shape[-1] for name in ("q", "q_r") if name in trace)
        return np.allclose(trace["scores"].value / divisor(d_k), trace["scaled"].value)

    return holds


def is_now(now, scene, trace):
    return scene == pinned(now)


def is_of_the_next_seed(now, scene, trace):
    seeds = MODELS[now.source].seeds if now.source in MODELS else None
    if seeds is None:
        return scene.options.seed == (now.options.seed + 1) % 2**32
    return seeds[seeds.index(now.model_seed) - len(seeds) + 1] == scene.model_seed


def has_stage(name, expected):
    return lambda now, scene, trace: (name in trace) == expected


def with_and_without(name):
    return has_stage(name, False), has_stage(name, True)


def has_groups(n_heads_each):
    """So many heads share a group of keys; 0 for all of them."""
    return lambda now, scene, trace: len(trace["k"]) * (n_heads_each or len(trace["q"])) == len(trace["q"])


def makes_keys(expected):
    """Keys are made of latents, or these matrices absorbed: with the output that the other order has."""

    def holds(now, scene, trace):
        orders = [replace(scene, options=replace(scene.options, sharing=each)) for each in ("latent", "absorbed")]
        naive, absorbed = (resolved(each).trace.output.value for each in orders)
        return "latent" in trace and ("k" in trace) == expected and np.allclose(naive, absorbed, rtol=0, atol=1e-13)

    return holds


def adds_up_to_one(expected):
    """The weights of a row that sees a key add up to 1; with a sink they add up to less."""

    def holds(now, scene, trace):
        sees = np.isfinite(trace["masked"].value).any(axis=-1)
        sums = trace["attention"].value.sum(axis=-1)[sees]
        return np.allclose(sums, 1) if expected else (sums < 1).all()

    return holds


def is_changed(expected):
    return lambda now, scene, trace: trace.changes == (now.changes if expected else ())


def is_trained(expected):
    """A pass has the parameters of the last checkpoint, or of the first."""

    def holds(now, scene, trace):
        model = MODELS[now.source].at(now.model_seed, None if expected else 0)
        return np.array_equal(trace["w_u"].value, model.trace(now.sentence)["w_u"].value)

    return holds


def writes(**stages):
    """Of attention and MLP each writes something, or nothing."""
    return lambda now, scene, trace: all(trace[name].value.any() == some for name, some in stages.items())


def is_shuffled(now, scene, trace):
    one, other = (resolved(each).trace.labels["token"] for each in (now, scene))
    plain = [sorted(label.split()[0] for label in each) for each in (one, other)]
    return plain[0] == plain[1] and scene.sentence != now.sentence


def everything(*n):
    return np.ones(n)


def lower_triangle(*n):
    return np.tri(*n)


CLAIMS = {
    "Before vs after what was set by hand": (is_changed(False), is_changed(True)),
    "No mask vs a causal mask": (hides(everything), hides(lower_triangle)),
    "No mask vs this mask": (hides(everything), is_now),
    "Global in every layer vs window in every second layer": (reaches(*range(1, 7)), reaches(2, 4, 6)),
    "Global in every layer vs window in all but every sixth layer": (reaches(*range(1, 7)), reaches(6)),
    "Window in every layer vs in every second layer": (reaches(), reaches(2, 4, 6)),
    "Window in every layer vs in all but every sixth layer": (reaches(), reaches(6)),
    "Scaled vs unscaled": (is_divided_by(np.sqrt), is_divided_by(lambda d_k: 1)),
    "Per-head keys vs shared by all": (has_groups(1), has_groups(0)),
    "Per-head keys vs shared by two": (has_groups(1), has_groups(2)),
    "Per-head keys vs MLA": (has_stage("latent", False), makes_keys(True)),
    "Per-head keys vs absorbed MLA": (has_stage("latent", False), makes_keys(False)),
    "MLA, naive vs absorbed: one output": (makes_keys(True), makes_keys(False)),
    "Queries from the input vs from a latent": with_and_without("q_latent"),
    "No norm vs a norm before attention": with_and_without("attn_norm"),
    "No QK-norm vs QK-norm": with_and_without("q_normed"),
    "No RoPE vs RoPE": with_and_without("q_rotated"),
    "One RoPE base vs another in global layers": (has_bases(1e4, 1e4), has_bases(1e4, 1e6)),
    "No softcap vs softcap": with_and_without("capped"),
    "No ALiBi vs ALiBi": with_and_without("biased"),
    "No sinks vs sinks": (adds_up_to_one(True), adds_up_to_one(False)),
    "Softmax at once vs by blocks": with_and_without("running_max"),
    "No positions vs sinusoidal": with_and_without("positions"),
    **{f"One head vs {n}": (has_heads(1), has_heads(n)) for n in (2, 3, 4)},
    **{f"One layer vs {n}": (has_layers(1), has_layers(n)) for n in (2, 3, 6)},
    "This seed vs the next": (is_now, is_of_the_next_seed),
    "Before vs after training": (is_trained(False), is_trained(True)),
    "Without vs with attention": (writes(output=False, mlp=True), writes(output=True, mlp=True)),
    "Without vs with the MLP": (writes(output=True, mlp=False), writes(output=True, mlp=True)),
    "In this order vs shuffled": (is_now, is_shuffled),
}
"""What each label says of A and of B."""


def test_a_pairs_label_is_true_of_a_and_of_b_and_no_pair_has_one_pass_twice():
    made = set()
    for now in SCENES:
        for pair in pairs_of(now):
            assert pair.a != pair.b
            for scene, holds in zip((pair.a, pair.b), CLAIMS[pair.label], strict=True):
                assert holds(now, scene, resolved(scene).trace.layers[0].trace), (pair.label, now)
            made.add(pair.label)
    assert made == set(CLAIMS)
