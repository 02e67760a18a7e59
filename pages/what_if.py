"""What if: set any number by hand, and see what moves and what does not."""

import streamlit as st

from attnviz.ui.sections import changes, frame
from attnviz.ui.state import store

shown = store.read()
frame.draw(shown)
st.subheader("What if a number were another?", anchor=False)
st.markdown(
    "Change any one number - of an embedding, a parameter, a score, the attention, the mask - or mute a head. "
    "What depends on it is recomputed, and nothing else moves. The changes stand in the address, and hold on every "
    "page until you undo them."
)
changes.target(shown)
changes.setter(shown)
changes.made_so_far(shown)
changes.picture(shown)
if shown.scene.changes:
    st.subheader("What moved", anchor=False)
    changes.moved(shown)
