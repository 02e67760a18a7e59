"""The same in NumPy: the pass on the screen as a script, and its arrays to check your own against."""

import streamlit as st

from attnviz.scene.fitting import fit
from attnviz.text import export
from attnviz.ui.sections import frame
from attnviz.ui.state import store

shown = store.read()
frame.draw_with_banner(shown, "The same in NumPy")
scene = shown.scene
st.header("The pass as a script", anchor=False)
st.markdown(
    "These lines compute the numbers of the walkthrough, one stage after the other, with every number that was set by "
    "hand. Download the arrays and run the script beside them: it says of each stage whether it is identical to the "
    "one here or agrees to rounding, as the last bits of products and exponentials depend on the processor. Then put "
    "**your own** attention in place of a stage."
)
with st.container(horizontal=True):  # Streamlit keeps what makes a file, so that holds no pass
    st.download_button(
        "Script (attnviz_pass.py)",
        lambda: export.script(fit(scene).trace),
        "attnviz_pass.py",
        on_click="ignore",
        type="primary",
    )
    st.download_button(
        "Arrays (attnviz.npz)", lambda: export.arrays(fit(scene).trace), "attnviz.npz", on_click="ignore"
    )
st.code(export.script(shown.trace), language="python", wrap_lines=True)
