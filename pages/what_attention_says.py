"""What attention doesn't say: three measurements on the trained models, with numbers."""

import streamlit as st

from attnviz.ui.sections import evidence, frame
from attnviz.ui.state import store

shown = store.read()
frame.draw_without_settings(shown)
with st.container(width=900):
    st.title("What attention doesn't say", anchor=False)
    st.markdown(
        "In most sentences of *Who is “it”?* the last word looks at the noun that “it” stands for, and the model "
        "answers with that noun. It is tempting to read every picture of attention in this way: *this word looks "
        "there, so that is why.* Three measurements on models of this app show when that goes wrong. All numbers are "
        "computed as the page opens."
    )
    evidence.draw(shown)
