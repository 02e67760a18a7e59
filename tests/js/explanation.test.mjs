import { page } from "./document.mjs";
import assert from "node:assert/strict";
import test from "node:test";
import show from "../../attnviz/ui/viewer/browser/component.js";
import { foresee } from "../../attnviz/ui/viewer/browser/explanation.js";

const axis = (labels, coordinate) => ({ labels, coordinates: [[coordinate, labels.length]] });
const AXES = { q: [axis(["head 1", "head 2"], "head"), axis(["the", "cat"], "query"), axis(["1"], "feature")] };
const breakdown = (value, ...from) => ({ value, formula: "", between: " × ", lines: [[from, "", value]], conclusion: "", total: value });
const BREAKDOWNS = { "q[0,0,0]": breakdown("1.0", "q[1,1,0]"), "q[1,1,0]": breakdown("2.0", "q[1,0,0]") };

function clicked(answer) {
  const { parent, root } = page(), sent = [];
  const data = { axes: AXES, equations: [], breakdowns: BREAKDOWNS, answer };
  show({ data, parentElement: parent, setTriggerValue: (...message) => sent.push(message) });
  const links = () => root.querySelectorAll(".terms").flatMap((terms) => terms.querySelectorAll(".link"));
  links()[0].onclick();
  return { sent, links, heading: () => root.querySelector("h4").textContent };
}

test("only a caption of the very head and row is one", () => {
  const data = { axes: AXES, captioned: ["q"], explained: { q: ["q"] } };
  const said = (captions) => foresee(data, { selection: { head: 1, query: 1, feature: 0 }, breakdowns: BREAKDOWNS, captions }, "q[1,1,0]");
  assert.deepEqual(said({ q: [["a", "b"], ["c", "d"]] }).captions, ["d"]);
  for (const lacking of [{}, { q: [] }, { q: [["a", "b"]] }, { q: [["a", "b"], ["c"]] }]) assert.equal(said(lacking), null);
});

test("a trail is followed at once where its next cell is known, and the whole of it is sent", () => {
  const { sent, links, heading } = clicked({ captions: [], trail: ["q[0,0,0]"], cells: ["q[0,0,0]"] });
  assert.deepEqual(sent, [["follow", "q[0,0,0]<q[1,1,0]"]]);
  assert.equal(heading(), "q[head 2, cat, 1] = 2.0");
  links()[0].onclick(); // to one that is not known
  assert.deepEqual(sent[1], ["follow", "q[0,0,0]<q[1,1,0]<q[1,0,0]"]);
  assert.equal(heading(), "q[head 2, cat, 1] = 2.0");
});

test("where there is no trail, a click begins one on another page, and this one stays", () => {
  const { sent, heading } = clicked({ captions: [], trail: [], cells: ["q[0,0,0]"] });
  assert.deepEqual(sent, [["follow", "q[0,0,0]<q[1,1,0]"]]);
  assert.equal(heading(), "q[head 1, the, 1] = 1.0");
});
