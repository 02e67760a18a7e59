"""Lessons: eight paths of moments, each with a question whose answer is computed."""

from attnviz.app import component
from attnviz.app.sections import frame
from attnviz.app.state import store

store.show_lessons()
frame.draw_lessons()
opened = component.draw_lessons()
if isinstance(opened, str):
    store.open_in_walkthrough(opened)
