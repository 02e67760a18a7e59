"""All heads of a recording as a page: its data and size, and by pointer and keyboard in a browser, offline."""

import base64
import json
import re
import warnings
import zlib

import numpy as np
import pytest
from axe import violations_but_contrast
from contrast import faint
from fakemodules import Attention, Model, tensor
from implementations import softmax
from tab import expect, frames, from_menu
from test_one_page import Reader, of_width

from attnviz import ArrayError, OwnArraysError, Recorded, Settings, page, record, show, trace_of
from attnviz.viewer.page import USUAL_BYTES_OF_HEADS, USUAL_BYTES_OF_LAYER

RNG = np.random.default_rng(2)
WORDS = ["</script><b>the</b>", "cat", "sat", "on", "it"]
X = tensor(RNG.normal(size=(1, 5, 6)))


def small():
    """Three layers with 2, 3 and no heads."""
    model = Model(Attention(), Attention(n_heads=3, scale=2**-0.5, seed=4))
    with record(model, tokens=WORDS) as recorded:
        model(X)
    recorded.paths = (*recorded.paths, "layers.2")
    recorded.skipped["layers.2"] = "its parameters have unknown names"
    return recorded


EFFECTS = np.array([[0.1, -0.4, np.nan], [0.3, 0.2, 0.5], [np.nan] * 3])


def test_patterns_are_sent_in_8_bits_with_exact_statistics():
    recorded = small()
    text = Reader(show(recorded, effects=EFFECTS).html).texts
    data = json.loads(text["heads"])
    assert text["document"] == "null"
    assert [layer["n"] for layer in data["layers"]] == [2, 3, 0]
    numbers = np.frombuffer(zlib.decompress(base64.b64decode(data["patterns"])), np.uint8).reshape(5, 5, 5) / 255
    scales = np.array([scale for layer in data["layers"] for scale in layer["scales"]])[:, None, None]
    exact = np.concatenate([recorded[at]["attention"] for at in (0, 1)])
    assert (np.abs(numbers * scales - exact) < exact.max(axis=(1, 2), keepdims=True) * (1 / 510 + 1e-4)).all()
    even = Recorded(["a"], {}, None)
    even.keep(0, {"attention": softmax(RNG.normal(size=(1, 40, 40)) / 9)})
    of_even = json.loads(Reader(show(even).html).texts["heads"])
    numbers = np.frombuffer(zlib.decompress(base64.b64decode(of_even["patterns"])), np.uint8).reshape(40, 40) / 255
    (scale,) = of_even["layers"][0]["scales"]
    np.testing.assert_allclose(numbers * scale, even[0]["attention"][0], atol=scale * (1 / 510 + 1e-4))
    first = data["layers"][0]["statistics"]
    assert first["effect"] == [0.1, -0.4]
    expected = np.diagonal(recorded[0]["attention"], axis1=1, axis2=2).mean(axis=1)
    np.testing.assert_allclose(first["itself"], expected, rtol=1e-3)
    assert data["texts"][data["layers"][0]["keys"]] == WORDS
    assert data["layers"][2]["note"].endswith("its parameters have unknown names")
    assert data["exact"] is None


def test_one_layer_is_in_the_page_number_by_number(tmp_path):
    recorded = small()
    for layer, expected in ((1, 1), (-2, 1), (0, 0)):
        text = Reader(show(recorded, layer=layer).html).texts
        assert json.loads(text["heads"])["exact"] == expected
        assert "stages" in json.loads(text["document"])
    assert page(recorded, tmp_path / "a.html", layer=1) == show(recorded, layer=1).n_bytes
    model = Model(Attention())
    with record(model) as alone:
        model(X)
    assert json.loads(Reader(show(alone).html).texts["heads"])["exact"] == 0, "the only one"


def test_wrong_arguments_are_refused():
    with pytest.raises(OwnArraysError, match="unknown names"):
        show(small(), layer=2)
    for effects in (EFFECTS[:2], EFFECTS[:, :2], EFFECTS[0], "text"):
        with pytest.raises(OwnArraysError, match=r"effects must have a row for each layer .* \(3, 3\)"):
            show(small(), effects=effects)
    with pytest.raises(ArrayError, match="layer and effects are those of a recording; got a Trace"):
        show(trace_of(Settings("the cat sat")), layer=0)


def large(n_layers=12):
    """Layers of a BERT, whose weights hardly pack."""
    trace = of_width(768, n_tokens=64, n_heads=12)
    arrays = {name: trace[name].value for name in ("x", "w_q", "w_k", "w_v", "w_o", "b_o", "attention", "output")}
    recorded = Recorded([f"layer.{at}" for at in range(n_layers)], {}, None)
    for at in range(n_layers):
        weights = softmax(RNG.normal(size=(12, 64, 64)) * 2)
        recorded.keep(at, arrays if at == 3 else {"attention": weights})
    return recorded


def test_a_bert_is_small_enough():
    recorded = large()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alone, exact = show(recorded), show(recorded, layer=3)
    assert alone.n_bytes < USUAL_BYTES_OF_HEADS == 1_600_000
    assert exact.n_bytes - alone.n_bytes < USUAL_BYTES_OF_LAYER == 4_000_000
    assert len(exact._repr_html_()) < 7_000_000
    longer = Recorded(["a"], {}, None)
    longer.keep(0, {"attention": RNG.random((8, 512, 512))})
    with pytest.warns(UserWarning, match="A page of .* MB, as it has 1 layer and 512 tokens"):
        show(longer)


def tiles(tab):
    """The names of heads, as they stand."""
    return [re.match(r"Layer \d, head \d", each.get_attribute("aria-label"))[0] for each in tab.locator(".head").all()]


def test_heads_are_sorted_filtered_and_entered_by_keys(offline):
    tab = offline(show(small(), layer=1, effects=EFFECTS).html)
    sorted_by_effect = ["Layer 1, head 2", "Layer 1, head 0", "Layer 1, head 1", "Layer 0, head 0", "Layer 0, head 1"]
    assert tiles(tab) == sorted_by_effect
    tab.get_by_role("button", name="lowest first").click()
    assert tiles(tab) == sorted_by_effect[::-1]
    tab.get_by_role("slider").fill("50")
    expect(tab.locator("output")).to_have_text("at most 0.0500: 1 of 5 heads")
    assert tiles(tab) == ["Layer 0, head 1"]
    tab.get_by_role("slider").fill("0")
    tab.get_by_role("button", name="layers", exact=True).click()
    assert tiles(tab) == sorted(sorted_by_effect)
    expect(tab.locator(".nothing")).to_contain_text("its parameters have unknown names")
    tab.locator(".head").first.focus()
    tab.keyboard.press("ArrowRight")
    expect(tab.locator(".pointed").first).to_have_text("Layer 0, head 1")
    tab.keyboard.press("Enter")
    expect(tab.locator(".large-head h2")).to_have_text("Layer 0, head 1")
    expect(tab.locator(".call code")).to_have_text("attnviz.show(recorded, layer=0)")
    for key in ("Control+Home", "ArrowDown", "ArrowDown"):
        tab.keyboard.press(key)
    weight = small()[0]["attention"][1, 2, 0]
    line = tab.locator(".large-head .pointed")
    expect(line).to_contain_text(f"“sat” gives “{WORDS[0]}” ")
    assert float(re.search(r"(\d\.\d+) ±", line.inner_text())[1]) == pytest.approx(weight, abs=0.0025)
    tab.keyboard.press("Escape")
    expect(tab.locator(".head").nth(1)).to_be_focused()
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Enter")
    expect(tab.locator(".exact-layer h2").first).to_have_text("Layer 1, head 1, counted from 0 (below, head 2)")
    expect(tab.locator(".exact-layer [role=radio][aria-checked=true]")).to_have_text("head 2")
    tab.keyboard.press("Escape")
    expect(tab.locator(".head").nth(3)).to_be_focused()
    expect(tab.locator(".exact-layer")).to_be_hidden()


def test_download_has_all_heads_too(offline, tmp_path):
    tab = offline(show(small(), layer=1).html)
    tab.locator(".head.exact").first.click()
    button = from_menu(tab, re.compile("^Download as a page"))
    named = int(re.search(r"(\d+) kB", button.inner_text())[1])
    with tab.expect_download() as download:
        button.click()
    download.value.save_as(tmp_path / "again.html")
    text = (tmp_path / "again.html").read_text("utf-8")
    assert named == pytest.approx(len(text.encode()) / 1000, rel=0.01)
    tab = offline(text)
    assert len(tiles(tab)) == 5
    tab.locator(".head.exact").nth(2).click()
    expect(tab.locator(".exact-layer [role=radio][aria-checked=true]")).to_have_text("head 3")


def test_heads_pass_axe_in_both_themes(offline):
    tab = offline(show(small(), layer=1, effects=EFFECTS).html)
    for theme in ("light", "dark"):
        tab.emulate_media(color_scheme=theme, reduced_motion="reduce")
        frames(tab)
        assert violations_but_contrast(tab) == []
        assert faint(tab) == [[], [], []]
        for kind in (".head:not(.exact)", ".head.exact"):
            tab.locator(kind).first.click()
            assert violations_but_contrast(tab) == []
            assert faint(tab) == [[], [], []]
            tab.keyboard.press("Escape")


def test_pattern_is_painted_in_the_colours_of_attention(offline):
    recorded = small()
    tab = offline(show(recorded).html)
    heads = [head for at in (0, 1) for head in recorded[at]["attention"]]
    limit = max(head.max() for head in heads)
    pixels = "each => [...each.getContext('2d').getImageData(0, 0, each.width, each.height).data]"
    for head, canvas in zip(heads, tab.locator(".head canvas").all(), strict=True):
        painted = np.array(canvas.evaluate(pixels)).reshape(5, 5, 4)[..., :3]
        strength = (head / limit)[..., None] ** 0.8
        expected = np.array([111, 63, 181]) * strength + np.array([241, 238, 230]) * (1 - strength)
        np.testing.assert_allclose(painted, expected, atol=3)
