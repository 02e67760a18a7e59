"""Comparison of arrays with a pass: a mistake is named, a correct pass is never called wrong."""

import io

import numpy as np
import pytest
from cases import covering
from implementations import LAYOUTS, Implementation, softmax
from twotexts import LABELLED

from attnviz import Settings, attend, compare, trace_of
from attnviz.core.errors import OwnArraysError
from attnviz.core.parameters import Parameters
from attnviz.explain import export

LATER = ["q", "k", "v", "scores", "scaled", "masked", "attention", "heads", "concat", "output"]
SEEDS = pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])


def correct(random, layout):
    n, h = int(random.integers(2, 20)), int(random.choice([1, 2, 3, 4]))
    crosses = layout not in ("torch.nn.MultiheadAttention", "GPT-2") and random.random() < 0.4
    n_keys = int(random.integers(2, 20)) if crosses else None
    masks = [None, np.tri(n, n_keys or n, dtype=bool), random.random((n, n_keys or n)) < 0.6]
    mask = masks[random.integers(3)]
    if mask is not None:
        mask[:, 0] = True
    return Implementation(
        random,
        random.choice([np.float16, np.float32, np.float64]),
        n_heads=h,
        d=int(random.choice([2, 3, 4, 8, 16])),
        n=n,
        n_keys=n_keys,
        n_groups=int(random.choice([g for g in range(1, h + 1) if h % g == 0])) if layout == "Llama" else None,
        biased=random.random() < 0.5,
        mask=mask,
        hides_by=random.choice([-np.inf, -1e4]),
    )


@pytest.mark.parametrize("layout", LAYOUTS)
@SEEDS
def test_a_correct_pass_is_never_called_wrong(layout, seed):
    random = np.random.default_rng([seed, list(LAYOUTS).index(layout)])
    for _ in range(8):
        own = correct(random, layout)
        stages = [each for each in LATER if random.random() < 0.5] or ["output"]
        found = compare(None, own.written(layout, *stages))
        assert found.first is None, (own, stages, str(found))
        assert found.explained
        assert not found.unread
        assert "agree" in str(found)


def test_a_pass_of_inputs_and_parameters_equals_attends():
    own = Implementation(np.random.default_rng(2), np.float64, n_keys=7, mask=np.tri(5, 7, dtype=bool))
    arrays = own.written("attnviz")
    parameters = {name: each for name, each in arrays.items() if name[1:2] == "_"}
    expected = attend(own.x, own.context, parameters=Parameters(**parameters), mask=own.mask)
    found = compare(None, arrays)
    assert "nothing to compare yet" in str(found)
    assert {stage.name for stage in found.trace.stages} == {stage.name for stage in expected.stages}
    for stage in expected.stages:
        mine = found.trace[stage.name]
        np.testing.assert_array_equal(mine.value, stage.value)
        assert (mine.axes, mine.operation.__class__) == (stage.axes, stage.operation.__class__)


@pytest.mark.parametrize(
    ("begins", "compared"),
    [
        ({"q", "k", "v"}, ["scores", "scaled", "masked", "attention", "heads", "concat"]),
        ({"q", "k"}, ["scores", "scaled", "masked", "attention"]),
        ({"masked", "v"}, ["attention", "heads", "concat"]),
        ({"attention", "v", "w_o", "b_o"}, ["heads", "concat", "output"]),
        ({"x", "w_q", "b_q", "k"}, ["q", "scores", "scaled", "masked", "attention"]),
        ({"concat", "w_o", "b_o"}, ["output"]),
    ],
)
def test_a_pass_begins_at_the_earliest_stages_that_are_given(begins, compared):
    own = Implementation(np.random.default_rng(3), mask=np.tri(5, dtype=bool))
    written = own.written("attnviz", *LATER)
    arrays = {name: written[name] for name in (*begins, *compared, "mask") if name in written}
    found = compare(None, arrays)
    assert [each.stage for each in found.stages] == compared
    assert all(each.agrees for each in found.stages), str(found)
    given = set(found.not_recomputed)
    assert given == (set() if {"q", "k", "v"} <= begins else begins & {"q", "k", "v", "masked", "attention", "concat"})
    assert (found.trace is None) == (not {"q", "k", "v", "heads"} <= {*begins, *compared})


def flat(own, *stages, **changed):
    """Square matrices under names that anyone uses."""
    return {"x": own.x, **own.parameters, **{name: own.stages[name] for name in stages}, **changed}


def test_an_unnamed_orientation_is_found_and_is_no_mistake():
    own = Implementation(np.random.default_rng(4), biased=False)
    transposed = {name: each.T for name, each in own.parameters.items()}
    few = {"x": own.x, "wq": own.parameters["w_q"].T, "wk": own.parameters["w_k"], "scores": own.stages["scores"]}
    for arrays, how in (
        (flat(own, "output", **transposed), "Your W_Q, W_K, W_V and W_O are (out, in): read transposed."),
        (flat(own, "output"), "(in, out)"),
        (few, "Your W_Q is (out, in): read transposed."),
    ):
        found = compare(None, arrays)
        assert found.first is None
        assert not found.causes
        assert how in str(found)


def test_one_matrix_against_three_or_against_the_given_orientation_is_a_mistake():
    own = Implementation(np.random.default_rng(5), biased=False)
    assert "W_K was used transposed" in str(compare(None, flat(own, "output", w_k=own.parameters["w_k"].T)))
    few = {"x": own.x, "wq": own.parameters["w_q"].T, "wk": own.parameters["w_k"], "scores": own.stages["scores"]}
    assert "W_Q was used transposed" in str(compare(None, few, orientation="(in, out)", n_heads=2))


@pytest.mark.parametrize("hides_by", [-np.inf, -1e9])
def test_a_fully_masked_query_may_get_what_its_library_gives(hides_by):
    mask = np.tri(5, k=-1, dtype=bool)
    own = Implementation(np.random.default_rng(7), mask=mask, hides_by=hides_by)
    found = compare(None, flat(own, *LATER[5:], mask=mask), true_is="visible")
    gets = "no numbers" if hides_by == -np.inf else "a uniform row"
    assert f"A query that sees no key gets {gets} in your pass, and zeros in attnviz's." in str(found)
    assert found.explained
    assert found.first is None


def test_two_mistakes_are_found_one_after_the_other():
    own = Implementation(np.random.default_rng(9), n=6, wrong="unscaled", mask=np.tri(6, dtype=bool))
    output = own.stages["concat"] @ own.parameters["w_o"]
    found = compare(None, own.written("BERT", "q", "k", "v", "scaled", "attention") | {"output": output[None]})
    assert [cause.id for cause in found.causes] == ["unscaled", "bias forgotten"]
    assert "Besides, b_O was not added. Computed with these mistakes, all of your" in " ".join(found.verdict)
    assert [line.partition(":")[0] for line in found.code] == ["Wrong", "Right"] * 2, "two mistakes, two lines each"
    assert "b_o" in found.code[3].lower(), "and the line that adds it is the right one of the second"
    assert "more of your numbers agree" not in str(found)


def test_a_mistake_that_explains_some_numbers_does_not_explain_all():
    own = Implementation(np.random.default_rng(9), n=6, wrong="unscaled", mask=np.tri(6, dtype=bool))
    output = own.stages["output"].copy()
    output[0, 0] += 1
    found = compare(None, own.written("BERT", "scaled", "attention") | {"output": output[None]})
    assert [cause.id for cause in found.causes] == ["unscaled"]
    assert not found.explained
    assert "The scores were not divided by √d_k: computed so, more of your numbers agree." in str(found)


@covering(stage=LATER, dtype=[np.float32, np.float64])
def test_a_number_that_is_off_by_more_than_rounding_is_found(unexplained, stage, dtype):
    own = Implementation(np.random.default_rng(11), dtype)
    written = own.written("attnviz", *LATER)
    wrong = written[stage].copy()
    largest = np.unravel_index(np.argmax(np.abs(wrong)), wrong.shape)
    wrong[largest] *= 1 + 1000 * np.finfo(dtype).eps
    found = compare(None, written | {stage: wrong})
    assert found.first.stage == stage
    assert 900 < found.first.roundings < 1100


def test_a_given_passs_numbers_agree_in_any_precision_and_layout():
    trace = trace_of(Settings("the cat sat on the mat", d_model=12, n_heads=3, mask="causal", initialiser="pytorch"))
    w = {name: trace[f"w_{name}"].value.swapaxes(0, 1).reshape(12, 12) for name in "qkv"}
    theirs = {f"self_attn.{name}_proj.weight": each.T for name, each in w.items()}
    for dtype in (np.float16, np.float32, np.float64):
        arrays = {stage.name: stage.value for stage in trace.stages if stage.name not in ("w_q", "w_k", "w_v")}
        arrays = {name: each if each.dtype == bool else each.astype(dtype) for name, each in (arrays | theirs).items()}
        found = compare(trace, arrays)
        assert found.first is None, str(found)
        assert found.trace is trace
        assert "Your W_Q, W_K and W_V are (out, in): read transposed." in str(found)


def test_a_mistake_is_named_against_a_given_pass_and_an_unnamed_array_is_recognised():
    trace = trace_of(Settings("the cat sat on the mat", mask="causal"))
    unscaled = attend(
        trace["x"].value,
        parameters=Parameters(**{name: trace[name].value for name in ("w_q", "w_k", "w_v", "w_o")}),
        mask=trace["mask"].value,
        scale=1.0,
    )
    found = compare(trace, {"attention": unscaled["attention"].value.astype(np.float32)})
    assert "The scores were not divided by √d_k" in str(found)
    for name in ("q", "attention", "w_o"):
        (stage,) = compare(trace, {"untitled": trace[name].value}).stages
        assert (stage.stage, stage.name, stage.agrees) == (name, "untitled", True)


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({}, "A pass begins with x and parameters"),
        ({"output": np.eye(3)}, "got output"),
        ({"x": np.ones((2, 3)), "w_q": np.ones((4, 5)), "q": np.ones((2, 5))}, "got x (2, 3), w_q (4, 5)"),
        ({"x": np.ones((2, 2, 3)), "attention": np.eye(2)}, "those of one sentence or all of a batch"),
        ({"x": np.full((2, 3), np.nan), "attention": np.eye(2)}, "x must hold finite numbers; got 6"),
        ({"x": np.ones((2, 3)), "attention": np.array(["a"])}, "'attention' is of <U1"),
        ({"x": [[1, 2], [3]]}, "its rows have several lengths"),
        ({"x": np.ones((2, 3)), "a.x": np.ones((2, 3))}, "'x' and 'a.x' are both x"),
        ({"x": np.ones((2, 3)), "mask": np.array([[1, 2], [0, 1]])}, "'mask' mixes them"),
        ({"in_proj_weight": np.ones((4, 4)), "x": np.ones((2, 4))}, "multiple of 3; got (4, 4)"),
        ({"x": np.full((2, 3), 1e300), "attention": np.eye(2)}, "beyond float64"),
    ],
)
def test_arrays_that_make_no_pass_are_refused_with_the_rule(arrays, says):
    with pytest.raises(OwnArraysError) as error:
        compare(None, arrays)
    assert says in str(error.value)


def test_a_bias_without_its_matrix_or_a_mask_without_scores_starts_no_pass():
    own = Implementation(np.random.default_rng(15))
    found = compare(None, {"x": own.x, "b_q": own.parameters["b_q"], "scores": own.x @ own.x.T})
    assert [each.stage for each in found.stages] == ["scores"]
    assert found.first is None
    assert "nothing to compare yet" in str(compare(None, {"w_o": own.parameters["w_o"], "mask": np.ones(5, bool)}))


def test_several_layers_are_compared_one_by_one():
    arrays = Implementation(np.random.default_rng(12)).written("attnviz")
    parameters = Parameters(**{name: each for name, each in arrays.items() if name[1:2] == "_"})
    trace = attend(arrays["x"], parameters=[parameters, parameters])
    second = {"x": trace["output_1"].value, "attention": trace["attention_2"].value.astype(np.float32)}
    assert compare(trace, arrays).first is None
    assert compare(trace, second).first.stage == "x"
    assert compare(trace, second, layer=2).first is None
    with pytest.raises(OwnArraysError, match="layers 1 to 2; got 3"):
        compare(trace, arrays, layer=3)


@pytest.mark.parametrize("layer", [1, 4, 5])  # an encoder's, one that reads the other text, a decoder's second
def test_layers_of_two_texts_are_compared_one_by_one(layer):
    """Of encoder and decoder all stages by their full names, and those of a layer by their own names."""
    whole = {stage.name: stage.value for stage in LABELLED.values()}
    view = LABELLED.layers[layer - 1].trace
    own = {name: view[name].value for name in (*LATER, "x", "context") if name in view}
    file = dict(np.load(io.BytesIO(export.arrays(LABELLED))))  # with words and sizes of rounding errors
    for arrays in (whole, own, file):
        found = compare(LABELLED, arrays, layer=layer)
        assert found.first is None, found
        assert {*LATER, "x"} | ({"context"} if layer in (4, 6) else set()) <= {each.stage for each in found.stages}
        assert not found.not_finite
    unscaled = softmax(own["masked"] * np.sqrt(own["q"].shape[-1]))
    found = compare(LABELLED, whole | {f"attention_{layer}": unscaled}, layer=layer)
    assert (found.first.stage, found.at) == ("attention", f"attention_{layer}")
    before = {name: own[name] for name in ("q", "k", "v", "scores")}
    found = compare(LABELLED, before | {"attention": unscaled}, layer=layer)
    assert [each.id for each in found.causes] == ["unscaled"]


def test_arrays_of_two_texts_alone_are_those_of_one_layer():
    whole = {stage.name: stage.value for stage in LABELLED.values()}
    for layer in (None, 4):
        with pytest.raises(OwnArraysError, match="Give those of one layer: what its queries are made from as x"):
            compare(None, whole, layer=layer)
    view = LABELLED.layers[3].trace
    given = {name: view[name].value for name in ("context", "w_q", "w_k", "w_v", "w_o", *LATER)}
    found = compare(None, {"x": view["attn_norm"].value} | given)
    assert found.first is None
    assert {"attention", "output"} <= {each.stage for each in found.stages}


@pytest.mark.parametrize("layer", [2, 3, 4, 5, 6])
def test_array_of_another_layer_is_no_bug(unexplained, layer):
    """Its shape differs, as do masks, keys and values of the other layers, or its numbers do."""
    for name in ("attention", "mask", "k", "v"):
        found = compare(LABELLED, {name: LABELLED[f"{name}_{layer}"].value})
        assert not found.stages or found.first or name == "mask"


SPOILERS = [
    lambda array: array.reshape(-1),
    lambda array: array.T[..., :-1],
    lambda array: np.where(array > 0, np.inf, array),
    lambda array: np.full(array.shape, 1e308),
    lambda array: (array > 0).astype(np.int8),
    lambda array: array[None, None, None],
    lambda array: array.astype(object),
    lambda array: np.array(0.7),
]


def test_only_own_arrays_errors_are_raised_whatever_the_arrays():
    random = np.random.default_rng(0)
    own = Implementation(random, mask=np.tri(5, dtype=bool))
    trace = trace_of(Settings("one two three four five"))
    refused = 0
    for number in range(21):
        layout = list(LAYOUTS)[number % len(LAYOUTS)]
        written = own.written(layout, *random.choice(LATER, 3))
        kept = {name: np.array(each) for name, each in written.items() if random.random() < 0.8}
        for name in random.permutation(list(kept))[:2]:
            kept[name] = SPOILERS[random.integers(len(SPOILERS))](kept[name])
        try:
            assert str(compare(None if number % 3 else trace, kept))
        except OwnArraysError:
            refused += 1
    assert 3 < refused < 18


@covering(
    lay=[lambda heads: heads, lambda heads: heads.transpose(1, 0, 2), lambda heads: heads[None]], n_heads=[2, 2, 1]
)
def test_an_output_without_w_o_is_read_as_head_outputs_if_it_equals_them(n_heads, lay):
    q, k, v = np.random.default_rng(3).normal(size=(3, n_heads, 5, 4))
    heads = softmax(q @ k.swapaxes(1, 2) / 2) @ v
    found = compare(None, {"q": q, "k": k, "v": v, "output": lay(heads)})
    assert [each.stage for each in found.stages] == ["heads"]
    assert found.first is None
    assert "Your output was read as attnviz's head outputs, as no W_O was in the file." in found.notes
    wrong = compare(None, {"q": q, "k": k, "v": v, "output": lay(softmax(q @ k.swapaxes(1, 2)) @ v)})
    assert [each.id for each in wrong.causes] == ["unscaled"]
    other = compare(None, {"q": q, "k": k, "v": v, "output": lay(heads @ np.random.default_rng(4).normal(size=(4, 4)))})
    assert (other.stages, other.first) == ((), None)
    assert any("No W_O was in the file" in note for note in other.notes)


def test_an_array_that_no_layout_fits_is_reported_by_both_shapes():
    """It is no mistake of the arithmetic, and no question of how queries are rotated."""
    own = Implementation(np.random.default_rng(1), np.float32, n=6, mask=np.tri(6, dtype=bool))
    arrays = own.written("Llama", "attention", "output")
    found = compare(None, arrays | {"attention": arrays["attention"][..., :4]})
    assert found.verdict == [
        "Attention has the shape (1, 2, 6, 4), where attnviz's has (2, 6, 6).",
        "Check which axis of it counts what.",
    ]
    assert not found.questions
    (row,) = (each for each in found.rows if each.name == "attention")
    assert row.layout == "in another shape"


def test_words_among_the_arrays_name_rows_and_columns():
    q, k, v = np.random.default_rng(3).normal(size=(3, 2, 4, 3))
    words = ["the", "cat", "saw", "the"]
    found = compare(None, {"q": q, "k": k, "v": v, "tokens": np.array(words)})
    assert found.unread == ()
    assert found.trace.labels["query"] == found.trace.labels["key"] == ("the", "cat", "saw", "the (2)")
    crossing = compare(None, {"q": q[:, :2], "k": k, "v": v, "tokens": words[1:3], "context_tokens": words})
    assert crossing.trace.labels["query"] == ("cat", "saw")
    assert crossing.trace.labels["key"] == ("the", "cat", "saw", "the (2)")
    fewer = compare(None, {"q": q, "k": k, "v": v, "tokens": words[:3]})
    assert fewer.trace.labels["query"] == tuple("1234")
    assert "Your tokens hold 3 words, and the pass has 4 tokens: rows are numbered." in fewer.notes


@pytest.mark.parametrize(("trace", "arrays"), [({"x": np.eye(2)}, {}), (None, 3), (None, np.eye(2))])
def test_wrong_arguments_are_refused(trace, arrays):
    with pytest.raises(OwnArraysError, match="compare takes a trace, or None, and arrays by their names; got"):
        compare(trace, arrays)


Q, K, CONTEXT = np.random.default_rng(4).normal(size=(3, 3, 4))
QKV = {"q": Q, "k": K, "v": K}
XQKV = {"q": Q, "x": K, "w_k": np.eye(4), "w_v": np.eye(4)}
TOO_FEW = "context_tokens hold 2 words, and the pass has 3 keys"


@pytest.mark.parametrize(
    ("arrays", "words", "keys", "note"),
    [
        pytest.param(QKV, "abc", "abc", "", id="as many words as keys"),
        pytest.param(QKV, None, "uvw", "", id="no words, as many keys as queries"),
        pytest.param(QKV | {"context": CONTEXT}, None, "123", "", id="no words, beside a context"),
        pytest.param(QKV, "ab", "123", TOO_FEW, id="too few"),
        pytest.param({"x": Q}, "abc", "uvw", "context_tokens are not shown", id="others than x's, which makes keys"),
        pytest.param({"x": Q}, "uvw", "uvw", "", id="those of x, which makes keys"),
        pytest.param(XQKV, "abc", "abc", "", id="x makes only keys"),
    ],
)
def test_words_of_keys_are_read_or_reported_as_unread(arrays, words, keys, note):
    found = compare(None, arrays | {"tokens": [*"uvw"]} | ({"context_tokens": [*words]} if words else {}))
    assert found.trace.labels["query"] == (*"uvw",)
    assert found.trace.labels["key"] == (*keys,)
    about_words = [each for each in found.notes if "context_tokens" in each]
    assert len(about_words) == bool(note)
    assert all(note in each for each in about_words)
    if "x" in found.trace:
        assert found.trace.labels["token"] == (*(keys if "q" in arrays else "uvw"),)


def test_any_number_of_words_is_read_and_a_space_counts():
    x, words = np.random.default_rng(5).normal(size=(70, 4)), ["a", " ", *(f"w{place}" for place in range(68))]
    found = compare(None, {"x": x, "tokens": words})
    assert found.trace.labels["query"][:3] == found.trace.labels["key"][:3] == ("a", "␣", "w0")
    assert found.unread == ()


ODD_FILES = {
    "a mask alone": {"mask": (4, 4)},
    "a norm and a rotation without scores": {
        "k_rotated": (3, 3, 4),
        "k_normed": (2, 3, 4),
        "cos": (3, 4),
        "output": (3, 12),
    },
    "outputs beside scores without values": {"scores": (2, 4, 4), "w_o": (6, 6), "concat": (4, 6), "output": (4, 6)},
    "a sink beside more keys than tokens": {"x": (3, 3), "sinks": (1,), "attention": (1, 3, 5), "g_q_norm": (3,)},
    "kept values beside a context": {
        **{"g_q_norm": (2,), "heads": (2, 4, 1), "context": (4, 2), "x": (4, 2), "past_value": (1, 1, 2, 2)},
        "biased": (1, 4, 4),
        "scale": (),
    },
    "queries and a matrix of keys": {"w_k": (2, 2), "q": (1, 1, 2)},
    "single tokens, alone": {"contributions": (3, 1, 6), "attention": (3, 1, 1), "w_o": (6, 6)},
    "single tokens, of several stages": {"biased": (2, 1, 1), "attention": (2, 1, 1), "w_o": (4, 4)},
    "single tokens, rotated": {"attention": (2, 1, 1), "k": (2, 1, 3), "k_rotated": (2, 1, 3), "b_v": (6,)},
}


@pytest.mark.parametrize("name", ODD_FILES)
def test_arrays_of_no_pass_raise_no_error_of_ours(name):
    """Stages with gaps between them, which random files showed."""
    rng = np.random.default_rng(3)
    arrays = {each: np.abs(rng.normal(size=shape)) for each, shape in ODD_FILES[name].items()}
    try:
        found = compare(None, arrays | ({"mask": np.tri(4, dtype=bool)} if "mask" in arrays else {}))
    except OwnArraysError:
        return
    assert str(found)
