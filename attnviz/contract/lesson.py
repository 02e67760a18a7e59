"""A lesson, as the browser reads it: one moment after the other, each with its picture, its text and its question."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType, field

from attnviz.contract.document import Document
from attnviz.contract.sent import Cell, Name, NonEmpty, Place, Sent, Style


class NumberLink(Sent):
    """A number of a pass within a text, which leads to its cell.

    Attributes
    ----------
    cell
        Where it stands.
    of
        In which pass: that on the screen, B, or the one beside it, A.
    """

    text: NonEmpty
    cell: Cell
    of: Literal["A", "B"] = "B"


LessonRuns = list[tuple[Style | Literal["number"], str | NumberLink]]
"""A text; a run of style "number" is a `NumberLink`."""


class Candidate(Sent):
    """One of the answers that a person may give.

    Attributes
    ----------
    label
        As it is written: a word, “more”, a line of code.
    word
        The place of the word in the sentence that it stands for, where one clicks words.
    cell
        The cell that it stands for, where one clicks cells.
    feedback
        What this answer would be right for, or why it is the right one.
    """

    label: NonEmpty
    feedback: LessonRuns
    word: Place | UnsetType = UNSET
    cell: Cell | UnsetType = UNSET


class Pick(Sent, tag_field="kind", tag="pick"):
    """A question that is answered by a click on a word or a cell of the picture, or on its label.

    Attributes
    ----------
    right
        The places of the right ones among the candidates; several where they tie.
    """

    prompt: LessonRuns
    candidates: Annotated[list[Candidate], Meta(min_length=2)]
    right: Annotated[list[Place], Meta(min_length=1)]


class Choose(Sent, tag_field="kind", tag="choose"):
    """A question with a few answers, as buttons; as lines of code where `is_code`."""

    prompt: LessonRuns
    candidates: Annotated[list[Candidate], Meta(min_length=2)]
    right: Annotated[list[Place], Meta(min_length=1)]
    is_code: bool = False


class Near(Sent):
    """A wrong number, and what it is the answer to."""

    value: float
    tolerance: float
    feedback: LessonRuns


class Fill(Sent, tag_field="kind", tag="fill"):
    """A question whose answer is a number: on a slider where it is a share, else typed.

    Attributes
    ----------
    right, text
        The answer, and how it is written.
    tolerance
        How far an answer may be from it.
    is_share
        From 0 to 1, asked in per cent.
    lead
        For a share: the scaled score of its cell, and the logarithm of the sum of the other cells' exponentials. A
        share p would need a score of log(p / (1 - p)) more than the latter.
    score
        For a share: what its score is called.
    unit
        What is counted; empty for a plain number.
    nears
        What wrong numbers are the answers to.
    """

    prompt: LessonRuns
    right: float
    text: NonEmpty
    tolerance: Annotated[float, Meta(ge=0)]
    is_share: bool
    nears: list[Near]
    lead: tuple[float, float] | UnsetType = UNSET
    score: str = ""
    unit: str = ""


Question = Pick | Choose | Fill


class WrongMask(Sent, tag_field="kind", tag="mistake"):
    """A word's shares beside those that a mistake with the mask gives it.

    Attributes
    ----------
    name
        What went wrong, in a sentence.
    query
        The word whose shares they are.
    sides
        What the right shares and the wrong ones are called.
    words, hidden
        The words that it may look at or not, and which of them are hidden.
    right, wrong
        Its shares; null where they are no numbers.
    right_sum, wrong_sum
        What they add up to.
    laws
        Those that the wrong ones break, each in a sentence.
    """

    name: NonEmpty
    query: NonEmpty
    sides: tuple[NonEmpty, NonEmpty]
    words: list[NonEmpty]
    hidden: list[bool]
    right: list[float]
    wrong: list[float | None]
    right_sum: float
    wrong_sum: float | None
    laws: list[NonEmpty]


class SweptLength(Sent):
    """Random scores of one d_k: their spread and histogram, and what a softmax makes of them.

    Attributes
    ----------
    spread, expected
        Measured, and by the law of sums of independent products.
    counts
        Of pairs, from the lowest score to the highest.
    shares
        Of one row.
    largest, slope
        The largest share of a row and the slope of a share, on average.
    """

    d_k: int
    spread: float
    expected: float
    counts: list[int]
    shares: list[float]
    largest: float
    slope: float


class SweptDivisor(Sent):
    """The sweep with one divisor.

    Attributes
    ----------
    id, label
        Of the divisor: the label as it is written.
    reach
        How far from 0 the histograms reach, on both sides.
    """

    id: Name
    label: NonEmpty
    reach: float
    lengths: list[SweptLength]


class Sweep(Sent, tag_field="kind", tag="sweep"):
    """Random scores at one d_k after the other, for several divisors.

    Attributes
    ----------
    n_pairs
        How many pairs each histogram counts.
    divisors
    divisor, d_k
        What is asked about, and shown with the answer; until then d_k is smaller.
    offered
        The ids of the divisors to choose from; others are asked about later.
    """

    n_pairs: int
    offered: list[Name]
    divisors: list[SweptDivisor]
    divisor: Name
    d_k: int


OwnPicture = WrongMask | Sweep


class WorkingTable(Sent):
    """Numbers that a number is computed from: a line for each of the places that it adds up over, or for each of them.

    Attributes
    ----------
    heads
        What stands in each column, in its role's colour; the first is what the lines count. Empty where each line is of
        another thing.
    lines
        The name of each line, and its numbers as they are written.
    """

    heads: list[tuple[Style, NonEmpty]]
    lines: Annotated[list[list[NonEmpty]], Meta(min_length=1)]


class Working(Sent):
    """What a number that is asked for is computed from; the number itself is none of it.

    Attributes
    ----------
    formula
        That of its stage, in symbols, as LaTeX.
    """

    formula: NonEmpty
    tables: Annotated[list[WorkingTable], Meta(min_length=1)]


class Ending(Sent):
    """The end of a lesson: a question to explain in one's own words, kept nowhere, and an answer to compare."""

    explain: LessonRuns
    answer: LessonRuns


class Moment(Sent):
    """A moment of a lesson, or of a talk of somebody's own.

    Attributes
    ----------
    title
        The moment's own; empty where it has none.
    text, after
        What is said before the answer, and with it.
    covers
        The stages whose numbers would give the answer away: covered until it is shown.
    asked_cell, answer_cell
        The cells of the picture that the question is about, and that the answer is read off; null where none is.
    says_words_alone
        Whether the sentence is all that stands in the picture until the answer is shown.
    at
        The address of its scene, for "look around from here".
    notes
        For the speaker; empty where there are none.
    working
        What the number that is asked for is computed from, for a class that is asked for one; null in other moments.
    picture
        What it shows in place of the picture of its pass; null where it shows that.
    document
        The pass that it shows.
    """

    title: str
    text: LessonRuns
    after: LessonRuns
    question: Question | None
    covers: list[Name]
    asked_cell: Cell | None
    answer_cell: Cell | None
    says_words_alone: bool
    at: str
    notes: str
    ending: Ending | None
    working: Working | None
    picture: OwnPicture | None
    document: Document


class LessonEntry(Sent):
    """A lesson in the list of all.

    Attributes
    ----------
    planned
        The minutes that a speaker has planned for each moment; empty where nobody has.
    """

    id: Name
    name: NonEmpty
    says: NonEmpty
    minutes: Annotated[int, Meta(ge=1)]
    n_moments: Annotated[int, Meta(ge=1)]
    planned: list[float] = field(default_factory=list)


class LessonsPage(Sent):
    """The page of lessons: their list, from which the browser asks for one moment after the other.

    Attributes
    ----------
    own_sentence
        The address of one's own sentence in the walkthrough.
    """

    lessons: list[LessonEntry]
    own_sentence: str
