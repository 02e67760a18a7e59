"""Walkthrough: step through attention, from the words to the last number of the output."""

import streamlit as st

from attnviz.lessons import steps_of
from attnviz.ui import address, change, controls, lesson, steps

trace = change.applied(controls.trace())
st.markdown("**Try:** hover a number to see what made it, click it to take it apart, press **→** to go on.")
lessons = steps_of(trace)
step = steps.chosen(lessons)
steps.turn(lessons, step, "top", ("Left", "Right"))
lesson.show(trace, step, address.focus(trace))
steps.turn(lessons, step, "bottom", ("PageUp", "PageDown"))
