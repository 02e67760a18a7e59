"""The audit on the page: every number recomputed, and the verdict."""

import streamlit as st

from attnviz.analysis.audit import Audit, StageAudit, audit, n_terms
from attnviz.core.once import once
from attnviz.core.trace import Trace
from attnviz.text.wording import counted
from attnviz.ui.escaping import markdown
from attnviz.ui.state.turns import in_turns

PATIENCE = 80_000  # terms that are recomputed without asking, so by a link alone
TERMS_A_SECOND = 200_000  # about, pauses counted: to say how long it may take


def wanted(trace: Trace) -> bool:
    """Whether to go on: a large pass takes a while, so it asks first."""
    n = n_terms(trace)
    if n <= PATIENCE:
        return True
    return st.button(
        f"Recompute {n:,} terms (about {counted(max(n // TERMS_A_SECOND, 1), 'second')})",
        key="run_audit",
        type="primary",
    )


@once
def run(trace: Trace) -> Audit:
    """The audit of a pass, slice by slice, with a bar that tells how far it is; it is kept once it is whole."""
    n_cells = sum(stage.size for stage in trace.stages)
    bar = st.progress(0, text="Recomputing every number from its terms")
    slices, done, percent = [], 0, 0
    for each in in_turns(audit(trace)):
        slices.append(each)
        done += each.n_given + each.n_made
        if 100 * done // n_cells > percent:
            percent = 100 * done // n_cells
            bar.progress(percent, text=f"Recomputing {each.stage}")
    bar.empty()
    return Audit(tuple(slices))


def verdict(trace: Trace, found: Audit) -> None:
    """What came of it, in one line and stage by stage."""
    say = st.error if found.first else st.success
    say(markdown(found.sentence(trace)) + ".", icon=":material/warning:" if found.first else ":material/check:")
    rows = [
        f"| `{each.stage}` | {_counted(each)} | "
        f"{f'{each.largest_difference:.0e}' if each.largest_difference else '0' if each.n_made else ''} |"
        for each in found.stages
    ]
    st.markdown(
        "\n".join(
            ("| stage | numbers | largest difference |", "|---|---|--:|", *rows),
        )
    )


def _counted(each: StageAudit) -> str:
    given = f"{each.n_given} given" if each.n_given else ""
    made = f"{each.n_agree} of {each.n_made} agree" if each.n_made else ""
    return ", ".join(filter(None, (made, given)))
