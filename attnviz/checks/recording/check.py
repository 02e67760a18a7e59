"""Check: `attnviz.check`, which compares a user's module with a library's on the same parameters and inputs."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.checks.recording.modules import COMPUTED, AttentionModule, array_of, attention_modules, in_eval_mode
from attnviz.checks.recording.recorded import record
from attnviz.checks.report.compare_arrays import Comparison, compare
from attnviz.core.errors import OwnArraysError, guarded
from attnviz.core.trace import Trace

N_SENTENCES, N_TOKENS = 2, 7
_MASKS = ("attn_mask", "mask", "attention_mask", "causal_mask", "src_mask")
_FLAGS = ("is_causal", "causal")
_FUSED = {"w_qkv": ("w_q", "w_k", "w_v"), "b_qkv": ("b_q", "b_k", "b_v")}
_ALIKE = 1e-3  # relative: threads may add in another order, dropout changes more
_RANDOM = (
    "other numbers each time that it is called, in eval mode too. Is there dropout that eval() leaves on, such as "
    "F.dropout(x, p) without training=self.training, or a cache?"
)
Arrays = dict[str, np.ndarray]
Call = tuple[str, Arrays]  # "no mask" or "causal", and the arrays of the first sentence


@dataclass(frozen=True, eq=False, repr=False)
class Check:
    """The verdict on your module, compared with a library's; `str` prints it.

    Attributes
    ----------
    calls : mapping of str to Comparison
        For "no mask" and "causal", if both modules can be called so: your arrays and the pass of the library's.
    notes : tuple of str
        What couldn't be matched or called.
    is_random : bool
        Whether equal calls of your module give different numbers.
    """

    calls: Mapping[str, Comparison]
    notes: tuple[str, ...]
    is_random: bool = False

    @property
    def agrees(self) -> bool:
        """Whether every call agrees to rounding."""
        return not self.is_random and all(each.first is None for each in self.calls.values())

    def __str__(self) -> str:
        lines = [f"{way.capitalize()}: {each}" for way, each in self.calls.items()]
        return "\n".join((*lines, *self.notes))

    __repr__ = __str__


@guarded("check this module", "its code and that of `like`")
def check(
    my_module: Any, like: Any, inputs: np.ndarray | None = None, seed: int = 0, names: Mapping[str, str] | None = None
) -> Check:
    """Check your attention module against a library's: the first stage that differs, and the mistake.

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
    names = dict(names or {}) | _names_by_shape(mine, library)
    mine = _only("my_module", my_module, names)
    width = next(name for name, stage in library.stages.items() if stage in ("w_q", "w_qkv"))
    d_model = library.parameters[width].shape[0 if _is_in_out(library, width) else -1]
    x = drawn(d_model, seed) if inputs is None else np.asarray(inputs)
    with in_eval_mode(my_module, like), _with_vectors_drawn(like, seed), copied(mine, library) as notes:
        passes = _passes(library, x)
        ways = [(way, _computed(arrays)) for way, arrays in calls(mine, x, names)]
        is_random = any(map(_differ, ways, calls(mine, x, names)))
    if is_random:
        notes.append(f"Yours gives {_RANDOM}")
    takes_no_mask = len(ways) == 1  # that we know; it may well be causal by itself
    if takes_no_mask:
        notes.append("Yours was called without a mask alone.")
        ways = [(way, ways[0][1]) for way in passes]
    comparisons: dict[str, Comparison] = {}
    for way, arrays in ways:
        if way in passes:
            comparison = compare(passes[way], arrays, n_heads=library.n_heads)
            comparisons[way] = max(comparisons.get(way, comparison), comparison, key=_rank)
    if takes_no_mask:
        best = max(comparisons, key=lambda way: _rank(comparisons[way]))
        comparisons = {best: comparisons[best]}
    return Check(comparisons, tuple(notes), is_random)


def _rank(comparison: Comparison) -> tuple[bool, bool, int]:
    first, stages = comparison.first, comparison.stages
    return first is None, comparison.explained, len(stages) if first is None else stages.index(first)


def _differ(one: Call, other: Call) -> bool:
    arrays, again = _computed(one[1]), _computed(other[1])
    return arrays.keys() != again.keys() or not all(_alike(arrays[name], again[name]) for name in arrays)


def _alike(one: np.ndarray, other: np.ndarray) -> bool:
    largest = np.abs(one[np.isfinite(one)]).max(initial=0)
    return one.shape == other.shape and np.allclose(one, other, rtol=0, atol=_ALIKE * largest, equal_nan=True)


def _computed(arrays: Mapping[str, np.ndarray]) -> Arrays:
    """The arrays that the module computed, without its inputs and parameters."""
    return {name: array for name, array in arrays.items() if name in COMPUTED}


def _names_by_shape(mine: AttentionModule, library: AttentionModule) -> dict[str, str]:
    """Names for an output matrix and bias that only their shapes give away."""
    if "w_o" in mine.stages.values() or "w_o" not in library.stages.values():
        return {}
    unknown = {name: each for name, each in mine.module.named_parameters() if name not in mine.stages}
    matrices = [name for name, each in unknown.items() if len(each.shape) == 2]
    if len(matrices) != 1:
        return {}
    bias = f"{matrices[0].rpartition('.')[0]}.bias"
    return {matrices[0]: "w_o"} | ({bias: "b_o"} if bias in unknown else {})


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
    if why := modules[0].note:
        raise OwnArraysError(
            f"check copies a layer's matrices of queries, keys and values, which {name} keeps otherwise: {why} Record "
            "both and compare what was recorded."
        )
    return modules[0]


def _passes(library: AttentionModule, x: np.ndarray) -> dict[str, Trace]:
    """Attnviz's pass for each call of the library's module, skipping masks it reads differently."""
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


# --- Calls


def drawn(width: int, seed: int) -> np.ndarray:
    """Random inputs (sentences, tokens, width)."""
    return np.random.default_rng(seed).normal(size=(N_SENTENCES, N_TOKENS, width))


def calls(attention: AttentionModule, x: np.ndarray, names: dict[str, str]) -> Iterator[Call]:
    """Call a module in each possible way."""
    yield "no mask", _recorded_call(attention, x, {}, names)
    takes = inspect.signature(attention.module.forward).parameters
    mask = next((name for name in _MASKS if name in takes), None)
    if mask:
        visible = np.tri(x.shape[1], dtype=bool)
        hides = "in_proj_weight" in attention.parameters or type(attention.module).__name__ == "MultiheadAttention"
        for meaning in (~visible,) if hides else (np.where(visible, 0.0, -np.inf), visible, ~visible):
            for shape in (meaning, meaning[np.newaxis, np.newaxis]):
                with suppress(TypeError, ValueError, RuntimeError, IndexError):  # a mask of another type or shape
                    yield "causal", _recorded_call(attention, x, {mask: shape}, names)
                    break
    elif flag := next((name for name in _FLAGS if name in takes), None):
        yield "causal", _recorded_call(attention, x, {flag: True}, names)


def _recorded_call(
    attention: AttentionModule, x: np.ndarray, arguments: Mapping[str, np.ndarray | bool], names: dict[str, str]
) -> Arrays:
    module, like = attention.module, next(iter(attention.parameters.values()))
    takes = inspect.signature(module.forward).parameters
    tensor = like.new_tensor(x if attention.is_batch_first else np.swapaxes(x, 0, 1))
    passed: dict[str, Any] = {**arguments}
    for name, value in arguments.items():
        if isinstance(value, np.ndarray):
            passed[name] = like.new_tensor(value).bool() if value.dtype == bool else like.new_tensor(value)
    if "average_attn_weights" in takes:
        passed["average_attn_weights"] = False
    if "position_embeddings" in takes:
        passed["position_embeddings"] = _position_embeddings(module, tensor)
    for name in _MASKS:
        if name in takes and name not in passed and takes[name].default is inspect.Parameter.empty:
            passed[name] = None
    n_inputs = 3 if any(name in takes for name in ("key", "k")) else 1
    with record(module, names=names) as recorded:
        try:
            module(*[tensor] * n_inputs, **passed)
        except OwnArraysError:
            raise
        except Exception as error:
            also = "".join(f" and {name}" for name, value in passed.items() if value is not None)
            raise OwnArraysError(
                f"{type(module).__name__} must take x{', as query, key and value' * (n_inputs > 1)}{also}; calling it "
                f"so raised {type(error).__name__}: {error}. Wrap it in a module that does, or record both and compare "
                "what was recorded."
            ) from error
    return recorded[0]


def _position_embeddings(module: Any, x: Any) -> Any:
    """The cosines and sines for a layer of Hugging Face, from its library's own class."""
    library = vars(sys.modules[type(module).__module__])
    rotary_class = next((each for name, each in library.items() if name.endswith("RotaryEmbedding")), None)
    if rotary_class is None or not hasattr(module, "config"):
        raise OwnArraysError(
            f"{type(module).__name__} takes position_embeddings, which attnviz can't make for it. Give a module that "
            "makes them, or record both of yours and compare them."
        )
    positions = x.new_tensor(np.arange(x.shape[1])[np.newaxis]).long()
    rotary = rotary_class(config=module.config)
    by_type = {"layer_type": module.layer_type} if "layer_type" in inspect.signature(rotary.forward).parameters else {}
    return rotary(x, positions, **by_type)


# --- Parameters


@contextmanager
def copied(mine: AttentionModule, like: AttentionModule) -> Iterator[list[str]]:
    """Copy the parameters of `like` into `mine`, matched by stages, and restore them afterwards.

    Yields a sentence on each parameter that only one of them has. OwnArraysError if a matrix of `mine` has no
    counterpart of its shape.
    """
    theirs: Arrays = {}  # matrices (out, in) and vectors by stage, with fused ones split
    for name, stage in like.stages.items():
        array = array_of(like.parameters[name])
        array = array.T if _is_in_out(like, name) else array
        theirs |= zip(_FUSED[stage], np.split(array, 3), strict=True) if stage in _FUSED else {stage: array}
    has = {part for stage in mine.stages.values() for part in _FUSED.get(stage, (stage,))}
    missing = [stage for stage, value in theirs.items() if stage not in has and np.any(value)]
    with _filled_with(mine.parameters, {name: _filled(mine, name, theirs) for name in mine.parameters}):
        yield [f"Yours has no {', '.join(missing)}, which the library's has."] if missing else []


def _filled(mine: AttentionModule, name: str, theirs: Mapping[str, np.ndarray]) -> np.ndarray:
    stage, shape = mine.stages[name], tuple(mine.parameters[name].shape)
    parts = [theirs[part] for part in _FUSED.get(stage, (stage,)) if part in theirs]
    if len(parts) < len(_FUSED.get(stage, (stage,))):
        if stage[0] == "b":
            return np.zeros(shape)
        raise OwnArraysError(f"{name} is {stage}, which the library's module has no parameter for. Use names={{...}}.")
    value = np.concatenate(parts)
    value = value.T if _is_in_out(mine, name) else value
    if value.shape != shape:
        raise OwnArraysError(f"{name} must have the shape {value.shape} of the library's {stage}; got {shape}.")
    return value


def _is_in_out(module: AttentionModule, name: str) -> bool:
    """Whether a matrix is (in, out): in GPT-2's Conv1D, and if it belongs to no Linear layer."""
    if len(module.parameters[name].shape) != 2:
        return False
    owner = module.owners[name]
    is_alone = owner is module.module and "in_proj" not in name and "_proj_w" not in name
    return type(owner).__name__ == "Conv1D" or is_alone


@contextmanager
def _with_vectors_drawn(module: Any, seed: int) -> Iterator[None]:
    """Add random numbers to biases and gains, as fresh ones (0 and 1) would hide mistakes."""
    rng = np.random.default_rng(seed)
    vectors = {name: each for name, each in module.named_parameters() if len(each.shape) == 1}
    with _filled_with(vectors, {name: array_of(each) + rng.normal(size=each.shape) for name, each in vectors.items()}):
        yield


@contextmanager
def _filled_with(parameters: Mapping[str, Any], values: Mapping[str, np.ndarray]) -> Iterator[None]:
    def fill(numbers: Mapping[str, np.ndarray]) -> None:
        for name, value in numbers.items():
            parameters[name].data.copy_(parameters[name].new_tensor(value))

    originals = {name: array_of(parameter) for name, parameter in parameters.items()}
    try:
        fill(values)
        yield
    finally:
        fill(originals)
