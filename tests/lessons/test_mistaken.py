"""Mistakes with the mask in lessons: their shares by plain Python, and the laws that they break."""

import math

import numpy as np
import pytest
from slowlessons import mistaken_row
from torchsdpa import RECORDED

from attnviz.lessons.figures import MISTAKES, OF_AN_EMPTY_ROW, mistaken_figure, with_mistake
from attnviz.lessons.lesson import LESSONS, MistakePicture, SweepPicture, passes_at
from attnviz.lessons.reference import LessonError
from attnviz.scene.document.encoding import to_json

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
def test_the_shares_are_those_of_the_mistake_and_the_law_is_the_one_it_breaks(mistake):
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
    drawn = MistakePicture(of=mistake, word=word).drawn(passes)
    assert to_json(drawn)
    assert drawn.wrong == [None if math.isnan(each) else pytest.approx(each) for each in expected]
    assert drawn.hidden == [not each for each in seen]


def test_the_right_shares_break_no_law():
    trace = passes_at(CAUSAL).trace()
    row = with_mistake(trace, "after", "mat")
    assert row.laws == [], "the last word sees all, so that nothing goes wrong"


def test_what_is_no_mistake_of_the_pass_is_refused():
    trace = passes_at(CAUSAL).trace()
    for mistake, word in (("after", "dog"), ("nan", "cat")):
        with pytest.raises(LessonError):
            with_mistake(trace, mistake, word)
    with pytest.raises(LessonError, match="hides nothing"):
        with_mistake(passes_at("sentence=the+cat&heads=1").trace(), "after", "cat")
    for name in ("twice.cat.sum", "after.cat.dog"):
        with pytest.raises(LessonError):
            mistaken_figure(name, trace)


def test_the_sweep_begins_where_a_lesson_says():
    drawn = SweepPicture(d_k=64, divisor="root").drawn(passes_at(CAUSAL))
    assert (drawn.d_k, drawn.divisor) == (64, "root")
    assert [each.label for each in drawn.divisors] == ["not divided", "divided by √d_k", "divided by d_k"]
    assert all(sum(each.counts) == drawn.n_pairs for divisor in drawn.divisors for each in divisor.lengths)


def test_what_a_lesson_says_of_pytorch_and_a_row_that_sees_nothing_is_what_pytorch_gave():
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
