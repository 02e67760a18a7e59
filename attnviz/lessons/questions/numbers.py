"""Questions answered by a number: a cell or an expression, an attention weight, a count."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from msgspec import UNSET, field

from attnviz.contract.lesson import Fill, LessonRuns, Near
from attnviz.core.stage import split_layer
from attnviz.lessons.cell_reference import PATTERN, LessonError, Passes, Reference, find, noun
from attnviz.lessons.figures import figure, mask_of
from attnviz.lessons.questions.spec import ExpressionSpec, FileStruct, QuestionSpec, cell_of, computed_from
from attnviz.lessons.slots import evaluate, fill_slots, format_number, sentence
from attnviz.lessons.wrong_answers import WrongAnswer, wrong_answers


class Wrong(FileStruct, frozen=True):
    """A wrong number that learners may arrive at."""

    of: str  # the expression that gives it
    feedback: str = field(name="told")  # what the number is, with slots


class Number(ExpressionSpec, tag="number", frozen=True):
    """A number to fill in."""

    form: str = ""  # how it is written, as in a slot
    tolerance: float = 0.0  # 0 for half of the last written digit; a larger one is added to the prompt
    parts: int = 1  # how many rounded numbers the answer adds up; the tolerance grows with it
    wrong: tuple[Wrong, ...] = ()  # wrong expressions that learners may compute
    beside: str = ""  # a similar cell to point at, if the picture doesn't show the asked one

    def question(self, passes: Passes) -> Fill:
        right = evaluate(self.of, passes)
        text = format_number(right, self.form)
        tolerance = self.tolerance or self.parts * half_a_digit(text)
        is_stated = self.tolerance > half_a_digit(text)
        wrong = computed(self.wrong, passes)
        if PATTERN.fullmatch(self.of):
            wrong += wrong_answers(find(self.of, passes))
        return Fill(
            prompt=[*fill_slots(self.prompt, passes), *(leeway(tolerance) if is_stated else ())],
            right=right,
            text=text,
            tolerance=tolerance,
            is_share=False,
            nears=nears(right, tolerance, wrong, self.form),
        )

    def asked_cell(self, passes: Passes) -> str | None:
        return cell_of(self.beside or self.of, passes)


def half_a_digit(text: str) -> float:
    """Half a unit of the last written digit, plus a little for rounding."""
    decimals = len(text.partition(".")[2])
    return 0.5 * 10.0**-decimals + 1e-9


def computed(wrong: Sequence[Wrong], passes: Passes) -> list[WrongAnswer]:
    """The wrong numbers that a lesson's file lists."""
    return [(float(evaluate(each.of, passes)), fill_slots(each.feedback, passes)) for each in wrong]


def leeway(tolerance: float, unit: str = "") -> LessonRuns:
    """The part of a prompt that states the tolerance."""
    off = f"{tolerance:g} {unit}".strip()
    return sentence(f" Within {off} counts as right.")


def nears(right: float, tolerance: float, misread: Sequence[WrongAnswer], form: str = "") -> list[Near]:
    """Wrong numbers with feedback, without duplicates and without any that counts as right; `form` writes them."""
    taken, wrong = [right], []
    for number, text in misread:
        if all(abs(number - each) > 2 * tolerance for each in taken):
            taken.append(number)
            told = sentence(text, number=["", _format_wrong(number, form)]) if isinstance(text, str) else text
            wrong.append(Near(value=number, tolerance=tolerance, feedback=told))
    return wrong


def _format_wrong(number: float, form: str) -> str:
    """A wrong number as its question writes numbers; one that is no simple fraction as usual."""
    is_whole = float(number).is_integer() and form in ("", "fraction")
    if is_whole:
        return format_number(int(number)).replace("-", "−")
    return format_number(number, "" if form == "fraction" else form)


_SCORES = {"attention": "scaled", "probabilities": "logits"}  # the scores that the softmax of each reads


class Percentage(ExpressionSpec, tag="share", frozen=True):
    """An attention weight, a probability or another fraction to guess, in per cent."""

    tolerance: float = 0.05  # added to the prompt
    wrong: tuple[Wrong, ...] = ()  # wrong expressions that learners may guess

    def question(self, passes: Passes) -> Fill:
        right, cell = float(evaluate(self.of, passes)), self._cell(passes)
        if not 0 <= right <= 1:
            raise LessonError(f"A percentage is of a number from 0 to 1; {self.of} is {right}.")
        wrong = [*computed(self.wrong, passes), *(wrong_answers(cell) if cell else ())]
        return Fill(
            prompt=[*fill_slots(self.prompt, passes), *leeway(100 * self.tolerance, "points")],
            right=right,
            text=format_number(right, "%"),
            tolerance=self.tolerance,
            is_share=True,
            lead=lead(cell) if cell else UNSET,
            score=noun(_SCORES[split_layer(cell.stage.name)[0]]) if cell else "",
            nears=nears(right, self.tolerance / 2, wrong, "%"),
        )

    def _cell(self, passes: Passes) -> Reference | None:
        ref = find(self.of, passes) if PATTERN.fullmatch(self.of) else None
        if ref and split_layer(ref.stage.name)[0] not in _SCORES:
            raise LessonError(f"A percentage is an attention weight or a probability; got {self.of}.")
        return ref


def lead(ref: Reference) -> tuple[float, float]:
    """A weight's own score, and the log-sum-exp of the others."""
    scores = ref.trace[ref.stage.inputs[0]].value[ref.index[:-1]]
    others = np.delete(scores, ref.index[-1])
    visible = others[np.isfinite(others)]
    if not len(visible) or np.isneginf(scores[ref.index[-1]]):
        raise LessonError(
            f"A percentage is asked of a row in which several are visible; {ref.cell} is alone or hidden."
        )
    largest = visible.max()
    return float(scores[ref.index[-1]]), float(largest + np.log(np.exp(visible - largest).sum()))


_COUNTED_ON = {"hidden": "mask", "visible": "mask", "differing": "attention"}  # the stage that shows a count


class Count(QuestionSpec, tag="count", frozen=True):
    """How many."""

    of: str  # a figure of the pass (see `figures`), without "count."; perhaps after "A."
    unit: str  # what is counted, in the plural

    def question(self, passes: Passes) -> Fill:
        prefix, _, name = self.of.rpartition(".")
        right = figure(f"{prefix}.count.{name}".lstrip("."), passes)
        wrong = _WRONG_COUNTS[name](passes) if name in _WRONG_COUNTS else ()
        return Fill(
            prompt=fill_slots(self.prompt, passes),
            right=right,
            text=format_number(right),
            tolerance=0.0,
            is_share=False,
            nears=nears(right, 0.0, wrong),
            unit=self.unit,
        )

    def covers(self, passes: Passes) -> set[str]:
        trace = passes.trace()
        names = [layer.names[_COUNTED_ON[self.of]] for layer in trace.layers if self.of in _COUNTED_ON]
        return computed_from(trace, names)


def _hidden(passes: Passes) -> list[WrongAnswer]:
    seen = mask_of(passes.trace())
    return [
        (int(seen.sum()), "{number} are visible."),
        (int((~seen).sum() + np.trace(seen)), "{number} would hide each word from itself, too."),
        (int((~(seen & seen.T)).sum()), "{number} would hide each of these pairs the other way round, too."),
        (int((~seen)[0].sum()), "{number} are hidden from the first word."),
        (seen.size / 2, "{number} are half of all pairs."),
        (seen.size, "{number} are all pairs."),
    ]


def _parameters(passes: Passes) -> list[WrongAnswer]:
    trace, right = passes.trace(), figure("count.parameters", passes)
    n_heads = figure("count.heads", passes)
    one = sum(trace[name].size for name in ("w_q", "w_k", "w_v") if name in trace)
    return [
        (right - one + one * n_heads, "{number} would give each head matrices of the full width."),
        (right * n_heads, "{number} would be as many for each head."),
        (right / n_heads, "{number} are one head’s part."),
        (one, "{number} leaves $W^O$ out."),
    ]


def _cached(passes: Passes) -> list[WrongAnswer]:
    every, new = (figure(f"count.multiplications{each}", passes) for each in ("", "_cached"))
    return [
        (every, "{number} are needed if every letter is computed anew."),
        (every - new, "{number} are saved."),
    ]


def _differing(passes: Passes) -> list[WrongAnswer]:
    a, b = (passes.trace(ref)["attention"].value for ref in ("A", "B"))
    placewise = int((~np.isclose(a, b, rtol=0, atol=1e-12)).sum()) if a.shape == b.shape else a.size
    return [
        (placewise, "{number} differ place by place: compare each word with the same word."),
        (b.size, "{number} are all of them."),
    ]


_WRONG_COUNTS: dict[str, Callable[[Passes], list[WrongAnswer]]] = {
    "hidden": _hidden,
    "parameters": _parameters,
    "multiplications_cached": _cached,
    "differing": _differing,
}
