"""Worked examples: five notebooks, each number that they printed beside the computed one, and what they got wrong."""

import streamlit as st

from attnviz.examples import EXAMPLES
from attnviz.examples.printout import Agreement
from attnviz.ui.sections import frame, notebook
from attnviz.ui.state import store

shown = store.read()
frame.draw_without_controls(shown)
st.header("Worked examples", anchor=False)
agreement = Agreement.of(number for example in EXAMPLES.values() for number in example.numbers)
st.markdown(
    f"Five notebooks on attention, rebuilt from their figures. Of the {agreement.n_numbers:,} numbers that "
    f"they printed, **{agreement.n_to_the_digit:,} come out to the last digit printed**, and "
    f"{agreement.n_within_slack} more as closely as the rounded numbers that they are recomputed from allow. The other "
    f"{agreement.n_numbers - agreement.n_agree} cannot follow from the code that was shown; the page of their notebook "
    "says why, and what would give them. Each notebook opens in the walkthrough, like any sentence of your own."
)
notebook.choose(shown)
notebook.draw(shown)
