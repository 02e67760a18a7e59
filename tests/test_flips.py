"""Flips: thresholds set from both sides, no smaller change in the whole stage, and what is said of them."""

import math
from dataclasses import replace

import numpy as np
import pytest
from answers import TIRED, trace_of_model
from cases import of_each

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.analysis.flips.contest import Contest, between, contest_of
from attnviz.analysis.flips.flip import Flip, StageFlip, flips
from attnviz.analysis.flips.row import OneRow
from attnviz.analysis.flips.search import Smallest
from attnviz.core.graph import leading_to
from attnviz.core.limits import MAX_FLIP_NUMBERS
from attnviz.models import MODELS
from attnviz.text.flips import headline, sentence, sentences
from attnviz.text.steps import full_title

SENTENCES = [[(name, model.examples[nth][1]) for name, model in MODELS.items()] for nth in (0, 1)]
"""The first that each model offers, and the second."""
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
    """Who of a contest is ahead."""
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


@pytest.mark.parametrize("nth", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_of_a_model_s_answer_one_side_of_each_threshold_stays_and_the_other_turns(nth):
    for case in SENTENCES[nth]:
        trace = trace_of_model(*case)
        last = len(trace["probabilities"].value) - 1
        for query in {last, last // 2} if trace.origin.read == "each" else {last}:
            both_sides_hold(trace, contest_of(trace, "probabilities", (query, 0)))


@of_each("seed", range(8))
def test_of_two_shares_one_side_of_each_threshold_stays_and_the_other_turns(seed):
    options = {"n_heads": 2, "context": "le chat noir" if seed % 2 else None, "mask": "none" if seed % 2 else "causal"}
    trace = trace_of(Settings("the cat sat on the mat", seed=seed, **options))
    both_sides_hold(trace, contest_of(trace, "attention", (seed % 2, 3, seed % 3)))


def test_what_was_tried_and_turns_it_is_never_said_not_to():
    """In the model by hand one letter after another is probable alone: thresholds are sharp, and letters tie."""
    model, n_tied = MODELS["by-hand"].at(0), 0
    for text in ("a b c a b", "b a a"):
        trace = model.trace(text)
        contest = contest_of(trace, "probabilities", (len(trace["probabilities"].value) - 1, 0))
        row, turned = OneRow(trace, contest.stage, contest.row), flips(trace, contest)
        for each in turned:
            found = Smallest(row, contest, trace[each.stage]).interval()
            assert (found is None) == (each.flip is None), each.stage
            if each.flip and each.flip.between:
                n_tied += each.flip.between == "tie"
                middle = (each.flip.stays + each.flip.turns) / 2
                between = trace.with_change(each.stage, each.flip.cell.index, middle)
                assert not contest.is_won(between[contest.stage].value[contest.row])
                assert not contest.is_lost(between[contest.stage].value[contest.row])
        both_sides_hold(trace, contest, turned)
    assert n_tied


def test_a_threshold_beside_which_no_short_number_stands_is_told_by_itself():
    """The leader is ahead of a rival between two numbers that differ in their fourteenth digit."""
    trace = trace_of(Settings("a b"))
    contest = contest_of(trace, "attention", (0, 1, 0))
    cell = trace["scores"].cell((0, 1, contest.leader))
    flip = Flip(cell, -3291.0123456789, -3291.0123456788, contest.rivals[0], "sharp")
    leader, rival = (f"“{trace.label('key', place)}”" for place in (contest.leader, contest.rivals[0]))
    assert sentence(trace, contest, StageFlip("scores", flip, 1.0)) == (
        f"{trace.name_of(cell)} puts {rival} ahead of {leader} near −3291.01: no short number stands on either side."
    )


def test_a_number_that_turns_it_and_back_again_between_two_steps_is_found():
    """Of a word's vector both a query and a key are made, so that it acts on their score as a square."""
    how = {"initialiser": "standard normal", "positions": "sinusoidal", "mask": "window", "mask_size": 1}
    trace = trace_of(Settings("bites on slow", d_model=2, n_heads=2, seed=11, **how))
    contest = contest_of(trace, "attention", (1, 2, 1))
    for name in ("embeddings", "positions", "x"):
        flip = found_in(trace, contest)[name].flip
        assert abs(flip.turns - flip.cell.value) < 1.18
        assert not dense(trace, contest, trace[name], abs(flip.stays - flip.cell.value))


def test_what_repeats_a_change_is_said_in_one_sentence_with_it():
    trace = trace_of(replace(OWN, n_heads=2))
    contest = contest_of(trace, "attention", (0, 3, 0))
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


PASSES = {
    "an answer": (small(mask=np.tri(3, dtype=bool)), "probabilities", (1, 0)),
    "an answer, beside numbers set by hand": (
        small(3).with_change("scores", (0, 2, 1), 0.5).with_change("heads", (1,), 0.25),
        "probabilities",
        (2, 0),
    ),
    "two shares": (small(2), "attention", (1, 2, 0)),
}


@of_each("case", PASSES)
def test_no_number_of_a_whole_stage_turns_anything_with_a_smaller_change(case):
    trace, name, index = case
    contest = contest_of(trace, name, index)
    found = found_in(trace, contest)
    assert list(found) == [stage.name for stage in leading_to(trace.stages, name)][:-1]
    for stage in (trace[each] for each in found):
        flip, most = found[stage.name].flip, found[stage.name].most
        if stage.value.dtype != bool:
            assert not dense(trace, contest, stage, abs(flip.stays - flip.cell.value) if flip else most), stage.name


def test_a_number_set_by_hand_keeps_what_it_is_while_others_are_tried():
    trace = small(3).with_change("heads", (0,), 0.0).with_change("heads", (1,), 0.0)
    found = found_in(trace, contest_of(trace, "probabilities", (2, 0)))
    assert not any(found[name].flip for name in ("x", "q", "scores", "attention", "v")), "nothing gets past the heads"
    assert found["heads"].flip
    assert found["output"].flip


def test_a_hidden_key_gets_a_larger_share_from_the_mask_alone():
    trace = trace_of(OWN)
    scaled = trace["scaled"].value[0, 2]
    seen, hidden = int(scaled[:3].argmin()), 3 + int(scaled[3:].argmax())
    contest = between(trace, "attention", (0, 2), hidden, seen)
    assert contest == Contest("attention", (0, 2), seen, (hidden,))
    found = found_in(trace, contest)
    assert {name for name, each in found.items() if each.flip} == {"mask"}
    assert found["mask"].flip.cell.index == (2, hidden)
    assert sentence(trace, contest, found["mask"]).startswith(f"Showing “{trace.label('key', hidden)}” to “sat” ")
    assert all(each.most >= 100 for name, each in found.items() if name not in ("mask", "masked"))


def test_a_contest_is_of_all_answers_or_of_a_share_and_the_largest_other_one():
    trace = trace_of_model("who-is-it", TIRED)
    row = trace["attention"].value[0, 11]
    first, second = (int(place) for place in np.argsort(-row)[:2])
    assert contest_of(trace, "attention", (0, 11, 6)) == Contest("attention", (0, 11), first, (6,))
    assert contest_of(trace, "attention", (0, 11, first)) == Contest("attention", (0, 11), first, (second,))
    assert len(contest_of(trace, "probabilities", (11, 4)).rivals) == 11
    assert contest_of(trace, "scores", (0, 11, 6)) is None
    assert contest_of(trace_of(Settings("cat")), "attention", (0, 0, 0)) is None


def test_where_nobody_is_ahead_there_is_nothing_to_turn():
    trace = attend(np.ones((2, 2)), parameters=Parameters())
    contest = contest_of(trace, "attention", (0, 1, 0))
    assert flips(trace, contest) == ()
    assert headline(trace, contest).endswith("there is nothing to turn.")


def test_a_stage_of_too_many_numbers_is_named_and_not_tried():
    trace = trace_of(Settings(" ".join(f"w{i}" for i in range(60)), d_model=128, n_heads=4))
    contest = contest_of(trace, "attention", (1, 7, 3))
    found = found_in(trace, contest)
    assert MAX_FLIP_NUMBERS < 128 * 60 * 2 * 128 * 60
    assert found["x"] == StageFlip("x", None, 0.0)
    assert sentence(trace, contest, found["x"]) == "Input: too large to try each of its numbers."
    assert found["scores"].flip


@pytest.mark.parametrize("size", [1e-160, 1e150, 1e300])
def test_numbers_near_the_ends_of_float64_raise_nothing(size):
    trace = attend(draw(5)((3, 2)), parameters=Parameters()).with_change("scores", (0, 1, 1), size)
    both_sides_hold(trace, contest_of(trace, "attention", (0, 1, 0)))
    large = attend(size**0.5 * draw(5)((3, 2)), parameters=Parameters())
    both_sides_hold(large, contest_of(large, "attention", (0, 1, 0)))


def test_where_no_share_is_said_to_turn_an_answer_every_share_from_0_to_1_keeps_the_leader_ahead_or_ties():
    """Layer 2 of the model that is built by hand copies c, all of it: without that share all answers tie."""
    trace = trace_of_model("by-hand", "a b c a b")
    last = len(trace["logits"].value) - 1
    contest = contest_of(trace, "probabilities", (last, 0))
    found = found_in(trace, contest)["attention_2"]
    assert found.flip is None
    assert sentence(trace, contest, found).endswith("nothing that was tried turns it, a share from 0 to 1.")
    leader, shares = trace["logits"].value[last].argmax(), np.linspace(0, 1, 21)
    for key in range(last + 1):
        rows = [trace.with_change("attention_2", (0, last, key), share)["logits"].value[last] for share in shares]
        assert all(row[leader] >= row.max() - 1e-9 for row in rows), key
