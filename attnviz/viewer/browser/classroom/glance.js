// A small picture of a pass, drawn without the viewer: its words, and the attention of the selected one.
import { h, middlesOf, redraw, svgElement, write } from "../dom/element.js";
import { drawRuns } from "../dom/runs.js";
import { percent } from "../model/numeral.js";
import { drawArcs } from "../views/arcs.js";

const ARCS_PX = 96, // high
  SAME_LINE_PX = 4,
  NAMED = 3; // words in the caption
const NO_ACTIONS = { pick: () => {}, point: () => {} };

/** {element, update(glance, covers, answers), end()}: `covers` are the stages that give the answer away; `answers` are the buttons of the words
 * that are asked for, which then stand for them, or null. */
export function makeGlance() {
  const arcs = svgElement("svg", { class: "arcs", "aria-hidden": "true" }),
    title = h("h2"),
    text = h("p"),
    lines = h("div", { class: "lines" }),
    caption = h("p", { class: "caption" }),
    box = h("section", { class: "class-glance", "aria-label": "The words" }, title, text, lines, caption);
  let shown = /** @type {any} */ (null),
    drawn = /** @type {any[]} */ ([]), // what the words are drawn of: their buttons keep the keyboard
    ofKeys = /** @type {any} */ (null),
    ofQueries = /** @type {any} */ (null);
  const isInLine = elements => {
    const tops = elements.map(each => each.getBoundingClientRect().top);
    return Math.max(...tops) - Math.min(...tops) < SAME_LINE_PX;
  };
  // Arcs lead to words that stand in one line; the shares stand below the words in any case.
  function connect() {
    if (!shown || !box.isConnected) return;
    const { queries, keys, looks, isShared } = shown,
      hasArcs = looks.length > 0 && isInLine(queries) && isInLine(keys);
    arcs.toggleAttribute("hidden", !hasArcs);
    if (!hasArcs) return;
    const [from, to] = [queries, keys].map(each => middlesOf(each, arcs)),
      side = isShared ? "above" : "between";
    drawArcs(arcs, { from, to, height: ARCS_PX, side, most: 1, isMuted: false }, looks, NO_ACTIONS);
  }
  function drawLines(glance, answers) {
    const { words, keys, sides } = glance,
      line = (row, side) => h("div", { class: "line" }, side && h("span", { class: "side" }, side), row);
    ofKeys = answers ?? drawWords(keys ?? words);
    ofQueries = keys ? drawWords(words) : ofKeys;
    lines.replaceChildren(...(keys ? [line(ofQueries, sides[0])] : []), arcs, line(ofKeys, keys ? sides[1] : ""));
    drawn = [glance, answers];
  }
  const observer = new ResizeObserver(connect);
  observer.observe(box);
  return {
    element: box,
    update(glance, covers, answers = null) {
      const { query, stage, said } = glance,
        isShared = glance.keys === null,
        looks = covers.includes(stage) ? [] : looksOf(glance);
      if (drawn[0] !== glance || drawn[1] !== answers || !lines.contains(ofKeys)) drawLines(glance, answers);
      write(title, glance.title);
      redraw(text, drawRuns(said));
      title.hidden = !glance.title;
      text.hidden = !said.length;
      shown = { isShared, looks, queries: [...ofQueries.children], keys: [...ofKeys.children] };
      for (const [nth, each] of shown.queries.entries()) each.classList.toggle("query", nth === query);
      const shares = new Map(looks.map(({ key, share }) => [key, share]));
      for (const [key, each] of shown.keys.entries()) {
        const share = shares.get(key);
        if (share === undefined) delete each.dataset.share;
        else each.dataset.share = percent(share);
        each.style.setProperty("--share", String(share ?? 0));
      }
      write(caption, captionOf(glance, looks));
      connect();
    },
    end: () => observer.disconnect(),
  };
}

const drawWords = words =>
  h(
    "p",
    { class: "words" },
    words.map(word => h("span", {}, word)),
  );

const looksOf = ({ arcs, query }) =>
  arcs.flatMap(([from, key, share]) => (from === query ? [{ query, key, share, isLit: true, isFaint: false }] : []));

function captionOf({ words, keys, query }, looks) {
  const most = looks.toSorted((one, other) => other.share - one.share).slice(0, NAMED),
    named = most.map(({ key, share }) => `“${(keys ?? words)[key]}” ${percent(share)}`);
  return named.length ? `“${words[query]}” looks at ${named.join(", ")}${looks.length > NAMED ? ", …" : "."}` : "";
}
