"""Some parameters of the model built by hand set to others: which strings break, as pieces of an article."""

from functools import lru_cache

from attnviz.articles import pieces
from attnviz.articles.blocks import SOURCE, shared
from attnviz.articles.doors import Door, door_to
from attnviz.contract.article import Heading, Piece, Table
from attnviz.core.changes import Change
from attnviz.explain.wording import share
from attnviz.models.strings import LENGTHS, Tried, tried

N_EXAMPLES = 4


def broken_pieces(changes: tuple[Change, ...]) -> tuple[list[Piece], dict[str, Door]]:
    """The strings that break, counted by length; and the first of them, or of all where none does, with doors."""
    results = tried(shared(changes))
    broken = [each for each in results if not each.is_right]
    examples = (broken or results)[:N_EXAMPLES]
    drawn = [
        Heading(2, "Which strings break"),
        pieces.text(
            f"The model answers all {len(results)} strings of {LENGTHS[0]} to {LENGTHS[-1]} letters a, b, c in which "
            "the last letter occurred exactly once before."
        ),
        pieces.beside([_by_length(shared(changes))], list(map(_example, examples))),
    ]
    return drawn, {each.string: door_to(SOURCE, each.string, changes=changes) for each in examples}


@lru_cache(maxsize=64)
def verdict(changes: tuple[Change, ...]) -> str:
    """The number of strings that are answered right, and of those that are answered exactly."""
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
    return Table(["letters", "strings", "right", "exact"], rows)


def _example(each: Tried) -> Piece:
    """A door to a string, and how it is answered."""
    mark = ["right", "✓"] if each.is_right else ["wrong", "✗"]
    answered = " or ".join(each.answered) or "no number"
    text = f" The answer is {answered}. The right one, {each.right}, has a probability of {share(each.probability)}."
    return pieces.door(each.string, each.string, [mark, ["", text]])
