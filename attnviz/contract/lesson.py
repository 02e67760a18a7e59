"""Lessons and talks: moments with their picture, text and question, and the server's replies on a talk."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType, field

from attnviz.contract.base import Cell, Name, NonEmpty, Place, Runs, Sent, Slug, Style
from attnviz.contract.document import Document


class NumberLink(Sent):
    """A number of a pass within a text, which links to its cell."""

    text: NonEmpty
    cell: Cell
    of: Literal["A", "B"] = "B"  # its pass: the one on the screen, B, or the one compared with it, A


# a text, in which a run of style "number" is a `NumberLink`
LessonRuns = list[tuple[Style | Literal["number"], str | NumberLink]]


class Candidate(Sent):
    """One of the answers to choose from."""

    label: NonEmpty  # a word, “more”, a line of code
    feedback: LessonRuns  # what this would be the answer to, or why it is right
    word: Place | UnsetType = UNSET  # the index of its word in the sentence, if one clicks words
    cell: Cell | UnsetType = UNSET


class Pick(Sent, tag_field="kind", tag="pick"):
    """A question that is answered by clicking a word or a cell of the picture, or its label."""

    prompt: LessonRuns
    candidates: Annotated[list[Candidate], Meta(min_length=2)]
    right: Annotated[list[Place], Meta(min_length=1)]  # the indices of the right candidates; several if they tie


class Choose(Sent, tag_field="kind", tag="choose"):
    """A question with a few answers as buttons, or as lines of code."""

    prompt: LessonRuns
    candidates: Annotated[list[Candidate], Meta(min_length=2)]
    right: list[Place]  # empty where an opinion is asked
    is_code: bool = False


class Near(Sent):
    """A wrong number, and what it would be the answer to."""

    value: float
    tolerance: float
    feedback: LessonRuns


class Fill(Sent, tag_field="kind", tag="fill"):
    """A question whose answer is a number, typed, or set on a slider if it is a share."""

    prompt: LessonRuns
    right: float | None  # null where any number is an answer
    text: str  # how the answer is written; empty without a right one
    tolerance: Annotated[float, Meta(ge=0)]  # how far an answer may be off
    is_share: bool  # whether it is from 0 to 1, asked in per cent
    nears: list[Near]  # wrong numbers with feedback of their own
    # for a share: the scaled score of its cell, and the logarithm of the sum of the others' exponentials; a share p
    # would need a score of log(p / (1 - p)) more than that
    lead: tuple[float, float] | UnsetType = UNSET
    score: str = ""  # for a share: what its score is called
    unit: str = ""  # the unit of a count; empty for a plain number


class Gap(Sent):
    """A cell to fill in."""

    value: float  # the right number as one types it: in per cent where its text is
    tolerance: Annotated[float, Meta(ge=0)]  # how far an answer may be off
    nears: list[Near]  # wrong numbers with feedback of their own


class GapsCell(Sent):
    """A number of a table with gaps."""

    text: LessonRuns  # the number as it is written, linked to its cell
    gap: Gap | None  # null where the number is given


class GapsRow(Sent):
    """A row of a table with gaps."""

    name: NonEmpty
    cells: Annotated[list[GapsCell], Meta(min_length=1)]  # one for each word


class Gaps(Sent, tag_field="kind", tag="gaps"):
    """A table in which the numbers of some cells are to be filled in."""

    prompt: LessonRuns
    words: Annotated[list[NonEmpty], Meta(min_length=1)]  # the heads of its columns
    rows: Annotated[list[GapsRow], Meta(min_length=1)]

    @property
    def gaps(self) -> list[Gap]:
        """Its gaps in reading order."""
        return [cell.gap for row in self.rows for cell in row.cells if cell.gap]


class Write(Sent, tag_field="kind", tag="write"):
    """A question of a talk that a class answers in a few words of its own; it has no right answer."""

    prompt: LessonRuns


Question = Pick | Choose | Fill | Gaps | Write


class WrongMask(Sent, tag_field="kind", tag="mistake"):
    """A word's attention weights beside those that a mistake with the mask gives."""

    name: NonEmpty  # what went wrong, in a sentence
    query: NonEmpty  # the word whose attention weights they are
    sides: tuple[NonEmpty, NonEmpty]  # labels of the right and the wrong weights
    words: list[NonEmpty]  # along the keys
    hidden: list[bool]  # whether each of them is hidden
    right: list[float]  # its attention weights; null for NaN
    wrong: list[float | None]
    right_sum: float  # what they add up to
    wrong_sum: float | None
    laws: list[NonEmpty]  # the laws that the wrong weights break, a sentence each


class SweptLength(Sent):
    """Random scores of one d_k: their spread and histogram, and what a softmax makes of them."""

    d_k: int
    spread: float
    expected: float  # the spread that the law of sums of independent products gives
    counts: list[int]  # the histogram, from the lowest score to the highest
    shares: list[float]  # the attention weights of one row
    largest: float  # the mean of a row's largest attention weight
    slope: float  # the mean of the slope of an attention weight


class SweptDivisor(Sent):
    """The sweep with one divisor."""

    id: Name
    label: NonEmpty  # how the divisor is written
    reach: float  # the largest size of score that the histograms show
    lengths: list[SweptLength]


class Sweep(Sent, tag_field="kind", tag="sweep"):
    """Random scores at increasing d_k, for several divisors."""

    n_pairs: int  # the number of pairs in each histogram
    offered: list[Name]  # the ids of the divisors to choose from; later questions are about the others
    divisors: list[SweptDivisor]
    divisor: Name  # the one that the question is about
    d_k: int  # the one that the question is about; a smaller one is shown until the answer


class Slide(Sent, tag_field="kind", tag="slide"):
    """A plain slide of a talk."""

    text: str
    items: list[NonEmpty]  # of a list
    image: str  # as a data URL; empty without one
    alt: str  # the image in words


OwnPicture = WrongMask | Sweep | Slide


class GivenRow(Sent):
    """Numbers that a question needs, as the picture writes them."""

    name: NonEmpty  # what they are: “scores of “cat””
    labels: list[str]  # of each number: the word, or the number of its dimension; one empty label for a single number
    texts: Annotated[list[NonEmpty], Meta(min_length=1)]
    along: str = ""  # what the labels number: “dimension”; empty for words


class Glance(Sent):
    """A pass as a phone shows it before its viewer is loaded: its words, and where they look."""

    words: Annotated[list[NonEmpty], Meta(min_length=1)]  # the queries' words
    keys: list[NonEmpty] | None  # those of another text, which they read; null where it is the same
    sides: tuple[str, str]  # what the queries' text and the keys' are called; empty where there is one
    query: Place  # the selected word
    stage: Name  # the stage that the weights are of
    arcs: list[tuple[Place, Place, float]]  # a query, a key, and a weight of at least 1 %
    title: str  # the step, with its layer
    said: Runs  # what the step does


class WorkedTable(Sent):
    """Numbers that another is computed from: a line per term of its sum, or per number."""

    # The heads of columns, in their role's colour; the first is what lines count. Empty if lines are unlike
    heads: list[tuple[Style, NonEmpty]]
    lines: Annotated[list[list[NonEmpty]], Meta(min_length=1)]  # the name of each line, and its numbers as text


class WorkedSolution(Sent):
    """The computation of a number that is asked for, without the number itself."""

    formula: NonEmpty  # the formula of its stage, as LaTeX
    tables: Annotated[list[WorkedTable], Meta(min_length=1)]


class Ending(Sent):
    """The end of a lesson: a question to explain in your own words, kept in the browser alone, and an answer."""

    explain: LessonRuns
    answer: LessonRuns
    tell: LessonRuns  # the lesson in a sentence, to tell a friend


class Recall(Sent):
    """The moment of an earlier lesson that a moment asks about again."""

    lesson: Slug
    id: Slug
    name: NonEmpty  # the title of that lesson


class Moment(Sent):
    """A moment of a lesson or of a talk."""

    id: str  # its id in its lesson; empty in a talk
    title: str
    recall: Recall | None
    why: LessonRuns  # why the lesson matters, at its first moment; else empty
    is_optional: bool  # whether one goes past it, unless a link opens it
    worked: list[LessonRuns]  # the lines of a worked example, shown one by one between `text` and `after`
    text: LessonRuns  # before the answer
    after: LessonRuns  # after the answer
    question: Question | None
    asks_confidence: bool  # whether a class is also asked how sure it is
    given: list[GivenRow]  # the numbers that the question needs, where the picture has no room for them
    covers: list[Name]  # the stages whose numbers would give the answer away; they are covered until it is shown
    asked_cell: Cell | None  # the cell that the question is about
    answer_cell: Cell | None  # the cell that the answer is read off
    says_words_alone: bool  # whether the picture shows the sentence alone until the answer
    at: str  # the address of its scene in the walkthrough
    notes: str
    ending: Ending | None
    worked_solution: WorkedSolution | None  # shown to a class that is asked for a number
    picture: OwnPicture | None  # what it shows instead of its pass; null if it shows that
    glance: Glance | None  # in what a phone of a class gets; else null
    document: Document | None  # null for a slide, and in what a phone gets first


class MomentEntry(Sent):
    """A moment in the list of lessons."""

    id: Slug
    title: str
    recall: str  # "lesson.id" of the moment that it asks about again; or empty
    is_optional: bool


class ExplainedTerm(Sent):
    """A term that one can explain after a lesson."""

    name: Runs
    moment: Slug  # the id of the moment that explains it


class LessonEntry(Sent):
    """A lesson in the list of lessons."""

    id: Slug
    name: NonEmpty
    says: str
    minutes: Annotated[int, Meta(ge=0)]  # 0 if none are planned, as for a talk
    n_moments: Annotated[int, Meta(ge=1)]
    why: str = ""  # why it matters, in a sentence
    moments: list[MomentEntry] = field(default_factory=list)  # its moments in order; empty for a talk
    terms: list[ExplainedTerm] = field(default_factory=list)  # what one can explain after it
    tell: Runs = field(default_factory=list)  # the lesson in a sentence
    planned: list[float] = field(default_factory=list)  # the minutes planned for each moment; empty if none are


class LessonsPage(Sent):
    """The page of lessons: their list; the browser requests their moments one by one."""

    lessons: list[LessonEntry]
    own_sentence: str  # the address of the user's own sentence in the walkthrough


class SuggestedQuestion(Sent):
    """A question that can be asked about a scene."""

    ask: dict[str, Any]  # the question as in a talk's file
    answer: NonEmpty


class SuggestedQuestions(Sent):
    """The questions that can be asked about a scene."""

    questions: list[SuggestedQuestion]


class OwnTalk(Sent):
    """A talk's title, its moments as in its file, and the images and uploaded files that they show, by name."""

    title: str
    moment: list[dict[str, Any]]
    images: dict[str, str]
    uploads: dict[str, str]


class OpenedTalk(Sent):
    """The talk read from a file, a link or a lesson."""

    talk: OwnTalk


class WrittenFile(Sent):
    """A talk as a file, or its questions."""

    file: str


class Versions(Sent):
    """Passes of a scene that differ in their seeds, for versions of a worksheet."""

    documents: list[Document]


class WrittenPage(Sent):
    """A talk as one HTML file."""

    page: NonEmpty


class ShownUploads(Sent):
    """The uploaded files that a scene shows, as base64, by name."""

    uploads: dict[str, str]
