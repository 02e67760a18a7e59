"""English as it is typed: what a model of plain words reads of it, and what is said of that."""

import pytest

from attnviz.models.tasks.translation import TypedEnglish


class Reader(TypedEnglish):
    words = ("the", "cat", "it", "they", "is", "are", "do", "does", "not", "sleep", "too", "dog's")


TYPED = {  # a text: the words that are read, and in how many ways otherwise than it was typed
    "the cat": ("the cat", 0),
    "The cat": ("the cat", 1),
    "the cat does not sleep.": ("the cat does not sleep", 1),
    "the cat, the dog!": ("the cat the dog", 1),
    "the cat doesn't sleep": ("the cat does not sleep", 1),
    "the cat doesn’t sleep": ("the cat does not sleep", 1),
    "They don't sleep.": ("they do not sleep", 3),
    "it's too": ("it is too", 1),
    "they're not": ("they are not", 1),
    "it isn't": ("it is not", 1),
    "the dog's": ("the dog's", 0),
    "the cow's": ("the cow's", 0),
    "it can't": ("it can't", 0),
    "“the cat” is": ("the cat is", 1),
    '"the cat" is': ("the cat is", 1),
    "is it?": ("is it ?", 0),
    "": ("", 0),
    " . ": ("", 0),
}


@pytest.mark.parametrize(("typed", "read"), TYPED.items(), ids=[*TYPED])
def test_short_forms_capitals_and_marks_are_read_and_said(typed, read):
    words, n_ways = read
    assert " ".join(Reader().split(typed)) == words
    notes = Reader().notes(typed)
    assert len(notes) == (n_ways > 0)
    for note in notes:
        assert f"“{words}”" in note
        assert note.count(",") == n_ways - 1


def test_a_note_quotes_no_more_than_a_line():
    (note,) = Reader().notes("The " + "cat " * 100)
    assert len(note) < 120
