// Acts: what one can do to a word or a head with one press, to see what follows: hide a key, swap two words, mute a head or a neuron.
import { button } from "../elements/button.js";
import { changeAt } from "../pass/muting.js";
import { stepAt } from "../scene/state.js";

const OF_NEURONS = /^(?:hidden|active)((?:_\d+)?)$/; // and the number of their layer, where there are several

export function drawActs(pass, where, tools) {
  return [drawHide(pass, where, tools), ...drawSwap(pass, where, tools), drawMute(pass, where, tools)];
}

// The selected key is hidden from the selected query in the mask: in all layers, or in the one that one is in where each has its
// own; outside of layers, in the last.
/** @param {Pass} pass @param {Where} where */
function drawHide(pass, where, { set }) {
  const { query, key, shared } = pass.document.words,
    { layers } = pass.document,
    { cell } = where,
    at = stepAt(pass, where).layer || layers.length,
    name = layers[at - 1].mask,
    mask = { name, index: pass.indexAt(name, cell) };
  const inLayer = layers.some(layer => layer.mask !== name) ? ` in layer ${at}` : "";
  const isFlag = pass.stages.get(name).scale === "flag",
    hidden = isFlag ? 0 : -Infinity,
    visible = isFlag ? 1 : 0;
  const isHidden = pass.number(mask.name, mask.index) === hidden;
  const from = shared && cell.query === cell.key ? "itself" : `“${query[cell.query]}”`;
  const label = isHidden ? `Show “${key[cell.key]}” to ${from}` : `Hide “${key[cell.key]}” from ${from}`;
  return named(
    "hide",
    button(label + inLayer, () => set(mask, isHidden ? visible : hidden)),
  );
}

// The selected query and key, where both were typed in one sentence.
/** @param {Pass} pass */
function drawSwap(pass, { cell: { query, key } }, { send }) {
  const {
    typed,
    words: { query: words },
  } = pass.document;
  const isTyped = place => place >= words.length - typed;
  if (query === key || !isTyped(query) || !isTyped(key)) return [];
  return [
    named(
      "swap",
      button(`Swap “${words[query]}” and “${words[key]}”`, () => send("swap", [query, key])),
    ),
  ];
}

/** @param {Pass} pass @param {Where} where */
function drawMute(pass, where, tools) {
  return drawSilence(
    pass,
    { stage: stepAt(pass, where).heads, place: where.cell.head, index: [where.cell.head], kind: "head" },
    tools,
  );
}

// A neuron, where its number is looked at: what reaches it, or what it passes on.
export function drawMuteNeuron(pass, { name, index }, tools) {
  const match = name.match(OF_NEURONS);
  if (!match) return [];
  return [
    drawSilence(pass, { stage: `active${match[1]}`, place: index[1], index: [null, index[1]], kind: "neuron" }, tools),
  ];
}

// A part that writes to the residual stream is muted by setting all its output to 0, and unmuted by undoing that.
/** @param {Pass} pass */
function drawSilence(pass, { stage, place, index, kind }, { send }) {
  const { layer } = pass.stepOf(stage),
    muted = `${kind} ${place + 1}${layer ? ` of layer ${layer}` : ""}`;
  const change = changeAt(pass, stage, index);
  return named(
    "mute",
    change < 0
      ? button(`Mute ${muted}`, () => send("mute", { stage, place }))
      : button(`Unmute ${muted}`, () => send("drop", change)),
  );
}

// Its text changes as it is pressed: by its name it keeps the keyboard.
function named(act, made) {
  made.dataset.act = act;
  return made;
}
