"""Correct files in the layouts, masks and precisions of libraries: none is called wrong."""

from pathlib import Path

import numpy as np
import pytest
from correctfiles import LIBRARIES, MASKS, PRECISIONS, correct_file

from attnviz import compare

SPREAD = range(0, 1000, 9)
NAMED = {"float32 as float64": "float32"}


def is_called_correct(number):
    library, file, arrays = correct_file(number)
    found = compare(None, arrays)
    assert found.first is None, (number, library, file, str(found))
    assert found.stages, (number, library)
    assert found.explained
    assert not found.causes
    assert not found.unread
    assert "agree" in found.headline
    return library, file.mask, file.precision, found.precision


def test_a_spread_of_a_hundred_is_called_correct():
    found = [is_called_correct(number) for number in SPREAD]
    libraries, masks, precisions, named = (set(each) for each in zip(*found, strict=True))
    assert (libraries, masks, precisions) == (set(LIBRARIES), set(MASKS), set(PRECISIONS))
    assert named >= {*PRECISIONS} - {*NAMED}
    right = [NAMED.get(precision, precision) == says for *_, precision, says in found]
    assert sum(right) > 0.9 * len(right)  # where few numbers are given, or simple ones, nothing tells


@pytest.mark.slow
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_thousand_are_called_correct(library):
    numbers = range(list(LIBRARIES).index(library), 1000, len(LIBRARIES))
    for number in set(numbers) - set(SPREAD):
        is_called_correct(number)


def test_what_torch_itself_computed_is_called_correct():
    recorded = np.load(Path(__file__).parent / "data" / "torch_masks.npz")
    files = {}
    for path in set(recorded.files) - {"torch"}:
        case, name = path.split("/")
        files.setdefault(case, {})[name] = recorded[path]
    assert len(files) == 18
    for case, arrays in files.items():
        found = compare(None, arrays)
        assert found.first is None, (case, str(found))
        assert found.stages
        precision = next((each for each in ("bfloat16", "float16", "float64") if each in case), "float32")
        assert found.precision == precision
        causal = "Your attention is causal" in str(found)
        assert causal == (case in ("module, is_causal", "module, padding, causal", "function, is_causal"))
