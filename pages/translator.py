"""Translator: the walkthrough, opened on an encoder and a decoder that turn English into French."""

from attnviz.app import components, page_frame, page_scene

shown = page_scene.read(opening="translator")
page_frame.draw(shown, "Translator")
components.draw_pass(shown)
