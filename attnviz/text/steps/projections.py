"""Projections: queries, keys and values."""

from typing import NamedTuple

import numpy as np

from attnviz.core.selection import Selection
from attnviz.core.trace import Trace
from attnviz.text.entry import Caption, Entry
from attnviz.text.step import Section, Step, both, has, lacks
from attnviz.text.wording import alike, counted, each, number, numbered, tied, word

_MATRICES = ("w_q", "w_k", "w_v")


class Largest(NamedTuple):
    """The largest number of a row in size, and all places that have it."""

    size: float
    places: np.ndarray


def largest(row: np.ndarray) -> Largest:
    """What stands out in a row."""
    sizes = np.abs(row)
    place = int(sizes.argmax())
    return Largest(float(sizes[place]), tied(sizes, place))


def _projected(name: str, does: str) -> Caption:
    """The caption of a projection, whose row "asks with" its numbers, say."""

    def caption(trace: Trace, selection: Selection) -> str:
        stage = trace[name]
        axis = stage.axes[1]
        place = selection.query if axis == "query" else selection.key
        row = stage.value[selection.head, place]
        made = f"made from its {trace.inputs(name)[0].shape[-1]}" if len(stage.inputs) > 1 else "as they are given"
        size, places = largest(row)
        most = f": {each(row)}" if alike(row) else f"; the largest in size is {number(size)}, at {_places(places)}"
        who = f"In head {selection.head + 1} {word(trace, axis, place)}"
        return f"{who} {does} {counted(len(row), 'number')} ({made}){most}."

    return caption


def _places(places: np.ndarray) -> str:
    return numbered("place", places)


def _some_matrices(trace: Trace) -> bool:
    return 0 < sum(name in trace for name in _MATRICES) < len(_MATRICES)


PROJECTIONS = Step(
    id="qkv",
    title="Q, K, V",
    headings=(
        Section(
            "projected", "What each token asks, answers to and passes on", lambda trace: not lacks(*_MATRICES)(trace)
        ),
        Section("as given", "Queries, keys and values, as they are given", lacks(*_MATRICES)),
    ),
    sections=(
        Section(
            "one sentence",
            "Three matrices of parameters turn each row of $X$ into a :blue[**query**] (what this token looks for), a "
            ":orange[**key**] (what it can be found by) and a :green[**value**] (what it passes on when found).",
            both(has(*_MATRICES), lacks("context")),
        ),
        Section(
            "two sentences",
            "Matrices of parameters turn each row of $X$ into a :blue[**query**] (what this token looks for), and each "
            "row of the other sentence, $C$, into an :orange[**key**] (what it can be found by) and a "
            ":green[**value**] (what it passes on when found).",
            both(has(*_MATRICES), has("context")),
        ),
        Section(
            "no matrices",
            "This example has **no matrices of parameters**. What enters is used as it is, as :blue[**query**] (what a "
            "token looks for), :orange[**key**] (what it can be found by) and :green[**value**] (what it passes on "
            "when found).",
            lacks(*_MATRICES),
        ),
        Section(
            "some matrices",
            "Of :blue[**query**] (what a token looks for), :orange[**key**] (what it can be found by) and "
            ":green[**value**] (what it passes on when found) only some are made by matrices of parameters here. "
            "What has no matrix is the input as it is.",
            _some_matrices,
        ),
        Section(
            "bands",
            "Each head has matrices of its own, and they are **bands of columns of one big matrix**: the band of the "
            "head you look at is highlighted. A head doesn't take a slice of the embedding; it projects all of it.",
            has(*_MATRICES),
        ),
    ),
    stages=("q", "k", "v"),
    entries={
        "w_q": Entry("W^Q_i", "Query parameters", "each head's matrix that makes queries", "q", kind="parameter"),
        "w_k": Entry("W^K_i", "Key parameters", "each head's matrix that makes keys", "k", kind="parameter"),
        "w_v": Entry("W^V_i", "Value parameters", "each head's matrix that makes values", "v", kind="parameter"),
        "b_q": Entry("b^Q_i", "Query bias", "what is added to every query", "q", kind="parameter"),
        "b_k": Entry("b^K_i", "Key bias", "what is added to every key", "k", kind="parameter"),
        "b_v": Entry("b^V_i", "Value bias", "what is added to every value", "v", kind="parameter"),
        "q": Entry("Q_i", "Queries", "what each token asks", "q", caption=_projected("q", "asks with")),
        "k": Entry("K_i", "Keys", "what each token answers to", "k", caption=_projected("k", "answers to")),
        "v": Entry("V_i", "Values", "what each token passes on", "v", caption=_projected("v", "passes on")),
    },
)
