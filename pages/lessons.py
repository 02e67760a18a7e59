"""Lessons: eight paths of moments, each with a question whose answer is computed."""

from attnviz.app import components, page_frame, page_scene

page_scene.show_lessons()
page_frame.draw_style_and_title("Lessons")
opened = components.draw_lessons()
if isinstance(opened, str):
    page_scene.open_in_walkthrough(opened)
