"""Two thousand addresses, at random and by people who want to break it: none raises, and what is found is valid."""

import json
from functools import lru_cache
from random import Random

from documents import document, fitted_at
from hostile import CASES
from hypothesis import given, settings
from hypothesis import strategies as st
from test_scene import PARAMETERS

from attnviz.contract.view_params import ORDERS, QUESTIONS
from attnviz.examples import EXAMPLES
from attnviz.explain.steps import ids
from attnviz.models import MODELS
from attnviz.scene.address import query
from attnviz.scene.scene import OWN, SOURCES, Scene
from attnviz.scene.with_pass import pass_or_reason

NUMBERS = (
    *("1e400", "-1e400", "nan", "inf", "-inf", "-1", "-0", "8.0", "0x10", "1_000", "1e-400", "+3", "true", "None"),
    *("\u0663", "\u2167", "\uff11\uff12", "\u00b2", "1;2", "1,2", "", " 8 ", "1\u0000", "0" * 99),
    *("9" * 5000, "1" + "0" * 400),
)
ENCODED = ("%00", "%2525", "%3Cscript%3E", "a%20b", "+", "&a=b", "#", "?", "../../etc/passwd", "%F0%9F%98%80")
NAMES = ("scores", "scores_1", "scores_2", "w_q_9", "embeddings", "logits", "mask", "x_2", "__class__", "constructor")
STEPS = (*ids(2), *ids(1), "scores-99", "scores-0", "-1")
LONG = ("x" * 20_000, "1." * 9_000, "<" * 9_000, ";" * 9_000, "[" * 9_000, "a " * 9_000)
VALUES = ("1", "0", "-inf", "inf", "nan", "1e308", "-1.8e308", "1e400", "1e-400", "--1", "0x1", "")
PLACES = (0, 0, 1, 1, 2, 7, 63, 64, 127, 9999, 10**9)


def pool():
    """Values that look as if they were meant; drawing from a list takes a tenth of the time of making each."""
    random = Random(0)

    def cell():
        return f"{random.choice(NAMES)}[{','.join(str(random.choice(PLACES)) for _ in range(random.randrange(5)))}]"

    def several(mark, most, each):
        return mark.join(each() for _ in range(random.randrange(most)))

    for _ in range(200):
        yield cell()
        yield several(";", 20, lambda: f"{cell()}={random.choice(VALUES)}")
        yield several("<", 30, lambda: random.choice(["output[0,0]", "concat[0,0]", "heads[0,0,0]", cell()]))
        yield several(".", 8, lambda: str(random.choice(PLACES)))


OURS = (*SOURCES, *MODELS, OWN, *QUESTIONS, *ORDERS, *EXAMPLES, "output[1,2]<concat[1,5]<heads[1,1,1]", "true", "false")
VALUES_OF_ALL = [*pool(), *(10 * [*NUMBERS, *ENCODED, *STEPS, *CASES.values(), *OURS]), *LONG]
NAMES_OF_ALL = [*(5 * PARAMETERS), "", "__proto__", "embed", "sentence ", "SENTENCE", "x" * 5000, "a\u202eb"]


def address(seed):
    """An address; Hypothesis chooses the seed alone, as to have it choose each part takes longer than to read it."""
    random = Random(seed)
    values = iter(lambda: random.choice(VALUES_OF_ALL), None)
    written = dict(zip(random.sample(NAMES_OF_ALL, random.randrange(6)), values, strict=False))
    if random.random() < 0.3:
        written[random.choice(NAMES_OF_ALL)] = random.choices(VALUES_OF_ALL, k=random.randrange(4))
    if random.random() < 0.5:
        written["model"] = random.choice([*MODELS])
    return written


PARTS = ("source", "sentence", "context", "options", "model_seed", "checkpoint")
of_parts = lru_cache(maxsize=99)(lambda *values: pass_or_reason(Scene(**dict(zip(PARTS, values, strict=True)))))


def made(scene):
    """The pass of a scene, made once for the two readings of an address."""
    return of_parts(*(getattr(scene, part) for part in PARTS))


@settings(max_examples=250)
@given(st.integers(0, 2**64 - 1).map(address))
def test_no_address_raises_and_what_it_mends_is_said_and_mended_for_good(written):
    mended = fitted_at(written, made)
    for said in (*mended.notices, *mended.refused):
        assert said[0].isprintable()
        assert said.endswith(".")
        assert len(said) < 800
    assert len(mended.notices) + len(mended.refused) < 60
    address = query(mended.scene)
    again = fitted_at(address, made)
    assert again.scene == mended.scene
    assert query(again.scene) == address
    assert again.trace is None or not (again.notices or again.refused)
    if mended.trace and len(str(written)) % 100 == 0:
        json.dumps(document(mended), allow_nan=False)
