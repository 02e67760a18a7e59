"""Walkthrough: step through attention, from the words to the last number of the output."""

import streamlit as st

from attnviz import trace_of
from attnviz.lessons import steps_of
from attnviz.ui import address, controls, lesson, steps

trace = trace_of(controls.settings())
st.markdown(
    "Every number below is real. **Try:** hover a cell to see what it was made from, click it to take it apart, "
    "and press **→** for the next step. Then change a word."
)
lessons = steps_of(trace)
step = steps.chosen(lessons)
steps.turn(lessons, step, "top", ("Left", "Right"))
lesson.show(trace, step, address.focus(trace))
steps.turn(lessons, step, "bottom", ("PageUp", "PageDown"))
