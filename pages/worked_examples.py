"""Worked examples: five notebooks as lessons, what they got wrong, and each number that they printed recomputed."""

import streamlit as st

from attnviz.app import page_frame, page_scene, sections
from attnviz.articles import worked

shown = page_scene.read()
with page_frame.article(shown, "Worked examples"):
    agreement = worked.agreement()
    st.markdown(
        "Five notebooks on attention, rebuilt number by number. Each shows one thing well, and each gets something "
        f"wrong. They print {agreement.n_numbers:,} numbers. **{agreement.n_to_the_digit:,} agree to the last digit**: "
        f"{agreement.n_inputs} of these are inputs themselves, {agreement.n_labels} are labels, and the others were "
        f"computed again. {agreement.n_within_slack} agree within rounding; {agreement.n_apart} cannot come from the "
        "code shown.\n\n"
        "The notebooks are public. Four of them name no author, and one is licensed under the GPL. Only their numbers "
        "are theirs here: the code that computes them again and the sentences about them are ours."
    )
    sections.draw_notebook(shown)
