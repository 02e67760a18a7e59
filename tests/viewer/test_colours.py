"""A colour means one thing: tokens, their contrast, how far apart colour-blind eyes see them, and what is filled."""

import itertools
import re

import numpy as np
import pytest
from boxes import THEMES
from contrast import channels, contrast
from page import ROOT

from attnviz.app.evidence import CURVE, RAMPS, fills, inks

STYLES = ROOT / "attnviz" / "viewer" / "browser" / "styles"
TOKENS = (STYLES / "tokens.css").read_text("utf-8")
ROLES = {"q": "blue", "k": "orange", "v": "green", "output": "violet"}
RAMP_HUES = ("plus", "minus", "attention")
BLINDNESS = {  # Machado, Oliveira and Fernandes 2009, severity 1, on linear red, green and blue
    "none": np.eye(3).tolist(),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
LEAST_APART = {  # CIE76 in the worse theme for the worst eyes; measured: 48, 36, 19, 41, 50, 51
    ("plus", "minus"): 45,
    ("plus", "attention"): 33,
    ("minus", "attention"): 17,
    ("plus", "zero"): 38,
    ("minus", "zero"): 47,
    ("attention", "zero"): 47,
}
# Roles have names, too. Measured in light and in dark: no blindness, protanopia, deuteranopia, tritanopia.
ROLES_APART = {
    ("q", "k"): ((96, 77, 89, 86), (88, 79, 85, 81)),
    ("q", "v"): ((49, 43, 43, 11), (52, 39, 34, 16)),
    ("q", "output"): ((63, 15, 31, 82), (54, 18, 21, 75)),
    ("q", "attention"): ((57, 28, 18, 35), (48, 28, 19, 40)),
    ("k", "v"): ((80, 33, 48, 84), (84, 40, 52, 90)),
    ("k", "output"): ((67, 67, 59, 13), (71, 74, 66, 13)),
    ("k", "attention"): ((108, 102, 107, 58), (100, 100, 100, 47)),
    ("v", "output"): ((86, 34, 13, 81), (91, 36, 14, 86)),
    ("v", "attention"): ((101, 70, 60, 37), (96, 62, 48, 51)),
    ("output", "attention"): ((44, 36, 49, 51), (32, 27, 34, 38)),
}
BOTH = pytest.mark.parametrize("theme", ["light", "dark"])


def tokens(theme):
    """The colours of a theme, as #rrggbb, from the style sheet and from Streamlit's theme."""
    found = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", TOKENS)
    given = THEMES[theme]
    return (
        {name: light if theme == "light" else dark for name, light, dark in found}
        | {role: given[f"{hue}TextColor"] for role, hue in ROLES.items()}
        | {"text": given["textColor"], "accent": given["linkColor"], "primary": given["primaryColor"]}
        | {"page": given["backgroundColor"], "soft": given["secondaryBackgroundColor"]}
    )


def hexadecimal(colour):
    return "#" + "".join(f"{round(each):02x}" for each in colour)


def linear(channels_):
    parts = np.array(channels_) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(linear_rgb):
    """CIE L*a*b* (D65)."""
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    x = np.array(to_xyz) @ np.clip(linear_rgb, 0, 1) / (0.9505, 1, 1.089)
    f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(one, other, blindness):
    seen = [lab(np.array(BLINDNESS[blindness]) @ linear(channels(each))) for each in (one, other)]
    return float(np.linalg.norm(seen[0] - seen[1]))


@BOTH
def test_letters_of_every_colour_can_be_read(theme):
    colours = tokens(theme)
    for name, ground in itertools.product([*ROLES, "text", "accent", "attention"], ["page", "soft"]):
        assert contrast(channels(colours[name]), channels(colours[ground])) >= 4.5, (name, ground)
    assert contrast(channels(colours["primary"]), [255] * 3) >= 4.5  # Streamlit writes its buttons in white
    assert contrast(channels(colours["primary"]), channels(colours["page"])) >= 3  # frames and marks, WCAG 1.4.11


@BOTH
def test_bars_are_seen_on_the_page(theme):
    colours = tokens(theme)
    for name in ("plus-edge", "minus", "attention"):
        assert contrast(channels(colours[name]), channels(colours["page"])) >= 3, name


@BOTH
def test_digits_can_be_read_on_every_shade(theme, called):
    """No ramp through the middle can promise more than √21: on a luminance of 0.179 black and white are alike."""
    colours = tokens(theme)
    zero = np.array(channels(colours["zero"]))
    shades = [zero + (channels(colours[hue]) - zero) * part for hue in RAMP_HUES for part in np.linspace(0, 1, 256)]
    whole = [np.round(each).astype(int).tolist() for each in shades]
    for shade, ink in zip(whole, called("colour", "textOn", [[each] for each in whole]), strict=True):
        assert contrast(shade, ink) >= 4.58, shade


@BOTH
@pytest.mark.parametrize("blindness", BLINDNESS)
def test_a_small_number_is_seen_beside_a_zero(theme, blindness):
    colours = tokens(theme)
    zero = np.array(channels(colours["zero"]))
    for hue in RAMP_HUES:
        shade = zero + (channels(colours[hue]) - zero) * 0.05**CURVE
        assert distance(hexadecimal(shade), colours["zero"], blindness) > 2.3  # which can just be seen


@BOTH
def test_a_browser_and_a_chart_mix_the_colours_of_the_tokens(theme, called):
    colours = tokens(theme)
    ends = {name: channels(colours[name]) for name in (*RAMP_HUES, "zero")}
    weights = np.linspace(0, 1, 41)
    scale = {"scale": "share", "limit": 1}
    drawn = called("colour", "background", [[weight, scale, ends] for weight in weights.tolist()])
    np.testing.assert_allclose(fills(weights, theme), drawn, atol=1)  # halves are rounded another way
    assert inks(fills(weights, theme)) == [
        "white" if ink[0] else "black"
        for ink in called("colour", "textOn", [[each] for each in fills(weights, theme).tolist()])
    ]
    assert list(map(list, RAMPS[theme])) == [ends["zero"], ends["attention"]]
    script = (ROOT / "attnviz/viewer/browser/dom/colour.js").read_text("utf-8")
    written = dict(re.findall(r"(\w+): \[([\d, ]+)\]", re.search(rf"{theme}: {{(.*)}}", script)[1]))
    assert {name: list(map(int, numbers.split(","))) for name, numbers in written.items()} == ends
    assert f"CURVE = {CURVE};" in script


@BOTH
@pytest.mark.parametrize("blindness", BLINDNESS)
def test_colour_blind_eyes_tell_the_fills_apart(theme, blindness):
    colours = tokens(theme)
    for (one, other), least in LEAST_APART.items():
        assert distance(colours[one], colours[other], blindness) >= least, (one, other)


@pytest.mark.parametrize("pair", [*itertools.combinations([*ROLES, "attention"], 2)], ids="-".join)
def test_roles_and_attention_are_as_far_apart_as_measured(pair):
    seen = [
        [distance(tokens(theme)[pair[0]], tokens(theme)[pair[1]], each) for each in BLINDNESS]
        for theme in ("light", "dark")
    ]
    np.testing.assert_allclose(seen, ROLES_APART[pair], atol=0.51)
    least = 15 if "attention" in pair else 10
    assert np.min(seen) >= least


def rules():
    """Every declaration of the style sheets: its file, selector, property and value."""
    for path in sorted(STYLES.glob("*.css")):
        text = re.sub(r"/\*.*?\*/", "", path.read_text("utf-8"), flags=re.DOTALL)
        for selector, body in re.findall(r"([^{}]+){([^{}]*)}", text):
            for declaration in body.split(";"):
                name, found, value = declaration.partition(":")
                if found:
                    yield path.name, selector.strip(), name.strip(), value.strip()


def test_a_role_is_never_a_fill_and_every_colour_is_a_token():
    for file, selector, name, value in rules():
        if name in ("background", "background-color"):
            assert not re.search(r"var\(--(q|k|v|output|role)\)", value), (file, selector)
        for colour in re.findall(r"#\w{6}", value) if file != "tokens.css" else ():
            assert max(channels(colour)) - min(channels(colour)) < 25, (file, selector, colour)  # a grey
        assert not re.search(r"rgb\((?!0 0 0)", value) or file == "tokens.css", (file, selector)


def test_what_is_right_or_wrong_has_a_sign_and_no_colour():
    signed = {"✓": "right", "✗": "wrong"}
    signs = {
        (sign, kind)
        for _, selector, name, value in rules()
        for sign, kind in signed.items()
        if name == "content" and sign in value and f".{kind}" in selector
    }
    assert signs == set(signed.items())
    for file, selector, name, value in rules():
        if re.search(r"\.(right|wrong|good|bad|own)\b", selector):
            assert not re.search(r"var\(--(q|k|v|output|plus|minus)\)|st-(red|green)", value), (file, selector, name)


def test_a_dotted_underline_is_a_term_of_the_glossary():
    dotted = {
        selector for _, selector, name, value in rules() if name.startswith("text-decoration") and "dotted" in value
    }
    assert dotted == {".viewer dfn.term"}
