"""The exported script and arrays are the pass itself."""

import io

import numpy as np
import pytest

from attnviz import Settings, trace_of
from attnviz.core.changes import parse_change
from attnviz.text import export

CASES = [
    Settings("the cat sat on the mat"),
    Settings("one two", "drei vier fünf", d_model=6, n_heads=3, mask="window", mask_size=0, positions="sinusoidal"),
    Settings("a b c", mask="padding", mask_size=3, scaled=False, initialiser="pytorch"),
]


CHANGED = trace_of(CASES[0]).with_changes(
    *map(
        parse_change,
        ["masked[0,3,1]=-inf", "heads[1]=0", "heads[1,2]=0.5", "x[0,0]=1e-300", "w_q[1,2,3]=2", "output[5]=1"],
    )
)


@pytest.mark.parametrize("trace", [*map(trace_of, CASES), CHANGED], ids=["own", "cross", "padding", "changed"])
def test_the_script_run_beside_the_arrays_gives_every_stage_bit_for_bit(trace, tmp_path, monkeypatch):
    (tmp_path / "attnviz.npz").write_bytes(export.arrays(trace))
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(export.script(trace), names)
    for stage in trace.stages:
        assert np.array_equal(names[stage.name], stage.value), stage.name


def test_the_arrays_hold_the_words():
    arrays = np.load(io.BytesIO(export.arrays(trace_of(CASES[1]))))
    assert arrays["words_query"].tolist() == ["one", "two"]
    assert arrays["words_key"].tolist() == ["drei", "vier", "fünf"]
