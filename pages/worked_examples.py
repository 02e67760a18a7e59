"""Worked examples: five notebooks, checked to the last digit that they printed, and what they got wrong."""

import streamlit as st

from attnviz.examples import EXAMPLES
from attnviz.ui.sections import frame, notebook
from attnviz.ui.state import store

shown = store.read()
frame.notices(shown.notices)
st.header("Worked examples", anchor=False)
numbers = [number for example in EXAMPLES.values() for number in example.numbers]
st.markdown(
    f"Five notebooks on attention, rebuilt from their figures: **{sum(n.agrees for n in numbers):,} of "
    f"{len(numbers):,}** numbers that they printed come out again, to the last digit printed. The others cannot follow "
    "from the code that was shown; the page of their notebook says why, and what would give them. Each opens in the "
    "walkthrough, like any sentence of your own."
)
notebook.choose(shown.scene)
notebook.draw(EXAMPLES[shown.scene.notebook])
