"""A lesson on the page: what a step says, its formula, its picture, its numbers, its line of NumPy."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from attnviz.core.terms import Cell
from attnviz.text import captions
from attnviz.text.explanations import Explanation
from attnviz.text.step import Step
from attnviz.text.steps.softmax import row_steps
from attnviz.text.vocabulary import VOCABULARY, symbol
from attnviz.ui.escaping import markdown
from attnviz.ui.sections import gallery, pickers
from attnviz.ui.state.store import Shown
from attnviz.ui.viewer import matrix
from attnviz.views import charts, matrices
from attnviz.views.matrices import Matrix


def draw(shown: Shown, step: Step) -> None:
    """Draw a step of the walkthrough."""
    trace, scene = shown.trace, shown.scene
    st.markdown(step.text)
    if not step.stages:
        _whole_pass(shown)
        return
    for note in step.notes:
        st.markdown(note.text)
    _formulas(shown, step.stages)
    operands = {each for name in step.stages for each in trace[name].inputs}  # drawn beside what is made from them
    equations = [matrices.equation(trace, name, scene.selection) for name in step.stages if name not in operands]
    drawn = dict.fromkeys(each.stage for equation in equations for each in equation)
    explained_for = {name: step.stages if name in step.stages else [name] for name in drawn}
    explained = explained_for.get(scene.picked, step.stages)
    explanation = Explanation(trace, scene.selection, step.stages, explained, explained_for)
    _explored(shown, equations, explanation, scene=step.id)
    for chart in step.charts:
        _CHARTS[chart.name](shown)
    names = (*step.stages, *(name for chart in step.charts for name in chart.stages))
    lines = [line for name in names for line in trace.lines(name)]
    if lines:
        st.markdown("##### In NumPy")
        st.code("\n".join(lines), language="python", wrap_lines=True)


def _formulas(shown: Shown, names: Sequence[str]) -> None:
    """The formulas of some stages in symbols, in one line."""
    formulas = []
    for stage in (shown.trace[name] for name in names if shown.trace[name].inputs):
        head = shown.scene.selection.head if stage.axes[0] == "head" else None
        formulas.append(stage.operation.latex(*(symbol(each, head) for each in (stage.name, *stage.inputs))))
    if formulas:
        st.latex(r" \qquad ".join(formulas))


def _explored(shown: Shown, equations: Sequence[Sequence[Matrix]], answer: Explanation, **drawn: str | bool) -> None:
    """Equations with their answer, and boxes to pick a cell by."""
    take_apart = partial(_take_apart, shown)
    pickers.draw(shown, answer.explained)
    gallery.equations(shown, equations, pickers.pick, answer=answer, on_follow=take_apart, **drawn)
    if st.button("Take it apart, down to the words", icon=":material/account_tree:", key=shown.key("take_apart")):
        take_apart(answer.cells[-1:])


def _take_apart(shown: Shown, trail: Sequence[Cell]) -> None:
    """Go to the page on which numbers are taken apart, on a trail."""
    shown.update(trail=tuple(map(str, trail)))
    st.switch_page("pages/take_apart.py")


def _shares(shown: Shown) -> None:
    trace, selection = shown.trace, shown.scene.selection
    steps = row_steps(trace, selection)
    if not steps:
        return
    st.markdown("##### One row of the softmax, number by number")
    st.markdown("\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1)))
    terms = trace.terms("attention", (selection.head, selection.query, selection.key))
    st.plotly_chart(charts.shares(trace, terms), key=shown.key("shares"), config=gallery.BARE)


def _heads(shown: Shown) -> None:
    st.markdown("##### The heads side by side")
    st.plotly_chart(
        charts.heads(shown.trace, shown.scene.selection), key=shown.key("heads_figure"), config=gallery.BARE
    )


def _contributions(shown: Shown) -> None:
    st.markdown("##### One row of the output, as the sum of what each head adds")
    trace, selection, names = shown.trace, shown.scene.selection, ["contributions"]
    _formulas(shown, names)
    equation = matrices.contributions(trace, selection)
    answer = Explanation(trace, selection, names, names, {each.stage: names for each in equation})
    drawn = [equation] if gallery.legible(equation) else []
    pick, take_apart = partial(pickers.pick, shown), partial(_take_apart, shown)
    matrix.picture(trace, drawn, pick, shown.key("contributions"), answer=answer, on_follow=take_apart)
    st.plotly_chart(charts.contributions(trace, selection), key=shown.key("contributions_figure"), config=gallery.BARE)


def _whole_pass(shown: Shown) -> None:
    trace, selection = shown.trace, shown.scene.selection
    st.markdown(markdown(captions.summary(trace)))
    rows = matrices.rows_of(trace, selection)
    legible = all(map(gallery.legible, rows))
    if not legible:
        st.plotly_chart(
            charts.overview([each for row in rows for each in row]), key=shown.key("overview"), config=gallery.BARE
        )
    explained_for = {stage.name: [stage.name] for stage in trace.stages}
    explained = explained_for.get(shown.scene.picked, [trace.output.name])
    explanation = Explanation(trace, selection, (), explained, explained_for)
    _explored(shown, rows if legible else (), explanation, small=True)
    st.markdown("##### Every stage and its shape")
    rows = [
        f"| `{stage.name}` ${symbol(stage.name)}$: {VOCABULARY[stage.name].meaning} | "
        f"{' × '.join(map(str, stage.shape))}: {', '.join(stage.axes).replace('*', '·')} |"
        for stage in trace.stages
    ]
    st.markdown("\n".join(("| stage | shape |", "|---|---|", *rows)))


_CHARTS = {"shares": _shares, "heads": _heads, "contributions": _contributions}
"""How each chart of a step is drawn."""
