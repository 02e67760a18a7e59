"""What attention does not say, on the page: each measurement with its chart, and doors to its passes."""

from functools import cache

import streamlit as st

from attnviz.app.sections import heatmap
from attnviz.app.sections.heatmap import Chart
from attnviz.app.state.store import Shown
from attnviz.articles.evidence import Table, measurements


def draw(shown: Shown) -> None:
    """Draw all measurements."""
    for number, each in enumerate(measurements(), start=1):
        st.header(f"{number}. {each.title}", anchor=False)
        st.markdown(each.text)
        heatmap.draw(_chart(number), f"measurement_{number}")
        for place, below in enumerate(each.below):
            with st.container(key=f"measured_{number}_{place}"):
                st.markdown(_markdown(below) if isinstance(below, Table) else below)
        with st.container(horizontal=True):
            for label, door in each.doors.items():
                if st.button(label, key=f"open {label}", icon=":material/arrow_forward:"):
                    shown.open_page("pages/walkthrough.py", **door)


def _markdown(table: Table) -> str:
    """A table of numbers in Markdown."""
    lines = [table.head, ["--:" for _ in table.head], *table.rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


@cache
def _chart(number: int) -> Chart:
    """The chart of a measurement, laid out once in a process."""
    return Chart.of(*measurements()[number - 1].rows)
