"""Lessons: moments open, what texts and mistakes' pictures say is so, and answers come out by a second way, too."""

import functools
import itertools
import json
import math
import re
import tomllib
from fractions import Fraction

import msgspec
import numpy as np
import pytest
from cases import of_each
from documents import whole
from page import ROOT
from slowlessons import READINGS, evaluated, mistaken_row, slow, slow_figure, unnumbered
from torchsdpa import RECORDED

from attnviz import Settings, trace_of
from attnviz.contract.lesson import Moment
from attnviz.contract.typescript import ORDINALS
from attnviz.core.changes import Change
from attnviz.core.numerals import digits, short
from attnviz.core.stage import name_in_layer, split_layer
from attnviz.explain.wording import percent
from attnviz.lessons import lesson as lessons
from attnviz.lessons.cell_reference import PATTERN, LessonError, Reference, find
from attnviz.lessons.figures import MISTAKES, OF_AN_EMPTY_ROW, mistaken_figure, with_mistake
from attnviz.lessons.lesson import LESSONS, Lesson, MistakePicture, SweepPicture, moment, passes_at
from attnviz.lessons.questions.answers import LINES
from attnviz.lessons.slots import _IN_WORDS, SLOT, evaluate, fill_slots, form_of, format_number, holds
from attnviz.lessons.wrong_answers import wrong_answers
from attnviz.scene.document.encoding import to_json

MOMENTS = {
    f"{name} {number}": (name, number, each)
    for name, own in LESSONS.items()
    for number, each in enumerate(own.moment, start=1)
}
opened_once = functools.cache(passes_at)


def asking(*kinds):
    """The moments that ask a question of these kinds, by their names."""
    return [
        name for name, (_, _, made) in MOMENTS.items() if made.ask and type(made.ask).__struct_config__.tag in kinds
    ]


def shown(name):
    _, _, made = MOMENTS[name]
    return made, opened_once(made.at), sent(name)


@functools.cache
def sent(name):
    lesson, number, _ = MOMENTS[name]
    found = json.loads(moment(lesson, number))
    return found | {"document": whole(found["document"])}


def said(runs):
    return "".join(part if isinstance(part, str) else msgspec.to_builtins(part)["text"] for _, part in runs)


@of_each("name", [*MOMENTS])
def test_moment_matches_its_contract(name):
    msgspec.convert(sent(name), Moment, str_keys=True)
    _, _, made = MOMENTS[name]
    assert sent(name)["title"] == made.title
    assert opened_once(sent(name)["at"]).b.scene == opened_once(made.at).b.scene, "one looks around from the same scene"


@of_each("name", [*LESSONS])
def test_lesson_is_short_and_ends_with_a_task(name):
    own = LESSONS[name]
    assert sum(not each.optional for each in own.moment) <= 12
    assert own.minutes <= 15
    *before, last = own.moment
    assert all(each.worked or (each.ask and each.after) for each in before)
    assert last.ask is None
    assert last.title == "Try it"
    assert "Explore this in the walkthrough" in last.text
    assert sent(f"{name} {len(own.moment)}")["ending"]
    assert all(sent(f"{name} {number}")["ending"] is None for number, _ in enumerate(before, start=1))
    assert [bool(sent(f"{name} {number}")["why"]) for number, _ in enumerate(own.moment, 1)] == [True] + [False] * len(
        before
    )


@of_each("name", [*MOMENTS])
def test_claims_hold(name):
    _, _, made = MOMENTS[name]
    for claim in made.claims:
        assert holds(claim, opened_once(made.at)), claim
        assert evaluated(claim, opened_once(made.at)), f"{claim}, by a second way"


def texts_of(name):
    """All that is said of a moment, as it is written; of the last, what its lesson ends with and is about, too."""
    lesson, number, made = MOMENTS[name]
    own, ask = LESSONS[lesson], made.ask
    told = [each.feedback for part in (ask, *getattr(ask, "rows", ())) for each in explained(part)]
    of_lesson = [own.says, own.ending.explain, own.ending.answer, own.ending.tell] if number == len(own.moment) else []
    of_lesson += [own.why] if number == 1 else []
    return [
        made.title,
        made.text,
        *made.worked,
        made.after,
        made.notes,
        *([ask.prompt] if ask else []),
        *told,
        *of_lesson,
    ]


def explained(part):
    """The answers to a question, or in a row of a table, that have an explanation of their own."""
    return [*getattr(part, "wrong", ()), *getattr(part, "instead", ()), *getattr(part, "options", ())]


def nears_of(question):
    """The wrong numbers with a feedback of a question; of its gaps, if it has some."""
    if question["kind"] != "gaps":
        return question.get("nears", [])
    return [near for row in question["rows"] for cell in row["cells"] if cell["gap"] for near in cell["gap"]["nears"]]


@of_each("name", [*MOMENTS])
def test_slots_match_a_second_computation(name):
    _, _, made = MOMENTS[name]
    for slot in (each for text in texts_of(name) for each in SLOT.finditer(text)):
        own, other = (read(slot["of"], opened_once(made.at)) for read in (evaluate, evaluated))
        is_same = own == other if isinstance(own, str) else math.isclose(own, other, rel_tol=1e-9, abs_tol=1e-12)
        assert is_same, (slot[0], own, other)


LINKED = re.compile(r"(\w+)\[([\d,]+)\]")


@of_each("name", [*MOMENTS])
def test_linked_numbers_match_their_cells(name):
    _, passes, found = shown(name)
    texts = [found["text"], *found["worked"], found["after"], found["why"]]
    if question := found["question"]:
        explained = [*question.get("candidates", ()), *nears_of(question)]
        texts += [question["prompt"], *(each["feedback"] for each in explained)]
        texts += [cell["text"] for row in question.get("rows", ()) for cell in row["cells"]]
    links = [part for text in texts for style, part in text if style == "number"]
    for link in links:
        stage, index = LINKED.fullmatch(link["cell"]).groups()
        number = slow(passes.trace(link.get("of", "B")), stage, tuple(map(int, index.split(","))))
        assert link["text"] in {form(number) for form in (short, percent, digits)} | as_fraction(number), link


def as_fraction(number):
    """How a number is written as a fraction, if it is a simple one."""
    if math.isinf(number):
        return set()
    found = Fraction(number).limit_denominator(99)
    return {str(found).replace("-", "−")} if math.isclose(found, number, rel_tol=1e-9) else set()


IN_WORDS = {word: n for n, word in enumerate(_IN_WORDS) if n > 2}  # “the two” is no number
IN_WORDS |= {"half": 2, "twice": 2, "doubled": 2, "hundred": 100}
NAMED = re.compile(r"(?:head|layer|lesson|dimension|position)s? \d+(?:(?:,| and) \d+)*")
"""Places by their names."""
CITED = re.compile(r"et al\. \d{4}")
NUMBER = re.compile(r"\d+(?:\.\d+)?")


@of_each("name", [*MOMENTS])
def test_no_number_is_typed(name):
    """A numeral or a number word in a text is a slot, or stands in a claim, or in the name of a cell that is asked."""
    _, _, made = MOMENTS[name]
    rows = getattr(made.ask, "rows", ())
    computed = [getattr(each, "of", "") for part in (made.ask, *rows) for each in explained(part)]
    computed += [of for row in rows for of in row.of]
    backing = " ".join([*made.claims, getattr(made.ask, "of", ""), *computed])
    backed = set(NUMBER.findall(backing))
    for text in texts_of(name):
        bare = NAMED.sub("", CITED.sub("", SLOT.sub("", text)))
        typed = set(NUMBER.findall(bare)) | {
            str(IN_WORDS[word]) for word in re.findall(r"[a-z]+", bare.lower()) if IN_WORDS.get(word)
        }
        assert typed <= backed, (typed - backed, text)


@of_each("name", asking("word", "cell"))
def test_picked_answer_is_right_and_others_get_their_rank(name):
    made, passes, found = shown(name)
    of = find(made.ask.of, passes)
    numbers = [slow(of.trace, cell.stage, cell.index) for cell in of.cells]
    sizes = {"largest": lambda n: n, "smallest": lambda n: -n, "largest in size": abs}[made.ask.pick]
    ordered = sorted({round(sizes(n), 10) for n in numbers}, reverse=True)
    question = found["question"]
    assert question["right"] == [i for i, n in enumerate(numbers) if round(sizes(n), 10) == ordered[0]]
    for place, each in enumerate(question["candidates"]):
        told, own = said(each["feedback"]), sizes(numbers[place])
        assert told.startswith(("“", "Head ", "Dimension "))
        assert each["label"].lower() in told.lower()
        if told.endswith("is hidden by the mask."):
            cell = of.cells[place]
            assert slow(of.trace, name_in_layer("masked", split_layer(cell.stage)[1]), cell.index) == -math.inf
            continue
        if " gets almost nothing." in told:
            assert of.stage.name.startswith("attention")
            assert place not in question["right"]
            assert 0 <= numbers[place] < 0.01
            continue
        assert f" has {format_number(numbers[place], form_of(of))}: " in told
        before = sum(sizes(n) - own > 1e-12 for n in numbers)
        assert is_rank_told(told.split(". ")[0], before, len(numbers) - 1, made.ask.pick), told
        if WHOSE.search(told):
            assert place not in question["right"]
            assert _is_right_elsewhere(told, of, place, sizes), told
    assert all(each.get("word", each.get("cell")) is not None for each in question["candidates"])


WHOSE = re.compile(
    r"(?:where |For )(?:“(.+?)”|dimension (\d+)|(head \d+))(?: looks (?:most|least)|,)"
    r"|where the model looked most for “(.+?)”"
    r"|“([^“”]+)” looks (?:most|least) at itself"
)
FIRST_AND_LAST = {"largest": ("largest", "smallest"), "smallest": ("smallest", "largest")}
FIRST_AND_LAST["largest in size"] = ("furthest", "nearest")


def is_rank_told(told, before, n_others, pick):
    """Whether a sentence tells the rank of a number: how many are before it, or that all others are."""
    first, last = FIRST_AND_LAST[pick]
    if many := re.search(r": (\w+) others (?:have|are) ", told):
        return 1 < before < n_others and _IN_WORDS.index(many[1]) == before
    place = re.search(r": the (second )?(\w+)", told)
    if place[2] == last and not place[1]:
        return before == n_others > 1
    return place[2] == first and before == bool(place[1])


def place_told(told):
    found = re.search(r": the (?:(\w+) )?most", told)
    return ORDINALS.index(found[1]) + 1 if found[1] else 1


def _is_right_elsewhere(told, of, place, sizes):
    name = next(filter(None, WHOSE.search(told).groups()))
    axis = of.index.index(None)
    others = [each for each in range(len(of.index)) if each != axis]
    for other in others:
        labels = of.trace.axes(of.stage.name)[other].labels
        if " looked most for " in told:
            labels = (*labels[1:], "<end>")  # the word that was written from each row
        if name not in labels:
            continue
        at = list(of.index)
        at[other] = labels.index(name)
        row = []
        for instead in range(of.stage.shape[axis]):
            at[axis] = instead
            row.append(sizes(slow(of.trace, of.stage.name, tuple(at))))
        if row.index(max(row)) == place:
            return True
    return False


@of_each("name", asking("share", "number"))
def test_number_answer_and_wrong_answers(name):
    made, passes, found = shown(name)
    question = found["question"]
    right = evaluated(made.ask.of, passes)
    assert math.isclose(question["right"], right, rel_tol=1e-9, abs_tol=1e-12)
    own = {said(fill_slots(each.feedback, passes)): each.of for each in getattr(made.ask, "wrong", ())}
    assert own.keys() <= {said(near["feedback"]) for near in question["nears"]}, "none is near the answer, or another"
    for near in question["nears"]:
        told = said(near["feedback"])
        assert abs(near["value"] - right) > question["tolerance"] or question["isShare"], told
        expected = evaluated(own[told], passes) if told in own else reading(told, find(made.ask.of, passes))
        if told not in own and unnumbered(told) != told:
            written = percent(near["value"]) if question["isShare"] else short(near["value"]).removesuffix(".00")
            assert told.startswith(written), "as one types it"
        assert math.isclose(near["value"], expected, rel_tol=1e-9, abs_tol=1e-12), told
    if "lead" in question:
        own_score, others = question["lead"]
        assert math.isclose(1 / (1 + math.exp(others - own_score)), right, rel_tol=1e-9)
        stage = {"scaled score": "scaled", "logit": "logits"}[question["score"]]
        of = find(made.ask.of, passes)
        own = of.trace[name_in_layer(stage, split_layer(of.stage.name)[1])] if stage == "scaled" else of.trace[stage]
        assert math.isclose(own_score, own.value[of.index], rel_tol=1e-9), "and is called what it is"
    assert ("lead" in question) == (question["isShare"] and PATTERN.fullmatch(made.ask.of) is not None)
    if not question["isShare"]:
        assert format_number(right, made.ask.form) == question["text"]
        read_off = float(Fraction(question["text"].replace("−", "-").replace(",", "")))
        assert abs(read_off - right) <= question["tolerance"]


@of_each("name", [name for name in asking("number") if MOMENTS[name][2].ask.parts > 1])
def test_sum_of_printed_numbers_is_right(name):
    made, passes, found = shown(name)
    of = find(made.ask.of, passes)
    one, other = (of.trace[each].value for each in of.stage.inputs)
    row, column = of.index
    parts = one[row] * other[:, column] if of.stage.name == "output" else [one[of.index], other[of.index]]
    summed = math.fsum(round(float(part), 2) for part in parts)
    assert len(parts) == made.ask.parts
    assert abs(summed - found["question"]["right"]) <= found["question"]["tolerance"]


@of_each("name", asking("gaps"))
def test_gaps_and_their_wrong_numbers(name):
    made, passes, found = shown(name)
    for own, row in zip(made.ask.rows, found["question"]["rows"], strict=True):
        by = 100 if own.form == "%" else 1
        told = {(each.at, said(fill_slots(each.feedback, passes))): each.of for each in own.wrong}
        for word, of, cell in zip(made.ask.words, own.of, row["cells"], strict=True):
            right = evaluated(of, passes)
            assert said(cell["text"]) == format_number(right, own.form)
            assert (cell["gap"] is not None) == (word in own.gaps)
            gap = cell["gap"] or {"value": by * right, "tolerance": 1, "nears": []}
            assert math.isclose(gap["value"], by * right, rel_tol=1e-9, abs_tol=1e-12)
            read_off = re.sub("^(?:under|over) ", "", said(cell["text"]).rstrip("\xa0%"))
            printed = float(Fraction(read_off.replace("−", "-")))
            assert abs(printed - gap["value"]) <= gap["tolerance"], "what is printed is right"
            assert {text for at, text in told if at == word} <= {said(near["feedback"]) for near in gap["nears"]}
            for near in gap["nears"]:
                assert abs(near["value"] - by * right) > gap["tolerance"]
                text = said(near["feedback"])
                known = told.get((word, text))
                expected = evaluated(known, passes) if known else reading(text, find(of, passes))
                assert math.isclose(near["value"], by * expected, rel_tol=1e-9, abs_tol=1e-12), text


@of_each("name", asking("gaps"))
def test_gaps_are_covered(name):
    made, passes, found = shown(name)
    for row in made.ask.rows:
        for word, of in zip(made.ask.words, row.of, strict=True):
            if word in row.gaps and PATTERN.fullmatch(of):
                assert find(of, passes).stage.name in found["covers"]


@of_each("name", asking("choose"))
def test_one_choice_holds(name):
    made, passes, found = shown(name)
    question = found["question"]
    assert [place for place, each in enumerate(made.ask.options) if evaluated(each.holds, passes)] == question["right"]
    assert len(question["right"]) == 1
    assert [each["label"] for each in question["candidates"]] == [each.answer for each in made.ask.options]


VARIANTS = json.loads((ROOT / "tests/data/lesson_variants.json").read_text("utf-8"))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("stage", ["scores", "scaled", "attention", "heads", "x"])
def test_wrong_answers_are_what_they_are_called(stage, variant):
    """Lessons ask for the numbers of some stages; a talk of one's own, or a class, of any."""
    trace = trace_of(Settings("the cat sat on", **{"d_model": 8, "mask": "causal"} | VARIANTS[variant]))
    for index in itertools.product(*({0, length - 1} for length in trace[stage].shape)):
        for number, told in wrong_answers(Reference("B", trace, trace[stage], index)):
            expected = reading(told.replace("$", ""), Reference("B", trace, trace[stage], index))
            assert math.isclose(number, expected, rel_tol=1e-9, abs_tol=1e-12), told


def reading(told, of):
    """What a sentence on a wrong number says that it is, by a second way."""
    for pattern, read in READINGS.items():
        if match := re.fullmatch(pattern, unnumbered(told)):
            return read(of, *match.groups())
    raise AssertionError(f"Nothing computes what is told: {told}. Add it to READINGS.")


@of_each("name", asking("count"))
def test_count_answer_and_wrong_counts(name):
    made, passes, found = shown(name)
    question = found["question"]
    assert question["right"] == slow_figure(f"count.{made.ask.of}", passes)
    for near in question["nears"]:
        told = said(near["feedback"])
        assert near["value"] != question["right"]
        assert near["value"] == slow_figure(unnumbered(told), passes), told
        assert told.startswith(format_number(near["value"] if near["value"] % 1 else int(near["value"]))), told


@of_each("name", asking("compare"))
def test_compare_answer_and_where_others_are_right(name):
    made, passes, found = shown(name)
    ask, question = made.ask, found["question"]
    one, other = evaluated(ask.of, passes), evaluated(ask.than or f"A.{ask.of}", passes)
    assert question["right"] == [["more", "less", "the same"].index(relation(one, other))]
    instead = {each.answer: each for each in ask.instead}
    form = ask.form or (form_of(find(ask.of, passes)) if PATTERN.fullmatch(ask.of) else "")
    read_off = format_number(one, form), format_number(other, form)
    for each in question["candidates"]:
        told, label = said(each["feedback"]), each["label"]
        if label == relation(one, other):
            now, before = read_off
            assert told == (f"{now}, against {before}." if ask.than else f"{before} in A, {now} in B.")
        elif label in instead and label != relation(one, other):
            each = instead[label]
            assert relation(evaluated(each.of, passes), evaluated(each.than, passes)) == label
            assert said(fill_slots(each.feedback, passes)) in told
        elif found_for := re.search(r"is right for what “(.+)” gives “(.+)”: (.+), then (.+)\.", told):
            row, column, *read = found_for.groups()
            *head, _, _ = (part.strip() for part in ask.of.split("[")[1].split(","))
            names = ", ".join([*head, f'"{row}"', f'"{column}"'])
            where = f"{ask.of.split('[')[0]}[{names}]"
            now, before = evaluated(where, passes), evaluated(f"A.{where}", passes)
            assert relation(now, before) == label, told
            assert read == [format_number(before, "%"), format_number(now, "%")]
            assert label == "the same" or read[0] != read[1], "the difference is seen"
        else:
            assert told == "The two are {} and {}.".format(*read_off)
            assert read_off[0] != read_off[1], "the difference is seen"


def relation(one, other):
    return "the same" if math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) else "more" if one > other else "less"


@of_each("name", asking("answer"))
def test_model_answer_and_when_others_win(name):
    _, passes, found = shown(name)
    trace, question = passes.trace(), found["question"]
    answers, last = trace.labels["answer"], len(trace.labels["query"]) - 1
    row = [slow(trace, "probabilities", (last, place)) for place in range(len(answers))]
    offered = [each["label"] for each in question["candidates"]]
    assert [offered[place] for place in question["right"]] == [answers[row.index(max(row))]]
    assert len(set(offered)) == len(offered) >= 2
    others = [passes.b.original, *([passes.b.other.trace] if passes.b.other else [])]
    firsts = {answers[each["probabilities"].value[-1].argmax()] for each in others}
    assert firsts <= set(offered), "what it answered before is offered"
    if not trace.origin.is_open:
        assert {*trace.labels["key"]} & {*answers} <= {*offered}, "those that the text has are likely guesses"
    for each in question["candidates"]:
        told, place = said(each["feedback"]), answers.index(each["label"])
        assert place_told(told) == 1 + sum(other > row[place] for other in row), told
        was = passes.b.original["probabilities"].value[-1].argmax() == place
        assert ("It was the answer before the change." in told) == (
            bool(passes.b.scene.changes) and was and place_told(told) > 1
        )
        if "the answer in A" in told:
            assert passes.trace("A")["probabilities"].value[-1].argmax() == place
        elif seen := re.search("looked at “(.+)” alone", told):
            assert _answer_looking_at(trace, seen[1]) == place, told


def _answer_looking_at(trace, word):
    """What the model answers if its last layer hides every other word from the last one."""
    layer, last = trace.layers[-1], len(trace.labels["query"]) - 1
    name, keys = layer.names["masked"], layer.trace.labels["key"]
    heads = range(trace[name].shape[0])
    hidden = [
        Change(name, (head, last, key), -math.inf) for head in heads for key in range(len(keys)) if keys[key] != word
    ]
    return int(trace.with_changes(*hidden)["probabilities"].value[-1].argmax())


@of_each("name", asking("code"))
def test_code_answer_computes_the_stage(name):
    made, passes, found = shown(name)
    of, question = find(made.ask.of, passes), found["question"]
    own = {stage.name: stage.value for stage in of.trace.values()}
    d_k = of.trace["k"].shape[-1]

    def softmax(scores, axis):
        with np.errstate(over="ignore", invalid="ignore"):
            return np.exp(scores) / np.exp(scores).sum(axis, keepdims=True)

    for place, each in enumerate(question["candidates"]):
        with np.errstate(all="ignore"):
            made_by = eval(each["label"], {"np": np, "softmax": softmax, "d_k": d_k} | own)
        is_right = made_by.shape == of.stage.shape and np.allclose(made_by, of.stage.value)
        assert (place in question["right"]) == is_right, each["label"]
        row, column = (f"“{of.label(axis, of.index[axis])}”" for axis in (1, 2))
        here, own_number = float(made_by[of.index]), format_number(slow(of.trace, of.stage.name, of.index))
        ends = "which is right" if is_right else f"where {own_number} is right"
        assert said(each["feedback"]) == f"For {row} and {column} the line gives {format_number(here)}, {ends}."
    assert sorted(LINES[split_layer(of.stage.name)[0]]) == [each["label"] for each in question["candidates"]]


@of_each("name", asking("word", "cell", "share", "number", "compare"))
def test_answer_is_covered(name):
    made, passes, found = shown(name)
    asked = re.sub(r"^sum\((.+)\)$", r"\1", made.ask.of)  # what a row adds up to stands beside it
    if not PATTERN.fullmatch(asked):
        return
    of = find(asked, passes)
    cell = of.cells[0]
    moved = of.trace.with_change(cell.stage, cell.index, 0.0 if cell.value else 1.0)
    others = {stage.name for stage in of.trace.values() if moved[stage.name] is not stage}
    assert others <= set(found["covers"]), "a number computed from it is seen"
    if hasattr(made.ask, "pick") and of.stage.name == "attention":
        assert {"scores", "scaled", "masked"} <= set(found["covers"]), "their order is that of the shares"


@of_each("name", asking("answer"))
def test_arcs_are_covered_until_the_answer(name):
    _, passes, found = shown(name)
    last = [stage.name for stage in passes.trace().values() if split_layer(stage.name)[0] == "attention"][-1]
    is_open = passes.trace().origin.is_open  # there any letter may come next, not the one looked at
    assert (last in found["covers"]) != is_open, "arcs lead to an answer among the words"


@of_each("name", asking("word", "cell"))
def test_selection_is_not_the_answer(name):
    made, passes, found = shown(name)
    of = find(made.ask.of, passes)
    axis = of.index.index(None)
    (coordinate, _), *_ = of.trace.axes(of.stage.name)[axis].coordinates
    assert found["document"]["where"]["cell"][coordinate] not in found["question"]["right"]


def test_terms_are_explained_in_their_lesson():
    told = set()
    for lesson in LESSONS.values():
        assert {*lesson.terms.values()} <= {each.id for each in lesson.moment}
        assert not SLOT.search(lesson.ending.tell), "the list of lessons has no pass to fill it from"
        told |= {*lesson.terms}
    assert {"query", "key", "value", "score", "attention weight", "softmax", "mask", "positions", "head"} <= told
    assert {"output matrix $W^O$", "layer", "language model"} <= told


def test_unknown_lesson_field_is_refused():
    good = (lessons.FOLDER / "1-who-is-it.toml").read_text("utf-8")
    for broken in (
        good + "\nmore = 1\n",
        good.replace("at = ", "where = ", 1),
        good.replace('kind = "word"', 'kind = "guess"', 1),
        good.replace('pick = "largest"', 'pick = "best"', 1),
    ):
        assert broken != good
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(tomllib.loads(broken), Lesson)
    assert isinstance(msgspec.convert(tomllib.loads(good), Lesson), Lesson)


def test_unknown_cell_is_refused():
    passes = opened_once("model=who-is-it&view=sheet")
    slots = ("attention[tired, unicorn]", "attentions[tired, animal]", "attention[tired]", "A.attention[tired, animal]")
    slots += ("attention[tired, *]", "count.unicorns", "loss.without_head_9", "attention[tired, animal]:percent")
    for slot in (*slots, "open('x')", "'a'.upper()", "().__class__"):
        with pytest.raises(LessonError):
            fill_slots(f"{{{slot}}}", passes)
    for at in ("model=unicorn", *(f"model=who-is-it&{each}" for each in ("cell=1.99.1.1.1", "changes=mask[99,1]%3D0"))):
        with pytest.raises(LessonError):
            passes_at(at)
    with pytest.raises(LessonError):
        passes_at("mask=best")
    with pytest.raises(LessonError):
        holds("attention[tired, animal]", passes)
    with pytest.raises(KeyError):
        moment("who-is-it", 0)


def test_words_with_punctuation_are_quoted():
    passes = opened_once("sentence=a%2C+b%5D+c&heads=1")
    words = passes.trace().labels["query"]
    assert {",", "]"} & {letter for word in words for letter in word}
    for place, word in enumerate(words):
        assert evaluate(f'attention["{word}", "{words[0]}"]', passes) == passes.trace()["attention"].value[0, place, 0]


CAUSAL = "sentence=the+cat+sat+on+the+mat&heads=1&mask=causal"
UNSEEING = "sentence=the+cat+sat+on+the+mat&heads=1&hidden=..111111"


def laws(weights, seen):
    """The rules that a row of weights breaks, counted one by one."""
    if any(math.isnan(each) for each in weights):
        return ["Every weight must be a number."]
    hidden = math.fsum(each for each, is_seen in zip(weights, seen, strict=True) if not is_seen)
    got = "over 99\xa0%" if 0.995 < hidden < 1 - 1e-12 else f"{100 * hidden:.0f}\xa0%"
    broken = {
        f"Every row must add up to 1. This one adds up to {math.fsum(weights):.2f}.": any(seen)
        and not math.isclose(math.fsum(weights), 1),
        f"Hidden words must get weight 0. Here they get {got}.": hidden > 1e-9,
        "A visible word must get more than 0.": any(
            each < 1e-9 for each, is_seen in zip(weights, seen, strict=True) if is_seen
        ),
    }
    return [law for law, is_broken in broken.items() if is_broken]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistaken_weights_and_broken_law(mistake):
    passes = passes_at(UNSEEING if mistake in OF_AN_EMPTY_ROW else CAUSAL)
    trace = passes.trace()
    word = "sat" if mistake in OF_AN_EMPTY_ROW else "cat"
    query = trace.labels["query"].index(word)
    seen = trace["mask"].value[query].tolist()
    row = with_mistake(trace, mistake, word)
    expected = mistaken_row(mistake, trace["scaled"].value[0, query].tolist(), seen)
    assert row.wrong.tolist() == pytest.approx(expected, abs=1e-12, nan_ok=True)
    assert row.right.tolist() == trace["attention"].value[0, query].tolist()
    assert row.laws == laws(expected, seen) != []
    total = mistaken_figure(f"{mistake}.{word}.sum", trace)
    assert total == pytest.approx(sum(expected), nan_ok=True)
    drawn = MistakePicture(of=mistake, word=word).to_contract(passes)
    assert to_json(drawn)
    assert drawn.wrong == [None if math.isnan(each) else pytest.approx(each) for each in expected]
    assert drawn.hidden == [not each for each in seen]


def test_right_weights_break_no_law():
    trace = passes_at(CAUSAL).trace()
    row = with_mistake(trace, "after", "mat")
    assert row.laws == [], "the last word sees all, so that nothing goes wrong"


def test_unknown_mistake_is_refused():
    trace = passes_at(CAUSAL).trace()
    for mistake, word in (("after", "dog"), ("nan", "cat")):
        with pytest.raises(LessonError):
            with_mistake(trace, mistake, word)
    with pytest.raises(LessonError, match="hides nothing"):
        with_mistake(passes_at("sentence=the+cat&heads=1").trace(), "after", "cat")
    for name in ("twice.cat.sum", "after.cat.dog"):
        with pytest.raises(LessonError):
            mistaken_figure(name, trace)


def test_sweep_starts_where_the_lesson_says():
    drawn = SweepPicture(d_k=64, divisor="root").to_contract(passes_at(CAUSAL))
    assert (drawn.d_k, drawn.divisor) == (64, "root")
    assert [each.label for each in drawn.divisors] == ["not divided", "divided by √d_k", "divided by d_k"]
    assert all(sum(each.counts) == drawn.n_pairs for divisor in drawn.divisors for each in divisor.lengths)


def test_pytorch_claim_matches_recording():
    """Its function gives zeros since 2.5, its module, which calls softmax, no numbers: both are recorded."""
    (said,) = (each.after for each in LESSONS["masks"].moment if each.title == "A word that sees nothing")
    module = np.load(RECORDED.with_name("torch_masks.npz"))["module, padding in front/attn_output_weights"]
    function = np.load(RECORDED)["a row that sees nothing/output"]
    assert np.isnan(module).any()
    assert not np.isnan(function).any()
    assert (function == 0).all(axis=-1).any()
    assert "PyTorch’s softmax divides 0 by 0: NaN" in said
    assert "its `scaled_dot_product_attention` gives 0" in said
    assert with_mistake(passes_at(UNSEEING).trace(), "nan", "sat").library == "PyTorch’s softmax"
