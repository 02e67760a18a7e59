"""Talk moment: a moment of somebody's own talk as the browser reads it; what doesn't fit its pass is refused."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType

import numpy as np

from attnviz.contract.lesson import Fill, Moment, Question
from attnviz.core.errors import OwnArraysError
from attnviz.lessons.expression import EXPRESSION_ERRORS
from attnviz.lessons.moment import as_sent, opened
from attnviz.lessons.questions.extreme import Extreme
from attnviz.lessons.reference import LessonError, Passes, find
from attnviz.lessons.slots import filled_where_it_fits
from attnviz.lessons.talk import TalkError, TalkMoment, check_moment
from attnviz.lessons.talk_uploads import by_source


def talk_moment(made: TalkMoment, uploads: Mapping[str, str] = MappingProxyType({})) -> Moment:
    """A moment of a talk, as `contract.lesson` declares it; `uploads` are the talk's files of somebody's own.

    Raises
    ------
    TalkError
        If its address opens no pass as it is, or that has no answer to its question.
    """
    check_moment(made)
    passes = opened_politely(made.at, made.uploads, uploads)
    try:
        with np.errstate(all="ignore"):
            sent = as_sent(made, passes, filled_where_it_fits)
        check_answer(sent.question)
        if isinstance(made.ask, Extreme):
            sent.asked_cell = _neutral(made.ask, passes)
        return sent
    except TalkError:
        raise
    except LessonError as error:
        raise TalkError(f"This doesn’t fit the pass: {str(error)[:400]}") from None
    except EXPRESSION_ERRORS:
        raise TalkError("This pass has no answer to the question: choose another one.") from None


def _neutral(ask: Extreme, passes: Passes) -> str | None:
    """The cell to stand at until the answer is shown: what somebody picked as they collected the moment may be it."""
    row = find(ask.of, passes)
    axis = row.index.index(None)
    place = (row.index[axis - 1] or 0) if axis else 0  # a word's own place in its row
    return str(row.cells[min(place, len(row.cells) - 1)]) if row.of == "B" else None


def opened_politely(at: str, names: Iterable[str] = (), uploads: Mapping[str, str] = MappingProxyType({})) -> Passes:
    """The passes of an address that somebody may have changed, with those of a talk's files that are named.

    Raises
    ------
    TalkError
        If it doesn't open as it is.
    """
    try:
        return opened(at, by_source(names, uploads))
    except (LessonError, OwnArraysError) as error:
        raise TalkError(str(error)[:400]) from None
    except ValueError:
        raise TalkError("The address of a moment has parameters, as in model=who-is-it&view=sheet.") from None


def check_answer(question: Question | None) -> None:
    """Hold that the answer of a number is a number.

    Raises
    ------
    TalkError
    """
    if not isinstance(question, Fill):
        return
    numbers = [question.right, question.tolerance, *(each.value for each in question.nears)]
    if isinstance(question.right, bool) or not all(map(math.isfinite, numbers)) or question.tolerance < 0:
        raise TalkError("The answer to this question is no number that somebody could give: choose another one.")
