// Acts: what one can do to a word or a head with one press, to see what follows: hide a key, swap two words, mute a head.
import { button } from "../elements/button.js";
import { stepAt } from "../scene/state.js";

export function drawActs(pass, where, tools) {
  return [drawHide(pass, where, tools), ...drawSwap(pass, where, tools), drawMute(pass, where, tools)];
}

// The selected key is hidden from the selected query in the mask, and so in all layers.
function drawHide(pass, { cell }, { set }) {
  const { query, key, shared } = pass.document.words, mask = { name: "mask", index: pass.indexAt("mask", cell) };
  const isFlag = pass.stages.get("mask").scale === "flag", hidden = isFlag ? 0 : -Infinity, visible = isFlag ? 1 : 0;
  const isHidden = pass.number(mask.name, mask.index) === hidden;
  const from = shared && cell.query === cell.key ? "itself" : `“${query[cell.query]}”`;
  const label = isHidden ? `Show “${key[cell.key]}” to ${from}` : `Hide “${key[cell.key]}” from ${from}`;
  return named("hide", button(label, () => set(mask, isHidden ? visible : hidden)));
}

// The selected query and key, where both were typed in one sentence.
function drawSwap(pass, { cell: { query, key } }, { send }) {
  const { query: words, typed } = pass.document.words;
  const isTyped = (place) => place >= words.length - typed;
  if (query === key || !isTyped(query) || !isTyped(key)) return [];
  return [named("swap", button(`Swap “${words[query]}” and “${words[key]}”`, () => send("swap", [query, key])))];
}

// A head is muted by setting all of its outputs to 0, and so is unmuted by undoing that.
function drawMute(pass, where, { send }) {
  const { heads: stage } = stepAt(pass, where), { head } = where.cell, { layer } = pass.stepOf(stage);
  const place = pass.document.changes.findIndex((each) => each.stage === stage && each.index.length === 1 && each.index[0] === head);
  const muted = `head ${head + 1}${layer ? ` of layer ${layer}` : ""}`;
  return named("mute", place < 0
    ? button(`Mute ${muted}`, () => send("mute", { stage, head }))
    : button(`Unmute ${muted}`, () => send("drop", place)));
}

// What it says changes as it is pressed: by its name it keeps the keyboard.
function named(act, made) {
  made.dataset.act = act;
  return made;
}
