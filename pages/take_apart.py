"""Take it apart: follow one number back to the words, and see what would move it."""

import streamlit as st

from attnviz.ui import apart, controls

trace = controls.trace()
st.subheader("How was this number made?", anchor=False)
st.markdown(
    "Click any cell that is underlined to take it apart in its turn, until nothing is left but the words, the seed and "
    "the parameters. The trail stays above, and in the address."
)
trail = apart.trail(trace)
apart.choose(trace, trail)
apart.terms(trace, trail)
st.subheader("What would move it?", anchor=False)
apart.slopes(trace, trail[-1])
