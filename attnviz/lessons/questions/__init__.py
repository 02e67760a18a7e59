"""The kinds of questions: read from a lesson's file, answered and explained from the pass."""

from attnviz.lessons.questions.answers import Answer, Code
from attnviz.lessons.questions.numbers import Count, Number, Share
from attnviz.lessons.questions.picks import CellAsked, Compare, Word

AnyQuestion = Answer | CellAsked | Code | Compare | Count | Number | Share | Word
"""A question of any kind, by its tag."""
