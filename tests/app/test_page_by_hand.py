"""The page of the model built by hand: a string of one's own, its matrices, and what breaks when they are others."""

import re

import numpy as np
import pytest
from page import ROOT, article, components, opened, quiet, scene_of, sends, texts, warnings, worded

from attnviz.articles.byhand import PARTS
from attnviz.core.changes import Change, format_changes
from attnviz.explain.styled_text import runs
from attnviz.models import MODELS
from attnviz.models.induction_byhand import IDEAS, MODEL, N_PLACES, outcomes, waves
from attnviz.models.training import forward_batch, stages_for
from attnviz.scene.scene import RANDOM

PAGE = ROOT / "pages" / "by_hand.py"
PARAMETERS = [each.name for matrices in PARTS.values() for each in matrices]


CAPTIONS = {
    "attention_1": "The attention of layer 1",
    "attention_2": "The attention of layer 2",
    "output_2": "The output of the last letter",
}


def drawn(at, key):
    """A matrix as it is drawn: of the string by its caption, a parameter by its place."""
    if key in CAPTIONS:
        (piece,) = (each for each in article(at, "pictures")["matrix"] if each["caption"] == CAPTIONS[key])
        return piece
    return parameters(at)[key][1]


def matrix(at, key):
    return np.array(drawn(at, key)["values"])


def parameters(at):
    """What stands above each parameter, and its matrix, in whichever part it is."""
    (parts,) = (each for each in components(at)["pictures"]["pieces"] if each["kind"] == "choice")
    found = {}
    for option in parts["options"]:
        (beside,) = option["pieces"]
        names = (each.name for each in PARTS[option["value"]])
        found |= dict(zip(names, beside["columns"], strict=True))
    return found


def captions(at):
    return {name: worded(text) for name, (text, _) in parameters(at).items()}


def part(at):
    return article(at, "pictures")["choice"][0]["value"]


def said(at):
    """All that the page says."""
    shown = article(at, "pictures")
    return [*texts(at), *map(worded, [*shown.get("text", ()), *shown["door"]])]


def test_both_layers_and_the_output_are_those_of_the_string_that_is_typed():
    at = opened(PAGE)
    for string in ("a b c a", "dabcd"):
        at.text_input(key="string").set_value(string).run()
        assert quiet(at)
        trace = MODEL.trace(string)
        for layer in (1, 2):
            np.testing.assert_array_equal(matrix(at, f"attention_{layer}"), trace[f"attention_{layer}"].value[0])
        np.testing.assert_array_equal(matrix(at, "output_2"), trace["output_2"].value[-1:])


ANSWERS = [
    ("abca", "", "The answer is b, with a probability of 1 ✓. The output is exactly one 1"),
    ("abca", "w_k_2[0]=0", "The answer is a, with a probability of 1 ✗ (b is right). The out"),
    ("ab", "", "The answer is ^ or a or b, with a probability of 0.3333 each. The last letter did not"),
]


@pytest.mark.parametrize(("string", "changes", "says"), ANSWERS)
def test_the_answer_is_given_with_whether_it_is_right_and_exact(string, changes, says):
    assert any(text.startswith(says) for text in said(opened(PAGE, model="by-hand", sentence=string, changes=changes)))


@pytest.mark.parametrize("string", ["abx", "", "abcd" * 4])
def test_a_string_that_is_none_gets_help_and_stays_in_the_box_and_the_matrices_stay(string):
    at = opened(PAGE)
    at.text_input(key="string").set_value(string).run()
    assert not at.exception
    (says,) = warnings(at)
    assert any(rule in says for rule in ("This model knows", "at most 15 tokens"))
    assert at.text_input(key="string").value == string
    assert matrix(at, "w_q_1").shape == (16, 6)


def test_every_parameter_is_drawn_with_its_purpose():
    at = opened(PAGE)
    for each in (each for matrices in PARTS.values() for each in matrices):
        shown = matrix(at, each.name)
        np.testing.assert_array_equal(shown, MODEL.arrays[each.name].reshape(shown.shape))
        assert captions(at)[each.name] == f"{each.symbol} · {worded({'runs': runs(each.purpose)})}"
        assert shown.shape == tuple(len(side.labels) for side in (each.rows, each.columns))
    assert {*PARAMETERS} == MODEL.arrays.keys()


@pytest.mark.parametrize("idea", IDEAS, ids=lambda idea: idea.title)
def test_an_idea_changes_the_matrices_and_says_how_many_strings_break(idea):
    at = opened(PAGE)
    at.radio(key="idea").set_value(idea.title).run()
    assert quiet(at)
    assert at.query_params["changes"] == format_changes(idea.changes)
    results = outcomes(idea.changes)
    right, exact = (sum(getattr(each, kind) for each in results) for kind in ("is_right", "is_exact"))
    (says,) = (text for text in texts(at) if idea.summary in text)
    if exact == 963:
        assert says.startswith("All **963** strings are answered right, and exactly")
    else:
        breaks = f"**{963 - right} break**" if right < 963 else "none breaks"
        assert says.startswith(f"Of 963 strings **{right}** are answered right, **{exact}** of them exactly; {breaks}.")
    (table,) = article(at, "pictures")["table"]
    rows = [list(map(int, row)) for row in table["rows"]]
    assert np.sum(rows, axis=0).tolist()[1:] == [963, right, exact]
    n_changed = sum((matrix(at, name) != MODEL.arrays[name]).sum() for name in PARAMETERS)
    assert n_changed == len(idea.changes)


def is_turned_back(w):
    """Whether what is asked for of each place are the waves of the place before, of those that are read at all."""
    asked, before = waves(np.arange(1, N_PLACES)) @ w[5:11], waves(np.arange(N_PLACES - 1))
    is_read = w[5:11].any(axis=0)
    return bool(is_read.any()) and np.allclose(asked[:, is_read], before[:, is_read], atol=1e-12)


@pytest.mark.parametrize("idea", IDEAS, ids=lambda idea: idea.title)
def test_a_caption_claims_no_rotation_and_no_sharpness_that_is_not_there(idea):
    assert idea.purposes.keys() == {change.stage for change in idea.changes}
    at = opened(PAGE, model="by-hand", sentence="abca", changes=format_changes(idea.changes))
    n_sharpnesses = 0
    for name, says in captions(at).items():
        shown = matrix(at, name)
        is_changed = not np.array_equal(shown, MODEL.arrays[name].reshape(shown.shape))
        assert ("Changed." in says) == is_changed
        if name == "w_q_1":
            assert ("turned back by one step" in says) == is_turned_back(shown)
        for sharpness in re.findall(r"sharpness (?:of )?(\d+)", says):
            assert np.unique(shown).tolist() == [0, float(sharpness)]
            n_sharpnesses += 1
    assert n_sharpnesses == 3


def test_a_caption_of_numbers_of_ones_own_says_that_it_speaks_of_what_was_built():
    at = opened(PAGE, model="by-hand", changes="w_q_1[0,5,0]=0;w_q_1[0,6,1]=0")
    built = "As it was built: reads the position, turned back by one step"
    assert captions(at)["w_q_1"].startswith(f"W^Q · Changed, 2 numbers. {built}")
    assert "hanged" not in captions(at)["w_k_1"]


def test_the_matrices_shown_are_those_that_a_choice_changes():
    at = opened(PAGE)
    for title, shown in (
        ("A sharpness of 2 in layer 2", "Layer 2: who comes after this word?"),
        ("A sharpness of 5 instead of 2000, everywhere", "Layer 2: who comes after this word?"),  # changed there too
        ("No rotation in layer 1", "Layer 1: which word came before?"),
        ("Nothing", "Layer 1: which word came before?"),
    ):
        at.radio(key="idea").set_value(title).run()
        assert part(at) == shown
    at = opened(PAGE, model="by-hand", changes="w_u[1,1]=0")
    assert part(at) == "The answer"
    for chosen in PARTS:
        sends(at, "pictures", "chosen", {"part": chosen})
        assert part(at) == chosen
    for message in (None, 3, "What enters", [], {}, {"part": []}, {"part": "Layer 3"}):
        sends(at, "pictures", "chosen", message)
        assert (quiet(at), part(at)) == (True, chosen)


def test_one_number_of_ones_choice_is_set_as_the_boxes_say():
    at = opened(PAGE)
    at.radio(key="idea").set_value("One number of your choice").run()
    at.selectbox(key="matrix").set_value("w_u").run()
    at.selectbox(key="row").set_value(15).run()
    at.selectbox(key="matrix").set_value("w_o_1").run()  # which has 5 rows
    at.number_input(key="number").set_value(-2.5).run()
    assert quiet(at)
    assert at.query_params["changes"] == "w_o_1[4,1]=-2.5"
    assert matrix(at, "w_o_1")[4, 1] == -2.5


@pytest.mark.parametrize(
    ("number", "written"), [("0", ""), ("-2", "−2"), ("0.125", "0.12"), ("10000", "10000"), ("-1e300", "−1e300")]
)
def test_a_number_is_written_so_that_it_fits_into_its_cell(number, written):
    at = opened(PAGE, model="by-hand", changes=f"w_o_1[0,0]={number}")
    assert drawn(at, "w_o_1")["texts"][0][0] == written


def test_a_number_of_one_string_is_left_out_for_the_others_and_said_so():
    at = opened(PAGE, model="by-hand", changes="scores_1[0,1,0]=3;w_u[1,1]=0")
    assert quiet(at)
    assert "`scores_1[0,1,0]=3` belongs to one string alone; all strings are tried without it." in texts(at)
    right = sum(each.is_right for each in outcomes((Change("w_u", (1, 1), 0.0),)))
    assert 0 < right < 963
    assert any(text.startswith(f"Of 963 strings **{right}** are") for text in texts(at))


def test_the_page_leaves_what_the_walkthrough_shows_until_something_is_chosen():
    at = opened(PAGE, sentence="snow falls", seed="7")
    assert at.query_params == {"sentence": "snow falls", "seed": "7"}
    assert scene_of(at).source == RANDOM


def test_a_door_opens_the_string_with_what_is_changed(monkeypatch):
    pages = []
    monkeypatch.setattr("streamlit.switch_page", pages.append)  # the page is opened without the router
    at = opened(PAGE)
    at.radio(key="idea").set_value(IDEAS[2].title).run()
    sends(at, "pictures", "opened", "aba")
    assert pages == ["pages/walkthrough.py"]
    at.run()
    changes = format_changes(IDEAS[2].changes)
    assert at.query_params == {"model": "by-hand", "sentence": "aba", "view": "sheet", "changes": changes}


def test_the_page_says_how_like_it_a_trained_model_is():
    choice = MODELS["recall"]
    (says,) = (text for text in said(opened(PAGE)) if f"“{choice.title}”" in text)
    batch = choice.task.held_out()
    for name in choice.task.patterns(_passed(choice.at(0, None), batch), batch):
        shares = [choice.task.patterns(_passed(choice.at(seed, None), batch), batch)[name] for seed in choice.seeds]
        (least,) = re.findall(rf"{name} (\d+) % or more", says)
        assert 0.9 < int(least) / 100 <= min(shares) < int(least) / 100 + 0.01


def _passed(model, batch):
    return forward_batch(stages_for(model, batch), model.arrays, batch)


def test_whom_the_last_letter_looks_at_most_is_said_of_each_layer():
    shown = said(opened(PAGE, model="by-hand", sentence="abca"))
    for looks in ("before? The last “a (2)” looks most at “c”: 1.", "word? The last “a (2)” looks most at “b”: 1."):
        assert any(text.endswith(looks) for text in shown)
