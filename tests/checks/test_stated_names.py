"""`names` says what arrays and parameters are whose own names don't, and errors say what was looked for."""

import kinds
import numpy as np
import pytest
from fakemodules import Attention
from test_check_of_modules import Renamed
from test_projection_names import RIGHT, computed, linear

from attnviz import OwnArraysError, check, compare, record
from attnviz.testing import assert_attention

OTHER = ("proj_a", "proj_b", "proj_c", "mix")
STAGES = {f"{name}.weight": f"w_{each}" for each, name in zip("qkvo", OTHER, strict=True)}
STAGES |= {f"{name}.bias": f"b_{each}" for each, name in zip("qkvo", OTHER, strict=True)}


def test_arrays_of_any_name_are_read_under_their_stated_one():
    arrays, names = computed() | linear(OTHER), dict(STAGES)
    arrays["looks"], names["looks"] = arrays.pop("attention"), "attn_weights"
    found = compare(None, arrays, names=names)
    assert (found.first, found.unread, len(found.stages)) == (None, (), 3)
    assert_attention(arrays, names=names)
    names.pop("mix.bias")
    with pytest.raises(AssertionError, match=r"allow=\['mix.bias'\]"):
        assert_attention(arrays | {"output": RIGHT.stages["output"] - RIGHT.b["o"]}, names=names)


def test_a_stated_mask_scale_and_table_are_read():
    own = kinds.Layer(6, (7, 4, 8), "", "causal", scale=0.5)
    arrays = kinds.saved(own, "llama", ("attention", "output"), mask_given=False)
    arrays = arrays | {"sees": own.visible, "temperature": arrays.pop("scale")}
    found = compare(None, arrays, names={"sees": "mask", "temperature": "scale"}, true_is="visible")
    assert (found.first, found.unread) == (None, ())


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ({"proj_z.weight": "w_q"}, "'proj_z.weight'.*x, q, attention"),
        ({"x": "the input"}, "'the input' for 'x'"),
        ({"mix.weight": "x"}, "both x"),
        ({"mix.weight": "w_o", "proj_a.weight": "w_o"}, "both w_o"),
        (["w_q"], r'\{"proj_a.weight": "w_q"\}'),
        ({"x": 3}, r'\{"proj_a.weight": "w_q"\}'),
    ],
)
def test_names_that_fit_nothing_are_refused_in_a_sentence(names, said):
    with pytest.raises(OwnArraysError, match=said):
        compare(None, computed() | linear(OTHER), names=names)


def test_an_error_about_arrays_lists_the_names_that_are_unknown():
    with pytest.raises(OwnArraysError, match=r"begins with x and parameters.*looks.*names=\{'looks'"):
        compare(None, {"looks": RIGHT.x})
    with pytest.raises(OwnArraysError, match=r"got hidden_states.*proj_a.weight.*names="):
        compare(None, {"hidden_states": RIGHT.x, "q_proj.weight": np.ones((5, 5)), **linear(OTHER), "output": RIGHT.x})


@pytest.mark.parametrize("call", [lambda module: record(module).__enter__(), lambda module: check(module, Attention())])
def test_a_module_of_unknown_names_is_refused_with_those_and_what_was_looked_for(call):
    with pytest.raises(OwnArraysError, match=r"q_proj\.weight.*names=") as raised:
        call(Renamed())
    assert all(each in str(raised.value) for each in ("c_attn.weight", "a.weight, b.weight", "last.weight"))


def test_a_name_that_no_parameter_has_is_refused():
    with pytest.raises(OwnArraysError, match=r"'proj_z\.weight'"):
        check(Attention(), Attention(), names={"proj_z.weight": "w_q"})
