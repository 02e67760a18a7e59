"""What is kept of passes: documents that would be made anew are the same, within bounds; templates, sent once each."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from documents import document, fitted_at, whole
from hypothesis import given, settings
from hypothesis import strategies as st
from page import changes_of
from posts import new_tab, post, said

from attnviz import Settings, trace_of
from attnviz.core.integer_example import INTEGER_EXAMPLE
from attnviz.core.parameters import Origin
from attnviz.core.settings import OPTIONS
from attnviz.core.trace import MAX_TEMPLATES, cached_by_template
from attnviz.explain.steps import nearest, steps_of
from attnviz.models import MODELS
from attnviz.models.continuation import Sampling
from attnviz.scene.address import parse
from attnviz.scene.document import continuing_text
from attnviz.scene.document.document import body, document_json
from attnviz.scene.document.encoding import template_of
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
    return document_json(cache.resolved(scene), notes or ReplyNotes(), arrival=arrival, cache=cache)


def is_cached(cache, scene):
    return ("pass", pass_key(scene)) in cache._entries


def size():
    cache = PassCache()
    sent(cache, OWN)
    return cache.n_bytes


PAIR = replace(OWN, other=pinned(FIRST_VISIT))


@pytest.mark.parametrize("scene", [FIRST_VISIT, OWN, Scene(source="002 multihead"), PAIR])
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
    monkeypatch.setattr(continuing_text, "writers_data", None)
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


SETTINGS = st.builds(
    Settings,
    sentence=st.sampled_from(["the cat sat", "a", "a a b", "“x” <b> é"]),
    context=st.sampled_from([None, "der Hund"]),
    d_model=st.sampled_from([4, 8]),
    n_heads=st.sampled_from([1, 2]),
    mask_size=st.integers(0, 4),
    layers=st.sampled_from([1, 1, 2]),
    **{
        name: st.sampled_from([each for each in option.allowed if each != INTEGER_EXAMPLE])
        for name, option in OPTIONS.items()
        if name not in ("d_model", "n_heads", "mask_size", "layers", "seed")
    },
)


def without_template(trace):
    """The same, of which nothing is said but what follows from it alone."""
    return trace.with_origin(trace.origin)


@settings(max_examples=10)
@given(SETTINGS, st.integers(0, 2**32 - 1))
def test_passes_of_one_template_say_the_same_whatever_their_numbers_are(asked, seed):
    one, other = trace_of(asked), trace_of(replace(asked, seed=seed))
    assert one.template == other.template
    assert template_of(one).parts == template_of(without_template(other)).parts
    assert steps_of(one) == steps_of(without_template(other))
    assert nearest(one) == nearest(without_template(other))


@pytest.mark.parametrize("id_", MODELS)
def test_passes_of_one_model_say_the_same_whatever_it_learnt(id_):
    scene = replace(of_model(id_), written="")  # else a translator's words differ as training goes on
    seeds = MODELS[id_].seeds
    found = [
        resolve(replace(scene, model_seed=seed, checkpoint=place)).trace
        for seed in (seeds[0], seeds[-1])
        for place in {0, 1, len(MODELS[id_].checkpoints(seed)) - 1} & {*range(len(MODELS[id_].checkpoints(seed)))}
    ]
    names = {trace.origin.kind: template_of(trace).name for trace in found}
    for trace in found:
        words = [trace.labels[name] for name in ("token", "context token") if name in trace.labels]
        assert trace.template == (id_, trace.origin.kind, *words)
        assert template_of(without_template(trace)).name == names[trace.origin.kind]
    a, b, *_ = MODELS[id_].task.words
    one, other = (resolve(replace(scene, sentence=text)).trace for text in (f"{a} {b}", f"{b} {a}"))
    assert (one.template == other.template) is (template_of(one).name == template_of(other).name) is False


@settings(max_examples=10)
@given(SETTINGS, SETTINGS)
def test_templates_of_one_name_have_the_same_parts(one, other):
    templates = [template_of(trace_of(each)) for each in (one, other)]
    assert (templates[0].name == templates[1].name) is (templates[0].parts == templates[1].parts)


CHANGED = {
    "a change": lambda trace: trace.with_change("attention", (0, 1, 1), 1.0),
    "other numbers": lambda trace: trace.with_values({"q": trace["q"].value * 2}),
    "other words": lambda trace: trace.labelled(query=("a", "b", "c")),
    "another origin": lambda trace: trace.with_origin(Origin("learnt")),
    "other sources": lambda trace: trace.with_sources({"w_q": "chosen"}),
    "other stages before it": lambda trace: trace.with_first_stages(trace.stages[:1]),
}


@pytest.mark.parametrize("name", CHANGED)
def test_the_template_of_a_trace_says_nothing_of_one_that_was_made_from_it(name):
    assert CHANGED[name](trace_of(Settings("the cat sat"))).template is None


def test_what_is_said_of_a_template_is_worked_out_once_and_kept_for_a_few():
    asked = []
    ask = cached_by_template(lambda trace: asked.append(trace.template) or trace.template)
    sizes = range(1, MAX_TEMPLATES + 2)
    for size in (1, 1, *sizes):
        for seed in (1, 2):
            trace = trace_of(Settings("a", mask_size=size % 60, d_model=2, n_heads=1, seed=seed))
            assert ask(trace) == trace.template
    assert len(asked) == len(sizes)
    ask(trace_of(Settings("a", mask_size=1, d_model=2, n_heads=1)))
    assert len(asked) == len(sizes) + 1, "the first was let go"


def test_a_browser_is_sent_the_parts_of_a_template_until_it_has_them():
    tab = new_tab()

    def answered(act, templates):
        return json.loads(post(said(tab, (act, True), templates=templates)).text)["pass"]

    first = answered("nothing", [])
    name = first["template"]["name"]
    assert whole(answered("nothing", ["0" * 16])) == whole(first)
    second = answered("another_seed", ["0" * 16, name])
    assert second["template"] == {"name": name, "parts": None}
    assert second["stages"]["q"]["values"] != first["stages"]["q"]["values"]
    assert whole(second | {"template": first["template"]}) == whole(answered("nothing", []))


def test_parameters_are_sent_once_for_all_words():
    """Half of a letter's bytes, where a model writes."""
    first, other = (body(resolve(replace(of_model("microgpt"), sentence=sentence))) for sentence in ("ka", "kay"))
    assert first.parameters == other.parameters
    fitted = resolve(replace(of_model("microgpt"), sentence="kay"))
    sent = [
        len(document_json(fitted, templates=(other.template.name, *have))) for have in ((), (first.parameters.name,))
    ]
    assert sent[1] < 0.6 * sent[0], sent


def test_a_parameter_that_is_set_by_hand_is_sent():
    one, other = (
        body(resolve(parse({"sentence": "the cat sat", **set_by_hand}).scene))
        for set_by_hand in ({}, {"changes": "w_q[0,0,0]=3"})
    )
    assert one.parameters != other.parameters
