"""A translator's scene: what it has written so far, the pass of it, and what can be done with both."""

import json
from dataclasses import replace

import numpy as np
import pytest

from attnviz.analysis.pairing import pairing
from attnviz.explain.steps import steps_of
from attnviz.models import MODELS
from attnviz.scene.actions.session import Session
from attnviz.scene.address import parse, query
from attnviz.scene.document.continuing_text import by_key, writers_data
from attnviz.scene.document.document import document_json
from attnviz.scene.document.reply_notes import notices, offers
from attnviz.scene.presets import TRANSLATOR_PARTS
from attnviz.scene.with_pass import as_written, fit_to_pass, pass_or_reason, resolve, starts, what_if, written_words

ASKED = "the black cow sleeps"


def scene_of(**parameters):
    read = parse({"model": "translator", "sentence": ASKED} | parameters)
    assert read.notices == ()
    return read.scene


def document(resolved):
    return json.loads(document_json(resolved))


def words(scene):
    return written_words(pass_or_reason(scene))


WHOLE = words(scene_of())

MUTED = "heads_1[:]=0"

AS_WRITTEN = {  # parameters of the address: how many words of the whole translation there are
    "whole": ({}, len(WHOLE)),
    "nothing yet": ({"written": ""}, 0),
    "one word": ({"written": WHOLE[0]}, 1),
    "capitals": ({"written": WHOLE[0].upper()}, 1),
    "one word, and a number set by hand": ({"written": WHOLE[0], "changes": MUTED}, 1),
    "whole, said so": ({"written": "all"}, len(WHOLE)),
}


@pytest.mark.parametrize(("parameters", "n_words"), AS_WRITTEN.values(), ids=AS_WRITTEN)
def test_an_address_says_what_is_written_so_far(parameters, n_words):
    scene = scene_of(**parameters)
    assert words(scene) == WHOLE[:n_words]
    assert parse(query(scene)).scene == scene


@pytest.mark.parametrize("b", [None, "", "la"])
@pytest.mark.parametrize("a", ["all", "", "la"])
def test_each_of_two_compared_passes_has_its_own_words(a, b):
    written = {} if b is None else {"written": b}
    pair = scene_of(**written, beside=f"written={a}")
    assert (pair.written, pair.other.written) == (b, None if a == "all" else a)
    assert parse(query(pair)).scene == pair


def test_the_whole_translation_is_written_anew_with_numbers_set_by_hand():
    muted = scene_of(changes=MUTED)
    assert words(muted) != WHOLE
    original = pass_or_reason(as_written(muted))
    assert words(muted) == written_words(original.with_changes(*muted.changes))  # the same words before and after


TYPED = {  # a sentence as it may be typed: as it is read
    "The black cow sleeps": ASKED,
    "the black cow sleeps.": ASKED,
    "The black cow doesn't sleep!": "the black cow does not sleep",
    "it’s black": "it is black",
}


@pytest.mark.parametrize(("typed", "read"), TYPED.items())
def test_a_sentence_is_read_kindly_and_says_so(typed, read):
    resolved = resolve(scene_of(sentence=typed))
    assert " ".join(resolved.trace.labels["context token"][:-1]) == read
    assert any(read in notice for notice in notices(resolved))
    assert query(resolved.scene)["sentence"] == typed


REFUSED = {  # parameters: a word of the reason
    "unknown French": ({"written": "la vache danse"}, "danse"),
    "too much French": ({"written": "la " * 14}, "13"),
    "unknown English": ({"sentence": "the dragon sleeps"}, "dragon"),
    "no English": ({"sentence": " . "}, "no words yet"),
}


@pytest.mark.parametrize(("parameters", "named"), REFUSED.values(), ids=REFUSED)
def test_no_pass_is_made_of_words_that_it_cannot_read_and_nothing_typed_is_lost(parameters, named):
    scene = scene_of(**parameters)
    reason = pass_or_reason(scene)
    assert isinstance(reason, str)
    assert named in reason
    assert query(scene).items() >= parameters.items()


def test_only_a_translator_has_something_written():
    read = parse({"model": "mirror", "written": "le"})
    assert read.scene.written is None
    assert any("written" in notice for notice in read.notices)


@pytest.mark.parametrize("last", ["sleeps", "today"])  # the latter unknown, and not read
def test_of_too_many_words_the_first_are_read_and_that_is_said(last):
    resolved = resolve(scene_of(sentence="the cow " * 9 + last))
    assert resolved.trace.labels["context token"][-1] == "<end>"
    assert len(resolved.trace.labels["context token"]) == 14
    (notice,) = notices(resolved)
    assert "13" in notice
    assert not offers(resolved)


def test_the_nearest_words_are_offered_where_none_makes_a_pass():
    place = Session(scene_of(sentence="the blakc cow slepes"))
    for _ in range(2):
        first = next(each for each in offers(place.resolved()) if each.event == "replace")
        place.do(first.event, list(first.value))
    assert place.scene.sentence == ASKED
    assert place.resolved().trace


WROTE = " ".join(WHOLE)
TO_THE_END = [("anew", True), *[("next", True)] * 20]
DOES = {  # actions in order: what is written then, and the words of the pass
    "anew": ([("anew", True)], "", 0),
    "one word": (TO_THE_END[:2], WHOLE[0], 1),
    "to the end, and no further": (TO_THE_END, None, len(WHOLE)),
    "one back": ([("shorter", True)], " ".join(WHOLE[:-1]), len(WHOLE) - 1),
    "back to nothing, and no further": ([("shorter", True)] * 20, "", 0),
    "back and on": ([("shorter", True)] * 3 + [("next", True)], " ".join(WHOLE[:-2]), len(WHOLE) - 2),
    "whole again": ([("anew", True), ("whole", True)], None, len(WHOLE)),
    "typed": ([("written", f"{WHOLE[0]} ")], f"{WHOLE[0]} ", 1),
    "typed, and removed": ([("written", WHOLE[0]), ("written", " ")], None, len(WHOLE)),
    "painted, which is refused": ([("paint", True)], None, len(WHOLE)),
    "sampled, which it isn't": (
        [("draw", {"temperature": 2.0, "top_k": 0, "top_p": 1.0, "seed": 1})],
        None,
        len(WHOLE),
    ),
}


@pytest.mark.parametrize(("actions", "written", "n_words"), DOES.values(), ids=DOES)
def test_an_action_writes_a_word_or_takes_one_back(actions, written, n_words):
    place = Session(scene_of())
    for name, message in actions:
        place.do(name, message)
    resolved = place.resolved()
    assert place.scene.written == written
    assert written_words(resolved.trace) == WHOLE[:n_words]
    coming = document(resolved)["next"]
    assert coming["ends"] == (n_words == len(WHOLE))
    assert coming["canShorten"] == (n_words > 0)
    assert coming["drawing"] is None
    assert coming["weights"][coming["answer"]] == 1


@pytest.mark.parametrize("part", TRANSLATOR_PARTS, ids=[part.event for part in TRANSLATOR_PARTS])
def test_a_part_is_muted_and_unmuted_in_a_click_and_what_else_was_set_stays(part):
    before = scene_of(changes="w_u[0,0]=0.5")
    place = Session(before)
    place.do(part.event, True)
    trace = place.resolved().trace
    for change in part.changes:
        assert not trace[change.stage].value.any()
    assert part.is_muted(place.scene)
    assert words(place.scene) == written_words(trace)
    place.do(part.event, False)
    assert place.scene == before


RIGHT = [*WHOLE, "<end>"]
WRITTEN = {  # parameters of the address: the right text for what is written
    "right": ({}, RIGHT),
    "by hand": ({"changes": "heads_3[:]=0"}, RIGHT),
    "typed": ({"written": "le chat"}, RIGHT),
    "a judge": ({"sentence": "the judge is tired", "written": "la juge"}, ["la", "juge", "est", "fatiguée", "<end>"]),
    "not of the grammar": ({"sentence": "cow the the"}, []),
}


@pytest.mark.parametrize(("parameters", "right"), WRITTEN.values(), ids=WRITTEN)
def test_what_is_right_is_told_of_any_text(parameters, right):
    assert document(resolve(scene_of(**parameters)))["next"]["right"] == right


def test_a_muted_part_changes_what_is_written_but_not_a_text_that_was_begun():
    for part in TRANSLATOR_PARTS[:1] + TRANSLATOR_PARTS[2:]:
        place = Session(scene_of())
        place.do(part.event, True)
        assert written_words(place.resolved().trace) != WHOLE
    place = Session(scene_of())
    for name, message in (*TO_THE_END, ("mute_1", True)):
        place.do(name, message)
    assert written_words(place.resolved().trace) != WHOLE
    begun = Session(scene_of(written=WHOLE[0]))
    begun.do("mute_1", True)
    assert written_words(begun.resolved().trace) == WHOLE[:1]


@pytest.mark.parametrize(("present", "written"), [({}, None), ({"present": "1"}, "")])
def test_another_sentence_is_translated_anew(present, written):
    place = Session(scene_of(written=WHOLE[0], **present))
    place.do("sentence", ASKED)
    assert place.scene.written == WHOLE[0]
    place.do("sentence", "the cow sleeps")
    assert place.scene.written == written


@pytest.mark.parametrize("changes", ["", MUTED])
@pytest.mark.parametrize(("seed", "place"), [(0, 1), (0, 3), (2, 1)])
def test_each_checkpoint_writes_its_own_words(seed, place, changes):
    scene = replace(scene_of(changes=changes), model_seed=seed, checkpoint=place)
    assert tuple(words(as_written(scene))) == MODELS["translator"].at(seed, place).translate(ASKED, scene.changes)


def test_what_is_written_to_the_end_with_numbers_set_by_hand_is_whole():
    place = Session(scene_of(changes=MUTED))
    whole = words(place.scene)
    for name, message in TO_THE_END:
        place.do(name, message)
    assert (place.scene.written, words(place.scene)) == (None, whole)


@pytest.mark.parametrize("n_words", [12, 13])
def test_a_text_is_full_where_it_has_no_place_left(n_words):
    assert document(resolve(scene_of(written="le " * n_words)))["next"]["isFull"] == (n_words == 13)


def test_one_head_is_muted_as_anywhere():
    place = Session(scene_of())
    place.do("mute", {"stage": "heads_1", "place": 1})
    heads = place.resolved().trace["heads_1"].value
    assert heads[0].any()
    assert not heads[1].any()


def test_a_word_is_hidden_from_another_in_one_layer():
    place, query, key = Session(scene_of()), 2, 1  # the row that writes "noire" reads "black"
    place.do("change", {"cell": f"mask_3[{query},{key}]", "value": 0})
    trace = place.resolved().trace
    assert trace["attention_3"].value[0, query, key] == 0
    assert trace["attention_1"].value[0, query, key] > 0
    assert written_words(trace) != WHOLE


LONG = "the cat does not cross the street because it is too tired"
THEY = "the turtle does not cross the small roads because they are too long"
STARTS = {  # a seed, an English sentence and the French so far: in each layer the words of the query
    "all of it": (0, ASKED, None, ("the", WHOLE[1], WHOLE[1])),  # the word that moved is written at the one before
    "nothing yet": (0, ASKED, "", ("the", "<begin>", "<begin>")),
    "some of it": (0, ASKED, " ".join(WHOLE[:2]), ("the", WHOLE[1], WHOLE[1])),
    "a pronoun": (0, LONG, "le chat", ("it", "chat", "chat")),
    "a pronoun that looks at itself most": (2, THEY, "la", ("they", "la", "la")),
}


@pytest.mark.parametrize(("seed", "sentence", "written", "queries"), STARTS.values(), ids=STARTS)
def test_each_layer_starts_at_a_word_worth_a_look_and_at_the_word_it_reads_most(seed, sentence, written, queries):
    trace = resolve(replace(scene_of(sentence=sentence), written=written, model_seed=seed)).trace
    outside, *of_layers = starts(trace)
    assert outside == of_layers[-1]
    for layer, at, word in zip(trace.layers, of_layers, queries, strict=True):
        weights = layer.trace["attention"].value
        assert layer.trace.labels["query"][at.query] == word
        row = np.delete(weights[:, at.query], at.query if layer.number == 1 else [], axis=-1)
        assert weights[at.head, at.query, at.key] == row.max()
    assert at.answer == trace["probabilities"].value[at.query].argmax()
    assert of_layers[0].answer == at.answer  # no answer is given in a row of English


@pytest.mark.parametrize("pair", ["cow-cat", "words"])
def test_another_sentence_of_a_pair_is_translated_whole(pair):
    place = Session(scene_of(written=WHOLE[0]))
    place.do("pair", pair)
    assert place.scene.written is None
    assert place.scene.other.written == WHOLE[0]


COMPARED = {  # parameters of A and B: the first stage that differs
    "another noun": ({"sentence": "the black cat sleeps"}, {}, "context_embeddings"),
    "fewer words": ({"sentence": "the cow sleeps"}, {}, "context_positions"),
    "encoder muted": ({"changes": MUTED}, {}, "heads_1"),
    "decoder muted": ({"changes": "heads_2[:]=0"}, {}, "heads_2"),
    "cross-attention muted": ({"changes": "heads_3[:]=0"}, {}, "heads_3"),
    "another word": ({"written": "la"}, {"written": "le"}, "embeddings"),
    "a matrix of the decoder": ({"changes": "w_q_2[0,0,0]=9"}, {}, "w_q_2"),
    "the unembedding": ({"changes": "w_u[0,0]=9"}, {}, "w_u"),
    "one word more": ({"written": WROTE.rsplit(" ", 1)[0]}, {}, None),
    "positions muted": ({"changes": "positions[:]=0;context_positions[:]=0"}, {}, "context_positions"),
    "a word elsewhere": (
        {"sentence": "the small cat sleeps"},
        {"sentence": "the cat and the small cow sleep"},
        "context_embeddings",
    ),
    "the same noun twice": ({"sentence": LONG.replace("cat", "cow")}, {"sentence": LONG}, "context_embeddings"),
}


@pytest.mark.parametrize(("a", "b", "first"), COMPARED.values(), ids=COMPARED)
def test_two_translations_are_matched_word_by_word_in_each_layer(a, b, first):
    one, other = (resolve(scene_of(**parameters)).trace for parameters in (a, b))
    found = pairing(one, other)
    assert (found.first and found.first.name) == first
    for axis in ("query", "key", "query_1", "key_1", "key_3", "context token"):
        places, words_of = found.places[axis], (one.labels[axis], other.labels[axis])
        matched = [place for place in places if place is not None]
        assert len(places) == len(words_of[1])
        assert len({*matched}) == len(matched)
        if len(words_of[0]) == len(words_of[1]):
            assert places == (*range(len(places)),)
        else:  # a word is beside the same one, if there is one left
            one_words, other_words = ([label.partition(" (")[0] for label in labels] for labels in words_of)
            pairs = list(zip(places, other_words, strict=True))
            alike = [place for place, word in pairs if place is not None and one_words[place] == word]
            left = {word for place, word in enumerate(one_words) if place not in alike}
            for place, word in pairs:
                assert place in alike or word not in left


@pytest.mark.parametrize(("parameters", "is_film"), [({}, True), ({"written": ""}, True), ({"changes": MUTED}, False)])
def test_a_training_is_a_film_of_translations(parameters, is_film):
    training = document(resolve(scene_of(**parameters)))["model"]["training"]
    assert training["learning"] is None
    assert len(training["translations"]) == len(training["checkpoints"]) * is_film
    for film in training["translations"][-1:]:
        assert film["words"] == film["right"] == [*WHOLE, "<end>"]
        assert film["rows"] == [
            pytest.approx(row, abs=1e-6) for row in pass_or_reason(scene_of())["attention_3"].value[0]
        ]


def test_a_link_holds_what_is_written():
    assert document(resolve(scene_of(written="")))["link"] == {"sentence": ASKED, "written": ""}
    assert document(resolve(scene_of()))["link"] == {"sentence": ASKED}


@pytest.mark.parametrize(
    ("nth", "parameters"),
    [
        (0, {"written": ""}),
        (1, {"beside": "changes=heads_3[:]%3D0"}),
        (2, {"written": "la vache", "beside": "sentence=the cow sleeps"}),
    ],
)
def test_every_step_has_a_document(nth, parameters):
    first = resolve(scene_of(**parameters))
    for step in steps_of(first.trace)[nth::3]:
        shown = fit_to_pass(replace(first.scene, step=step.id), first.trace, first.other and first.other.trace)
        assert shown.scene.step == step.id
        assert document(shown)["where"]["step"] == step.id


@pytest.mark.parametrize("part", TRANSLATOR_PARTS, ids=[part.event for part in TRANSLATOR_PARTS])
def test_other_numbers_are_asked_for_at_a_part_that_is_muted(part):
    asked = what_if(resolve(replace(scene_of(), changes=part.changes)))
    assert asked["picked"] == part.changes[-1].stage


def test_parts_are_called_as_their_layers_are_and_random_parameters_are_no_way_to_translate():
    resolved = resolve(scene_of())
    titles = resolved.trace.origin.layer_titles
    assert [part.label[: len(title)] for part, title in zip(TRANSLATOR_PARTS, titles, strict=False)] == [*titles]
    assert [part.changes[0].stage for part in TRANSLATOR_PARTS[:-1]] == ["heads_1", "heads_2", "heads_3"]
    assert document(resolved)["door"] is None


@pytest.mark.parametrize(("written", "changes"), [(None, ""), ("la", ""), ("", ""), (None, "w_v_3[0,0,0]=3")])
def test_a_logit_is_the_sum_of_what_the_decoder_writes(written, changes):
    trace = resolve(replace(scene_of(changes=changes), written=written)).trace
    sent, added = writers_data(trace), by_key(trace)
    labels = [writer.label for writer in sent.writers]
    assert labels[0] == f"“{trace.labels['token'][-1]}” as it entered"
    assert [label.partition("“")[2] for label in labels[1:]] == ["French so far”", "French reads English”"]
    assert [len(rows) for rows in added] == [len(trace.labels["key"]), len(trace.labels["key_3"])]
    last = trace["logits"].value[-1]
    entered = trace["x"].value[-1] @ trace["w_u"].value
    assert entered + sum(rows.sum(axis=0) for rows in added) == pytest.approx(last, abs=1e-9)
    for rows, places in zip(added, sent.by_key.places, strict=True):
        assert places == np.abs(rows).argmax(axis=0).tolist()
