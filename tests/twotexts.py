"""A pass of an encoder and a decoder of two layers each, unlike in all that may differ, with and without words."""

import numpy as np

from attnviz import Parameters, attend_seq2seq
from attnviz.core.assembly import input_stages

draw = np.random.default_rng(51).standard_normal


def drawn(n_heads, width, d_k, d_v, of=None, neurons=0):
    """Parameters of a layer; its keys and values come from rows of another width if `of` says so."""
    wide = of or width
    shapes = {"w_q": (n_heads, width, d_k), "w_k": (n_heads, wide, d_k), "w_v": (n_heads, wide, d_v)}
    shapes |= {"w_o": (n_heads * d_v, width)}
    shapes |= {"w_hidden": (width, neurons), "w_mlp": (neurons, width)} if neurons else {}
    return Parameters(**{name: draw(shape) / 2 for name, shape in shapes.items()})


N_READ, N_WRITTEN, READ_WIDTH, WIDTH = 4, 3, 5, 6
ENGLISH, FRENCH, W_U = draw((N_READ, READ_WIDTH)), draw((N_WRITTEN, WIDTH)), draw((WIDTH, 7))
ENCODER = [drawn(2, READ_WIDTH, 3, 2), drawn(1, READ_WIDTH, 2, 4, neurons=5)]
DECODER = [
    (drawn(1, WIDTH, 3, 3, neurons=4), drawn(2, WIDTH, 3, 2, READ_WIDTH)),
    (drawn(3, WIDTH, 2, 2), drawn(2, WIDTH, 4, 2, READ_WIDTH, neurons=3)),
]
LAYERS = {"encoder": ENCODER, "decoder": DECODER, "norm": "rmsnorm", "w_u": W_U}
"""Two texts of other widths, layers of unlike heads, and MLPs in some of them."""

TRACE = attend_seq2seq(ENGLISH, FRENCH, **LAYERS)

READ, WRITTEN = ("the", "red", "cat", "sleeps"), ("<begin>", "le", "chat")
LABELLED = TRACE.with_first_stages(
    [
        *input_stages((ENGLISH / 2, "drawn"), (ENGLISH / 2, "by place"), context=True).values(),
        *input_stages((FRENCH, "drawn"), None).values(),
    ]
).labelled(
    **dict.fromkeys(("token", "query", "key"), WRITTEN),
    **{f"{name}_{layer}": READ for name in ("token", "query", "key") for layer in (1, 2)},
    **{"context_token": READ, "key_4": READ, "key_6": READ},
)
