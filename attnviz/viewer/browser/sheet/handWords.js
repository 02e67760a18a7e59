// What is said on the sheet in a hand: the sentence of a band, and who asks.
import { element } from "../elements/element.js";
import { drawRuns, runsAt } from "../elements/runs.js";

// The sentence of a band that is there; nothing of one that has none.
export function sentenceOf({ band, isThere }, { pass, where }) {
  if (!isThere || !band.said.length) return [];
  const line = element("p", "said");
  line.append(...drawRuns(runsAt(pass, band.said, where.cell)));
  return [line];
}

// Whose row it is, and how another word asks.
export function whoAsks({ pass, where }) {
  const { query, shared } = pass.document.words, line = element("p", "who"), word = element("strong", "q", `“${query[where.cell.query]}”`);
  line.append(word, " asks. ", ...(shared ? [element("span", "hint", "Tap a word to let it ask.")] : []));
  return line;
}

// What stands over the numbers of a band.
export function headingOf({ band: { array, label }, cells: { stage } }) {
  if (array) return array.slice(1);
  return label === stage.title ? stage.one : label;
}
