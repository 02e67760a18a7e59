"""Questions answered by a number: a cell or an expression, an attention weight, a count."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from msgspec import UNSET, Struct, field

from attnviz.contract.lesson import Fill, LessonRuns, Near
from attnviz.core.stage import split_layer
from attnviz.lessons.figures import figure, mask_of
from attnviz.lessons.questions.spec import QuestionSpec, cell_of, computed_from, covers_of
from attnviz.lessons.reference import PATTERN, LessonError, Passes, Reference, find, noun
from attnviz.lessons.slots import evaluate, fill_slots, format_number, sentence
from attnviz.lessons.wrong_answers import WrongAnswer, wrong_answers


class Wrong(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A wrong number that learners may arrive at.

    Attributes
    ----------
    of
        The expression that gives it.
    feedback
        What the number is, for feedback.
    """

    of: str
    feedback: str = field(name="told")


class Number(QuestionSpec, tag="number", frozen=True):
    """A number to fill in.

    Attributes
    ----------
    of
        Its cell, or an expression.
    form
        How it is written, as in a slot.
    tolerance
        The tolerance; 0 for half of the last written digit. A larger one is added to the prompt.
    parts
        How many rounded numbers the answer adds up; the tolerance grows with it.
    wrong
        Wrong expressions that learners may compute.
    beside
        A similar cell to point at, if the picture doesn't show the asked one.
    """

    of: str
    form: str = ""
    tolerance: float = 0.0
    parts: int = 1
    wrong: tuple[Wrong, ...] = ()
    beside: str = ""

    def question(self, passes: Passes) -> Fill:
        right = evaluate(self.of, passes)
        text = format_number(right, self.form)
        tolerance = self.tolerance or self.parts * half_a_digit(text)
        return Fill(
            prompt=[
                *fill_slots(self.prompt, passes),
                *(leeway(tolerance) if self.tolerance > half_a_digit(text) else ()),
            ],
            right=right,
            text=text,
            tolerance=tolerance,
            is_share=False,
            nears=nears(right, tolerance, [*computed(self.wrong, passes), *self._misread(passes)]),
        )

    def covers(self, passes: Passes) -> set[str]:
        return covers_of(self.of, passes)

    def asked_cell(self, passes: Passes) -> str | None:
        return cell_of(self.beside or self.of, passes)

    def _misread(self, passes: Passes) -> list[WrongAnswer]:
        return wrong_answers(find(self.of, passes)) if PATTERN.fullmatch(self.of) else []


def half_a_digit(text: str) -> float:
    """Half a unit of the last written digit, plus a little for rounding."""
    decimals = len(text.partition(".")[2])
    return 0.5 * 10.0**-decimals + 1e-9


def computed(wrong: Sequence[Wrong], passes: Passes) -> list[WrongAnswer]:
    """The wrong numbers that a lesson's file lists."""
    return [(float(evaluate(each.of, passes)), each.feedback) for each in wrong]


def leeway(tolerance: float, unit: str = "") -> LessonRuns:
    """The part of a prompt that states the tolerance."""
    return sentence(f" Up to {f'{tolerance:g} {unit}'.strip()} off counts as right.")


def nears(right: float, tolerance: float, misread: Sequence[WrongAnswer]) -> list[Near]:
    """Wrong numbers with feedback, without duplicates and without any that counts as right."""
    taken, wrong = [right], []
    for number, text in misread:
        if all(abs(number - each) > 2 * tolerance for each in taken):
            taken.append(number)
            wrong.append(Near(value=number, tolerance=tolerance, feedback=sentence(text)))
    return wrong


_SCORES = {"attention": "scaled", "probabilities": "logits"}
"""Stages of attention weights and probabilities, each with the scores that its softmax reads."""


class Share(QuestionSpec, tag="share", frozen=True):
    """An attention weight to guess.

    Attributes
    ----------
    of
        Its cell, or an expression.
    tolerance
        The tolerance, added to the prompt.
    wrong
        Wrong expressions that learners may guess.
    """

    of: str
    tolerance: float = 0.05
    wrong: tuple[Wrong, ...] = ()

    def question(self, passes: Passes) -> Fill:
        right, cell = float(evaluate(self.of, passes)), self._cell(passes)
        if not 0 <= right <= 1:
            raise LessonError(f"A share lies between 0 and 1; {self.of} is {right}.")
        return Fill(
            prompt=[*fill_slots(self.prompt, passes), *leeway(100 * self.tolerance, "points")],
            right=right,
            text=format_number(right, "%"),
            tolerance=self.tolerance,
            is_share=True,
            lead=lead(cell) if cell else UNSET,
            score=noun(_SCORES[split_layer(cell.stage.name)[0]]) if cell else "",
            nears=nears(
                right, self.tolerance / 2, [*computed(self.wrong, passes), *(wrong_answers(cell) if cell else ())]
            ),
        )

    def covers(self, passes: Passes) -> set[str]:
        return covers_of(self.of, passes)

    def asked_cell(self, passes: Passes) -> str | None:
        return cell_of(self.of, passes)

    def _cell(self, passes: Passes) -> Reference | None:
        if not PATTERN.fullmatch(self.of):
            return None
        of = find(self.of, passes)
        if split_layer(of.stage.name)[0] not in _SCORES:
            raise LessonError(f"A share is one of attention or of probabilities; got {self.of}.")
        return of


def lead(of: Reference) -> tuple[float, float]:
    """A weight's own score, and the log-sum-exp of the others."""
    scores = of.trace[of.stage.inputs[0]].value[of.index[:-1]]
    others = np.delete(scores, of.index[-1])
    visible = others[np.isfinite(others)]
    if not len(visible) or np.isneginf(scores[of.index[-1]]):
        raise LessonError(f"A share is asked of a row in which several are visible; {of.cell} is alone or hidden.")
    largest = visible.max()
    return float(scores[of.index[-1]]), float(largest + np.log(np.exp(visible - largest).sum()))


Reading = tuple[float, str]


class Count(QuestionSpec, tag="count", frozen=True):
    """How many.

    Attributes
    ----------
    of
        A figure of the pass (see `figures`), without "count."; perhaps after "A.".
    unit
        What is counted, in the plural.
    """

    of: str
    unit: str

    def question(self, passes: Passes) -> Fill:
        prefix, _, name = self.of.rpartition(".")
        right = figure(f"{prefix}.count.{name}".lstrip("."), passes)
        nears: dict[float, Near] = {}
        for wrong, text in _NEARS.get(name, lambda passes: ())(passes):
            if wrong != right and wrong not in nears:
                nears[wrong] = Near(value=wrong, tolerance=0.0, feedback=sentence(text))
        return Fill(
            prompt=fill_slots(self.prompt, passes),
            right=right,
            text=format_number(right),
            tolerance=0.0,
            is_share=False,
            nears=list(nears.values()),
            unit=self.unit,
        )

    def covers(self, passes: Passes) -> set[str]:
        trace = passes.trace()
        names = [layer.names[stage] for layer in trace.layers for stage in _GIVING.get(self.of, ())]
        return computed_from(trace, names)


_GIVING = {"hidden": ("mask",), "visible": ("mask",), "differing": ("attention",)}
"""The stages on which the answer could be counted."""


def _hidden(passes: Passes) -> list[Reading]:
    seen = mask_of(passes.trace())
    return [
        (int(seen.sum()), "That is how many are visible."),
        (int((~seen).sum() + np.trace(seen)), "That hides each word from itself, too."),
        (int((~(seen & seen.T)).sum()), "That hides each of these pairs the other way round, too."),
        (int((~seen)[0].sum()), "That is how many are hidden from the first word."),
        (seen.size / 2, "That is half of all pairs."),
        (seen.size, "That is all pairs."),
    ]


def _parameters(passes: Passes) -> list[Reading]:
    trace, right = passes.trace(), figure("count.parameters", passes)
    n_heads = figure("count.heads", passes)
    one = sum(trace[name].size for name in ("w_q", "w_k", "w_v") if name in trace)
    return [
        (right - one + one * n_heads, "That would give each head matrices of the full width."),
        (right * n_heads, "That is as many for each head."),
        (right / n_heads, "That is one head’s part."),
        (one, "That leaves $W^O$ out."),
    ]


def _cached(passes: Passes) -> list[Reading]:
    every, new = (figure(f"count.multiplications{each}", passes) for each in ("", "_cached"))
    return [
        (every, "That is how many there are if every letter is computed anew."),
        (every - new, "That is how many are saved."),
    ]


def _differing(passes: Passes) -> list[Reading]:
    a, b = (passes.trace(of)["attention"].value for of in ("A", "B"))
    placewise = int((~np.isclose(a, b, rtol=0, atol=1e-12)).sum()) if a.shape == b.shape else a.size
    return [
        (placewise, "That compares place by place: compare each word with the same word."),
        (b.size, "That is all of them."),
    ]


_NEARS: dict[str, Callable[[Passes], list[Reading]]] = {
    "hidden": _hidden,
    "parameters": _parameters,
    "multiplications_cached": _cached,
    "differing": _differing,
}
