"""The parameters of the model built by hand, block by block: what each matrix reads, and where it puts it."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from attnviz.articles import pieces
from attnviz.articles.matrix import Side, matrix
from attnviz.contract.article import Alternatives, Heading, Piece
from attnviz.core.changes import Change
from attnviz.explain.markup import runs
from attnviz.explain.wording import counted
from attnviz.models.byhand import BLOCKS, MODEL, N_PLACES, SHARPNESS
from attnviz.models.ideas import IDEAS, parameters_with

SOURCE = "by-hand"
WORDS = MODEL.task.words
WAVES = tuple(f"{name} {wave}" for wave in (1, 2, 3) for name in ("cos", "sin"))
VECTOR = Side("a vector", (*WORDS, *WAVES, *WORDS), BLOCKS)


@dataclass(frozen=True)
class Matrix:
    """A parameter: its symbol, what it is for as it was built, and its sides."""

    name: str
    symbol: str
    purpose: str
    rows: Side
    columns: Side


def _reading(name: str, letter: str, what: str, labels: tuple[str, ...], purpose: str) -> Matrix:
    return Matrix(name, f"W^{letter}", purpose, VECTOR, Side(what, labels))


def _writing(name: str, purpose: str) -> Matrix:
    return Matrix(name, "W^O", purpose, Side("what was mixed", WORDS), VECTOR)


LAYER_1 = "Layer 1: which word came before?"
LAYER_2 = "Layer 2: who comes after this word?"
PARTS = {
    "What enters": (
        Matrix(
            "embeddings",
            "E",
            "Each **word** is a single 1, in the block of words.",
            Side("words", WORDS),
            VECTOR,
        ),
        Matrix(
            "positions",
            "P",
            "Each **position** is three waves, a cosine and a sine of each. The block “previous word” stays empty: "
            "layer 1 fills it.",
            Side("positions", tuple(map(str, range(1, N_PLACES + 1)))),
            VECTOR,
        ),
    ),
    LAYER_1: (
        _reading(
            "w_q_1",
            "Q",
            "a query",
            WAVES,
            "Reads the position, **turned back by one step**: I ask for the one before mine.",
        ),
        _reading("w_k_1", "K", "a key", WAVES, f"Reads the position, times the sharpness {SHARPNESS:g}: this is mine."),
        _reading("w_v_1", "V", "a value", WORDS, "Reads the word: this is what I pass on."),
        _writing(
            "w_o_1",
            "Writes the word it got into the block **“previous word”**. The vector that entered is added, so word and "
            "position are kept.",
        ),
    ),
    LAYER_2: (
        _reading("w_q_2", "Q", "a query", WORDS, "Reads the word: I ask **who comes after this word**."),
        _reading(
            "w_k_2",
            "K",
            "a key",
            WORDS,
            f"Reads the previous word, times the sharpness {SHARPNESS:g}: I come after that word.",
        ),
        _reading("w_v_2", "V", "a value", WORDS, "Reads the word: this is what I pass on."),
        _writing(
            "w_o_2",
            "Writes the word it got into the block of words. Nothing is added, so **the output is the answer alone**.",
        ),
    ),
    "The answer": (
        Matrix(
            "w_u",
            "W^U",
            f"Reads the word, times the sharpness {SHARPNESS:g}: its softmax is 1 for that word.",
            VECTOR,
            Side("answers", WORDS),
        ),
    ),
}
"""The parameters in the order in which a pass comes to them, by what they do together."""

PARAMETERS = {parameter.name: parameter for part in PARTS.values() for parameter in part}
MATRICES = {name: parameter for name, parameter in PARAMETERS.items() if name.startswith("w_")}
"""The parameters that all strings share: of embeddings and positions a string has its own rows."""


def matrix_pieces(chosen: str, changes: tuple[Change, ...]) -> list[Piece]:
    """The matrices of each part of the model with what they are for; some of their numbers may be changed.

    Parameters
    ----------
    chosen : str
        The part that is shown.
    changes : tuple of Change
    """
    values = parameters_with(changes)
    options = [
        pieces.option(part, part, [pieces.beside(*(_drawn(each, values[each.name]) for each in parameters))])
        for part, parameters in PARTS.items()
    ]
    return [
        Heading(2, "What each block of each matrix is for"),
        pieces.text(
            "Rows are what a matrix reads, columns what it makes; the three blocks are named, and zeros are left out. "
            f"Each other number was chosen: 1, a cosine, a sine or the sharpness {SHARPNESS:g}. "
            + ("What is **changed** is drawn as it is now." if changes else "")
        ),
        Alternatives("part", "Part of the model", "pills", chosen, options),
    ]


def _drawn(parameter: Matrix, value: np.ndarray) -> list[Piece]:
    """A parameter with what it is for."""
    is_built = value is MODEL.arrays[parameter.name]
    return _built(parameter.name) if is_built else _pieces(parameter, value)


@cache
def _built(name: str) -> list[Piece]:
    """A parameter as it was built, laid out once in a process."""
    return _pieces(PARAMETERS[name], MODEL.arrays[name])


def _pieces(parameter: Matrix, value: np.ndarray) -> list[Piece]:
    symbol = parameter.symbol.replace("^", " ")
    numbers = value[0] if value.ndim == 3 else value
    return [
        pieces.text([["math", parameter.symbol], ["", " · "], *runs(purpose(parameter, value))]),
        matrix(f"The matrix {symbol}", numbers, parameter.rows, parameter.columns),
    ]


def changed_parts(changes: tuple[Change, ...]) -> list[str]:
    """The parts of the model in which something is changed."""
    names = {change.stage for change in changes}
    return [part for part, parameters in PARTS.items() if not names.isdisjoint(each.name for each in parameters)]


def purpose(parameter: Matrix, value: np.ndarray) -> str:
    """The purpose of a parameter as it is now: as built, as an idea has it, or with some numbers changed."""
    built = MODEL.arrays[parameter.name]
    if np.array_equal(value, built):
        return parameter.purpose
    for idea in IDEAS:
        if parameter.name in idea.purposes and np.array_equal(value, parameters_with(idea.changes)[parameter.name]):
            return f"**Changed.** {idea.purposes[parameter.name]}"
    n_changed = counted(np.count_nonzero(value != built), "number")
    return f"**Changed**, {n_changed}. As it was built: {parameter.purpose[0].lower()}{parameter.purpose[1:]}"


def shared(changes: tuple[Change, ...]) -> tuple[Change, ...]:
    """The changes of parameters that all strings share."""
    return tuple(change for change in changes if change.stage in MATRICES)
