"""Walkthrough: step through attention, from the words to the last number of the output."""

from attnviz.ui import component
from attnviz.ui.sections import frame
from attnviz.ui.state import store

shown = store.read()
frame.draw(shown, "Walkthrough")
component.draw(shown)
