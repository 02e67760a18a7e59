// The words of the sheet on a phone: the sentence of a band, and who asks.
import { element } from "../elements/element.js";
import { drawRuns } from "../elements/runs.js";
import { runsOf } from "./bandWords.js";
import { keptIn } from "./keptLine.js";

const PAIRED = "Where they differ: A above, B below.";

// The sentence of a band that is there; nothing of one that has none. Where slopes or what moved stand in place of its
// numbers, their title.
export function sentenceOf(part, paint) {
  const { band, cells, isThere } = part;
  if (!isThere || !band.sentence.length || paint.isBare) return [];
  const line = element("p", "said"),
    title = paint.look.titleOf(cells.name);
  line.append(...(title ? [title] : drawRuns(runsOf(part, paint))));
  return [line];
}

// Whose row it is, and how another word asks.
export function whoAsks({ pass, where, look, isBare }) {
  const { query, shared, unit } = pass.document.words,
    line = element("p", "who"),
    word = element("strong", "q", `“${query[where.cell.query]}”`);
  const hint = shared && !isBare ? `Tap a ${unit} to let it ask.` : "";
  line.append(word, " asks. ", element("span", "hint", [hint, look.pair?.isThere ? PAIRED : ""].join(" ").trim()));
  return line;
}

// The keys and values kept from the words before it, where a model writes on.
export function whatIsKept({ pass, where }) {
  const kept = keptIn(pass, where);
  return kept ? [element("p", "hint", kept.text)] : [];
}

// The heading of a band.
export function headingOf({ band: { array, label }, cells: { stage } }) {
  if (array) return array.slice(1);
  return label === stage.title ? stage.one : label;
}
