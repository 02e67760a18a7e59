"""Lessons: eight paths of moments, each with a question whose answer is computed."""

from attnviz.app import components, frame, store

store.show_lessons()
frame.draw_lessons()
opened = components.draw_lessons()
if isinstance(opened, str):
    store.open_in_walkthrough(opened)
