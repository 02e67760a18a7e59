"""Walkthrough: step through attention, from the words to the last number of the output."""

from attnviz.ui.sections import frame
from attnviz.ui.state import store
from attnviz.ui.viewer import component

shown = store.read()
frame.draw(shown, "Walkthrough")
component.draw(shown)
