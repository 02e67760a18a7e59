"""The model built by hand: its output is exactly one 1 wherever its question has an answer."""

import math
from itertools import product

import numpy as np
import pytest
from test_layered import dot, softmax

from attnviz.core.changes import Change, format_changes, split_changes
from attnviz.models.induction_byhand import (
    BLOCKS,
    IDEAS,
    LENGTHS,
    MODEL,
    SHARPNESS,
    changed_parameters,
    changes_setting,
    outcomes,
)
from attnviz.models.task import Batch
from attnviz.models.training import forward_batch

WORDS = "^abcd"
STRINGS = ["".join(s) for n in range(2, 8) for s in product("abc", repeat=n) if s[:-1].count(s[-1]) == 1]


def follower(string):
    return string[string.index(string[-1]) + 1]


def slow_output(string):
    """The output of the last letter, one number at a time, from parameters written down once more."""
    stream = []
    for place, word in enumerate(f"^{string}"):
        angles = [2 * math.pi * turns * place / 16 for turns in (1, 3, 5)]
        waves = [wave(angle) for angle in angles for wave in (math.cos, math.sin)]
        stream.append([float(word == each) for each in WORDS] + waves + [0.0] * 5)
    for layer in (1, 2):
        after = []
        for query, asking in enumerate(stream):
            scores = []
            for key in stream[: query + 1]:
                if layer == 1:  # the angle between a key and the place before the query
                    back = [
                        math.cos(math.atan2(key[i + 1], key[i]) - math.atan2(asking[i + 1], asking[i]) + turn)
                        for i, turn in zip((5, 7, 9), (2 * math.pi * t / 16 for t in (1, 3, 5)), strict=True)
                    ]
                    scores.append(2000 * math.fsum(back) / math.sqrt(6))
                else:
                    scores.append(2000 * dot(asking[:5], key[11:]) / math.sqrt(5))
            shares = softmax(scores)
            taken = [math.fsum(share * key[f] for share, key in zip(shares, stream, strict=False)) for f in range(5)]
            after.append(asking[:11] + taken if layer == 1 else taken + [0.0] * 11)
        stream = after
    return stream[-1]


def test_output_is_one_hot_for_all_963_strings():
    assert len(STRINGS) == 963
    for string in STRINGS:
        trace = MODEL.trace(string)
        one = np.eye(16)[WORDS.index(follower(string))]
        np.testing.assert_array_equal(trace["output_2"].value[-1], one)
        np.testing.assert_array_equal(trace["probabilities"].value[-1], one[:5])
        assert trace.origin.right == (None,) * len(string) + (follower(string),)


@pytest.mark.parametrize("string", ["aa", "abca", "bcabcaab", "dcbad", "abcdabcdccccca"])
def test_output_equals_a_slow_loop(string):
    output = MODEL.trace(string)["output_2"].value
    np.testing.assert_allclose(output[-1], slow_output(string), rtol=0, atol=1e-12)


def test_parameters_are_0_1_waves_or_sharpness():
    sixteenths = [math.cos(2 * math.pi * turns / 16) for turns in range(16)]
    for name, array in MODEL.arrays.items():
        chosen = [0, 1, *(sixteenths if name in ("positions", "w_q_1") else [SHARPNESS])]
        assert np.isclose(array[..., None], chosen, rtol=0, atol=1e-12).any(axis=-1).all(), name


def test_half_the_sharpness_is_too_little():
    def n_exact(sharpness):
        return sum(
            each.is_exact
            for each in outcomes(changes_setting("w_k_2", (0, BLOCKS["previous word"]), sharpness * np.eye(5)))
        )

    assert n_exact(SHARPNESS) == 963
    assert n_exact(SHARPNESS / 2) == 0


@pytest.mark.parametrize("changes", [(), *(idea.changes for idea in IDEAS), (Change("w_q_2", (0,), 0.5),)], ids=str)
def test_batch_equals_single_strings(changes):
    results = outcomes(changes)
    assert [each.string for each in results] == sorted(STRINGS, key=len)
    assert len(results[-1].string) == LENGTHS[-1]
    for each in results[::41]:
        trace = MODEL.trace(each.string).with_changes(*changes)
        probabilities, output = trace["probabilities"].value[-1], trace["output_2"].value[-1]
        right = WORDS.index(each.right)
        assert each.right == follower(each.string)
        assert each.probability == pytest.approx(probabilities[right], abs=1e-12)
        assert WORDS[probabilities.argmax()] in each.answered
        one = np.eye(16)[right]
        assert each.is_exact == (np.array_equal(output, one) and np.array_equal(probabilities, one[:5]))


def broken(title):
    (idea,) = (idea for idea in IDEAS if title in idea.title)
    results = outcomes(idea.changes)
    return {each.string for each in results if not each.is_right}, sum(each.is_exact for each in results)


def test_ideas_do_what_they_say():
    assert broken("sharpness of 5") == (set(), 0)
    outvoted, n_exact = broken("sharpness of 2")
    assert outvoted
    assert n_exact == 0
    assert min(map(len, outvoted)) > 5
    assert broken("One wave") == (set(), 963)
    repeats = {string for string in STRINGS if string[-1] == string[-2]}
    assert broken("No rotation") == (set(STRINGS) - repeats, len(repeats))
    assert {string[-1] for string in broken("b for a")[0]} == {"a", "b"}
    assert {string[-1] for string in broken("pass on c")[0]} == {"c"}


def looks(idea):
    """Of all strings with the changes of an idea: how much each place of layer 1 and the last letter look where."""
    for length in range(2, 8):
        strings = [each for each in STRINGS if len(each) == length]
        tokens = np.array([[WORDS.index(letter) for letter in f"^{each}"] for each in strings])
        batch = Batch(tokens, np.zeros_like(tokens), np.ones(tokens.shape, dtype=bool))
        arrays = forward_batch(MODEL.trace(strings[0]).stages, changed_parameters(idea.changes), batch)
        found = [each.index(each[-1]) + 2 for each in strings]  # after "^", the letter that followed
        yield arrays["attention_1"][:, 0, 1:], arrays["attention_2"][:, 0, -1], found


@pytest.mark.parametrize("title", ["sharpness of 5", "sharpness of 2"])
def test_soft_attention_still_prefers_the_right_place(title):
    (idea,) = (idea for idea in IDEAS if title in idea.title)
    of_right = []
    for first, last, found in looks(idea):
        assert (first.argmax(axis=-1) == np.arange(first.shape[1])).all()
        assert (last.argmax(axis=-1) == found).all()
        of_right += last[np.arange(len(last)), found].tolist()
    assert max(of_right) < 1
    assert (
        title != "sharpness of 5" or f"in layer 2 as little as {min(of_right):.0%}".replace("%", " %") in idea.summary
    )


def test_one_wave_is_nearly_enough():
    (idea,) = (idea for idea in IDEAS if "One wave" in idea.title)
    others = []
    for first, last, found in looks(idea):
        before = np.arange(first.shape[1])
        assert (first[:, before, before] == 1).all()
        assert (last[np.arange(len(last)), found] == 1).all()
        others.append(np.where(np.eye(*first.shape[1:]), 0, first).max())
    assert f"the largest other share is {max(others):.0e}" in idea.summary
    attention = MODEL.trace("abcdabcdabcdabc")["attention_1"].value
    assert set(np.unique(attention)) == {0, 1}


@pytest.mark.parametrize("idea", IDEAS, ids=lambda idea: idea.title)
def test_idea_fits_an_address(idea):
    written = split_changes(format_changes(idea.changes))
    assert len(written) == len(idea.changes)
    assert not [each for each in written if each.endswith("=-0")]
    assert MODEL.trace("aa").with_changes(*idea.changes).changes == idea.changes
