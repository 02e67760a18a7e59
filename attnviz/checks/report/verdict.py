"""Verdict: the comparison of a user's arrays with a pass, in sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from attnviz.checks.causes import CAUSES, cause, code
from attnviz.checks.causes.cause import ALONG_THE_BATCH, WRONG_AXES, Mistake
from attnviz.checks.causes.libraries import Lines
from attnviz.checks.passes.comparison import Agreement
from attnviz.checks.read.labels import shortened, title
from attnviz.checks.read.names import is_rotation_table
from attnviz.checks.report.words import Row, capital, difference_clause, html_of, to_rounding
from attnviz.core.errors import guarded
from attnviz.core.order import LayerConfig
from attnviz.core.trace import Trace
from attnviz.explain.wording import listed

ARRAYS_TO_SEND = "the arrays, or their names and shapes,"
_MAX_OTHERS = 4  # alternatives in the verdict
AS_COMPUTED = "as your code computed it"  # the source of a mistaken stage's numbers


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The result of `compare`: your arrays against attnviz's pass. `print` it to read the verdict.

    Attributes
    ----------
    stages : tuple of Agreement
        One for each compared stage, in the order of the pass: its `stage`, whether it `agrees`, and `off`, the largest
        difference.
    first : Agreement or None
        The first that differs by more than rounding.
    causes : tuple of Mistake
        Cumulative mistakes, each of which makes more of the arrays agree. Each has an `id`, such as "unscaled", and the
        first `stage` that it changes.
    alternatives : tuple of tuple of Mistake
        Other mistakes, or pairs, that these arrays don't distinguish from the first cause, the likeliest first. The
        verdict names four of them.
    explained : bool
        Whether all arrays agree once the causes, if any, are applied.
    read : tuple of str
        A sentence on each array that was read in another way than attnviz lays it out.
    not_recomputed : tuple of str
        The stages compared with nothing, as no earlier array was given to recompute them from.
    unused : tuple of str
        The inputs and parameters that no compared stage depends on, such as W_V if only attention is compared.
    unread : tuple of str
        The names of the arrays that match no stage.
    questions : tuple of str
        Questions that the arrays' names raise and their numbers don't answer.
    unexplained : list of str
        Sentences for when no cause is found.
    skipped_checks : list of str
        What the search left out, in one sentence; empty if nothing, or if all is explained.
    precision : str
        The finest precision in which all agree, or else the stored one: bfloat16, float16, TF32, float32 or float64, "4
        decimals", "5 significant digits" or your tolerance, such as "rtol 0.001".
    rows : tuple of Row
        A table of the arrays, the compared ones first: `name`, `stage`, `layout`, `verdict` and `agrees` of each.
    trace : Trace or None
        attnviz's pass: the given one, or that of your inputs and parameters. None if that doesn't reach from queries,
        keys and values to head outputs, or needs a rotation that attnviz has no operation for.
    block : LayerConfig or None
        The layer settings of a pass from your inputs and parameters; None if the pass was given.
    mistaken : mapping of stages to ndarray
        The stages of `trace` that the causes change, with their changed values.
    at : str
        The first stage that differs, as `trace` names it; "" if none does.
    true_hides : bool
        Whether True hides a key in your masks.
    unless : str
        An alternative to the cause, as a clause: "your True means a visible key".
    not_finite : tuple of str
        A clause on each array with NaN or ∞, except −∞ in scores and masks: "output has NaN in 3 of 8 places".
    sentence : int or None
        The sentence of a batch that all of this is about, counted from 0: the first that differs, or one that agrees.
        None without a batch.
    n_sentences : int
        How many sentences the batch has.
    differing : tuple of int
        The sentences that differ.
    alike : tuple of int
        Those after the first that the causes explain too.

    Examples
    --------
    >>> import numpy as np
    >>> from attnviz import compare
    >>> x = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> powers = np.exp(x @ x.T)  # not scaled
    >>> result = compare(None, {"x": x, "scores": x @ x.T, "attention": powers / powers.sum(axis=-1, keepdims=True)})
    >>> result.first.stage, result.explained
    ('attention', True)
    >>> result.headline
    'The first stage that differs: attention. The scores were not divided by √d_k.'
    >>> [(each.name, each.agrees) for each in result.rows]
    [('scores', True), ('attention', False), ('x', None)]
    """

    stages: tuple[Agreement, ...]
    first: Agreement | None
    causes: tuple[Mistake, ...]
    alternatives: tuple[tuple[Mistake, ...], ...]
    explained: bool
    read: tuple[str, ...]
    not_recomputed: tuple[str, ...]
    unread: tuple[str, ...]
    questions: tuple[str, ...]
    unexplained: list[str]
    skipped_checks: list[str]
    precision: str
    rows: tuple[Row, ...]
    trace: Trace | None
    block: LayerConfig | None
    mistaken: Mapping[str, np.ndarray]
    at: str
    true_hides: bool
    unless: str = ""
    not_finite: tuple[str, ...] = ()
    sentence: int | None = None
    n_sentences: int = 1
    differing: tuple[int, ...] = ()
    alike: tuple[int, ...] = ()
    unused: tuple[str, ...] = ()
    _missing: tuple[str, ...] = ()  # to recompute the first of the stages that were compared with nothing
    _lines: Lines = field(default_factory=dict)
    _of_nan: tuple[Mistake, ...] = ()  # why numbers that agree are NaN

    @guarded("word this comparison", ARRAYS_TO_SEND)
    def __str__(self) -> str:
        return "\n".join((*self.verdict, *self.code, *self.notes))

    __repr__ = __str__

    @guarded("word this comparison", ARRAYS_TO_SEND)
    def _repr_html_(self) -> str:
        """The verdict as HTML, with a table of all arrays."""
        sentences = self.verdict if self.first else self.verdict[1:]
        return html_of((self.headline, *sentences, *self.code, *self.notes), self.rows)

    @cached_property
    def theirs(self) -> Trace | None:
        """The pass as your code computes it: `trace` with the causes; None without causes or trace."""
        return self.trace.with_stages(self.mistaken, AS_COMPUTED) if self.trace and self.mistaken else None

    def raise_for_difference(self) -> None:
        """Do nothing if all numbers that were compared agree; else raise. For your tests.

        Arrays that were not read and open questions raise nothing; `attnviz.testing.assert_attention` is strict about
        them, too.

        Raises
        ------
        AssertionError
            If a stage differs, a number is NaN or infinite, or nothing was compared. Its message is the headline, on a
            line of its own, then the whole verdict.

        Examples
        --------
        >>> import numpy as np
        >>> from attnviz import compare
        >>> x = np.array([[1.0, 2.0], [3.0, 5.0]])
        >>> compare(None, {"x": x, "scores": x @ x.T}).raise_for_difference()
        >>> compare(None, {"x": x, "scores": x @ x.T - 1}).raise_for_difference()
        Traceback (most recent call last):
        AssertionError: The first stage that differs: scores.
        Scores differ by up to 1; ...
        """
        if self.first is not None or self.not_finite or not self.stages:
            raise AssertionError(self.with_headline())

    @guarded("word this comparison", ARRAYS_TO_SEND)
    def with_headline(self, *problems: str) -> str:
        """The headline, then problems, then the rest of the verdict, each on lines of its own."""
        lines = [self.headline, *problems, *(each for each in str(self).split("\n") if each != self.headline)]
        return "\n".join(lines)

    @property
    def headline(self) -> str:
        """The outcome in one or two sentences."""
        if self.first is None:
            return self.verdict[0]
        because = f" {self._first_cause}." if self.causes else ""
        tables = self._rotation_tables
        unread = f", in a pass without your {tables}" if tables and not self.causes else ""
        of_batch = f", in sentence {self._number} of {self.n_sentences}" if self._is_of_one_sentence else ""
        return f"The first stage that differs: {title(self.first.stage)}{of_batch}{unread}.{because}"

    @property
    def _number(self) -> int:
        return (self.sentence or 0) + 1

    @property
    def _is_of_one_sentence(self) -> bool:
        """Whether the verdict is on one sentence of several."""
        along_the_batch = bool(self.causes) and self.causes[0].id == ALONG_THE_BATCH
        return self.n_sentences > 1 and bool(self.differing) and not along_the_batch

    @property
    def _rotation_tables(self) -> str:
        """The names of unread arrays that rotate queries and keys, listed; "" if there are none."""
        names = [shortened(each) for each in self.unread if is_rotation_table(each)]
        return listed(names) if names else ""

    @property
    def _first_cause(self) -> str:
        clause = capital(cause(self.causes[0]))
        return f"{clause}, so it is inverted unless {self.unless}" if self.unless else clause

    @property
    def code(self) -> tuple[str, ...]:
        """A wrong and a right line for each cause: of the library that the arrays' names are of, or PyTorch's."""
        lines = (code(each, self.true_hides, self._lines) for each in self.causes or self._of_nan)
        return tuple(line for wrong, right in lines if wrong for line in (f"Wrong: {wrong}", f"Right: {right}"))

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on how the arrays were read, and on what was not compared."""
        notes = [*self.read]
        if self.not_recomputed:
            titles = listed([title(each) for each in self.not_recomputed])
            notes.append(f"Taken as given, as there is nothing to recompute it from: {titles}.")
        if self.unused and self.stages and self.first is None:
            titles = listed([title(each) for each in self.unused])
            notes.append(f"Not checked, as nothing that was compared is made of it: {titles}.")
        if self.unread:
            names = listed([shortened(each) for each in self.unread[:8]])
            notes.append(f"Not read, as attnviz doesn't know the name: {names}.")
        if tables := self._rotation_tables:
            question = f"Does your code rotate queries and keys by your {tables}?"
            notes.append(f"{question} Nothing here was compared with that.")
        return (*notes, *self.questions)

    @property
    def verdict(self) -> list[str]:
        """Sentences on what agrees, the first stage that differs, and the mistake that explains it."""
        if not self.stages:
            if not self._missing:
                return ["There is nothing to compare yet: give a stage that your code computes, such as attention."]
            given, missing = title(self.not_recomputed[0]), [title(each) for each in self._missing]
            return [f"There is nothing to compare yet: to recompute your {given}, give {listed(missing)} as well."]
        if self.first is None:
            tables = self._rotation_tables
            without = f", without your {tables}, which attnviz doesn't read" if tables else ""
            agree = f"{_agreeing(self.stages)} {to_rounding(self.precision)}{without}"
            if self.n_sentences > 1:
                titles = listed([title(each.stage) for each in self.stages])
                agree = f"{self._all_sentences} agree: {titles} {to_rounding(self.precision)}{without}"
            if not self.not_finite:
                return [f"{agree}."]
            because = [f"{capital(cause(each))}." for each in self._of_nan]
            return [f"Not every number is one: {'; '.join(self.not_finite)}. {agree}, elsewhere.", *because]
        return [*self._of_the_batch, *self._of_the_first_difference(self.first), *self._of_others]

    @property
    def _all_sentences(self) -> str:
        return "Both sentences" if self.n_sentences == 2 else f"All {self.n_sentences} sentences"

    @property
    def _of_the_batch(self) -> list[str]:
        """Which sentences of a batch differ."""
        if not self._is_of_one_sentence:
            return []
        if len(self.differing) == self.n_sentences:
            return [f"{self._all_sentences} differ. This is on the first."]
        agree = self.n_sentences - len(self.differing)
        return [
            f"Sentence {self._number} of {self.n_sentences} differs; {agree} {'agrees' if agree == 1 else 'agree'}."
        ]

    @property
    def _of_others(self) -> list[str]:
        """What the other differing sentences of a batch show of the cause."""
        others = [each for each in self.differing if each != self.sentence]
        if not self._is_of_one_sentence or not others:
            return []
        rest = [each for each in others if each not in self.alike]
        sentences = [f"{_which(self.alike)} for the same reason."] if self.alike else []
        return sentences + ([f"{_which(rest)} too, which this doesn't explain."] if rest and self.causes else [])

    def _of_the_first_difference(self, first: Agreement) -> list[str]:
        before = self.stages[: self.stages.index(first)]
        sentences = [f"{_agreeing(before)}."] if before else []
        has_wrong_axes = bool(self.causes) and self.causes[0].id == WRONG_AXES
        if not has_wrong_axes:
            sentences.append(f"{capital(title(first.stage))} {difference_clause(first, self.precision)}.")
        if not self.causes:
            return [*sentences, *self.unexplained, *([] if first.shapes else self.skipped_checks)]
        more = self.causes[1:]
        whose = "its" if self._is_of_one_sentence else "your"
        agree = f"{'all' if self.explained else 'more'} of {whose} numbers agree."
        so = "read so" if has_wrong_axes else "computed so"
        sentences.append(f"{self._first_cause}." if more else f"{self._first_cause}: {so}, {agree}")
        if self.alternatives:
            others = [" and ".join(map(cause, each)) for each in self.alternatives]
            more_ways = f" (and in {len(others) - _MAX_OTHERS} more ways)" if len(others) > _MAX_OTHERS else ""
            sentences.append(f"These numbers would be the same if {' or if '.join(others[:_MAX_OTHERS])}{more_ways}.")
        sentences += filter(None, (CAUSES[each.id].on_purpose for each in self.causes))
        if more:
            so = "Read so" if all(each.id == WRONG_AXES for each in self.causes) else "Computed with these mistakes"
            sentences += [*(f"Besides, {cause(each)}." for each in more), f"{so}, {agree}"]
        return sentences if self.explained else [*sentences, "Something else differs too.", *self.skipped_checks]


def _which(sentences: Sequence[int]) -> str:
    numbers = listed([str(each + 1) for each in sentences])
    return f"Sentence {numbers} differs" if len(sentences) == 1 else f"Sentences {numbers} differ"


def _agreeing(stages: tuple[Agreement, ...]) -> str:
    titles = [title(each.stage) for each in stages]
    return f"{capital(listed(titles))} {'agree' if len(titles) > 1 or titles[0].endswith('s') else 'agrees'}"
