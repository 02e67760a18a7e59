"""The rules that every lesson keeps: how much is said, what a question may ask, what it needs, what is asked again."""

import functools
import re
from itertools import pairwise
from urllib.parse import parse_qsl

import msgspec
import pytest

from attnviz.contract.lesson import Fill, Gaps, LessonsPage, NumberLink
from attnviz.lessons.cell_reference import LessonError
from attnviz.lessons.export import paper_prompt
from attnviz.lessons.lesson import LESSONS, contents, moments_of, passes_at
from attnviz.lessons.needs import need
from attnviz.lessons.questions import AnyQuestion
from attnviz.lessons.slots import EXPRESSION_ERRORS, SLOT

MOST_BEFORE, MOST_AFTER = 45, 60
RECALLING = [*LESSONS][2:]
EXAMPLE = ("model", "sentence", "seed")
"""The parameters of an address that another example has others of."""
NO_SUBJECTS = ("It", "Its", "It’s", "That", "That’s", "This", "These", "Those", "They", "Their")
INSTRUCTIONS = (
    "Add",
    "Choose",
    "Click",
    "Complete",
    "Drag",
    "Draw",
    "Fill",
    "Find",
    "Guess",
    "Match",
    "Name",
    "Pick",
    "Put",
    "Set",
)
MOMENTS = [(name, number, each) for name, own in LESSONS.items() for number, each in enumerate(own.moment, start=1)]
sent, opened = functools.cache(moments_of), functools.cache(passes_at)


def words(*texts):
    """How many words texts have; a slot is one, a sign as × or = none."""
    return sum(any(map(str.isalnum, each)) for each in SLOT.sub("0", " ".join(texts)).split())


def said(runs):
    return "".join(text.text if isinstance(text, NumberLink) else text for _, text in runs)


def feedbacks(question):
    """All that is said of answers to a question."""
    if question is None:
        return []
    gaps = question.gaps if isinstance(question, Gaps) else [question] if isinstance(question, Fill) else []
    return [each.feedback for gap in gaps for each in gap.nears] + [
        each.feedback for each in getattr(question, "candidates", ())
    ]


def too_long_before(lesson, number, made):
    n_words = words(made.text, made.ask.prompt if made.ask else "")
    if (made.ask or made.worked) and n_words > MOST_BEFORE:
        yield f"{n_words} words before the answer"


def too_long_after(lesson, number, made):
    if words(made.after) > MOST_AFTER:
        yield f"{words(made.after)} words after the answer"


def lines_of_a_worked_example(lesson, number, made):
    if made.worked and not 2 <= len(made.worked) <= 6:
        yield f"{len(made.worked)} lines of a worked example"


def names_no_subject(lesson, number, made):
    moment = sent(lesson)[number - 1]
    for text in map(said, [moment.after, *feedbacks(moment.question)]):
        if re.split(r"[\s,]", text.strip())[0] in NO_SUBJECTS:
            yield f"“{text[:60]}” names no subject"


def asks_nothing(lesson, number, made):
    if not made.ask:
        return
    sentences = re.findall(r"[^.?!]+[.?!](?!\w)", SLOT.sub("0", made.ask.prompt))
    if not any(each.endswith("?") or each.split()[0] in INSTRUCTIONS for each in sentences):
        yield f"“{made.ask.prompt}” is neither a question nor an instruction"
    if re.search("Click|Drag|Tap|Press", said(paper_prompt(sent(lesson)[number - 1].question.prompt))):
        yield f"“{made.ask.prompt}” asks nothing on paper"


def asks_for_a_count_or_a_calculator(lesson, number, made):
    if made.ask and (type(made.ask).__struct_config__.tag == "count" or "decimals" in made.ask.prompt):
        yield f"“{made.ask.prompt}” needs counting or a calculator"


def new_ideas_in_brackets(lesson, number, made):
    for text in (made.text, made.after, *made.worked):
        for inside in re.findall(r"(?<!\w)\(([^()]*)\)", SLOT.sub("0", text)):
            if words(inside) > 4 or "**" in inside:
                yield f"({inside})"


def needs_are_given(lesson, number, made):
    if made.ask and not made.ask.needs:
        yield "lists nothing that its question needs"
    for each in made.ask.needs if made.ask else ():
        try:
            need(each, opened(made.at))
        except EXPRESSION_ERRORS as error:
            yield f"{each} can’t be read: {error}"


def recall_is_new(lesson, number, made):
    if not made.recall:
        return
    name, _, id = made.recall.partition(".")
    before = [*LESSONS][: [*LESSONS].index(lesson)]
    place = LESSONS[name].number_of(id) if name in before else None
    if place is None:
        yield f"{made.recall} is no moment of an earlier lesson"
        return
    origin, (here, there) = (
        LESSONS[name].moment[place - 1],
        (example(each) for each in (made.at, LESSONS[name].moment[place - 1].at)),
    )
    if here == there:
        yield f"asks about {made.recall} on the same example"
    if not made.ask or not origin.ask:
        yield f"{made.recall} and what asks again about it have questions"


def example(at):
    """What an address is an example of: its model or random numbers, and its sentence."""
    parameters = dict(parse_qsl(at))
    return [parameters.get(each) for each in EXAMPLE]


RULES = [
    *(too_long_before, too_long_after, lines_of_a_worked_example, names_no_subject, asks_nothing),
    *(asks_for_a_count_or_a_calculator, new_ideas_in_brackets, needs_are_given, recall_is_new),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_every_moment_keeps_the_rule(rule):
    broken = [
        f"{lesson} {number} ({made.id}): {each}"
        for lesson, number, made in MOMENTS
        for each in rule(lesson, number, made)
    ]
    assert not broken, "\n" + "\n".join(broken)


@pytest.mark.parametrize("lesson", LESSONS)
def test_lesson_asks_twice_about_earlier_ones(lesson):
    places = [place for place, each in enumerate(LESSONS[lesson].moment) if each.recall]
    assert len({LESSONS[lesson].moment[place].recall for place in places}) == len(places)
    assert len(places) == (2 if lesson in RECALLING else 0)
    assert all(other == one + 1 for one, other in pairwise(places)), "the two stand side by side"


@pytest.mark.parametrize("lesson", LESSONS)
def test_ids_and_minutes(lesson):
    own = LESSONS[lesson]
    read = [each for each in own.moment if not each.optional]
    assert len({each.id for each in own.moment}) == len(own.moment)
    n_words = sum(len(SLOT.sub("0", text).split()) for each in read for text in (each.text, each.after, *each.worked))
    n_words += sum(len(SLOT.sub("0", each.ask.prompt).split()) for each in read if each.ask)
    seconds = (
        60 * n_words / 150
        + 50 * sum(each.ask is not None for each in read)
        + 5 * sum(len(each.worked) for each in read)
    )
    assert abs(own.minutes - seconds / 60) <= 0.5


def test_list_of_lessons_has_their_moments():
    page = msgspec.json.decode(contents(), type=LessonsPage)
    for entry, own in zip(page.lessons, LESSONS.values(), strict=True):
        assert (entry.why, entry.minutes, entry.n_moments) == (own.why, own.minutes, len(own.moment))
        listed = [(each.id, each.title, each.recall, each.is_optional) for each in entry.moments]
        assert listed == [(each.id, each.title, each.recall, each.optional) for each in own.moment]


@pytest.mark.parametrize("lesson", LESSONS)
def test_why_and_tell_are_a_sentence_or_two(lesson):
    own = LESSONS[lesson]
    for text in (own.why, own.ending.tell):
        assert 5 < words(text) <= 30, text
        assert text[-1] in ".?!”"
    assert not SLOT.search(own.why), "the list of lessons shows it without a pass"
    assert not re.search(r"[*`$]", own.why)


def test_attention_weight_is_introduced_beside_share():
    texts = [" ".join((each.text, *each.worked, each.after)) for each in LESSONS["who-is-it"].moment]
    (first,) = (each for each in texts if "**attention weight**" in each)
    assert "share" in first


AT = "sentence=the+cat+sat&initialiser=whole&d_model=2&heads=1&seed=124&view=sheet"


def gaps(*rows, words=("the", "cat", "sat")):
    ask = {"kind": "gaps", "prompt": "Fill in the gaps.", "words": list(words), "rows": list(rows)}
    return msgspec.convert(ask, AnyQuestion).question(passes_at(AT))


WEIGHTS = [f"attention[cat, {word}]" for word in ("the", "cat", "sat")]
FORMS = {  # a form, with what is printed of 4/7, what one may type for it, and what one may not
    "fraction": ("4/7", [0.57, 0.571, 4 / 7], [0.6, 0.56]),
    "%": ("57\xa0%", [57, 57.14], [58, 56, 0.57]),
    "": ("0.57", [0.57, 0.571], [0.58, 0.56]),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_gap_takes_its_number_as_it_is_printed(form):
    printed, right, wrong = FORMS[form]
    (gap,) = (made := gaps({"name": "weight", "of": WEIGHTS, "form": form, "gaps": ["the"]})).gaps
    assert said(made.rows[0].cells[0].text) == printed
    assert [cell.gap is None for cell in made.rows[0].cells] == [False, True, True]
    assert all(abs(each - gap.value) <= gap.tolerance for each in right)
    assert not any(abs(each - gap.value) <= gap.tolerance for each in wrong)


def test_a_wrong_number_in_a_gap_has_its_cause():
    wrong = [{"at": "cat", "of": "2 * 1", "told": "{scores[cat, the]:fraction} × 1 is a product."}]
    row = {"name": "2^score", "of": ["4", "2 + 1", "1"], "gaps": ["cat", "sat"], "wrong": wrong}
    cat, sat = gaps(row).gaps
    assert [(each.value, said(each.feedback)) for each in cat.nears] == [(2.0, "2 × 1 is a product.")]
    assert sat.nears == []
    assert abs(cat.nears[0].value - cat.value) > cat.tolerance + cat.nears[0].tolerance
    (weight,) = gaps({"name": "weight", "of": WEIGHTS, "form": "%", "gaps": ["cat"]}).gaps
    assert any(abs(each.value - 100 / 3) < 1e-9 for each in weight.nears), "an even weight, in per cent as well"


def test_a_stated_tolerance_holds():
    (gap,) = gaps({"name": "weight", "of": WEIGHTS, "gaps": ["the"], "tolerance": 0.1}).gaps
    assert gap.tolerance == 0.1


BROKEN = {
    "a number for each": {"name": "score", "of": WEIGHTS[:2], "gaps": ["cat"]},
    "at one of": {"name": "score", "of": WEIGHTS, "gaps": ["dog"]},
    "at least one gap": {"name": "score", "of": WEIGHTS},
}


@pytest.mark.parametrize("told", BROKEN)
def test_a_table_that_is_none_is_refused(told):
    with pytest.raises(LessonError, match=told):
        gaps(BROKEN[told])


def test_a_wrong_answer_may_name_its_number():
    ask = {"kind": "number", "of": "scores[cat, the]", "form": "fraction", "prompt": "?", "tolerance": 0.001}
    ask["wrong"] = [{"of": "scores[cat, cat]", "told": "{scores[cat, cat]:fraction} is the score of “cat”."}]
    nears = msgspec.convert(ask, AnyQuestion).question(passes_at(AT)).nears
    assert said(nears[0].feedback) == "1 is the score of “cat”."


NEEDS = {
    "word: sat": (["sat"], []),
    "heads: 1": (["head 1"], []),
    "scores[cat, the]:fraction": (["2"], [2.0]),
    "scores[cat, *]": (["2.00", "1.00", "0.00"], [2.0, 1.0, 0.0]),
    "attention[cat, the]": (["57\xa0%"], [4 / 7]),
    "count.words": (["3"], [3.0]),
    "scores[cat, the] + 1": (["3.00"], [3.0]),
}


@pytest.mark.parametrize("text", NEEDS)
def test_a_need_is_words_or_numbers(text):
    found = need(text, passes_at(AT))
    assert found.texts == NEEDS[text][0]
    assert found.numbers == pytest.approx(NEEDS[text][1])
    assert all(text in ways for text, ways in zip(found.texts, found.ways, strict=True))


def test_a_need_may_be_written_in_several_ways():
    (share,), (whole,) = (need(each, passes_at(AT)).ways for each in (WEIGHTS[0], "scores[cat, the]"))
    assert {"57\xa0%", "0.57", "0.571"} <= share
    assert {"2.00", "2", "two"} <= whole


@pytest.mark.parametrize("text", ["scores[cat, dog]", "heads: two", "heads: 3000000000", "scores[*, *]", "nothing"])
def test_a_need_that_is_none_is_refused(text):
    with pytest.raises(EXPRESSION_ERRORS):
        need(text, passes_at(AT))
