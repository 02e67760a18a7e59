"""Figures: what is drawn are the core's numbers, at their own words; nothing that is typed is read as markup."""

import html
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.analysis.differences import difference
from attnviz.core.selection import Selection
from attnviz.text.steps import steps_of
from attnviz.views import charts, matrices, palette, panels

SENTENCE = "the cat sat on the mat, and the dog & the bird ran"
LONG = " ".join(f"w{i}" for i in range(40))
HOSTILE = "<b>x</b>"


def trace_with(sentence=SENTENCE, **settings):
    return trace_of(Settings(sentence, **{"d_model": 16, "n_heads": 4} | settings))


def heatmaps(figure):
    """The heatmaps of a figure that hold numbers, in order; and the grey ones."""
    traces = [trace for trace in figure.data if trace.type == "heatmap"]
    grey = [trace for trace in traces if trace.colorscale and trace.colorscale[0][1] == palette.HIDDEN_SCALE[0][1]]
    return [trace for trace in traces if trace not in grey], grey


def axes(figure, trace):
    return figure.layout[trace.xaxis.replace("x", "xaxis")], figure.layout[trace.yaxis.replace("y", "yaxis")]


def spoken(figure, trace, row, column):
    """What the hover says of a cell, as Plotly puts it together."""
    x, y = axes(figure, trace)

    def tick(axis, place):
        return dict(zip(axis.tickvals, axis.ticktext, strict=True)).get(place, str(place))

    said = {"x": tick(x, trace.x0 + column), "y": tick(y, trace.y0 + row), "z:.6f": f"{trace.z[row][column]:.6f}"}
    if trace.text is not None:
        said["text"] = trace.text[row][column]
    if trace.customdata is not None:
        said["customdata"] = trace.customdata[row][column]
    filled = re.sub(r"%{(.*?)}", lambda match: said[match[1]], trace.hovertemplate)
    return plain(filled.replace("<extra></extra>", "").replace("<br>", " | "))


def plain(text):
    """A text as a person sees it on a chart."""
    return html.unescape(text).replace(panels.WORD_JOINER, "")


def ticks(axis):
    return [plain(text) for text in axis.ticktext]


def boxes(figure, trace):
    """The rows and columns, counted from 0, that the outlines on a heatmap begin and end at."""
    return [
        tuple(int(shape[end] - 0.5) for end in ("y0", "y1", "x0", "x1"))
        for shape in figure.layout.shapes
        if (shape.xref, shape.yref) == (trace.xaxis, trace.yaxis)
    ]


def titles(figure):
    return [note.text.replace("<br>", " ").replace("\u00a0", " ") for note in figure.layout.annotations]


def test_each_head_s_attention_is_drawn_queries_down_and_keys_across():
    trace = trace_of(Settings("one two three", context="a b c d e", d_model=16, n_heads=4))
    figure = charts.heads(trace, Selection())
    drawn, grey = heatmaps(figure)
    assert not grey
    for head, heatmap in enumerate(drawn):
        assert np.array_equal(heatmap.z, trace["attention"].value[head])
        x, y = axes(figure, heatmap)
        assert (x.range, y.range) == ((0.5, 5.5), (3.5, 0.5))
        assert (ticks(x), ticks(y)) == ([*"abcde"], ["one", "two", "three"])
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (0, 1)
    assert titles(figure) == [f"head {head}" for head in range(1, 5)]


@pytest.mark.parametrize(("head", "first"), [(0, 0), (3, 0), (12, 8), (31, 24)])
def test_of_many_heads_those_around_the_focus_are_drawn(head, first):
    trace = trace_with(d_model=32, n_heads=32)
    figure = charts.heads(trace, Selection(head, 3, 2))
    drawn, _ = heatmaps(figure)
    assert titles(figure) == [f"head {each + 1} of 32" for each in range(first, first + 8)]
    for each, heatmap in enumerate(drawn, start=first):
        assert np.array_equal(heatmap.z, trace["attention"].value[each])
        assert boxes(figure, heatmap) == ([(3, 4, 2, 3)] if each == head else [])


@pytest.mark.parametrize("n_heads", [1, 2, 3, 5, 7, 8])
def test_keys_are_written_under_each_column_and_queries_beside_each_row(n_heads):
    figure = charts.heads(
        trace_with(d_model=n_heads, n_heads=n_heads) if n_heads > 1 else trace_with(n_heads=1), Selection()
    )
    drawn, _ = heatmaps(figure)
    placed = [axes(figure, each) for each in drawn]
    for x, y in placed:
        below = [y2 for x2, y2 in placed if x2.domain == x.domain and y2.domain[1] < y.domain[0]]
        beside = [x2 for x2, y2 in placed if y2.domain == y.domain and x2.domain[1] < x.domain[0]]
        assert (x.showticklabels, y.showticklabels) == (not below, not beside)


def test_hidden_keys_are_grey_and_say_so():
    trace = trace_with(mask="causal")
    figure = charts.heads(trace, Selection())
    drawn, grey = heatmaps(figure)
    assert len(drawn) == len(grey) == 4
    for head, (heatmap, hidden) in enumerate(zip(drawn, grey, strict=True)):
        assert np.array_equal(heatmap.z, trace["attention"].value[head])
        assert np.array_equal(np.isfinite(hidden.z), np.isneginf(trace["masked"].value[head]))
    assert spoken(figure, grey[0], 1, 2) == "query cat, key sat | 0: hidden"
    figure = charts.equation(matrices.equation(trace, "masked", Selection()))
    (*_, masked), (hidden,) = heatmaps(figure)
    seen = np.isfinite(trace["masked"].value[0])
    assert np.array_equal(masked.z, np.where(seen, trace["masked"].value[0], np.nan), equal_nan=True)
    assert np.array_equal(np.isnan(hidden.z), seen)
    assert spoken(figure, hidden, 1, 2) == "query cat, key sat | -inf"


def test_what_came_into_sight_is_marked_with_its_own_sign():
    before, after = trace_with(mask="causal"), trace_with()
    made = before.with_values({"masked": difference(before, after, "masked")})
    drawn = replace(matrices.matrix(made, "masked", Selection()), gap="±∞")
    figure = charts.overview([drawn])
    (heatmap,), (hidden,) = heatmaps(figure)
    assert np.array_equal(np.isfinite(hidden.z), np.isinf(drawn.values))
    assert spoken(figure, hidden, 0, 1) == "query the, key cat | ±∞"
    assert not np.isfinite(heatmap.z[0][1])


def test_words_are_ticks_in_order_apart_and_inert():
    trace = trace_with("the the the").labelled(query=(HOSTILE, "the", "the (2)"), key=("1", "%{y}", "a" * 20))
    figure = charts.heads(trace, Selection())
    drawn, _ = heatmaps(figure)
    x, y = axes(figure, drawn[0])
    assert (ticks(x), ticks(y)) == (["1", "%{y}", "a" * 13 + "…"], [HOSTILE, "the", "the (2)"])
    assert not any("<" in text for text in y.ticktext)
    assert list(x.tickvals) == list(y.tickvals) == [1, 2, 3]


def test_no_word_is_part_of_a_template_and_none_is_read_as_markup():
    trace = trace_with(LONG, mask="causal")
    hostile = trace.labelled(**dict.fromkeys(("token", "query", "key"), (HOSTILE,) * 40))
    drawn = [
        charts.heads(hostile, Selection()),
        charts.shares(hostile, hostile.terms("attention", (0, 30, 2))),
        charts.overview([matrices.matrix(hostile, "masked", Selection())]),
        *(charts.equation(matrices.equation(hostile, name, Selection())) for name in ("q", "scores", "masked")),
    ]
    for figure in drawn:
        sent = str(json.loads(figure.to_json()))
        assert html.escape(HOSTILE) in sent
        assert HOSTILE not in sent
        assert not [trace for trace in figure.data if "x&lt;" in trace.hovertemplate or "<b>" in trace.hovertemplate]


@pytest.mark.parametrize("name", ["q", "scores", "masked", "attention", "heads", "concat", "output"])
@pytest.mark.parametrize("draw", [charts.equation, charts.overview])
def test_the_hover_names_every_place_where_ticks_are_thinned_too(name, draw):
    trace = trace_with(LONG, d_model=128, n_heads=2, mask="causal")
    equation = matrices.equation(trace, name, Selection(head=1))
    figure = draw(equation)
    drawn, grey = heatmaps(figure)
    for matrix, heatmap in zip(equation, drawn, strict=True):
        rows = matrix.row_labels
        columns = [str(place + 1) for place in range(128)] if "band" in matrix.place else matrix.column_labels
        for row, column in ((0, 0), (len(rows) - 1, len(columns) - 1), (17 % len(rows), 23)):
            counted = f"{matrix.row_axis} {rows[row]}, {matrix.column_axis} {columns[column]} | ".replace("*", "·")
            mine = [hidden for hidden in grey if hidden.xaxis == heatmap.xaxis]
            heard = heatmap if np.isfinite(matrix.values[row, column]) else mine[0]
            assert spoken(figure, heard, row, column).startswith(counted)


def test_a_heatmap_s_numbers_are_rows_and_columns_of_its_matrix():
    trace = trace_with(mask="causal")
    for name in ("q", "scores", "masked", "attention", "heads", "concat", "output"):
        equation = matrices.equation(trace, name, Selection(2, 5, 3, 1, 7))
        for draw in (charts.equation, charts.overview):
            figure = draw(equation)
            drawn, _ = heatmaps(figure)
            for matrix, heatmap in zip(equation, drawn, strict=True):
                finite = np.where(np.isfinite(matrix.values), matrix.values, np.nan)
                assert np.array_equal(heatmap.z, finite, equal_nan=True)
                x, y = axes(figure, heatmap)
                n_rows, n_columns = matrix.values.shape
                assert (x.range, y.range) == ((0.5, n_columns + 0.5), (n_rows + 0.5, 0.5))
                ends = (-matrix.limit, matrix.limit) if matrix.scale == "signed" else (0, 1)
                assert (heatmap.zmin, heatmap.zmax) == ends


@pytest.mark.parametrize("n_heads", [1, 2, 8, 16, 32])
@pytest.mark.parametrize("d_model", [2, 17, 32, 128])
def test_every_step_can_be_drawn(d_model, n_heads):
    if d_model % n_heads:
        n_heads = 1
    trace = trace_with(d_model=d_model, n_heads=n_heads, mask="window", positions="sinusoidal")
    selection = Selection(head=n_heads - 1).within(trace)
    for step in steps_of(trace):
        for name in (name for name in step.stages if name in trace):
            equation = matrices.equation(trace, name, selection)
            assert len(heatmaps(charts.equation(equation))[0]) == len(equation)
    rows = matrices.rows_of(trace, selection)
    assert len(heatmaps(charts.overview([each for row in rows for each in row]))[0]) == sum(map(len, rows))


def test_what_the_cell_in_focus_is_made_from_is_outlined():
    trace = trace_with(mask="causal")
    selection = Selection(head=2, query=5, key=3, feature=1, dimension=7)

    def outlined(name):
        figure = charts.equation(matrices.equation(trace, name, selection))
        return [boxes(figure, heatmap) for heatmap in heatmaps(figure)[0]]

    n = len(trace.labels["query"])
    cell = [(5, 6, 3, 4)]
    assert outlined("q") == [[(5, 6, 0, 16)], [(0, 16, 8, 12), (0, 16, 9, 10)], [(5, 6, 1, 2)]]
    assert outlined("scores") == [[(5, 6, 0, 4)], [(0, 4, 3, 4)], cell]
    assert outlined("masked") == [cell] * 3
    assert outlined("attention") == [[(5, 6, 0, n)], cell]
    assert outlined("heads") == [[(5, 6, 0, n)], [(0, n, 1, 2)], [(5, 6, 1, 2)]]
    assert outlined("concat") == [[], [], [(5, 6, 1, 2)], [], [(5, 6, 9, 10)]]
    assert outlined("output") == [[(5, 6, 0, 16)], [(0, 16, 7, 8)], [(5, 6, 7, 8)]]


def test_nothing_is_outlined_where_nothing_is_selected():
    equation = matrices.equation(trace_with(), "scores", Selection())
    for draw in (charts.equation, charts.overview):
        assert not draw([replace(matrix, selected=None) for matrix in equation]).layout.shapes


def test_titles_tell_sign_head_shape_and_the_reach_of_the_colours():
    trace = trace_with("the cat sat", d_model=8, n_heads=2)
    equation = matrices.equation(trace, "scores", Selection(1))
    reach = [f"±{matrix.limit:.3g}" for matrix in equation]
    assert titles(charts.equation(equation)) == [
        f"Queries, head 2 3 × 4 colours: {reach[0]}",
        f"× Keys, head 2, transposed 4 × 3 colours: {reach[1]}",
        f"= Scores, head 2 3 × 3 colours: {reach[2]}",
    ]
    shares = titles(charts.equation(matrices.equation(trace, "attention", Selection(1))))[-1]
    assert shares == "= Attention, head 2 3 × 3 colours: 0 to 1"


def test_the_bars_of_the_softmax_are_its_terms():
    trace = trace_with()
    terms = trace.terms("attention", (1, 5, 3))
    score, exponential, share = charts.shares(trace, terms).data
    assert np.array_equal(score.y, trace["masked"].value[1, 5])
    assert np.array_equal(exponential.y, terms.exponentials)
    assert np.allclose(share.y, trace["attention"].value[1, 5], rtol=1e-13, atol=0)
    for bars in (score, exponential, share):
        assert [plain(word) for word, _ in bars.customdata] == list(trace.labels["key"])
        assert len(set(bars.marker.color)) == 2
        assert bars.marker.color.count(bars.marker.color[3]) == 1


def test_a_hidden_score_is_written_as_minus_infinity():
    trace = trace_with("the cat sat on", mask="causal")
    score, exponential, _ = charts.shares(trace, trace.terms("attention", (0, 1, 0))).data
    assert list(score.y[2:]) == list(exponential.y[2:]) == [0, 0]
    assert list(score.text[2:]) == ["−∞", "−∞"]
    assert [said for _, said in score.customdata[2:]] == ["−∞", "−∞"]
    assert "−∞" not in score.text[:2]


@pytest.mark.filterwarnings("error")
def test_bars_of_scores_at_the_ends_of_float64_are_in_proportion_and_their_labels_short():
    trace = trace_with("the cat sat on").with_change("masked", (0, 1, 0), 1.7e308)
    trace = trace.with_change("masked", (0, 1, 1), -1.7e308)
    figure = charts.shares(trace, trace.terms("attention", (0, 1, 0)))
    score = figure.data[0]
    assert score.y[0] == -score.y[1] > 0
    assert np.allclose(score.y / score.y[0], trace["masked"].value[0, 1] / 1.7e308)
    low, high = json.loads(figure.to_json())["layout"]["yaxis"]["range"]
    assert low < score.y[1]
    assert score.y[0] < high
    assert np.isfinite(high - low)
    assert list(score.text[:2]) == ["1.70e308", "−1.70e308"]
    assert [said for _, said in score.customdata[:2]] == ["1.70e308", "−1.70e308"]


@pytest.mark.parametrize(("n_heads", "n_bars"), [(1, 1), (4, 4), (8, 8), (16, 8), (64, 8)])
def test_what_the_heads_add_adds_up_to_the_output(n_heads, n_bars):
    trace = trace_with(d_model=64, n_heads=n_heads)
    figure = charts.contributions(trace, Selection(query=3, dimension=9))
    *bars, marks = figure.data
    parts = trace["contributions"].value[:, 3]
    assert len(bars) == n_bars
    for bar in bars[: n_bars - (n_heads > 8)]:
        assert np.array_equal(bar.y, parts[int(bar.name.removeprefix("head ")) - 1])
    assert np.array_equal(marks.y, trace["output"].value[3])
    assert np.allclose(sum(bar.y for bar in bars), marks.y, rtol=0, atol=1e-12)
    assert len({bar.marker.color for bar in bars}) == n_bars
    (chosen,) = figure.layout.shapes
    assert (chosen.x0, chosen.x1, chosen.yref) == (9.5, 10.5, "y domain")


def test_of_many_heads_the_seven_longest_are_told_apart():
    trace = trace_with(d_model=32, n_heads=16)
    *bars, others, _ = charts.contributions(trace, Selection(query=3)).data
    lengths = np.linalg.norm(trace["contributions"].value[:, 3], axis=-1)
    assert {bar.name for bar in bars} == {f"head {head + 1}" for head in np.argsort(lengths)[-7:]}
    assert others.name == "the other 9 heads"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e200, 4e307])
def test_the_longest_are_told_apart_where_their_squares_or_lengths_overflow(size):
    values = np.random.default_rng(0).permutation(np.linspace(0.5, 1, 16))
    signs = np.resize([1.0, -1.0], (16, 1))  # keep the output within float64
    parameters = Parameters(w_v=values.reshape(16, 1, 1), w_o=np.tile(size * signs, 64))
    trace = attend(np.ones((2, 1)), parameters=parameters)
    *bars, _, _ = charts.contributions(trace, Selection().within(trace)).data
    assert {bar.name for bar in bars} == {f"head {head + 1}" for head in np.argsort(values)[-7:]}


def test_a_bias_of_the_output_is_one_of_the_bars():
    drawn = np.random.default_rng(0).normal(size=(3, 4, 4))
    trace = attend(drawn[0], parameters=Parameters(w_o=drawn[1], b_o=drawn[2][0]))
    *bars, marks = charts.contributions(trace, Selection()).data
    assert [bar.name for bar in bars] == ["head 1", "bias"]
    assert np.allclose(sum(bar.y for bar in bars), marks.y, rtol=0, atol=1e-12)
