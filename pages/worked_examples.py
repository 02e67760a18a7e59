"""Worked examples: five notebooks as lessons, what they got wrong, and each number that they printed recomputed."""

import streamlit as st

from attnviz.ui.sections import frame, notebook
from attnviz.ui.state import store

shown = store.read()
frame.draw_without_settings(shown)
with st.container(width=900):
    st.title("Worked examples", anchor=False)
    agreement = notebook.agreement()
    st.markdown(
        "Five notebooks on attention, rebuilt number by number. Each shows one thing well, and each gets something "
        f"wrong. Of the {agreement.n_numbers:,} numbers that they printed, **{agreement.n_to_the_digit:,} come out to "
        f"the last digit printed**, and {agreement.n_within_slack} more as closely as the rounded numbers that they "
        f"are recomputed from allow; the other {agreement.n_numbers - agreement.n_agree} cannot follow from the code "
        "that was shown."
    )
    notebook.draw(shown)
