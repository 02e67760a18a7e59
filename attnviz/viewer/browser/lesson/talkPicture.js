// A moment's small picture: its words as dots, and arcs from the word that is looked at, as thick as its shares. It is data, so
// that a browser can keep it.
import { readPlace } from "../scene/address.js";
import { svgElement } from "../elements/element.js";
import { readPass } from "../pass/pass.js";
import { stepAt } from "../scene/state.js";

const MOST = 24; // words that have room
const [WIDTH, HEIGHT, EDGE] = [120, 48, 6];
const LEAST = 0.02; // shares below are no line

// {words, arcs: [[query, key, share]]} of the last words up to the one that is looked at.
/** @param {Pass} pass @param {Where} where */
export function smallPictureOf(pass, where) {
  const { words } = pass.document,
    sentence = words.query.map(String);
  const { query } = where.cell,
    first = Math.max(0, Math.min(query - (MOST >> 1), sentence.length - MOST));
  const arcs = shown => {
    const { attention } = stepAt(shown, where);
    if (!words.shared || !shown.stages.has(attention)) return [];
    return shown.stages.get(attention).axes[2].labels.flatMap((_, key) => {
      const share = shown.number(attention, shown.indexAt(attention, { ...where.cell, key })) ?? 0;
      return share > LEAST && key >= first && key < first + MOST
        ? [[query - first, key - first, Number(share.toFixed(3))]]
        : [];
    });
  };
  return { words: sentence.slice(first, first + MOST), arcs: arcs(pass), isPair: Boolean(pass.other) };
}

// That of a moment as the server sends it.
export function smallPictureFrom({ document, at }) {
  const pass = readPass(document);
  return smallPictureOf(pass, readPlace(pass, `?${at}`));
}

export function drawSmallPicture(picture) {
  const svg = svgElement("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "small-picture", "aria-hidden": "true" });
  if (!picture) return svg;
  const { words, arcs, isPair } = picture,
    apart = (WIDTH - 2 * EDGE) / Math.max(words.length - 1, 1),
    xOf = place => (words.length > 1 ? EDGE + place * apart : WIDTH / 2),
    base = HEIGHT - EDGE - 2;
  svg.append(
    ...arcs.map(([query, key, share]) => {
      const [from, to] = [xOf(query), xOf(key)],
        far = Math.abs(from - to),
        top = base - Math.min(6 + 0.62 * far, base - 3) * 1.3;
      const d =
        query === key
          ? `M${from} ${base}c-9 -16 9 -16 0 0`
          : `M${from} ${base}C${from} ${top} ${to} ${top} ${to} ${base}`;
      return svgElement("path", { d, "stroke-width": (0.6 + 5 * share).toFixed(1), class: "arc" });
    }),
    ...words.map((_, place) =>
      svgElement("circle", {
        cx: xOf(place),
        cy: base,
        r: place === arcs[0]?.[0] ? 3.4 : 2.2,
        class: place === arcs[0]?.[0] ? "from" : "",
      }),
    ),
  );
  if (isPair) {
    const sides = svgElement("text", { x: 3, y: 9, class: "pair" });
    sides.textContent = "A B";
    svg.append(sides);
  }
  return svg;
}
