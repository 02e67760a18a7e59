"""microgpt: the walkthrough, opened on a language model that writes names."""

from attnviz.app import components, frame, store

shown = store.read(opening="microgpt")
frame.draw(shown, "microgpt")
components.draw_pass(shown)
