"""Layouts: what each is called is what its pattern is, and what one reads so is laid out so."""

import re

import numpy as np

from attnviz.analysis.check.layouts import arranged, groups_of, layouts_of
from attnviz.analysis.check.stages import stages

SIZES = {"t": 3, "s": 5, "m": 12, "c": 7, "h": 2, "g": 2, "d": 11, "v": 13, "o": 17, "n": 19, "e": 23, "1": 1}
ENTERS = {"w_o": "hv", "w_hidden": "o", "w_mlp": "n"}
LAYOUTS = {stage: layouts_of(stage) for stage in stages()}


def role(stage, group, is_alone):
    """What an axis of a stage is for: heads, what comes in or what goes out, a query or a key."""
    if stage[:2] == "w_":
        if is_alone and group in ("h", "g"):
            return "heads"
        return "in" if {*group} & {*ENTERS.get(stage, "mc")} else "out"
    return {"t": "query", "s": "key"}.get(group, group)


def axes_of(stage, layout):
    groups = groups_of(layout.pattern)
    has_heads_alone = any(group in ("h", "g") for group in groups)
    return [role(stage, group, has_heads_alone) for group in groups]


def lacks(stage, layout):
    """The letters of a stage's own layout that another one hasn't."""
    return {*"".join(groups_of(LAYOUTS[stage][0].pattern))} - {*"".join(groups_of(layout.pattern))}


TITLES = {
    r"\((\w+), (\w+)(?:, (\w+))?\)": lambda stage, layout, *said: (
        axes_of(stage, layout) == [each for each in said if each]
    ),
    r"(heads|batch) on the second axis": lambda stage, layout, which: (
        groups_of(layout.pattern)[1] in {"heads": ("h", "g"), "batch": ("1",)}[which]
    ),
    r"averaged over (heads)": lambda stage, layout, _: lacks(stage, layout) == {"h"},
    r"heads (side by side)": lambda stage, layout, _: any(
        len(group) == 2 and group[0] in "hg" for group in groups_of(layout.pattern)
    ),
    r"heads (on an axis of their own)": lambda stage, layout, _: "h" in groups_of(layout.pattern),
    r"(averaged over heads, )?each token a sentence of its own": lambda stage, layout, averaged: (
        groups_of(layout.pattern)[::-1][:2] == ("1", "1")
        and lacks(stage, layout) == ({"h", "s"} if averaged else {"s"})
    ),
    r"repeated for each (head)": lambda stage, layout, _: lacks(stage, layout) == {"g"},
    r"the same for every (query|key)": lambda stage, layout, which: (
        lacks(stage, layout) == {{"query": "t", "key": "s"}[which]}
    ),
}
"""What each title says of the axes of a stage."""


def test_each_layout_is_called_what_its_axes_are():
    made = set()
    for stage, layouts in LAYOUTS.items():
        assert not layouts[0].title or stage == "w_o"
        for layout in layouts:
            if layout.title:
                (claim,) = [each for each in TITLES if re.fullmatch(each, layout.title)]
                assert TITLES[claim](stage, layout, *re.fullmatch(claim, layout.title).groups()), (stage, layout)
                made.add(claim)
    assert made == set(TITLES)


def test_an_array_of_each_layout_is_read_as_the_stage_that_it_is():
    """Written by counting: the number at each place says where in attnviz's own layout it belongs."""
    for stage, (own, *others) in LAYOUTS.items():
        letters = "".join(groups_of(own.pattern))
        whole = np.arange(np.prod([SIZES[each] for each in letters])).reshape([SIZES[each] for each in letters])
        expected = arranged(
            whole.reshape([np.prod([SIZES[e] for e in g]) for g in groups_of(own.pattern)]), own, stage, SIZES
        )
        for other in others:
            its = "".join(groups_of(other.pattern))
            if {*its} - {"1"} != {*letters}:
                continue
            written = np.einsum(f"{letters}->{its.replace('1', '')}", whole)
            shape = [np.prod([SIZES[each] for each in group]) for group in groups_of(other.pattern)]
            assert np.array_equal(arranged(written.reshape(shape), other, stage, SIZES), expected), (stage, other)


def test_shares_of_tokens_that_are_sentences_of_their_own_are_those_of_each_with_itself():
    shares = np.arange(1.0, 7.0).reshape(3, 2, 1, 1)
    of_heads, averaged = (each for each in LAYOUTS["attention"] if each.is_of_single_tokens)
    sizes = {"t": 3, "h": 2, "s": 3}
    expected = [np.diag(shares[:, head, 0, 0]) for head in (0, 1)]
    assert np.array_equal(arranged(shares, of_heads, "attention", sizes), expected)
    assert np.array_equal(arranged(shares.mean(axis=1), averaged, "attention", sizes), np.mean(expected, axis=0))
