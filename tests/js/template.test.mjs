import assert from "node:assert/strict";
import test from "node:test";
import { formatted, pieces } from "../../attnviz/viewer/browser/model/numeral.js";

test("slots are filled, and braces that hold none stay", () => {
  const fill = (name, format) => ({ a: `<a${format}>`, b_2: "" })[name];
  assert.deepEqual(pieces("{a} × {a:t}{b_2}", fill), ["<a>", " × ", "<at>", ""]);
  assert.equal(pieces("\\frac{{a:bt}}{2}^{a}", fill).join(""), "\\frac{<abt>}{2}^<a>");
  for (const text of ["", "no slot", "{unknown} {a b} {} {a:", "\\text{hidden}"])
    assert.equal(pieces(text, fill).join(""), text);
});

test("what fills a slot is not read for slots", () => {
  assert.equal(pieces("{word}", () => "{word}").join(""), "{word}");
});

test("a format is how a number is written", () => {
  const written = ["", "s", "t", "b", "bs", "bt"].map(format => formatted(-1.23456e-4, format));
  assert.deepEqual(written, [
    "−1.23e−4",
    "0.00",
    "-1.23 \\cdot 10^{-4}",
    "(−1.23e−4)",
    "(0.00)",
    "(-1.23 \\cdot 10^{-4})",
  ]);
});
