"""The mistakes of public threads get their cause, or at least a question; unusual correct code isn't called wrong.

`kinds_short.txt` lists the cases that fall short today, with what is said of them instead. It is exact: whoever mends
one takes its line out. `python -m benchmarks.causes kinds` prints them all, and writes the list again with `write`.
"""

import re
from itertools import cycle, islice
from pathlib import Path

import kinds
import pytest

from attnviz import compare
from attnviz.checks.causes import CAUSES, cause
from attnviz.core.errors import OwnArraysError
from attnviz.testing import assert_attention

SHORT = Path(__file__).with_name("kinds_short.txt")
SAID = ("right cause", "stage only", "question", "passes silently", "wrong cause", "refused", "crash")


def listed():
    """What is said today in the cases that fall short."""
    lines = (line.split(": ", 1) for line in SHORT.read_text(encoding="utf-8").splitlines())
    return dict(lines)


def said_of(arrays, pattern):
    """One of SAID, of a layer whose cause a pattern describes."""
    try:
        found = compare(None, arrays)
        if found.first is None:
            return "passes silently" if not found.questions and passes(arrays) else "question"
    except OwnArraysError:
        return "refused"
    except Exception:
        return "crash"
    named = [" ".join((each.id, cause(each))) for pair in (found.causes[:1], *found.alternatives) for each in pair]
    if not named:
        return "stage only"
    return "right cause" if any(re.search(pattern, each) for each in named) else "wrong cause"


def passes(arrays):
    try:
        assert_attention(arrays)
    except AssertionError:
        return False
    return True


def outcome(kind, layout, stages):
    """What is said of a case, and whether that is enough."""
    of = kinds.KINDS[kind]
    said = said_of(kinds.mistaken(kind, layout, stages), of.cause or "$^")
    enough = ["right cause", *["question"] * (stages in of.asked), *["stage only"] * (stages in of.unnamed)]
    return said, said in enough


def name_of(case):
    return " | ".join(case)


def check(cases):
    today, wrong = listed(), []
    for case in cases:
        (said, is_enough), before = outcome(*case), today.get(name_of(case))
        if is_enough != (before is None) or (not is_enough and said != before):
            wrong.append(f"{name_of(case)}: {said}, and it is {before or 'not'} listed")
    assert not wrong, "\n".join(wrong)


SAMPLE = [case for at, case in enumerate(kinds.cases()) if at % 23 == 0]


@pytest.mark.slow
@pytest.mark.parametrize("case", SAMPLE, ids=name_of)
def test_a_mistake_gets_its_cause_or_is_listed(case):
    """With layouts and sets of stages that the next test doesn't pair."""
    check([case])


@pytest.mark.slow
@pytest.mark.parametrize("kind", kinds.KINDS)
def test_every_mistake_of_a_kind_gets_its_cause_or_is_listed(kind):
    """With each layout and each set of stages, not with all pairs of them."""
    of = kinds.KINDS[kind]
    n = max(len(of.layouts), len(of.stages))
    check([(kind, *case) for case in islice(zip(cycle(of.layouts), cycle(of.stages), strict=False), n)])


def test_the_list_has_cases_alone_and_lets_no_wrong_cause_in():
    today = listed()
    assert {*today} <= {*map(name_of, kinds.cases())}
    assert {*today.values()} <= {*SAID} - {"crash"}


@pytest.mark.parametrize("name", kinds.CORRECT)
def test_unusual_correct_code_is_not_called_wrong(name):
    """A cause that some models have on purpose, and which says so, isn't called wrong."""
    found = compare(None, kinds.CORRECT[name](name))
    on_purpose = [bool(CAUSES[each.id].on_purpose) for each in found.causes]
    assert found.first is None or (any(on_purpose) and all(on_purpose)), str(found)
