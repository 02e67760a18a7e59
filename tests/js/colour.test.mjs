import assert from "node:assert/strict";
import test from "node:test";
import { FAINT } from "../../attnviz/viewer/browser/views/bars.js";
import { background, css, gradient, luminance, overPage, textOn } from "../../attnviz/viewer/browser/dom/colour.js";

const COLOURS = { negative: [0, 0, 250], positive: [250, 0, 0], share: [0, 250, 0], page: [240, 245, 250] };
const signed = value => background(value, { scale: "signed", limit: 2 }, COLOURS);
const share = value => background(value, { scale: "share", limit: 2 }, COLOURS);

test("a number that is nothing has the colour of the page", () => {
  for (const nothing of [signed(0), signed(-0), share(0)]) assert.deepEqual(nothing, COLOURS.page);
});

test("numbers below zero wear one colour, those above it the other", () => {
  assert.deepEqual(signed(-2), [19, 20, 250]);
  assert.deepEqual(signed(2), [249, 20, 20]);
});

test("the larger a number, the stronger; its strength goes by the scale's end", () => {
  const strengths = [0.25, 0.5, 1, 1.5, 2].map(value => -signed(value)[1]);
  assert.deepEqual(
    strengths,
    [...strengths].sort((a, b) => a - b),
  );
  assert.equal(new Set(strengths).size, 5);
  assert.deepEqual(signed(1), background(10, { scale: "signed", limit: 20 }, COLOURS));
  assert.deepEqual(signed(3), signed(2));
});

test("a share has a colour of its own, as strong as the scale's end says", () => {
  assert.deepEqual(share(2), [19, 250, 20]);
  assert.deepEqual(share(0.1), background(0.5, { scale: "share", limit: 10 }, COLOURS));
});

test("on a dark page colours are lighter, so that small numbers differ as much as on a light one", () => {
  const steps = page => {
    const at = value =>
      luminance(background(value, { scale: "share", limit: 1 }, { ...COLOURS, share: [112, 56, 190], page }));
    return Math.max(at(0.1), at(0.3)) + 0.05 > 1.25 * (Math.min(at(0.1), at(0.3)) + 0.05);
  };
  assert.ok(steps([255, 255, 255]));
  assert.ok(steps([16, 20, 27]));
});

test("a legend runs from the lowest number of its scale to the highest", () => {
  const runs = (scale, low) =>
    gradient(scale, COLOURS)
      .match(/rgb\(.*?\)/g)
      .forEach((colour, place, { length }) => {
        const value = low + ((1 - low) * place) / (length - 1);
        assert.equal(colour, css(background(value, { scale, limit: 1 }, COLOURS)), `${scale} at ${value}`);
      });
  runs("signed", -1);
  runs("share", 0);
  assert.match(gradient("signed", COLOURS), /^linear-gradient\(to right, /);
});

test("luminance is that of WCAG: 0 of black, 1 of white, green more than red more than blue", () => {
  assert.equal(luminance([0, 0, 0]), 0);
  assert.ok(Math.abs(luminance([255, 255, 255]) - 1) < 1e-12);
  assert.deepEqual(
    [
      [255, 0, 0],
      [0, 255, 0],
      [0, 0, 255],
    ].map(each => luminance(each).toFixed(4)),
    ["0.2126", "0.7152", "0.0722"],
  );
});

test("a bar has a contrast of 3 beside the page, in light and dark", () => {
  for (const page of [
    [255, 255, 255],
    [16, 20, 27],
  ])
    assert.ok(contrast(overPage([112, 56, 190], page, FAINT), page) >= 3);
});

test("text has a contrast of 4.5 on every colour there is", () => {
  for (let r = 0; r < 256; r += 15)
    for (let g = 0; g < 256; g += 15)
      for (let b = 0; b < 256; b += 15) {
        assert.ok(contrast(textOn([r, g, b]), [r, g, b]) >= 4.5, `${r}, ${g}, ${b}`);
      }
});

function contrast(a, b) {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}
