"""Parameters: the matrices of one layer, and where they come from."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from attnviz.core.arrays import real
from attnviz.core.errors import ArrayError
from attnviz.core.stage import Stage

Kind = Literal["given", "drawn", "learnt", "built"]


@dataclass(frozen=True)
class Origin:
    """Where the parameters of a pass come from, and what they are for."""

    kind: Kind = "given"
    title: str = ""  # the name of the model; empty where there is none
    question: str = ""  # what the model answers, with `{sentence}` for the words
    task: str = ""  # what it was trained or built for, in one or two sentences
    read: Literal["", "last", "each"] = ""  # at which tokens its answer is read: none, the last, or each
    right: tuple[str | None, ...] = ()  # the right answer for each token; None if there is none or it is unknown
    layers: tuple[str, ...] = ()  # what each of several layers contributes, in one sentence each
    looks: tuple[tuple[int, int], ...] = ()  # for each layer a query that shows this, and its key; empty if unknown
    is_open: bool = False  # whether it predicts what may come next, so that no answer is the right one
    text: str = ""  # the text as written, if that is not its words with spaces between them
    unit: str = "word"  # what a token is: a word, or a letter
    rows: tuple[int, ...] = ()  # for each token its row in the model's embedding matrix, however it is labelled
    layer_titles: tuple[str, ...] = ()  # what each layer is called, such as "French reads English"; empty if by number
    sides: tuple[tuple[str, str], ...] = ()  # for each layer the names of the texts of its queries and of its keys


GIVEN = Origin()
"""The origin of parameters chosen by hand."""


PARAMETER_AXES = {
    "w_q": ("head", "d_model", "d_k"),
    "w_k": ("head", "d_model", "d_k"),
    "w_v": ("head", "d_model", "d_v"),
    "w_o": ("heads * d_v", "d_model"),
    "b_q": ("head", "d_k"),
    "b_k": ("head", "d_k"),
    "b_v": ("head", "d_v"),
    "b_o": ("d_model",),
}
"""The axes of each parameter of attention."""

BLOCK_AXES = {
    "g_q_norm": ("d_k",),
    "g_k_norm": ("d_k",),
    "sinks": ("head",),
    "g_attn_norm": ("d_model",),
    "b_attn_norm": ("d_model",),
    "g_mlp_norm": ("d_model",),
    "b_mlp_norm": ("d_model",),
    "w_hidden": ("d_model", "neuron"),
    "b_hidden": ("neuron",),
    "w_mlp": ("neuron", "d_model"),
    "b_mlp": ("d_model",),
}
"""The axes of a layer's other parameters: norms, sinks and MLP."""

LATENT_AXES = {
    "w_dkv": ("group", "d_model", "d_c"),
    "g_latent": ("d_c",),
    "w_uk": ("head", "d_c", "d_k"),
    "w_uv": ("head", "d_c", "d_v"),
    "w_dq": ("d_model", "d_cq"),
    "g_q_latent": ("d_cq",),
    "w_uq": ("head", "d_cq", "d_k"),
    "w_qr": ("head", "d_model", "d_r"),
    "w_kr": ("group", "d_model", "d_r"),
}
"""The axes of the parameters of latents (MLA), and of the separate part for positions."""

ALL_AXES = PARAMETER_AXES | BLOCK_AXES
_OF_GROUPS = {"w_k", "w_v", "b_k", "b_v"}


@dataclass(frozen=True, eq=False)
class Parameters:
    """Projection matrices and biases of multi-head attention, and of the rest of its layer; any may be absent.

    Without `w_q`, `w_k` or `w_v` the input itself is the query, key or value of each head; without `w_o` the pass ends
    with the concatenation. With `w_hidden` and `w_mlp` an MLP follows attention.

    The arrays are copied once; passes share the read-only copies.

    Parameters
    ----------
    w_q : ndarray (heads, d_in, d_k), optional
        From the input to the queries of each head.
    w_k : ndarray (heads or groups, d_in, d_k), optional
        From the input, or the context, to the keys.
    w_v : ndarray (heads or groups, d_in, d_v), optional
        To the values. With fewer groups than heads, consecutive heads share a group (their number is a multiple).
    w_o : ndarray (heads * d_v, d_out), optional
        From the concatenated heads to the output.
    b_q, b_k : ndarray (heads or groups, d_k), optional
        The biases of queries and keys.
    b_v : ndarray (heads or groups, d_v), optional
        The bias of values.
    b_o : ndarray (d_out,), optional
        The bias of the output.
    g_q_norm, g_k_norm : ndarray (d_k,), optional
        The gains of the norms of queries and keys.
    sinks : ndarray (heads,), optional
        For each head a score of no key, whose attention weight is dropped.
    g_attn_norm, b_attn_norm : ndarray (d_in,), optional
        The gain of the norm before attention, and the bias if it is a LayerNorm.
    g_mlp_norm, b_mlp_norm : ndarray (d_out,), optional
        Those of the norm before the MLP.
    w_hidden : ndarray (d_out, neurons), optional
        From the output of attention to the MLP's neurons.
    b_hidden : ndarray (neurons,), optional
        The bias of the neurons.
    w_mlp : ndarray (neurons, d_out), optional
        From the neurons to the output of the MLP.
    b_mlp : ndarray (d_out,), optional
        The bias of that.
    w_dkv : ndarray (groups, d_in, d_c), optional
        Makes a latent of each key's token, in place of `w_k` and `w_v`; all heads share one in DeepSeek's models.
    g_latent : ndarray (d_c,), optional
        The gain of its norm.
    w_uk : ndarray (heads, d_c, d_k), optional
        Makes the keys of each head from a latent.
    w_uv : ndarray (heads, d_c, d_v), optional
        Makes the values of each head from a latent.
    w_dq : ndarray (d_in, d_cq), optional
        Makes a latent of each query's token, for all heads, with `w_uq` in place of `w_q`; `w_qr` reads it too.
    g_q_latent : ndarray (d_cq,), optional
        The gain of its norm.
    w_uq : ndarray (heads, d_cq, d_k), optional
        Makes the queries of each head from such a latent.
    w_qr : ndarray (heads, d_in or d_cq, d_r), optional
        Makes the rotated part of the queries, next to the one from `w_q` or `w_uq`.
    w_kr : ndarray (groups, d_in, d_r), optional
        Makes the rotated part of the keys, next to the one from `w_uk`.

    Raises
    ------
    ArrayError
        If one has other axes, or a number that is not real or not finite, or they do not fit each other.

    Notes
    -----
    A PyTorch `Linear` keeps its weight as (out, in). The `w_q` of `n_heads` heads is then
    `weight.T.reshape(d_in, n_heads, d_k).swapaxes(0, 1)`, and `w_o` is `weight.T`.

    Examples
    --------
    >>> import numpy as np
    >>> from attnviz import Parameters, attend
    >>> rng = np.random.default_rng(0)
    >>> w_q, w_k, w_v = rng.normal(size=(3, 2, 8, 4))  # 2 heads, d_in 8, d_k and d_v 4
    >>> parameters = Parameters(w_q=w_q, w_k=w_k, w_v=w_v, w_o=rng.normal(size=(8, 8)))
    >>> parameters.n_heads, parameters.d_k
    (2, 4)
    >>> attend(rng.normal(size=(5, 8)), parameters=parameters)["output"].shape
    (5, 8)
    """

    w_q: np.ndarray | None = None
    w_k: np.ndarray | None = None
    w_v: np.ndarray | None = None
    w_o: np.ndarray | None = None
    b_q: np.ndarray | None = None
    b_k: np.ndarray | None = None
    b_v: np.ndarray | None = None
    b_o: np.ndarray | None = None
    g_q_norm: np.ndarray | None = None
    g_k_norm: np.ndarray | None = None
    sinks: np.ndarray | None = None
    g_attn_norm: np.ndarray | None = None
    b_attn_norm: np.ndarray | None = None
    g_mlp_norm: np.ndarray | None = None
    b_mlp_norm: np.ndarray | None = None
    w_hidden: np.ndarray | None = None
    b_hidden: np.ndarray | None = None
    w_mlp: np.ndarray | None = None
    b_mlp: np.ndarray | None = None
    w_dkv: np.ndarray | None = None
    g_latent: np.ndarray | None = None
    w_uk: np.ndarray | None = None
    w_uv: np.ndarray | None = None
    w_qr: np.ndarray | None = None
    w_kr: np.ndarray | None = None
    w_dq: np.ndarray | None = None
    g_q_latent: np.ndarray | None = None
    w_uq: np.ndarray | None = None

    def __post_init__(self):
        for name, stage in self.stages.items():
            object.__setattr__(self, name, stage.value)
        self._check_latents()
        self._check_heads()
        for name in (*"qkvo", "hidden", "mlp"):
            self._check_bias(f"b_{name}", f"w_{name}")
        if (self.w_hidden is None) != (self.w_mlp is None):
            one, other = ("w_hidden", "w_mlp") if self.w_mlp is None else ("w_mlp", "w_hidden")
            raise ArrayError(f"An MLP has two matrices, w_hidden and w_mlp; got {one} and no {other}.")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Parameters):
            return NotImplemented
        names = self.stages.keys()
        return names == other.stages.keys() and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in names
        )

    @cached_property
    def stages(self) -> dict[str, Stage]:
        """The given parameters by name, as stages that passes share."""
        axes_of = ALL_AXES | LATENT_AXES if self.has_latents else ALL_AXES
        given = ((name, getattr(self, name), axes) for name, axes in axes_of.items())
        made = {name: Stage.given(name, real(name, w, axes), axes) for name, w, axes in given if w is not None}
        if self.w_qr is not None:  # queries and keys have d_n numbers of content and d_r of positions: d_n + d_r = d_k
            for name in {"w_q", "b_q", "w_uk", "w_uq"} & made.keys():
                made[name] = replace(made[name], axes=(*made[name].axes[:-1], "d_n"))
            if self.w_dq is not None:
                made["w_qr"] = replace(made["w_qr"], axes=("head", "d_cq", "d_r"))
        if self.has_groups:
            for name in _OF_GROUPS & made.keys():
                made[name] = replace(made[name], axes=("group", *made[name].axes[1:]))
        return made

    @cached_property
    def has_latents(self) -> bool:
        """Whether keys and values come from latents."""
        return any(getattr(self, name) is not None for name in LATENT_AXES)

    @cached_property
    def d_k(self) -> int | None:
        """The length of a query; None if no matrix determines it."""
        widths = [each.shape[-1] for each in (self.w_q, self.w_uq, self.w_qr) if each is not None]
        return sum(widths) or None

    @property
    def has_groups(self) -> bool:
        """Whether several heads share a group of keys and values."""
        shared = self.w_k if self.w_k is not None else self.w_v
        return self.w_q is not None and shared is not None and np.shape(shared)[:1] != np.shape(self.w_q)[:1]

    @cached_property
    def n_heads(self) -> int:
        """The number of heads; 1 if nothing is projected."""
        return next((len(w) for w in (self.w_q, self.w_uq, self.w_k, self.w_v) if w is not None), 1)

    def _check_latents(self) -> None:
        """Raise ArrayError if only some of the parameters of latents are given."""
        if not self.has_latents:
            return
        has = {name for name in (*LATENT_AXES, "w_q", "w_k", "w_v") if getattr(self, name) is not None}
        if not {"w_dkv", "w_uk", "w_uv"} <= has or not {"w_q", "w_uq"} & has or has & {"w_k", "w_v"}:
            raise ArrayError(
                f"Keys and values from a latent need w_q or w_uq, w_dkv, w_uk and w_uv, and neither w_k nor w_v; "
                f"got {', '.join(sorted(has))}."
            )
        of_latent = has & {"w_dq", "w_uq", "g_q_latent"}
        if of_latent and ("w_q" in has or not {"w_dq", "w_uq"} <= of_latent):
            came = ", ".join(sorted(of_latent | has & {"w_q"}))
            raise ArrayError(f"Queries from a latent need w_dq and w_uq, and no w_q; got {came}.")
        if ("w_qr" in has) != ("w_kr" in has):
            raise ArrayError(f"w_qr and w_kr come together; got {'w_qr' if 'w_qr' in has else 'w_kr'} alone.")
        counts = {name: len(getattr(self, name)) for name in ("w_q", "w_uq", "w_uk", "w_uv", "w_qr") if name in has}
        groups = {name: len(getattr(self, name)) for name in ("w_dkv", "w_kr") if name in has}
        if len(set(counts.values())) > 1 or any(self.n_heads % n for n in groups.values()):
            raise ArrayError(
                "w_q or w_uq, w_uk, w_uv and w_qr must have one number of heads, and w_dkv and w_kr numbers of groups "
                f"that divide it; got {counts | groups}."
            )

    def _check_heads(self) -> None:
        """Raise ArrayError unless each head has a query, and its own or its group's key and value."""
        counts = {name: len(getattr(self, name)) for name in ("w_q", "w_k", "w_v") if name in self.stages}
        shared = {counts[name] for name in ("w_k", "w_v") if name in counts}
        if len(shared) > 1 or any(self.n_heads % groups for groups in shared):
            raise ArrayError(
                "w_k and w_v must have as many heads as w_q, or both one number of groups that divides it; "
                f"got {counts}."
            )
        if self.sinks is not None and len(self.sinks) != self.n_heads:
            raise ArrayError(f"sinks must hold a number for each of {self.n_heads} heads; got {len(self.sinks)}.")

    def _check_bias(self, name: str, projection: str) -> None:
        """Raise ArrayError unless a bias fits the projection that it is added to."""
        b, w = getattr(self, name), getattr(self, projection)
        if b is None:
            return
        if w is None:
            raise ArrayError(f"{name} is added after a projection; got no {projection}. Give both or neither.")
        expected = (*w.shape[:-2], w.shape[-1])
        if b.shape != expected:
            raise ArrayError(f"{name} must have axes {ALL_AXES[name]} of lengths {expected}; got {b.shape}.")


def split_heads(matrix: np.ndarray, n_heads: int) -> np.ndarray:
    """Cut a matrix (d_in, heads * d) into one band of columns for each head, (heads, d_in, d).

    The heads' small matrices are one big matrix cut: `x @ matrix` holds every head's projection, side by side. The
    bands are views of it.
    """
    d_in, columns = matrix.shape
    return matrix.reshape(d_in, n_heads, columns // n_heads).swapaxes(0, 1)
