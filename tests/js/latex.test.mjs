import assert from "node:assert/strict";
import test from "node:test";
import { parse, plain, tokens } from "../../attnviz/ui/viewer/browser/latex.js";

function xml(tree) {
  if (typeof tree === "string") return tree;
  const attributes = Object.entries(tree.attributes).map(([name, value]) => ` ${name}="${value}"`).join("");
  return `<${tree.tag}${attributes}>${tree.children.map(xml).join("")}</${tree.tag}>`;
}
const inner = (latex) => xml(parse(latex).children[0]);

test("tokens are letters, numbers, commands and whole texts", () => {
  assert.deepEqual(tokens("W^Q_{10} \\cdot \\text{no key} -1.50é"), ["W", "^", "Q", "_", "{", "10", "}", "\\cdot", "\\text{no key}", "-", "1.50", "é"]);
});

const FORMULAS = [
  ["W^Q_{10}", "<msubsup><mi>W</mi><mrow><mn>10</mn></mrow><mi>Q</mi></msubsup>"],
  ["W_{10}^Q", "<msubsup><mi>W</mi><mrow><mn>10</mn></mrow><mi>Q</mi></msubsup>"],
  ["\\frac{e^{-1.50}}{2} + \\dots", '<mfrac><mrow><msup><mi>e</mi><mrow><mo form="prefix">−</mo><mn>1.50</mn></mrow></msup></mrow>'
    + "<mrow><mn>2</mn></mrow></mfrac><mo>+</mo><mo>…</mo>"],
  ["0 \\quad\\text{(no key is visible)}", "<mn>0</mn><mo>\u2003</mo><mtext>(no\u00a0key\u00a0is\u00a0visible)</mtext>"],
  ["1 \\cdot (-\\infty)", '<mn>1</mn><mo>·</mo><mo stretchy="false">(</mo><mo form="prefix">−</mo><mn>∞</mn><mo stretchy="false">)</mo>'],
  ["a - 1", "<mi>a</mi><mo>−</mo><mn>1</mn>"],
  ["\\sum_j \\sqrt{d_k}", "<msub><mo>∑</mo><mi>j</mi></msub><msqrt><mrow><msub><mi>d</mi><mi>k</mi></msub></mrow></msqrt>"],
  ["Q\\,{K}^{\\top}", '<mi>Q</mi><mspace width="0.1667em"></mspace><msup><mrow><mi>K</mi></mrow><mrow><mo>⊤</mo></mrow></msup>'],
  ["\\mathrm{softmax}", "<mtext>softmax</mtext>"],
  ["\\text{constructor}", "<mtext>constructor</mtext>"],
];

for (const [latex, mathml] of FORMULAS) {
  test(`${latex} is set as it is read`, () => {
    assert.equal(inner(latex), `<mrow>${mathml}</mrow>`);
  });
}

const operator = (name) => `<mo lspace="0.1667em" rspace="0.1667em">${name}</mo>`;
for (const name of ["tanh", "ReLU", "odot", "textstyle", "constructor"]) { // the last is one that objects inherit
  test(`\\${name}, a command that is not known, is an operator by its name`, () => {
    assert.equal(inner(`2 \\${name} 0.5`), `<mrow><mn>2</mn>${operator(name)}<mn>0.5</mn></mrow>`);
  });
}

test("a symbol is heard without its markup", () => {
  assert.equal(plain("W^Q_{10}"), "WQ10");
});
