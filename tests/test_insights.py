"""Captions are true: their numbers and words are read back and compared with the arrays, at every selected cell."""

import re
from itertools import product

import hypothesis
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.core.operations.sumnormalise import SumNormalise
from attnviz.core.selection import Selection
from attnviz.examples import EXAMPLES
from attnviz.text.captions import caption, summary
from attnviz.text.steps import STEPS

WORD = "“[^“”]*”"
WORDS = rf"{WORD}(?:(?:, | and ){WORD})*(?: and \d+ more)?"
NUMBER = r"−?\d+\.\d\d"
ROUNDED = "(?:, to two decimals)?"

random = np.random.default_rng(5)
HEADS = {name: random.standard_normal((2, 3, 4)) for name in ("w_q", "w_k", "w_v")}
HEADS["w_v"][1] = HEADS["w_v"][0]
ROWS = random.standard_normal((5, 3))
BLIND_IN_ONE_HEAD = np.array([np.ones((5, 5)), np.tri(5, k=-2)], dtype=bool)
NEGATIVE = np.array([[1.0, 0.0], [0.0, 1.0], [-0.9, 0.3], [3.0, -2.0]])


def hand_made(**kept):
    return attend(ROWS, parameters=Parameters(**HEADS, **kept.pop("output", {})), **kept)


TRACES = {
    "plain": trace_of(Settings("the cat sat on the mat")),
    "one word": trace_of(Settings("alone")),
    "one word, hidden": trace_of(Settings("alone", mask="padding")),
    "ties": trace_of(Settings("a a a a", seed=3)),
    "many ties": trace_of(Settings("a " * 9 + "b", d_model=6, n_heads=3)),
    "causal": trace_of(Settings("the cat sat the cat", mask="causal", positions="sinusoidal")),
    "window 0": trace_of(Settings("the cat sat", mask="window", mask_size=0)),
    "all hidden": trace_of(Settings("the cat sat on", mask="padding", mask_size=9)),
    "d_k = 1": trace_of(Settings("the cat sat", n_heads=8)),
    "unscaled": trace_of(Settings("the cat sat", scaled=False)),
    "one word, unscaled": trace_of(Settings("alone", scaled=False)),
    "one head": trace_of(Settings("the cat sat", n_heads=1, initialiser="xavier")),
    "context": trace_of(Settings("the cat", context="der Hund schläft der", positions="sinusoidal", d_model=6)),
    "bare context": trace_of(Settings("שלום cat", context="der Hund", mask="window", mask_size=0)),
    "a head's mask": hand_made(mask=BLIND_IN_ONE_HEAD),
    "added mask": hand_made(mask=np.where(np.tri(5) > 0, [0.5, 0, 0, 0, 0], -np.inf), scale=-0.5),
    "moving mask": hand_made(mask=random.standard_normal((5, 5))),
    "scale 0": hand_made(scale=0.0),
    "bias": hand_made(output={"w_o": random.standard_normal((8, 3)), "b_o": np.ones(3)}),
    "nothing out": hand_made(output={"w_o": np.zeros((8, 3))}),
    "equal parts": hand_made(output={"w_o": np.tile(random.standard_normal((4, 3)), (2, 1))}, scale=0.0),
    "negative": attend(NEGATIVE, parameters=Parameters(), scale=1.0, normalise=SumNormalise),
    "zeros": attend(np.zeros((3, 1)), np.zeros((4, 1)), parameters=Parameters()),
    "small shares": attend(np.eye(3)[:2], random.standard_normal((300, 3)) / 9, parameters=Parameters()),
    **{f"{e.id} {variant.id}": variant.trace for e in EXAMPLES.values() for variant in e.variants},
}


def numbers(text):
    return [float(each.replace("−", "-")) for each in re.findall(NUMBER, text)]


def close(shown, value):
    assert abs(shown - value) <= 0.005 + 1e-9 * abs(value), (shown, value)


def named(text):
    """The words in the text, and how many more it says there are."""
    more = re.search(r" and (\d+) more", text)
    return re.findall("“(.*?)”", text), int(more[1]) if more else 0


def names(text, trace, axis, places):
    """Check that the words in `text` are those at the places and no others."""
    words, more = named(text)
    expected = [trace.label(axis, int(place)) for place in places]
    assert len(words) + more == len(expected)
    assert set(words) <= set(expected)
    assert more == 0 or len(words) == 5


def at(values, value):
    """Where `value` stands, but for rounding errors."""
    return np.flatnonzero(np.isclose(values, value, rtol=0, atol=1e-8 * np.abs(values).max()))


def level(values, apart=1e-8):
    return values.max() - values.min() <= apart


def places(text):
    more = re.search(r" and (\d+) more", text)
    told = re.sub(r" and \d+ more", "", text)
    return [int(each) - 1 for each in re.findall(r"\d+", told)], int(more[1]) if more else 0


def check_entering(trace, selection, text, name, place):
    row = trace[name].value[place]
    count = "1 number" if len(row) == 1 else f"{len(row)} numbers"
    span = f"(?: between ({NUMBER}) and ({NUMBER})|: ({NUMBER})(?: each)?{ROUNDED})"
    found = re.match(f"({WORD}) enters as {count}{span}\\.", text)
    names(found[1], trace, trace[name].axes[0], [place])
    if found[4]:
        assert level(row, 0.01)
        close(numbers(found[4])[0], row[0])
    else:
        close(numbers(found[2])[0], row.min())
        close(numbers(found[3])[0], row.max())
    return text[found.end() :]


def check_embeddings(trace, selection, text):
    rest = check_entering(trace, selection, text, "embeddings", selection.query)
    rows = trace["embeddings"].value
    twins = [i for i in range(len(rows)) if i != selection.query and np.array_equal(rows[i], rows[selection.query])]
    if twins:
        assert rest.startswith(" It is the same vector as that of")
        names(rest, trace, "token", twins)
    else:
        assert rest == ""


def check_context_embeddings(trace, selection, text):
    rest = check_entering(trace, selection, text, "context_embeddings", selection.key)
    assert "another sentence" in rest
    assert not numbers(rest)


def check_placed(trace, text, prefix, place):
    if f"{prefix}positions" not in trace:
        assert np.array_equal(
            trace["context" if prefix else "x"].value[place], trace[f"{prefix}embeddings"].value[place]
        )
        assert text.startswith("Nothing is added")
        return
    moved, size = numbers(text)
    assert text.startswith(f"Place {place + 1} moves")
    close(moved, np.sqrt((trace[f"{prefix}positions"].value[place] ** 2).sum()))
    close(size, np.sqrt((trace[f"{prefix}embeddings"].value[place] ** 2).sum()))


def check_x(trace, selection, text):
    if "embeddings" in trace:
        names(text, trace, "token", [selection.query])
        check_placed(trace, text, "", selection.query)
    else:
        assert check_entering(trace, selection, text, "x", selection.query) == ""


def check_context(trace, selection, text):
    assert ("another sentence" in text) == ("context_embeddings" not in trace), "it is said once"
    if "context_embeddings" in trace:
        names(text, trace, "context token", [selection.key])
        check_placed(trace, text, "context_", selection.key)
    else:
        check_entering(trace, selection, text, "context", selection.key)


def check_projection(name, does):
    def check(trace, selection, text):
        axis, place = ("query", selection.query) if name == "q" else ("key", selection.key)
        row = trace[name].value[selection.head, place]
        count = "1 number" if len(row) == 1 else f"{len(row)} numbers"
        made = r"\((?:made from its (\d+)|as they are given)\)"
        most = f": ({NUMBER})(?: each)?{ROUNDED}|; the largest is ({NUMBER}) in size, at places? (.*)"
        found = re.fullmatch(f"In head {selection.head + 1} ({WORD}) {does} {count} {made}(?:{most})\\.", text)
        names(found[1], trace, axis, [place])
        assert (found[2] is not None) == (f"w_{name}" in trace)
        assert found[2] in (None, str(trace.inputs(name)[0].shape[1]) if trace.inputs(name) else None)
        if found[3]:
            assert level(row, 0.01)
            close(numbers(found[3])[0], row[0])
        else:
            close(numbers(found[4])[0], np.abs(row).max())
            said, more = places(found[5])
            expected = at(np.abs(row), np.abs(row).max())
            assert len(said) + more == len(expected)
            assert set(said) <= set(expected)
            assert ("places" in text) == (len(expected) > 1)

    return check


def check_scores(trace, selection, text):
    row = trace["scores"].value[selection.head, selection.query]
    who = f"In head {selection.head + 1} ({WORD})"
    if found := re.fullmatch(f"{who} has one key to look at, ({WORD}), and scores ({NUMBER}) with it\\.", text):
        assert len(row) == 1
        names(found[2], trace, "key", [0])
        close(numbers(text)[0], row[0])
    elif found := re.fullmatch(
        f"{who} scores alike with all {len(row)} keys: ({NUMBER}) each(, to two decimals)?\\.", text
    ):
        assert level(row, 0.01 if found[3] else 1e-8 * max(1, abs(row[0])))
        close(numbers(text)[0], row[0])
    else:
        shape = f"{who} scores highest with ({WORDS}) \\({NUMBER}\\) and lowest with ({WORDS}) \\({NUMBER}\\)\\."
        found = re.fullmatch(shape, text)
        names(found[2], trace, "key", at(row, max(row)))
        names(found[3], trace, "key", at(row, min(row)))
        highest, lowest = numbers(text)
        assert highest > lowest
        close(highest, max(row))
        close(lowest, min(row))
    names(found[1], trace, "query", [selection.query])


def check_scaled(trace, selection, text):
    before, after = (trace[name].value[selection.head].ravel().tolist() for name in ("scores", "scaled"))
    assert f"head {selection.head + 1}'s" in text
    d_k = trace["q"].shape[-1]
    unchanged = before == after and (trace["scaled"].operation.factor == 1 or d_k == 1)
    assert ("leaves" in text) == unchanged
    assert ("Scaling is off" in text) == (trace["scaled"].operation.factor == 1)
    if text.startswith("Dividing"):
        assert re.match(rf"Dividing by √{d_k} = ({NUMBER}) ", text)
        close(numbers(text)[0], np.sqrt(d_k))
    shown = numbers(re.sub("^(Dividing|Multiplying) by .*?(brings|leaves)", "", text))
    assert len(shown) == 2 - unchanged
    if "spread" in text:
        assert not level(np.array(before), 0)
        ends = [np.sqrt(np.mean((np.array(each) - np.mean(each)) ** 2)) for each in (before, after)]
    else:
        assert level(np.array(before), 1e-8 * max(1, abs(before[0])))
        assert ("only score" in text) == (len(before) == 1)
        ends = [before[0], after[0]]
    for number, end in zip(shown, ends, strict=False):
        close(number, end)
    assert ("to two decimals" in text) == (len(shown) == 2 and shown[0] == shown[1])
    if "their order stays" in text:
        assert (np.diff(np.array(after)[np.argsort(before)]) >= -1e-9).all()


def check_others_blind(trace, selection, text):
    """Check and cut off what a caption says of other queries that see nothing."""
    hidden = np.isneginf(trace["masked"].value[selection.head]).all(axis=-1)
    others = [query for query in np.flatnonzero(hidden) if query != selection.query]
    found = re.search(f" ({WORDS}) sees? no key there: attention is zeros\\.", text)
    assert bool(found) == bool(others)
    if not found:
        return text
    names(found[1], trace, "query", others)
    assert (" sees no" in found[0]) == (len(others) == 1)
    assert not trace["attention"].value[selection.head, others].any()
    return text.replace(found[0], "")


def check_masked(trace, selection, text):
    text = check_others_blind(trace, selection, text)
    row = trace["masked"].value[selection.head]
    scaled = trace["scaled"].value[selection.head]
    hidden = int(np.isneginf(row).sum())
    moved = (row - scaled)[np.isfinite(row)]
    if found := re.search(f" To the scores that stay it adds from ({NUMBER}) to ({NUMBER})\\.", text):
        close(numbers(found[0])[0], moved.min())
        close(numbers(found[0])[1], moved.max())
        text = text.replace(found[0], "")
    else:
        assert np.abs(moved).max(initial=0) < 1e-8
    if hidden == 0:
        assert text == f"Nothing is hidden in head {selection.head + 1}: every query sees every key."
        return
    are = "pair is" if row.size == 1 else "pairs is" if hidden == 1 else "pairs are"
    start = f"{hidden} of {row.size} {are} hidden in head {selection.head + 1}; "
    assert text.startswith(start)
    word, sees = text[len(start) :].split(" sees ")
    names(word, trace, "query", [selection.query])
    seen = np.flatnonzero(~np.isneginf(row[selection.query]))
    if len(seen):
        names(sees, trace, "key", seen)
    else:
        assert sees == "no key."


def check_negative(trace, row, text):
    """Check and cut off what a caption says of shares below 0."""
    found = re.search(f" ({WORDS}) (?:has a share|have shares) below 0\\.", text)
    negative = [key for key, share in enumerate(row) if share < 0]
    assert bool(found) == bool(negative)
    if not found:
        return text
    names(found[1], trace, "key", negative)
    return text.replace(found[0], "")


def check_attention(trace, selection, text):
    row = trace["attention"].value[selection.head, selection.query]
    text = check_negative(trace, row, check_others_blind(trace, selection, text))
    seen = np.flatnonzero(~np.isneginf(trace["masked"].value[selection.head, selection.query]))
    who = f"In head {selection.head + 1} ({WORD})"
    if found := re.fullmatch(f"{who} sees no key, so its row is zeros\\.", text):
        assert len(seen) == 0
        assert not row.any()
    elif found := re.fullmatch(f"{who} sees ({WORD}) alone: its share is 1\\.00\\.", text):
        names(found[2], trace, "key", seen)
        assert row[seen].tolist() == [1.0]
    elif found := re.fullmatch(
        f"{who} shares itself out (almost )?evenly among the {len(seen)} keys that it sees: (about )?{NUMBER} each\\.",
        text,
    ):
        assert len(seen) > 1
        assert level(row[seen] * len(seen), 0.01 if found[2] else 1e-8)
        assert bool(found[2]) == bool(found[3])
        close(numbers(text)[0], 1 / len(seen))
    else:
        even = f"times an even share \\(1/{len(seen)}\\)"
        found = re.fullmatch(f"{who} looks most at ({WORDS}): {NUMBER}( each)?, {NUMBER} {even}\\.", text)
        best = at(row, max(row))
        names(found[2], trace, "key", best)
        assert bool(found[3]) == (len(best) > 1)
        share, times = numbers(text)
        close(share, max(row))
        close(times, max(row) / (1 / len(seen)))
    names(found[1], trace, "query", [selection.query])


def check_heads(trace, selection, text):
    row = trace["attention"].value[selection.head, selection.query]
    text = check_negative(trace, row, text)
    if found := re.fullmatch(f"({WORD}) sees no key in head {selection.head + 1}, so .* its row is zeros\\.", text):
        assert not row.any()
        assert not trace["heads"].value[selection.head, selection.query].any()
        names(found[1], trace, "query", [selection.query])
        return
    found = re.fullmatch(f"What head {selection.head + 1} makes of ({WORD}) is (.*)\\.", text)
    names(found[1], trace, "query", [selection.query])
    check_mixture(trace, row, found[2])


def check_mixture(trace, row, text):
    labels = [trace.label("key", key) for key in range(len(row))]
    if found := re.fullmatch(r"a little of each of (\d+) keys", text):
        assert int(found[1]) == np.count_nonzero(row)
        assert np.abs(row).max() <= 0.005
        return
    if found := re.fullmatch(f"(all|almost all) ({WORD})", text):
        names(found[2], trace, "key", [row.argmax()])
        assert row.max() == 1.0 if found[1] == "all" else 0.995 <= row.max() <= 1
        assert found[1] == "almost all" or np.count_nonzero(row) == 1
        return
    mixture, rest, _ = text.partition(", and less of the rest")
    told = {}
    for percent, each, words in re.findall(f"(\\d+)%( each of)? ({WORDS})", mixture):
        told[int(percent)], more = named(words)
        assert bool(each) == (len(told[int(percent)]) > 1)
        assert int(percent) > 0
        keys = [key for key, share in enumerate(row) if f"{100 * share:.0f}" == percent]
        assert set(told[int(percent)]) <= {labels[key] for key in keys}
        assert len(told[int(percent)]) + more == len(keys), "all with that share, and no others, are named"
    highest = sorted({int(f"{100 * share:.0f}") for share in row if share > 0.005}, reverse=True)
    assert list(told) == highest[: len(told)]
    assert list(told) == sorted(told, reverse=True)
    others = [share for share in row if share != 0 and int(f"{100 * share:.0f}") not in told]
    assert bool(rest) == bool(others)
    assert all(100 * share < min(told) for share in others)


def check_concat(trace, selection, text):
    n_heads, _, width = trace["heads"].shape
    total = trace["concat"].shape[1]
    found = re.match(
        r"(\d+) heads? with (\d+) numbers?( each)? makes? one row of (\d+) numbers? for each query\.", text
    )
    assert [int(found[i]) for i in (1, 2, 4)] == [n_heads, width, total]
    assert sorted(trace["concat"].value[selection.query]) == sorted(trace["heads"].value[:, selection.query].ravel())


def check_contributions(trace, selection, text):
    part = trace["contributions"].value[selection.head, selection.query]
    names(text, trace, "query", [selection.query])
    assert text.startswith(f"Head {selection.head + 1} adds")
    if "adds nothing" in text:
        assert not part.any()
        return
    assert part.any()
    added, length = numbers(text)
    close(added, np.sqrt((part**2).sum()))
    close(length, np.sqrt((trace["output"].value[selection.query] ** 2).sum()))


def check_output(trace, selection, text):
    first, _, rest = text.partition(f"{numbers(text)[0]:.2f}. ")
    names(first, trace, "query", [selection.query])
    close(numbers(text)[0], np.sqrt((trace["output"].value[selection.query] ** 2).sum()))
    lengths = np.sqrt((trace["contributions"].value[:, selection.query] ** 2).sum(axis=-1))
    if rest.startswith("No head"):
        assert not lengths.any()
    elif rest.startswith("The only head"):
        assert len(lengths) == 1
        close(numbers(rest)[0], lengths[0])
    elif rest.startswith("The parts"):
        assert level(lengths, 0.01 if "decimals" in rest else 1e-8)
        assert f"{len(lengths)} heads" in rest
        close(numbers(rest)[0], lengths[0])
    else:
        found = re.fullmatch(
            f"Of the parts .* the longest is {NUMBER} long, from (heads? .*), "
            f"and the shortest {NUMBER}, from (heads? .*)\\.",
            rest,
        )
        for shown, heads, value in zip(numbers(rest), found.groups(), (lengths.max(), lengths.min()), strict=True):
            close(shown, value)
            said, more = places(heads)
            expected = at(lengths, value)
            assert len(said) + more == len(expected)
            assert set(said) <= set(expected)
            assert heads.startswith("heads") == (len(expected) > 1)


CHECKS = {
    "embeddings": check_embeddings,
    "context_embeddings": check_context_embeddings,
    "x": check_x,
    "context": check_context,
    "q": check_projection("q", "asks with"),
    "k": check_projection("k", "answers to"),
    "v": check_projection("v", "hands over"),
    "scores": check_scores,
    "scaled": check_scaled,
    "masked": check_masked,
    "attention": check_attention,
    "heads": check_heads,
    "concat": check_concat,
    "contributions": check_contributions,
    "output": check_output,
}


def foci(trace):
    n_heads, n_queries, n_keys = trace["scores"].shape
    most = 6
    return [
        Selection(*each, 0, 0)
        for each in product(range(n_heads), range(min(n_queries, most)), range(min(n_keys, most)))
    ]


def check_english(text):
    assert not re.search(r"(?<![\d.])0%|nan|inf|None|[^“]-\d|−0\.00|  | [.,;:]", text), text
    assert not re.search(r"\b1 (numbers|rows|heads|keys|queries|pairs)\b", re.sub(r"of 1 pairs", "!", text)), text
    assert text.endswith(".")
    assert text.count("“") == text.count("”")
    assert text.count("\u2068") == text.count("\u2069")


def check_all(trace, selection):
    for name, check in CHECKS.items():
        if name in trace:
            text = caption(trace, name, selection)
            check_english(text)
            check(trace, selection, text)


@pytest.mark.parametrize("name", TRACES)
def test_every_caption_is_true(name):
    for selection in foci(TRACES[name]):
        check_all(TRACES[name], selection)


@hypothesis.settings(max_examples=300)
@given(
    st.builds(Selection, *[st.integers(0, 6)] * 3),
    st.builds(
        Settings,
        sentence=st.lists(st.sampled_from(["the", "cat", "a", "קול"]), min_size=1, max_size=7).map(" ".join),
        context=st.none() | st.lists(st.sampled_from(["der", "a"]), min_size=1, max_size=3).map(" ".join),
        d_model=st.just(6),
        n_heads=st.sampled_from([1, 2, 6]),
        mask=st.sampled_from(["none", "causal", "padding", "window"]),
        mask_size=st.integers(0, 3),
        seed=st.integers(0, 99),
        initialiser=st.sampled_from(["normal", "xavier", "uniform", "standard normal"]),
        positions=st.sampled_from(["none", "sinusoidal"]),
        scaled=st.booleans(),
    ),
)
def test_every_caption_is_true_whatever_is_picked(selection, settings):
    trace = trace_of(settings)
    check_all(trace, selection.within(trace))


def test_every_stage_that_a_step_shows_has_a_caption_that_is_checked_here():
    assert {stage for step in STEPS for stage in step.stages} | {"contributions"} == set(CHECKS)


@pytest.mark.parametrize("name", TRACES)
def test_the_summary_counts_what_there_is(name):
    trace = TRACES[name]
    text = summary(trace)
    check_english(text)
    counts = [int(each.replace(",", "")) for each in re.findall(r"\d[\d,]*", text)]
    last = trace.stages[-1]
    everything = sum(len(stage.value.ravel()) for stage in trace.stages)
    parameters = sum(
        trace[f"{kind}_{letter}"].value.size for kind in "wb" for letter in "qkvo" if f"{kind}_{letter}" in trace
    )
    assert counts == [trace["q"].shape[1], trace["k"].shape[1], *last.shape, everything, parameters]


def said(name, stage, selection=Selection(0, 0, 0)):  # noqa: B008
    return caption(TRACES[name], stage, selection)


def test_what_a_reviewer_found_is_said_as_it_is():
    assert said("causal", "heads") == "What head 1 makes of “the” is all “the”."
    assert said("window 0", "heads", Selection(1, 2, 0)) == "What head 2 makes of “sat” is all “sat”."
    assert said("ties", "heads") == "What head 1 makes of “a” is 25% each of “a”, “a (2)”, “a (3)” and “a (4)”."
    assert said("ties", "attention").endswith("shares itself out evenly among the 4 keys that it sees: 0.25 each.")
    assert "scores alike with all 4 keys" in said("ties", "scores")
    assert (
        said("one word, hidden", "output") == "“alone” leaves as a vector of length 0.00. No head adds anything to it."
    )
    assert said("one word", "scaled").startswith("Dividing by √4 = 2.00 brings head 1's only score from")
    assert "leaves the spread" in said("d_k = 1", "scaled")
    assert "asks with 1 number (made from its 8): " in said("d_k = 1", "q")
    assert "“the” and “the (2)”: " in said("plain", "attention")


def test_a_word_from_right_to_left_stands_in_marks_that_keep_the_sentence_in_order():
    assert "“\u2068שלום\u2069”" in caption(TRACES["bare context"], "scores", Selection(0, 0, 0))


def test_two_sums_that_rounding_errors_alone_tell_apart_are_tied():
    trace = TRACES["plain"]
    score = trace["scores"].value[0, 0, 0]
    trace = trace.with_change("scores", (0, 0, 4), np.nextafter(score, np.inf))
    for stage in ("scores", "attention", "heads"):
        assert "“the” and “the (2)”" in caption(trace, stage, Selection(0, 0, 0))
    check_all(trace, Selection(0, 0, 0))
