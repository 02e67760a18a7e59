import assert from "node:assert/strict";
import test from "node:test";
import { piecesOf } from "../../attnviz/viewer/browser/dom/runs.js";
import { ofHead, parse, plain, tokens, transposed } from "../../attnviz/viewer/browser/model/latex.js";

function xml(tree) {
  if (typeof tree === "string") return tree;
  const attributes = Object.entries(tree.attributes)
    .map(([name, value]) => ` ${name}="${value}"`)
    .join("");
  return `<${tree.tag}${attributes}>${tree.children.map(xml).join("")}</${tree.tag}>`;
}
const inner = latex => xml(parse(latex).children[0]);

test("tokens are letters, numbers, commands and whole texts", () => {
  assert.deepEqual(tokens("W^Q_{10} \\cdot \\text{no key} -1.50é"), [
    "W",
    "^",
    "Q",
    "_",
    "{",
    "10",
    "}",
    "\\cdot",
    "\\text{no key}",
    "-",
    "1.50",
    "é",
  ]);
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
  assert.deepEqual(piecesOf("(S)_{2,3} = (-1) \\cdot 2 + \\frac{1 + 2}{e^{1 + 1}} + (3 + 4)"), [
    "(S)_{2,3}",
    "= (-1) \\cdot 2",
    "+ \\frac{1 + 2}{e^{1 + 1}}",
    "+ (3 + 4)",
  ]);
  assert.deepEqual(piecesOf("x"), ["x"]);
});
