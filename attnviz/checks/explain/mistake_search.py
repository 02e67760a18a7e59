"""Mistake search: mistakes tried where a pass first differs from the arrays, one at a time, then in pairs."""

from collections.abc import Iterable, Iterator
from itertools import combinations

import numpy as np

from attnviz.checks.causes import CAUSES, code
from attnviz.checks.causes.cause import Mistake, MistakeContext
from attnviz.checks.explain.diagnosis import Diagnosis, Mistakes
from attnviz.checks.passes.comparison import Agreement, Comparer, PassComparison, compared_stages, targets
from attnviz.checks.passes.nodes import Node, Nodes, evaluated, needed
from attnviz.checks.passes.prefilter import Prefilter
from attnviz.checks.read.layouts import score_stages
from attnviz.checks.read.rounding import Precision

_MAX_MISTAKES = 3  # how many cumulative mistakes are searched
_ROUNDINGS = 16.0  # equal passes differ by fewer rounding errors
_MUCH_WORSE = 4.0  # mistakes that leave more than 4 times the least difference rank last
MistakenPass = tuple[Mistakes, Nodes]


def may_pair(first: Agreement, precision: Precision) -> bool:
    """Whether pairs of mistakes are tried; coarse numbers don't tell so many apart."""
    first_to_show = (*score_stages(), "attention", "heads", "concat", "output")
    return precision.is_fine and first.stage in first_to_show


def likeliest_diagnosis(comparer: Comparer, passes: Iterable[PassComparison], failed: set, in_pairs: bool) -> Diagnosis:
    """The first pass that explains everything, perhaps with mistakes; else the best."""
    diagnoses = []
    for each in passes:
        diagnosis = _with_mistakes(comparer, comparer.with_values(each), failed, in_pairs)
        if diagnosis.explains_all:
            return diagnosis
        if each.candidate.is_large:
            each.candidate.forget()
        diagnoses.append(diagnosis)
    return max(diagnoses, key=lambda each: each.likelihood)


def _with_mistakes(comparer: Comparer, unmodified: PassComparison, failed: set, in_pairs: bool) -> Diagnosis:
    """The pass with the cumulative mistakes that explain most."""
    mistaken = unmodified
    mistakes: Mistakes = ()
    alternatives: tuple[Mistakes, ...] = ()
    while len(mistakes) < _MAX_MISTAKES and not mistaken.agrees:
        likeliest = _next_mistakes(comparer, mistaken, failed, is_first=not mistakes, in_pairs=in_pairs)
        if not likeliest:
            break
        alternatives = alternatives if mistakes else tuple(each for each, _ in likeliest[1:])
        mistakes, mistaken = (*mistakes, *likeliest[0][0]), likeliest[0][1]
    diagnosis = Diagnosis.of(unmodified)
    if not mistakes:
        return diagnosis
    return diagnosis.with_mistakes(mistakes, mistaken, unmodified.nodes, alternatives=alternatives)


def _next_mistakes(
    comparer: Comparer, before: PassComparison, failed: set, is_first: bool, in_pairs: bool
) -> list[tuple[Mistakes, PassComparison]]:
    """The mistakes that make most stages agree from the first that differs on, the likeliest first.

    `failed` remembers searches for a first mistake that no pass came near in, as other precisions repeat them.
    """
    arrays, candidate = comparer.arrays, before.candidate
    n_agreeing = before.rank[0]
    first, compared = before.stages[n_agreeing], compared_stages(arrays, candidate, before.nodes)
    differs = compared[n_agreeing]
    near = Prefilter(comparer, candidate, before.nodes, differs, frozenset(compared[:n_agreeing]))
    n_parts = 3 if in_pairs and may_pair(first, comparer.precision) else 2
    parts = [(part, candidate.trace, candidate.rotation, differs, near.tolerance) for part in range(n_parts)]
    if is_first and failed.issuperset(parts):
        return []
    context = MistakeContext.of(before, arrays)
    known = {each.stage for each in before.stages[:n_agreeing] if not (each.layout and each.layout.is_averaged)}
    for part, passes in zip(parts, _passes_to_try(context, set(targets(first.stage)), known), strict=False):
        if is_first and part in failed:
            continue
        accepted = [each for each in passes if _accepts(near, each[1], "p" in candidate.sizes)]
        if not accepted and is_first:
            failed.add(part)
        made = ((mistakes, comparer.compare(candidate, nodes, before)) for mistakes, nodes in accepted)
        if likeliest := _likeliest(made, first, n_agreeing):
            return likeliest
    return []


def _accepts(near: Prefilter, nodes: Nodes, is_decode_step: bool) -> bool:
    """Whether changed passes come near; a change that drops a cache's rows makes no pass."""
    if not is_decode_step:
        return near.accepts(nodes)
    try:
        return near.accepts(nodes) and bool(evaluated(nodes, near.comparer.rough.precision, {*nodes}))
    except ValueError:
        return False


def _likeliest(
    passes: Iterable[tuple[Mistakes, PassComparison]], first: Agreement, n_agreeing: int
) -> list[tuple[Mistakes, PassComparison]]:
    """The passes that explain the first differing stage and make most stages agree; much less exact ones last."""
    likeliest: list[tuple[Mistakes, PassComparison]] = []
    best = (n_agreeing + 1, 0)
    for mistakes, mistaken in passes:
        if mistaken.rank >= best and mistaken.stages[n_agreeing].is_nearer_than(first):
            likeliest = [*(likeliest if mistaken.rank == best else ()), (mistakes, mistaken)]
            best = mistaken.rank
    least = min((each.stages[n_agreeing].off for _, each in likeliest), default=0.0)
    return _distinct(sorted(likeliest, key=lambda each: each[1].stages[n_agreeing].off > _MUCH_WORSE * least))


def _distinct(likeliest: list[tuple[Mistakes, PassComparison]]) -> list[tuple[Mistakes, PassComparison]]:
    """Drop an explanation if an earlier one makes the same numbers with some of the same wrong lines."""
    distinct: list[tuple[Mistakes, PassComparison]] = []
    for mistakes, mistaken in likeliest:
        lines = {code(each) for each in mistakes}
        if not any({code(each) for each in said} <= lines and _are_equal(mistaken, other) for said, other in distinct):
            distinct.append((mistakes, mistaken))
    return distinct


def _are_equal(one: PassComparison, other: PassComparison) -> bool:
    """Whether two passes have the same numbers in each compared stage, up to rounding."""
    return all(
        a.expected is not None
        and b.expected is not None
        and np.allclose(a.expected, b.expected, rtol=0, atol=_ROUNDINGS * a.rounding, equal_nan=True)
        for a, b in zip(one.stages, other.stages, strict=True)
    )


# --- Mistakes to try

_PROJECTED = {"q", "k", "v", "q_normed", "k_normed", "q_rotated", "k_rotated"}
_BEFORE_USE = "attention averaged over heads"  # leaves the returned attention unchanged
_SCORED = ("scaled", "capped", "masked", "attention")  # adjacent stages, in which mistakes hide each other
_BEFORE_SCORES = ("transposed", "bias", "rotation", "positions")  # prefixes of mistakes to pair with those in _SCORED


def _passes_to_try(context: MistakeContext, wanted: set[str], known: set[str]) -> tuple[Iterable[MistakenPass], ...]:
    """The passes with a mistake that may explain the `wanted` stages, in three parts.

    First those in which a mistake affects everything after it; then those in which the `known` stages stay right but
    are misread later, as where hooks record what a module returns; then those with two mistakes, which hide each other.
    """
    nodes, mistakes = context.nodes, list(CAUSES.mistakes(context))
    unexplained = needed(nodes, wanted, known)
    likely = [each for each in mistakes if not unexplained.isdisjoint(each.nodes)]
    misread = [each for each in mistakes if known.issuperset(each.nodes) and each.id == _BEFORE_USE]
    projected = known & _PROJECTED
    misread += [
        each for each in mistakes if each.nodes.keys() - {"concat"} <= projected and projected & each.nodes.keys()
    ]
    return (
        [((each,), {**nodes, **each.nodes}) for each in likely],
        [((each,), _misread(nodes, each.nodes, known)) for each in misread],
        (
            ((one, other), {**nodes, **one.nodes, **other.nodes})
            for one, other in _pairs(likely)
            if one.stage != other.stage and one.nodes.keys().isdisjoint(other.nodes)
        ),
    )


def _pairs(likely: list[Mistake]) -> Iterator[tuple[Mistake, Mistake]]:
    """Pairs of mistakes, the earlier one first: in scores and softmax, before them, and after them."""
    scored = sorted((each for each in likely if each.stage in _SCORED), key=lambda each: _SCORED.index(each.stage))
    before = [each for each in likely if each.stage in _PROJECTED and each.id.startswith(_BEFORE_SCORES)]
    after = [each for each in likely if each.stage in ("concat", "output")]
    yield from combinations(scored, 2)
    yield from ((one, other) for one in before for other in scored if other.stage != "attention")
    yield from ((one, other) for one in scored if one.stage == "attention" for other in after)


def _misread(nodes: Nodes, changed: Nodes, known: set[str]) -> dict[str, Node]:
    """Nodes in which later stages read the changed ones of the known stages, which themselves stay unchanged."""
    as_read = {name: f"{name} as it is read" for name in changed if name in known}
    made: dict[str, Node] = {}
    for name, node in {**nodes, **{name: node for name, node in changed.items() if name not in known}}.items():
        reads = not as_read.keys().isdisjoint(node.inputs)
        made[name] = Node(tuple(as_read.get(each, each) for each in node.inputs), node.make) if reads else node
        if name in as_read:
            made[as_read[name]] = changed[name]
    return made
