"""Own pass: attnviz's pass from the earliest stages that someone gives, wherever it begins."""

from collections.abc import Callable, Mapping

import numpy as np

from attnviz.core.arrays import fitting_mask, real
from attnviz.core.builder import Builder
from attnviz.core.operations.addition import Addition
from attnviz.core.operations.concatenation import Concatenation
from attnviz.core.operations.contributions import Contributions
from attnviz.core.operations.dotproducts import DotProducts
from attnviz.core.operations.hide import Hide
from attnviz.core.operations.identity import Identity
from attnviz.core.operations.operation import Operation
from attnviz.core.operations.projection import Projection
from attnviz.core.operations.scale import Scale
from attnviz.core.operations.softmax import Softmax
from attnviz.core.operations.source import Source
from attnviz.core.operations.weightedsum import WeightedSum
from attnviz.core.order import NO_MASK
from attnviz.core.parameters import PARAMETER_AXES
from attnviz.core.stage import Stage
from attnviz.core.trace import Trace

_AXES = {
    "x": ("token", "d_model"),
    "context": ("context token", "d_model"),
    **PARAMETER_AXES,
    "q": ("head", "query", "d_k"),
    "k": ("head", "key", "d_k"),
    "v": ("head", "key", "d_v"),
    **dict.fromkeys(("scores", "scaled", "masked", "attention"), ("head", "query", "key")),
    "heads": ("head", "query", "d_v"),
    "concat": ("query", "heads * d_v"),
}
"""What the places along the axes of each stage count that a pass may begin with, but for the mask's."""

PROJECTIONS = ("w_q", "w_k", "w_v")
_GIVEN = Source("from your arrays")

Step = tuple[str, tuple[str, ...]]
STEPS: tuple[Step, ...] = (
    ("scores", ("q", "k")),
    ("scaled", ("scores",)),
    ("masked", ("scaled", "mask")),
    ("attention", ("masked",)),
    ("heads", ("attention", "v")),
    ("concat", ("heads",)),
    ("contributions", ("heads", "w_o")),
    ("output", ("concat", "w_o")),
)
"""What each stage after q, k and v is made of."""


def beginnings(given: set[str]) -> set[str]:
    """Those of the given stages that aren't recomputed from other ones: where the pass begins.

    >>> sorted(beginnings({"x", "w_q", "q", "k", "attention"}))
    ['k', 'w_q', 'x']
    """
    made = made_of(given)
    return {name for name in given if name not in made}


def made_of(given: set[str]) -> set[str]:
    """The stages that can be made of others, beginning with the given ones."""
    made: set[str] = set()
    present = set(given) | {"mask"}
    unprojected = "x" in given and not given & {*PROJECTIONS, "q", "k", "v"}
    for name in "qkv":
        source = "context" if name != "q" and "context" in given else "x"
        if source in given and (unprojected or f"w_{name}" in given):
            made.add(name)
    for name, inputs in STEPS:
        if set(inputs) <= present | made:
            made.add(name)
    return made


def own_pass(arrays: Mapping[str, np.ndarray], n_heads: int, d_k: int | None) -> Trace:
    """The stages that can be made of arrays that fit each other; of what is given, what nothing makes begins it.

    Parameters
    ----------
    arrays : mapping of stages to ndarray
        In attnviz's layouts. A -inf in scores, scaled or masked ones, where they begin the pass, hides a key.
    n_heads : int
        What x is repeated for where nothing projects it.
    d_k : int or None
        What scores are divided by the root of; without it they begin no stage.

    Raises
    ------
    ArrayError
        If a number is not finite, or one that follows is too large for float64.
    """
    arrays = _unhidden(arrays)
    build = Builder()
    made = made_of(set(arrays))
    begins = {name: array for name, array in arrays.items() if name not in made}
    for name in ("x", "context", *PARAMETER_AXES):
        if name in begins:
            _give(build, name, begins[name])
    _project(build, begins, made, n_heads)
    operations: dict[str, Callable[[], Operation]] = {
        "scores": DotProducts,
        "scaled": lambda: Scale(d_k),
        "masked": lambda: Hide() if build["mask"].value.dtype == bool else Addition(hides=True),
        "attention": Softmax,
        "heads": WeightedSum,
        "concat": Concatenation,
        "contributions": Contributions,
        "output": lambda: Projection("query"),
    }
    for name, inputs in STEPS:
        if name == "masked" and "scaled" in build:
            _give_mask(build, begins)
        stages = build.present(*inputs)
        if len(stages) == len(inputs) and not (name == "scaled" and d_k is None):
            build.apply(name, operations[name](), *stages, *(build.present("b_o") if name == "output" else ()))
        elif name in arrays and name in _AXES:
            _give(build, name, arrays[name])
    return Trace(tuple(build.stages.values()), {})


def _unhidden(arrays: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
    """The arrays, with the -inf of scores that begin the pass as a mask."""
    for name in beginnings(set(arrays)) & {"scores", "scaled", "masked"}:
        seen = ~np.isneginf(arrays[name])
        if not seen.all():
            rest = {each: array for each, array in arrays.items() if each != name}
            return rest | {"mask": seen, "scaled" if name == "masked" else name: np.where(seen, arrays[name], 0)}
    return arrays


def _project(build: Builder, begins: Mapping[str, np.ndarray], made: set[str], n_heads: int) -> None:
    for name in "qkv":
        if name in begins:
            _give(build, name, begins[name])
        elif name in made:
            source = build.present("x") if name == "q" else build.present("context", "x")[:1]
            rows = "query" if name == "q" else "key"
            parameters = build.present(f"w_{name}", f"b_{name}") if f"w_{name}" in build else []
            build.apply(name, Projection(rows) if parameters else Identity(rows, n_heads), *source, *parameters)


def _give(build: Builder, name: str, array: np.ndarray) -> None:
    build.give(Stage.given(name, real(name, array, _AXES[name]), _AXES[name], _GIVEN))


def _give_mask(build: Builder, begins: Mapping[str, np.ndarray]) -> None:
    mask, source = begins.get("mask"), _GIVEN
    if mask is None:
        mask, source = np.ones(build["scaled"].shape[1:], dtype=bool), NO_MASK
    axes = ("head", "query", "key")[-mask.ndim :]
    build.give(Stage.given("mask", fitting_mask(mask, *build["scaled"].shape), axes, source))
