"""Your own numbers: the arrays of an implementation of one's own beside attnviz's, stage by stage."""

import streamlit as st

from attnviz.app import page_frame, page_scene, sections

shown = page_scene.read()
with page_frame.article(shown, "Your own numbers", is_under_more=False):
    st.markdown(
        "Does your attention compute what it should? Save what goes in, the weights, and any stages that your code "
        "computes. attnviz recomputes the pass **from your own inputs and weights**, names the **first stage that "
        "differs**, and says why where the numbers show it. A difference counts where it is larger than rounding in "
        "your precision."
    )
    sections.draw_own_numbers(shown)
    st.markdown("## Save yours")
    st.markdown(
        "PyTorch's names and layouts are known; so are those of Hugging Face, TransformerLens, Keras, Flax and "
        "attnviz. With any other layout, attnviz tries every arrangement the shapes allow and tells you which one "
        "fits. Give one sentence and one layer. `tokens`, an array of words, is shown beside them."
    )
    sections.draw_saving(shown.session)
