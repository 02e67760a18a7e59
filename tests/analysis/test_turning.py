"""What is said of flips: headline and sentences, read back by setting what they name in the pass."""

import re

import numpy as np
import pytest
from test_flips import small

from attnviz import Settings, trace_of
from attnviz.analysis.flips import BELOW, TRIAL_SIZES, flips
from attnviz.analysis.row_ranking import OneRow, between, ranking_of
from attnviz.explain.flips import headline, sentence
from attnviz.explain.steps import full_title
from attnviz.explain.wording import percent
from attnviz.models import MODELS

NUMBER = r"(−?[\d.]+(?:e−?\d+)?)"
CAUSAL = trace_of(Settings("the cat sat", mask="causal", d_model=4, positions="sinusoidal"))
BY_HAND = MODELS["by-hand"].at(0, None).trace("a b c a")
CONTESTS = {
    "an answer": (small(mask=np.tri(3, dtype=bool)), "probabilities", (1, 0)),
    "an answer of two layers": (BY_HAND, "probabilities", (len(BY_HAND["x"].value) - 1, 0)),
    "two shares": (small(2), "attention", (1, 2, 0)),
    "two shares under a mask": (CAUSAL, "attention", (0, 2, 1)),
}


def contest_in(name):
    trace, stage, index = CONTESTS[name]
    return trace, ranking_of(trace, stage, index)


def size(text):
    return float(text.replace("−", "-"))


def cell_called(trace, name):
    """The stage and index of what a person calls a number."""
    stage, places = re.fullmatch(r"(\w+)\[(.+)\]", name).groups()
    labels = places.split(", ")
    return stage, tuple(axis.labels.index(label) for axis, label in zip(trace.axes(stage), labels, strict=True))


def row_of(trace, contest):
    """The numbers of a contest by their labels; of answers their logits, from which no softmax takes anything."""
    stage = "logits" if contest.stage == "probabilities" else contest.stage
    labels = trace.axes(stage)[-1].labels
    return dict(zip(labels, trace[stage].value[contest.row].tolist(), strict=True))


def is_first(trace, contest, label, *others):
    """Whether one of a row is ahead of some others, or of all."""
    row = row_of(trace, contest)
    return row[label] > max(row[each] for each in others or row if each != label)


def test_the_headline_says_how_the_smallest_change_was_looked_for():
    trace, contest = contest_in("two shares")
    said = headline(trace, contest)
    assert f"at {len(TRIAL_SIZES)} step sizes in both directions, then refine {BELOW} times" in said
    assert "a flip that undoes itself between two steps can be missed" in said


@pytest.mark.parametrize("name", CONTESTS)
def test_the_headline_names_who_is_ahead_and_with_how_much(name):
    trace, contest = contest_in(name)
    text, labels = headline(trace, contest), trace.axes(contest.stage)[-1].labels
    shares = dict(zip(labels, trace[contest.stage].value[contest.row], strict=True))
    query, head = re.match(r"For “(.+?)”(?: in head (\d+))? ", text).groups()
    assert trace.axes(contest.stage)[-2].labels.index(query) == contest.row[-1]
    assert [int(each) - 1 for each in [head] if each] == [*contest.row[:-1]]
    if contest.stage == "probabilities":
        leader, share = re.search(r"the answer is “(.+?)”, with (.+?)\. ", text).groups()
        assert is_first(trace, contest, leader)
        assert share == percent(shares[leader])
    else:
        leader, which, *said, rival, other = re.search(
            r"“([^”]+)” has a (\w+) share, (.+?), than “(.+?)”, (.+?)\. ", text
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


@pytest.mark.parametrize("name", CONTESTS)
def test_what_a_sentence_says_turns_an_order_turns_it_where_it_is_set(name):
    trace, contest = contest_in(name)
    told = [sentence(trace, contest, each) for each in flips(trace, contest) if each.flip]
    assert len(told) > 3
    for text in told:
        if flag := re.fullmatch(r"(Showing|Hiding) “(.+?)” (to|from) “(.+?)”(?: in head (\d+))? (.+)\.", text):
            act, key, way, query, head, turns = flag.groups()
            assert way == {"Showing": "to", "Hiding": "from"}[act]
            labels = [axis.labels for axis in trace.axes("mask")[-2:]]
            index = (*([int(head) - 1] if head else []), labels[0].index(query), labels[1].index(key))
            assert trace["mask"].value[index] == (act == "Hiding")
            assert_turns(trace, trace.with_change("mask", index, act == "Showing"), trace, contest, turns)
            continue
        called, now, to, turns, at, leader = re.fullmatch(
            rf"(\S.*\]) from {NUMBER} to {NUMBER} (.+); at {NUMBER} “(.+)” stays ahead\.", text
        ).groups()
        stage, index = cell_called(trace, called)
        value, decimals = trace[stage].value[index], len(to.partition(".")[2].partition("e")[0])
        assert size(now) == pytest.approx(value, abs=0.51 * 10.0**-decimals, rel=5e-3 if "e" in now else 0)
        after, still = (trace.with_change(stage, index, size(number)) for number in (to, at))
        assert leader == trace.axes(contest.stage)[-1].labels[contest.leader]
        assert_turns(trace, after, still, contest, turns)


def test_a_key_is_said_to_be_shown_where_that_turns_it():
    scaled, (n, _) = CAUSAL["scaled"].value, CAUSAL["mask"].shape
    seen = {(head, query): int(scaled[head, query, : query + 1].argmin()) for head in range(2) for query in range(n)}
    head, query, hidden = next(
        (*row, key)
        for row, least in seen.items()
        for key in range(row[1] + 1, n)
        if scaled[(*row, key)] > scaled[(*row, least)]
    )
    contest = between(CAUSAL, "attention", (head, query), hidden, seen[head, query])
    (text,) = (sentence(CAUSAL, contest, each) for each in flips(CAUSAL, contest) if each.flip)
    called, asks, winner, leader = re.fullmatch(
        r"Showing “(.+)” to “(.+)” puts “(.+)” ahead of “(.+)”\.", text
    ).groups()
    after = CAUSAL.with_change("mask", (CAUSAL.labels["query"].index(asks), CAUSAL.labels["key"].index(called)), 1)
    assert is_first(CAUSAL, contest, leader, winner)
    assert is_first(after, contest, winner, leader)


def test_where_nothing_turns_it_what_is_said_to_be_tried_is_tried(monkeypatch):
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
        elif ends := re.fullmatch(r"a share from (\S+) to (\S+)", said):
            set_to = (changes + own)[changes != 0]
            assert [set_to.min(), set_to.max()] == [float(each) for each in ends.groups()]
        else:
            assert said == "hiding or showing one key"
            assert {*np.abs(changes).max(axis=1).tolist()} == {1.0}
