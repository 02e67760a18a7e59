"""microgpt: the walkthrough, opened on a language model that writes names."""

from attnviz.app import component
from attnviz.app.sections import frame
from attnviz.app.state import store

shown = store.read(opening="microgpt")
frame.draw(shown, "microgpt")
component.draw(shown)
