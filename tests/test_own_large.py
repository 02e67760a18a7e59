"""Large files of one's own: the memory and the time of a comparison are bounded, and what was left out is said."""

import resource
import subprocess
import sys

import numpy as np
import pytest

from attnviz import compare
from attnviz.analysis.check import finding
from attnviz.analysis.check.batches import OutOfWorkError, at_most, made

MAX_MB, MAX_SECONDS = 250, 2.0


def large(n=64, width=512, n_heads=128, d=4, dtype=np.float32):
    """The file of issue 47, 6 MB: an attention that no mistake makes."""
    random = np.random.default_rng(0)
    x = random.normal(size=(n, width)).astype(dtype)
    arrays = {f"w_{each}": (random.normal(size=(n_heads, width, d)) / width**0.5).astype(dtype) for each in "qkv"}
    arrays["w_o"] = (random.normal(size=(n_heads * d, width)) / width**0.5).astype(dtype)
    q, k, v = (np.einsum("tm,hmd->htd", x, arrays[f"w_{each}"]) for each in "qkv")
    scores = q @ k.swapaxes(1, 2) / d**0.5 + random.normal(size=(n_heads, n, n)) / 3
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    attention = (powers / powers.sum(-1, keepdims=True)).astype(dtype)
    output = (attention @ v).swapaxes(0, 1).reshape(n, -1) @ arrays["w_o"]
    return {"x": x, **arrays, "attention": attention, "output": output.astype(dtype)}


FILES = {
    "as in the issue": large,
    "axes exchanged": lambda: (own := large()) | {"attention": own["attention"].swapaxes(0, 1)},
    "output alone": lambda: {name: each for name, each in large().items() if name != "attention"},
}


def measured(name):
    """The memory that comparing a file takes, and the time; in a process of its own."""
    arrays = FILES[name]()
    compare(None, {"x": np.ones((2, 2)), "attention": np.eye(2)})
    before = resource.getrusage(resource.RUSAGE_SELF)
    compare(None, arrays)
    after = resource.getrusage(resource.RUSAGE_SELF)
    mb = (after.ru_maxrss - before.ru_maxrss) / 1024
    return f"{mb} {after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}"


@pytest.mark.parametrize("name", FILES)
def test_comparing_a_large_file_takes_little(name):
    paths = f"import sys; sys.path[:0] = {sys.path!r}; from test_own_large import measured"
    code = f"{paths}; sys.stdout.write(measured({name!r}))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    mb, seconds = map(float, ran.stdout.split())
    assert mb < MAX_MB
    assert seconds < 4 * MAX_SECONDS, "of a machine that does nothing else it is a fourth of that"


def test_what_was_left_out_is_said_and_what_was_found_before_is_true():
    found = compare(None, large())
    assert found.first.stage == "attention"
    assert not found.explained
    assert "Not tried: " in str(found)
    assert "as the arrays are so large" in str(found)


def test_the_work_is_counted_and_stops(monkeypatch):
    for n in (10_000, 3_000_000):
        monkeypatch.setattr(finding, "_MOST_SEARCHED", n)
        monkeypatch.setattr(finding, "_LARGE", 0)
        found = compare(None, large(n=16, width=32, n_heads=4, d=8))
        assert found.first.stage == "attention"
        assert "as the arrays are so large" in str(found)
    with pytest.raises(OutOfWorkError), at_most(5):
        made(6)
    made(10**12)


@pytest.mark.parametrize("is_causal", [False, True])
def test_a_large_correct_file_is_called_correct_with_whatever_heads_it_has(is_causal):
    random = np.random.default_rng(1)
    n, width, n_heads = 64, 512, 8
    x, w = random.normal(size=(n, width)), {each: random.normal(size=(width, width)) / width**0.5 for each in "qkvo"}
    q, k, v = (np.reshape(x @ w[each], (n, n_heads, -1)).swapaxes(0, 1) for each in "qkv")
    scores = q @ k.swapaxes(1, 2) / (width / n_heads) ** 0.5
    powers = np.exp(np.where(np.tri(n, dtype=bool) | (not is_causal), scores, -np.inf))
    output = (powers / powers.sum(-1, keepdims=True) @ v).swapaxes(0, 1).reshape(n, width) @ w["o"]
    arrays = {"x": x, **{f"{each}_proj.weight": w[each].T for each in "qkvo"}, "output": output}
    found = compare(None, {name: each.astype(np.float32) for name, each in arrays.items()})
    assert found.first is None, str(found)
