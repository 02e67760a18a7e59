"""Audit: every number on the screen, recomputed by other means."""

import streamlit as st

from attnviz.app import components, page_frame, page_scene, sections

shown = page_scene.read()
with page_frame.article(shown, "Audit"):
    request = page_frame.settings(shown, "audit")
    with page_frame.pass_container():
        st.header("Can these numbers be trusted?", anchor=False)
        st.markdown(
            "The pass was computed by NumPy, whole arrays at a time. Here **every number of every stage** is "
            "recomputed from its own terms, one multiplication after the other, in plain Python with `math.exp` and "
            "the exact `math.fsum`. No arithmetic is shared, so a mistake would have to be made twice to go unseen. "
            "What differs is rounding: the last of some 16 digits."
        )
        components.draw_outlet()
        if request == "recompute" and shown.trace:
            sections.run_audit(shown)
