"""The article on the model built by hand: what its layers look at, what each matrix is for, and which strings a change
breaks.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from attnviz.articles import pieces
from attnviz.articles.pieces import Door, Side, door_to, matrix
from attnviz.contract.article import Alternatives, Columns, Heading, Piece, Table
from attnviz.core.changes import Change
from attnviz.core.trace import Trace
from attnviz.explain.styled_text import Runs, runs
from attnviz.explain.wording import counted, share
from attnviz.models import MODELS
from attnviz.models.induction_byhand import (
    BLOCKS,
    IDEAS,
    LENGTHS,
    MODEL,
    N_PLACES,
    SHARPNESS,
    Outcome,
    changed_parameters,
    outcomes,
)
from attnviz.models.task import most_probable
from attnviz.scene.with_pass import SceneWithPass

SOURCE = "by-hand"
WORDS = MODEL.task.words
WAVES = tuple(f"{name} {wave}" for wave in (1, 2, 3) for name in ("cos", "sin"))
VECTOR = Side("a vector", (*WORDS, *WAVES, *WORDS), BLOCKS)


@dataclass(frozen=True)
class Matrix:
    """A parameter: its symbol, its purpose as built, and its rows and columns."""

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
PARTS = {  # the parameters by part of the model, in the order of a pass
    "What enters": (
        Matrix("embeddings", "E", "Each **word** is a single 1, in the block of words.", Side("words", WORDS), VECTOR),
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

PARAMETERS = {parameter.name: parameter for part in PARTS.values() for parameter in part}
# the parameters that all strings share; of embeddings and positions a string only uses some rows
MATRICES = {name: parameter for name, parameter in PARAMETERS.items() if name.startswith("w_")}


def matrix_pieces(chosen: str, changes: tuple[Change, ...]) -> list[Piece]:
    """The matrices of each part of the model with what they are for; some of their numbers may be changed."""
    values = changed_parameters(changes)
    options = [
        pieces.option(part, part, [Columns([_pieces(each, values[each.name]) for each in parameters])])
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
        if parameter.name in idea.purposes and np.array_equal(value, changed_parameters(idea.changes)[parameter.name]):
            return f"**Changed.** {idea.purposes[parameter.name]}"
    n_changed = counted(np.count_nonzero(value != built), "number")
    return f"**Changed**, {n_changed}. As it was built: {parameter.purpose[0].lower()}{parameter.purpose[1:]}"


def shared(changes: tuple[Change, ...]) -> tuple[Change, ...]:
    """The changes of parameters that all strings share."""
    return tuple(change for change in changes if change.stage in MATRICES)


N_EXAMPLES = 4


def broken_pieces(changes: tuple[Change, ...]) -> tuple[list[Piece], dict[str, Door]]:
    """The strings that break, counted by length, and some examples with links."""
    results = outcomes(shared(changes))
    broken = [each for each in results if not each.is_right]
    examples = (broken or results)[:N_EXAMPLES]
    drawn = [
        Heading(2, "Which strings break"),
        pieces.text(
            f"The model answers all {len(results)} strings of {LENGTHS[0]} to {LENGTHS[-1]} letters a, b, c in which "
            "the last letter occurred exactly once before."
        ),
        Columns([[_by_length(shared(changes))], list(map(_example, examples))]),
    ]
    return drawn, {each.string: door_to(SOURCE, each.string, changes=changes) for each in examples}


@lru_cache(maxsize=64)
def verdict(changes: tuple[Change, ...]) -> str:
    """The number of strings that are answered right, and of those that are answered exactly."""
    results = outcomes(changes)
    n_right, n_exact = sum(each.is_right for each in results), sum(each.is_exact for each in results)
    if n_exact == len(results):
        return f"All **{len(results)}** strings are answered right, and exactly: one 1 and otherwise 0."
    broken = f"**{len(results) - n_right} break**" if n_right < len(results) else "none breaks"
    return f"Of {len(results)} strings **{n_right}** are answered right, **{n_exact}** of them exactly; {broken}."


@lru_cache(maxsize=64)
def _by_length(changes: tuple[Change, ...]) -> Piece:
    results = outcomes(changes)
    rows = []
    for length in LENGTHS:
        strings = [each for each in results if len(each.string) == length]
        counts = (length, len(strings), sum(each.is_right for each in strings), sum(each.is_exact for each in strings))
        rows.append(list(map(str, counts)))
    return Table(["letters", "strings", "right", "exact"], rows)


def _example(each: Outcome) -> Piece:
    mark = ["right", "✓"] if each.is_right else ["wrong", "✗"]
    answered = " or ".join(each.answered) or "no number"
    text = f" The answer is {answered}. The right one, {each.right}, has a probability of {share(each.probability)}."
    return pieces.door(each.string, each.string, [mark, ["", text]])


TRAINED = "recall"


def pictures(resolved: SceneWithPass, part: str) -> tuple[list[Piece], dict[str, Door]]:
    """All pictures of the page, for the selected part of the model, and their links."""
    changes = resolved.scene.changes
    string, at_string = string_pieces(resolved)
    broken, at_broken = broken_pieces(changes)
    trained, at_trained = trained_pieces()
    return [*string, *matrix_pieces(part, shared(changes)), *broken, *trained], at_string | at_broken | at_trained


def string_pieces(resolved: SceneWithPass) -> tuple[list[Piece], dict[str, Door]]:
    """Both layers' attention and the answer for a string, if it makes a pass; and its link."""
    if resolved.trace is None:
        return [], {}
    scene, trace = resolved.scene, resolved.trace
    output = matrix("The output of the last letter", trace["output_2"].value[-1:], Side("", ("output",)), VECTOR)
    drawn = [
        pieces.door("open", "Open in the walkthrough", _answer(trace)),
        Columns([_layer(trace, layer, title) for layer, title in ((1, LAYER_1), (2, LAYER_2))]),
        pieces.text("**The output of the last letter**"),
        output,
    ]
    return drawn, {"open": door_to(SOURCE, scene.sentence, changes=scene.changes)}


def _layer(trace: Trace, layer: int, title: str) -> list[Piece]:
    attention, words = trace[f"attention_{layer}"].value[0], trace.labels["query"]
    sides = Side("queries", words), Side("keys", words)
    return [
        pieces.text([["strong", title], ["", f" {_looks(words, attention[-1])}"]]),
        matrix(f"The attention of layer {layer}", attention, *sides, is_share=True),
    ]


def trained_pieces() -> tuple[list[Piece], dict[str, Door]]:
    """The section on a trained model that finds the same two layers, with measured weights; and its link."""
    choice = MODELS[TRAINED]
    trainings = [choice.training_data(seed, None)["patterns"] for seed in choice.seeds]
    measured = []
    for patterns in zip(*trainings, strict=True):
        least = math.floor(100 * min(each["value"] for each in patterns))
        measured.append(f"{patterns[0]['label']} **{least} % or more**")
    paragraph = (
        f"Nobody chose the parameters of “{choice.title}”. Trained from {len(choice.seeds)} seeds, it has come to the "
        f"same two layers each time ({'; '.join(measured)}). Together they are called an *induction circuit*."
    )
    drawn = [Heading(2, "Training finds the same"), pieces.text(paragraph), pieces.door("trained", choice.title)]
    return drawn, {"trained": door_to(TRAINED, choice.examples[0][1])}


def _looks(words: tuple[str, ...], row: np.ndarray) -> str:
    most = np.flatnonzero(row == row.max())
    if len(most) > 1:
        return f"The last “{words[-1]}” looks at {len(most)} positions alike, {share(row.max())} each."
    return f"The last “{words[-1]}” looks most at “{words[most[0]]}”: {share(row.max())}."


def _answer(trace: Trace) -> Runs:
    """The model's answer at the last letter, whether that is right, and whether it is exact."""
    probabilities, answers = trace["probabilities"].value[-1], trace.labels["answer"]
    most = [answers[place] for place in np.flatnonzero(most_probable(probabilities))]
    each = " each" if len(most) > 1 else ""
    answered = runs(f"The answer is **{' or '.join(most)}**, with a probability of {share(probabilities.max())}{each}")
    right = trace.origin.right[-1]
    if right is None:
        return [*answered, ["", ". The last letter did not occur exactly once before, so no answer is right."]]
    mark = [["right", " ✓"]] if most == [right] else [["wrong", " ✗"], *runs(f" (**{right}** is right)")]
    output = trace["output_2"].value[-1]
    is_exact = np.count_nonzero(output) == 1 and output.max() == 1
    return [*answered, *mark, ["", f". The output is {'' if is_exact else 'not '}exactly one 1 and otherwise 0."]]
