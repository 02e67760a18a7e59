"""The same in NumPy: the pass on the screen as a script, and its arrays to check your own against."""

import streamlit as st

from attnviz.app import components, page_frame, page_scene, sections

shown = page_scene.read()
with page_frame.article(shown, "The same in NumPy"):
    page_frame.settings(shown, "script")
    with page_frame.pass_container():
        st.header("The pass as a script", anchor=False)
        st.markdown(
            "These lines compute the numbers of the walkthrough, one stage after the other, with every number that was "
            "set by hand. Download the arrays and run the script beside them: it says of each stage whether it is "
            "identical to the one here or agrees to rounding, as the last bits of products and exponentials depend on "
            "the processor. Then put **your own** attention in place of a stage: in float32 or float16 it is compared "
            "as closely as that precision allows, and the script says which it compared in. **PyTorch** shows the same "
            "pass with `nn.MultiheadAttention`, which reads the same arrays. A pass of microgpt is there in "
            "**microgpt's Python** too: in lists and loops, as its author writes it, without any package."
        )
        sections.offer_arrays(shown.session)
        components.draw_outlet()
