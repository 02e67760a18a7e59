"""What the steps on attention's variants say in numbers and formulas, read back from the arrays of their stages."""

import re

import numpy as np
import pytest
from passes import TRACES

from attnviz import Settings, trace_of
from attnviz.core.numerals import digits
from attnviz.explain.steps import steps_of


def said(trace, step):
    """The text of a step, and its note on why."""
    return "".join(text for _, text in next(each for each in steps_of(trace) if each.id == step).text)


@pytest.mark.parametrize("n_heads", [1, 4, 8])
def test_the_slopes_of_alibi_are_those_of_the_heads_in_their_order(n_heads):
    trace = trace_of(Settings("a b c", d_model=8, n_heads=n_heads, alibi=True))
    lost = (trace["scaled"].value - trace["biased"].value)[:, 2, 0] / 2
    listed = re.search(r"slopes? (?:is|are) (\d[\d.e−]*(?:, \d[\d.e−]*)*)(?:\.| and so on:|:)", said(trace, "alibi"))[1]
    assert listed == ", ".join(digits(slope) for slope in lost[: 3 if n_heads > 4 else n_heads])


@pytest.mark.parametrize(
    "trace",
    [
        trace_of(Settings("a b c", d_model=24, n_heads=2, rope="halves", rope_part="quarter")),
        TRACES["rope of three in four"],
    ],
)
def test_rope_says_how_many_dimensions_it_turns(trace):
    before, after = (trace[name].value for name in (trace["q_rotated"].inputs[0], "q_rotated"))
    turned = np.flatnonzero((before != after).any(axis=(0, 1)))
    n, of = map(int, re.search(r"Only the first (\d+) of (\d+) dimensions", said(trace, "rotation")).groups())
    assert turned.tolist() == list(range(n))
    assert of == before.shape[-1] > n


def test_a_pass_by_blocks_reads_as_many_keys_and_shrinks_what_it_keeps_as_is_said():
    trace = trace_of(Settings("a b c d e f g", n_heads=1, blocks="2"))
    text = said(trace, "blocks")
    size = int(re.search(r"reads (\d+) keys at a time", text)[1])
    scores = trace["masked"].value[0]
    most, sums, outputs = (trace[f"running_{each}"].value[0] for each in ("max", "sum", "output"))
    one, other = re.search(r"multiplied by \\exp\((.+?) − (.+?)\)", text.replace("$", "")).groups()
    for query, row in enumerate(scores):
        before = -np.inf, 0.0, np.zeros(outputs.shape[-1])
        for start in range(0, len(row), size):
            keys = slice(start, start + size)
            new = max(before[0], row[keys].max())
            maxima = {"old": before[0], "new": new}
            shrunk = np.exp(maxima[one.split()[0]] - maxima[other.split()[0]])
            raised = np.exp(row[keys] - new)
            kept = shrunk * before[1] + raised.sum(), shrunk * before[2] + raised @ trace["v"].value[0, keys]
            assert most[query, keys] == pytest.approx(new)
            assert sums[query, keys] == pytest.approx(kept[0])
            assert outputs[query, keys] == pytest.approx(np.array([kept[1]] * len(row[keys])))
            before = new, *kept


def test_queries_from_a_latent_say_how_many_parameters_make_them_and_how_many_would_without():
    for settings in ({}, {"rope": "halves"}):
        more = {"sharing": "latent", "query_latent_width": 3, **settings}
        trace, straight = (
            trace_of(Settings("a b c", d_model=16, n_heads=2, **each))
            for each in (more, {**more, "query_latent_width": 0})
        )
        sizes = [
            sum(each[name].size for name in ("w_dq", "w_uq", "w_q", "w_qr") if name in each)
            for each in (trace, straight)
        ]
        found = re.search(r"So (\d+) parameters make all queries here, .* (\d+) would", said(trace, "query-latent"))
        assert list(map(int, found.groups())) == sizes
