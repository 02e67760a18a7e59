"""The page of the model built by hand: a string of one's own, its matrices, and what breaks when they are others."""

import base64
import json
import re

import numpy as np
import plotly.graph_objects as go
import pytest
import streamlit as st
from page import ROOT, opened, quiet, scene_of, texts, warnings

from attnviz.core.changes import Change, format_changes
from attnviz.models import MODELS
from attnviz.models.byhand import MODEL, N_PLACES, waves
from attnviz.models.ideas import IDEAS
from attnviz.models.strings import tried
from attnviz.models.training import passed, stages_for
from attnviz.scene.scene import OWN
from attnviz.ui.sections.blocks import PARTS
from attnviz.ui.sections.heatmap import Chart, Figure, Side
from attnviz.views.palette import NEGATIVE, POSITIVE

PAGE = ROOT / "pages" / "by_hand.py"


def matrix(at, key):
    """The numbers of a heatmap, bit for bit."""
    (chart,) = (each.proto for each in at.get("plotly_chart") if each.proto.id.endswith(f"-{key}"))
    z = json.loads(chart.spec)["data"][0]["z"]
    shape = [int(n) for n in z["shape"].split(",")]
    return np.frombuffer(base64.b64decode(z["bdata"]), z["dtype"]).reshape(shape)


def test_both_layers_and_the_output_are_those_of_the_string_that_is_typed():
    at = opened(PAGE)
    for string in ("a b c a", "dabcd"):
        at.text_input(key="string").set_value(string).run()
        assert quiet(at)
        trace = MODEL.trace(string)
        for layer in (1, 2):
            np.testing.assert_array_equal(matrix(at, f"attention_{layer}"), trace[f"attention_{layer}"].value[0])
        np.testing.assert_array_equal(matrix(at, "output_2"), trace["output_2"].value[-1:])


@pytest.mark.parametrize(
    ("string", "changes", "says"),
    [
        ("abca", "", "The answer is **b**, with a probability of 1 :green[✓]. The output is exactly one 1"),
        (
            "abca",
            "w_k_2[0]=0",
            "The answer is **a**, with a probability of 1 :red[✗] (**b** is right). The out",
        ),
        (
            "ab",
            "",
            "The answer is **^ or a or b**, with a probability of 0.3333 each. The last letter did not",
        ),
    ],
)
def test_the_answer_is_said_with_whether_it_is_right_and_exact(string, changes, says):
    assert any(text.startswith(says) for text in texts(opened(PAGE, model="by-hand", sentence=string, changes=changes)))


@pytest.mark.parametrize("string", ["abx", "", "abcd" * 4])
def test_a_string_that_is_none_gets_help_and_stays_in_the_box_and_the_matrices_stay(string):
    at = opened(PAGE)
    at.text_input(key="string").set_value(string).run()
    assert not at.exception
    (says,) = warnings(at)
    assert any(rule in says for rule in ("This model knows", "at most 15 tokens"))
    assert at.text_input(key="string").value == string
    assert matrix(at, "w_q_1").shape == (16, 6)


@pytest.mark.parametrize("part", PARTS)
def test_every_parameter_is_drawn_as_it_is(part):
    at = opened(PAGE)
    at.segmented_control(key="part").set_value(part).run()
    assert quiet(at)
    for each in PARTS[part]:
        drawn = matrix(at, each.name)
        np.testing.assert_array_equal(drawn, MODEL.arrays[each.name].reshape(drawn.shape))
        assert any(each.purpose in text for text in texts(at))


def test_all_parameters_of_the_model_are_drawn():
    assert {each.name for part in PARTS.values() for each in part} == MODEL.arrays.keys()


@pytest.mark.parametrize("idea", IDEAS, ids=lambda idea: idea.title)
def test_an_idea_changes_the_matrices_and_says_how_many_strings_break(idea):
    at = opened(PAGE)
    at.radio(key="idea").set_value(idea.title).run()
    assert quiet(at)
    assert at.query_params["changes"] == format_changes(idea.changes)
    results = tried(idea.changes)
    right, exact = (sum(getattr(each, kind) for each in results) for kind in ("is_right", "is_exact"))
    (said,) = (text for text in texts(at) if idea.lesson in text)
    if exact == 963:
        assert said.startswith("All **963** strings are answered right, and exactly")
    else:
        breaks = f"**{963 - right} break**" if right < 963 else "none breaks"
        assert said.startswith(f"Of 963 strings **{right}** are answered right, **{exact}** of them exactly; {breaks}.")
    (table,) = (text for text in texts(at) if text.startswith("| letters"))
    rows = [list(map(int, line.strip("| ").split("|"))) for line in table.splitlines()[2:]]
    assert np.sum(rows, axis=0).tolist()[1:] == [963, right, exact]
    if part := next((name for name in ("w_q_1", "w_v_1") if name == idea.changes[0].stage), None):
        own = MODEL.arrays[part][0]
        assert (matrix(at, part) != own).sum() == len(idea.changes)


def captions(at, part):
    """What stands above each parameter of a part of the model."""
    at.segmented_control(key="part").set_value(part).run()
    assert quiet(at)
    said = [text for text in texts(at) if re.match(r"\$(W\^[QKVOU]|E|P)\$ · ", text)]
    return dict(zip((each.name for each in PARTS[part]), said, strict=True))


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
    for part in PARTS:
        for name, said in captions(at, part).items():
            drawn = matrix(at, name)
            is_changed = not np.array_equal(drawn, MODEL.arrays[name].reshape(drawn.shape))
            assert ("**Changed.**" in said) == is_changed
            if name == "w_q_1":
                assert ("turned back by one step" in said) == is_turned_back(drawn)
            for sharpness in re.findall(r"sharpness (?:of )?\**(\d+)", said):
                assert np.unique(drawn).tolist() == [0, float(sharpness)]
                n_sharpnesses += 1
    assert n_sharpnesses == 3


def test_a_caption_of_numbers_of_ones_own_says_that_it_speaks_of_what_was_built():
    at = opened(PAGE, model="by-hand", changes="w_q_1[0,5,0]=0;w_q_1[0,6,1]=0")
    said = captions(at, "Layer 1: which word came before?")
    built = "As it was built: reads the place, **turned back by one step**"
    assert said["w_q_1"].startswith(f"$W^Q$ · **Changed**, 2 numbers. {built}")
    assert "hanged" not in said["w_k_1"]


def test_the_matrices_shown_are_those_that_a_choice_changes():
    at = opened(PAGE)
    for title, part in (
        ("A sharpness of 2 in layer 2", "Layer 2: who comes after this word?"),
        ("A sharpness of 5 in place of 2000, everywhere", "Layer 2: who comes after this word?"),  # changed there too
        ("No rotation in layer 1", "Layer 1: which word came before?"),
        ("Nothing", "Layer 1: which word came before?"),
    ):
        at.radio(key="idea").set_value(title).run()
        assert at.segmented_control(key="part").value == part
    at = opened(PAGE, model="by-hand", changes="w_u[1,1]=0")
    assert at.segmented_control(key="part").value == "The answer"


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
    (chart,) = (each.proto for each in at.get("plotly_chart") if each.proto.id.endswith("-w_o_1"))
    assert json.loads(chart.spec)["data"][1]["text"][0] == written


def test_a_probability_of_nothing_is_said_to_be_0():
    at = opened(PAGE, model="by-hand", changes=format_changes(IDEAS[2].changes))
    assert any(text.endswith("The right one, b, has a probability of 0.") for text in texts(at))


def test_a_number_of_one_string_is_left_out_for_the_others_and_said_so():
    at = opened(PAGE, model="by-hand", changes="scores_1[0,1,0]=3;w_u[1,1]=0")
    assert quiet(at)
    assert "`scores_1[0,1,0]=3` is a number of one string alone: all are tried without it." in texts(at)
    right = sum(each.is_right for each in tried((Change("w_u", (1, 1), 0.0),)))
    assert 0 < right < 963
    assert any(text.startswith(f"Of 963 strings **{right}** are") for text in texts(at))


def test_the_page_leaves_what_the_walkthrough_shows_until_something_is_chosen():
    at = opened(PAGE, sentence="snow falls", seed="7")
    assert at.query_params == {"sentence": "snow falls", "seed": "7"}
    assert scene_of(at).source == OWN


def test_a_door_opens_the_string_with_what_is_changed(monkeypatch):
    pages = []
    monkeypatch.setattr("streamlit.switch_page", pages.append)  # the page is opened without the router
    at = opened(PAGE)
    at.radio(key="idea").set_value(IDEAS[2].title).run()
    at.button(key="string_aba").click().run()
    assert pages == ["pages/walkthrough.py"]
    at.run()
    changes = format_changes(IDEAS[2].changes)
    assert at.query_params == {"model": "by-hand", "sentence": "aba", "changes": changes}


def test_the_page_says_how_like_it_a_trained_model_is():
    choice = MODELS["recall"]
    (says,) = (text for text in texts(opened(PAGE)) if choice.title in text)
    batch = choice.task.held_out()
    for name in choice.task.patterns(_passed(choice.at(0, None), batch), batch):
        shares = [choice.task.patterns(_passed(choice.at(seed, None), batch), batch)[name] for seed in choice.seeds]
        (least,) = re.findall(rf"{name} \*\*(\d+) % or more\*\*", says)
        assert 0.9 < int(least) / 100 <= min(shares) < int(least) / 100 + 0.01


def _passed(model, batch):
    return passed(stages_for(model, batch), model.arrays, batch)


def test_whom_the_last_letter_looks_at_most_is_said_of_each_layer():
    said = texts(opened(PAGE, model="by-hand", sentence="abca"))
    for looks in ("before?** The last “a (2)” looks most at “c”: 1.", "word?** The last “a (2)” looks most at “b”: 1."):
        assert any(text.endswith(looks) for text in said)


def test_a_heatmap_names_each_cell_has_rows_downwards_and_the_colours_of_signs():
    (chart,) = (each.proto for each in opened(PAGE).get("plotly_chart") if each.proto.id.endswith("-w_q_1"))
    spec = json.loads(chart.spec)
    cells, numbers = spec["data"]
    assert [cells["text"][row][0] for row in (0, 4, 5, 11)] == [
        f"{name}, cos 1" for name in ("word ^", "word d", "place cos 1", "previous word ^")
    ]
    assert spec["layout"]["yaxis"]["range"] == [15.5, -0.5]
    first, *_, last = (colour for _, colour in cells["colorscale"])
    for colour, own in ((first, NEGATIVE), (last, POSITIVE)):
        assert colour.startswith(f"rgba({','.join(map(str, own))},")
    assert {"−0.38", "0.38", ""} <= {*numbers["text"]}


def test_what_is_broken_is_marked():
    for changes, mark in (((), ":green[✓] The answer is "), (IDEAS[2].changes, ":red[✗] The answer is ")):
        said = texts(opened(PAGE, model="by-hand", changes=format_changes(changes)))
        assert any(text.startswith(mark) for text in said)


def test_a_chart_is_what_plotly_itself_makes_of_it():
    rows, columns = (
        Side("a <b>", ("x", "y"), {"one": slice(0, 1), "two": slice(1, 2)}),
        Side("", ("1", "1", "long one")),
    )
    for values, is_share in ((np.array([[0, 1e-300, -2.5], [1e6, 3, 0.1]]), False), (np.eye(2, 3), True)):
        sent = Chart.of(values, rows, columns, is_share=is_share).figure.to_dict()
        layout = {name: part for name, part in sent["layout"].items() if name != "template"}
        assert go.Figure(sent["data"], layout).to_dict() == sent
        np.testing.assert_array_equal(go.Figure([go.Heatmap(z=values)]).to_dict()["data"][0]["z"], sent["data"][0]["z"])


def test_streamlit_asks_a_figure_for_its_data_alone():
    """Ours is never made as Plotly makes its own: whatever else it is asked for fails."""
    asked = []

    class Watched(Figure):
        def __getattribute__(self, name):
            asked.append(name)
            return super().__getattribute__(name)

    figure = Watched([{"type": "scatter", "y": [1, 2]}], {"width": 100})
    asked.clear()
    st.plotly_chart(figure, width=100, key="chart")
    assert {name for name in asked if not name.startswith("__")} == {"to_dict", "_sent"}


def test_what_is_drawn_of_the_model_as_it_was_built_stays_so_beside_changes():
    changes = format_changes((Change("w_q_1", (0, 0, 0), 7.0),))
    built, changed, again = (matrix(opened(PAGE, model="by-hand", changes=each), "w_q_1") for each in ("", changes, ""))
    np.testing.assert_array_equal(built, again)
    assert (built[0, 0], changed[0, 0]) == (MODEL.arrays["w_q_1"][0, 0, 0], 7.0)
