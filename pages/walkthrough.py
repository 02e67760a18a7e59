"""Walkthrough: step through attention, from the words to the last number of the output."""

from attnviz.ui.sections import frame, viewer
from attnviz.ui.state import store

shown = store.read()
frame.draw(shown)
viewer.draw(shown)
