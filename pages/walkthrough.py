"""Walkthrough: step through attention, from the words to the last number of the output."""

from attnviz.app import component
from attnviz.app.sections import frame
from attnviz.app.state import store

shown = store.read()
frame.draw(shown, "Walkthrough")
component.draw(shown)
