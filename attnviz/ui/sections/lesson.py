"""A lesson on the page: what a step says, its formula, its picture, its numbers, its line of NumPy."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from attnviz.analysis.provenance import format_trail
from attnviz.core.selection import Selection
from attnviz.core.trace import Trace
from attnviz.scene.fitting import Fitted
from attnviz.text import captions
from attnviz.text.explanations import Explanation
from attnviz.text.step import Step
from attnviz.text.steps.softmax import row_steps
from attnviz.text.vocabulary import VOCABULARY, symbol
from attnviz.ui.escaping import markdown
from attnviz.ui.sections import gallery, pickers
from attnviz.ui.state import store
from attnviz.ui.viewer import matrix
from attnviz.views import charts, matrices
from attnviz.views.matrices import Matrix


def draw(shown: Fitted, step: Step) -> None:
    """Draw a step of the walkthrough."""
    trace, selection, picked = shown.trace, shown.scene.selection, shown.scene.picked
    st.markdown(step.text)
    if not step.stages:
        _whole_pass(trace, selection, picked)
        return
    for note in step.notes:
        st.markdown(note.text)
    _formulas(trace, step.stages, selection)
    operands = {each for name in step.stages for each in trace[name].inputs}  # drawn beside what is made from them
    equations = [matrices.equation(trace, name, selection) for name in step.stages if name not in operands]
    drawn = dict.fromkeys(each.stage for equation in equations for each in equation)
    explained_for = {name: step.stages if name in step.stages else [name] for name in drawn}
    explained = explained_for.get(picked, step.stages)
    explanation = Explanation(trace, selection, step.stages, explained, explained_for)
    _explored(trace, equations, explanation, scene=step.id)
    for chart in step.charts:
        _CHARTS[chart.name](trace, selection)
    shown = (*step.stages, *(name for chart in step.charts for name in chart.stages))
    lines = [line for name in shown for line in trace.lines(name)]
    if lines:
        st.markdown("##### In NumPy")
        st.code("\n".join(lines), language="python", wrap_lines=True)


def _formulas(trace: Trace, names: Sequence[str], selection: Selection) -> None:
    """The formulas of some stages in symbols, in one line."""
    formulas = []
    for stage in (trace[name] for name in names if trace[name].inputs):
        head = selection.head if stage.axes[0] == "head" else None
        formulas.append(stage.operation.latex(*(symbol(each, head) for each in (stage.name, *stage.inputs))))
    if formulas:
        st.latex(r" \qquad ".join(formulas))


def _explored(trace: Trace, equations: Sequence[Sequence[Matrix]], answer: Explanation, **drawn: str | bool) -> None:
    """Equations with their answer, and boxes to pick a cell by."""
    pickers.draw(trace, answer.explained, answer.selection)
    gallery.equations(trace, equations, pickers.pick, answer=answer, on_follow=_take_apart, **drawn)
    if st.button("Take it apart, down to the words", icon=":material/account_tree:", key="take_apart"):
        _take_apart(format_trail(answer.cells[-1:]))


def _take_apart(trail: str) -> None:
    """Go to the page on which numbers are taken apart, on a trail."""
    store.update(trail=tuple(trail.split("<")))
    st.switch_page("pages/take_apart.py")


def _shares(trace: Trace, selection: Selection) -> None:
    steps = row_steps(trace, selection)
    if not steps:
        return
    st.markdown("##### One row of the softmax, number by number")
    st.markdown("\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1)))
    terms = trace.terms("attention", (selection.head, selection.query, selection.key))
    st.plotly_chart(charts.shares(trace, terms), key="shares", config=gallery.BARE)


def _heads(trace: Trace, selection: Selection) -> None:
    st.markdown("##### The heads side by side")
    st.plotly_chart(charts.heads(trace, selection), key="heads_figure", config=gallery.BARE)


def _contributions(trace: Trace, selection: Selection) -> None:
    st.markdown("##### One row of the output, as the sum of what each head adds")
    names = ["contributions"]
    _formulas(trace, names, selection)
    equation = matrices.contributions(trace, selection)
    answer = Explanation(trace, selection, names, names, {each.stage: names for each in equation})
    drawn = [equation] if gallery.legible(equation) else []
    matrix.picture(trace, drawn, partial(pickers.pick, trace), "contributions", answer=answer, on_follow=_take_apart)
    st.plotly_chart(charts.contributions(trace, selection), key="contributions_figure", config=gallery.BARE)


def _whole_pass(trace: Trace, selection: Selection, picked: str) -> None:
    st.markdown(markdown(captions.summary(trace)))
    rows = matrices.rows_of(trace, selection)
    legible = all(map(gallery.legible, rows))
    if not legible:
        st.plotly_chart(charts.overview([each for row in rows for each in row]), key="overview", config=gallery.BARE)
    explained_for = {stage.name: [stage.name] for stage in trace.stages}
    explained = explained_for.get(picked, [trace.output.name])
    _explored(trace, rows if legible else (), Explanation(trace, selection, (), explained, explained_for), small=True)
    st.markdown("##### Every stage and its shape")
    rows = [
        f"| `{stage.name}` ${symbol(stage.name)}$: {VOCABULARY[stage.name].meaning} | "
        f"{' × '.join(map(str, stage.shape))}: {', '.join(stage.axes).replace('*', '·')} |"
        for stage in trace.stages
    ]
    st.markdown("\n".join(("| stage | shape |", "|---|---|", *rows)))


_CHARTS = {"shares": _shares, "heads": _heads, "contributions": _contributions}
"""How each chart of a step is drawn."""
