"""A lesson on the page: what a step says, its formula, its picture, its numbers, its line of NumPy."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import streamlit as st

from attnviz.analysis.provenance import format_trail
from attnviz.core.numerals import bracketed, digits
from attnviz.core.operations.softmax import Share
from attnviz.core.selection import Selection
from attnviz.core.trace import Trace
from attnviz.scene.fitting import Fitted
from attnviz.text import captions
from attnviz.text.explanations import Answer
from attnviz.text.steps import steps_of
from attnviz.text.vocabulary import VOCABULARY, symbol
from attnviz.ui.escaping import markdown
from attnviz.ui.sections import gallery, pickers
from attnviz.ui.state import store
from attnviz.ui.viewer import matrix
from attnviz.views import charts, matrices
from attnviz.views.matrices import Matrix


def draw(shown: Fitted) -> None:
    """Draw the step of the walkthrough that the scene is at."""
    trace, selection, picked = shown.trace, shown.scene.selection, shown.scene.picked
    step = next(each for each in steps_of(trace) if each.id == shown.scene.step)
    st.markdown(step.text)
    made = [name for name in step.stages if name in trace]
    if not made:
        _whole_pass(trace, selection, picked)
        return
    if step.title == "Softmax" and np.array_equal(trace["masked"].value, trace["scaled"].value):
        st.markdown("No mask hides anything here, so the masked scores are the scaled ones: $Z^M = Z$.")
    _formulas(trace, made, selection)
    operands = {each for name in made for each in trace[name].inputs}  # drawn beside what is made from them
    equations = [matrices.equation(trace, name, selection) for name in made if name not in operands]
    drawn = dict.fromkeys(each.stage for equation in equations for each in equation)
    to_picks = {name: made if name in made else [name] for name in drawn}
    told = to_picks.get(picked, made)
    _explored(trace, equations, Answer(trace, selection, made, told, to_picks), scene=step.title)
    if step.title == "Softmax":
        _softmax(trace, selection)
    if step.title == "Output" and not (trace["concat"].overridden or trace["output"].overridden):
        _contributions(trace, selection)
        made.append("contributions")
    lines = [line for name in made for line in trace.lines(name)]
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


def _explored(trace: Trace, equations: Sequence[Sequence[Matrix]], answer: Answer, **drawn: str | bool) -> None:
    """Equations with their answer, and boxes to pick a cell by."""
    pickers.draw(trace, answer.told, answer.selection)
    gallery.equations(trace, equations, pickers.pick, answer=answer, on_follow=_take_apart, **drawn)
    if st.button("Take it apart, down to the words", icon=":material/account_tree:", key="take_apart"):
        _take_apart(format_trail(answer.cells[-1:]))


def _take_apart(trail: str) -> None:
    """Go to the page on which numbers are taken apart, on a trail."""
    store.update(trail=tuple(trail.split("<")))
    st.switch_page("pages/take_apart.py")


def _softmax(trace: Trace, selection: Selection) -> None:
    terms = trace.terms("attention", (selection.head, selection.query, selection.key))
    if isinstance(terms, Share) and terms.divisor:
        st.markdown("##### One row of the softmax, number by number")
        score, exponential = terms.row[terms.place].value, terms.exponentials[terms.place]
        st.markdown(
            f"1. **Shift** by the row's largest score: {digits(score)} − {bracketed(terms.shift)}"
            f" = {digits(score - terms.shift)}\n"
            f"2. **Exponentiate**: exp({digits(score - terms.shift)}) = {digits(exponential)}\n"
            f"3. **Sum** the exponentials of the row: {digits(terms.divisor)}\n"
            f"4. **Divide**: {digits(exponential)} ÷ {digits(terms.divisor)} = {digits(terms.total())}"
        )
        st.plotly_chart(charts.shares(trace, terms), key="shares", config=gallery.BARE)
    st.markdown("##### The heads side by side")
    st.plotly_chart(charts.heads(trace, selection), key="heads_figure", config=gallery.BARE)


def _contributions(trace: Trace, selection: Selection) -> None:
    st.markdown("##### One row of the output, as the sum of what each head adds")
    names = ["contributions"]
    _formulas(trace, names, selection)
    equation = matrices.contributions(trace, selection)
    answer = Answer(trace, selection, names, names, {each.stage: names for each in equation})
    drawn = [equation] if gallery.legible(equation) else []
    matrix.picture(trace, drawn, partial(pickers.pick, trace), "contributions", answer=answer, on_follow=_take_apart)
    st.plotly_chart(charts.contributions(trace, selection), key="contributions_figure", config=gallery.BARE)


def _whole_pass(trace: Trace, selection: Selection, picked: str) -> None:
    st.markdown(markdown(captions.summary(trace)))
    rows = matrices.rows_of(trace, selection)
    legible = all(map(gallery.legible, rows))
    if not legible:
        st.plotly_chart(charts.overview([each for row in rows for each in row]), key="overview", config=gallery.BARE)
    to_picks = {stage.name: [stage.name] for stage in trace.stages}
    told = to_picks.get(picked, [trace.output.name])
    _explored(trace, rows if legible else (), Answer(trace, selection, (), told, to_picks), small=True)
    st.markdown("##### Every stage and its shape")
    rows = [
        f"| `{stage.name}` ${symbol(stage.name)}$: {VOCABULARY[stage.name].meaning} | "
        f"{' × '.join(map(str, stage.shape))}: {', '.join(stage.axes).replace('*', '·')} |"
        for stage in trace.stages
    ]
    st.markdown("\n".join(("| stage | shape |", "|---|---|", *rows)))
