"""Audit: every number on the screen, computed a second time by other means."""

import streamlit as st

from attnviz.ui.sections import change, check
from attnviz.ui.state import controls

trace = change.applied(controls.trace())
st.subheader("Can these numbers be trusted?", anchor=False)
st.markdown(
    "The pass was computed by NumPy, whole arrays at a time. Here **every number of every stage** is made again from "
    "its own terms, one multiplication after the other, in plain Python with `math.exp` and the exact `math.fsum`. "
    "No arithmetic is shared, so a mistake would have to be made twice to go unseen. What differs is rounding: the "
    "last of some 16 digits."
)
if check.wanted(trace):
    check.verdict(trace, check.run(trace))
