"""The scene: an address gives it, it gives the address, and nothing that an address can hold raises."""

import json
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from random import Random
from urllib.parse import parse_qsl, urlencode

import pytest
from cases import of_each
from documents import document, fitted_at
from hostile import CASES
from hypothesis import given, settings
from hypothesis import strategies as st
from page import ROOT

from attnviz.contract.view_params import COMPARISONS, ORDERS, QUESTIONS
from attnviz.core.attention import trace_of
from attnviz.core.changes import Change
from attnviz.core.selection import Selection
from attnviz.core.settings import FREE_OPTIONS, OPTIONS, Settings, divisors
from attnviz.examples import EXAMPLES
from attnviz.explain.steps import STEPS, ids
from attnviz.models import MODELS
from attnviz.scene.address import VIEW_FIELDS, VIEWERS, parse, query, with_view
from attnviz.scene.scene import (
    FIRST_VISIT,
    OWN_MODEL,
    OWN_PARAMETERS,
    RANDOM,
    SOURCES,
    Options,
    Scene,
    of_model,
    parts_for_source,
    pinned,
    with_options,
)
from attnviz.scene.with_pass import pass_or_reason, resolve, start, starts, what_if

PARAMETERS = [
    *("source", "model", "checkpoint", "sentence", "context"),
    *("heads" if name == "n_heads" else name for name in OPTIONS),
    *("step", "cell", "picked", "changes", "trail", "ask", "order", "stage", "present", "reveal", "notebook"),
]
STAGES = [stage.name for stage in resolve(Scene()).trace.stages]
WRITTEN = st.one_of(
    st.text(max_size=30),
    st.sampled_from([*SOURCES, *MODELS, RANDOM, *STAGES, *QUESTIONS, *ORDERS, *EXAMPLES]),
    st.sampled_from(["true", "-1", "1e999", "nan", "Ⅷ"]),
    st.from_regex(r"[0-9]{1,3}(\.[0-9]{1,3}){0,5}", fullmatch=True),
    st.from_regex(r"(output|heads|w_o|scores|mask)\[[0-9](,[0-9]){0,3}\](=-?(inf|[0-9.e]{1,9}))?", fullmatch=True),
    st.sampled_from(["output[1,2]<concat[1,5]<heads[1,1,1]", "scores[0,1,2]=1.5;heads[1]=0", "a" * 2100, "\ud800"]),
)


PLACES = st.integers(0, 70)
CHOSEN = st.fixed_dictionaries(
    {name: st.sampled_from(option.allowed) for name, option in FREE_OPTIONS.items()}
    | {"d_model": st.integers(2, 32), "layers": st.sampled_from([1, 1, 1, 2, 3])}
)
PARTS = st.fixed_dictionaries(
    {
        "source": st.sampled_from([RANDOM] * len(SOURCES) + [*SOURCES] + 3 * [*MODELS]),
        "sentence": st.sampled_from(["the cat sat", "&=+#?%;<b>", " spaces  stay ", "", "word " * 65, "שלום 🙂"]),
        "model_seed": st.integers(0, 9),
        "checkpoint": st.none() | st.integers(0, 30),
        "context": st.sampled_from(["", " ", "der Hund"]),
        "selection": st.none() | st.builds(Selection, *[PLACES] * 6),
        "picked": st.sampled_from(["", *STAGES]),
        "step": st.sampled_from([step.id for step in STEPS]),
        "changes": st.lists(
            st.builds(Change, st.sampled_from(STAGES), st.tuples(PLACES), st.floats(-2, 2)), max_size=3
        ).map(tuple),
        "trail": st.sampled_from([(), ("output[0,0]", "concat[0,0]", "heads[0,0,0]"), ("w_q[0,0,0]",)]),
        "question": st.sampled_from(QUESTIONS),
        "order": st.sampled_from(ORDERS),
        "present": st.booleans(),
        "reveal": st.none() | st.integers(0, 99),
        "notebook": st.sampled_from(list(EXAMPLES)),
        "compare": st.sampled_from(COMPARISONS),
    }
)
"""Made once: to make a strategy takes longer than to draw from it."""


@st.composite
def scenes(draw):
    """Scenes that fit their pass."""
    chosen, parts, nth = draw(CHOSEN), draw(PARTS), draw(PLACES)
    possible = divisors(chosen["d_model"])
    scene = Scene(options=with_options(Options(**chosen, n_heads=possible[nth % len(possible)])), **parts)
    if scene.source in MODELS and nth % 4:  # mostly a sentence of words that it knows
        examples = MODELS[scene.source].examples
        scene = replace(scene, sentence=examples[nth % len(examples)][1])
    return resolve(scene).scene


@given(scenes())
def test_an_address_gives_back_the_scene_that_wrote_it(scene):
    assert parse(query(scene)) == (scene, ())
    assert hash(parse(query(scene)).scene) == hash(scene)


@given(scenes(), scenes())
def test_an_address_gives_back_the_pair_that_wrote_it(scene, other):
    pair = resolve(replace(scene, other=pinned(other))).scene
    assert parse(query(pair)) == (pair, ())


def test_an_address_is_read_without_a_pass(monkeypatch):
    def made(*_, **__):
        raise AssertionError("a pass is made")

    monkeypatch.setattr("attnviz.core.assembly.Builder.__init__", made)
    with pytest.raises(AssertionError):
        resolve(Scene())
    for written in (
        {"sentence": "the cat", "changes": "q[0,0,0]=1", "cell": "1.1.1.1.1", "trail": "output[0,0]<q[0,0,0]"},
        {"model": "microgpt", "sentence": "ka", "beside": "model=who-is-it&sentence=animal&changes=scores[0,0,0]=1"},
    ):
        scene, notices = parse(written)
        assert notices == ()
        assert query(scene).items() >= written.items() - {("beside", written.get("beside"))}


@given(scenes(), scenes())
def test_where_one_looks_is_in_the_viewers_own_parameters_and_nothing_else_is(scene, other):
    looks = {part: getattr(scene, part) for part in VIEW_FIELDS}
    assert with_view(other, query(scene)) == replace(other, **looks)
    assert query(replace(other, **looks)).keys() - query(other).keys() <= set(VIEWERS)


@given(st.sampled_from(PARAMETERS), WRITTEN)
def test_no_value_is_dropped_without_a_notice(parameter, text):
    read = fitted_at({parameter: text})
    used = query(read.scene).get(parameter, query_of_the_default(parameter)).casefold()
    assert read.notices + read.refused or used == text.strip().casefold() or is_another_spelling(parameter, text, read)


def query_of_the_default(parameter):
    """The value of a parameter that is left out."""
    default = Scene()
    values = {name: str(value).lower() for name, value in vars(default.options).items()}
    values |= {"heads": values["n_heads"], "source": RANDOM, "sentence": default.sentence, "present": "0"}
    values |= {"ask": QUESTIONS[0], "order": ORDERS[0], "notebook": default.notebook, "step": default.step}
    return values.get(parameter, "")


def is_another_spelling(parameter, text, read):
    """Titles stand for steps, numbers in changes have many spellings; a sentence keeps all but lone surrogates."""
    if parameter == "step":
        return any(text.strip().casefold() == step.title.casefold() and step.id == read.scene.step for step in STEPS)
    if parameter == "stage":  # of older links
        return read.scene.picked == text
    if parameter == "changes":
        return len(text.split(";")) == len(read.scene.changes)
    kept = text.encode("utf-8", "replace").decode()
    return parameter in ("sentence", "context") and getattr(read.scene, parameter) == kept


CORRECTED = json.loads((ROOT / "tests/data/corrected_addresses.json").read_text("utf-8"))
CORRECTED += [
    ({"sentence": "a" * 40_000}, "the address has 40,000"),
    ({f"name {n}": "x" for n in range(1000)}, "1,000 names that aren't parameters of attnviz"),
]


@pytest.mark.parametrize(("parameters", "part"), CORRECTED)
def test_each_corrected_value_has_one_notice(parameters, part):
    read = fitted_at(parameters)
    (notice,) = read.notices + read.refused
    assert part in notice


@pytest.mark.parametrize("seed", range(5))
def test_where_no_answer_is_known_the_selection_is_what_the_last_word_looks_at_most(seed):
    for text in ("the dog tired the cat", "animal street", "wide road deep river", "the"):
        trace = resolve(replace(of_model("who-is-it"), sentence=text, model_seed=seed)).trace
        weights, probabilities = trace["attention"].value[0, -1], trace["probabilities"].value[-1]
        (selection,) = starts(trace)
        assert selection.query == len(weights) - 1
        assert weights[selection.key] == max(weights)
        assert probabilities[selection.answer] == max(probabilities)


@pytest.mark.parametrize("model", MODELS)
def test_of_vectors_the_largest_number_is_selected_first(model):
    trace = resolve(of_model(model)).trace
    selection, layer = starts(trace)[-1], trace.layers[-1].trace
    value, output = (abs(row) for row in (layer["v"].value[0, selection.key], layer["output"].value[selection.query]))
    assert (value[selection.feature], output[selection.dimension]) == (max(value), max(output))


FORMER_QUESTIONS = ("what made it", "what would move it", "what if")


@pytest.mark.parametrize(
    ("former", "now"),
    [
        *(({"ask": text}, {"question": id}) for text, id in zip(FORMER_QUESTIONS, QUESTIONS, strict=True)),
        *(({"order": text}, {"order": id}) for text, id in zip(("large ones first", "in order"), ORDERS, strict=True)),
        ({"route": "every step"}, {"route": "every-step"}),
        ({"source": "your own sentence"}, {"source": RANDOM}),
        ({"source": "your own parameters"}, {"source": OWN_PARAMETERS}),
        ({"source": "your own microgpt"}, {"source": OWN_MODEL}),
    ],
)
def test_what_addresses_of_before_say_is_read_as_the_id_that_stands_for_it_now(former, now):
    for written in (former, {name: text.title() for name, text in former.items()}):
        scene, notices = parse(written)
        assert notices == ()
        assert vars(scene).items() >= now.items()
    ((name, text),) = former.items()
    assert query(scene).get(name) != text


def test_another_source_leaves_behind_all_that_belongs_to_the_pass_before():
    own = {
        "changes": (Change("q", (0, 0, 0), 1.0),),
        "selection": Selection(0, 3, 3),
        "picked": "q",
        "trail": ("q[0,0,0]",),
    }
    left = replace(of_model("who-is-it"), model_seed=4, checkpoint=3, **own)
    assert resolve(replace(left, **parts_for_source("001 with"))).scene == resolve(Scene(source="001 with")).scene
    assert replace(left, **parts_for_source("mirror")) == of_model("mirror")
    assert replace(left, **parts_for_source(RANDOM)) == replace(Scene(), sentence=left.sentence)
    assert resolve(of_model("mirror")).scene == of_model("mirror")


def test_a_training_that_is_not_there_becomes_the_nearest_and_the_last_checkpoint_is_left_out():
    last = len(MODELS["mirror"].checkpoints(2)) - 1
    nearest_seed = replace(of_model("mirror"), model_seed=2)
    assert parse({"model": "mirror", "seed": "42"}).scene == nearest_seed
    compared = pinned(replace(nearest_seed, model_seed=42))
    assert resolve(Scene(other=compared)).scene.other == pinned(nearest_seed), "as a compared one does"
    for checkpoint in (last, last + 1):
        assert parse({"model": "mirror", "seed": "2", "checkpoint": str(checkpoint)}).scene == nearest_seed
    assert parse({"model": "mirror", "checkpoint": str(last - 1)}).scene.checkpoint == last - 1


def test_a_first_visit_has_no_parameters():
    assert parse({}).scene == resolve(FIRST_VISIT).scene
    assert parse({}).scene.source in MODELS
    assert not parse({}).notices
    assert parse({"utm_source": "mail"}).scene == parse({}).scene
    written = {"model": FIRST_VISIT.source, "view": FIRST_VISIT.view, "checkpoint": str(FIRST_VISIT.checkpoint)}
    assert query(parse({}).scene) == written


def test_a_first_visit_is_unsaturated_and_an_address_without_a_checkpoint_is_the_last():
    """No weight of the asking word is over 99 %, the answer is right, and the last checkpoint's is over 99 %."""
    first, named = parse({}).scene, parse({"model": "who-is-it"}).scene
    assert MODELS[first.source].checkpoints(first.model_seed)[first.checkpoint] == 100
    assert named.checkpoint is None
    largest = {each: resolve(each).trace["attention"].value[0, -1].max() for each in (first, named)}
    assert 0.5 < largest[first] < 0.99 < largest[named]
    trace = resolve(first).trace
    assert MODELS[first.source].task.answers[trace["probabilities"].value[-1].argmax()] == "animal"


def test_an_address_without_a_model_has_random_parameters():
    assert parse({"step": "scores"}).scene == replace(Scene(), step="scores")
    assert query(Scene()) == {"sentence": Scene().sentence}  # an empty address is a first visit


def test_a_sentence_that_makes_no_pass_is_kept_with_everything_else():
    scene = replace(Scene(), sentence="", step="scores", changes=(Change("scores", (0, 1, 2), 1.5),))
    assert parse(query(scene)).scene == scene
    assert resolve(scene).trace is None


@of_each("d_model", range(2, 33))
def test_heads_that_follow_from_d_model_are_no_parameter(d_model):
    assert query(parse({"d_model": str(d_model)}).scene).keys() <= {"d_model", "sentence"}


def test_a_change_that_does_not_fit_is_refused_and_the_others_hold():
    fits, far = Change("scores", (0, 1, 2), 1.5), Change("scores", (0, 1, 5), 2.5)
    fitted = resolve(replace(Scene(), sentence="one two three", changes=(fits, far)))
    assert fitted.scene.changes == (fits,)
    assert len(fitted.refused) == 1
    assert fitted.trace["scores"].value[0, 1, 2] == 1.5
    assert fitted.original["scores"].value[0, 1, 2] != 1.5


def test_a_trail_ends_at_a_number_set_by_hand():
    trail = "output[1,2]<concat[1,5]<heads[1,1,1]"
    assert len(fitted_at({"trail": trail}).scene.trail) == 3
    assert fitted_at({"trail": trail, "changes": "concat[1,5]=0"}).scene.trail == ("output[1,2]", "concat[1,5]")


def test_one_looks_first_from_the_word_at_which_something_is_asked_to_the_right_answer():
    for model, asker, right in (("who-is-it", "tired", "animal"), ("at-it", "it", "animal"), ("mirror", "8", "1")):
        trace = resolve(of_model(model)).trace
        selection = start(trace, "question")
        words = trace.labels["query"]
        assert (words[selection.query], words[selection.key]) == (asker, right)
        assert trace.labels["answer"][selection.answer] == right
    unknown = resolve(replace(of_model("at-it"), sentence="animal animal")).trace
    assert start(unknown, "question").query == 1


@pytest.mark.parametrize(
    ("model", "sentence", "looks"),
    [
        ("recall", "g 5 d 6 e 1 a 3 e", [("1", "e"), ("e (2)", "1")]),
        ("recall", "g 5 d 5 e 1 a 3 d", [("5 (2)", "d"), ("d (2)", "5 (2)")]),
        ("by-hand", "a b c a", [("b", "a"), ("a (2)", "b")]),
        ("by-hand", "b a b c d a", [("b (2)", "a"), ("a (2)", "b (2)")]),
    ],
)
def test_each_layer_of_a_model_opens_on_what_it_looks_for_at_every_moment_of_its_training(model, sentence, looks):
    for checkpoint in (0, None) if model == "recall" else (None,):
        fitted = resolve(replace(of_model(model), sentence=sentence, checkpoint=checkpoint))
        words = fitted.trace.labels["query"]
        seen = [start(fitted.trace, f"softmax-{n}") for n in (1, 2)]
        assert [(words[each.query], words[each.key]) for each in seen] == looks
        assert start(fitted.trace, "answer") == start(fitted.trace, "question") == seen[-1]
    for n, each in enumerate(seen, start=1):
        row = fitted.trace[f"attention_{n}"].value[0, each.query]
        assert row[each.key] == max(row) > 0.5


def test_one_begins_at_a_key_that_is_seen_and_in_a_long_sentence_at_a_word_that_looks_somewhere():
    words = " ".join(f"w{n}" for n in range(40))
    usual, causal = (trace_of(Settings("the cat sat on the mat", mask=mask)) for mask in ("none", "causal"))
    assert start(usual, "question") == Selection()
    at = start(causal, "question")
    assert at.key <= at.query
    for seed in range(5):
        trace = trace_of(Settings(words, d_model=64, n_heads=8, seed=seed))
        at = start(trace, "question")
        assert trace["attention"].value[0, at.query, at.key] >= 2 / 40


def test_a_talk_begins_with_its_question_and_an_address_can_lead_to_its_end():
    begun = parse({"model": "who-is-it", "present": "1"}).scene
    assert begun.reveal == 0
    assert parse({"model": "who-is-it", "present": "1", "step": "softmax"}).scene.reveal is None
    ended = parse({"model": "who-is-it", "present": "1", "reveal": "all"}).scene
    assert ended.reveal is None
    assert [parse(query(each)).scene for each in (begun, ended)] == [begun, ended]


@pytest.mark.parametrize("more", [{}, {"reveal": "all"}, {"route": "every-step"}])
def test_what_is_presented_without_anything_named_is_what_a_first_visit_shows(more):
    scene = parse({"present": "1", **more}).scene
    assert pinned(scene) == pinned(FIRST_VISIT)
    assert (scene.present, scene.view, scene.step) == (True, FIRST_VISIT.view, FIRST_VISIT.step)
    assert parse(query(scene)).scene == scene
    assert parse({"present": "1", "step": "softmax"}).scene.source == RANDOM, "a link of earlier versions"


def test_a_talk_of_a_model_that_writes_begins_before_the_first_letter_unless_its_address_says_what_is_written():
    talk = {"model": "microgpt", "present": "1"}
    assert parse(talk).scene.sentence == ""
    for text in ("", "eli", "eliza"):
        written = parse(talk | {"sentence": text}).scene
        assert (written.sentence, parse(query(written)).scene) == (text, written)
    for older in ({"model": "microgpt"}, talk | {"step": "softmax"}):
        assert parse(older).scene.sentence == "eliza"
    assert parse({"model": "who-is-it", "present": "1"}).scene.sentence == of_model("who-is-it").sentence


WHAT_IF = QUESTIONS[-1]


@pytest.mark.parametrize(
    ("address", "step", "picked"),
    [
        ({"stage": "attention"}, "softmax", "attention"),
        ({"stage": "w_q", "changes": "scores[0,1,2]=1"}, "qkv", "w_q"),
        ({"changes": "scores[0,1,2]=1;heads[1]=0"}, "weighted-sum", "heads"),
        ({"changes": "mask[1,0]=0", "trail": "attention[0,1,0]"}, "mask", "mask"),
    ],
)
def test_what_if_opens_at_the_picked_stage_or_at_the_last_change(address, step, picked):
    fields = what_if(fitted_at(address))
    assert (fields["step"], fields["picked"], fields["question"], fields["trail"]) == (step, picked, WHAT_IF, ())
    assert picked != "heads" or fields["selection"].head == 1


def test_what_if_without_a_number_opens_the_whole_pass_if_there_is_one():
    assert what_if(fitted_at({})) == {"step": STEPS[-1].id, "question": WHAT_IF, "trail": ()}
    no_pass = {"sentence": "", "trail": "output[0,0]", "changes": "q[0,0,0]=1"}
    assert what_if(fitted_at(no_pass)) == {"question": WHAT_IF, "trail": ()}


IN_BROWSER = {
    "first visit": {},
    "one word": {"sentence": "alone"},
    "a cell": {"step": "output", "cell": "2.3.4.2.7", "picked": "w_o"},
    "a talk": {"step": "scores", "present": "1", "reveal": "2", "order": "index"},
    "a trail": {"step": "output", "trail": "output[1,2]<concat[1,5]", "ask": "slope"},
    "an example": {"source": "001 with", "step": "Softmax", "cell": "1.2.1.3.1", "ask": "whatif"},
}


def test_browser_and_server_write_and_read_the_same_addresses(node):
    scenes = {name: fitted_at(address) for name, address in IN_BROWSER.items()}
    sent = [
        {"document": (made := document(each)), "where": made["where"], "search": f"?{urlencode(query(each.scene))}"}
        for each in scenes.values()
    ]
    from_browser = json.loads(node(str(ROOT / "tests/js/answers.mjs"), "addresses", text=json.dumps(sent)))
    for name, server, browser in zip(scenes, sent, from_browser, strict=True):
        written = dict(parse_qsl(browser["search"].removeprefix("?")))
        read = fitted_at(written)
        assert document(read)["where"] == server["where"], name
        assert (read.notices, query(read.scene)) == ((), written), name
        assert browser["where"] == server["where"] | {"from": ""}, "what is unfolded on the sheet is in no address"


RECORDED = json.loads((Path(__file__).parents[1] / "data" / "addresses.json").read_text("utf-8"))


@pytest.mark.parametrize("tenth", range(10))
def test_an_old_address_opens_the_same_scene(tenth):
    assert len(RECORDED) == 200
    for each in RECORDED[tenth::10]:
        assert query(fitted_at(each["address"]).scene) == each["scene"], each["address"]


NUMBERS = (
    *("1e400", "-1e400", "nan", "inf", "-inf", "-1", "-0", "8.0", "0x10", "1_000", "1e-400", "+3", "true", "None"),
    *("\u0663", "\u2167", "\uff11\uff12", "\u00b2", "1;2", "1,2", "", " 8 ", "1\u0000", "0" * 99),
    *("9" * 5000, "1" + "0" * 400),
)
ENCODED = ("%00", "%2525", "%3Cscript%3E", "a%20b", "+", "&a=b", "#", "?", "../../etc/passwd", "%F0%9F%98%80")
NAMES = ("scores", "scores_1", "scores_2", "w_q_9", "embeddings", "logits", "mask", "x_2", "__class__", "constructor")
HOSTILE_STEPS = (*ids(2), *ids(1), "scores-99", "scores-0", "-1")
LONG = ("x" * 20_000, "1." * 9_000, "<" * 9_000, ";" * 9_000, "[" * 9_000, "a " * 9_000)
VALUES = ("1", "0", "-inf", "inf", "nan", "1e308", "-1.8e308", "1e400", "1e-400", "--1", "0x1", "")
FAR_PLACES = (0, 0, 1, 1, 2, 7, 63, 64, 127, 9999, 10**9)


def pool():
    """Values that look as if they were meant; drawing from a list takes a tenth of the time of making each."""
    random = Random(0)

    def cell():
        return f"{random.choice(NAMES)}[{','.join(str(random.choice(FAR_PLACES)) for _ in range(random.randrange(5)))}]"

    def several(mark, most, each):
        return mark.join(each() for _ in range(random.randrange(most)))

    for _ in range(200):
        yield cell()
        yield several(";", 20, lambda: f"{cell()}={random.choice(VALUES)}")
        yield several("<", 30, lambda: random.choice(["output[0,0]", "concat[0,0]", "heads[0,0,0]", cell()]))
        yield several(".", 8, lambda: str(random.choice(FAR_PLACES)))


OURS = (
    *SOURCES,
    *MODELS,
    RANDOM,
    *QUESTIONS,
    *ORDERS,
    *EXAMPLES,
    "output[1,2]<concat[1,5]<heads[1,1,1]",
    "true",
    "false",
)
VALUES_OF_ALL = [*pool(), *(10 * [*NUMBERS, *ENCODED, *HOSTILE_STEPS, *CASES.values(), *OURS]), *LONG]
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


PASS_PARTS = ("source", "sentence", "context", "options", "model_seed", "checkpoint")
of_parts = lru_cache(maxsize=99)(lambda *values: pass_or_reason(Scene(**dict(zip(PASS_PARTS, values, strict=True)))))


def made(scene):
    """The pass of a scene, made once for the two readings of an address."""
    return of_parts(*(getattr(scene, part) for part in PASS_PARTS))


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
