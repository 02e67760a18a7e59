"""A lesson on the page: what a step says, its formula, its picture, its numbers, its line of NumPy."""

from collections.abc import Sequence

import streamlit as st

from attnviz import figures, insights, pictures
from attnviz.focus import Focus
from attnviz.lessons import Step
from attnviz.pictures import Matrix
from attnviz.terms import Share, digits
from attnviz.trace import Trace
from attnviz.ui import address, matrix
from attnviz.ui.text import markdown
from attnviz.vocabulary import VOCABULARY, symbol

BARE = {"displayModeBar": False}


def show(trace: Trace, step: Step, focus: Focus) -> None:
    """Draw a step of the walkthrough."""
    st.subheader(step.heading, anchor=False)
    st.markdown(step.text)
    made = [name for name in step.stages if name in trace]
    if made:
        _formulas(trace, made, focus)
        address.pickers(trace, made, focus)
        _picture(trace, [pictures.equation(trace, name, focus) for name in made], made, focus)
        for name in made:
            st.markdown(markdown(insights.caption(trace, name, focus)))
    else:
        _whole_pass(trace, focus)
    if step.title == "Softmax":
        _softmax(trace, focus)
    if step.title == "Output":
        _contributions(trace, focus)
    lines = [line for line in map(trace.line, made) if line]
    if lines:
        st.code("\n".join(lines), language="python", wrap_lines=True)


def _formulas(trace: Trace, names: Sequence[str], focus: Focus) -> None:
    """Each stage's formula in symbols, and again with the selected cell's own numbers."""
    for name in names:
        stage = trace[name]
        if not stage.inputs:
            continue
        head = focus.head if stage.axes[0] == "head" else None
        symbols = [symbol(each, head) for each in (name, *stage.inputs)]
        index = focus.index(stage, pictures.d_v(trace))
        terms = trace.terms(name, index)
        place = ", ".join(str(i + 1) for i in (index if head is None else index[1:]))
        st.latex(stage.operation.latex(*symbols))
        st.latex(rf"({symbols[0]})_{{{place}}} = {terms.latex()} = {digits(terms.total()).replace('−', '-')}")


def _picture(trace: Trace, equations: Sequence[Sequence[Matrix]], names: Sequence[str], focus: Focus) -> None:
    """Equations as tables, those that are too large for written numbers as heatmaps; and the selected cells' terms."""
    for number, equation in enumerate(equations):
        if not _legible(equation):
            st.plotly_chart(figures.equation(equation), key=f"large_{number}", config=BARE)
    breakdowns = []
    for name in names:
        cell = trace[name].cell(focus.index(trace[name], pictures.d_v(trace)))
        breakdowns.append((f"{trace.name_of(cell)} = {digits(cell.value)}", trace.terms(name, cell.index)))
    written = [equation for equation in equations if _legible(equation)]
    matrix.picture(trace, written, breakdowns, address.picking(trace, focus), key="picture")


def _legible(equation: Sequence[Matrix]) -> bool:
    return all(each.legible for each in equation)


def _softmax(trace: Trace, focus: Focus) -> None:
    terms = trace.terms("attention", (focus.head, focus.query, focus.key))
    assert isinstance(terms, Share)
    st.markdown("##### One row of the softmax, number by number")
    if terms.divisor:
        score, exponential = terms.row[terms.place].value, terms.exponentials[terms.place]
        st.markdown(
            f"1. **Shift** by the row's largest score: {digits(score)} − {digits(terms.shift)}"
            f" = {digits(score - terms.shift)}\n"
            f"2. **Exponentiate**: exp({digits(score - terms.shift)}) = {digits(exponential)}\n"
            f"3. **Sum** the exponentials of the row: {digits(terms.divisor)}\n"
            f"4. **Divide**: {digits(exponential)} ÷ {digits(terms.divisor)} = {digits(terms.total())}"
        )
    st.plotly_chart(figures.shares(trace, terms), key="shares", config=BARE)
    st.markdown("##### All heads side by side")
    st.plotly_chart(figures.heads(trace, focus), key="heads_figure", config=BARE)


def _contributions(trace: Trace, focus: Focus) -> None:
    st.markdown("##### One row of the output, as the sum of what each head adds")
    equation = pictures.contributions(trace, focus)
    if _legible(equation):
        matrix.picture(trace, [equation], [], address.picking(trace, focus), key="contributions")
    st.plotly_chart(figures.contributions(trace, focus), key="contributions_figure", config=BARE)


def _whole_pass(trace: Trace, focus: Focus) -> None:
    st.markdown(markdown(insights.summary(trace)))
    last = trace.stages[-1].name
    address.pickers(trace, ["attention", last], focus)
    _picture(trace, pictures.rows_of(trace, focus), [last], focus)
    st.markdown("##### Every stage and its shape")
    rows = [
        f"| `{stage.name}` | ${symbol(stage.name)}$ | {VOCABULARY[stage.name].meaning} | "
        f"{' × '.join(map(str, stage.shape))} | {', '.join(stage.axes).replace('*', '·')} |"
        for stage in trace.stages
    ]
    st.markdown("\n".join(("| stage | symbol | what it is | shape | axes |", "|---|---|---|---|---|", *rows)))
