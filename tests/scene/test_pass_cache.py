"""The pass cache: it returns what would be computed anew, keeps what was requested last, and is bounded."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from documents import document, fitted_at, whole
from page import changes_of

from attnviz.models.continuation import Sampling
from attnviz.scene.document import continuing
from attnviz.scene.document.document import body
from attnviz.scene.document.pass_cache import MAX_PASS_BYTES, PassCache, pass_key
from attnviz.scene.document.reply_notes import ReplyNotes
from attnviz.scene.scene import FIRST_VISIT, SOURCES, Options, Scene, of_model, pinned, with_options
from attnviz.scene.with_pass import resolve

OWN = Scene(sentence="a b c", options=with_options(Options(), seed=5))
VIEWED = {"step": "softmax", "present": True}
MODEL = replace(FIRST_VISIT, checkpoint=3)
WRITER = of_model("microgpt")
DIFFERENT = [
    *(OWN, FIRST_VISIT, MODEL, replace(MODEL, model_seed=1), Scene(source=next(iter(SOURCES)))),
    *(replace(OWN, sentence="a b"), replace(OWN, context="d"), WRITER, replace(WRITER, drawing=Sampling())),
    *(replace(OWN, options=with_options(OWN.options, **each)) for each in ({"seed": 6}, {"mask": "causal"})),
]


def seeded(seed):
    return replace(OWN, options=with_options(OWN.options, seed=seed))


def sent(cache, scene, notes=None, arrival=0):
    return cache.document_json(cache.resolved(scene), notes or ReplyNotes(), arrival=arrival)


def is_cached(cache, scene):
    return ("pass", pass_key(scene)) in cache._cache._entries


def size():
    cache = PassCache()
    sent(cache, OWN)
    return cache.n_bytes


@pytest.mark.parametrize("scene", [FIRST_VISIT, OWN, Scene(source="002 multihead")], ids=["first", "own", "example"])
def test_a_cached_document_is_the_one_that_would_be_made_anew(scene):
    cache = PassCache()
    for number in range(3):
        for viewed in ({}, VIEWED):
            anew = document(resolve(replace(scene, **viewed)), arrival=number)
            assert whole(json.loads(sent(cache, replace(scene, **viewed), arrival=number))) == anew
    assert is_cached(cache, scene)


def test_no_two_scenes_of_different_passes_share_a_document():
    cache = PassCache()
    for _ in range(2):
        for scene in DIFFERENT:
            assert whole(json.loads(sent(cache, scene))) == document(resolve(scene))


def test_requested_parts_and_hand_set_numbers_are_made_anew_and_not_cached():
    cache = PassCache()
    sent(cache, OWN)
    before = cache.n_bytes
    changed = replace(OWN, changes=changes_of("scores[0,1,2]=3"))
    assert json.loads(sent(cache, OWN, ReplyNotes(slopes_of="output[0,0]")))["slopes"]["of"] == "output[0,0]"
    assert whole(json.loads(sent(cache, changed))) == document(resolve(changed))
    assert whole(json.loads(sent(cache, OWN))) == document(resolve(OWN))
    assert cache.n_bytes == before


def test_a_document_is_made_once_for_all_who_request_it(monkeypatch):
    cache = PassCache()
    first = sent(cache, WRITER)
    drawn = sent(cache, replace(WRITER, drawing=Sampling(seed=3)))
    assert json.loads(drawn)["next"]["drawing"]["seed"] == 3
    monkeypatch.setattr(continuing, "writers_data", None)
    assert sent(cache, WRITER) == first
    with pytest.raises(TypeError):
        sent(cache, replace(WRITER, drawing=Sampling(seed=4)))


def test_it_stays_within_its_room_and_keeps_what_is_requested_again():
    cache = PassCache(room := 6 * size())
    sent(cache, OWN)
    for seed in range(100, 130):
        sent(cache, seeded(seed))
        assert is_cached(cache, seeded(seed))
        assert is_cached(cache, OWN)
        sent(cache, OWN)
        assert room / 6 <= cache.n_bytes <= room
    assert cache.n_bytes > room / 2
    assert not any(is_cached(cache, seeded(seed)) for seed in range(100, 110)), "the oldest leave first"


def test_a_large_pass_is_never_cached():
    cache = PassCache()
    large = replace(OWN, sentence=" ".join(map(str, range(60))), options=with_options(OWN.options, d_model=64))
    assert sum(stage.value.nbytes for stage in resolve(large).original.stages) > MAX_PASS_BYTES
    sent(cache, large)
    assert cache.n_bytes == 0


def test_many_threads_get_the_same():
    cache, expected = PassCache(), document(resolve(OWN))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: whole(json.loads(sent(cache, OWN))), range(8)))
    assert found == [expected] * 8
    assert cache.n_bytes == size(), "what two threads store at once counts once"


def test_the_body_of_a_pass_doesnt_depend_on_the_compared_one():
    scene = fitted_at({"model": "who-is-it"}).scene
    paired = replace(scene, other=pinned(fitted_at({"model": "who-is-it", "seed": "1"}).scene))
    assert body(resolve(paired)) == body(resolve(scene))
