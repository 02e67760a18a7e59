"""microgpt: the walkthrough, opened on a language model that writes names."""

from attnviz.app import components, page_frame, page_scene

shown = page_scene.read(opening="microgpt")
page_frame.draw(shown, "microgpt")
components.draw_pass(shown)
