"""The user's masks: what True means, several masks, none at all, and mistakes with each."""

import numpy as np
import pytest
from cases import covering
from implementations import Implementation, softmax
from test_comparison import LATER, flat
from test_rotations import a_pass, angles

from attnviz import compare

MISTAKES = {
    "transposed": "W_V was used transposed",
    "unscaled": "scores were not divided by √d_k",
    "scaled by d_model": "divided by √d_model, not by √d_k",
    "mask inverted": "mask was applied the other way round",
    "mask after the softmax": "mask was applied after the softmax",
    "softmax along the wrong axis": "softmax was taken along the queries",
    "heads split without transposing": "Q, K and V were cut into heads without transposing",
    "bias forgotten": "b_K was not added",
}
N = 6
TRI = np.tri(N, dtype=bool)
PADDED = np.arange(N) < 2
BEYOND = np.finfo(np.float32).min
VISIBLE = {
    "causal": TRI,
    "padded right": np.broadcast_to(~PADDED[::-1], (N, N)),
    "padded left, causal": TRI & (~PADDED | np.eye(N, dtype=bool)),
    "window": np.abs(np.subtract.outer(np.arange(N), np.arange(N))) < 2,
}
FORMS = {
    "bool": lambda visible: {"mask": visible},
    "the other way round": lambda visible: {"attn_mask": ~visible},
    "0 and 1": lambda visible: {"attention_mask": visible[None, None].astype(int)},
    "0.0 and 1.0": lambda visible: {"attention_mask": visible.astype(np.float32)},
    "-inf added": lambda visible: {"attn_mask": np.where(visible, 0, -np.inf)},
    "the least added": lambda visible: {"attention_mask": np.where(visible, 0, BEYOND)[None, None]},
}


def own(visible=None, wrong="", dtype=np.float32, seed=1):
    return Implementation(np.random.default_rng(seed), dtype, n=N, mask=visible, wrong=wrong)


def continued(plain, masked, unseeing=0.0):
    """The attention and the output of masked scores, with that attention for a query that sees no key."""
    with np.errstate(invalid="ignore"):
        shares = softmax(masked).astype(np.float32)
    shares[np.isneginf(masked).all(axis=-1)] = unseeing
    heads = (shares @ plain.stages["v"]).transpose(1, 0, 2).reshape(N, -1)
    return shares, heads @ plain.parameters["w_o"] + plain.parameters["b_o"]


def saved(implementation, *stages, **masks):
    """Arrays with other masks than the implementation's, or none."""
    arrays = implementation.written("BERT", *stages)
    return {name: each for name, each in arrays.items() if name != "mask"} | masks


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("visible", VISIBLE)
def test_the_numbers_show_what_true_means(visible, form):
    place = [*VISIBLE].index(visible) + [*FORMS].index(form)
    stages = (["attention"], ["output"], ["masked", "attention", "output"])[place % 3]
    arrays = saved(own(VISIBLE[visible]), *stages, **FORMS[form](VISIBLE[visible]))
    found = compare(None, arrays)
    assert found.first is None, str(found)
    assert ("True in your attn_mask was read as a hidden key." in str(found)) == (form == "the other way round")
    with_torchs_names = arrays | {"out_proj.weight": arrays.pop("attention.output.dense.weight")}
    assert compare(None, with_torchs_names).first is None


NAMED = {**MISTAKES, "mask not applied": "The mask was not applied"}
PLAIN = [wrong for wrong in NAMED if wrong not in ("mask inverted", "bias forgotten")]


@pytest.mark.parametrize("visible", VISIBLE)
def test_each_mistake_is_named_with_each_mask(visible):
    """Each mistake with two of the masks, and each form with some of them."""
    place = [*VISIBLE].index(visible)
    for nth, wrong in enumerate(PLAIN[place % 2 :: 2]):
        masks = [*FORMS.values()][(place + nth) % len(FORMS)](VISIBLE[visible])
        found = compare(None, saved(own(VISIBLE[visible], wrong), "attention", "output", **masks))
        assert NAMED[wrong] in str(found), (wrong, str(found))
        assert found.explained
        assert len(found.causes) == 1


@pytest.mark.parametrize("visible", VISIBLE)
def test_an_inverted_mask_is_named_if_the_meaning_of_true_is_known_or_plain(visible):
    visible = VISIBLE[visible]
    arrays = saved(own(visible, "mask inverted"), "attention", "output")
    for name, mask, true_is in (("mask", visible, "visible"), ("attention_mask", ~visible, "hidden")):
        known = compare(None, arrays | {name: mask}, true_is=true_is)
        assert "The mask was applied the other way round: computed so, all of your numbers agree." in str(known)
        guessed = compare(None, arrays | {name: mask})
        if (visible == visible[0]).all():  # a question at most, as either may be padding
            assert guessed.first is None
            assert bool(guessed.questions) == (name == "mask")
        else:
            assert [each.id for each in guessed.causes] == ["mask inverted"], str(guessed)
    of_keys = saved(own(VISIBLE["padded right"], "mask inverted"), "attention", key_padding_mask=PADDED[::-1])
    assert "The mask was applied the other way round" in str(compare(None, of_keys))


def test_other_mistakes_are_named_with_an_inverted_mask():
    """An implementation with SDPA's convention and torch.nn.MultiheadAttention's names."""
    for wrong in ("unscaled", "scaled by d_model"):
        arrays = own(TRI, wrong).written("torch.nn.MultiheadAttention", "attention", "output") | {"attn_mask": TRI}
        found = compare(None, arrays)
        assert MISTAKES[wrong] in str(found)
        assert found.explained
        assert "attn_mask was read as a visible key, against the convention of torch.nn.MultiheadAttention" in str(
            found
        )


BY_LIBRARY = {
    "attn_mask": ("torch.nn.MultiheadAttention", "hidden", bool),
    "mask": ("torch.nn.MultiheadAttention", "hidden", bool),
    "tgt_mask": ("torch.nn.MultiheadAttention", "hidden", bool),
    "causal_mask": ("torch.nn.MultiheadAttention", "hidden", bool),
    "layer.attention_mask": ("BERT", "visible", int),
    "attention_mask": ("Llama", "visible", bool),
    "src_mask": ("Keras", "visible", float),
}
"""The names of masks, whose file they are in, what True means there, and how they are written."""


@covering(name=BY_LIBRARY, visible=("causal", "padded right", "window"), stage=("attention", "output"))
def test_a_mask_against_its_librarys_convention_is_inverted_unless_stated(visible, name, stage):
    library, true_is, kind = BY_LIBRARY[name]
    other = {"visible": "hidden", "hidden": "visible"}[true_is]
    correct = own(VISIBLE[visible]).written(library, stage)
    correct = {each: array for each, array in correct.items() if each not in ("mask", "attn_mask")}
    by_meaning = {"visible": VISIBLE[visible].astype(kind), "hidden": (~VISIBLE[visible]).astype(kind)}
    right = compare(None, correct | {name: by_meaning[true_is]})
    assert (right.first, right.causes, right.questions) == (None, (), ()), str(right)
    assert f"True in your {name} was read as a {true_is} key, as in " in str(right)
    inverted = correct | {name: by_meaning[other]}
    found = compare(None, inverted)
    assert [each.id for each in found.causes] == ["mask inverted"], str(found)
    assert found.explained
    assert f"inverted unless True in your {name} means a {other} key" in found.headline
    assert any(name in each for each in found.questions)
    np.testing.assert_allclose(found.theirs["attention"].value, own(VISIBLE[visible]).stages["attention"], atol=1e-5)
    settled = compare(None, inverted, true_is=other)
    assert (settled.first, settled.questions) == (None, ()), str(settled)
    contradicted = compare(None, correct | {name: by_meaning[true_is]}, true_is=other)
    assert [each.id for each in contradicted.causes] == ["mask inverted"]
    assert "unless" not in str(contradicted)


def test_only_the_inverted_one_of_two_masks_is_named():
    padded = PADDED[::-1]
    arrays = own(TRI & ~padded).written("torch.nn.MultiheadAttention", "output")
    found = compare(None, arrays | {"attn_mask": TRI, "key_padding_mask": padded})
    assert "The mask attn_mask was applied the other way round, so it is inverted unless True in your attn_mask" in str(
        found
    )


def test_a_rotated_pass_with_an_inverted_mask_differs():
    arrays, visible = a_pass(angles(10_000), True, "attention", "output"), np.tri(7, dtype=int)
    found = compare(None, arrays | {"attention_mask": 1 - visible})
    assert [each.id for each in found.causes] == ["mask inverted"], str(found)
    assert found.unless
    assert compare(None, arrays | {"attention_mask": visible}).first is None


@pytest.mark.parametrize("seed", range(3))
def test_a_single_token_agrees_with_any_mask(seed):
    random = np.random.default_rng(seed)
    for n_keys in (1, 2, 5):
        for mask in (np.zeros((1, n_keys), bool), random.random((1, n_keys)) < 0.5):
            hides_by = random.choice([-np.inf, -1e4])
            one = Implementation(random, np.float32, n=1, n_keys=n_keys, mask=mask, hides_by=hides_by)
            stages = random.choice(["masked", "attention", "output"], 2, replace=False)
            found = compare(None, one.written("BERT", *stages))
            assert found.first is None, (mask, str(found))


def test_the_report_on_a_forgotten_mask():
    x = np.random.default_rng(2).normal(size=(N, 4))
    found = compare(None, {"x": x, "mask": TRI, "masked": x @ x.T / 2})
    assert str(found).splitlines() == [
        "Masked scores differ: some of your numbers are finite where attnviz's are −∞, as the key is hidden.",
        "The mask was not applied: computed so, all of your numbers agree.",
        "Wrong: attention = scores.softmax(dim=-1)",
        "Right: scores = scores.masked_fill(~mask, -torch.inf); attention = scores.softmax(dim=-1)",
        "True in your mask was read as a visible key.",
    ]
    assert not found.alternatives


@pytest.mark.parametrize(("number", "says"), [(np.nan, "NaN"), (-np.inf, "−∞"), (np.inf, "∞")])
def test_nan_and_infinity_are_named_in_the_report(number, says):
    correct = own(TRI)
    masked = correct.stages["masked"].copy()
    masked[0, 3, 1] = number
    found = compare(None, flat(correct, "scaled", mask=TRI) | {"masked": masked})
    assert f"Masked scores differ: some of your numbers are {says} where attnviz's are not." in str(found)


def test_a_mask_after_the_softmax_needs_a_later_stage_to_show():
    wrong = own(TRI, "mask after the softmax")
    found = compare(None, saved(wrong, "masked", mask=TRI))
    assert [cause.id for cause in (*found.causes, *found.alternatives)] == ["mask not applied"]
    for stages in (["masked", "attention"], ["masked", "output"], ["attention"]):
        (cause,) = compare(None, saved(wrong, *stages, mask=TRI)).causes
        assert cause.id == "mask after the softmax"


@pytest.mark.parametrize("stages", [["attention"], ["output"], ["masked"], ["scaled", "attention", "output"]])
def test_a_causal_pass_is_recognised_without_its_mask(stages):
    arrays = saved(own(TRI), *stages)
    found = compare(None, arrays)
    assert found.first is None
    assert "Your attention is causal; no mask was in the file." in found.notes
    np.testing.assert_array_equal(found.trace["mask"].value, TRI)
    wrong = compare(None, saved(own(TRI, "unscaled"), *stages))
    assert "The scores were not divided by √d_k" in str(wrong)
    assert "Your attention is causal; no mask was in the file." in wrong.notes
    assert "causal" not in str(compare(None, saved(own(), *stages)))


def test_a_causal_pass_is_recognised_with_a_padding_mask():
    visible = TRI & ~PADDED[::-1]
    for mask in ({"attention_mask": (~PADDED[::-1])[None].astype(int)}, {"key_padding_mask": PADDED[::-1]}):
        found = compare(None, saved(own(visible), "output", **mask))
        assert found.first is None
        assert "Your attention is causal; it isn't in your mask." in found.notes
        assert "The mask was not applied" in str(compare(None, saved(own(TRI), "attention", **mask)))


def test_zeros_of_attention_stand_for_a_missing_mask():
    found = compare(None, saved(own(VISIBLE["window"]), "attention", "output"))
    assert found.first is None
    assert "those with a share of 0 were taken as hidden" in str(found)


APART = np.subtract.outer(np.arange(N), np.arange(N))
SLOPES = {3: [2**-4, 2**-8, 2**-2], 4: [2**-2, 2**-4, 2**-6, 2**-8]}
"""ALiBi's, by the number of heads, as in its authors' code."""


@pytest.mark.parametrize("size", [2, N - 1])
def test_a_sliding_window_is_recognised_by_the_output(size):
    near = np.abs(APART) < size
    for visible, said in (
        (np.tri(N, dtype=bool) & near, f"Your attention is causal, with a sliding window of {size} keys"),
        (near, f"Your attention has a sliding window, of keys fewer than {size} positions away"),
    ):
        found = compare(None, saved(own(visible), "output"))
        assert found.first is None, str(found)
        assert f"{said}; no mask was in the file." in found.notes
        np.testing.assert_array_equal(found.trace["mask"].value, visible)
    padded = compare(None, saved(own(visible & ~PADDED[::-1]), "output", key_padding_mask=PADDED[::-1]))
    assert f"{said}; it isn't in your mask." in padded.notes


@pytest.mark.parametrize("n_heads", SLOPES)
def test_alibi_is_recognised(n_heads):
    plain = Implementation(np.random.default_rng(4), n=N, n_heads=n_heads)
    biases = -np.array(SLOPES[n_heads])[:, None, None] * np.abs(APART)
    for seen, masks, said in (
        (TRI, {}, "Your attention is causal, and ALiBi's bias is added to its scores; no mask was in the file."),
        (TRI, {"mask": TRI}, "ALiBi's bias is added to your scores; it isn't in your mask."),
        (TRI | True, {}, "ALiBi's bias is added to your scores; no mask was in the file."),
    ):
        shares, output = continued(plain, np.where(seen, plain.stages["scaled"] + biases, -np.inf))
        for stages in ({"attention": shares}, {"output": output}):
            found = compare(None, saved(plain, **masks) | stages)
            assert found.first is None, str(found)
            assert said in found.notes
            np.testing.assert_allclose(found.trace["attention"].value, shares, atol=1e-5)
    other = compare(None, saved(plain) | {"masked": plain.stages["scaled"] + 2 * biases})
    assert "ALiBi" not in str(other)


def test_masks_are_combined():
    visible = TRI & ~PADDED[::-1]
    masks = {"attn_mask": ~TRI, "key_padding_mask": PADDED[None, ::-1]}
    added = {"attn_mask": np.where(TRI, 0, -np.inf), "key_padding_mask": np.where(PADDED[::-1], -np.inf, 0)}
    for given in (masks, added):
        for wrong in ("", "unscaled", "transposed"):
            found = compare(None, saved(own(visible, wrong), "attention", "output", **given))
            assert [cause.id for cause in found.causes] == [wrong] * bool(wrong)
            assert found.explained
    for forgotten, seen in (("key_padding_mask", TRI), ("attn_mask", np.broadcast_to(~PADDED[::-1], (N, N)))):
        found = compare(None, saved(own(seen), "attention", **masks))
        assert f"The mask {forgotten} was not applied: computed so, all" in str(found)
    assert "The mask was not applied: computed so" in str(compare(None, saved(own(), "attention", **masks)))


@pytest.mark.parametrize("stage", ["attention", "output"])
@pytest.mark.parametrize("of_queries", [TRI, TRI | True])
def test_a_key_padding_mask_added_as_numbers_is_named(of_queries, stage):
    plain, padded = own(), PADDED[::-1]
    shares, output = continued(plain, np.where(of_queries, plain.stages["scaled"] + padded, -np.inf))
    masks = {"key_padding_mask": padded} | ({} if of_queries.all() else {"attn_mask": ~TRI})
    found = compare(None, saved(plain, **masks) | {stage: {"attention": shares, "output": output}[stage]})
    name = "" if of_queries.all() else " key_padding_mask"
    says = f"The mask{name} was added to the scores as it is, so that the score of a hidden key rose by 1: computed"
    assert says in str(found)
    assert found.code[0] == "Wrong: scores = scores + mask"
    assert not found.alternatives


@pytest.mark.parametrize("stage", ["attention", "output"])
@pytest.mark.parametrize("row", [0.0, 1 / N, np.nan])
def test_an_inverted_mask_is_named_whatever_fully_masked_queries_get(row, stage):
    plain = own()
    shares, output = continued(plain, np.where(TRI, -np.inf, plain.stages["scaled"]), row)
    arrays = saved(plain, mask=TRI) | {stage: {"attention": shares, "output": output}[stage]}
    found = compare(None, arrays, true_is="visible")
    assert [each.id for each in found.causes] == ["mask inverted"]
    assert found.explained


@pytest.mark.parametrize("stage", LATER[6:])
def test_fully_masked_rows_may_hold_anything(stage):
    """As if two masks are added that hide by the least number: keys that both hide get less than those of one."""
    visible = TRI & ~PADDED
    arrays = saved(own(visible), *LATER[6:], mask=visible)
    anything = np.array(arrays["attention"])
    anything[:, :, :2] = 1 / 3
    mine = saved(own(visible), stage, mask=visible) | ({"attention": anything} if stage == "attention" else {})
    assert compare(None, mine).first is None


def test_code_uses_the_users_meaning_of_true():
    wrong = own(~PADDED & np.ones((N, N), bool), "mask inverted")
    hides = compare(None, saved(wrong, "output", key_padding_mask=PADDED))
    least = "torch.finfo(dtype).min"
    added = "attention_mask = torch.where({}, {}, {})".format
    assert hides.code == (f"Wrong: {added('~mask', least, 0)}", f"Right: {added('~mask', 0, least)}")
    shows = compare(None, saved(wrong, "output", mask=~PADDED), true_is="visible")
    assert shows.code == (f"Wrong: {added('mask', least, 0)}", f"Right: {added('mask', 0, least)}")


def test_an_ambiguous_mask_is_read_so_that_each_query_sees_a_key():
    random = np.random.default_rng(2)
    x, w, w_o = (random.normal(size=shape) for shape in ((6, 12), (36, 12), (12, 12)))
    visible = np.tri(6, dtype=bool)

    heads = [
        softmax(q @ k.T / 2) @ v
        for q, k, v in zip(*([x @ each.T for each in np.split(part, 3)] for part in np.split(w, 3)), strict=True)
    ]
    arrays = {"x": x, "in_proj_weight": w, "out_proj.weight": w_o, "output": np.hstack(heads) @ w_o.T}
    found = compare(None, arrays | {"mask": visible})
    assert [cause.id for cause in found.causes] == ["mask not applied"]
    np.testing.assert_array_equal(found.trace["mask"].value, visible)
    assert "hidden key" not in str(found)
