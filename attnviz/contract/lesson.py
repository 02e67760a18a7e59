"""Lessons and talks: moments with their picture, text and question, and the server's replies on a talk."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType, field

from attnviz.contract.base import Cell, Name, NonEmpty, Place, Sent, Style
from attnviz.contract.document import Document


class NumberLink(Sent):
    """A number of a pass within a text, which links to its cell.

    Attributes
    ----------
    cell
        Its cell.
    of
        Its pass: the one on the screen, B, or the one compared with it, A.
    """

    text: NonEmpty
    cell: Cell
    of: Literal["A", "B"] = "B"


LessonRuns = list[tuple[Style | Literal["number"], str | NumberLink]]
"""A text, in which a run of style "number" is a `NumberLink`."""


class Candidate(Sent):
    """One of the answers to choose from.

    Attributes
    ----------
    label
        A word, “more”, a line of code.
    word
        The index of its word in the sentence, if one clicks words.
    cell
        Its cell, if one clicks cells.
    feedback
        What this would be the answer to, or why it is right.
    """

    label: NonEmpty
    feedback: LessonRuns
    word: Place | UnsetType = UNSET
    cell: Cell | UnsetType = UNSET


class Pick(Sent, tag_field="kind", tag="pick"):
    """A question that is answered by clicking a word or a cell of the picture, or its label.

    Attributes
    ----------
    right
        The indices of the right candidates; several if they tie.
    """

    prompt: LessonRuns
    candidates: Annotated[list[Candidate], Meta(min_length=2)]
    right: Annotated[list[Place], Meta(min_length=1)]


class Choose(Sent, tag_field="kind", tag="choose"):
    """A question with a few answers as buttons, or as lines of code."""

    prompt: LessonRuns
    candidates: Annotated[list[Candidate], Meta(min_length=2)]
    right: Annotated[list[Place], Meta(min_length=1)]
    is_code: bool = False


class Near(Sent):
    """A wrong number, and what it would be the answer to."""

    value: float
    tolerance: float
    feedback: LessonRuns


class Fill(Sent, tag_field="kind", tag="fill"):
    """A question whose answer is a number, typed, or set on a slider if it is a share.

    Attributes
    ----------
    right, text
        The answer, and how it is written.
    tolerance
        How far an answer may be off.
    is_share
        Whether it is from 0 to 1, asked in per cent.
    lead
        For a share: the scaled score of its cell, and the logarithm of the sum of the other cells' exponentials. A
        share p would need a score of log(p / (1 - p)) more than the latter.
    score
        For a share: what its score is called.
    unit
        The unit of a count; empty for a plain number.
    nears
        Wrong numbers with feedback of their own.
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
    """A word's attention weights beside those that a mistake with the mask gives.

    Attributes
    ----------
    name
        What went wrong, in a sentence.
    query
        The word whose attention weights they are.
    sides
        Labels of the right and the wrong weights.
    words, hidden
        The words along the keys, and whether each is hidden.
    right, wrong
        Its attention weights; null for NaN.
    right_sum, wrong_sum
        What they add up to.
    laws
        The laws that the wrong weights break, a sentence each.
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
        The spread as measured, and as the law of sums of independent products has it.
    counts
        The histogram, from the lowest score to the highest.
    shares
        The attention weights of one row.
    largest, slope
        The mean of a row's largest attention weight, and of the slope of a weight.
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
        The divisor's id, and how it is written.
    reach
        The largest size of score that the histograms show.
    """

    id: Name
    label: NonEmpty
    reach: float
    lengths: list[SweptLength]


class Sweep(Sent, tag_field="kind", tag="sweep"):
    """Random scores at increasing d_k, for several divisors.

    Attributes
    ----------
    n_pairs
        The number of pairs in each histogram.
    divisors
    divisor, d_k
        The ones that the question is about. A smaller d_k is shown until the answer.
    offered
        The ids of the divisors to choose from; later questions are about the others.
    """

    n_pairs: int
    offered: list[Name]
    divisors: list[SweptDivisor]
    divisor: Name
    d_k: int


OwnPicture = WrongMask | Sweep


class WorkingTable(Sent):
    """Numbers that another is computed from: a line per term of its sum, or per number.

    Attributes
    ----------
    heads
        The heads of columns, in their role's colour; the first is what lines count. Empty if lines are unlike.
    lines
        The name of each line, and its numbers as text.
    """

    heads: list[tuple[Style, NonEmpty]]
    lines: Annotated[list[list[NonEmpty]], Meta(min_length=1)]


class Working(Sent):
    """The computation of a number that is asked for, without the number itself.

    Attributes
    ----------
    formula
        The formula of its stage, as LaTeX.
    """

    formula: NonEmpty
    tables: Annotated[list[WorkingTable], Meta(min_length=1)]


class Ending(Sent):
    """The end of a lesson: a question to explain in your own words, which is not saved, and an answer to compare."""

    explain: LessonRuns
    answer: LessonRuns


class Moment(Sent):
    """A moment of a lesson or of a talk.

    Attributes
    ----------
    title
        Its title; empty if it has none.
    text, after
        The texts before and after the answer.
    covers
        The stages whose numbers would give the answer away; they are covered until it is shown.
    asked_cell, answer_cell
        The cells that the question is about, and that the answer is read off; null if there is none.
    says_words_alone
        Whether the picture shows the sentence alone until the answer.
    at
        The address of its scene in the walkthrough.
    notes
        The speaker's notes; empty if there are none.
    working
        The computation that a class is shown when it is asked for a number; else null.
    picture
        What it shows instead of its pass; null if it shows that.
    document
        Its pass.
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
    """A lesson in the list of lessons.

    Attributes
    ----------
    planned
        The minutes planned for each moment; empty if none are.
    """

    id: Name
    name: NonEmpty
    says: NonEmpty
    minutes: Annotated[int, Meta(ge=1)]
    n_moments: Annotated[int, Meta(ge=1)]
    planned: list[float] = field(default_factory=list)


class LessonsPage(Sent):
    """The page of lessons: their list; the browser requests their moments one by one.

    Attributes
    ----------
    own_sentence
        The address of the user's own sentence in the walkthrough.
    """

    lessons: list[LessonEntry]
    own_sentence: str


class OfferedQuestion(Sent):
    """A question that can be asked about a scene.

    Attributes
    ----------
    ask
        The question as in a talk's file.
    answer
        The answer in words.
    """

    ask: dict[str, Any]
    answer: NonEmpty


class OfferedQuestions(Sent):
    """The questions that can be asked about a scene."""

    questions: list[OfferedQuestion]


class OwnTalk(Sent):
    """A talk's title, its moments as in its file, and the uploaded files that they show, by name."""

    title: str
    moment: list[dict[str, Any]]
    uploads: dict[str, str]


class OpenedTalk(Sent):
    """The talk read from a file, a link or a lesson."""

    talk: OwnTalk


class WrittenFile(Sent):
    """A talk as a file, or its questions."""

    file: str


class WrittenPage(Sent):
    """A talk as one HTML file."""

    page: NonEmpty


class ShownUploads(Sent):
    """The uploaded files that a scene shows, as base64, by name."""

    uploads: dict[str, str]
