"""Take it apart: follow one number back to the words, and see what would move it."""

import streamlit as st

from attnviz.scene.scene import QUESTIONS
from attnviz.ui.sections import frame, provenance
from attnviz.ui.state import store

shown = store.read()
frame.draw_with_banner(shown)
st.subheader("How was this number made?", anchor=False)
st.markdown(
    "Click any cell that is underlined to take it apart too, until nothing is left but the words, the seed and "
    "the parameters; the trail stays on the page, and in the address. Or ask what would **move** it."
)
trail = provenance.trail(shown)
provenance.start(shown, trail)
provenance.question(shown)
if shown.scene.question == QUESTIONS[0]:
    provenance.terms(shown, trail)
else:
    provenance.slopes(shown, trail[-1])
