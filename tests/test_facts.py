"""What captions are made of: facts of a pass, each checked against plain Python or another way of computing it."""

import math
import statistics
from collections import Counter

import numpy as np
import pytest
from passes import TRACES, selections

from attnviz import Settings, trace_of
from attnviz.core.changes import Change
from attnviz.text import wording
from attnviz.text.steps import mask, output, positions, projections, scaling, scores, softmax, tokens, weighted_sum

EVERYWHERE = pytest.mark.parametrize("name", TRACES)


def close(a, b):
    return math.isclose(a, b, rel_tol=1e-8, abs_tol=1e-12)


def places_of(values, value):
    """Where a value stands, rounding errors aside."""
    largest = max(map(abs, values))
    return [place for place, each in enumerate(values) if abs(each - value) <= 1e-8 * largest]


@EVERYWHERE
def test_twins_are_the_other_places_of_the_same_word(name):
    trace = TRACES[name]
    if "embeddings" not in trace:
        return
    words = [word.partition(" (")[0] for word in trace.labels["token"]]
    for query, word in enumerate(words):
        assert tokens.twins(trace, query) == [i for i, other in enumerate(words) if other == word and i != query]


@pytest.mark.parametrize(("prefix", "words"), [("", 2), ("context_", 4)])
def test_how_far_a_place_moves_a_word(prefix, words):
    trace = TRACES["context"]
    for place in range(words):
        moved, size = positions.lengths(trace, prefix, place)
        x = trace["context" if prefix else "x"].value[place]
        embedding = trace[f"{prefix}embeddings"].value[place]
        assert close(moved, math.sqrt(sum((a - b) ** 2 for a, b in zip(x, embedding, strict=True))))
        assert close(size, math.dist(embedding, np.zeros_like(embedding)))


@EVERYWHERE
def test_the_largest_of_a_projection(name):
    for row in np.concatenate([TRACES[name][each].value.reshape(-1, TRACES[name][each].shape[-1]) for each in "qk"]):
        size, places = projections.largest(row)
        assert size == max(max(row), -min(row))
        assert list(places) == places_of([abs(each) for each in row], size)


@EVERYWHERE
def test_the_best_and_the_worst_match(name):
    for row in TRACES[name]["scores"].value.reshape(-1, TRACES[name]["scores"].shape[-1]):
        highest, best, lowest, worst = scores.extremes(row)
        assert (highest, lowest) == (max(row), min(row))
        assert list(best) == places_of(row, max(row))
        assert list(worst) == places_of(row, min(row))


@EVERYWHERE
def test_what_scaling_does(name):
    trace = TRACES[name]
    for head in range(len(trace["scores"].value)):
        before, after = (trace[each].value[head].ravel().tolist() for each in ("scores", "scaled"))
        effect = scaling.effect(trace, head)
        level = max(before) - min(before) <= 1e-8 * max(map(abs, before))
        assert effect.spread != level
        expected = (before[0], after[0]) if level else (statistics.pstdev(before), statistics.pstdev(after))
        assert close(effect.before, expected[0])
        assert close(effect.after, expected[1])
        if effect.ordered:
            assert (np.diff(np.array(after)[np.argsort(before)]) >= -1e-12).all()
        else:
            assert level or trace["scaled"].operation.factor <= 0


@pytest.mark.parametrize(
    ("before", "after", "ordered"),
    [
        ([1.0, 2.0, 3.0], [-5.0, 0.0, 9.0], True),
        ([1.0, 2.0, 3.0], [-5.0, 9.0, 0.0], False),
        ([1.0, 2.0, 3.0], [1.0, 1.0, 2.0], False),  # two that differed are tied
        ([1.0, 1.0, 2.0], [3.0, 3.0, 4.0], True),
        ([1.0, 1.0, 2.0], [3.0, 3.5, 4.0], False),  # two that were tied differ
        ([1.0, 1.0 + 1e-15, 2.0], [3.0, 3.0, 4.0], True),  # but for rounding
        ([1.7e308, -1.7e308], [1.7e308, -1.7e308], True),
        ([1.7e308, -1.7e308], [-1.7e308, 1.7e308], False),
    ],
)
def test_when_numbers_are_ordered_alike(before, after, ordered):
    assert wording.ordered_alike(np.array([before]), np.array([after])) == ordered


@EVERYWHERE
def test_what_a_mask_leaves(name):
    trace = TRACES[name]
    for selection in selections(trace):
        head, query = selection.head, selection.query
        masked, scaled = trace["masked"].value[head], trace["scaled"].value[head]
        hidden, pairs, seen, added = mask.visible(trace, head, query)
        assert hidden == sum(number == -math.inf for number in masked.ravel())
        assert pairs == len(masked) * len(masked[0])
        assert list(seen) == [key for key, number in enumerate(masked[query]) if number != -math.inf]
        moved = [b - a for a, b in zip(scaled.ravel(), masked.ravel(), strict=True) if b != -math.inf]
        if added:
            assert np.allclose(added, (min(moved), max(moved)))
        else:
            assert not any(moved)
        blind = [q for q, row in enumerate(masked) if q != query and (row == -math.inf).all()]
        assert mask.others_fully_masked(trace, selection) == blind


@EVERYWHERE
def test_how_a_query_divides_its_attention(name):
    trace = TRACES[name]
    for selection in selections(trace):
        row = trace["attention"].value[selection.head, selection.query].tolist()
        seen = [k for k, z in enumerate(trace["masked"].value[selection.head, selection.query]) if z != -math.inf]
        if not seen:
            assert not any(row)
            continue
        looks = softmax.looks(trace, selection.head, selection.query)
        assert list(looks.seen) == seen
        assert looks.most == max(row)
        assert list(looks.best) == places_of(row, max(row))
        assert close(looks.times, max(row) / (1 / len(seen)))
        assert close(looks.mean, statistics.fmean(row[key] for key in seen))
        shares = [row[key] for key in seen]
        assert looks.evenly == (len(places_of(shares, shares[0])) == len(seen))
        if looks.nearly:
            assert (max(shares) - min(shares)) * len(seen) <= 0.01


@EVERYWHERE
def test_the_portions_of_a_mixture(name):
    attention = TRACES[name]["attention"].value
    for row in attention.reshape(-1, attention.shape[-1]):
        portions = weighted_sum.portions(row)
        shares = [int(share.removesuffix("%")) for share, _ in portions]
        assert shares == sorted(set(shares), reverse=True)
        said = {key: share for share, (_, keys) in zip(shares, portions, strict=True) for key in keys}
        assert all(abs(100 * row[key] - share) <= 0.5 + 1e-9 for key, share in said.items())
        assert max(Counter(key for _, keys in portions for key in keys).values(), default=1) == 1
        assert all(row[key] <= 0.005 + 1e-9 for key in range(len(row)) if key not in said)


@pytest.mark.parametrize("name", [name for name in TRACES if "output" in TRACES[name]])
def test_the_parts_that_heads_add(name):
    trace = TRACES[name]
    for query in range(len(trace["output"].value)):
        found = output.parts(trace, query)
        lengths = [math.sqrt(sum(part**2)) for part in trace["contributions"].value[:, query]]
        assert np.allclose(found.lengths, lengths)
        assert list(found.longest) == places_of(lengths, max(lengths))
        assert list(found.shortest) == places_of(lengths, min(lengths))
        assert found.equal == (len(places_of(lengths, lengths[0])) == len(lengths))


@pytest.mark.parametrize(
    ("change", "holds"),
    [
        (Change("heads", (0,), 0.0), True),
        (Change("concat", (0, 0), 1.0), False),
        (Change("contributions", (0, 0, 0), 1.0), False),
        (Change("output", (0, 0), 1.0), False),
    ],
)
def test_contributions_add_up_unless_a_number_after_the_heads_is_set_by_hand(change, holds):
    trace = trace_of(Settings("the cat sat")).with_changes(change)
    assert output.adds_up(trace) == holds
    assert np.allclose(trace["contributions"].value.sum(axis=0), trace["output"].value) == holds


def test_two_sums_that_rounding_errors_alone_tell_apart_are_tied():
    trace = TRACES["plain"]
    score = trace["scores"].value[0, 0, 0]
    trace = trace.with_change("scores", (0, 0, 4), np.nextafter(score, np.inf))
    assert {0, 4} <= {*scores.extremes(trace["scores"].value[0, 0]).best}
    assert {0, 4} <= {*softmax.looks(trace, 0, 0).best}


def test_facts_of_numbers_near_the_end_of_float64_are_finite_or_known_to_be_beyond():
    big = 1.5e308
    assert close(scaling.spread_of(np.array([-big, big])) / big, 1)
    assert scores.extremes(np.array([-big, big, 1.0])).best.tolist() == [1]
    trace = trace_of(Settings("the cat sat"))
    values = np.zeros(trace["contributions"].shape)
    values[0, 0, :2], values[1, 0, :3] = big, big
    found = output.parts(trace.with_values({"contributions": values}), 0)
    assert found.lengths.tolist() == [math.inf, math.inf], "both are beyond float64"
    assert (found.longest.tolist(), found.equal) == ([1], False), "and still told apart"
    shares = np.array(trace["attention"].value)
    shares[0, 0] = [big, 0.2, 0.3]
    looks = softmax.looks(trace.with_values({"attention": shares}), 0, 0)
    assert (looks.evenly, looks.nearly, looks.times) == (False, False, math.inf)
