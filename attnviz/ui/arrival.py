"""Arrival: makes what the address says outlive a switch of pages that follows at once.

Streamlit 1.67 carries bound values to another page only if they were there
before the last run that the browser asked for; those that a first visit's
address has just set are dropped (`SessionState._remove_stale_widgets` looks at
the old state alone). So the browser asks for one more run, of an empty fragment.
"""

import streamlit as st

_component = st.components.v2.component(
    "attnviz.arrival",
    js="""
export default function ({ setTriggerValue }) {
  setTriggerValue("arrived", true);
}
""",
)


@st.fragment
def settle() -> None:
    """Have the browser ask for a run of this fragment, once; nothing else runs, and nothing is shown."""
    _component(key="arrival", on_arrived_change=lambda: None)
