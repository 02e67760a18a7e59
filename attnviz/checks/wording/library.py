"""Library: a module of one's own beside the library's, with the same parameters and inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.checks.recording.besides import notes
from attnviz.checks.recording.call import COMPUTED
from attnviz.checks.recording.calling import calls, drawn
from attnviz.checks.recording.copying import copied, in_eval_mode, is_in_out, with_vectors_drawn
from attnviz.checks.recording.modules import AttentionModule, attention_modules
from attnviz.checks.wording.report import Comparison, compare
from attnviz.core.errors import OwnArraysError, guarded
from attnviz.core.trace import Trace


@dataclass(frozen=True, eq=False, repr=False)
class Check:
    """The verdict on a module of one's own beside the library's; `str` says it.

    Attributes
    ----------
    calls : mapping of str to Comparison
        For "no mask" and "causal", if both modules can be called so: my arrays beside the pass of the library's.
    notes : tuple of str
        What couldn't be matched or called.
    is_random : bool
        Whether my module gives other numbers each time that it is called.
    """

    calls: Mapping[str, Comparison]
    notes: tuple[str, ...]
    is_random: bool = False

    @property
    def agrees(self) -> bool:
        """Whether all agrees to rounding, each time."""
        return not self.is_random and all(each.first is None for each in self.calls.values())

    def __str__(self) -> str:
        lines = [f"{way.capitalize()}: {each}" for way, each in self.calls.items()]
        return "\n".join((*lines, *self.notes))

    __repr__ = __str__


@guarded("check this module", "its code and that of `like`")
def check(
    my_module: Any,
    like: Any,
    inputs: np.ndarray | None = None,
    seed: int = 0,
    names: Mapping[str, str] | None = None,
) -> Check:
    """Check a module of attention of one's own against the library's: the first stage that differs, and the mistake.

    For the calls both are in eval mode; `like` has random numbers added to its vectors (biases and gains), as a fresh
    module's are 0 or 1; and my module has the parameters of `like`. Afterwards each has its own mode and numbers again.
    Both get the same inputs, once without a mask and once with a causal one, if they take one. Each call is made
    twice: other numbers the second time mean dropout that `eval()` leaves on. attnviz never imports torch.

    Parameters
    ----------
    my_module : torch.nn.Module
        Called with x, or with x as query, key and value; its mask may mean what it likes.
    like : torch.nn.Module
        Such as `torch.nn.MultiheadAttention(d_model, n_heads, batch_first=True)`.
    inputs : ndarray (sentences, tokens, d_model), optional
        Two sentences of seven tokens are drawn otherwise.
    seed : int
        Of the inputs and vectors that are drawn.
    names : mapping of str to str, optional
        Which stage each of my parameters is whose name doesn't say it: {"proj_a.weight": "w_q"}.

    Returns
    -------
    Check
        `print` it.

    Raises
    ------
    OwnArraysError
        If one of the modules isn't a single layer of attention that can be read or can't be called with x, parameters
        don't match, `like` gives other numbers each time, or attnviz doesn't compute what it does.

    Examples
    --------
    >>> print(check(my_attention, like=torch.nn.MultiheadAttention(64, 4, batch_first=True)))  # doctest: +SKIP
    No mask: Q, K and V agree.
    Attention differs by up to 0.202; rounding in float32 would leave 1.2 · 10^-7.
    The scores were not divided by √d_k: computed so, all of your numbers agree.
    """
    library = _only("like", like, {})
    mine = _only("my_module", my_module, dict(names or {}))
    names = dict(names or {}) | _told_by_shape(mine, library)
    mine = _only("my_module", my_module, names)
    x = drawn(_width(library), seed) if inputs is None else np.asarray(inputs)
    with in_eval_mode(my_module, like), with_vectors_drawn(like, seed), copied(mine, library) as notes:
        passes = _passes(library, x)
        ways = [(way, _computed(arrays)) for way, arrays in calls(mine, x, names)]
        is_random = any(map(_differ, ways, calls(mine, x, names)))
    notes = [*notes, *[f"Yours gives {_RANDOM}"] * is_random]
    if len(ways) == 1:  # it takes no mask that we know, and may well be causal by itself
        (_, arrays), notes = ways[0], [*notes, "Yours was called without a mask alone."]
        ways = [(way, arrays) for way in passes]
        return Check(dict([max(_beside(passes, ways, library.n_heads), key=_rank)]), tuple(notes), is_random)
    comparisons: dict[str, Comparison] = {}
    for way, each in _beside(passes, ways, library.n_heads):
        comparisons[way] = max(comparisons.get(way, each), each, key=lambda comparison: _rank((way, comparison)))
    return Check(comparisons, tuple(notes), is_random)


_RANDOM = (
    "other numbers each time that it is called, in eval mode too. Is there dropout that eval() leaves on, such as "
    "F.dropout(x, p) without training=self.training, or a cache?"
)
_ALIKE = 1e-3
"""Of the largest number: threads may add in another order, and dropout changes more."""


def _differ(one: tuple[str, Mapping[str, np.ndarray]], other: tuple[str, Mapping[str, np.ndarray]]) -> bool:
    """Whether two calls of a module alike gave different numbers."""
    arrays, again = (_computed(made) for _, made in (one, other))
    if {name: array.shape for name, array in arrays.items()} != {name: array.shape for name, array in again.items()}:
        return True
    largest = {name: np.abs(array[np.isfinite(array)]).max(initial=0) for name, array in arrays.items()}
    return not all(
        np.allclose(array, again[name], rtol=0, atol=_ALIKE * largest[name], equal_nan=True)
        for name, array in arrays.items()
    )


def _beside(
    passes: Mapping[str, Trace], ways: Sequence[tuple[str, Mapping[str, np.ndarray]]], n_heads: int | None
) -> Iterator[tuple[str, Comparison]]:
    return ((way, compare(passes[way], arrays, n_heads=n_heads)) for way, arrays in ways if way in passes)


def _rank(called: tuple[str, Comparison]) -> tuple[bool, bool, int]:
    """How well a way of calling explains the numbers."""
    _, comparison = called
    agreeing = len(comparison.stages) if comparison.first is None else comparison.stages.index(comparison.first)
    return comparison.first is None, comparison.explained, agreeing


def _computed(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Those that the module computed: the rest was given to it."""
    return {name: array for name, array in arrays.items() if name in COMPUTED}


def _told_by_shape(mine: AttentionModule, library: AttentionModule) -> dict[str, str]:
    """The last matrix and its bias, where no name says it and a single one is left."""
    if "w_o" in mine.stages.values() or "w_o" not in library.stages.values():
        return {}
    left = {name: each for name, each in mine.module.named_parameters() if name not in mine.stages}
    matrices = [name for name, each in left.items() if len(each.shape) == 2]
    if len(matrices) != 1:
        return {}
    bias = f"{matrices[0].rpartition('.')[0]}.bias"
    return {matrices[0]: "w_o"} | ({bias: "b_o"} if bias in left else {})


def _only(name: str, module: Any, names: dict[str, str]) -> AttentionModule:
    if not hasattr(module, "named_modules"):
        raise OwnArraysError(f"{name} must be a PyTorch module; got {type(module).__name__}.")
    modules, skipped = attention_modules(module, names)
    if len(modules) != 1:
        why = " ".join(skipped.values())
        raise OwnArraysError(
            f"{name} must have one layer of attention, of parameters whose names are known; got {len(modules)} in "
            f"{type(module).__name__}, with {', '.join([each for each, _ in module.named_parameters()][:8])}. {why} "
            "Give the layer alone, or say by names={...} which stage each is."
        )
    if why := notes(modules[0].besides):
        raise OwnArraysError(
            f"check copies a layer's matrices of queries, keys and values, which {name} keeps otherwise: {why} Record "
            "both and compare what was recorded."
        )
    return modules[0]


def _width(library: AttentionModule) -> int:
    name = next(name for name, stage in library.stages.items() if stage in ("w_q", "w_qkv"))
    return library.parameters[name].shape[0 if is_in_out(library, name) else -1]


def _passes(library: AttentionModule, x: np.ndarray) -> dict[str, Trace]:
    """Attnviz's pass for each way of calling the library's module; a mask that means something else to it is no way."""
    passes: dict[str, Trace] = {}
    if _differ(next(calls(library, x, {})), next(calls(library, x, {}))):
        raise OwnArraysError(f"like gives {_RANDOM} Turn it off for the check.")
    for way, arrays in calls(library, x, {}):
        comparison = compare(None, arrays)
        if comparison.trace is not None and comparison.first is None:
            passes[way] = comparison.trace
        if "no mask" not in passes:
            raise OwnArraysError(f"attnviz doesn't compute what the library's module does. {comparison}")
        if "causal" in passes:
            break
    return passes
