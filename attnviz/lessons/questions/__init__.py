"""The kinds of questions: read from a lesson's file, answered and explained from the pass."""

from attnviz.lessons.questions.answers import Answer, Code
from attnviz.lessons.questions.gaps import Gaps
from attnviz.lessons.questions.numbers import Count, Number, Percentage
from attnviz.lessons.questions.own import OwnChoice, OwnNumber, OwnWords
from attnviz.lessons.questions.picks import Choice, Compare, PickCell, PickWord

# a question of any kind, by its tag
AnyQuestion = (
    Answer
    | PickCell
    | Choice
    | Code
    | Compare
    | Count
    | Gaps
    | Number
    | OwnChoice
    | OwnNumber
    | OwnWords
    | Percentage
    | PickWord
)
