// Colours: a cell's own, and a text colour that can be read on it. A colour is [red, green, blue], each up to 255.

import { h } from "./element.js";

// Those of styles/tokens.css, as a canvas and a ramp need numbers (tests/viewer/test_colours.py compares the two).
export const PALETTES = /** @type {Record<"light" | "dark", Ramps>} */ ({
  light: { plus: [217, 168, 0], minus: [47, 63, 80], attention: [111, 63, 181], zero: [241, 238, 230] },
  dark: { plus: [230, 185, 30], minus: [147, 167, 191], attention: [183, 148, 246], zero: [43, 45, 52] },
});
const DARK = 0.18;
const CURVE = 0.8; // below 1, so that a small number is seen beside a zero

/** The colour for a number: from that for zero to the full one at the scale's limit. @param {number} value
 * @param {{ scale: string, limit: number }} props @param {Ramps} colours */
export const background = (value, { scale, limit }, colours) =>
  mixed(colours[hueOf(value, scale)], colours.zero, Math.min(Math.abs(value / limit), 1) ** CURVE);

export const hueOf = (/** @type {number} */ value, /** @type {string} */ scale) =>
  scale === "share" ? "attention" : value < 0 ? "minus" : "plus";

export const mixed = (/** @type {Colour} */ hue, /** @type {Colour} */ page, /** @type {number} */ strength) =>
  hue.map((channel, i) => Math.round(channel * strength + page[i] * (1 - strength)));

/** Black or white, whichever has more contrast: both have the same on a luminance of 0.179. @param {Colour} colour */
export const textOn = colour => (luminance(colour) > 0.179 ? [0, 0, 0] : [255, 255, 255]);
export const css = (/** @type {Colour} */ colour) => `rgb(${colour.join(",")})`;

/** The numbers of a CSS colour in any notation, read by a canvas. @param {string} text */
function channels(text) {
  const probe = h("canvas").getContext("2d");
  probe.fillStyle = text.trim() || "#fff";
  const written = String(probe.fillStyle);
  return [1, 3, 5].map(i => Number.parseInt(written.slice(i, i + 2), 16));
}

const known = new Map(); // CSS colours -> their numbers, for each theme so far

/** The colours of numbers on a page: the same object as long as the theme is the same. @returns {Colours} */
export function coloursOf(/** @type {Element} */ page) {
  const { color, backgroundColor } = getComputedStyle(page); // where colours are forced, those
  const key = `${color} ${backgroundColor}`;
  if (!known.has(key)) {
    const paper = channels(backgroundColor);
    known.set(key, { ...PALETTES[luminance(paper) < DARK ? "dark" : "light"], page: paper, text: channels(color) });
  }
  return known.get(key);
}

export function gradient(/** @type {string} */ scale, /** @type {Ramps} */ colours) {
  const low = scale === "share" ? 0 : -1;
  const stops = Array.from({ length: 9 }, (_, i) =>
    css(background(low + ((1 - low) * i) / 8, { scale, limit: 1 }, colours)),
  );
  return `linear-gradient(to right, ${stops.join(", ")})`;
}

/** Relative luminance, WCAG 2.2. @param {Colour} colour */
export function luminance(colour) {
  const [r, g, b] = colour.map(channel => {
    const c = channel / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
