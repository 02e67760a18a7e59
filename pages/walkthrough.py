"""Walkthrough: step through attention, from the words to the last number of the output."""

import streamlit as st

from attnviz.text.steps import steps_of
from attnviz.ui.sections import change, lesson, steps
from attnviz.ui.state import address, controls

trace = change.applied(controls.trace())
st.markdown("**Try:** hover a number to see what made it, click it to take it apart, press **→** to go on.")
lessons = steps_of(trace)
step = steps.chosen(lessons)
steps.turn(lessons, step, "top", ("Left", "Right"))
lesson.show(trace, step, address.selection(trace))
steps.turn(lessons, step, "bottom", ("PageUp", "PageDown"))
