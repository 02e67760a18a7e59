import assert from "node:assert/strict";
import test from "node:test";
import { background, css, gradient } from "../../attnviz/viewer/browser/dom/colour.js";
import { piecesOf } from "../../attnviz/viewer/browser/dom/runs.js";
import { ofHead, parse, plain, tokens, transposed } from "../../attnviz/viewer/browser/model/latex.js";
import { bracketed, counted, digits, formatted, fraction } from "../../attnviz/viewer/browser/model/numeral.js";
import { grouped, ordinal, pieces, short, tex } from "../../attnviz/viewer/browser/model/numeral.js";

test("a fraction of two digits is written as one, and no other number", () => {
  const numbers = [3 / 7, -13 / 11, 98 / 99, 2 / 4, 1, 0, -4, 1 / 101, Math.PI, 0.43, Number.NEGATIVE_INFINITY];
  assert.deepEqual(numbers.map(fraction), ["3/7", "−13/11", "98/99", "1/2", ...Array(7).fill("")]);
});

test("an infinity has its sign", () => {
  for (const write of [short, digits]) assert.deepEqual([Infinity, -Infinity].map(write), ["∞", "−∞"]);
  assert.deepEqual([Infinity, -Infinity].map(tex), ["\\infty", "-\\infty"]);
});

test("a number with a minus stands in brackets behind an operator", () => {
  assert.equal([-2, 2, 0].map(value => bracketed(value, short)).join(" "), "(−2.00) 2.00 0.00");
});

test("thousands stand apart", () => {
  assert.deepEqual([0, 999, 2949, 1234567].map(grouped), ["0", "999", "2,949", "1,234,567"]);
});

test("how many are words up to twelve, and so are their places", () => {
  assert.deepEqual([0, 1, 6, 12, 13].map(counted), ["no", "one", "six", "twelve", "13"]);
  const ordinals = "first second twelfth 13th 21st 22nd 23rd 24th 101st 111th 112th";
  assert.equal([1, 2, 12, 13, 21, 22, 23, 24, 101, 111, 112].map(ordinal).join(" "), ordinals);
});

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
  const written = ["", "s", "t", "b", "bs", "bt"].map(format => formatted(-1.23456e-4, format)).join(" ");
  assert.equal(written, "−1.23e−4 0.00 -1.23 \\cdot 10^{-4} (−1.23e−4) (0.00) (-1.23 \\cdot 10^{-4})");
});

function xml(tree) {
  if (typeof tree === "string") return tree;
  const attributes = Object.entries(tree.attributes)
    .map(([name, value]) => ` ${name}="${value}"`)
    .join("");
  return `<${tree.tag}${attributes}>${tree.children.map(xml).join("")}</${tree.tag}>`;
}
const inner = latex => xml(parse(latex).children[0]);

test("tokens are letters, numbers, commands and whole texts", () => {
  const expected = ["W", "^", "Q", "_", "{", "10", "}", "\\cdot", "\\text{no key}", "-", "1.50", "é"];
  assert.deepEqual(tokens("W^Q_{10} \\cdot \\text{no key} -1.50é"), expected);
});

const FORMULAS = [
  ["W^Q_{10}", "<msubsup><mi>W</mi><mrow><mn>10</mn></mrow><mi>Q</mi></msubsup>"],
  ["W_{10}^Q", "<msubsup><mi>W</mi><mrow><mn>10</mn></mrow><mi>Q</mi></msubsup>"],
  [
    "\\frac{e^{-1.50}}{2} + \\dots",
    '<mfrac><mrow><msup><mi>e</mi><mrow><mo form="prefix">−</mo><mn>1.50</mn></mrow></msup></mrow>' +
      "<mrow><mn>2</mn></mrow></mfrac><mo>+</mo><mo>…</mo>",
  ],
  [
    "0 \\quad\\text{(no key is visible)}",
    '<mn>0</mn><mspace width="1em"></mspace><mtext>(no\u00a0key\u00a0is\u00a0visible)</mtext>',
  ],
  ["X\\,W", '<mi>X</mi><mspace width="0.1667em"></mspace><mi>W</mi>'],
  [
    "{K_1}^{\\top}",
    '<msup><mrow><msub><mi>K</mi><mn>1</mn></msub></mrow><mrow><mo lspace="0" rspace="0">⊤</mo></mrow></msup>',
  ],
  ["\\mathrm{softmax}(Z)", '<mtext>softmax</mtext><mo stretchy="false">(</mo><mi>Z</mi><mo stretchy="false">)</mo>'],
  ["\\ln 2", '<mo lspace="0" rspace="0.1667em">ln</mo><mn>2</mn>'],
  ["\\exp", '<mo lspace="0" rspace="0">exp</mo>'],
  ["\\exp(z)", '<mo lspace="0" rspace="0">exp</mo><mo stretchy="false">(</mo><mi>z</mi><mo stretchy="false">)</mo>'],
  [
    "\\frac{1}{\\sqrt{d_k}}",
    "<mfrac><mrow><mn>1</mn></mrow><mrow><msqrt><mrow><msub><mi>d</mi><mi>k</mi></msub></mrow></msqrt></mrow></mfrac>",
  ],
  ["\\sum_j z_j", '<munder><mo movablelimits="false">∑</mo><mi>j</mi></munder><msub><mi>z</mi><mi>j</mi></msub>'],
  [
    "1 \\cdot (-\\infty)",
    '<mn>1</mn><mo>·</mo><mo stretchy="false">(</mo><mo form="prefix">−</mo><mn>∞</mn><mo stretchy="false">)</mo>',
  ],
  ["\\text{else } -1", '<mtext>else\u00a0</mtext><mo form="prefix">−</mo><mn>1</mn>'],
  ["a - 1", "<mi>a</mi><mo>−</mo><mn>1</mn>"],
  [
    "\\sum_j \\sqrt{d_k}",
    '<munder><mo movablelimits="false">∑</mo><mi>j</mi></munder><msqrt><mrow><msub><mi>d</mi><mi>k</mi></msub></mrow></msqrt>',
  ],
  [
    "Q\\,{K}^{\\top}",
    '<mi>Q</mi><mspace width="0.1667em"></mspace><msup><mrow><mi>K</mi></mrow><mrow><mo lspace="0" rspace="0">⊤</mo></mrow></msup>',
  ],
  ["\\mathrm{softmax}", "<mtext>softmax</mtext>"],
  ["\\text{constructor}", "<mtext>constructor</mtext>"],
];

for (const [latex, mathml] of FORMULAS) {
  test(`${latex} is set as it is read`, () => {
    assert.equal(inner(latex), `<mrow>${mathml}</mrow>`);
  });
}

const operator = name => `<mo lspace="0.1667em" rspace="0.1667em">${name}</mo>`;
for (const name of ["tanh", "ReLU", "odot", "textstyle", "constructor"]) {
  // the last is one that objects inherit
  test(`\\${name}, a command that is not known, is an operator by its name`, () => {
    assert.equal(inner(`2 \\${name} 0.5`), `<mrow><mn>2</mn>${operator(name)}<mn>0.5</mn></mrow>`);
  });
}

test("of one head, its number stands for it", () => {
  const latex = "{K_i}^{\\top} \\infty Z^M_i E_in";
  assert.equal(ofHead(latex, 0), "{K_1}^{\\top} \\infty Z^M_1 E_in");
  assert.equal(ofHead(latex, 9), "{K_{10}}^{\\top} \\infty Z^M_{10} E_in");
});

test("a matrix that lies on its side has one sign above, also where a layer stands there", () => {
  assert.deepEqual(["K_1", "K^{(2)}_1", "W^O"].map(transposed), ["K_1^⊤", "K^{{(2)}⊤}_1", "W^{O⊤}"]);
});

test("a symbol is heard without its markup", () => {
  assert.equal(plain("W^Q_{10}"), "WQ10");
});

test("a line may end before an equals sign or a plus that stands in no bracket", () => {
  const pieces = ["(S)_{2,3}", "= (-1) \\cdot 2", "+ \\frac{1 + 2}{e^{1 + 1}}", "+ (3 + 4)"];
  for (const each of [pieces, ["x"]]) assert.deepEqual(piecesOf(each.join(" ")), each);
});

const COLOURS = { minus: [0, 0, 250], plus: [250, 0, 0], attention: [0, 250, 0], zero: [240, 240, 250] };
const signed = value => background(value, { scale: "signed", limit: 2 }, COLOURS);
const share = value => background(value, { scale: "share", limit: 2 }, COLOURS);

test("a number goes from zero's colour to that of its sign, and an attention weight to its own", () => {
  for (const nothing of [signed(0), signed(-0), share(0)]) assert.deepEqual(nothing, COLOURS.zero);
  for (const beyond of [2, 3]) assert.deepEqual(signed(-beyond), COLOURS.minus);
  assert.deepEqual([signed(2), share(2)], [COLOURS.plus, COLOURS.attention]);
});

test("the larger a number, the stronger; its strength goes by the scale's end", () => {
  const strengths = [0.25, 0.5, 1, 1.5, 2].map(value => -signed(value)[1]);
  for (const [nth, strength] of strengths.slice(1).entries()) assert.ok(strength > strengths[nth]);
  assert.deepEqual(signed(1), background(10, { scale: "signed", limit: 20 }, COLOURS));
  assert.deepEqual(share(0.1), background(0.5, { scale: "share", limit: 10 }, COLOURS));
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
