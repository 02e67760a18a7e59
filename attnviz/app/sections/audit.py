"""The audit of a large pass, which someone has asked for: slice by slice, with a bar that tells how far it is."""

from collections.abc import Iterator
from typing import NoReturn, TypeVar

import streamlit as st

from attnviz.analysis.audit import Audit, audit
from attnviz.app.state.store import Shown
from attnviz.app.state.tabs import LONG_WORK, mine
from attnviz.scene.document.pass_cache import pass_key

Part = TypeVar("Part")


def run(shown: Shown) -> NoReturn:
    """Audit the pass of a scene, and draw the page anew: with the verdict, or with another pass if there is one."""
    session, before = shown.session, pass_key(shown.kept)
    n_cells = sum(stage.size for stage in shown.trace.stages)
    bar = st.progress(0, text="Recomputing every number from its terms")
    slices, done, percent = [], 0, 0
    for each in until_unwanted(LONG_WORK.in_turns(mine().who, audit(shown.trace))):
        if pass_key(session.scene) != before:  # by an act, for which no run ends
            st.rerun()
        slices.append(each)
        done += each.n_given + each.n_made
        if 100 * done // n_cells > percent:
            percent = 100 * done // n_cells
            bar.progress(percent, text=f"Recomputing {each.stage}")
    session.audit = (pass_key(shown.scene), Audit(tuple(slices)))
    st.rerun()


def until_unwanted(parts: Iterator[Part]) -> Iterator[Part]:
    """The parts, until the visitor leaves or changes anything: Streamlit ends such a run where the session is read."""
    for part in parts:
        _ = "unwanted" in st.session_state
        yield part
