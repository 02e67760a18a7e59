// Colours: a cell's own, and a text colour that can be read on it. A colour is [red, green, blue], each up to 255.

import { h } from "./element.js";

const STRONGEST = 0.92;
const DARK = 0.18,
  LIGHTER = 0.4,
  WHITE = [255, 255, 255];
const CURVE = 0.7; // below 1, so that a small number is seen beside the page

/** A number's colour is laid over the page, the more strongly the larger the number is. @param {number} value
 * @param {{ scale: string, limit: number }} props @param {Colours} colours */
export function background(value, { scale, limit }, colours) {
  const size = Math.min(Math.abs(value / limit), 1);
  const hue = scale === "share" ? colours.share : value < 0 ? colours.negative : colours.positive;
  return overPage(hue, colours.page, STRONGEST * size ** CURVE);
}

// A dark page leaves little contrast to a deep colour: there it is lighter, so that small numbers can be told apart.
export const overPage = (/** @type {Colour} */ hue, /** @type {Colour} */ page, /** @type {number} */ strength) =>
  mixed(luminance(page) < DARK ? mixed(WHITE, hue, LIGHTER) : hue, page, strength);

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
export function coloursOf(/** @type {Element} */ page, /** @type {ContractDocument["palette"]} */ palette) {
  const { color, backgroundColor } = getComputedStyle(page); // where colours are forced, those
  const key = JSON.stringify([palette, color, backgroundColor]);
  if (!known.has(key)) known.set(key, { ...palette, page: channels(backgroundColor), text: channels(color) });
  return known.get(key);
}

export function gradient(/** @type {string} */ scale, /** @type {Colours} */ colours) {
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
