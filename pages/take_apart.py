"""Take it apart: follow one number back to the words, and see what would move it."""

import streamlit as st

from attnviz.ui.sections import apart, change
from attnviz.ui.state import controls

trace = change.applied(controls.trace())
st.subheader("How was this number made?", anchor=False)
st.markdown(
    "Click any cell that is underlined to take it apart in its turn, until nothing is left but the words, the seed and "
    "the parameters; the trail stays on the page, and in the address. Or ask what would **move** it."
)
trail = apart.trail(trace)
apart.choose(trace, trail)
if apart.asks_what_made_it():
    apart.terms(trace, trail)
else:
    apart.slopes(trace, trail[-1])
