"""Walkthrough: step through attention, from the words to the last number of the output."""

import streamlit as st

from attnviz.text.steps import steps_of
from attnviz.ui.sections import frame, lesson, steps
from attnviz.ui.state import store

shown = store.read()
frame.draw_with_banner(shown)
st.markdown("**Try:** hover a number to see what made it, click it to take it apart, press **→** to go on.")
lessons = steps_of(shown.trace)
steps.row(shown, lessons)
steps.turn(shown, lessons, "top", ("Left", "Right"))
lesson.draw(shown, next(step for step in lessons if step.id == shown.scene.step))
steps.turn(shown, lessons, "bottom", ("PageUp", "PageDown"))
