// A text that is written from another one: which words each of its words reads, which of them are wrong, and the lines that show it.
import { LITTLE, listed, percent } from "./numeral.js";
import { isMuted } from "./changes.js";
import { isFirst } from "./state.js";
import { withoutNumber } from "./words.js";

const READS = 0.5, // the least weight of a word that is said to be read
  LOOKS = 0.1, // the least weight in a layer of the read text itself that is shown
  MOST_TOLD = 4, // words in a sentence
  HIDDEN = "?", // a word that a question covers
  CUT = "…", // the words of a text that is much too long
  MIN_LETTERS = 5; // that a column has room for, so that words move little as another is written
const MARK = /^<\w+>$/,
  MARK_LETTERS = 4; // of a model, such as <end>: small, as it is no word of the text

/** What is said of a translation where no right one is known. */
export const NO_SENTENCE = "This is no sentence of its grammar, so the French may be wrong.";

/** @typedef {{ text: string, after: string, isNext: boolean, share: number, isRight: boolean }} Slot of the written text
 * @typedef {{ keys: string[], slots: Slot[], weights: number[][] }} TwoTexts the words that are read, and for each written one its weights
 * @typedef {{ side: "query" | "key", place: number }} Held a word that was picked, of the written text or of the read one
 * @typedef {{ row: number, key: number, weight: number, width: number, from: number, to: number }} Line */

/** Whether the first step shows two texts so. @param {Pass} pass @param {Where} where */
export const hasTwoRows = (pass, where) =>
  isFirst(pass, where) && !pass.document.words.shared && pass.document.words.sides.some(Boolean);

/** The two texts of a pass. What a word reads is in the row of the word before it, which wrote it: the last row writes what comes next.
 * @param {Pass} pass @param {Where} where @param {Look} look @returns {TwoTexts} */
export function textsOf(pass, where, look) {
  const { words, layers, model, next } = pass.document,
    { attention } = layers[layers.length - 1],
    last = words.query.length - 1,
    answers = model?.answers ?? "";
  const slots = words.query.map((after, row) => {
    if (row < last) return { text: words.query[row + 1], after, isNext: false, share: 0 };
    const probabilities = [...pass.row(answers, [row, 0])],
      answer = next?.answer ?? probabilities.indexOf(Math.max(...probabilities)),
      isThere = look.shown(answers, [row, answer]);
    const text = isThere ? pass.stages.get(answers).axes[1].labels[answer] : HIDDEN;
    return { text, after, isNext: true, share: isThere ? probabilities[answer] : 0 };
  });
  const right = rightOf(
    slots.map(({ text }) => withoutNumber(text)),
    next?.right ?? [],
  );
  const weights = slots.map((_, row) =>
    words.key.map((_, key) => {
      const index = pass.indexAt(attention, { ...where.cell, query: row, key });
      return look.shown(attention, index) ? (pass.number(attention, index) ?? 0) : 0;
    }),
  );
  return {
    keys: words.key,
    slots: slots.map((slot, nth) => ({ ...slot, isRight: look.isAsked || right[nth] || slot.text === HIDDEN })),
    weights,
  };
}

/** What is written at a place of the training that may be between two checkpoints: the words of the nearer one, and lines on their way.
 * Of a text that is much too long the first `most` words. @param {import("../../generated/contract").Translation[]} translations
 * @param {string[]} keys @param {number} place @param {number} most @returns {TwoTexts} */
export function textsAt(translations, keys, place, most) {
  const { words, right } = translations[Math.round(place)],
    [low, high] = [Math.floor(place), Math.ceil(place)].map(each => translations[each].rows),
    isRight = rightOf(words, right),
    count = Math.min(words.length, most),
    at = (/** @type {number[][]} */ rows, /** @type {number} */ row, /** @type {number} */ key) =>
      rows[row]?.[key] ?? 0;
  const slots = words.slice(0, count).map((text, nth) => {
    const isCut = nth === most - 1 && words.length > most;
    return { text: isCut ? CUT : text, after: "", isNext: false, share: 0, isRight: isRight[nth] || isCut };
  });
  const weights = slots.map((_, row) =>
    keys.map((_, key) => at(low, row, key) + (at(high, row, key) - at(low, row, key)) * (place % 1)),
  );
  return { keys, slots, weights };
}

/** For each word whether it is among the most that stand in the right text in this order, too; all are without a right text. A mark that ends a
 * text with too few words is wrong.
 * @param {string[]} words @param {string[]} right @returns {boolean[]} */
export function rightOf(words, right) {
  if (!right.length) return words.map(() => true);
  // how many words from these places on
  const common = Array.from({ length: words.length + 1 }, () => Array(right.length + 1).fill(0));
  for (let i = words.length - 1; i >= 0; i -= 1)
    for (let j = right.length - 1; j >= 0; j -= 1)
      common[i][j] = words[i] === right[j] ? 1 + common[i + 1][j + 1] : Math.max(common[i + 1][j], common[i][j + 1]);
  let j = 0;
  return words.map((word, i) => {
    while (j < right.length && word !== right[j] && common[i][j] === common[i][j + 1]) j += 1;
    if (word !== right[j] || (isMark(word) && i < j)) return false;
    j += 1;
    return true;
  });
}

/** The lines from written words to those they read: all that a word reads leaves it side by side, together `band` pixels wide, in the order of
 * the words that it leads to. `from` and `to` are where words stand along their rows. @param {number[][]} weights @param {number[]} from
 * @param {number[]} to @param {number} band @returns {Line[]} */
export const linesOf = (weights, from, to, band) =>
  weights.flatMap((row, nth) => {
    let start = from[nth] - (row.reduce((sum, weight) => sum + weight, 0) * band) / 2;
    const lines = row.map((weight, key) => {
      const width = weight * band;
      start += width;
      return { row: nth, key, weight, width, from: start - width / 2, to: to[key] };
    });
    return lines.filter(({ weight }) => weight >= LITTLE);
  });

/** For each column the letters that it has room for. A training's wrong words are no wider than those that are right in the end.
 * @param {TwoTexts} texts @param {import("../../generated/contract").Translation[]} translations @returns {number[]} */
export function columnsOf({ keys, slots }, translations) {
  const last = translations[translations.length - 1],
    all = [keys, slots.map(({ text }) => text), ...(last ? [last.words, last.right] : [])],
    lettersIn = (/** @type {string} */ text) => (MARK.test(text) ? MARK_LETTERS : withoutNumber(text).length);
  return Array.from({ length: Math.max(...all.map(each => each.length)) }, (_, nth) =>
    Math.max(MIN_LETTERS, ...all.map(each => lettersIn(each[nth] ?? ""))),
  );
}

/** What a word of the read text looks at in its own layer, in each head; nothing where there is no such layer. @param {Pass} pass
 * @param {number} place @returns {{ head: number, heads: number, key: number, weight: number }[]} */
export function looksOf(pass, place) {
  const [{ attention, words }] = pass.document.layers,
    [heads] = pass.stages.get(attention).shape;
  if (!words.shared || String(words.key) !== String(pass.document.words.key)) return [];
  return Array.from({ length: heads }, (_, head) => {
    const row = [...pass.row(attention, [head, place, 0])];
    return row.map((weight, key) => ({ head, heads, key, weight })).filter(({ weight }) => weight >= LOOKS);
  }).flat();
}

/** How sure a next word is; nothing of one that a question covers. @param {number} share */
export const sureness = share => (share ? `, ${percent(share)}` : "");
export const isMark = (/** @type {string} */ text) => MARK.test(text);
export const placeOfMost = (/** @type {number[]} */ row) => row.indexOf(Math.max(...row));

/** The weights that are drawn, each with its place, the largest first. @param {number[]} row @returns {[number, number][]} */
export const drawnOf = row =>
  [...row.entries()].filter(([, weight]) => weight >= LITTLE).sort(([, one], [, other]) => other - one);

/** The caption of a word, or with `held` null of the whole text, from the numbers that are drawn. @param {TwoTexts} texts @param {Held | null} held
 * @param {number} asking the written word that it is about if no lines cross */
export function captionOf(texts, held, asking) {
  const { keys, slots, weights } = texts;
  const told = (/** @type {string[]} */ words, /** @type {number[]} */ row) =>
    partsOf(drawnOf(row).map(([place, weight]) => `“${withoutNumber(words[place])}” ${percent(weight)}`));
  if (!held) {
    const second = crossingOf(weights),
      isOfTraining = slots.every(({ after }) => !after);
    if (second < 0 || (second !== asking && !isOfTraining))
      return captionOf(texts, { side: "query", place: asking }, asking); // the word that the panel explains
    const [one, other] = [second - 1, second].map(row => [`“${withoutNumber(slots[row].text)}”`, `reads ${most(row)}`]);
    return `Lines cross where the order changes: ${one.join(" ")}, then ${other.join(`${afterOf(second)} `)}.`;
  }
  if (held.side === "key") {
    const readers = slots.map(({ text }) => text),
      text = told(
        readers,
        weights.map(row => row[held.place]),
      );
    return `“${withoutNumber(keys[held.place])}” is ${text ? `read by ${text}` : "hardly read"}.`;
  }
  const { text, after, isNext, share } = slots[held.place],
    reads = told(keys, weights[held.place]);
  if (isNext) return `Next, after “${withoutNumber(after)}”: “${text}”${sureness(share)}. It reads ${reads}.`;
  return `“${withoutNumber(text)}”${afterOf(held.place)} reads ${reads}.`;

  function afterOf(/** @type {number} */ row) {
    const { after } = slots[row];
    return after ? `, written after “${withoutNumber(after)}”,` : "";
  }

  function most(/** @type {number} */ row) {
    const key = placeOfMost(weights[row]);
    return `“${withoutNumber(keys[key])}” (${percent(weights[row][key])})`;
  }
}

/** @param {string[]} all */
function partsOf(all) {
  const rest = all.length - MOST_TOLD,
    told = rest > 1 ? [...all.slice(0, MOST_TOLD), `${rest} others less`] : all;
  return listed(told.map(each => [each])).join("");
}

/** The first row that reads a word before the one that the row above it reads; -1 if none does. @param {number[][]} weights */
function crossingOf(weights) {
  const keys = weights.map(row => (Math.max(...row) >= READS ? placeOfMost(row) : -1));
  return keys.findIndex((key, row) => key >= 0 && key < (keys[row - 1] ?? -1));
}

/** A sentence on looksOf() a word. @param {string[]} keys @param {number} place @param {ReturnType<typeof looksOf>} looks
 * @param {string} side the name of the text */
export function looksText(keys, place, looks, side) {
  const most = [...new Set(looks.map(({ head }) => head))].map(head => {
    const [one] = looks.filter(each => each.head === head).sort((a, b) => b.weight - a.weight),
      target = one.key === place ? "itself" : `“${withoutNumber(keys[one.key])}”`;
    return [`${target} ${percent(one.weight)}${one.heads > 1 ? ` (head ${head + 1})` : ""}`];
  });
  return most.length
    ? `Among the ${side} words, “${withoutNumber(keys[place])}” looks most at ${listed(most).join("")}.`
    : "";
}

/** The right translation where numbers set by hand made the text wrong, or that none is known where no verdict on a training says so; else "".
 * @param {Pass} pass @param {TwoTexts} texts @param {boolean} hasVerdict */
export function correctionOf({ document: { changes, next } }, { slots }, hasVerdict) {
  if (next && !next.right.length) return hasVerdict ? "" : NO_SENTENCE;
  const right = next?.right.filter(word => !isMark(word)) ?? [];
  return changes.length && right.length && slots.some(({ isRight }) => !isRight)
    ? `Right would be: “${right.join(" ")}”.`
    : "";
}

/** Whether all heads of a layer are muted, so that nothing that it reads is passed on. @param {Pass} pass @param {string} attention */
export function readsInVain(pass, attention) {
  const [heads] = pass.stages.get(attention).shape;
  return Array.from({ length: heads }, (_, head) => isMuted(pass, attention, head)).every(Boolean);
}

/** The verdict on a checkpoint's text. @param {TwoTexts} texts */
export function verdictOf({ slots }) {
  const words = slots.filter(({ text }) => text !== CUT),
    wrong = words.filter(({ isRight }) => !isRight);
  if (!wrong.length && words.length < slots.length) return "✗ too many words";
  return wrong.length ? `✗ ${wrong.length} of ${words.length} words wrong` : "✓ all words right";
}
