"""Flips: thresholds set from both sides, no smaller change in the whole stage, and what is said of them."""

import itertools
import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from answers import TIRED, trace_of_model
from cases import of_each
from page import ROOT
from passes import TRACES
from readback import number
from twotexts import LABELLED

from attnviz import Parameters, Settings, attend, attend_seq2seq, trace_of
from attnviz.analysis.flips import TRIAL_SIZES, SmallestFlip, StageFlip, flips
from attnviz.analysis.row_ranking import OneRow, RowRanking, rank_two, ranking_of
from attnviz.core.coerce import is_applicable
from attnviz.core.errors import ArrayError
from attnviz.core.limits import MAX_FLIP_NUMBERS
from attnviz.core.operations.softmax import Softmax
from attnviz.core.settings import OPTIONS
from attnviz.core.stage import ancestors, name_in_layer
from attnviz.core.trace import Trace
from attnviz.explain.flips import headline, sentence, sentences
from attnviz.explain.steps import full_title
from attnviz.explain.wording import percent
from attnviz.models import MODELS

OWN = Settings("the cat sat on the mat", mask="causal", positions="sinusoidal")


def draw(seed):
    return np.random.default_rng(seed).standard_normal


def small(seed=1, **options):
    """A pass of 3 words and 2 heads that answers, all of its stages small."""
    of = draw(seed)
    own = {name: of((2, 4, 2)) for name in ("w_q", "w_k", "w_v")} | {"b_q": of((2, 2)), "w_o": of((4, 4)), "b_o": of(4)}
    return attend(of((3, 4)), parameters=Parameters(**own), w_u=of((4, 3)), **options)


def answer(trace, row):
    """Who is ahead by the logits, from which no softmax takes anything."""
    return int(trace["logits"].value[row].argmax())


def first_of(trace, contest):
    if contest.stage == "probabilities":
        return answer(trace, contest.row)
    among = [contest.leader, *contest.rivals]
    return among[int(trace[contest.stage].value[contest.row][among].argmax())]


def found_in(trace, contest):
    return {each.stage: each for each in flips(trace, contest)}


def both_sides_hold(trace, contest, found=None):
    for each in flips(trace, contest) if found is None else found:
        if each.flip is None:
            continue
        cell, stays, turns = each.flip.cell, each.flip.stays, each.flip.turns
        assert cell.value == trace[cell.stage].value[cell.index]
        assert first_of(trace.with_change(cell.stage, cell.index, stays), contest) == contest.leader, cell
        after = trace.with_change(cell.stage, cell.index, turns)
        assert first_of(after, contest) == each.flip.winner != contest.leader, cell
        assert not cell.stage.startswith("attention") or 0 <= turns <= 1
        change = abs(turns - cell.value)
        if each.flip.between:
            continue
        assert trace[cell.stage].value.dtype == bool or 0 < abs(turns - stays) <= 0.002 * change, cell
        assert len(repr(turns).split("e")[0].strip("-0.")) <= 9, "it is short"


@pytest.mark.slow
def test_threshold_flips_on_one_side_only():
    """In the first sentence that each model offers; of every option by the plain search."""
    for name, model in MODELS.items():
        trace = trace_of_model(name, model.examples[0][1])
        last = len(trace["probabilities"].value) - 1
        for query in {last, last // 2} if trace.origin.read == "each" else {last}:
            both_sides_hold(trace, ranking_of(trace, "probabilities", (query, 0)))


def test_every_tried_flip_is_reported():
    """In the model by hand one letter after another is probable alone: thresholds are sharp, and letters tie."""
    model, n_tied = MODELS["by-hand"].at(0), 0
    for text in ("a b c a b", "b a a"):
        trace = model.trace(text)
        contest = ranking_of(trace, "probabilities", (len(trace["probabilities"].value) - 1, 0))
        row, turned = OneRow(trace, contest.stage, contest.row), flips(trace, contest)
        for each in turned:
            found = SmallestFlip(row, contest, trace[each.stage]).interval()
            assert (found is None) == (each.flip is None), each.stage
            if each.flip and each.flip.between:
                n_tied += each.flip.between == "tie"
                middle = (each.flip.stays + each.flip.turns) / 2
                between = trace.with_change(each.stage, each.flip.cell.index, middle)
                assert not contest.is_won(between[contest.stage].value[contest.row])
                assert not contest.is_lost(between[contest.stage].value[contest.row])
        both_sides_hold(trace, contest, turned)
    assert n_tied


def test_flip_between_two_steps_is_found():
    """Of a word's vector both a query and a key are made, so that it acts on their score as a square."""
    how = {"initialiser": "standard normal", "positions": "sinusoidal", "mask": "window", "mask_size": 1}
    trace = trace_of(Settings("bites on slow", d_model=2, n_heads=2, seed=11, **how))
    contest = ranking_of(trace, "attention", (1, 2, 1))
    for name in ("embeddings", "positions", "x"):
        flip = found_in(trace, contest)[name].flip
        assert abs(flip.turns - flip.cell.value) < 1.18
        assert not dense(trace, contest, trace[name], abs(flip.stays - flip.cell.value))


def test_repeated_change_is_one_sentence():
    trace = trace_of(replace(OWN, n_heads=2))
    contest = ranking_of(trace, "attention", (0, 3, 0))
    found = found_in(trace, contest)
    listed = sentences(trace, contest, tuple(found.values()))
    assert [each.stage for each, _ in listed] == [name for name in found if name not in ("x", "masked")]
    said = {each.stage: text for each, text in listed}
    for first, other in (("embeddings", "x"), ("scaled", "masked")):
        assert (
            said[first] == f"{sentence(trace, contest, found[first])} The same change does it in {full_title(other)}."
        )
        cell, change = found[first].flip.cell, found[first].flip.turns - found[first].flip.cell.value
        after = trace.with_change(other, cell.index, trace[other].value[cell.index] + change * 1.001)
        assert first_of(after, contest) == found[first].flip.winner


def dense(trace, contest, stage, most):
    """Whether any change of any one number of a stage, up to a size, turns a contest: set one after the other."""
    changes = [sign * most * part for part in (0.2, 0.5, 0.8, 1) for sign in (1, -1)]
    ends = (0, 1) if stage.name == "attention" else (-math.inf, math.inf)
    for index in np.ndindex(stage.shape):
        value = stage.value[index]
        for change in changes if math.isfinite(value) else ():
            after = trace.with_change(stage.name, index, np.clip(value + change, *ends))
            if first_of(after, contest) != contest.leader:
                return True
    return False


def test_hidden_key_flips_by_its_mask_alone():
    trace = trace_of(OWN)
    scaled = trace["scaled"].value[0, 2]
    seen, hidden = int(scaled[:3].argmin()), 3 + int(scaled[3:].argmax())
    contest = rank_two(trace, "attention", (0, 2), hidden, seen)
    assert contest == RowRanking("attention", (0, 2), seen, (hidden,))
    found = found_in(trace, contest)
    assert {name for name, each in found.items() if each.flip} == {"mask"}
    assert found["mask"].flip.cell.index == (2, hidden)
    assert sentence(trace, contest, found["mask"]).startswith(
        f"Showing “{trace.axes('attention')[-1].label(hidden)}” to “sat” "
    )
    assert all(each.most >= 100 for name, each in found.items() if name not in ("mask", "masked"))


def test_ranking_rivals():
    trace = trace_of_model("who-is-it", TIRED)
    row = trace["attention"].value[0, 11]
    first, second = (int(place) for place in np.argsort(-row)[:2])
    assert ranking_of(trace, "attention", (0, 11, 6)) == RowRanking("attention", (0, 11), first, (6,))
    assert ranking_of(trace, "attention", (0, 11, first)) == RowRanking("attention", (0, 11), first, (second,))
    assert len(ranking_of(trace, "probabilities", (11, 4)).rivals) == 11
    assert ranking_of(trace, "scores", (0, 11, 6)) is None
    assert ranking_of(trace_of(Settings("cat")), "attention", (0, 0, 0)) is None


def test_tie_has_nothing_to_flip():
    trace = attend(np.ones((2, 2)), parameters=Parameters())
    contest = ranking_of(trace, "attention", (0, 1, 0))
    assert flips(trace, contest) == ()
    assert headline(trace, contest).endswith("there is nothing to turn.")


def test_unconfirmed_flip_is_no_answer(monkeypatch):
    trace = trace_of(Settings("the cat sat", d_model=4, n_heads=1))
    contest = ranking_of(trace, "attention", (0, 1, 0))
    monkeypatch.setattr(Trace, "with_change", lambda self, *_: self)
    wrong = [each for each in flips(trace, contest) if each.is_unconfirmed]
    assert wrong
    for each in wrong:
        assert each.flip is None
        assert "nothing that was tried" not in sentence(trace, contest, each)
        assert "no answer" in sentence(trace, contest, each)


def test_large_stage_is_skipped():
    trace = trace_of(Settings(" ".join(f"w{i}" for i in range(60)), d_model=128, n_heads=4))
    contest = ranking_of(trace, "attention", (1, 7, 3))
    found = found_in(trace, contest)
    assert MAX_FLIP_NUMBERS < 128 * 60 * 2 * 128 * 60
    assert found["x"] == StageFlip("x", None, 0.0)
    assert sentence(trace, contest, found["x"]) == "Input: too large to try each of its numbers."
    assert found["scores"].flip


@pytest.mark.parametrize("size", [1e-160, 1e150, 1e300])
def test_extreme_numbers_raise_nothing(size):
    trace = attend(draw(5)((3, 2)), parameters=Parameters()).with_change("scores", (0, 1, 1), size)
    both_sides_hold(trace, ranking_of(trace, "attention", (0, 1, 0)))
    large = attend(size**0.5 * draw(5)((3, 2)), parameters=Parameters())
    both_sides_hold(large, ranking_of(large, "attention", (0, 1, 0)))


OPTION_VALUES = json.loads((ROOT / "tests/data/option_values.json").read_text("utf-8"))
"""For each option other values than its default, and what they need to mean anything."""
ALONE = [({name: value}, needs) for name, (values, needs) in OPTION_VALUES.items() for value in values]
PAIRS = [
    (one | other, needs | others)
    for (one, needs), (other, others) in itertools.combinations(ALONE, 2)
    if one.keys() != other.keys()
]
WHOLE = {"sentence": "the cat sat", "initialiser": "whole", "n_heads": 1}
BEYOND = {"blocks": "2"}, {"layers": 2}
"""A maximum of the first layer that is set by 745 higher leaves sums of 0, and no number of the pass can be that."""
ALL_OPTIONS = {str(own): needs | own for own, needs in [*ALONE, *PAIRS[::9], (WHOLE, {})]}


def last_contest(sentence, options):
    """A pass of some options, and the contest of its last word's shares in its last head and layer."""
    trace = trace_of(Settings(**{"sentence": sentence, "d_model": 4} | options))
    name = trace.layers[-1].names["attention"]
    n_heads, n_queries, _ = trace[name].shape
    return trace, ranking_of(trace, name, (n_heads - 1, n_queries - 1, 0))


def test_every_option_is_tried():
    assert OPTION_VALUES.keys() - {"context"} == OPTIONS.keys()
    for own, needs in ALONE:
        assert is_applicable(Settings("the cat sat", **{"d_model": 4} | needs | own), *own)


def assert_rows_are_those_of_the_pass(trace, name, row):
    """A number that the search tries in a stage gives the row of the pass; one that it leaves out never reaches it."""
    draw, one = np.random.default_rng(trace[name].size), OneRow(trace, name, row)
    for stage in one.stages[:-1]:
        part = one.arrays[stage.name]
        cell = int(draw.choice(np.flatnonzero(np.isfinite(part)))) if np.isfinite(part).any() else 0
        numbers = np.tile(part.ravel(), (2, 1))
        numbers[0, cell] = ~numbers[0, cell] if part.dtype == bool else min(numbers[0, cell], 1e3) + 0.3
        after = trace.with_change(stage.name, one.index(stage.name, cell), float(numbers[0, cell]))
        expected = [each[name].value[row] for each in (after, trace)]
        made = one.rows(stage.name, numbers.reshape(2, *part.shape))
        np.testing.assert_allclose(made, expected, rtol=1e-9, atol=1e-12, err_msg=stage.name)
        tried = {one.index(stage.name, each) for each in range(part.size)}
        others = [index for index in np.ndindex(stage.shape) if index not in tried and np.isfinite(stage.value[index])]
        for index in others and [others[draw.integers(len(others))]]:
            other = 1 - stage.value[index] if part.dtype == bool else 0.5
            elsewhere = trace.with_change(stage.name, index, float(other))[name].value[row]
            np.testing.assert_array_equal(elsewhere, expected[1], err_msg=f"{stage.name}{index}")


@of_each("options", ALL_OPTIONS)
def test_search_rows_equal_the_pass_by_option(options):
    trace, contest = last_contest("the cat sat", options)
    assert_rows_are_those_of_the_pass(trace, contest.stage, contest.row)


@pytest.mark.slow
@of_each("trace", TRACES)
def test_search_rows_equal_the_pass_by_kind(trace):
    for stage in trace.values():
        if isinstance(stage.operation, Softmax) and stage.shape[-1] > 1:
            assert_rows_are_those_of_the_pass(trace, stage.name, tuple(n - 1 for n in stage.shape[:-1]))


def plain_search(trace, contest, stage):
    """The smallest change of any number of a stage, each set in the pass itself, that puts a rival ahead; or None."""
    value, is_share = stage.value, isinstance(stage.operation, Softmax)
    ends = (0, 1) if is_share or value.dtype == bool else (-np.inf, np.inf)

    def is_lost(index, change):
        number = float(np.clip(value[index] + change, *ends))
        try:
            row = trace.with_change(stage.name, index, number)[contest.stage].value[contest.row]
        except ArrayError:  # beyond float64
            return False
        return row[list(contest.rivals)].max() > row[contest.leader] * (1 + 1e-9)

    finite = np.abs(value[np.isfinite(value)].astype(float))
    unit = 10 ** math.ceil(math.log10(finite.max(initial=0) or 1))
    sizes = [1] if value.dtype == bool else [unit * size for size in (0.001, 0.01, 0.1, 0.3, 1, 3, 10, 100, 1000)]
    ways = [(each, sign) for each in np.ndindex(value.shape) if np.isfinite(value[each]) for sign in (1, -1)]
    for low, high in itertools.pairwise([0, *sizes]):
        if turning := [(index, sign) for index, sign in ways if is_lost(index, sign * high)]:
            if value.dtype == bool:
                return 1
            for index, sign in turning:  # those that turn with less than what is found so far
                while high - low > 1e-4 * high and is_lost(index, sign * high * 0.9999):
                    start, end = low, high
                    while end - start > 1e-5 * end:
                        middle = (start + end) / 2
                        start, end = (start, middle) if is_lost(index, sign * middle) else (middle, end)
                    high = end
            return high
    return None


def small_two_texts():
    """A pass of an encoder and a decoder that answers, all of its stages small."""
    of = draw(2)
    shapes = {**dict.fromkeys(("w_q", "w_k", "w_v"), (1, 2, 2)), "w_o": (2, 2)}
    encoder, *decoder = (Parameters(**{name: of(shape) for name, shape in shapes.items()}) for _ in range(3))
    kept = {"norm": "rmsnorm", "w_u": of((2, 3))}
    return attend_seq2seq(of((3, 2)), of((2, 2)), encoder=[encoder], decoder=[tuple(decoder)], **kept)


def of_new_kinds(passes):
    """Of named passes with their contests those with an operation that none before has."""
    seen = set()
    for name, (trace, contest) in passes:
        kinds = {(type(stage.operation), stage.value.dtype) for stage in trace.stages}
        if not kinds <= seen:
            seen |= kinds
            yield name, (trace, contest)


SEARCHED = dict(of_new_kinds((str(own), last_contest("cat sat", needs | own)) for own, needs in [({}, {}), *ALONE]))
SEARCHED |= {str(own): last_contest("cat sat", needs | own) for own, needs in [(WHOLE, {}), BEYOND]}
SEARCHED["two texts"] = (small_two_texts(), ranking_of(small_two_texts(), "probabilities", (1, 0)))


@pytest.mark.slow
@of_each("case", SEARCHED)
def test_plain_search_finds_no_smaller_flip(case):
    trace, contest = case
    found = flips(trace, contest)
    assert [each.stage for each in found] == [stage.name for stage in ancestors(trace.stages, contest.stage)][:-1]
    both_sides_hold(trace, contest, found)
    for each in found:
        plain = plain_search(trace, contest, trace[each.stage])
        assert (each.flip is None) == (plain is None), each.stage
        assert not each.is_unconfirmed
        assert not each.flip or abs(each.flip.turns - each.flip.cell.value) <= plain * 1.002, each.stage


NUMBER = r"(−?[\d.]+(?:e−?\d+)?)"
CAUSAL = trace_of(Settings("the cat sat", mask="causal", d_model=4, positions="sinusoidal"))
BY_HAND = MODELS["by-hand"].at(0, None).trace("a b c a")
CONTESTS = {
    "an answer": (small(mask=np.tri(3, dtype=bool)), "probabilities", (1, 0)),
    "an answer of two layers": (BY_HAND, "probabilities", (len(BY_HAND["x"].value) - 1, 0)),
    "an answer of two texts": (LABELLED, "probabilities", (2, 0)),
    "two shares": (small(2), "attention", (1, 2, 0)),
    "two shares under a mask": (CAUSAL, "attention", (0, 2, 1)),
}


def contest_in(name):
    trace, stage, index = CONTESTS[name]
    return trace, ranking_of(trace, stage, index)


def cell_called(trace, name):
    stage, places = re.fullmatch(r"(\w+)\[(.+)\]", name).groups()
    labels = places.split(", ")
    return stage, tuple(axis.labels.index(label) for axis, label in zip(trace.axes(stage), labels, strict=True))


def row_of(trace, contest):
    """The numbers of a contest by their labels; of answers their logits, from which no softmax takes anything."""
    stage = "logits" if contest.stage == "probabilities" else contest.stage
    labels = trace.axes(stage)[-1].labels
    return dict(zip(labels, trace[stage].value[contest.row].tolist(), strict=True))


def is_first(trace, contest, label, *others):
    row = row_of(trace, contest)
    return row[label] > max(row[each] for each in others or row if each != label)


@pytest.mark.parametrize("name", CONTESTS)
def test_headline_names_leader_and_weights(name):
    trace, contest = contest_in(name)
    text, labels = headline(trace, contest), trace.axes(contest.stage)[-1].labels
    shares = dict(zip(labels, trace[contest.stage].value[contest.row], strict=True))
    query, head = re.match(r"(?:For|After) “(.+?)”(?: in head (\d+))? ", text).groups()
    assert trace.axes(contest.stage)[-2].labels.index(query) == contest.row[-1]
    assert [int(each) - 1 for each in [head] if each] == [*contest.row[:-1]]
    if contest.stage == "probabilities":
        leader, share = re.search(r"the answer is “(.+?)”, with (.+?)\. ", text).groups()
        assert is_first(trace, contest, leader)
        assert share == percent(shares[leader])
    else:
        leader, which, *said, rival, other = re.search(
            r"“([^”]+)” has a (\w+) attention weight, (.+?), than “(.+?)”, (.+?)\. ", text
        ).groups()
        assert (shares[leader] > shares[rival]) == {"larger": True, "smaller": False}[which]
        assert [*said, other] == [percent(shares[leader]), percent(shares[rival])]


def assert_turns(before, after, still, contest, turns):
    """Whether an order is what is said once a number is set, and once it is set just short of that."""
    if answer := re.fullmatch(r"turns the answer to “(.+)”", turns):
        assert is_first(after, contest, answer[1])
        assert {max(row, key=row.get) for row in (row_of(before, contest), row_of(still, contest))} == {
            before.axes(contest.stage)[-1].labels[contest.leader]
        }
        return
    winner, leader = re.fullmatch(r"puts “(.+)” ahead of “(.+)”", turns).groups()
    assert is_first(before, contest, leader, winner)
    assert is_first(still, contest, leader, winner)
    assert is_first(after, contest, winner, leader)


@pytest.mark.slow
@pytest.mark.parametrize("name", CONTESTS)
def test_sentences_flip_when_set(name):
    trace, contest = contest_in(name)
    told = [sentence(trace, contest, each) for each in flips(trace, contest) if each.flip]
    assert len(told) > 3
    for text in told:
        hiding = r"(Showing|Hiding) “(.+?)” (to|from) “(.+?)”(?: in head (\d+))?(?: in layer (\d+))? (.+)\."
        if flag := re.fullmatch(hiding, text):
            act, key, way, query, head, layer, turns = flag.groups()
            assert way == {"Showing": "to", "Hiding": "from"}[act]
            mask = name_in_layer("mask", int(layer or 0))
            labels = [axis.labels for axis in trace.axes(mask)[-2:]]
            index = (*([int(head) - 1] if head else []), labels[0].index(query), labels[1].index(key))
            assert trace[mask].value[index] == (act == "Hiding")
            assert_turns(trace, trace.with_change(mask, index, act == "Showing"), trace, contest, turns)
            continue
        called, now, to, turns, at, leader = re.fullmatch(
            rf"(\S.*\]) from {NUMBER} to {NUMBER} (.+); at {NUMBER} “(.+)” stays ahead\.", text
        ).groups()
        stage, index = cell_called(trace, called)
        value, decimals = trace[stage].value[index], len(to.partition(".")[2].partition("e")[0])
        assert number(now) == pytest.approx(value, abs=0.51 * 10.0**-decimals, rel=5e-3 if "e" in now else 0)
        after, still = (trace.with_change(stage, index, number(each)) for each in (to, at))
        assert leader == trace.axes(contest.stage)[-1].labels[contest.leader]
        assert_turns(trace, after, still, contest, turns)


def test_tried_changes_are_reported(monkeypatch):
    trace = small(3, mask=np.tri(3, dtype=bool)).with_change("heads", (0,), 0.0).with_change("heads", (1,), 0.0)
    contest = ranking_of(trace, "probabilities", (2, 0))
    tried, compute = {}, OneRow.rows

    def rows(self, name, values):
        own = self.arrays[name].astype(float).ravel()
        tried.setdefault(name, []).extend((each, own) for each in values.astype(float).reshape(len(values), -1))
        return compute(self, name, values)

    monkeypatch.setattr(OneRow, "rows", rows)
    texts = {each.stage: sentence(trace, contest, each) for each in flips(trace, contest) if not each.flip}
    assert {"x", "q", "mask", "attention"} <= {*texts}
    for stage, text in texts.items():
        said = re.fullmatch(rf"{full_title(stage)}: nothing that was tried turns it, (.+)\.", text)[1]
        own = tried[stage][0][1]
        changes = np.array([each - own for each, _ in tried[stage]])
        assert ((changes != 0).sum(axis=1) <= 1).all()
        assert (np.abs(changes) > 0).any(axis=0).all(), "each of its numbers"
        if most := re.fullmatch(rf"changes of {len(TRIAL_SIZES)} sizes, up to (\S+)", said):
            assert [changes.max(), -changes.min()] == pytest.approx([float(most[1])] * 2, rel=1e-9)
            assert len({f"{each:.3g}" for each in np.abs(changes[changes != 0])}) == len(TRIAL_SIZES)
        elif ends := re.fullmatch(r"a value from (\S+) to (\S+)", said):
            set_to = (changes + own)[changes != 0]
            assert [set_to.min(), set_to.max()] == [float(each) for each in ends.groups()]
        else:
            assert said == "hiding or showing one key"
            assert {*np.abs(changes).max(axis=1).tolist()} == {1.0}
