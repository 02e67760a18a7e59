"""Questions answered by filling in the gaps of a small table, whose columns are words."""

from __future__ import annotations

from msgspec import field, structs

from attnviz.contract.lesson import Gap, GapsCell
from attnviz.contract.lesson import Gaps as GapsQuestion
from attnviz.contract.lesson import GapsRow as Row
from attnviz.lessons.cell_reference import PATTERN, LessonError, Passes, find
from attnviz.lessons.questions.numbers import half_a_digit, nears
from attnviz.lessons.questions.spec import FileStruct, QuestionSpec, computed_from
from attnviz.lessons.slots import evaluate, fill_slots, format_number, quantity
from attnviz.lessons.wrong_answers import WrongAnswer, wrong_answers

_HALF_A_HUNDREDTH = 0.005 + 1e-9  # the least tolerance: a fraction may be typed with two decimals


class WrongGap(FileStruct, frozen=True):
    """A wrong number that learners may arrive at in a gap."""

    at: str  # the word of its column
    of: str  # the expression that gives it
    feedback: str = field(name="told")  # what the number is, with slots


class GapsRow(FileStruct, frozen=True):
    """A row of the table."""

    name: str
    of: tuple[str, ...]  # a cell or an expression for each word
    form: str = ""  # the number format, as in a slot
    gaps: tuple[str, ...] = ()  # the words whose numbers are to be filled in
    tolerance: float = 0.0  # 0 for half of the last written digit
    wrong: tuple[WrongGap, ...] = ()

    def row(self, words: tuple[str, ...], passes: Passes) -> Row:
        """The row as the browser receives it."""
        if len(self.of) != len(words):
            raise LessonError(f"A row has a number for each of {len(words)} words; {self.name} has {len(self.of)}.")
        unknown = {*self.gaps, *(each.at for each in self.wrong)} - {*words}
        if unknown:
            raise LessonError(f"A gap is at one of {', '.join(words)}; got {', '.join(sorted(unknown))}.")
        cells = zip(words, self.of, strict=True)
        return Row(name=self.name, cells=[self._cell(word, of, passes) for word, of in cells])

    def _cell(self, word: str, of: str, passes: Passes) -> GapsCell:
        gap = self._gap(word, of, passes) if word in self.gaps else None
        return GapsCell(text=[tuple(quantity(of, self.form, passes))], gap=gap)

    def _gap(self, word: str, of: str, passes: Passes) -> Gap:
        right, by = float(evaluate(of, passes)), 100 if self.form == "%" else 1
        text = format_number(right, self.form)
        is_decimal = self.form == "%" or "." in text
        tolerance = self.tolerance or (half_a_digit(text) if is_decimal else _HALF_A_HUNDREDTH)
        wrong: list[WrongAnswer] = [
            (float(evaluate(each.of, passes)), fill_slots(each.feedback, passes))
            for each in self.wrong
            if each.at == word
        ]
        if PATTERN.fullmatch(of):
            wrong += wrong_answers(find(of, passes))
        found = nears(right, tolerance / by, wrong, self.form)
        in_form = [structs.replace(each, value=by * each.value, tolerance=tolerance) for each in found]
        return Gap(value=by * right, tolerance=tolerance, nears=in_form)


class Gaps(QuestionSpec, tag="gaps", frozen=True):
    """A table with gaps."""

    words: tuple[str, ...]
    rows: tuple[GapsRow, ...]

    def question(self, passes: Passes) -> GapsQuestion:
        if len({*self.words}) < len(self.words) or not any(row.gaps for row in self.rows):
            raise LessonError("A table has different words, and at least one gap.")
        rows = [row.row(self.words, passes) for row in self.rows]
        return GapsQuestion(prompt=fill_slots(self.prompt, passes), words=list(self.words), rows=rows)

    def covers(self, passes: Passes) -> set[str]:
        """The stages of the gaps that are cells, and all that is computed from them."""
        filled = [of for row in self.rows for word, of in zip(self.words, row.of, strict=True) if word in row.gaps]
        names = {find(of, passes).stage.name for of in filled if PATTERN.fullmatch(of)}
        return computed_from(passes.trace(), names)
