"""What attention does not say, on the page: each measurement with its chart, and doors to its passes."""

from functools import cache

import streamlit as st

from attnviz.articles.evidence import measurements
from attnviz.ui.sections import heatmap
from attnviz.ui.sections.heatmap import Chart
from attnviz.ui.state.store import Shown


def draw(shown: Shown) -> None:
    """Draw all measurements."""
    for number, each in enumerate(measurements(), start=1):
        st.header(f"{number}. {each.title}", anchor=False)
        st.markdown(each.said)
        heatmap.draw(_chart(number), f"measurement_{number}")
        for place, text in enumerate(each.below):
            with st.container(key=f"measured_{number}_{place}"):
                st.markdown(text)
        with st.container(horizontal=True):
            for label, door in each.doors.items():
                if st.button(label, key=f"open {label}", icon=":material/arrow_forward:"):
                    shown.open_page("pages/walkthrough.py", **door)


@cache
def _chart(number: int) -> Chart:
    """The chart of a measurement, laid out once in a process."""
    return Chart.of(*measurements()[number - 1].rows)
