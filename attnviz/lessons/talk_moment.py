"""Talk moment: a moment of somebody's own talk as the browser reads it; what doesn't fit its pass is refused."""

from __future__ import annotations

import math

import numpy as np

from attnviz.lessons.expression import EXPRESSION_ERRORS
from attnviz.lessons.moment import as_sent, opened
from attnviz.lessons.reference import LessonError, Passes
from attnviz.lessons.slots import filled_where_it_fits
from attnviz.lessons.talk import TalkError, TalkMoment, check_moment
from attnviz.scene.contract.lesson import Fill, Question
from attnviz.scene.document.encoding import to_json


def talk_moment(made: TalkMoment) -> bytes:
    """A moment of a talk as JSON, as `contract.lesson` declares it.

    Raises
    ------
    TalkError
        If its address opens no pass as it is, or that has no answer to its question.
    """
    check_moment(made)
    passes = opened_politely(made.at)
    try:
        with np.errstate(all="ignore"):
            sent = as_sent(made, passes, filled_where_it_fits)
        check_answer(sent.question)
        return to_json(sent)
    except TalkError:
        raise
    except LessonError as error:
        raise TalkError(f"This doesn’t fit the pass: {str(error)[:400]}") from None
    except EXPRESSION_ERRORS:
        raise TalkError("This pass has no answer to the question: choose another one.") from None


def opened_politely(at: str) -> Passes:
    """The passes of an address that somebody may have changed.

    Raises
    ------
    TalkError
        If it doesn't open as it is.
    """
    try:
        return opened(at)
    except LessonError as error:
        raise TalkError(str(error)[:400]) from None
    except ValueError:
        raise TalkError("The address of a moment has parameters, as in model=who-is-it&view=sheet.") from None


def check_answer(asked: Question | None) -> None:
    """Hold that the answer of a number is a number.

    Raises
    ------
    TalkError
    """
    if not isinstance(asked, Fill):
        return
    numbers = [asked.right, asked.tolerance, *(each.value for each in asked.nears)]
    if isinstance(asked.right, bool) or not all(map(math.isfinite, numbers)) or asked.tolerance < 0:
        raise TalkError("The answer to this question is no number that somebody could give: choose another one.")
