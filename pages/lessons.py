"""Lessons: eight paths of moments, each with a question whose answer is computed."""

from attnviz.ui.sections import frame
from attnviz.ui.state import store

store.show_lessons()
frame.draw_lessons()
