"""Passes of every kind that captions and steps are checked on, and where a person may look in them."""

from dataclasses import replace

import numpy as np

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.core.assembly import input_stages
from attnviz.core.attention import attend_projected
from attnviz.core.initialisers import INITIALISERS
from attnviz.core.operations.activations import GELU, ReLU
from attnviz.core.operations.norms import LayerNorm, RMSNorm
from attnviz.core.operations.rotation import Rotation
from attnviz.core.operations.softmax import SumNormalise
from attnviz.core.parameters import Origin
from attnviz.core.seq2seq import attend_seq2seq
from attnviz.core.settings import FREE_OPTIONS
from attnviz.examples import EXAMPLES
from attnviz.models import MODELS as CHOICES

random = np.random.default_rng(5)
HEADS = {name: random.standard_normal((2, 3, 4)) for name in ("w_q", "w_k", "w_v")}
HEADS["w_v"][1] = HEADS["w_v"][0]
ROWS = random.standard_normal((5, 3))
FULLY_MASKED_IN_ONE_HEAD = np.array([np.ones((5, 5)), np.tri(5, k=-2)], dtype=bool)
NEGATIVE = np.array([[1.0, 0.0], [0.0, 1.0], [-0.9, 0.3], [3.0, -2.0]])


def planted(trace, name, operation):
    """The trace with another operation in one stage, and all that follows made from it."""
    stages = {stage.name: stage for stage in trace.stages}
    stages[name] = replace(stages[name], operation=operation)
    for stage in trace.stages:
        inputs = [stages[each] for each in stage.inputs]
        if inputs:
            value = stages[stage.name].operation.compute(*(each.value for each in inputs))
            stages[stage.name] = stages[stage.name].with_value(value)
    return replace(trace, stages=tuple(stages.values())).with_origin(trace.origin)


def hand_made(**kept):
    return attend(ROWS, parameters=Parameters(**HEADS, **kept.pop("output", {})), **kept)


modern = np.random.default_rng(37)  # of its own, so that the passes beside stay as they are
DRAWN = {
    "w_q": modern.standard_normal((4, 3, 4)),
    "w_k": modern.standard_normal((4, 3, 4)),
    "w_v": modern.standard_normal((4, 3, 2)),
}
GROUPED = {
    "w_q": DRAWN["w_q"],
    "b_q": modern.standard_normal((4, 4)),
    "w_k": DRAWN["w_k"][:2],
    "b_k": modern.standard_normal((2, 4)),
    "w_v": DRAWN["w_v"][:2],
}
CAUSAL_WINDOW = np.tri(5, dtype=bool) & ~np.tri(5, k=-3, dtype=bool)
LATENT = {
    name: modern.standard_normal(shape)
    for name, shape in (("w_q", (4, 3, 4)), ("w_dkv", (1, 3, 6)), ("w_uk", (4, 6, 4)), ("w_uv", (4, 6, 3)))
}
LATENT_OUT = {"g_latent": modern.standard_normal(6), "w_o": modern.standard_normal((12, 3))}
POSITIONED = {"w_qr": modern.standard_normal((4, 3, 2)), "w_kr": modern.standard_normal((1, 3, 2))}
QUERY_LATENT = {
    "w_q": None,
    "w_dq": modern.standard_normal((3, 5)),
    "w_uq": modern.standard_normal((4, 5, 4)),
    "g_q_latent": modern.standard_normal(5),
}
ONE_UP = {name: LATENT[name][:, :1, :1] for name in ("w_uk", "w_uv")}
EVERYTHING = {"qk_norm": True, "rotation": Rotation(100.0, "halves"), "softcap": 2.0, "alibi": True}
WORDS, ANSWERS = ("who", "saw", "the", "dog", "the (2)"), ("dog", "cat", "who")


def layer(n_heads, d_k=3, d_v=3, d_model=4, d_out=4):
    """Parameters of one layer, from `d_model` numbers for each token to `d_out`."""
    made = {
        name: random.standard_normal((n_heads, d_model, d)) for name, d in (("w_q", d_k), ("w_k", d_k), ("w_v", d_v))
    }
    return Parameters(**made, w_o=random.standard_normal((n_heads * d_v, d_out)))


def model(origin, *n_heads, residual, positions, answers=ANSWERS):
    """A pass as a model makes it: from words to a probability for each answer."""
    embeddings = random.integers(0, 2, (len(WORDS), 4)).astype(float), "a model's"
    x = input_stages(embeddings, (random.standard_normal((len(WORDS), 4)), "a model's") if positions else None)
    trace = attend(
        x["x"].value,
        parameters=[layer(each) for each in n_heads],
        mask=np.tri(len(WORDS), dtype=bool) if residual else None,
        residual=residual,
        w_u=random.standard_normal((4, len(answers))),
    )
    labels = {"token": WORDS, "query": WORDS, "key": WORDS, "answer": answers}
    return trace.with_first_stages(x.values()).labelled(**labels).with_origin(origin)


def origin(kind, read, *right):
    """Where the parameters of a model are from; of the tokens the last have right answers."""
    known = (None,) * (len(WORDS) - len(right)) + right
    return Origin(kind, "Who was seen?", "In “{sentence}”, who was seen?", "It was made for a test.", read, known)


MODELS = {
    "a model asked at a word": model(origin("learnt", "each", "dog", None), 1, residual=False, positions=False),
    "a model": model(origin("learnt", "last", "dog"), 1, residual=False, positions=False),
    "a model that is wrong": model(origin("learnt", "last", "nobody"), 2, residual=True, positions=True),
    "a model asked nothing it knows": model(origin("learnt", "last"), 1, residual=False, positions=False),
    "two layers that learnt": model(origin("learnt", "each", "dog", "cat"), 2, 2, residual=True, positions=True),
    "two layers before training": model(origin("drawn", "each", "dog"), 1, 1, residual=False, positions=True),
    "two layers built by hand": model(origin("built", "each", "dog"), 1, 1, residual=(True, False), positions=True),
    "two layers with a purpose each": model(
        replace(origin("learnt", "last", "dog"), layers=("Here one looks back.", "Here one looks up.")),
        1,
        1,
        residual=True,
        positions=True,
    ),
    "one answer": model(Origin(), 1, residual=False, positions=False, answers=ANSWERS[:1]),
}
LAYERS = {
    "residual": attend(ROWS[:, :2], parameters=Parameters(w_o=np.eye(2)), residual=True),
    "three layers": attend(random.standard_normal((3, 4)), parameters=[layer(n) for n in (2, 2, 2)]),
    "layers of other lengths": attend(
        random.standard_normal((3, 4)), parameters=[layer(2, 6, 2, d_out=7), layer(2, 5, 3, d_model=7, d_out=5)]
    ),
}
MLP = {"w_hidden": random.standard_normal((4, 7)), "w_mlp": random.standard_normal((7, 4))}
AFFINE = {name: random.standard_normal(4) for name in ("g_attn_norm", "b_attn_norm", "g_mlp_norm", "b_mlp_norm")}


def block(n_layers, positions, norm, activation, **parameters):
    """A pass through blocks: norms before attention and MLP, and one right after the embeddings."""
    places = (random.standard_normal((5, 4)), "a model's") if positions else None
    x = input_stages((random.standard_normal((5, 4)), "a model's"), places, norm=norm)
    layers = [replace(layer(2, 2, 2), **MLP, **parameters) for _ in range(n_layers)]
    made = {"residual": True, "norm": norm, "activation": activation, "w_u": random.standard_normal((4, 3))}
    trace = attend(x["x"].value, parameters=layers, mask=np.tri(5, dtype=bool), **made)
    return trace.with_first_stages(x.values()).labelled(token=WORDS, query=WORDS, key=WORDS, answer=ANSWERS)


BLOCKS = {
    "a block": block(1, True, RMSNorm(), ReLU()),
    "two blocks with biases": block(
        2, False, LayerNorm(), GELU(), b_hidden=random.standard_normal(7), b_mlp=random.standard_normal(4), **AFFINE
    ),
    "an MLP alone": attend(
        random.standard_normal((3, 4)),
        parameters=replace(layer(1), **MLP),
        norm=RMSNorm(),
        activation=ReLU(squared=True),
    ),
}
CAUSAL, UNSEEING, SINKS = np.tri(5, dtype=bool), np.tri(5, k=-1, dtype=bool), np.array([0.5, -1.0, 40.0, 0.0])


def of_rows(*parameters, rows=ROWS, **kept):
    """A pass of `ROWS` through a layer, or several, of these parameters."""
    made = [Parameters(**each) for each in parameters or (DRAWN,)]
    return attend(rows, parameters=made if len(made) > 1 else made[0], **kept)


def latents(absorbed, parameters, **kept):
    """A layer of keys from a latent, or two where matrices are absorbed."""
    kept |= {"residual": True, "norm": "rmsnorm"} if absorbed else {}
    return of_rows(*[parameters] * (1 + absorbed), mask=CAUSAL_WINDOW, absorbed=absorbed, **kept)


WAYS = {"made into keys": False, "absorbed": True}
POSITIONED_LATENT = LATENT | POSITIONED
MODERN = {
    "rope": of_rows(rotation=Rotation()),
    "rope of halves, of a part": of_rows(rotation=Rotation(50.0, "halves", 2, first=3)),
    "rope of three in four": of_rows({}, rows=modern.standard_normal((3, 5)), rotation=Rotation(50.0, "halves", 4)),
    "alibi": of_rows(alibi=True, mask=CAUSAL),
    "softcap": of_rows(softcap=0.75),
    "qk-norm": of_rows(qk_norm=True),
    "groups": of_rows(GROUPED, mask=CAUSAL_WINDOW),
    "sinks": of_rows(DRAWN | {"sinks": SINKS}, mask=CAUSAL_WINDOW),
    "softmax plus one, unseeing": of_rows(DRAWN | {"sinks": np.zeros(4)}, mask=UNSEEING),
    "by blocks": of_rows(GROUPED, mask=CAUSAL_WINDOW, block_size=2),
    "by blocks of one, unseeing": of_rows(mask=UNSEEING, block_size=1),
    "by blocks beside sinks": of_rows(DRAWN | {"sinks": SINKS}, mask=CAUSAL_WINDOW, block_size=3),
    "a layer of 2025": of_rows(
        GROUPED
        | {"w_o": modern.standard_normal((8, 3))}
        | {name: modern.standard_normal(4) for name in ("g_q_norm", "g_k_norm", "sinks")},
        mask=CAUSAL_WINDOW,
        **EVERYTHING,
    ),
    "two layers of 2025": of_rows(
        *[
            GROUPED
            | {name: modern.standard_normal(d) for name, d in (("w_o", (8, 3)), ("sinks", 4), ("g_attn_norm", 3))}
        ]
        * 2,
        mask=(CAUSAL_WINDOW, CAUSAL),
        residual=True,
        norm="rmsnorm",
        **EVERYTHING,
    ),
    "latents made into keys": of_rows(LATENT, mask=CAUSAL),
    "latents absorbed": of_rows(LATENT, mask=CAUSAL, absorbed=True),
    **{
        f"latents {way}, with rope": latents(
            absorbed, POSITIONED_LATENT | LATENT_OUT, **EVERYTHING | {"qk_norm": False}
        )
        for way, absorbed in WAYS.items()
    },
    **{
        f"latents of one number, {way}": of_rows(
            {name: w[..., :1] for name, w in POSITIONED_LATENT.items()} | ONE_UP, rows=ROWS[:2], absorbed=absorbed
        )
        for way, absorbed in WAYS.items()
    },
    "latents of two groups, without rope": of_rows(
        POSITIONED_LATENT | {"w_dkv": modern.standard_normal((2, 3, 6)), "w_kr": modern.standard_normal((2, 3, 2))},
        absorbed=True,
    ),
    **{
        f"queries from a latent, {way}": latents(
            absorbed,
            POSITIONED_LATENT | LATENT_OUT | QUERY_LATENT | {"w_qr": modern.standard_normal((4, 5, 2))},
            qk_norm=not absorbed,
            rotation=Rotation(100.0, "halves"),
        )
        for way, absorbed in WAYS.items()
    },
    "queries from a latent of one number": of_rows(
        {name: w[..., :1] for name, w in LATENT.items() if name != "w_q"}
        | ONE_UP
        | {"w_dq": QUERY_LATENT["w_dq"][:, :1], "w_uq": QUERY_LATENT["w_uq"][:, :1, :1]},
        rows=ROWS[:2],
    ),
    "queries from a latent, without positions and gains": of_rows(
        LATENT | QUERY_LATENT | {"g_q_latent": None}, mask=CAUSAL
    ),
    "projected in groups": attend_projected(
        *(modern.standard_normal((n, 3, 2)) for n in (4, 2, 2)), softcap=2.0, sinks=np.ones(4)
    ),
}
two = np.random.default_rng(51)


def two_texts(n_encoder, norm, *, named=False, **kept):
    """A pass of an encoder and a decoder, each layer with an MLP but for the decoder's self-attention."""
    made = [replace(layer(2, 2, 2), **{name: two.standard_normal(each.shape) for name, each in MLP.items()})]
    source, target = ((two.standard_normal((n, 4)), "a model's") for n in (3, 5))
    places = [(two.standard_normal((n, 4)), "a model's") for n in (3, 5)]
    read, written = input_stages(source, places[0], context=True), input_stages(target, places[1])
    trace = attend_seq2seq(
        read["context"].value,
        written["x"].value,
        encoder=made * n_encoder,
        decoder=[(layer(1), made[0])],
        norm=norm,
        memory_norm=norm is not None,
        **kept,
    )
    trace = trace.with_first_stages([*read.values(), *written.values()])
    if not named:
        return trace
    french, english = ("<begin>", "le", "chat", "noir", "the"), ("the", "black", "cat")
    layers = range(1, n_encoder + 1)
    read_first = {f"{axis}_{n}": english for n in layers for axis in ("query", "key", "token")}
    labels = {"token": french, "query": french, "key": french, "context_token": english, "answer": ANSWERS}
    return trace.labelled(**labels, **read_first, **{f"key_{n_encoder + 2}": english})


TWO_TEXTS = {
    "an encoder and a decoder": two_texts(
        2, LayerNorm(), named=True, w_u=two.standard_normal((4, 3)), g_memory=np.ones(4), b_memory=np.ones(4)
    ),
    "an encoder and a decoder, bare": two_texts(1, None),
    "an encoder and a decoder, masked": two_texts(
        1, RMSNorm(), source_mask=CAUSAL[:3, :3], cross_mask=np.tri(5, 3, dtype=bool), w_u=two.standard_normal((4, 1))
    ),
    "a translator": CHOICES["translator"].at(0).trace("the black cat sleeps"),
    "a translator, nothing written": CHOICES["translator"].at(0).trace("the cow sleeps", ""),
}
"""Passes of two texts."""

ALL_SET = {name: option.allowed[-1] for name, option in FREE_OPTIONS.items() if name not in ("d_model", "seed")}
ALL_SET["initialiser"] = list(INITIALISERS)[-1]  # whole numbers have three or four words
ALL_SET["sharing"] = "all"  # with keys from a latent there is no QK-norm
"""Every option, but for the size and the seed, set to something else than its default."""

IN_LAYERS = ALL_SET | {"layers": 2, "mask": "causal window", "mask_size": 2, "window_in": "every second layer"}
IN_LAYERS |= {"rope_base_global": "100"}
"""The same in layers, one with a window and a global one."""

OF_ALL_SET = trace_of(Settings("the cat sat on the mat", **ALL_SET))

TRACES = {
    "plain": trace_of(Settings("the cat sat on the mat")),
    "one word": trace_of(Settings("alone")),
    "one word, hidden": trace_of(Settings("alone", mask="padding")),
    "ties": trace_of(Settings("a a a a", seed=3)),
    "many ties": trace_of(Settings("a " * 9 + "b", d_model=6, n_heads=3)),
    "causal": trace_of(Settings("the cat sat the cat", mask="causal", positions="sinusoidal")),
    "window 0": trace_of(Settings("the cat sat", mask="window", mask_size=0)),
    "all hidden": trace_of(Settings("the cat sat on", mask="padding", mask_size=9)),
    "d_k = 1": trace_of(Settings("the cat sat", n_heads=8)),
    "unscaled": trace_of(Settings("the cat sat", scaled=False)),
    "one word, unscaled": trace_of(Settings("alone", scaled=False)),
    "one head": trace_of(Settings("the cat sat", n_heads=1, initialiser="xavier")),
    "whole numbers": trace_of(Settings("the cat sat", d_model=3, n_heads=1, initialiser="whole", mask="causal")),
    "powers of 2": trace_of(Settings("the cat sat", d_model=2, n_heads=1, initialiser="whole", seed=0)),
    "context": trace_of(Settings("the cat", context="der Hund schläft der", positions="sinusoidal", d_model=6)),
    "bare context": trace_of(Settings("שלום cat", context="der Hund", mask="window", mask_size=0)),
    "all options set": OF_ALL_SET,
    "all options set, d_k = 1": trace_of(Settings("the cat sat", n_heads=8, **ALL_SET | {"rope": "none"})),
    "all options set, in layers": trace_of(Settings("the cat sat on the mat", **IN_LAYERS)),
    "drawn layers": trace_of(Settings("the cat sat on", layers=3, mask="window", window_in="every second layer")),
    "all options set, latents made into keys": trace_of(
        Settings("the cat sat on the mat", **ALL_SET | {"sharing": "latent"})
    ),
    "all options set, absorbed": trace_of(Settings("the cat sat", **ALL_SET | {"sharing": "absorbed"})),
    "all options set, rows over their sums": planted(
        trace_of(Settings("the cat sat on the mat", **ALL_SET | {"sinks": "none", "blocks": "none"})),
        "attention",
        SumNormalise(),
    ),
    "a head's mask": hand_made(mask=FULLY_MASKED_IN_ONE_HEAD),
    "added mask": hand_made(mask=np.where(np.tri(5) > 0, [0.5, 0, 0, 0, 0], -np.inf), scale=-0.5),
    "moving mask": hand_made(mask=random.standard_normal((5, 5))),
    "scale 0": hand_made(scale=0.0),
    "bias": hand_made(output={"w_o": random.standard_normal((8, 3)), "b_o": np.ones(3)}),
    "nothing out": hand_made(output={"w_o": np.zeros((8, 3))}),
    "equal parts": hand_made(output={"w_o": np.tile(random.standard_normal((4, 3)), (2, 1))}, scale=0.0),
    "negative": attend(NEGATIVE, parameters=Parameters(), scale=1.0, normalise=SumNormalise),
    "zeros": attend(np.zeros((3, 1)), np.zeros((4, 1)), parameters=Parameters()),
    "small shares": attend(np.eye(3)[:2], random.standard_normal((300, 3)) / 9, parameters=Parameters()),
    "only queries projected": attend(ROWS, parameters=Parameters(w_q=HEADS["w_q"][:1, :, :3])),
    "projected": attend_projected(*np.ones((3, 1, 2, 2))),
    **{f"{e.id} {variant.id}": variant.trace for e in EXAMPLES.values() for variant in e.variants},
    **MODELS,
    **LAYERS,
    **BLOCKS,
    **MODERN,
    **TWO_TEXTS,
}
