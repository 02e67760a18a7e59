"""Check: `attnviz.check`, which compares a user's module with a library's on the same parameters and inputs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.checks.explain.explanation import explain
from attnviz.checks.read.files import Arrays, as_array, numeric
from attnviz.checks.read.labels import title
from attnviz.checks.read.layouts import recomputed, score_stages, stages_after_scores
from attnviz.checks.read.names import is_rotation_table, stage_named
from attnviz.checks.read.user_arrays import Conventions
from attnviz.checks.recording.call import COMPUTED
from attnviz.checks.recording.dispatch import array_of
from attnviz.checks.recording.layer import (
    ADDED,
    HIDES,
    SHOWS,
    Call,
    Layer,
    calls,
    drawn,
    tables_of,
    without_fused_kernels,
)
from attnviz.checks.recording.modules import in_eval_mode
from attnviz.checks.recording.parameters import OF_OUTPUT, Parameters, with_random_vectors
from attnviz.checks.report.compare_arrays import compare
from attnviz.checks.report.verdict import Comparison
from attnviz.core.arguments import check_int
from attnviz.core.errors import OwnArraysError, guarded
from attnviz.core.parameters import ALL_AXES
from attnviz.core.trace import Trace

_TOLERANCE = 1e-3  # relative: threads may add in another order, dropout changes more
_RANDOM = (
    "other numbers each time that it is called, in eval mode too. Is there dropout that eval() leaves on, such as "
    "F.dropout(x, p) without training=self.training, or a cache?"
)
_AS_RECORDED = (
    "attnviz doesn't compute how the library's module makes attention of queries and keys, so yours was compared with "
    "what was recorded of it: no cause is known for a difference in attention."
)
_CAUSAL_ANYWAY = "Yours hides later keys without a mask, too, as attention of the library's kind may."
Passes = Mapping[str, Trace]


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

    Examples
    --------
    >>> import torch
    >>> from attnviz import check
    >>> mine, theirs = (torch.nn.MultiheadAttention(8, 2, batch_first=True) for _ in range(2))
    >>> result = check(mine, like=theirs)
    >>> result.agrees, list(result.calls)
    (True, ['no mask', 'causal'])
    >>> print(result.calls["causal"])
    Q, K, V, attention and output agree to float32 rounding.
    """

    calls: Mapping[str, Comparison]
    notes: tuple[str, ...]
    is_random: bool = False

    @property
    def agrees(self) -> bool:
        """Whether every call agrees to rounding."""
        return not self.is_random and all(map(_agrees, self.calls.values()))

    def raise_for_difference(self) -> None:
        """Do nothing if every call agrees; else raise an AssertionError with the verdict, its headline first."""
        if not self.agrees:
            differing = (each.headline for each in self.calls.values() if not _agrees(each))
            random = ["Equal calls of your module give other numbers."] if self.is_random else []
            raise AssertionError(f"{[*random, *differing][0]}\n{self}")

    def __str__(self) -> str:
        first = [f"Yours gives {_RANDOM}"] if self.is_random else []
        lines = [f"{way.capitalize()}: {each}" for way, each in self.calls.items()]
        return "\n".join((*first, *lines, *self.notes))

    __repr__ = __str__


@guarded("check this module", "its code and that of `like`")
def check(
    my_module: Any, like: Any, inputs: np.ndarray | None = None, seed: int = 0, names: Mapping[str, str] | None = None
) -> Check:
    """Check your attention module against a library's: the first stage that differs, and the mistake.

    Your module gets the parameters of `like`, and both the same inputs: once without a mask and, if both take one, once
    with a causal mask. Afterwards each module has its own parameters and mode again.

    Parameters
    ----------
    my_module : torch.nn.Module
        Called with x, or with x as query, key and value; True in its mask may show or hide.
    like : torch.nn.Module
        Such as `torch.nn.MultiheadAttention(d_model, n_heads, batch_first=True)` or `Qwen3Attention(config, 0)`.
    inputs : ndarray (sentences, tokens, d_model), optional
        The input of both; two sentences of seven tokens are drawn by default.
    seed : int
        The seed of the inputs and vectors that are drawn.
    names : mapping of str to str, optional
        The stages of my parameters with unknown names: `{"proj_a.weight": "w_q"}`.

    Returns
    -------
    Check
        `print` it to read the verdict.

    Raises
    ------
    OwnArraysError
        If one of the modules isn't a single layer of attention that can be read or can't be called with x and what
        attnviz can make, parameters don't match, `like` gives other numbers each time, or attnviz doesn't compute what
        it does.

    Notes
    -----
    During the calls both modules are in eval mode, and Hugging Face's in eager attention. Random numbers are added to
    the biases and gains of `like`, as a fresh module's are 0 or 1. Layers of Hugging Face's get the cosines and sines
    of their rotation. Each call is made twice: if the numbers differ, `eval()` has left dropout on.

    Examples
    --------
    >>> import torch
    >>> from attnviz import check
    >>> class Mine(torch.nn.MultiheadAttention):
    ...     def forward(self, query, key, value, attn_mask=None, **options):
    ...         if attn_mask is not None:
    ...             attn_mask = ~attn_mask  # the mistake
    ...         return super().forward(query, key, value, attn_mask=attn_mask, **options)
    >>> mine = Mine(8, 2, batch_first=True)
    >>> print(check(mine, like=torch.nn.MultiheadAttention(8, 2, batch_first=True)))
    No mask: Q, K, V, attention and output agree to float32 rounding.
    Causal: Q, K and V agree.
    Attention differs...
    The mask was applied the other way round: computed so, all of your numbers agree.
    Wrong: scores = scores.masked_fill(mask, -torch.inf)
    Right: scores = scores.masked_fill(~mask, -torch.inf)
    ...
    """
    check_int("seed", seed, 0, "from which numbers are drawn", OwnArraysError)
    library = Layer.of("like", like, {})
    mine = Layer.of("my_module", my_module, names or {}, has_output=library.has_output_matrix)
    width = next(name for name, stage in library.stages.items() if stage in ("w_q", "w_qkv"))
    d_model = library.parameters[width].shape[0 if library.is_in_out(width) else -1]
    x = drawn(d_model, seed) if inputs is None else numeric("inputs", as_array("inputs", inputs))
    if x.ndim != 3 or x.shape[-1] != d_model:
        raise OwnArraysError(
            f"inputs must have the shape (sentences, tokens, d_model), with a d_model of {d_model} as like has; got "
            f"{x.shape}."
        )
    with in_eval_mode(my_module, like), without_fused_kernels(my_module, like), with_random_vectors(library, seed):
        tables = tables_of(library, x)
        passes, meaning, about_like = _passes(library, x, tables)
        parameters = Parameters(library, passes["no mask"])
        tables = tables or tables_of(mine, x)
        is_causal = bool(getattr(library.attention.module, "is_causal", False))
        checks = []
        for by_heads in parameters.orders(mine):
            with parameters.copied_to(mine, by_heads) as notes:
                made = [[each._replace(arrays=_computed(each.arrays)) for each in calls(mine, x, tables)] for _ in "12"]
            compared, more = _compared(mine, made[0], passes, meaning, is_causal)
            checks.append(Check(compared, (*notes, *more, *about_like), any(map(_differ, *made))))
    return max(checks, key=lambda each: min(map(_rank, each.calls.values())))


def _passes(library: Layer, x: np.ndarray, tables: Mapping[str, Any]) -> tuple[Passes, str, list[str]]:
    """Attnviz's pass for each call of the library's module, skipping masks it reads differently.

    Also what the mask meant, and notes.
    """
    passes: dict[str, Trace] = {}
    meaning = ""
    notes: list[str] = []
    if _differ(next(calls(library, x, tables)), next(calls(library, x, tables))):
        raise OwnArraysError(f"like gives {_RANDOM} Turn it off for the check.")
    rotated_by = {name: array_of(tables[name])[0] for name in ("cos", "sin") if name in tables}
    for call in calls(library, x, tables):
        way, arrays, meaning = call.way, call.arrays, call.meaning
        trace = _by_tables(library, arrays | rotated_by) if rotated_by else None
        if trace is None:  # some layers of SmolLM3 don't rotate
            arrays = {name: array for name, array in arrays.items() if not is_rotation_table(name)}
            comparison = compare(None, arrays, orientation=library.orientation)
            trace = comparison.trace if _agrees(comparison) else None
            if trace is None and (way == "no mask" or notes) and (trace := _as_recorded(library, arrays)):
                notes = [_AS_RECORDED]
        if trace is not None:
            passes[way] = trace
        if "no mask" not in passes:
            what = title(comparison.first.stage) if comparison.first else "all numbers"
            raise OwnArraysError(
                f"attnviz doesn't compute {what} as {type(library.called).__name__} does. "
                f"{' '.join(comparison.verdict[:2])} Record both and compare what was recorded."
            )
        if "causal" in passes:
            break
    return passes, meaning, notes


def _by_tables(library: Layer, arrays: Arrays) -> Trace | None:
    """The pass whose queries and keys are rotated by the tables of the call, scaled as they may be (YaRN)."""
    diagnosis = explain(None, arrays, stated=Conventions(orientation=library.orientation)).diagnosis
    return None if diagnosis.first_difference or diagnosis.candidate.rotation else diagnosis.candidate.trace


def _as_recorded(library: Layer, arrays: Arrays) -> Trace | None:
    """A pass with the library's own attention, where attnviz computes all but that of its queries and keys."""
    by_stage = {stage_named(name): array for name, array in arrays.items()}
    first = {name: array for name, array in arrays.items() if stage_named(name) in {"x", "context", *"qkv", *ALL_AXES}}
    last: Arrays = {name: by_stage[name] for name in ("concat", "output") if name in by_stage}
    before = compare(None, first, orientation=library.orientation)
    if not {"attention", *"qkv"} <= by_stage.keys() or not last or not _agrees(before):
        return None
    if before.trace is None or before.block is None:
        return None
    later = {"mask", *score_stages(), *stages_after_scores()}
    known = {each.name: each for each in before.trace.stages if each.name not in later}
    given = {name: known[name].value for name in ("v", *OF_OUTPUT) if name in known}
    after = recomputed({**given, "attention": by_stage["attention"]}, before.block)
    trace = Trace((*known.values(), *(each for each in after.stages if each.name not in known)), {})
    return trace if _agrees(compare(trace, last)) else None


def _compared(
    mine: Layer, made: list[Call], passes: Passes, meaning: str, is_causal: bool
) -> tuple[dict[str, Comparison], list[str]]:
    """My calls compared with the library's passes, and sentences on calls that can't be made or mean otherwise."""
    each = {
        way: [(_against(passes[way], call.arrays, mine), call) for call in made if call.way == way] for way in passes
    }
    likeliest = {way: max(some, key=lambda pair: _rank(pair[0])) for way, some in each.items() if some}
    best = {way: comparison for way, (comparison, _) in likeliest.items()}
    unmasked, *masked = made
    if masked and (_agrees(best["no mask"]) or not (is_causal and "causal" in best)):
        return best, _other_meaning(likeliest["causal"][1], meaning) if "causal" in best else []
    as_causal = {way: _against(trace, unmasked.arrays, mine) for way, trace in passes.items()}
    if masked:  # by itself where it gets no mask, such as is_causal=mask is None
        about = _other_meaning(likeliest["causal"][1], meaning)
        return ({"causal": best["causal"]}, [_CAUSAL_ANYWAY, *about]) if _agrees(as_causal["causal"]) else (best, about)
    way = max(as_causal, key=lambda each: _rank(as_causal[each]))  # it may well be causal by itself
    return {way: as_causal[way]}, ["Yours was called without a mask alone."]


def _other_meaning(call: Call, meaning: str) -> list[str]:
    """A sentence on what True in my mask was taken for, if the library's means something else."""
    if call.meaning not in (SHOWS, HIDES) or call.meaning == meaning:
        return []
    theirs = {ADDED: "the library's is added to the scores", "": "the library's module takes none"}
    said = theirs.get(meaning, f"the library's takes {meaning}")
    return [f"Your {call.mask} got {call.meaning}; {said}."]


def _against(trace: Trace, arrays: Arrays, mine: Layer) -> Comparison:
    """My arrays compared with a pass; of one without an output matrix, up to the head outputs."""
    if "output" not in trace:
        heads = arrays.get("concat" if mine.has_output_matrix else "output")
        arrays = {name: array for name, array in arrays.items() if name not in ("concat", "output")}
        arrays |= {} if heads is None else {"heads": heads}
    return compare(trace, arrays, n_heads=trace["attention"].shape[0])


def _agrees(comparison: Comparison) -> bool:
    return comparison.first is None and not comparison.not_finite


def _rank(comparison: Comparison) -> tuple[bool, bool, int]:
    first, stages = comparison.first, comparison.stages
    return _agrees(comparison), comparison.explained, len(stages) if first is None else stages.index(first)


def _differ(one: Call, other: Call) -> bool:
    arrays, again = _computed(one.arrays), _computed(other.arrays)
    return arrays.keys() != again.keys() or not all(_are_close(arrays[name], again[name]) for name in arrays)


def _are_close(one: np.ndarray, other: np.ndarray) -> bool:
    largest = np.abs(one[np.isfinite(one)]).max(initial=0)
    return one.shape == other.shape and np.allclose(one, other, rtol=0, atol=_TOLERANCE * largest, equal_nan=True)


def _computed(arrays: Mapping[str, np.ndarray]) -> Arrays:
    """The arrays that the module computed, without its inputs and parameters."""
    return {name: array for name, array in arrays.items() if name in COMPUTED}
