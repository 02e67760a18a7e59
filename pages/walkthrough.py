"""Walkthrough: step through attention, from the words to the last number of the output."""

from attnviz.app import components, page_frame, page_scene

shown = page_scene.read()
page_frame.draw(shown, "Walkthrough")
components.draw_pass(shown)
