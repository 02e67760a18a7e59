"""Settings: their limits, what an error says, and what becomes of text from an address."""

import math

import numpy as np
import pytest
from cases import of_each
from hypothesis import given
from hypothesis import settings as running
from hypothesis import strategies as st
from masking import fully_masked

from attnviz import Settings, trace_of
from attnviz.core.coerce import nearest, nearest_heads
from attnviz.core.errors import SettingsError
from attnviz.core.settings import FREE_OPTIONS, OPTIONS, divisors
from attnviz.core.stage import split_layer
from attnviz.core.trace import Trace

HUGE = 10**5000  # Python refuses to write it in decimals

RULES = {
    "d_model": ("a whole number from 2 to 128", [1, 129, 8.0, True]),
    "seed": ("a whole number from 0 to 4294967295", [-1, 2**32, "42"]),
    "mask_size": ("a whole number from 0 to 64", [-1, 65]),
    "mask": ("one of none, causal, causal window, padding, window", ["diagonal", None]),
    "initialiser": ("one of normal, xavier, uniform, standard normal, pytorch, whole", ["he"]),
    "positions": ("one of none, sinusoidal", ["rotary"]),
    "scaled": ("True or False", ["no", 1]),
}
WRONG = [
    ({name: each}, f"{name} must be {rule}; got {each!r}.") for name, (rule, wrong) in RULES.items() for each in wrong
]


@of_each(
    "wrong",
    [
        *WRONG,
        ({"sentence": ""}, "The sentence has no words yet. Type 1 to 64 words"),
        ({"sentence": " \n\u200b"}, "The sentence has no words yet."),
        ({"context": ""}, "The context has no words yet."),
        ({"sentence": "a " * 65}, "may have at most 64 tokens (words and punctuation marks); this one has 65."),
        ({"context": "!" * 65}, "The context may have at most 64 tokens"),
        ({"sentence": "a" * 2001}, "The sentence may have at most 2,000 characters; this one has 2,001. Shorten it."),
        ({"sentence": b"cat"}, "sentence must be text; got bytes."),
        ({"sentence": None}, "sentence must be text; got NoneType."),
        ({"seed": HUGE}, "seed must be a whole number from 0 to 4294967295; got "),
        *(({"n_heads": n}, f"got n_heads={n} for d_model=8. Choose one of 1, 2, 4, 8.") for n in (0, -2, 2.0, True)),
        ({"n_heads": HUGE}, "n_heads must divide d_model, so that every head gets d_model / n_heads features"),
        (
            {"layers": 0},
            "layers must be a whole number from 1 to 6, and layers times d_model at most 128; got layers=0",
        ),
        ({"layers": 7}, "got layers=7 for d_model=8. Choose at most 6."),
        ({"layers": 3, "d_model": 64}, "got layers=3 for d_model=64. Choose at most 2."),
        *(({"layers": each}, f"got layers={each}") for each in (True, 2.0)),
        (
            {"layers": 2, "d_model": 4, "n_heads": 1, "initialiser": "whole"},
            "With initialiser=whole layers is 1; got 2.",
        ),
    ],
)
def test_error_states_rule_and_value(wrong):
    changed, says = wrong
    with pytest.raises(SettingsError) as error:
        Settings(**{"sentence": "the cat sat", **changed})
    assert says in str(error.value)


LIMITS = [{"sentence": "a " * 64}, {"sentence": "a" * 2000}, {"context": "b"}, {"d_model": 2}, {"seed": 0}]
LIMITS += [{"d_model": 128, "n_heads": 128}, {"seed": 2**32 - 1, "initialiser": "pytorch"}]
LIMITS += [{"mask": "padding", "mask_size": 64}, {"mask": "window", "mask_size": 0}]
LIMITS += [{"layers": 6, "d_model": 21, "n_heads": 21}, {"layers": 2, "d_model": 64}]


@of_each("allowed", LIMITS)
def test_limits_are_allowed(allowed):
    assert isinstance(trace_of(Settings(**{"sentence": "the cat", **allowed})), Trace)


NEAREST = {
    "d_model": {
        128: ["1e400", "1e9", "inf", "9" * 400, "9" * 10**6],  # too large for a float, and too long for an int
        2: ["-1", "-inf", "1e-400"],
        8: ["nan", "", "eight", "0x10", "<script>", "\ud800", "7\x00", "x" * 10**6],
        7: ["７", "07", "6.7"],
    },
    "seed": {0: ["-1"], 2**32 - 1: ["4294967296", "99999999999999999999999999"]},
    "mask_size": {64: ["65"]},
    "mask": {"none": ["diagonal", "none, causal"]},
    "initialiser": {"normal": [""]},
    "positions": {"none": ["x" * 10**6]},
    "scaled": {True: ["no", "0"]},
    "layers": {6: ["7"], 1: ["0", "many"]},
    "n_heads": {8: ["7", "1e400", "9" * 10**6], 2: ["3", "nan", "２"], 1: ["0"]},
}


@of_each("case", [(name, text, used) for name, by in NEAREST.items() for used, texts in by.items() for text in texts])
def test_bad_address_value_becomes_the_nearest(case):
    name, text, used = case
    allowed, (notice,) = nearest({name: text})
    assert allowed == {name: used}
    assert notice.startswith(f"{name.removeprefix('n_')} is ")
    assert notice.endswith(f"using {used}.")
    assert repr(text[:37])[:-1] in notice
    assert len(notice) < 250


@pytest.mark.parametrize(
    ("written", "allowed"),
    [
        ({"d_model": "12", "n_heads": "3", "seed": "0"}, {"d_model": 12, "n_heads": 3, "seed": 0}),
        ({"n_heads": "8", "mask": " Causal "}, {"n_heads": 8, "mask": "causal"}),
        ({"initialiser": "standard normal", "d_model": " 8 "}, {"initialiser": "standard normal", "d_model": 8}),
        ({"scaled": "False"}, {"scaled": False}),
        ({"scaled": "true"}, {"scaled": True}),
        ({"sentence": "the cat", "step": "nonsense"}, {}),
        ({}, {}),
    ],
)
def test_good_address_value_gives_no_notice(written, allowed):
    assert nearest(written) == (allowed, [])


def test_nearest_heads_follow_nearest_d_model():
    allowed, notices = nearest({"n_heads": "100", "d_model": "1e9"})
    assert allowed == {"n_heads": 128, "d_model": 128}
    assert [notice.split()[0] for notice in notices] == ["d_model", "heads"]
    assert "for 128 one of 1, 2, 4, 8, 16, 32, 64, 128; got '100'" in notices[1]


def test_rope_needs_a_pair_of_dimensions():
    allowed, (notice,) = nearest({"rope": "halves", "n_heads": "8"})
    assert allowed == {"rope": "none", "n_heads": 8}
    assert notice.endswith("got rope=halves, using rope=none.")
    for written in ({"n_heads": "4"}, {"n_heads": "8", "sharing": "latent"}, {"d_model": "3"}):
        allowed, notices = nearest({"rope": "halves"} | written)
        assert (allowed["rope"], notices) == ("halves", [])


def test_smaller_of_two_near_divisors():
    assert nearest_heads(3, 8) == 2
    assert nearest_heads("6", 8) == 4
    assert nearest_heads(7, 8) == 8


@running(max_examples=150)
@given(st.dictionaries(st.sampled_from([*OPTIONS, "context", "junk"]), st.text(max_size=30) | st.floats().map(str)))
def test_any_address_gives_valid_settings(written):
    allowed, _ = nearest(written)
    d_model = allowed.get("d_model", OPTIONS["d_model"].default)
    Settings("the cat", **{"n_heads": nearest_heads(2, d_model), **allowed})


_HOLDS_HIDDEN = ("masked", "running_max")  # the largest of what is hidden alone is -inf, too
TEXT = st.text(max_size=20) | st.text(st.characters(categories=["L", "M", "Cf", "Cs", "So", "Zs"]), max_size=20)
PICKED = st.fixed_dictionaries(
    {"sentence": TEXT | st.just("the cat sat on the mat"), "d_model": st.integers(1, 40)},
    optional={name: st.sampled_from(option.allowed) for name, option in FREE_OPTIONS.items() if name != "d_model"}
    | {
        "context": TEXT,
        "n_heads": st.integers(0, 9) | st.floats(1, 4),
        "layers": st.integers(0, 3),
        "mask": st.sampled_from([*OPTIONS["mask"].allowed, "diagonal"]),
        "mask_size": st.integers(-1, 9),
        "seed": st.sampled_from([0, 42, 2**31, 2**32 - 1]) | st.integers(-1, 2**32),
    },
)


@running(max_examples=150)
@given(PICKED, st.integers(0, 10))
def test_settings_give_a_finite_repeatable_pass_or_an_error(picked, nth):
    if "n_heads" not in picked and picked["d_model"] >= 2:
        picked = {**picked, "n_heads": divisors(picked["d_model"])[nth % len(divisors(picked["d_model"]))]}
    try:
        trace, again = trace_of(Settings(**picked)), trace_of(Settings(**picked))
    except SettingsError:
        return
    for stage, same in zip(trace.stages, again.stages, strict=True):
        assert stage.value.tobytes() == same.value.tobytes()
        if split_layer(stage.name)[0] not in _HOLDS_HIDDEN:
            assert np.isfinite(stage.value).all()
    for layer in trace.layers:
        hold_the_laws_of_attention(layer.trace)


def hold_the_laws_of_attention(trace):
    hidden = ~np.broadcast_to(trace["mask"].value, trace["masked"].shape)
    assert np.array_equal(trace["masked"].value == -math.inf, hidden)
    sums = trace["attention"].value.sum(axis=-1)
    if "sinks" in trace:
        assert (sums <= 1 + 1e-12).all()
        assert not sums[hidden.all(axis=-1)].any()
    else:
        np.testing.assert_allclose(sums, ~hidden.all(axis=-1), rtol=0, atol=1e-12)
    assert set(fully_masked(trace)) == set(zip(*map(list, hidden.all(axis=-1).nonzero()), strict=True))
