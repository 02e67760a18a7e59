"""A worked example on the page, told as a lesson: what it shows, what went wrong in it, where its numbers are from."""

from functools import cache

import numpy as np
import pandas as pd
import streamlit as st

from attnviz.core.numerals import digits
from attnviz.examples import EXAMPLES
from attnviz.examples.example import Example
from attnviz.examples.mistake import Mistake, Side
from attnviz.examples.printout import Agreement, Number, PrintOut
from attnviz.examples.variant import Variant
from attnviz.scene.scene import Scene
from attnviz.text.steps import STEPS, entry, steps_of
from attnviz.ui.state.store import Shown
from attnviz.ui.state.writer import Writer


@cache
def agreement() -> Agreement:
    """How many of all printed numbers agree."""
    return Agreement.of(number for example in EXAMPLES.values() for number in example.numbers)


def choose(shown: Shown) -> None:
    """The worked examples, each by what it teaches."""
    st.radio(
        "Worked example",
        list(EXAMPLES),
        format_func=lambda notebook: f"**{EXAMPLES[notebook].title}.** {EXAMPLES[notebook].lesson}",
        key=shown.shows("notebook", shown.scene.notebook),
        on_change=_chosen,
        args=(shown.writer,),
        label_visibility="collapsed",
    )


def draw(shown: Shown) -> None:
    """Tell the worked example that was chosen: what it shows, what went wrong in it, and where its numbers are from."""
    example = EXAMPLES[shown.scene.notebook]
    st.header(example.title, anchor=False)
    _passes(shown, example)
    _mistakes(shown, example)
    _published(example)


def _passes(shown: Shown, example: Example) -> None:
    """What the example shows, and its passes to open."""
    st.markdown(f"### What it shows\n\n{example.description}")
    for variant in example.variants:
        with st.container(horizontal=True, vertical_alignment="center"):
            _door(shown, example, variant, "Open", f"open_{example.id}_{variant.id}")
            ours = " :violet-badge[ours, not in the notebook]" if variant.ours else ""
            st.markdown(f"**{variant.title}.** {variant.description}{ours}")


def _door(shown: Shown, example: Example, variant: Variant, label: str, key: str, step: str = "") -> None:
    """A button to the walkthrough of a variant, at its first step or at one of that id."""
    if st.button(label, key=key, icon=":material/arrow_forward:"):
        source = f"{example.id} {variant.id}"
        shown.open_page("pages/walkthrough.py", source=source, changes=(), step=step or Scene().step)


def _published(example: Example) -> None:
    """Where the example is from, and every number that its notebook printed beside the computed one."""
    with st.expander(f"The notebook and its printed numbers: {_counted(example.agreement)}", key=f"of_{example.id}"):
        st.markdown(example.source)
        st.markdown(_lines(example.id))
        st.markdown(
            "Every number, as it was published and as it is computed here: ✓ agrees to the last digit printed, ≈ as "
            "closely as the rounded inputs allow, ✗ does not."
        )
        st.dataframe(_table(example.id), hide_index=True, height=320, key="numbers")


@cache
def _table(notebook: str) -> pd.DataFrame:
    """Every number that a notebook printed, beside the computed one."""
    return pd.DataFrame(
        [
            (print_out.name, number.published, number.shown, _mark(number))
            for print_out in EXAMPLES[notebook].print_outs
            for number in print_out.numbers
        ],
        columns=["print-out", "published", "computed", "agrees"],
    )


@cache
def _lines(notebook: str) -> str:
    """All print-outs of a notebook as a list."""
    return "\n".join(map(_line, EXAMPLES[notebook].print_outs))


def _counted(agreement: Agreement) -> str:
    """How many numbers agree, and how many of them less closely than they were printed."""
    agree = f"{agreement.n_agree} of {agreement.n_numbers} agree"
    loosely = f"{agreement.n_within_slack} of them not to the last digit, but as closely as rounded inputs allow"
    return f"{agree}, {loosely}" if agreement.n_within_slack else agree


def _mark(number: Number) -> str:
    if number.to_the_digit:
        return "✓"
    return "≈" if number.agrees else "✗"


def _line(print_out: PrintOut) -> str:
    """One print-out as an entry of a list, with its first number, or the first that does not agree."""
    n_agree = sum(number.agrees for number in print_out.numbers)
    first = next((n for n in print_out.numbers if not n.agrees), print_out.numbers[0])
    tick = ":green[✓]" if print_out.agrees else ":red[✗]"
    return (
        f"- {tick} **{print_out.name}** ({print_out.where}), {n_agree} of {len(print_out.numbers)}: "
        f"{first.published} published, {first.shown} computed. {print_out.note} {print_out.why}"
    )


def _mistakes(shown: Shown, example: Example) -> None:
    st.markdown("### What went wrong in it")
    for number, mistake in enumerate(example.mistakes):
        with st.container(border=True):
            st.markdown(f"**{mistake.title}**")
            st.markdown(mistake.explanation)
            wrong, right = st.columns(2)
            wrong.markdown(f":red[✗] {_side(mistake.wrong)}")
            right.markdown(f":green[✓] {_side(mistake.right)}")
            label = f"See {entry(mistake.stage).title.lower()} in “{mistake.variant.title}”"
            _door(shown, example, mistake.variant, label, f"mistake_{example.id}_{number}", _step_of(mistake))


def _side(side: Side) -> str:
    values = side.value
    shown = str(tuple(values.tolist())) if "shape" in side.what else ", ".join(_digits(v) for v in np.ravel(values))
    return f"{side.what}:\n\n`{shown}`"


def _digits(value: float) -> str:
    return "nan" if np.isnan(value) else digits(float(value))


def _step_of(mistake: Mistake) -> str:
    """The step that shows the stage where wrong and right diverge."""
    steps = steps_of(mistake.variant.trace)
    return next((step.id for step in steps if mistake.stage in step.stages), STEPS[-1].id)


def _chosen(writer: Writer) -> None:
    notebook = writer.value("notebook")
    if notebook in EXAMPLES:  # a message made by hand may hold anything
        writer.update(notebook=notebook)
