"""Masks: each against a double loop; those set cell by cell, in an address, by strokes, and the passes with them."""

import numpy as np
import pytest
from cases import of_each
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from attnviz import attend, trace_of
from attnviz.core.errors import SettingsError
from attnviz.core.masks import MASKS, MAX_CUSTOM_MASK, SIZED, CustomMask
from attnviz.core.parameters import Parameters
from attnviz.scene.actions.session import apply_action
from attnviz.scene.address import parse, query
from attnviz.scene.document.pass_cache import pass_key
from attnviz.scene.document.reply import address_of
from attnviz.scene.with_pass import resolve, settings_of

SEES = {
    "none": lambda query, key, n_keys, size: True,
    "causal": lambda query, key, n_keys, size: key <= query,
    "causal window": lambda query, key, n_keys, size: query - size < key <= query,
    "padding": lambda query, key, n_keys, size: key + size < n_keys,
    "window": lambda query, key, n_keys, size: query - size <= key <= query + size,
}


@of_each("name", [*MASKS])
@of_each("lengths", [(1, 1), (4, 4), (3, 5), (5, 3)])
@of_each("size", [0, 1, 2, 5, 64])
def test_mask_equals_a_double_loop(name, lengths, size):
    n_queries, n_keys = lengths
    mask = MASKS[name](n_queries, n_keys, size)
    assert mask.dtype == bool
    assert mask.tolist() == [[SEES[name](q, k, n_keys, size) for k in range(n_keys)] for q in range(n_queries)]


@pytest.mark.parametrize("name", MASKS)
def test_sized_masks_depend_on_size(name):
    assert (name in SIZED) == (not np.array_equal(MASKS[name](6, 6, 1), MASKS[name](6, 6, 2)))


SIZES = st.tuples(st.integers(1, 3), st.integers(1, 6), st.integers(1, 6))
ANY_HIDDEN = SIZES.flatmap(lambda shape: arrays(bool, shape))


@given(ANY_HIDDEN)
def test_painted_mask_round_trips_as_text(hidden):
    painting = CustomMask.of(hidden)
    back = CustomMask.parse(str(painting))
    assert back == painting
    assert back.fits(*hidden.shape)
    assert (np.broadcast_to(back.hidden(*hidden.shape), hidden.shape) == hidden).all()
    assert (len(back.heads) == 1) == bool((hidden == hidden[:1]).all())


@pytest.mark.parametrize("text", ["2", "01,10", "x", "1" * (MAX_CUSTOM_MASK + 1)])
def test_wrong_mask_text_is_refused(text):
    with pytest.raises(SettingsError, match="hidden is rows of 0 and 1"):
        CustomMask.parse(text)
    scene, notices = parse({"sentence": "a b", "hidden": text})
    assert scene.hidden is None
    assert [each.endswith("No mask is painted.") for each in notices] == [True]


def independent(scene, hidden):
    """The attention of random parameters, query by query, of the keys that are left."""
    plain = trace_of(settings_of(scene))
    scaled = plain["scaled"].value
    found = np.zeros(scaled.shape)
    for place in np.ndindex(scaled.shape[:2]):
        seen = [key for key in range(scaled.shape[2]) if not hidden[place][key]]
        powers = np.exp([scaled[place][key] for key in seen])
        for key, power in zip(seen, powers, strict=True):
            found[place][key] = power / powers.sum()
    return found


@given(arrays(bool, (2, 3, 3)))
def test_painted_pass_equals_the_visible_keys(hidden):
    scene = parse({"sentence": "the cat sat", "mask": "causal", "hidden": str(CustomMask.of(hidden))}).scene
    fitted = resolve(scene)
    assert (np.broadcast_to(~fitted.trace["mask"].value, hidden.shape) == hidden).all()
    np.testing.assert_allclose(fitted.trace["attention"].value, independent(scene, hidden), atol=1e-12)
    given = fitted.trace
    w = Parameters(**{name: given[name].value for name in ("w_q", "w_k", "w_v", "w_o")})
    again = attend(given["x"].value, parameters=w, mask=~hidden)
    np.testing.assert_allclose(given["output"].value, again["output"].value, atol=1e-12)
    assert parse(query(fitted.scene)) == (fitted.scene, ())


def painted(scene, message):
    return apply_action(scene, "paint", message)


@pytest.mark.parametrize(
    "address", [{"sentence": "the cat sat", "heads": "2"}, {"model": "microgpt", "sentence": "eli"}]
)
def test_strokes_hide_keys_in_one_head_or_all(address):
    scene = parse(address).scene
    before = resolve(scene).trace["mask"].value
    begun, notes = painted(scene, True)
    assert (begun.step, begun.view, notes.arrives) == ("mask", "matrices", True)
    assert (resolve(begun).trace["mask"].value == before).all(), "one begins with what is hidden"
    in_all = painted(begun, {"head": None, "cells": [[1, 0], [2, 0]], "hides": True}).scene
    mask = resolve(in_all).trace["mask"].value
    assert mask.ndim == 2
    assert mask.astype(int).sum() == before.astype(int).sum() - 2
    in_one = painted(in_all, {"head": 1, "cells": [[1, 0]], "hides": False}).scene
    mask = resolve(in_one).trace["mask"].value
    assert mask.ndim == 3
    assert mask[1, 1, 0]
    assert not mask[0, 1, 0]
    assert address_of(resolve(in_one).scene)["hidden"] == str(resolve(in_one).scene.hidden)
    assert painted(in_one, None).scene.hidden is None
    assert pass_key(in_one) != pass_key(in_all)


def test_painting_starts_from_the_layers_mask():
    by_layer = {"mask": "causal window", "layers": "2", "window_in": "every second layer"}
    scene = parse({"sentence": "the cat sat", "step": "softmax-2", **by_layer}).scene
    begun = painted(scene, True).scene
    assert begun.step == resolve(begun).scene.step == "mask-2"
    stroked = painted(begun, {"head": None, "cells": [[2, 0]], "hides": True}).scene
    causal = np.tri(3, dtype=bool)
    for now, n_hidden in ((begun, 0), (stroked, 1)):
        trace = resolve(now).trace
        for mask in (trace["mask_1"].value, trace["mask_2"].value):
            assert (mask <= causal).all()
            assert causal.sum() - mask.sum() == n_hidden
    assert apply_action(stroked, "window_in", "every layer").scene.hidden is None


@pytest.mark.parametrize(
    "message",
    [
        "x",
        {},
        {"head": 9, "cells": [[0, 0]], "hides": True},
        {"head": None, "cells": [[0, 9]], "hides": True},
        {"head": None, "cells": [], "hides": True},
        {"head": None, "cells": [[0, 0]], "hides": 1},
        {"head": None, "cells": [0], "hides": True},
        {"head": None, "cells": [[0, 0]] * 10, "hides": True},
    ],
)
def test_wrong_stroke_paints_nothing(message):
    scene = parse({"sentence": "the cat sat"}).scene
    assert painted(scene, message).scene == scene


def test_too_large_mask_is_refused():
    scene = parse({"sentence": "word " * 64}).scene
    cells = [[query, 63] for query in range(64)]
    after, notes = painted(scene, {"head": None, "cells": cells, "hides": True})
    assert after == scene
    (notice,) = notes.notices
    assert notice.startswith("A painted mask has at most 2,000 characters in the address; this one would have 4,159.")
    some = painted(scene, {"head": None, "cells": cells[:30], "hides": True}).scene
    assert resolve(some).trace["mask"].value.sum() == 64 * 64 - 30


def test_new_mask_or_source_drops_the_painting():
    scene = parse({"sentence": "the cat sat", "hidden": "1"}).scene
    assert apply_action(scene, "mask", "causal").scene.hidden is None
    assert apply_action(scene, "source", "mirror").scene.hidden is None
    assert parse({"source": "004 softmax", "hidden": "1"}).scene.hidden is None
    assert apply_action(scene, "sentence", "the dog sat").scene.hidden == scene.hidden


def test_shorter_pass_crops_the_painting():
    fitted = resolve(parse({"sentence": "a b", "hidden": "011.001"}).scene)
    assert str(fitted.scene.hidden) == "01"
    assert fitted.notices == ("hidden has cells that this pass doesn't have; they are left out.",)
