"""Colours mean what the vocabulary and the theme say: roles, signs, shares, and which of several things is which."""

import tomllib

import numpy as np
import pytest
from documents import document_of
from page import ROOT

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.explain.pictures import NEGATIVE, POSITIVE, SHARE, limits
from attnviz.explain.steps import steps_of
from attnviz.models import MODELS

HUES = {"q": "blue", "k": "orange", "v": "green", "output": "violet"}
"""The theme's name for each role's colour."""

ROLES = {
    "q": ("w_q", "b_q", "q"),
    "k": ("w_k", "b_k", "k"),
    "v": ("w_v", "b_v", "v", "heads", "concat"),
    "output": ("w_o", "b_o", "contributions", "output"),
    "": ("embeddings", "positions", "x", "context", "scores", "scaled", "mask", "masked", "attention"),
}
ROLE_OF = {stage: role for role, stages in ROLES.items() for stage in stages}
THEME = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"]
THEMES = {name: THEME[name] for name in ("light", "dark")}
TRACE = trace_of(
    Settings("the cat sat", "le chat noir", n_heads=2, mask="causal", positions="sinusoidal", initialiser="pytorch")
)


def rgb(colour):
    """Red, green and blue of a CSS colour."""
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def luminance(colour):
    """The relative luminance of WCAG 2."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (part / 255 for part in rgb(colour))]
    return np.dot(linear, (0.2126, 0.7152, 0.0722))


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_of_every_colour_can_be_read_on_its_page_and_on_a_button(theme):
    colours = THEMES[theme]
    pages = [colours["backgroundColor"], colours["secondaryBackgroundColor"]]
    for name in ("textColor", "linkColor", *(f"{hue}TextColor" for hue in HUES.values())):
        assert min(contrast(colours[name], page) for page in pages) >= 4.5, name
    assert contrast("#ffffff", colours["primaryColor"]) >= 4.5  # the text of a button, which Streamlit writes in white
    assert min(contrast(colours["primaryColor"], page) for page in pages) >= 3  # frames and marks, by WCAG 1.4.11


def test_negative_numbers_are_blue_positive_ones_orange_and_shares_violet():
    red, green, blue = NEGATIVE
    assert blue > green > red
    red, green, blue = POSITIVE
    assert red > green > blue
    red, green, blue = SHARE
    assert min(red, blue) > green


def test_how_numbers_are_coloured_follows_from_what_they_are():
    scales = scales_of(TRACE)
    assert {name for name, scale in scales.items() if scale == "share"} == {"attention"}
    assert {name for name, scale in scales.items() if scale == "flag"} == {"mask"}
    added = attend(np.eye(3), parameters=Parameters(), mask=np.where(np.tri(3, dtype=bool), 0.5, -np.inf))
    assert scales_of(added)["mask"] == "signed"


def test_a_stage_is_sent_with_its_role():
    for name, stage in written(TRACE).items():
        assert stage["role"] == ROLE_OF.get(name.removeprefix("context_"), ""), name


def scales_of(trace):
    return {name: stage["scale"] for name, stage in written(trace).items()}


def written(trace):
    return document_of(trace)["stages"]


def test_each_matrix_built_by_hand_has_a_scale_of_its_own_and_learnt_ones_side_by_side_share_one():
    built, learnt = (model.at(0).trace(model.examples[0][1]) for model in (MODELS["by-hand"], MODELS["recall"]))
    own, shared = (limits(trace, steps_of(trace)) for trace in (built, learnt))
    names = ("w_q_1", "w_k_1", "w_v_1")
    assert [own[name] for name in names] == [np.abs(built[name].value).max() for name in names]
    assert {shared[name] for name in names} == {max(np.abs(learnt[name].value).max() for name in names)}


def test_what_enters_a_layer_keeps_its_own_scale():
    model = MODELS["recall"]
    trace = model.at(0).trace(model.examples[0][1])
    found = limits(trace, steps_of(trace))
    assert found["x"] == found["embeddings"] < found["residual_1"] < found["residual_2"]
    assert found["residual_1"] == found["output_1"]
