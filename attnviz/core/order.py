"""Order: which stage follows which. `LAYER` has a row for each stage of a layer, `UNEMBEDDING` those after the last.

`attend` makes of these rows what the parameters of a layer call for, and `analysis` what somebody's arrays do.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Set
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product

import numpy as np

from attnviz.core.arrays import fitting_mask, real
from attnviz.core.builder import Builder
from attnviz.core.errors import ArrayError
from attnviz.core.operations.addition import Addition
from attnviz.core.operations.concatenation import Concatenation
from attnviz.core.operations.contributions import Contributions
from attnviz.core.operations.dotproducts import DotProducts
from attnviz.core.operations.gelu import GELU
from attnviz.core.operations.hide import Hide
from attnviz.core.operations.identity import Identity
from attnviz.core.operations.layernorm import LayerNorm
from attnviz.core.operations.operation import Operation
from attnviz.core.operations.projection import Projection
from attnviz.core.operations.relu import ReLU
from attnviz.core.operations.rmsnorm import RMSNorm
from attnviz.core.operations.scale import Scale
from attnviz.core.operations.softmax import Softmax
from attnviz.core.operations.source import GIVEN, Source
from attnviz.core.operations.weightedsum import WeightedSum
from attnviz.core.parameters import Parameters
from attnviz.core.stage import Stage

Norm = RMSNorm | LayerNorm
Activation = ReLU | GELU
RELU = ReLU()
NORMS: dict[str, Norm] = {"rmsnorm": RMSNorm(), "layernorm": LayerNorm()}
ACTIVATIONS: dict[str, Activation] = {"relu": RELU, "relu2": ReLU(squared=True), "gelu": GELU()}
"""By their names; GELU is the exact one, as in PyTorch."""

NO_MASK = Source("no mask: every key is visible")


@dataclass  # one is made for each layer of each pass, and a frozen one takes thrice as long
class Block:
    """A layer but for its arrays.

    Attributes
    ----------
    n_heads : int
        How often x is repeated where nothing projects it.
    d_k : int or None
        The length of a query; None if it isn't known, and scores can't be scaled.
    scale : float, optional
        What scores are multiplied by; 1 / sqrt(d_k) by default.
    normalise : type of Operation
        What makes attention of the masked scores.
    unprojected : bool
        Whether x itself is the queries, keys or values that have no matrix.
    attn_norm, mlp_norm : Norm, optional
        What stands before attention, and before the MLP.
    residual : bool
        Whether outputs are added to what entered.
    activation : Activation
        What stands between the two matrices of the MLP.
    """

    n_heads: int
    d_k: int | None = None
    scale: float | None = None
    normalise: type = Softmax
    unprojected: bool = True
    attn_norm: Norm | None = None
    mlp_norm: Norm | None = None
    residual: bool = False
    activation: Activation = RELU


@dataclass(frozen=True, eq=False)  # a step is itself: those that are made are looked up by it
class Step:
    """How one stage is made.

    Attributes
    ----------
    name : str
        The stage.
    reads : str
        The stages that it is made of, all of which there must be; of "context|x" the first that there is.
    operation : callable
        The operation, of the block and of the stages read; ArrayError where these don't fit each other.
    adds : str
        Parameters that it reads besides, where there are any.
    option : str
        The attribute of a block without which there is no such stage.
    """

    name: str
    reads: str
    operation: Callable[..., Operation]
    adds: str = ""
    option: str = ""

    def inputs(self, names: Container[str]) -> tuple[str, ...]:
        """The stages that it reads of those there are; none if one is missing."""
        read = []
        for either in self.alternatives:
            for name in either:
                if name in names:
                    read.append(name)
                    break
            else:
                return ()
        read += [name for name in self._adds if name in names]
        return tuple(read)

    def is_in(self, block: Block) -> bool:
        """Whether a block has it."""
        return not self.option or bool(getattr(block, self.option))

    def is_told_by(self, names: Set[str]) -> bool:
        """Whether stages, or parameters, of these names are its own."""
        return self.name in names or not names.isdisjoint(self._adds)

    @cached_property
    def alternatives(self) -> tuple[tuple[str, ...], ...]:
        """For each stage that it reads, those of which it is the first that there is."""
        return tuple(tuple(either.split("|")) for either in self.reads.split())

    @cached_property
    def _adds(self) -> tuple[str, ...]:
        return tuple(self.adds.split())


def _always(operation: Operation) -> Callable[..., Operation]:
    return lambda *_: operation


def _norm(option: str) -> Callable[..., Operation]:
    def norm(block: Block, x: Stage, *affine: Stage) -> Operation:
        for each in affine:
            if each.shape != x.shape[-1:]:
                raise ArrayError(f"{each.name} must have axes {each.axes} of lengths {x.shape[-1:]}; got {each.shape}.")
        return getattr(block, option)

    return norm


def _projection(rows: str) -> Callable[..., Operation]:
    operation = Projection(rows)

    def projection(block: Block, x: Stage, w: Stage, *b: Stage) -> Operation:
        if w.shape[1] != x.shape[-1]:
            expected = (w.shape[0], x.shape[-1], w.shape[2])
            raise ArrayError(f"{w.name} must have axes {w.axes} of lengths {expected}; got {w.shape}.")
        return operation

    return projection


def _projected(name: str, reads: str, rows: str) -> tuple[Step, Step]:
    """Queries, keys or values, of a matrix or without one."""
    return (
        Step(name, f"{reads} w_{name}", _projection(rows), adds=f"b_{name}"),
        Step(name, reads, lambda block, _: Identity(rows, block.n_heads), option="unprojected"),
    )


def _dot_products(block: Block, q: Stage, k: Stage) -> Operation:
    if q.shape[-1] != k.shape[-1]:
        raise ArrayError(
            f"A query and a key must have the same length d_k for their dot product; "
            f"got q {q.shape} and k {k.shape}. Check w_q and w_k."
        )
    return DotProducts()


def _scale(block: Block, scores: Stage) -> Operation:
    factor = None if block.scale is None else float(real("scale", block.scale, ()).array)
    return Scale(block.d_k, factor)


def _masked(block: Block, scaled: Stage, mask: Stage) -> Operation:
    return Hide() if mask.value.dtype == bool else Addition(hides=True)


def _contributions(block: Block, heads: Stage, w_o: Stage) -> Operation:
    n_heads, _, d_v = heads.shape
    if w_o.shape[0] != n_heads * d_v:
        raise ArrayError(f"w_o must have heads * d_v = {n_heads} * {d_v} = {n_heads * d_v} rows; got {w_o.shape}.")
    return Contributions()


def _residual(block: Block, x: Stage, output: Stage) -> Operation:
    if output.shape != x.shape:
        raise ArrayError(_UNLIKE.format(x=x.shape, came=f"an output of {output.shape}"))
    return Addition()


_UNLIKE = "A residual stream needs an output of the shape of x{x}; got {came}."
_TO_QUERIES, _TO_TOKENS = _always(Projection("query")), _always(Projection("token"))

LAYER: tuple[Step, ...] = (
    Step("attn_norm", "x", _norm("attn_norm"), adds="g_attn_norm b_attn_norm", option="attn_norm"),
    *_projected("q", "attn_norm|x", "query"),
    *_projected("k", "context|attn_norm|x", "key"),
    *_projected("v", "context|attn_norm|x", "key"),
    Step("scores", "q k", _dot_products),
    Step("scaled", "scores", _scale, option="d_k"),
    Step("masked", "scaled mask", _masked),
    Step("attention", "masked", lambda block, _: block.normalise()),
    Step("heads", "attention v", _always(WeightedSum())),
    Step("concat", "heads", _always(Concatenation())),
    Step("contributions", "heads w_o", _contributions),
    Step("output", "concat w_o", _TO_QUERIES, adds="b_o"),
    Step("residual", "x output", _residual, option="residual"),
    Step("mlp_norm", "residual|output", _norm("mlp_norm"), adds="g_mlp_norm b_mlp_norm", option="mlp_norm"),
    Step("hidden", "mlp_norm|residual|output w_hidden", _TO_TOKENS, adds="b_hidden"),
    Step("active", "hidden", lambda block, _: block.activation),
    Step("mlp", "active w_mlp", _TO_TOKENS, adds="b_mlp"),
    Step("mlp_residual", "residual mlp", _always(Addition()), option="residual"),
)
UNEMBEDDING: tuple[Step, ...] = (
    Step("logits", "x w_u", _TO_QUERIES),
    Step("probabilities", "logits", _always(Softmax())),
)

CHOICES: Mapping[str, tuple[object, ...]] = {
    "attn_norm": (NORMS["layernorm"], NORMS["rmsnorm"]),
    "mlp_norm": (NORMS["layernorm"], NORMS["rmsnorm"]),
    "residual": (True,),
}
"""The values of each option of a block, where a stage of that option is there."""

_ACTIVATIONS = (*ACTIVATIONS.values(), GELU(tanh=True))


def add_layer(build: Builder, block: Block, mask: np.ndarray | None = None) -> None:
    """The stages of a layer that what was given makes, but for those that were given themselves.

    Raises
    ------
    ArrayError
        If stages don't fit each other, or a number is too large for float64.
    """
    _run(build, LAYER, block, mask)


def unembed(build: Builder, w_u: np.ndarray) -> None:
    """The stages from what the last layer passes on to a probability for each answer."""
    x = build["x"]
    given = Stage.given("w_u", real("w_u", w_u, ("d_out", "answers")), ("d_model", "answer"))
    if given.shape[0] != x.shape[-1]:
        raise ArrayError(f"w_u must have {x.shape[-1]} rows, one for each number of a token; got {given.shape}.")
    build.give(given)
    _run(build, UNEMBEDDING, Block(n_heads=1))


def check(block: Block, parameters: Parameters, x: Stage) -> None:
    """Raise ArrayError unless a block can have these parameters where x enters it."""
    has = parameters.stages
    if block.residual and "w_o" not in has:
        raise ArrayError(_UNLIKE.format(x=x.shape, came="no w_o"))
    _check_affine("attn_norm", block.attn_norm, has)
    if "w_hidden" not in has:
        return
    if "w_o" not in has:
        raise ArrayError("An MLP follows the output of attention; got no w_o.")
    _check_affine("mlp_norm", block.mlp_norm, has)
    w_hidden, w_mlp = has["w_hidden"], has["w_mlp"]
    n_neurons, width = w_hidden.shape[1], has["w_o"].shape[1]
    for w, shape in (
        (w_hidden, (width, n_neurons)),
        (w_mlp, (n_neurons, width if block.residual else w_mlp.shape[1])),
    ):
        if w.shape != shape:
            raise ArrayError(f"{w.name} must have axes {w.axes} of lengths {shape}; got {w.shape}.")


def blocks_of(names: Set[str]) -> list[Block]:
    """The blocks that stages and parameters of these names may be of, but for their lengths.

    What a block may have or not is in it where its stage or its parameters are there.
    """
    options = {step.option for step in LAYER if step.option in CHOICES and step.is_told_by(names)}
    choices = {option: CHOICES[option] for option in CHOICES if option in options}
    for norm in ("attn_norm", "mlp_norm"):
        if f"g_{norm}" in names:
            choices[norm] = (NORMS["layernorm"],)
    if not names.isdisjoint(("hidden", "w_hidden")):
        choices = {"residual": (True, False), "activation": _ACTIVATIONS} | choices
    unprojected = "x" in names and names.isdisjoint(("w_q", "w_k", "w_v", "q", "k", "v"))
    return [
        Block(n_heads=1, unprojected=unprojected, **dict(zip(choices, values, strict=True)))
        for values in product(*choices.values())
    ]


def _run(build: Builder, steps: tuple[Step, ...], block: Block, mask: np.ndarray | None = None) -> None:
    here = build.here
    options = tuple([name for name, value in vars(block).items() if value])
    for name, operation, reads in _made(steps, tuple(here), options):
        if name == "masked" and "mask" not in here:
            _give_mask(build, here[reads[0]], mask)
        inputs = [*map(here.__getitem__, reads)]
        build.apply(name, operation(block, *inputs), *inputs)


@lru_cache(maxsize=128)
def _made(
    steps: tuple[Step, ...], given: tuple[str, ...], options: tuple[str, ...]
) -> tuple[tuple[str, Callable[..., Operation], tuple[str, ...]], ...]:
    """The stages that those of these names make in a block with these options: name, operation, what each reads."""
    names, made = set(given), []
    for step in steps:
        if step.name in names or (step.option and step.option not in options):
            continue
        if step.name == "masked" and not names.isdisjoint(step.alternatives[0]):
            names.add("mask")
        if inputs := step.inputs(names):
            made.append((step.name, step.operation, inputs))
            names.add(step.name)
    return tuple(made)


def _give_mask(build: Builder, scaled: Stage, mask: np.ndarray | None) -> None:
    """The mask, once there are scores that it can be applied to."""
    visible = fitting_mask(mask, *scaled.shape)
    axes = ("head", "query", "key")[-visible.array.ndim :]
    build.give(Stage.given("mask", visible, axes, NO_MASK if mask is None else GIVEN), shared=True)


def _check_affine(name: str, norm: Norm | None, has: Mapping[str, Stage]) -> None:
    gain, bias = f"g_{name}", f"b_{name}"
    if gain not in has and bias not in has:
        return
    if not isinstance(norm, LayerNorm):
        raise ArrayError(f"{gain if gain in has else bias} belongs to a LayerNorm; got {norm or 'no norm'}.")
    if gain not in has:
        raise ArrayError(f"{bias} is added after a gain; got no {gain}. Give ones.")
