"""`check` beside the attention of transformers, where that is installed: 15 libraries, ports of them, and mistakes."""

import pytest

from attnviz import check

pytest.importorskip("transformers")

from transformerports import CAUSES, LIBRARIES, Port

pytestmark = pytest.mark.slow
MISTAKES = [(name, mistake) for name, library in LIBRARIES.items() for mistake in library.mistakes]


@pytest.mark.parametrize("kernel", ["eager", "sdpa"])
@pytest.mark.parametrize("name", LIBRARIES)
def test_a_module_agrees_with_another_of_its_class(name, kernel):
    """In training, as fresh modules are, and by the kernel that they declare, which they have again afterwards."""
    mine, like = (LIBRARIES[name].made(name, seed, kernel).train() for seed in (0, 1))
    found = check(mine, like=like)
    assert found.agrees, str(found)
    assert set(found.calls) == {"no mask", "causal"}
    assert not found.notes
    for part in (*mine.modules(), *like.modules()):
        assert part.training
        assert getattr(getattr(part, "config", None), "_attn_implementation", kernel) == kernel


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_port_agrees(name):
    like = LIBRARIES[name].made(name, 1)
    found = check(Port(LIBRARIES[name], like), like=like)
    assert found.agrees, str(found)
    assert set(found.calls) == {"no mask", "causal"}
    last = "output" if LIBRARIES[name].has_output else "heads"
    assert all([each.stage for each in comparison.stages][-1] == last for comparison in found.calls.values())


@pytest.mark.parametrize(("name", "mistake"), MISTAKES)
def test_a_mistake_in_a_port_is_named(name, mistake):
    like = LIBRARIES[name].made(name, 1)
    found = check(Port(LIBRARIES[name], like, mistake), like=like)
    assert not found.agrees
    for comparison in found.calls.values():
        assert [each.id for each in comparison.causes] == [CAUSES[mistake]], str(found)
        assert comparison.explained
