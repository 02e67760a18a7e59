"""Unexplained: sentences on a difference that no known mistake makes, as correct code may do what attnviz doesn't."""

import math
from itertools import permutations

import numpy as np

from attnviz.checks.explain.diagnosis import Diagnosis
from attnviz.checks.explain.explanation import Explanation
from attnviz.checks.passes.comparison import Agreement
from attnviz.checks.read.labels import shortened, title
from attnviz.checks.read.layouts import score_stages, stages, stages_after_scores, without_batch
from attnviz.checks.read.names import is_rotation_table
from attnviz.checks.read.user_arrays import NEAR_ONE
from attnviz.explain.wording import listed

_TOLERANCE = 0.02  # relative difference at which lengths count as equal
_NORMALISED, _ROTATED = "normalised queries and keys", "every RoPE"
_BIASED = "biases of scores that no mask in the file holds"


def unexplained(explanation: Explanation) -> list[str]:
    """Sentences for when no mistake explains the numbers."""
    diagnosis = explanation.diagnosis
    first = diagnosis.first_difference
    if first is None:
        return []
    if first.shapes:
        return [_shape_sentence(first.stage, *first.shapes)]
    if tables := [shortened(each) for each in explanation.unread if is_rotation_table(each)]:
        were = f"{'was' if len(tables) == 1 else 'were'} not read"
        right = "where your code rotates queries and keys by them, these numbers may be right"
        return [f"Your {listed(tables)} {were}: {right}."]
    wrong_sum = _wrong_sum(first)
    unknown = () if wrong_sum else _unknown_to_attnviz(diagnosis, first)
    sentences = ["No mistake that attnviz knows of makes these numbers."]
    if diagnosis.within:
        within = f"If your code computes in {diagnosis.within} on the way"
        sentences.append(f"{within}, its rounding may leave as much, which is harmless.")
    elif _ROTATED in unknown and _looks_rotated(first):
        which = {"q": "queries", "k": "keys"}.get(first.stage, "queries and keys")
        why = "lengths agree, directions don't. Attnviz doesn't know this rotation."
        sentences.append(f"Your {which} may be rotated by their positions (RoPE): {why}")
    elif wrong_sum:
        (*head, query), total = wrong_sum
        of_head = "".join(f" of head {each + 1}" for each in head)
        signed = f"{total:.4g}".replace("-", "−")
        sentences.append(f"Row {query + 1}{of_head} of your attention adds up to {signed}, not to 1.")
    elif unknown:
        *most, last = unknown
        names = f"{', '.join(most)} or {last}" if most else last
        sentences.append(f"They may be right all the same: attnviz doesn't know {names}.")
    return sentences


def _unknown_to_attnviz(diagnosis: Diagnosis, first: Agreement) -> tuple[str, ...]:
    """What correct code may do to these numbers, as no later stage agrees."""
    later = stages_after_scores()
    if diagnosis.candidate.reading is None or first.stage not in ("q", "k", *score_stages(), *later):
        return ()
    agree = {each.stage for each in diagnosis.stages if each.agrees}
    after = {each.stage for each in diagnosis.stages[diagnosis.stages.index(first) :] if each.agrees}
    if agree.intersection(("masked", *later)) or after.intersection(score_stages()):
        return ()
    if agree.intersection(score_stages()):
        return (_BIASED,)
    return (_NORMALISED, _ROTATED) if first.stage in ("q", "k") else (_NORMALISED, _ROTATED, _BIASED)


def _looks_rotated(first: Agreement) -> bool:
    """Whether lengths of queries and keys, or scores of tokens with themselves, agree."""
    if first.value is None or first.expected is None:
        return False
    yours, ours = first.value, first.expected
    if first.off <= _TOLERANCE * np.abs(ours[np.isfinite(ours)]).max(initial=0):
        return False
    if first.stage in ("q", "k"):
        yours, ours = np.linalg.norm(yours, axis=-1), np.linalg.norm(ours, axis=-1)
    elif first.stage in score_stages() and yours.shape[-2] == yours.shape[-1] > 1:
        yours, ours = (np.diagonal(each, axis1=-2, axis2=-1) for each in (yours, ours))
    else:
        return False
    return bool((np.abs(yours - ours) <= _TOLERANCE * np.abs(ours).max()).all())


def _wrong_sum(first: Agreement) -> tuple[tuple[int, ...], float] | None:
    """The row of attention whose sum is furthest from 1, and the sum; None if all are 1."""
    if first.stage != "attention" or first.value is None or first.expected is None:
        return None
    if not np.isfinite(first.value).all():
        return None
    sums = first.value.sum(axis=-1)
    off = np.where(first.expected.any(axis=-1), np.abs(sums - 1), 0)
    row = tuple(map(int, np.unravel_index(off.argmax(), off.shape)))
    allowed = NEAR_ONE + first.value.shape[-1] * first.rounding
    return (row, float(sums[row])) if off[row] > allowed else None


def _shape_sentence(stage: str, yours: tuple[int, ...], ours: tuple[int, ...]) -> str:
    expected = f"({', '.join(stages()[stage])})"
    orders = _orders_that_fit(stage, yours, ours)
    if len(orders) == 1:
        return f"The axes of {title(stage)} seem to be {orders[0]}; expected {expected}."
    if orders:
        return f"Are the axes of {title(stage)} {' or '.join(orders)}? They should be {expected}."
    if stages()[stage][-1] == "key" and yours[-2:-1] == ours[-2:-1] and yours[-1] > ours[-1]:
        return (
            f"There are more keys than tokens, by {yours[-1] - ours[-1]}. nn.MultiheadAttention adds one by "
            "add_zero_attn or add_bias_kv, and a cache keeps those of earlier tokens: give them as the context, or "
            "leave them out."
        )
    return "Check which axis of it counts what."


def _orders_that_fit(stage: str, shape: tuple[int, ...], expected: tuple[int, ...]) -> list[str]:
    """The axes that an array may have, given that its shape is a permutation of the expected one."""
    names, n = stages()[stage], len(expected)
    shape = without_batch(shape, n)
    fitting = [each for each in permutations(range(n)) if tuple(expected[place] for place in each) == shape]
    if not fitting and len(shape) < n and math.prod(shape) == math.prod(expected):
        return [f"flattened from ({', '.join(names)})"]
    return [f"({', '.join(names[place] for place in each)})" for each in fitting]
