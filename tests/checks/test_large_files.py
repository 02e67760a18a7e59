"""Large files: memory and work of a comparison are bounded, and the report names what was left out.

On a server stages are bounded too, as here; the library compares larger ones.
"""

import io
import subprocess
import sys
import tracemalloc
from contextlib import suppress

import numpy as np
import pytest
from implementations import softmax

from attnviz import compare
from attnviz.checks.explain import explanation
from attnviz.checks.passes import candidates
from attnviz.checks.read.files import read_file
from attnviz.checks.read.limits import OutOfWorkError, bounded_stages, spend, work_limit
from attnviz.core.errors import OwnArraysError
from attnviz.core.limits import MAX_FILE_BYTES, MAX_STAGE_NUMBERS

MAX_MB = 250


def large(n=64, width=512, n_heads=128, d=4, dtype=np.float32):
    """The file of issue 47, 6 MB: an attention that no mistake makes."""
    random = np.random.default_rng(0)
    x = random.normal(size=(n, width)).astype(dtype)
    arrays = {f"w_{each}": (random.normal(size=(n_heads, width, d)) / width**0.5).astype(dtype) for each in "qkv"}
    arrays["w_o"] = (random.normal(size=(n_heads * d, width)) / width**0.5).astype(dtype)
    q, k, v = (np.einsum("tm,hmd->htd", x, arrays[f"w_{each}"]) for each in "qkv")
    scores = q @ k.swapaxes(1, 2) / d**0.5 + random.normal(size=(n_heads, n, n)) / 3
    attention = softmax(scores).astype(dtype)
    output = (attention @ v).swapaxes(0, 1).reshape(n, -1) @ arrays["w_o"]
    return {"x": x, **arrays, "attention": attention, "output": output.astype(dtype)}


def anything(dtype=np.float32, **shapes):
    """Random arrays, of which attention is positive."""
    random = np.random.default_rng(0)
    arrays = {name: random.normal(size=shape).astype(dtype) for name, shape in shapes.items()}
    return {name: np.abs(each) if name == "attention" else each for name, each in arrays.items()}


def masks(n, *shape, dtype=bool):
    random = np.random.default_rng(1)
    return {
        f"m{i}.mask": (random.normal(size=shape) < 1 if dtype is bool else random.normal(size=shape)) for i in range(n)
    }


SQUARE = dict.fromkeys(("w_q", "w_k", "w_v", "w_o"), (512, 512))
HEADED = {"q": (128, 64, 4), "k": (128, 64, 4), "attention": (128, 64, 64)}
FUSED_BY_HEADS = {"x": (64, 512), "query_key_value.weight": (1536, 512), "output": (64, 512)}

FILES = {
    "as in the issue": large,
    "axes exchanged": lambda: (own := large()) | {"attention": own["attention"].swapaxes(0, 1)},
    "square parameters, many tokens": lambda: anything(x=(700, 512), **SQUARE, output=(700, 512)),
    "square parameters, many heads": lambda: anything(x=(64, 512), **SQUARE, attention=(128, 64, 64)),
    "q, k and v in one, by heads": lambda: anything(**FUSED_BY_HEADS),
    "q, k and v in one, float16": lambda: anything(
        np.float16, **{"x": (64, 1024), "c_attn.weight": (1024, 3072), "output": (64, 1024)}
    ),
    "free masks": lambda: (
        anything(x=(64, 512), w_q=(128, 512, 4), w_k=(128, 512, 4), attention=(128, 64, 64)) | masks(5, 128, 64, 64)
    ),
    "masks by heads and by queries": lambda: (
        anything(**HEADED) | masks(60, 128, 1, 64, dtype=float) | {"mask": np.tri(64, dtype=bool)}
    ),
}

REFUSED = {
    "contributions that aren't of the pass": {
        "attention": (128, 1000, 1),
        "v": (128, 1, 1),
        "w_o": (128, 500),
        "contributions": (3, 3, 3),
    },
    "shares that may be of single tokens": {"attention": (1, 6000, 1), "v": (1, 1, 1), "heads": (1, 1, 1)},
    "hidden numbers": {"x": (4000, 1), **dict.fromkeys(SQUARE, (1, 1)), "w_hidden": (1, 4000), "mlp": (4000, 1)},
    "masks that span more than a pass": {"attention": (1, 4, 4), "a_mask": (9000, 1), "b_mask": (1, 9000)},
}
"""Small files whose passes would be large."""


def allocated(arrays):
    """The peak memory of a comparison in MB."""
    tracemalloc.start()
    with suppress(OwnArraysError), bounded_stages(MAX_STAGE_NUMBERS):
        compare(None, arrays)
    mb = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return mb


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_comparing_a_large_file_takes_little_memory(name):
    assert allocated(FILES[name]()) < MAX_MB


@pytest.mark.parametrize("name", REFUSED)
def test_a_small_file_with_a_large_pass_takes_little_memory(name):
    assert allocated(anything(**REFUSED[name])) < MAX_MB / 10


def resident():
    """The growth of the process by a comparison in MB."""
    import resource

    arrays = large()
    compare(None, {"x": np.ones((2, 2)), "attention": np.eye(2)})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with bounded_stages(MAX_STAGE_NUMBERS):
        compare(None, arrays)
    kilobytes = 1024 if sys.platform == "darwin" else 1  # macOS counts bytes
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / kilobytes / 1024


def test_the_process_grows_little():
    pytest.importorskip("resource")  # Windows has none
    paths = f"import sys; sys.path[:0] = {sys.path!r}; from test_large_files import resident"
    code = f"{paths}; sys.stdout.write(str(resident()))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert float(ran.stdout) < MAX_MB


def test_a_file_holds_at_most_as_many_numbers_as_in_float16():
    file = io.BytesIO()
    np.savez(file, x=np.zeros(MAX_FILE_BYTES // 2, np.int8), mask=np.ones(100, dtype=bool))
    assert read_file("own.npz", file.getvalue()).arrays["x"].size == MAX_FILE_BYTES // 2
    file = io.BytesIO()
    np.save(file, np.zeros(MAX_FILE_BYTES // 2 + 1, np.int8))
    with pytest.raises(OwnArraysError, match="at most 4,194,304 numbers"):
        read_file("x.npy", file.getvalue())


@pytest.mark.parametrize("n_heads", [8, 32])
def test_a_mistake_in_a_large_file_is_found(n_heads):
    own = large(width=1024, n_heads=n_heads, d=16)
    q, k, v = (np.einsum("tm,hmd->htd", own["x"], own[f"w_{each}"]) for each in "qkv")
    own["attention"] = softmax(q @ k.swapaxes(1, 2))  # not divided by the root of d
    own["output"] = (own["attention"] @ v).swapaxes(0, 1).reshape(64, -1) @ own["w_o"]
    found = compare(None, own)
    assert [each.id for each in found.causes] == ["unscaled"]
    assert found.explained


def test_work_is_limited_and_the_report_says_so(monkeypatch):
    with bounded_stages(MAX_STAGE_NUMBERS):
        found = compare(None, large())
    assert found.first.stage == "attention"
    assert not found.explained
    assert "Not tried: " in str(found)
    for n in (10_000, 3_000_000):
        monkeypatch.setattr(explanation, "_MOST_SEARCHED", n)
        monkeypatch.setattr(candidates, "_LARGE", 0)
        with bounded_stages(MAX_STAGE_NUMBERS):
            found = compare(None, large(n=16, width=32, n_heads=4, d=8))
        assert found.first.stage == "attention"
        assert "as the arrays are so large" in str(found)
    with pytest.raises(OutOfWorkError), work_limit(5):
        spend(6)
    spend(10**12)


@pytest.mark.parametrize("is_causal", [False, True])
def test_a_large_correct_file_agrees_whatever_its_heads(is_causal):
    random = np.random.default_rng(1)
    n, width, n_heads = 64, 512, 8
    x, w = random.normal(size=(n, width)), {each: random.normal(size=(width, width)) / width**0.5 for each in "qkvo"}
    q, k, v = (np.reshape(x @ w[each], (n, n_heads, -1)).swapaxes(0, 1) for each in "qkv")
    scores = q @ k.swapaxes(1, 2) / (width / n_heads) ** 0.5
    attention = softmax(np.where(np.tri(n, dtype=bool) | (not is_causal), scores, -np.inf))
    output = (attention @ v).swapaxes(0, 1).reshape(n, width) @ w["o"]
    arrays = {"x": x, **{f"{each}_proj.weight": w[each].T for each in "qkvo"}, "output": output}
    found = compare(None, {name: each.astype(np.float32) for name, each in arrays.items()})
    assert found.first is None, str(found)


def causal_layer(n=512, n_heads=12, d=64, scale=True, is_masked=True, is_joined=True):
    """A layer of a BERT's size in PyTorch's layout, with what is easily done wrongly."""
    random = np.random.default_rng(0)
    width = n_heads * d
    x = random.normal(size=(n, width)).astype(np.float32)
    w = {each: (random.normal(size=(width, width)) / width**0.5).astype(np.float32) for each in "qkvo"}
    q, k, v = ((x @ w[each].T).reshape(n, n_heads, d).swapaxes(0, 1) for each in "qkv")
    mask = np.tri(n, dtype=bool)
    scores = q @ k.swapaxes(1, 2) / np.float32(d**0.5 if scale else 1)
    attention = softmax(np.where(mask | (not is_masked), scores, -np.inf)).astype(np.float32)
    heads = attention @ v
    output = (heads.swapaxes(0, 1) if is_joined else heads).reshape(n, width) @ w["o"].T
    parameters = {f"{each}_proj.weight": w[each] for each in "qkvo"}
    return {"x": x, **parameters, "mask": mask, "q": q, "k": k, "v": v, "attention": attention, "output": output}


LARGE_MISTAKES = {
    "": {},
    "unscaled": {"scale": False},
    "mask not applied": {"is_masked": False},
    "heads joined without transposing": {"is_joined": False},
}


@pytest.mark.slow
@pytest.mark.parametrize("mistake", LARGE_MISTAKES)
def test_the_library_compares_what_a_server_refuses(mistake):
    arrays = causal_layer(n=256, n_heads=12, d=16, **LARGE_MISTAKES[mistake])
    found = compare(None, arrays)
    assert [each.id for each in found.causes] == [mistake] * bool(mistake)
    assert found.explained
    with bounded_stages(MAX_STAGE_NUMBERS), pytest.raises(OwnArraysError, match="at most 524,288 numbers"):
        compare(None, arrays)
