"""Walkthrough: step through attention, from the words to the last number of the output."""

from attnviz.app import components, frame, store

shown = store.read()
frame.draw(shown, "Walkthrough")
components.draw_pass(shown)
