"""Ten thousand addresses, at random and by people who want to break it: none raises, and what is found is valid."""

import json
from functools import lru_cache

import pytest
from hostile import CASES
from hypothesis import given, settings
from hypothesis import strategies as st
from test_scene import PARAMETERS, WRITTEN

from attnviz.models import MODELS
from attnviz.scene import fitting
from attnviz.scene.address import parse, query
from attnviz.scene.document import document
from attnviz.scene.scene import Scene
from attnviz.text.ids import ids

SHARDS = 5
"""Parts that several processes can share."""

NUMBERS = (
    *("1e400", "-1e400", "nan", "inf", "-inf", "-1", "-0", "8.0", " 8 ", "0x10", "1_000", "1e-400", "", "+3", "0" * 99),
    *(
        "9" * 5000,
        "1" + "0" * 400,
        "\u0663",
        "\u2167",
        "\uff11\uff12",
        "\u00b2",
        "1\u0000",
        "true",
        "None",
        "1;2",
        "1,2",
    ),
)
ENCODED = (
    "%00",
    "%2525",
    "%3Cscript%3E",
    "a%20b",
    "+",
    "&a=b",
    "#",
    "?",
    "../../etc/passwd",
    "%F0%9F%98%80",
    "%ED%A0%80",
)
NAMES = ("scores", "scores_1", "scores_2", "w_q_9", "embeddings", "logits", "mask", "x_2", "__class__", "constructor")
STEPS = (*ids(2), *ids(1), "scores-99", "scores-0", "-1")
INDICES = st.lists(st.sampled_from([0, 1, 2, 7, 63, 64, 127, 9999, 10**9]), max_size=5).map(
    lambda at: ",".join(map(str, at))
)
CELLS = st.builds("{}[{}]".format, st.sampled_from(NAMES), INDICES)
VALUES = st.sampled_from(
    ["1", "0", "-inf", "inf", "nan", "1e308", "-1.8e308", "1e400", "1e-400", "--1", "1e999", "0x1"]
)
CHANGES = st.lists(st.builds("{}={}".format, CELLS, VALUES) | st.just(""), max_size=20).map(";".join)
TRAILS = st.lists(CELLS | st.sampled_from(["output[0,0]", "concat[0,0]", "heads[0,0,0]"]), max_size=30).map("<".join)
LONG = st.sampled_from(["x" * 20_000, "1." * 9_000, "<" * 9_000, ";" * 9_000, "[" * 9_000, "a " * 9_000])
ADVERSARIAL = st.one_of(
    WRITTEN, st.sampled_from([*NUMBERS, *ENCODED, *STEPS, *CASES.values()]), CELLS, CHANGES, TRAILS, LONG
)
KNOWN = st.sampled_from(PARAMETERS)
ADDRESSES = st.dictionaries(
    KNOWN | st.sampled_from(["", "__proto__", "embed", "sentence ", "SENTENCE", "x" * 5000, "a\u202eb"]),
    ADVERSARIAL | st.lists(ADVERSARIAL, max_size=3),
    max_size=6,
) | st.builds(
    lambda model, more: {**more, "model": model},
    st.sampled_from([*MODELS]),
    st.dictionaries(KNOWN, ADVERSARIAL, max_size=4),
)


@pytest.fixture(autouse=True, scope="module")
def once():
    """Each pass is made once for the two readings of an address, which halves the time."""
    made, parts = fitting._pass, ("source", "sentence", "context", "options", "model_seed", "checkpoint")
    of_parts = lru_cache(maxsize=99)(lambda *values: made(Scene(**dict(zip(parts, values, strict=True)))))
    fitting._pass = lambda scene: of_parts(*(getattr(scene, part) for part in parts))
    yield
    fitting._pass = made


@pytest.mark.parametrize("shard", range(SHARDS))
def test_no_address_raises_and_what_it_mends_is_said_and_mended_for_good(shard):
    look(shard)


@settings(max_examples=10_000 // SHARDS)
@given(st.data())
def look(shard, data):
    written = data.draw(ADDRESSES)
    mended = parse(written)
    for said in (*mended.notices, *mended.refused):
        assert said[0].isprintable()
        assert said.endswith(".")
        assert len(said) < 800
    assert len(mended.notices) + len(mended.refused) < 60
    address = query(mended.scene)
    again = parse(address)
    assert again.scene == mended.scene
    assert query(again.scene) == address
    assert again.trace is None or not (again.notices or again.refused)
    if mended.trace and data.draw(st.integers(0, 49)) == 0:
        json.dumps(document(mended), allow_nan=False)
