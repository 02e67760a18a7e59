"""The worked examples against what the notebooks printed, and against their numbers computed without this project.

`data/worked_outputs.json` holds what the cells of the notebooks printed, "w" for each word and "…" where the export cut
an output off. `data/worked_00N.json` holds figures only: every print-out of a notebook as it was printed, and every
array of it at full precision, recomputed from the notebook's own recipe in NumPy by code that knows nothing of attnviz
(and, for 002, compared with torch 2.13.0 on a CPU, whose matrices are the same bit for bit).
"""

import dataclasses
import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from page import ROOT

from attnviz.core.attention import attend_projected
from attnviz.core.operations.softmax import Softmax
from attnviz.examples import EXAMPLES, algorithm3, masked, onehot
from attnviz.examples.printout import Agreement, Number

FIGURES = {
    example: json.loads((Path(__file__).parents[1] / "data" / f"worked_{example}.json").read_text("utf-8"))
    for example in EXAMPLES
}
OUTPUTS = json.loads((Path(__file__).parents[1] / "data" / "worked_outputs.json").read_text("utf-8"))
NUMBER = r"(?<![\w.])-?(?:\d+\.?\d*(?:e[-+]\d+)?|inf)(?![\w.…])"
"""A number that stands by itself, and was not cut off."""
VARIANTS = [
    pytest.param(variant, id=f"{example.id}-{variant.id}")
    for example in EXAMPLES.values()
    for variant in example.variants
]
PRINT_OUTS = [
    pytest.param(example.id, print_out, figures, id=f"{example.id}-{print_out.name}")
    for example in EXAMPLES.values()
    for print_out, figures in zip(example.print_outs, FIGURES[example.id]["printed"], strict=True)
]
MISTAKES = [
    pytest.param(mistake, id=f"{example.id}-{mistake.title}")
    for example in EXAMPLES.values()
    for mistake in example.mistakes
]
NOT_FROM_THE_CODE = ("004", "v, as the code shown makes it")
LAST_BIT = ("000", "score of query 1 and key 1")


# The published numbers


def written(example, pattern):
    """What fits the pattern in the outputs of a notebook's cells, in order."""
    return [text for lines in OUTPUTS[example].values() for text in re.findall(pattern, "\n".join(lines))]


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_number_that_a_notebook_printed_is_counted_once(example):
    numbers = EXAMPLES[example].numbers
    assert [number.published for number in numbers] == written(example, NUMBER)
    labels = [number.published for number in numbers if number.kind == "label"]
    assert labels == written(example, r"(?<=w )\d+(?=[:(])")  # right after a word


def test_each_number_is_in_one_of_three_classes():
    counted = {example.id: dataclasses.astuple(example.agreement) for example in EXAMPLES.values()}
    assert counted == {  # all, to the last digit, within rounding, inputs, labels
        "000": (400, 400, 0, 0, 0),
        "001": (307, 283, 24, 2 * (32 + 32 + 14), 1),
        "002": (265, 265, 0, 6 + 3 + 3, 6 + 9),
        "003": (127, 127, 0, 0, 0),
        "004": (77, 50, 0, 0, 0),
    }
    every = Agreement.of(number for example in EXAMPLES.values() for number in example.numbers)
    assert dataclasses.astuple(every) == tuple(map(sum, zip(*counted.values(), strict=True)))
    assert (every.n_numbers, every.n_apart) == (1176, 27)
    assert every.n_numbers == every.n_to_the_digit + every.n_within_slack + every.n_apart


@pytest.mark.parametrize(("example", "print_out", "figures"), PRINT_OUTS)
def test_a_print_out_is_reproduced_at_the_precision_it_was_printed_with(example, print_out, figures):
    assert list(print_out.published) == figures["tokens"]
    assert len(print_out.published) == figures["count"]
    published = np.array(figures["tokens"], dtype=float)
    computed = np.array([number.computed for number in print_out.numbers])
    if figures["scientific"]:  # 8 decimals of the mantissa
        half_unit = 0.5 * 10.0 ** (np.floor(np.log10(published)) - figures["decimals"])
    else:
        half_unit = 0.5 * 10.0 ** -figures["decimals"]
    slack = re.search(r"slack (\S+?)\)", figures["status"])
    allowed = float(slack[1]) if slack else 8.9e-16 if (example, print_out.name) == LAST_BIT else 0
    assert print_out.slack == allowed
    assert bool(print_out.why) == (allowed > 0)
    agrees = (computed == published) | (
        np.abs(computed - np.where(np.isinf(published), 0, published)) <= half_unit + allowed
    )
    assert agrees.tolist() == [number.agrees for number in print_out.numbers]
    assert agrees.all() == print_out.agrees == ((example, print_out.name) != NOT_FROM_THE_CODE)


def test_the_values_of_004_need_another_bias_than_the_code_shown():
    shown, needed = (each for each in EXAMPLES["004"].print_outs if each.name.startswith("v,"))
    assert shown.published == needed.published
    assert sum(number.agrees for number in shown.numbers) == 3  # the first feature: its bias is 0 either way
    assert all(number.agrees for number in needed.numbers)
    differences = np.array(needed.published, dtype=float) - [number.computed for number in shown.numbers]
    np.testing.assert_array_equal(differences.reshape(3, 10), np.tile(np.arange(10), (3, 1)))


def test_nan_and_the_wrong_infinity_do_not_agree():
    assert not Number("0.5", float("nan"), -1, 0).agrees
    assert not Number("-inf", float("inf"), 0, 0).agrees
    assert not Number("-inf", 0.0, 0, 0).agrees
    assert Number("-inf", -float("inf"), 0, 0).agrees


@pytest.mark.parametrize(
    ("published", "computed", "last_place", "shown"),
    [
        ("0.1385", 0.1384752414, -4, "0.13848"),
        ("0.2304771", 0.23047709955, -8, "0.230477100"),
        ("8.32207466e-07", 8.322074657714998e-07, -15, "8.322074658e-07"),
        ("9.99999159e-01", 0.9999991591659232, -9, "9.999991592e-01"),
        ("20", 20.0, 0, "20.0"),
        ("-inf", -float("inf"), 0, "-inf"),
        ("3.1707535631756056", 3.1707535631756056, -16, "3.1707535631756056"),
    ],
)
def test_a_computed_number_shows_one_digit_more_than_was_printed(published, computed, last_place, shown):
    assert Number(published, computed, last_place, 0).shown == shown


CUT_OFF = [each for each in PRINT_OUTS if "cut_token" in each.values[2]]


@pytest.mark.parametrize(("example", "print_out", "figures"), CUT_OFF)
def test_a_number_that_the_export_cut_off_begins_as_computed(example, print_out, figures):
    following = np.ravel(print_out.computed())[figures["count"]]
    assert f"{following:.8f}".startswith(figures["cut_token"])
    assert figures["cut_token"] in print_out.note


# Every array of the notebooks


def cells(example, variant, names):
    """Arrays by their names in the JSON, as (stage, index) of a variant."""
    trace = EXAMPLES[example].variant(variant).trace
    return {name: trace[stage].value[tuple(index)] for name, (stage, *index) in names.items()}


def softmax_rows(example, variant, prefix, *head):
    """The maximum of each row of scores, its exponentials and their sum, as the rule of the attention names them."""
    arrays = EXAMPLES[example].variant(variant).trace.rule("attention").arrays
    rows = {"row_max": arrays["#max"][..., None], "exp": arrays["#exp"], "row_sum": arrays["#sum"][..., None]}
    return {f"{prefix}{name}": array[head] for name, array in rows.items()}


def arrays_000():
    names = {"X_query": ("x",), "X_key": ("context",), "output": ("concat",), "weights": ("attention", 0)}
    names |= {"W_query": ("w_q", 0), "W_key": ("w_k", 0), "W_value": ("w_v", 0)}
    names |= {each: (each.lower(), 0) for each in ("Q", "K", "V", "scores", "scaled")}
    ids = {"word_index": onehot.WORD, "input_ids": onehot.KEYS, "output_ids": onehot.QUERIES}
    print_outs = {each.name: each for each in EXAMPLES["000"].print_outs}
    word = {
        f"single_{each}": np.ravel(print_outs[f"{each} of the word"].computed()) for each in ("query", "key", "value")
    }
    return cells("000", "sentence", names) | ids | word | softmax_rows("000", "sentence", "", 0)


def arrays_001():
    arrays = cells("001", "without", {each: (each.lower(), 0) for each in ("Q", "K", "V", "scores", "scaled")})
    arrays |= cells("001", "without", {"V_row0": ("v", 0, 0), "V_row1_first6": ("v", 0, 1, slice(6))})
    arrays |= cells("001", "with", {"mask": ("mask",), "masked": ("masked", 0)}) | {"allowed": masked.VISIBLE}
    for variant, prefix in (("without", "unmasked_"), ("with", "masked_")):
        arrays |= cells("001", variant, {f"{prefix}weights": ("attention", 0), f"{prefix}output": ("concat",)})
        arrays |= softmax_rows("001", variant, prefix, 0)
    printed = next(each for each in EXAMPLES["001"].print_outs if each.name == "output without the mask").published
    return arrays | {"new_v_printed": np.array(printed, dtype=float).reshape(4, 8)}


def arrays_002():
    simple = {"inputs": ("x",), "simple_scores": ("scores", 0), "simple_weights": ("attention", 0)}
    arrays = cells("002", "softmax", simple | {"simple_context": ("concat",)})
    arrays |= softmax_rows("002", "softmax", "simple_", 0)
    arrays |= cells("002", "sum", {"simple_normalised_query2": ("attention", 0, 1)})
    for variant in ("v1", "v2"):
        names = {each: (each.lower(), 0) for each in ("Q", "K", "V", "scores", "scaled")}
        names |= {"weights": ("attention", 0), "context": ("concat",)}
        names |= {"W_query": ("w_q", 0), "W_key": ("w_k", 0), "W_value": ("w_v", 0)}
        arrays |= cells("002", variant, {f"{variant}_{name}": at for name, at in names.items()})
        arrays |= softmax_rows("002", variant, f"{variant}_", 0)
    return arrays | {f"v2_W_{name}": arrays[f"v2_W_{name}"].T for name in ("query", "key", "value")}  # torch's layout


def arrays_003():
    names = {each: (each.lower(),) for each in ("X", "W_Q", "W_K", "W_V", "W_O", "Q", "K", "V", "scores", "scaled")}
    names |= {"weights": ("attention",), "head_outputs": ("heads",), "concat": ("concat",), "output": ("output",)}
    arrays = cells("003", "steps", names | {"head_contributions": ("contributions",)})
    packed = {f"W_{each}_packed": np.concatenate(arrays[f"W_{each.upper()}"], axis=-1) for each in "qkv"}
    return arrays | packed | softmax_rows("003", "steps", "")


def arrays_004():
    names = {"current": ("x", 0), "context": ("context",), "b_q": ("b_q", 0), "b_k": ("b_k", 0), "q": ("q", 0, 0)}
    names |= {"K": ("k", 0), "V": ("v", 0), "b_v_printed": ("b_v", 0), "scores": ("scores", 0, 0)}
    names |= {"scaled": ("scaled", 0, 0), "seed_softmax": ("attention", 0, 0), "seed_output": ("concat", 0)}
    arrays = cells("004", "sum", names)
    arrays |= cells("004", "softmax", {"weights": ("attention", 0, 0), "output": ("concat", 0)})
    code = {"b_v_code": ("b_v", 0), "V_code": ("v", 0), "seed_output_code_bias": ("concat", 0)}
    arrays |= cells("004", "code", code)
    by_softmax = algorithm3.algorithm3(Softmax, printed_bias=False)["concat"].value[0]
    naive = next(each for each in EXAMPLES["004"].mistakes if "overflow" in each.title).wrong.value
    arrays |= {"output_code_bias": by_softmax, "naive_softmax": naive}
    weights = cells("004", "sum", {f"W_{each}": (f"w_{each}", 0) for each in "qkv"})
    return arrays | {name: value.T for name, value in weights.items()}  # the paper's layout, for column vectors


ARRAYS = {"000": arrays_000, "001": arrays_001, "002": arrays_002, "003": arrays_003, "004": arrays_004}
FLOAT32 = ("v1_context_float32", "v2_context_float32")


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_whole_trace_is_that_of_the_notebook(example):
    arrays = ARRAYS[example]()
    expected = {name: values for name, values in FIGURES[example]["arrays"].items() if name not in FLOAT32}
    assert arrays.keys() == expected.keys()
    for name, values in expected.items():
        values = np.array(values, dtype=object).astype(float)
        assert np.shape(arrays[name]) == values.shape, name
        np.testing.assert_allclose(np.array(arrays[name], dtype=float), values, rtol=1e-12, atol=1e-12, err_msg=name)


# Every variant is a trace like any other


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_variant_has_words_and_says_where_its_numbers_are_from(variant):
    trace = variant.trace
    for stage in trace.stages:
        assert not stage.is_given or stage.operation.recipe not in ("given", ""), stage.name
        for axis, length in zip(stage.axes, stage.shape, strict=True):
            if axis in ("token", "query", "key", "context token"):
                assert len(trace.labels[axis]) == length == len(set(trace.labels[axis]))
    np.testing.assert_allclose(trace["attention"].value.sum(axis=-1), 1, rtol=1e-12)
    assert trace is variant.trace


def test_a_variant_that_is_not_there_is_named():
    with pytest.raises(KeyError, match="example 003 has steps"):
        EXAMPLES["003"].variant("eighth")


def test_the_two_variants_of_ours_are_those_that_the_notebook_promises():
    """Their numbers as published in Raschka 2024, "Build a Large Language Model (From Scratch)", chapter 3.

    There the causal attention of the same SelfAttention_v2, and two causal heads from torch.manual_seed(123).
    """
    ours = [variant.id for variant in EXAMPLES["002"].variants if variant.ours]
    assert ours == ["causal", "multihead"]
    for variant, stage in (("causal", "attention"), ("multihead", "concat")):
        value = EXAMPLES["002"].variant(variant).trace[stage].value
        published = FIGURES["002"]["published"][variant]
        np.testing.assert_allclose(value.reshape(np.shape(published)), published, rtol=0, atol=5e-5)


def test_the_rebuilt_values_of_001_are_as_good_as_stated():
    """The roundings of the prints are undone at random, and V is solved anew from each."""
    random = np.random.RandomState(1)
    v, printed = masked.rebuilt_v(), masked.published("001", "output without the mask").reshape(4, 8)
    furthest = 0.0
    for _ in range(300):
        q, k, mixed = (each + random.uniform(-5e-9, 5e-9, (4, 8)) for each in (masked.Q, masked.K, printed))
        attention = attend_projected(q[None], k[None], v[None])["attention"].value[0]
        known = v[:2] + random.uniform(-5e-9, 5e-9, (2, 8))
        solved = np.linalg.lstsq(attention[:, 2:], mixed - attention[:, :2] @ known, rcond=None)[0]  # columns 1 to 6
        lower = np.linalg.lstsq(attention[:, 1:], mixed - attention[:, :1] @ known[:1], rcond=None)[
            0
        ]  # columns 7 and 8
        furthest = max(furthest, np.abs(solved - v[2:])[:, :6].max(), np.abs(lower - v[1:])[:, 6:].max())
    assert 0.2 * masked.V_ERROR < furthest <= masked.V_ERROR


# Mistakes


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_wrong_and_the_right_number_differ_and_nothing_warns(mistake):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wrong, right = mistake.wrong.value, mistake.right.value
    assert wrong.shape == right.shape
    assert not np.allclose(wrong, right, rtol=1e-3, atol=1e-3)
    assert np.isfinite(right).all()
    assert mistake.stage in mistake.variant.trace
    assert any(mistake in example.mistakes and mistake.variant in example.variants for example in EXAMPLES.values())


@pytest.mark.parametrize(
    ("example", "title", "wrong", "right"),
    json.loads((ROOT / "tests/data/worked_mistakes.json").read_text("utf-8")),
)
def test_the_numbers_of_a_mistake(example, title, wrong, right):
    mistake = next(each for each in EXAMPLES[example].mistakes if title in each.title)
    for side, value in ((mistake.wrong, wrong), (mistake.right, right)):
        np.testing.assert_allclose(np.ravel(side.value)[0], value, rtol=1e-7, atol=1e-8)


# What the core learnt for them
