"""microgpt: the walkthrough, opened on a language model that writes names."""

from attnviz.ui import component
from attnviz.ui.sections import frame
from attnviz.ui.state import store

shown = store.read(opening="microgpt")
frame.draw(shown, "microgpt")
component.draw(shown)
