"""Take it apart: the walkthrough, asking what made a number. Not in the menu; links to it keep working."""

from attnviz.ui.sections import frame, viewer
from attnviz.ui.state import store

shown = store.read()
frame.draw(shown)
viewer.draw(shown, ask="what made it")
