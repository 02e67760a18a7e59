// One head, large: its pattern with the words of queries and keys, where a word looks, its statistics, and the call that opens it exactly.
import { background } from "../dom/colour.js";
import { button, h, makeFlash, neighbour, redraw, write } from "../dom/element.js";
import { copyText } from "../dom/link.js";
import { cellText, nameOf, namesIn, STATISTICS, topKeys, valueText, weightText } from "./headPatterns.js";

const MOST_KEYS = 8,
  LARGEST_CELL = 26, // pixels
  LEAST_LABEL = 10,
  MOST_LABEL = 11.2;

// The words along an axis; where they are too narrow, some are seen once they are pointed at.
function labels(box, words, cell) {
  const thin = Math.ceil(LEAST_LABEL / cell);
  box.replaceChildren(
    ...words.map((word, at) => {
      const label = h("span", { class: at % thin ? "between" : "" }, word);
      label.style.setProperty("--at", String(at));
      return label;
    }),
  );
}

/** Draws a pattern on a canvas, a pixel for each weight. @param {HTMLCanvasElement} canvas @param {import("./headPatterns.js").Head} head
 * @param {number} limit the weight of the full colour @param {Colours} colours */
export function drawPattern(canvas, { weights, scale, shape: [rows, columns] }, limit, colours) {
  Object.assign(canvas, { width: columns, height: rows });
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")),
    image = context.createImageData(columns, rows),
    colourOf = (/** @type {number} */ byte) => background((byte / 255) * scale, { scale: "share", limit }, colours),
    ramp = new Uint32Array(
      Uint8Array.from(Array.from({ length: 256 }, (_, byte) => [...colourOf(byte), 255]).flat()).buffer,
    ),
    pixels = new Uint32Array(image.data.buffer);
  for (let at = 0; at < weights.length; at += 1) pixels[at] = ramp[weights[at]];
  context.putImageData(image, 0, 0);
}

/** Names and values of a head's statistics, for a dl. @param {import("./headPatterns.js").Head} head */
export const drawStatistics = head =>
  namesIn([head]).flatMap(name => [
    h("dt", { title: STATISTICS[name].about }, STATISTICS[name].name),
    h("dd", {}, valueText(name, head.statistics[name])),
  ]);

/** The query and key at the pointer. @param {HTMLCanvasElement} canvas @param {import("./headPatterns.js").Head} head
 * @param {PointerEvent | MouseEvent} event @returns {[number, number]} */
export function cellAt(canvas, { shape: [n, m] }, { clientX, clientY }) {
  const { left, top, width, height } = canvas.getBoundingClientRect(),
    within = (/** @type {number} */ at, /** @type {number} */ length) =>
      Math.min(Math.max(Math.floor(at), 0), length - 1);
  return [within(((clientY - top) / height) * n, n), within(((clientX - left) / width) * m, m)];
}

/** actions: back(), step(by) to another head. Returns {element, show(head, layer, look), focus()}. `look` is {limit, colours}. */
export function makeLargeHead({ back, step }) {
  const title = h("h2"),
    note = h("p", { class: "note" }),
    leave = button("‹ All heads", back, "", { title: "Esc" }),
    earlier = button("‹", () => step(-1), "", { "aria-label": "Previous head" }),
    later = button("›", () => step(1), "", { "aria-label": "Next head" });
  const canvas = h("canvas"),
    mark = h("span", { class: "mark" }),
    rows = h("div", { class: "words of-queries", "aria-hidden": "true" }),
    columns = h("div", { class: "words of-keys", "aria-hidden": "true" }),
    cells = h("div", { class: "cells", tabIndex: 0, role: "group" }, canvas, mark),
    axes = h("div", { class: "axes", "aria-hidden": "true" }, "query ↓", h("br"), "key →"),
    pattern = h("div", { class: "pattern" }, axes, columns, rows, cells);
  const readout = h("p", { class: "pointed", role: "status" }),
    looks = h("div", { class: "looks" }),
    statistics = h("dl"),
    code = h("code"),
    copied = h("span", { role: "status" }),
    report = makeFlash(copied, 4000),
    copy = button("Copy", async () =>
      report((await copyText(window, code.textContent)) ? "Copied." : "Select it and copy it by hand."),
    ),
    call = h("p", { class: "call" }, "Number by number: ", h("br"), code, " ", copy, " ", copied),
    side = h("section", { class: "of-head", "aria-label": "The head" }, readout, looks, statistics, call),
    body = h("div", { class: "body" }, pattern, side),
    element = h(
      "section",
      { class: "large-head", hidden: true },
      h("header", {}, leave, title, earlier, later, note),
      body,
    );
  let head, layer;
  let chosen = /** @type {[number, number]} */ ([0, 0]);

  const place = () => {
    if (element.hidden) return;
    const [n, m] = head.shape,
      isNarrow = body.clientWidth < 700,
      label = Math.min(110, body.clientWidth / 4),
      width = (isNarrow ? body.clientWidth : body.clientWidth - 320) - label,
      height = Math.max(globalThis.innerHeight - body.getBoundingClientRect().top - label - 16, 260),
      cell = Math.max(Math.min(width / m, height / n, LARGEST_CELL), 1);
    pattern.style.setProperty("--label", `${label}px`);
    pattern.style.setProperty("--cell", `${cell}px`);
    Object.assign(cells.style, { width: `${cell * m}px`, height: `${cell * n}px` });
    canvas.classList.toggle("pixels", cell >= 2);
    pattern.style.setProperty("--letter", `${Math.min(Math.max(cell, LEAST_LABEL), MOST_LABEL)}px`);
    labels(rows, layer.queries, cell);
    labels(columns, layer.keys, cell);
    point(chosen);
  };
  const point = ([query, key]) => {
    const word = layer.queries[query];
    for (const [box, at] of [
      [rows, query],
      [columns, key],
    ])
      for (const [nth, each] of [...box.children].entries()) each.classList.toggle("lit", nth === at);
    Object.assign(mark.style, { left: `calc(var(--cell) * ${key})`, top: `calc(var(--cell) * ${query})` });
    write(readout, cellText(layer, head, query, key));
    const top = topKeys(head, query, MOST_KEYS),
      largest = top[0]?.weight ?? 1;
    redraw(looks, [
      h("h3", {}, `Where “${word}” looks`),
      h(
        "ol",
        {},
        top.map(({ key: at, weight }) =>
          h(
            "li",
            { class: at === key ? "lit" : "" },
            h("span", { class: "word" }, layer.keys[at]),
            h("span", { class: "bar", style: { width: `${(40 * weight) / largest}%` } }),
            weightText(head, weight),
          ),
        ),
      ),
    ]);
  };
  const choose = to => {
    chosen = to;
    point(to);
  };
  const positionIn = event => cellAt(canvas, head, event);
  cells.addEventListener("pointermove", event => point(positionIn(event)));
  cells.addEventListener("pointerleave", () => point(chosen));
  cells.addEventListener("click", event => choose(positionIn(event)));
  cells.addEventListener("keydown", event => {
    const to = neighbour(event.key, event.ctrlKey, chosen, head.shape);
    if (!to) return;
    event.preventDefault();
    choose(to);
  });
  new ResizeObserver(place).observe(body);
  return {
    element,
    show(nextHead, nextLayer, { limit, colours }) {
      const isSame = layer?.queries === nextLayer.queries && layer?.keys === nextLayer.keys;
      head = nextHead;
      layer = nextLayer;
      if (!isSame) chosen = [0, topKeys(head, 0, 1)[0]?.key ?? 0];
      element.hidden = false;
      write(title, nameOf(head));
      write(note, [layer.path, layer.note].filter(Boolean).join(": "));
      write(code, `attnviz.show(recorded, layer=${head.layer})`);
      cells.setAttribute("aria-label", `Attention weights of ${nameOf(head)}: arrow keys lead from word to word`);
      drawPattern(canvas, head, limit, colours);
      statistics.replaceChildren(...drawStatistics(head));
      place();
    },
    focus: () => cells.focus({ preventScroll: true }),
  };
}
