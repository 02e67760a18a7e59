"""Batch: each sentence read as the first that agrees, and the first that differs explained."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np

from attnviz.checks.causes import CAUSES
from attnviz.checks.causes.cause import ALONG_THE_BATCH, MASK_OF_ANOTHER, Mistake, MistakeContext, mask_phrase
from attnviz.checks.explain.diagnosis import Diagnosis
from attnviz.checks.explain.explanation import Explanation, best_explanation, by_convention, explain, first_match
from attnviz.checks.explain.search import Search
from attnviz.checks.passes.candidates import Candidate, Candidates, LayerArrays
from attnviz.checks.passes.comparison import Comparer
from attnviz.checks.read.batches import Batch
from attnviz.checks.read.files import Arrays
from attnviz.checks.read.layouts import arranged, fitted
from attnviz.checks.read.masks import MaskReading
from attnviz.checks.read.names import of_layer, stage_named
from attnviz.checks.read.readings import Reading, rotated_by, with_inferred_mask, with_patterned_mask
from attnviz.checks.read.user_arrays import Conventions, UserArrays
from attnviz.core.errors import OwnArraysError

_MOST_TRIED = 8  # how many sentences are tried to find one that agrees


@dataclass(frozen=True, eq=False)
class BatchExplanation:
    """A batch compared sentence by sentence."""

    batch: Batch
    n: int  # how many sentences there are
    shown: Explanation  # the explanation of the first sentence that differs, or of one that agrees
    sentence: int  # the shown one
    differing: tuple[int, ...] = ()
    alike: tuple[int, ...] = ()  # the sentences that the same mistakes explain


@np.errstate(all="ignore")
def explain_batch(ways: Sequence[Batch], layer: int | None, stated: Conventions) -> BatchExplanation:
    """Compare the sentences of a batch, split in the first of several ways that explains them."""
    splits = [_Sentences(each, layer, stated) for each in ways]
    for sentences in splits:  # before the others' mistakes are searched for, which takes seconds
        with suppress(OwnArraysError):
            if found := sentences.agreement:
                if sentences.batch.axis and sentences.batch.contradicted_by:
                    break
                return found
    results: list[BatchExplanation] = []
    for sentences in splits:
        with suppress(OwnArraysError):
            if results and not sentences.may_agree:
                continue
            results.append(sentences.explanation)
            if not results[-1].differing:
                break
    if not results:
        return splits[0].explanation  # raises what is wrong with it
    first, last = results[0], results[-1]
    if last.differing or not last.batch.axis:
        return first if last.differing else last
    return _along_the_batch(first, last) if last.batch.contradicted_by else last


def _along_the_batch(result: BatchExplanation, right: BatchExplanation) -> BatchExplanation:
    """The explanation by attention along the other axis, where all numbers agree."""
    diagnosis = result.shown.diagnosis
    stages, n = diagnosis.stages, result.n
    if result is right:  # the weights' shape tells the axis, which something contradicts
        weights = next(each for each in stages if each.value is not None and each.stage == "attention")
        assert weights.value is not None
        *heads, n, _ = weights.value.shape
        shapes = ((right.n, *heads, n, n), (n, *heads, right.n, right.n))
        stages = tuple(replace(each, agrees=False, shapes=shapes) if each is weights else each for each in stages)
    stage = next(each.stage for each in stages if not each.agrees)
    mistakes = (Mistake(ALONG_THE_BATCH, stage, {}, {}),)
    agree = right.shown.diagnosis.stages
    candidate = diagnosis.candidate
    if candidate.reading and candidate.reading.mask and candidate.reading.mask.inferred:  # it explains nothing
        others = {name: each for name, each in candidate.reading.arrays.items() if name != "mask"}
        candidate = Candidate.of(replace(candidate.reading, arrays=others, mask=None))
    diagnosis = Diagnosis(candidate, diagnosis.precision, stages, mistakes=mistakes, explained=agree)
    everything = tuple(range(n))
    return replace(
        result, n=n, shown=replace(result.shown, diagnosis=diagnosis), differing=everything, alike=everything[1:]
    )


class _Sentences:
    """The sentences of a batch in one way to split it."""

    def __init__(self, batch: Batch, layer: int | None, stated: Conventions):
        self.batch, self.layer, self.stated = batch, layer, stated

    def _arrays(self, at: int, masks: Arrays | None = None) -> LayerArrays:
        """The arrays of a sentence, perhaps with other masks."""
        return LayerArrays.of(of_layer(self.batch.of_each[at], self.layer or 1) | (masks or {}), self.stated)

    @property
    def may_agree(self) -> bool:
        """Whether the first sentence agrees without any mistake."""
        return self._agreeing(0) is not None

    @cached_property
    def _usual(self) -> Explanation | None:
        return next(filter(None, map(self._agreeing, range(min(self.batch.n, _MOST_TRIED)))), None)

    @property
    def agreement(self) -> BatchExplanation | None:
        """The batch as the first sentence that agrees is read, if all do."""
        usual = self._usual
        if usual is None or not all(self._agrees(at, usual) for at in range(self.batch.n)):
            return None
        return BatchExplanation(self.batch, self.batch.n, usual, 0)

    @cached_property
    def explanation(self) -> BatchExplanation:
        n, usual = self.batch.n, self._usual
        if usual is None:
            shown = explain(None, self.batch.of_each[0], self.layer, self.stated)
            if shown.diagnosis.first_difference is None:  # in a precision that only the whole search tries
                usual = shown
            else:
                return self._shown(shown, range(n))
        differing = [at for at in range(n) if not self._agrees(at, usual)]
        for at in differing[:_MOST_TRIED]:  # where the first sentence may be read in several ways
            if (other := self._agreeing(at)) and all(self._agrees(each, other) for each in range(n)):
                return BatchExplanation(self.batch, n, other, at)
        if not differing:
            return BatchExplanation(self.batch, n, usual, 0)
        return self._shown(self._explained_as(differing[0], usual), differing)

    def _shown(self, shown: Explanation, differing: Sequence[int]) -> BatchExplanation:
        """The explanation of the first sentence that differs, confirmed on the others."""
        first, *others = differing
        alike = [at for at in others if self._has_mistakes(at, shown)]
        if not shown.diagnosis.explains_all and (mistake := self._mask_of_another(first)):
            before = shown.diagnosis
            agree = tuple(replace(each, agrees=True) for each in before.stages)
            diagnosis = Diagnosis(
                before.candidate, before.precision, before.stages, mistakes=(mistake,), explained=agree
            )
            shown, alike = replace(shown, diagnosis=diagnosis), [at for at in others if self._mask_of_another(at)]
        return BatchExplanation(self.batch, self.batch.n, shown, first, tuple(differing), tuple(alike))

    def _mask_of_another(self, at: int) -> Mistake | None:
        """The mistake of a sentence that agrees with the masks of another one."""
        own = self.batch.of_each[at]
        masks = [name for name in own if stage_named(name) == "mask"]
        for other, arrays in enumerate(self.batch.of_each[: _MOST_TRIED * bool(masks)]):
            read = {name: arrays[name] for name in masks}
            if any(not np.array_equal(each, own[name]) for name, each in read.items()) and self._agreeing(at, read):
                name = masks[0] if len(masks) > 1 else ""
                slots = {"mask": mask_phrase(name), "number": str(other + 1), "index": str(other)}
                return Mistake(MASK_OF_ANOTHER, "masked", slots, {})
        return None

    def _agreeing(self, at: int, masks: Arrays | None = None) -> Explanation | None:
        """A sentence that agrees without any mistake, in whichever reading, perhaps with other masks."""
        given, searches = self._arrays(at, masks), list[Search]()
        try:
            found = first_match(given.meanings, given.candidates, searches)
        except OwnArraysError:
            return None
        for each in searches if not found else ():
            if match := each.match or each.completed_match:
                found = each.candidates.arrays, match
                break
        if not found or not found[1].stages:
            return None
        diagnosis = by_convention(*found)
        return (
            None
            if diagnosis.first_difference
            else Explanation(found[0], given.unread, diagnosis, None, 1, given.tables)
        )

    def _as(self, at: int, usual: Explanation) -> Candidates | None:
        """A sentence read as another one; None if it can't be."""
        own = usual.diagnosis.candidate
        assert own.reading
        given = self._arrays(at)
        for arrays in given.meanings:
            if _kinds(arrays) == _kinds(usual.arrays) and (read := [*_read_as(arrays, usual.arrays, own.reading)]):
                placed = [each for way in read for each in rotated_by(way, arrays, given.tables)]
                turned = own.rotation
                likely = [
                    replace(Candidate.of(each), rotation=turned and replace(turned, positions=each.positions))
                    for each in placed
                ]
                if not likely:
                    continue
                return Candidates(arrays, likely, self.stated.tolerance, is_final=True)
        return None

    def _agrees(self, at: int, usual: Explanation) -> bool:
        if (candidates := self._as(at, usual)) is None:
            return False
        search = Search(candidates)
        return bool(search.match or search.coarse_match)

    def _explained_as(self, at: int, usual: Explanation) -> Explanation:
        """The explanation of a sentence that differs, read as the one that agrees."""
        candidates = self._as(at, usual)
        if candidates is None:
            return explain(None, self.batch.of_each[at], self.layer, self.stated)
        arrays, diagnosis = best_explanation([candidates.arrays], lambda way: replace(candidates, arrays=way))
        return replace(usual, arrays=arrays, diagnosis=diagnosis, tables=self._arrays(at).tables)

    def _has_mistakes(self, at: int, shown: Explanation) -> bool:
        """Whether the mistakes of one sentence explain another one."""
        candidates = self._as(at, shown) if shown.diagnosis.mistakes and shown.diagnosis.explains_all else None
        if candidates and any(_are_mistakes_of(shown.diagnosis, each, candidates.arrays) for each in candidates.likely):
            return True
        if not shown.diagnosis.explains_all or shown.diagnosis.candidate.is_large:
            return False
        other = explain(None, self.batch.of_each[at], self.layer, self.stated).diagnosis
        return other.explains_all and _named(other) == _named(shown.diagnosis) != []


def _named(diagnosis: Diagnosis) -> list[tuple]:
    return [(each.id, each.slots) for each in diagnosis.mistakes]


def _kinds(arrays: UserArrays) -> dict[str, tuple]:
    return {
        stage: (each.name, each.value.shape if stage != "mask" else (), each.orientation)
        for stage, each in arrays.items()
    }


def _read_as(arrays: UserArrays, others: UserArrays, reading: Reading) -> Iterator[Reading]:
    """The arrays of one sentence in the layouts of another; zeros of its attention may hide other keys."""
    values = {}
    for stage, value in reading.arrays.items():
        if stage == "mask":
            continue
        layout, array = reading.layouts[stage], arrays[stage].value
        fit = fitted(layout, array.shape, reading.sizes)
        if fit is None:
            return
        is_shared = np.array_equal(array, others[stage].value)
        values[stage] = value if is_shared else arranged(array, layout, stage, fit)
    plain = replace(reading, arrays=values, mask=None)
    if reading.mask is None:
        yield plain
        return
    chosen = [(each.name, each.true_is) for each in reading.mask.chosen]
    own = [plain]
    if "mask" in arrays:
        t, s = reading.sizes.get("t", 1), reading.sizes["s"]
        masks = (each.arranged(t, s) for each in arrays["mask"].masks)
        own = [plain.with_mask(each) for each in masks if [(m.name, m.true_is) for m in each.chosen] == chosen]
    for each in own:
        for inferred in _with_inferred(each, reading.mask, arrays):
            mask, shift = inferred.mask, reading.mask.shift
            if mask is not None and shift is not None and mask.value.dtype != bool:
                mask = mask.shifted(shift)
            yield inferred.with_mask(mask) if mask is not None else inferred


def _with_inferred(own: Reading, usual: MaskReading, arrays: UserArrays) -> Iterator[Reading]:
    """The reading with keys hidden as in the usual one, or as its own attention hides them."""
    if usual.inferred in ("", "zeros"):
        yield own
    if usual.inferred:
        is_pattern = usual.size or usual.inferred.startswith("ALiBi")
        for each in chain(with_inferred_mask(own, arrays), with_patterned_mask(own) if is_pattern else ()):
            if each.mask and (each.mask.inferred, each.mask.size) in ((usual.inferred, usual.size), ("zeros", 0)):
                yield each


def _are_mistakes_of(diagnosis: Diagnosis, candidate: Candidate, arrays: UserArrays) -> bool:
    comparer = Comparer(arrays, diagnosis.precision)
    compared = comparer.compare(candidate)
    for mistake in diagnosis.mistakes:
        first = compared.first_difference
        changes = CAUSES[mistake.id].changes(MistakeContext.of(compared, arrays)) if first else ()
        nodes = next((nodes for nodes, slots in changes if slots == mistake.slots), None)
        if nodes is None:
            return False
        compared = comparer.compare(candidate, {**compared.nodes, **nodes}, compared)
    return compared.agrees
