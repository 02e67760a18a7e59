"""A lesson on the page: what a step says, its formula, its picture, its numbers, its line of NumPy."""

from collections.abc import Callable, Sequence

import streamlit as st

from attnviz import figures, insights, pictures
from attnviz.focus import Focus
from attnviz.lessons import Step, masks
from attnviz.numerals import bracketed, digits, tex
from attnviz.pictures import Matrix
from attnviz.terms import Copy, Given, Share
from attnviz.trace import Trace
from attnviz.trail import format_trail
from attnviz.ui import address, matrix
from attnviz.ui.text import markdown
from attnviz.vocabulary import VOCABULARY, symbol

BARE = {"displayModeBar": False}


def show(trace: Trace, step: Step, focus: Focus) -> None:
    """Draw a step of the walkthrough."""
    st.markdown(step.text)
    made = [name for name in step.stages if name in trace]
    if not made:
        _whole_pass(trace, focus)
        return
    if step.title == "Softmax" and not masks(trace):
        st.markdown("No mask is set, so the masked scores are the scaled ones: $Z^M = Z$.")
    _formulas(trace, made, focus)
    operands = {each for name in made for each in trace[name].inputs}  # drawn beside what is made from them
    equations = [pictures.equation(trace, name, focus) for name in made if name not in operands]
    picture(trace, equations, address.picking(trace, focus), scene=step.title)
    for name in made:
        st.markdown(markdown(insights.caption(trace, name, focus)))
    shown = [each.stage for equation in equations for each in equation]
    picked = address.picked([*shown, "contributions"] if step.title == "Output" else shown)
    _selected(trace, made if picked in (None, *made) else [picked], focus)
    if step.title == "Softmax":
        _softmax(trace, focus)
    if step.title == "Output":
        _contributions(trace, focus)
        made.append("contributions")
    lines = [line for line in map(trace.line, made) if line]
    if lines:
        st.markdown("##### In NumPy")
        st.code("\n".join(lines), language="python", wrap_lines=True)


def _formulas(trace: Trace, names: Sequence[str], focus: Focus) -> None:
    """The formulas of some stages in symbols, in one line."""
    formulas = [trace[name].operation.latex(*_symbols(trace, name, focus)) for name in names if trace[name].inputs]
    if formulas:
        st.latex(r" \qquad ".join(formulas))


def _symbols(trace: Trace, name: str, focus: Focus) -> list[str]:
    """The symbols of a stage and of its inputs, for the head in focus if the stage has heads."""
    head = focus.head if trace[name].axes[0] == "head" else None
    return [symbol(each, head) for each in (name, *trace[name].inputs)]


def picture(
    trace: Trace,
    equations: Sequence[Sequence[Matrix]],
    pick: Callable[[Matrix, int, int], None],
    key: str = "picture",
    scene: str = "",
) -> None:
    """Draw equations as tables; those that are too large for written numbers as heatmaps."""
    for number, equation in enumerate(equations):
        if not _legible(equation):
            st.plotly_chart(figures.equation(equation), key=f"large_{key}_{number}", config=BARE)
    written = [equation for equation in equations if _legible(equation)]
    if written:
        matrix.picture(trace, written, pick, key=key, scene=scene)


def gallery(trace: Trace, drawn: Sequence[Matrix], pick: Callable[[Matrix, int, int], None], key: str) -> None:
    """Draw matrices that are not of one equation, as many on a line as fit; large ones small, in one figure."""
    legible, large = [m for m in drawn if m.legible], [m for m in drawn if not m.legible]
    if legible:
        matrix.picture(trace, [(each,) for each in legible], pick, key=key, flowing=True)
    if large:
        st.plotly_chart(figures.overview(large), key=f"large_{key}", config=BARE)


def _selected(trace: Trace, names: Sequence[str], focus: Focus) -> None:
    """The cells in focus: boxes to choose them by, their formulas in their own numbers, and their terms."""
    address.pickers(trace, names, focus)
    cells = []
    for name in names:
        stage = trace[name]
        cell = stage.cell(focus.index(stage, pictures.d_v(trace)))
        terms = trace.terms(name, cell.index)
        cells.append(cell)
        if not isinstance(terms, Copy | Given):
            place = ", ".join(str(i + 1) for i in cell.index[stage.axes[0] == "head" :])
            st.latex(rf"({_symbols(trace, name, focus)[0]})_{{{place}}} = {terms.latex()} = {tex(cell.value)}")
    matrix.breakdowns(trace, cells, on_follow=_take_apart, key="breakdowns")
    if st.button("Take it apart, down to the words", icon=":material/account_tree:", key="take_apart"):
        _take_apart(format_trail(cells[-1:]))


def _take_apart(trail: str) -> None:
    """Go to the page on which numbers are taken apart, on a trail."""
    st.switch_page("pages/take_apart.py", query_params={"trail": trail})


def _legible(equation: Sequence[Matrix]) -> bool:
    return all(each.legible for each in equation)


def _softmax(trace: Trace, focus: Focus) -> None:
    terms = trace.terms("attention", (focus.head, focus.query, focus.key))
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
        st.plotly_chart(figures.shares(trace, terms), key="shares", config=BARE)
    st.markdown("##### The heads side by side")
    st.plotly_chart(figures.heads(trace, focus), key="heads_figure", config=BARE)


def _contributions(trace: Trace, focus: Focus) -> None:
    st.markdown("##### One row of the output, as the sum of what each head adds")
    _formulas(trace, ["contributions"], focus)
    st.markdown(markdown(insights.caption(trace, "contributions", focus)))
    equation = pictures.contributions(trace, focus)
    if _legible(equation):
        matrix.picture(trace, [equation], address.picking(trace, focus), key="contributions")
    st.plotly_chart(figures.contributions(trace, focus), key="contributions_figure", config=BARE)


def _whole_pass(trace: Trace, focus: Focus) -> None:
    st.markdown(markdown(insights.summary(trace)))
    last = trace.stages[-1].name
    rows = pictures.rows_of(trace, focus)
    if all(map(_legible, rows)):
        matrix.picture(trace, rows, address.picking(trace, focus), key="picture", small=True)
    else:
        st.plotly_chart(figures.overview([each for row in rows for each in row]), key="overview", config=BARE)
    _selected(trace, [address.picked([stage.name for stage in trace.stages]) or last], focus)
    st.markdown("##### Every stage and its shape")
    rows = [
        f"| `{stage.name}` ${symbol(stage.name)}$: {VOCABULARY[stage.name].meaning} | "
        f"{' × '.join(map(str, stage.shape))}: {', '.join(stage.axes).replace('*', '·')} |"
        for stage in trace.stages
    ]
    st.markdown("\n".join(("| stage | shape |", "|---|---|", *rows)))
