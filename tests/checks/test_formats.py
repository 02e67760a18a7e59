"""Formats: the numbers show the precision that they were written in, and arrays are compared in it.

Torch's own layers in bfloat16 and float16 agree, and small mistakes in them don't pass in silence.
"""

import numpy as np
import pytest
from cases import covering
from correctfiles import LIBRARIES, File, to_bits, torch_sdpa
from implementations import Implementation, softmax
from test_comparison import LATER
from torchshort import MISTAKES, WAYS, recorded

from attnviz import compare
from attnviz.checks.read.formats import BFLOAT16, written_in

TRI = np.tri(6, dtype=bool)


def drawn(n=20, seed=0):
    return np.random.default_rng(seed).normal(size=n) * 3


def format_of(array, dtype=np.float64):
    made, digits = written_in(np.asarray(array, dtype).astype(np.float64), np.dtype(dtype))
    return made.name, digits and digits.name


def as_text(array, n):
    """Numbers written with n significant digits, and read again."""
    array = np.asarray(array)
    if array.dtype.kind != "f":
        return array
    return np.array([float(f"{each:.{n - 1}e}") for each in array.ravel().tolist()]).reshape(array.shape)


@covering(n=[*range(3, 11), 3, 4, 5, 6, 7], library=["torch_attention", "gpt2", "llama", "keras", "onnx"])
def test_correct_numbers_of_few_significant_digits_agree(library, n):
    file = File(np.random.default_rng(n), "float64" if n == 10 else "float32", "causal", n_heads=2, d=4, n=6)
    arrays = {name: as_text(each, n) for name, each in LIBRARIES[library](file).items()}
    found = compare(None, arrays)
    assert found.first is None, str(found)
    if n < 8:
        assert found.precision == f"{n} significant digits"
        assert f"to {n} significant digits." in found.headline


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_format_is_the_coarsest_that_holds_the_numbers(dtype):
    full = drawn()
    assert format_of(full, dtype) == (np.dtype(dtype).name, None)
    assert format_of(full.astype(np.float32), dtype) == ("float32", None)
    assert format_of(full.astype(np.float16), dtype) == ("float16", None)
    assert format_of(to_bits(full, 8), dtype) == ("bfloat16", None)
    for decimals in (2, 3, 4, 6):
        assert format_of(np.round(full, decimals), dtype) == ("float32", f"{decimals} decimals")
    assert format_of(np.round(full.astype(np.float16).astype(float), 5), dtype) == ("float16", "5 decimals")
    assert format_of(np.round(to_bits(full, 8), 4), dtype) == ("bfloat16", "4 decimals")
    assert format_of(np.round(full, 9)) == ("float64", "9 decimals")
    for n in (3, 5, 7):
        assert format_of(as_text(full, n), dtype) == ("float32", f"{n} significant digits")
    assert format_of(as_text(full, 10)) == ("float64", "10 significant digits")
    assert format_of(as_text(full.astype(np.float32), 9)) == ("float32", "9 significant digits")
    assert format_of([float(str(each)) for each in full.astype(np.float32)]) == ("float32", None)
    for simple in (np.eye(4), np.arange(40.0), np.full((3, 3), 0.25), [0.5, -0.75, 1.5], [-np.inf, 0]):
        assert format_of(simple, dtype) == (np.dtype(dtype).name, None), "every format holds them"


def test_bfloat16_is_rounded_half_to_even():
    array = np.float32(drawn(10_000) * np.exp(drawn(10_000, 1)))
    np.testing.assert_array_equal(BFLOAT16.rounded(array), to_bits(array, 8))
    assert BFLOAT16.rounded(np.float32([1 + 2**-8, 1 + 3 * 2**-8])).tolist() == [1, 1 + 2**-6]


@pytest.mark.parametrize(
    "precision", ["float64", "float32", "float32 as float64", "float16", "bfloat16", "TF32", "4 decimals", "6 decimals"]
)
def test_the_report_names_the_precision_in_which_numbers_agree(precision):
    says = f"to {precision}" if "decimals" in precision else f"to {precision.split()[0]} rounding"
    for seed in range(2):
        file = File(np.random.default_rng(seed), precision, "causal", n=7)
        arrays = {name: file.written(each) for name, each in torch_sdpa(file).items()}
        found = compare(None, arrays)
        assert found.headline.endswith(f" {says}."), str(found)
        assert all(row.verdict.endswith(says) for row in found.rows if row.agrees)


@covering(
    precision=["float32 as float64", "bfloat16", "4 decimals", "TF32"] * 2,
    wrong=["unscaled", "transposed", "mask not applied", "softmax along the wrong axis", "unscaled"],
)
def test_mistakes_are_named_in_any_precision(wrong, precision):
    own = Implementation(np.random.default_rng(1), np.float32, n=6, mask=TRI, wrong=wrong)
    file = File(np.random.default_rng(0), precision, "none")
    arrays = own.written("BERT", "attention", "output")
    noise = {"TF32": 11}.get(precision, 24)
    kept = {
        name: each if each.dtype == bool else file.written(file.rounded(to_bits(each, noise)))
        for name, each in arrays.items()
    }
    assert [cause.id for cause in compare(None, kept).causes] == [wrong]


def test_a_single_deviation_is_not_explained_by_tf32():
    own = Implementation(np.random.default_rng(2), np.float32, n=6, mask=TRI)
    arrays = own.written("attnviz", *LATER)
    wrong = arrays["attention"].copy()
    wrong[0, 5, 0] *= 1.0003
    found = compare(None, arrays | {"attention": wrong})
    assert (found.first.stage, found.precision) == ("attention", "float32")


def test_the_report_compares_the_deviation_with_rounding(unexplained):
    own = Implementation(np.random.default_rng(3), np.float32)
    arrays = own.written("attnviz", "attention")
    off = arrays["attention"].copy()
    off[0, 0, 0] += np.float32(1e-4)
    found = compare(None, arrays | {"attention": off})
    expected = found.first.expected.max() * 2.0**-23
    times = f"{found.first.off / expected:,.0f} times less"
    assert (
        f"Attention differs by up to 0.0001; rounding in float32 would leave {expected * 1e8:.1f} · 10^-8, {times}."
        in str(found)
    )
    far = compare(None, {name: each.astype(float) for name, each in arrays.items()} | {"attention": off + np.pi})
    assert "times" not in str(far)
    assert "e-" not in str(far)


class Tensor:
    """Like torch's, which NumPy can't read if they have gradients or are bfloat16."""

    def __init__(self, array, dtype):
        self.array, self.dtype, self.is_detached = array, dtype, False

    def detach(self):
        self.is_detached = True
        return self

    def cpu(self):
        return self

    def float(self):
        return Tensor(self.array, "torch.float32").detach()

    def __array__(self, dtype=None, copy=None):
        assert self.is_detached
        if self.dtype == "torch.bfloat16":
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self.array


def test_tensors_are_read():
    own = Implementation(np.random.default_rng(4), np.float32)
    for kind in ("torch.float32", "torch.bfloat16"):
        arrays = {name: Tensor(each, kind) for name, each in own.written("BERT", "output").items()}
        assert compare(None, arrays).first is None


@covering(stage=["attention", "attention", "output", "q", "scaled"], dtype=[np.float32, np.float64])
def test_smaller_errors_never_get_a_worse_verdict(dtype, stage):
    own = Implementation(np.random.default_rng(1), dtype, n=8, mask=np.tri(8, dtype=bool))
    arrays = own.written("Llama", "q", "scaled", "attention", "output")
    noise = np.random.default_rng(5).normal(size=arrays[stage].shape)
    order, before = ["float64", "float32", "TF32", "differs"], 0
    for size in (0, 1e-9, 6e-8, 2e-7, 8e-7, 1.5e-6, 3e-6, 1e-5, 1e-4, 3e-2):
        found = compare(None, arrays | {stage: (arrays[stage] * (1 + size * noise)).astype(dtype)})
        verdict = order.index("differs" if found.first else found.precision)
        assert verdict >= before, (size, str(found))
        assert order[verdict] != "TF32" or size > 3e-6, "smaller errors are those of float32"
        assert size > 2e-7 or order[verdict] in ("float64", "float32"), str(found)
        assert "may be rotated" not in str(found), (size, str(found))
        before = verdict


def test_mixed_precision_with_float16_factors_agrees():
    for seed in range(6):
        random = np.random.default_rng(seed)
        x, *weights = (random.normal(size=(6, 8)).astype(np.float16).astype(float), *random.normal(size=(4, 8, 8)) / 3)
        w = {each: weight.astype(np.float16).astype(float) for each, weight in zip("qkvo", weights, strict=True)}
        q, k, v = ((x @ w[each].T).reshape(6, 2, 4).swapaxes(0, 1) for each in "qkv")
        rounding = (np.float32, np.float16)[seed % 2]
        attention = softmax((q @ k.swapaxes(1, 2) / 2).astype(rounding).astype(float))
        output = (attention @ v).swapaxes(0, 1).reshape(6, 8) @ w["o"].T
        arrays = {"x": x, **{f"{each}_proj.weight": w[each] for each in "qkvo"}, "attention": attention}
        found = compare(None, arrays | {"q": q.astype(np.float32).astype(float), "output": output})
        assert found.first is None, (seed, str(found))
        assert found.precision == np.dtype(rounding).name


def test_float16_overflow_is_not_called_wrong():
    own = Implementation(np.random.default_rng(0), np.float32, n=6)
    x = (200 * own.x).astype(np.float16).astype(np.float32)
    q, k = (x @ own.parameters[f"w_{each}"] + own.parameters[f"b_{each}"] for each in "qk")
    scores = np.einsum("thd,shd->hts", q.reshape(6, 2, 4), k.reshape(6, 2, 4))
    assert (np.abs(scores) > 65_504).any()
    with np.errstate(over="ignore"):
        arrays = own.written("Llama") | {"x": x, "scores": scores.astype(np.float16)}
    found = compare(None, arrays)
    assert found.first is None, str(found)
    assert "scores has ∞" in found.headline, "but an infinity is never plain agreement"
    wrong = np.where(np.isinf(arrays["scores"]), -arrays["scores"], arrays["scores"])
    assert compare(None, arrays | {"scores": wrong}).first is not None


@pytest.mark.parametrize("stage", ["q", "scaled"])
def test_a_single_small_deviation_is_not_called_a_rotation(unexplained, stage):
    own = Implementation(np.random.default_rng(2), np.float32, n=6)
    arrays = own.written("Llama", stage)
    wrong = arrays[stage].copy()
    wrong[0, 1, 2, 3] *= 1.0003
    found = compare(None, arrays | {stage: wrong})
    assert found.first.stage == stage
    assert "may be rotated" not in str(found)


CASES = recorded()


def case_of(name, how):
    return CASES[f"{name}, {how}"]


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
@pytest.mark.parametrize("way", WAYS)
def test_right_layers_in_16_bits_agree_without_a_question(name, way):
    found = compare(None, case_of(name, way))
    assert (found.first, found.precision, found.questions) == (None, name, ()), str(found)


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
@pytest.mark.parametrize("wrong", MISTAKES)
def test_small_mistakes_in_16_bits_are_found(name, wrong):
    found = compare(None, case_of(name, wrong))
    assert found.first is not None, str(found)
    assert len(found.causes) == 1, str(found)
    assert found.explained


def test_more_than_float32_sums_leave_raises_a_question():
    arrays = case_of("bfloat16", WAYS[0])
    output = arrays["output"]
    noise = np.random.default_rng(0).choice((-1, 1), output.shape) * np.abs(output).max()
    wide = (output + 0.06 * noise).astype(np.float32).view(np.uint32) & 0xFFFF0000
    found = compare(None, arrays | {"output": wide.view(np.float32)})
    assert found.first is None, str(found)
    assert any("Compare in float32" in each for each in found.questions), str(found)


def test_torch_records_the_stored_arrays_again():
    pytest.importorskip("torch")
    from torchshort import record_all

    for case, arrays in record_all().items():
        for stage, array in arrays.items():
            np.testing.assert_allclose(array, CASES[case][stage], rtol=0.02, atol=0.02)
