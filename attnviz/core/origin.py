"""Origin: where the parameters of a pass come from, and what they are for."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["given", "drawn", "learnt", "built"]


@dataclass(frozen=True)
class Origin:
    """Where the parameters of a pass come from, and what they are for.

    Attributes
    ----------
    kind : {"given", "drawn", "learnt", "built"}
        Chosen by someone for an example; drawn at random, as at the beginning of training; learnt in training;
        or built by hand.
    title : str
        The name of the model; empty where there is none.
    question : str
        What the model answers, with `{sentence}` for the words.
    task : str
        What it was trained or built for, in one or two sentences.
    read : {"", "last", "each"}
        At which tokens its answer is read: none, the last, or each.
    right : tuple of str or None
        For each token the right answer; None where nothing is asked, or nobody knows.
    layers : tuple of str
        What each of several layers does for it, in one sentence each.
    looks : tuple of (int, int)
        In each of these layers the place of a query that does so, and that of the key which it looks at by then; none
        where nobody knows.
    is_open : bool
        Whether it says what may come next, so that no answer is the right one.
    spoken : str
        The text as one reads it, where that is not its words with spaces between.
    unit : str
        What one of its tokens is called: a word, or a letter.
    rows : tuple of int
        For each token which of all that the model knows it is, whatever it is called on the screen.
    """

    kind: Kind = "given"
    title: str = ""
    question: str = ""
    task: str = ""
    read: Literal["", "last", "each"] = ""
    right: tuple[str | None, ...] = ()
    layers: tuple[str, ...] = ()
    looks: tuple[tuple[int, int], ...] = ()
    is_open: bool = False
    spoken: str = ""
    unit: str = "word"
    rows: tuple[int, ...] = ()


GIVEN = Origin()
"""That of parameters that someone chose."""
