"""Colours mean what the vocabulary and the theme say: roles, signs, shares, and which of several things is which."""

import colorsys
import re
import tomllib

import numpy as np
import pytest
from page import ROOT

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.core.selection import Selection
from attnviz.text.vocabulary import VOCABULARY
from attnviz.views import charts, matrices, palette

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
THEMES = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"]
TRACE = trace_of(
    Settings("the cat sat", "le chat noir", n_heads=2, mask="causal", positions="sinusoidal", initialiser="pytorch")
)


def rgb(colour):
    """Red, green, blue and strength of a CSS colour."""
    if colour.startswith("#"):
        return (*(int(colour[i : i + 2], 16) for i in (1, 3, 5)), 1.0)
    return tuple(map(float, re.fullmatch(r"rgba\((.*)\)", colour)[1].split(",")))


def hue(colour):
    return colorsys.rgb_to_hls(*(part / 255 for part in rgb(colour)[:3]))[0]


def luminance(colour):
    """The relative luminance of WCAG 2."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (p / 255 for p in rgb(colour)[:3])]
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


def heatmaps(figure):
    return [trace for trace in figure.data if trace.type == "heatmap" and trace.colorscale != GREY]


GREY = charts.go.Heatmap(colorscale=palette.HIDDEN_SCALE).colorscale


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("role", HUES)
def test_a_role_has_the_hue_of_its_text_in_the_theme(role, theme):
    distances = {
        other: abs((hue(palette.ROLES[role]) - hue(THEMES[theme][f"{HUES[other]}TextColor"]) + 0.5) % 1 - 0.5)
        for other in HUES
    }
    assert min(distances, key=distances.get) == role
    assert distances[role] < 0.05


@pytest.mark.parametrize("name", [stage.name for stage in TRACE.stages])
def test_a_matrix_is_framed_in_the_colour_of_its_role(name):
    drawn = matrices.equation(TRACE, name, Selection())
    for figure in (charts.equation(drawn), charts.overview(drawn)):
        for matrix, heatmap in zip(drawn, heatmaps(figure), strict=True):
            role = ROLE_OF[matrix.stage.replace("context_", "")]
            for axis in ("xaxis", "yaxis"):
                frame = figure.layout[axis + heatmap[axis][1:]]
                assert (frame.showline, frame.mirror, frame.linecolor) == (True, True, palette.ROLES[role])


@pytest.mark.parametrize("name", ROLE_OF)
def test_a_stage_has_the_role_of_what_it_becomes(name):
    assert VOCABULARY[name].role == ROLE_OF[name]


def test_negative_numbers_are_blue_and_positive_ones_red_and_zero_is_the_page():
    drawn = matrices.equation(TRACE, "scores", Selection())
    for matrix, heatmap in zip(drawn, heatmaps(charts.equation(drawn)), strict=True):
        (low, negative), (middle, zero), (high, positive) = heatmap.colorscale
        assert (low, middle, high) == (0, 0.5, 1)
        assert heatmap.zmin == -heatmap.zmax == -np.abs(TRACE[matrix.stage].value).max()
        red, _, blue, strength = rgb(negative)
        assert (blue > 1.5 * red, strength) == (True, 0.9)
        red, _, blue, strength = rgb(positive)
        assert (red > 1.5 * blue, strength) == (True, 0.9)
        assert rgb(zero)[3] == 0


def test_a_share_grows_from_the_page_to_full_colour():
    drawn = heatmaps(charts.equation(matrices.equation(TRACE, "attention", Selection())))[-1]
    coloraxis = charts.heads(TRACE, Selection()).layout.coloraxis
    for scale, ends in ((drawn.colorscale, (drawn.zmin, drawn.zmax)), (coloraxis.colorscale, (0, 1))):
        (low, none), (high, whole) = scale
        assert (low, high, rgb(none)[3], rgb(whole)[3]) == (0, 1, 0, 0.95)
        assert ends == (0, 1)
    assert (coloraxis.cmin, coloraxis.cmax) == (0, 1)


def test_how_numbers_are_coloured_follows_from_what_they_are():
    scales = {stage.name: matrices.scale(stage) for stage in TRACE.stages}
    assert {name for name, scale in scales.items() if scale == "share"} == {"attention"}
    assert {name for name, scale in scales.items() if scale == "flag"} == {"mask"}
    added = attend(np.eye(3), parameters=Parameters(), mask=np.where(np.tri(3, dtype=bool), 0.5, -np.inf))
    assert matrices.scale(added["mask"]) == "signed"


def test_a_hidden_number_is_grey():
    figure = charts.heads(TRACE, Selection())
    grey = [trace for trace in figure.data if trace.colorscale == GREY]
    assert len(grey) == 2
    for (_, colour), hidden in zip(GREY * 2, grey * 2, strict=True):
        red, green, blue, _ = rgb(colour)
        assert max(red, green, blue) - min(red, green, blue) < 25
        assert np.array_equal(np.isfinite(hidden.z), ~TRACE["mask"].value)


def test_the_picked_key_s_bars_are_the_strongest():
    trace = trace_of(Settings("the cat sat on"))
    for key in range(4):
        for bars in charts.shares(trace, trace.terms("attention", (1, 2, key))).data:
            strengths = [rgb(colour)[3] for colour in bars.marker.color]
            assert np.argmax(strengths) == key
            assert sorted(strengths)[-2] < 0.5 * max(strengths)


def placed(figure):
    """The titles of a figure's panels from left to right and top to bottom, with the middle of the panel under each."""
    return [
        (note.text.replace("<br>", " "), note.x, note.y)
        for note in sorted(figure.layout.annotations, key=lambda note: (-round(note.y, 6), note.x))
    ]


def middles(figure):
    """The middle and the upper end of each chart, in the order of their traces."""
    panels = dict.fromkeys((trace.xaxis[1:], trace.yaxis[1:]) for trace in figure.data)
    return [(sum(figure.layout[f"xaxis{x}"].domain) / 2, figure.layout[f"yaxis{y}"].domain[1]) for x, y in panels]


@pytest.mark.parametrize("n_heads", [2, 4, 8])
def test_heads_stand_in_their_order_each_under_its_title(n_heads):
    trace = trace_of(Settings("the cat sat", n_heads=n_heads))
    figure = charts.heads(trace, Selection())
    assert [title for title, *_ in placed(figure)] == [f"head {head}" for head in range(1, n_heads + 1)]
    np.testing.assert_allclose([at for _, *at in placed(figure)], middles(figure))
    for head, drawn in enumerate(heatmaps(figure)):
        assert np.array_equal(drawn.z, trace["attention"].value[head])


def test_the_softmax_is_drawn_as_scores_exponentials_and_shares_in_this_order():
    trace = trace_of(Settings("the cat sat"))
    figure = charts.shares(trace, trace.terms("attention", (0, 1, 0)))
    assert [title for title, *_ in placed(figure)] == ["score", "exp(score − max)", "share"]
    np.testing.assert_allclose([at for _, *at in placed(figure)], middles(figure))
    row = trace["masked"].value[0, 1]
    exponentials = np.exp(row - row.max())
    for bars, values in zip(figure.data, (row, exponentials, exponentials / exponentials.sum()), strict=True):
        np.testing.assert_allclose(bars.y, values, rtol=1e-13)
        assert list(bars.x) == [1, 2, 3]
    written = [f"{value:.2f}".replace("-", "−") for value in row]
    assert list(figure.data[0].text) == written


def test_an_equation_reads_from_left_to_right():
    drawn = matrices.equation(TRACE, "heads", Selection())
    assert [matrix.stage for matrix in drawn] == ["attention", "v", "heads"]
    figure = charts.equation(drawn)
    middle = [x for x, _ in middles(figure)]
    assert middle == sorted(middle)
    assert [title.split(",")[0] for title, *_ in placed(figure)] == ["Attention", "× Values", "= Head outputs"]


@pytest.mark.parametrize("n_heads", [2, 8, 16])
def test_heads_add_their_bars_in_their_order_each_in_its_colour(n_heads):
    trace = trace_of(Settings("the cat sat", d_model=16, n_heads=n_heads))
    *bars, _ = charts.contributions(trace, Selection(query=1)).data
    heads = [bar for bar in bars if bar.name.startswith("head ")]
    assert [bar.marker.color for bar in heads] == list(palette.HEADS[: len(heads)])
    numbers = [int(bar.name.removeprefix("head ")) for bar in heads]
    assert numbers == sorted(numbers)
