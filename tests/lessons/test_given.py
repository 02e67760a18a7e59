"""Given numbers: a question can be answered from them alone, and none of them is the answer."""

import functools
import math
from fractions import Fraction

import msgspec
import numpy as np
import pytest

from attnviz.contract.lesson import Fill, Gaps
from attnviz.core.stage import split_layer
from attnviz.lessons import lesson as lessons
from attnviz.lessons.cell_reference import find
from attnviz.lessons.given import MOST_NUMBERS
from attnviz.lessons.lesson import LESSONS
from attnviz.lessons.needs import need
from attnviz.lessons.questions import AnyQuestion
from attnviz.lessons.questions.numbers import Number, Percentage
from attnviz.lessons.questions.picks import PickWord
from attnviz.lessons.talk import TalkMoment, talk_moment
from attnviz.lessons.talk_request import suggested_questions

moments_of, passes_at = functools.cache(lessons.moments_of), functools.cache(lessons.passes_at)
WORDS = {"four": 4.0}


def read(text):
    """A number as somebody reads it."""
    text = text.replace("−", "-").replace("∞", "inf").replace("over ", "").replace("under ", "").replace("\xa0", " ")
    if text in WORDS:
        return WORDS[text]
    return (
        float(text.removesuffix(" %")) / 100 if text.endswith("%") else float(Fraction(text) if "/" in text else text)
    )


def softmax(scores, base=math.e):
    powers = np.power(base, np.asarray(scores, dtype=float))
    return powers / powers.sum()


ANSWERS = {  # for each question what its needed numbers give by a formula of the lesson: a number, a label, or all gaps
    ("who-is-it", "query-meets-key"): lambda n: (
        "street" if np.dot(n[:8], n[8:16]) < np.dot(n[:8], n[16:]) else "animal"
    ),
    ("who-is-it", "scores-to-weights"): lambda n: softmax(n)[1],
    ("who-is-it", "handed-over"): lambda n: "dimension 6" if abs(n[0] * n[2]) > abs(n[1] * n[3]) else "dimension 4",
    ("who-is-it", "hidden-answer"): lambda n: "street" if n[0] > n[1] else "was",
    ("one-number", "more-than-half"): lambda n: "more" if softmax(n, 2)[0] > 1 / 2 else "less",
    ("one-number", "key"): lambda n: n[0] * n[2] + n[1] * n[3],
    ("one-number", "powers"): lambda n: [2 ** n[2], sum(2**each for each in n), *softmax(n, 2)[1:]],
    ("one-number", "value"): lambda n: [n[1] * n[4], n[2] * n[5], np.dot(n[:3], n[3:])],
    ("one-number", "output"): lambda n: np.dot(n[:2], n[2:]),
    ("one-number", "weight"): lambda n: [*(2**each for each in n), sum(2**each for each in n), *softmax(n, 2)],
    ("one-number", "no-powers"): lambda n: n[0] / sum(n),
    ("masks", "first-word"): lambda n: [0, 0, 2 ** n[0], 1, 0, 0],
    ("masks", "new-scores"): lambda n: softmax(n, 2)[2],
    ("masks", "too-late"): sum,
    ("root", "nudge"): lambda n: n[0] * math.e / (n[0] * math.e + 1 - n[0]),
    ("root", "weight-moves"): lambda n: 100 * 0.01 * n[0],
    ("root", "score-again"): lambda n: np.dot(n[:2], n[2:]),
    ("root", "mask-again"): lambda n: "she" if n[0] > n[1] else "ate",
    ("heads", "one-look"): lambda n: 1 - n[0],
    ("heads", "mute-a-head"): lambda n: [0, n[1] - n[0]],
    ("heads", "root-again"): lambda n: math.sqrt(n[0]),
    ("two-layers", "value-again"): lambda n: np.dot(n[:3], n[3:]),
    ("microgpt", "training"): lambda n: 1 / n[0],
    ("translator", "read-the-rows"): lambda n: [0, 1 - sum(n)],
}
READ_OFF_THE_TABLE = {("order", "add-it")}  # whose given cells are what is added
PREDICTED = {("two-layers", "without-the-note")}  # a guess, which no formula of the lesson gives


def asked():
    """Each lesson question with a number that it needs: its place, its source, its moment and its passes."""
    for lesson, own in LESSONS.items():
        for made, moment in zip(own.moment, moments_of(lesson), strict=True):
            passes = passes_at(made.at)
            if made.ask and any(need(each, passes).numbers for each in made.ask.needs):
                yield (lesson, made.id), made, moment, passes


def test_needed_numbers_give_the_right_answer():
    wrong, met = [], set()
    for place, made, moment, passes in asked():
        question = moment.question
        numbers = [read(text) for each in made.ask.needs if (own := need(each, passes)).numbers for text in own.texts]
        if place not in ANSWERS:
            is_computed = isinstance(question, Fill | Gaps) and place not in READ_OFF_THE_TABLE | PREDICTED
            wrong += [(place, "has no formula here")] if is_computed else []
            continue
        met.add(place)
        found = ANSWERS[place](numbers)
        if isinstance(question, Fill):
            is_right = abs(found - question.right) <= question.tolerance
        elif isinstance(question, Gaps):
            gaps = question.gaps
            is_right = len(gaps) == len(found) and all(
                min(abs(by * one - gap.value) for by in (1, 100)) <= max(gap.tolerance, 0.01)
                for one, gap in zip(found, gaps, strict=True)
            )
        else:
            is_right = found in [question.candidates[index].label for index in question.right]
        wrong += [] if is_right else [(place, numbers, found)]
    assert wrong == []
    assert met == set(ANSWERS)


PASSES = [
    *(f"model=who-is-it&checkpoint=9&step={step}&cell=1.12.2.1.1" for step in ("scores", "scaling", "weighted-sum")),
    *(f"model=who-is-it&checkpoint=9&step={step}&cell=1.12.2.1.1" for step in ("softmax", "output", "answer")),
    *(
        f"model=microgpt&step={step}&cell=2.3.2.1.1"
        for step in ("scores", "scaling", "weighted-sum", "output", "answer")
    ),
    *(f"step={step}&cell=1.2.2.1.1&mask=causal" for step in ("scores", "scaling", "softmax", "weighted-sum", "output")),
    *(f"model=translator&step={step}" for step in ("scores", "weighted-sum", "output", "answer")),
]


def computed(name, index, rows):
    """What somebody computes from some rows for a cell of a stage."""
    numbers = [np.array([read(text) for text in row.texts if "÷" not in text]) for row in rows]
    if name in ("attention", "probabilities"):
        return softmax(numbers[0])[index[-1]]
    if name == "scaled":
        return numbers[0][0] / math.sqrt(numbers[1][0])
    assert rows[0].labels == rows[1].labels, "multiplied number by number"
    return float(np.prod(numbers[:2], axis=0).sum())


@pytest.mark.parametrize("at", PASSES)
def test_computed_questions_come_with_their_numbers(at):
    passes, wrong, n_met = passes_at(at), [], 0
    for suggested in suggested_questions(passes):
        ask = msgspec.convert(suggested.ask, AnyQuestion)
        moment = talk_moment(TalkMoment(at=at, ask=ask))
        if not isinstance(ask, Number | Percentage):
            assert moment.given == [], "nothing is computed there"
            continue
        ref = find(ask.of, passes)
        name = split_layer(ref.stage.name)[0]
        if not moment.given:
            wrong += [(ask.prompt, "no numbers")] if name not in ("output", "probabilities") else []  # of a long row
            continue
        n_met += 1
        found = computed(name, ref.index, moment.given)
        if abs(found - moment.question.right) > moment.question.tolerance:
            wrong.append((ask.prompt, moment.question.text, found))
        if name not in ("attention", "probabilities") and moment.question.text in moment.given[0].texts:
            wrong.append((ask.prompt, "is given"))
    assert wrong == []
    assert n_met > 0


def test_no_given_number_is_one_that_is_covered():
    for lesson in LESSONS:
        for made, moment in zip(LESSONS[lesson].moment, moments_of(lesson), strict=True):
            if not made.ask:
                assert moment.given == []
                continue
            covered = [f"B.{stage}[" for stage in moment.covers]
            needs = [need(each, passes_at(made.at)) for each in made.ask.needs]
            given = [row.texts for row in moment.given]
            for each in needs:
                if any(cell.startswith(tuple(covered)) for cell in each.cells):
                    assert each.texts not in given, (lesson, made.id)


@pytest.mark.parametrize(
    ("needs", "text", "names"),
    [
        (
            ("scaled[cat, *]", "attention[cat, *]"),
            "",
            ["scaled score of “cat” in head 1"],
        ),  # not the answers themselves
        (("scaled[cat, the]", "word: cat"), "It is {scaled[cat, the]}.", []),  # what is said isn't repeated
        (("scaled[cat, the]", "no such need"), "", ["scaled score of “cat” and “the” in head 1"]),
        (("w_q[1, *, 1]",) * 12, "", []),  # more than anybody computes with
    ],
)
def test_given_rows_are_neither_covered_nor_said(needs, text, names):
    at = "cell=1.2.2.1.1&step=softmax"
    needs = tuple(each.replace("[cat, ", "[head 1, cat, ") for each in needs)
    ask = Percentage(prompt="?", of="attention[head 1, cat, the]", needs=needs)
    moment = talk_moment(TalkMoment(at=at, text=text.replace("[cat, ", "[head 1, cat, "), ask=ask))
    assert [row.name for row in moment.given] == names
    assert sum(len(row.texts) for row in moment.given) <= MOST_NUMBERS


def test_given_rows_do_not_say_among_which_words_the_answer_is():
    for lesson in LESSONS:
        for made, moment in zip(LESSONS[lesson].moment, moments_of(lesson), strict=True):
            if isinstance(made.ask, PickWord):
                words = [each.label for each in moment.question.candidates]
                assert all(row.labels == words for row in moment.given), (lesson, made.id)
