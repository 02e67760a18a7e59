"""Questions: each kind in a module of its own, read from a lesson's file and computed from the pass."""

from attnviz.lessons.questions.answer import Answer
from attnviz.lessons.questions.cell import CellAsked
from attnviz.lessons.questions.code import Code
from attnviz.lessons.questions.compare import Compare
from attnviz.lessons.questions.count import Count
from attnviz.lessons.questions.number import Number
from attnviz.lessons.questions.share import Share
from attnviz.lessons.questions.word import Word

AnyAsk = Answer | CellAsked | Code | Compare | Count | Number | Share | Word
"""A question of any kind, by its tag."""
