"""What if: set any number by hand, and see what moves and what does not."""

import streamlit as st

from attnviz.ui.sections import change
from attnviz.ui.state import address, controls

trace = controls.trace()
st.subheader("What if a number were another?", anchor=False)
st.markdown(
    "Change any one number - of an embedding, a parameter, a score, the attention, the mask - or mute a head. "
    "What depends on it is computed again, and nothing else moves. The changes stand in the address, and hold on every "
    "page until you take them back."
)
made, changed = change.changes(trace)
selection = address.selection(changed)
name = change.target(trace)
address.pickers(changed, [name], selection)
change.setter(trace, changed, made, name, selection)
change.made_so_far(trace, made)
change.pictures_of(trace, changed, name, selection)
if made:
    st.subheader("What moved", anchor=False)
    change.moved(trace, changed, selection)
