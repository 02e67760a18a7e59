"""The worked examples on the page: one is chosen and told, and its numbers are unfolded."""

from collections.abc import Mapping
from functools import cache

import pandas as pd
import streamlit as st

from attnviz.app import article
from attnviz.app.state.setter import SceneSetter
from attnviz.app.state.store import Shown
from attnviz.articles import worked
from attnviz.examples import EXAMPLES
from attnviz.examples.example import Example
from attnviz.scene.actions.messages import option_in


def draw(shown: Shown) -> None:
    """Choose a worked example, and be told it: what it shows, what went wrong in it, and where its numbers are from."""
    chosen = shown.scene.notebook
    article.draw(shown, "notebook", *worked.article(chosen), _choose)
    _published(EXAMPLES[chosen])


def _published(example: Example) -> None:
    """Where the example is from, and every number that its notebook printed beside the computed one."""
    label = f"The notebook and its {worked.counted(example.agreement)}"
    key = f"of_{example.id}"
    kept = f"{key} was open"  # Streamlit forgets it on another page
    st.session_state.setdefault(key, st.session_state.get(kept, False))
    folded = st.expander(label, key=key, on_change="rerun")
    st.session_state[kept] = folded.open
    if not folded.open:
        return
    with folded:
        st.markdown(
            f"{example.source}\n\n{worked.lines(example.id)}\n\n"
            "Each printed number once, beside the computed one: ✓ agrees to the last digit printed, ≈ within the "
            "rounding of the inputs, ✗ does not agree. An input agrees by construction; a label is a number in words, "
            "such as the 1 of “Element 1”."
        )
        st.dataframe(_table(example.id), hide_index=True, height=320, key="numbers")


@cache
def _table(notebook: str) -> pd.DataFrame:
    """Every number that a notebook printed, beside the computed one."""
    return pd.DataFrame(
        [
            (print_out.name, number.published, number.shown, worked.mark(number), number.kind)
            for print_out in EXAMPLES[notebook].print_outs
            if not print_out.of
            for number in print_out.numbers
        ],
        columns=["print-out", "published", "computed", "agrees", "kind"],
    )


def _choose(setter: SceneSetter, chosen: Mapping[str, object]) -> None:
    notebook = option_in(chosen.get("notebook"), tuple(EXAMPLES))
    if notebook is not None:
        setter.update(notebook=notebook)
