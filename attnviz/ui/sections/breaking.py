"""Some parameters of the model built by hand set to others: which strings break."""

from collections.abc import Callable, Sequence
from functools import lru_cache

import streamlit as st

from attnviz.core.changes import Change
from attnviz.models.byhand import MODEL
from attnviz.models.ideas import IDEAS, A
from attnviz.models.strings import LENGTHS, Tried, tried
from attnviz.ui.article import pieces
from attnviz.ui.article.component import Door
from attnviz.ui.article.pieces import Piece
from attnviz.ui.sections import blocks, byhand, choice, door
from attnviz.ui.sections.blocks import MATRICES, shared
from attnviz.ui.state.store import Shown
from attnviz.ui.state.writer import Writer

NOTHING, OWN = "Nothing", "One number of your choice"
FIRST = Change("w_v_2", (0, A, A), 0.0)
"""The number that is set before a person has chosen one."""

MAX_NUMBER = 10_000.0
N_EXAMPLES = 4
BOX_WIDTH_PX = 136  # two boxes beside each other


def choose(shown: Shown, changes: tuple[Change, ...]) -> None:
    """Choose what is changed, and hear how many strings break."""
    of_all = shared(changes)
    chosen = next((idea for idea in IDEAS if idea.changes == changes), None)
    title = chosen.title if chosen else OWN if changes else NOTHING
    st.markdown("## Change it")
    st.radio(
        "What is changed",
        [NOTHING, *(idea.title for idea in IDEAS), OWN],
        key=shown.shows("idea", title),
        on_change=_chosen,
        args=(shown.writer,),
        label_visibility="collapsed",
    )
    if title == OWN:
        _own(shown, of_all[-1] if of_all else FIRST)
    for change in changes:
        if change not in of_all:
            st.markdown(f"`{change}` belongs to one string alone; all strings are tried without it.")
    st.markdown(f"{verdict(of_all)} {chosen.lesson if chosen else ''}")


def broken_pieces(changes: tuple[Change, ...]) -> tuple[list[Piece], dict[str, Door]]:
    """Which strings break, by their length; and the first of them, or of all where none does, with doors to them."""
    results = tried(shared(changes))
    broken = [each for each in results if not each.is_right]
    examples = (broken or results)[:N_EXAMPLES]
    drawn = [
        pieces.heading(2, "Which strings break"),
        pieces.text(
            f"The model answers all {len(results)} strings of {LENGTHS[0]} to {LENGTHS[-1]} letters a, b, c in which "
            "the last letter occurred exactly once before."
        ),
        pieces.beside([_by_length(shared(changes))], list(map(_example, examples))),
    ]
    return drawn, {each.string: door.parts_of(byhand.SOURCE, each.string, changes=changes) for each in examples}


@lru_cache(maxsize=64)
def verdict(changes: tuple[Change, ...]) -> str:
    """How many strings are answered right, and how many of them exactly."""
    results = tried(changes)
    n_right, n_exact = sum(each.is_right for each in results), sum(each.is_exact for each in results)
    if n_exact == len(results):
        return f"All **{len(results)}** strings are answered right, and exactly: one 1 and otherwise 0."
    broken = f"**{len(results) - n_right} break**" if n_right < len(results) else "none breaks"
    return f"Of {len(results)} strings **{n_right}** are answered right, **{n_exact}** of them exactly; {broken}."


@lru_cache(maxsize=64)
def _by_length(changes: tuple[Change, ...]) -> Piece:
    """The same for each length, as a table."""
    results = tried(changes)
    rows = []
    for length in LENGTHS:
        strings = [each for each in results if len(each.string) == length]
        counts = (length, len(strings), sum(each.is_right for each in strings), sum(each.is_exact for each in strings))
        rows.append(list(map(str, counts)))
    return pieces.table(["letters", "strings", "right", "exact"], rows)


def _example(each: Tried) -> Piece:
    """A door to a string, and how it is answered."""
    mark = ["right", "✓"] if each.is_right else ["wrong", "✗"]
    answered = " or ".join(each.answered) or "no number"
    share = byhand.share(each.probability)
    said = f" The answer is {answered}. The right one, {each.right}, has a probability of {share}."
    return pieces.door(each.string, each.string, [mark, ["", said]])


def _own(shown: Shown, change: Change) -> None:
    """Choose a parameter, one of its numbers, and what it is set to."""
    own = MODEL.arrays[change.stage]
    index = (*change.index, 0, 0)[: own.ndim]
    sides = (MATRICES[change.stage].rows, MATRICES[change.stage].columns)
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        _offer(shown, "matrix", "Parameter", list(MATRICES), change.stage)
        for name, side, at in zip(("row", "column"), sides, index[-2:], strict=True):
            _offer(shown, name, f"{name.capitalize()}: {side.title}", range(len(side.labels)), at, side.name)
        st.number_input(
            f"Number (built: {own[index]:.6g})",
            -MAX_NUMBER,
            MAX_NUMBER,
            step=1.0,
            format="%g",
            key=shown.shows("number", min(max(change.value, -MAX_NUMBER), MAX_NUMBER)),
            on_change=_set,
            args=(shown.writer,),
            width=BOX_WIDTH_PX,
        )


def _offer(shown: Shown, key: str, label: str, options: Sequence, value: object, name: Callable = str) -> None:
    choice.draw(shown, key, label, options, value, lambda writer, _: _set(writer), format_func=name, width=BOX_WIDTH_PX)


def _set(writer: Writer) -> None:
    """One number, as the boxes say; a row or column beyond another parameter's becomes its last."""
    name, value = writer.value("matrix"), writer.value("number")
    at = (
        min(writer.value(side), n - 1) for side, n in zip(("row", "column"), MODEL.arrays[name].shape[-2:], strict=True)
    )
    head = (0,) * (MODEL.arrays[name].ndim - 2)
    _change(writer, (Change(name, (*head, *at), value),))


def _chosen(writer: Writer) -> None:
    changes = {idea.title: idea.changes for idea in IDEAS} | {NOTHING: (), OWN: (FIRST,)}
    idea = writer.value("idea")
    if idea in changes:  # a message made by hand may hold anything
        _change(writer, changes[idea])


def _change(writer: Writer, changes: tuple[Change, ...]) -> None:
    byhand.update(writer, changes=changes)
    blocks.turn_to(writer, changes)
