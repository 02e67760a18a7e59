// The panel of the speaker's window (notes, the next moment, the time), and thumbnails of moments.
import { readWhere } from "../model/address.js";
import { button, h, svgElement, write } from "../dom/element.js";
import { readPass } from "../model/pass.js";
import { stepAt } from "../model/state.js";
import { hasTwoRows, isMark } from "../model/twoTexts.js";
import { layerName } from "../model/words.js";
import { readStored, writeStored } from "./memory.js";
import { answerOf } from "./question.js";
import { lineOf } from "./momentText.js";
import { makeClassPanel } from "./classPanel.js";
import { makeHandOver } from "./handOver.js";
import { drawSlideThumbnail, isSlide } from "./slide.js";

const MOST = 24; // words at most
const [WIDTH, HEIGHT, EDGE] = [120, 48, 6];
const MOST_LETTERS = 200; // of a heading
const LEAST = 0.02; // smaller attention weights get no arc

// A thumbnail's data: {name, words, arcs: [[query, key, weight]], isPair}, with the last words up to the selected one. All moments of a
// sentence have much the same arcs: `name` is the step and the selected word.
/** @param {Pass} pass @param {Where} where */
export function thumbnailOf(pass, where) {
  const words = pass.wordsAt(where.step),
    name = `${stepAt(pass, where).title}, “${words.query[where.cell.query]}”`;
  return { name, ...(words.shared ? thumbnailOfWords : thumbnailOfTwoTexts)(pass, where, words) };
}

function thumbnailOfWords(pass, where, words) {
  const sentence = words.query.map(String),
    { query } = where.cell,
    first = Math.max(0, Math.min(query - (MOST >> 1), sentence.length - MOST)),
    name = stepAt(pass, where)?.attention ?? "",
    keys = pass.stages.get(name)?.axes[2].labels ?? [];
  const arcs = keys.flatMap((_, key) => {
    const weight = pass.number(name, pass.indexAt(name, { ...where.cell, key })) ?? 0,
      isDrawn = weight > LEAST && key >= first && key < first + MOST;
    return isDrawn ? [[query - first, key - first, Number(weight.toFixed(3))]] : [];
  });
  return { words: sentence.slice(first, first + MOST), arcs, isPair: Boolean(pass.other) };
}

// The same of two texts: {..., keys}, the words that are read; the lines are those of all words where the picture shows them.
function thumbnailOfTwoTexts(pass, where, words) {
  const [query, keys] = [words.query, words.key].map(all => all.slice(0, MOST).map(String)),
    name = stepAt(pass, where)?.attention ?? "",
    rows = hasTwoRows(pass, where) ? [...query.keys()] : [where.cell.query];
  const arcs = rows.flatMap(row =>
    keys.flatMap((_, key) => {
      const weight = pass.number(name, pass.indexAt(name, { ...where.cell, query: row, key })) ?? 0;
      return weight > LEAST && row < MOST ? [[row, key, Number(weight.toFixed(3))]] : [];
    }),
  );
  return { words: query, keys, arcs, isPair: Boolean(pass.other) };
}

/** What a moment of a model with named layers is called: its layer and step, or the two texts; "" of any other. @param {Pass} pass @param {Where} where */
export function headingOf(pass, where) {
  const { layers, changes } = pass.document;
  if (!layers.some(({ title }) => title)) return "";
  const { title, layer } = stepAt(pass, where),
    [read, written] = ["key", "query"].map(role => pass.document.words[role].filter(word => !isMark(word)).join(" ")),
    what = hasTwoRows(pass, where)
      ? `${read} → ${written || "…"}`
      : layer
        ? `${layerName(pass.document, layer)}: ${title}`
        : title;
  return [what, ...changes.map(({ text }) => text)].join(" · ").slice(0, MOST_LETTERS);
}

// What pictures of a lesson's own show: arcs of the pass that goes with them would mislead.
export const OWN_KINDS = { sweep: "Histograms of random scores", mistake: "Weights beside a mistake’s" };

export function thumbnailFrom(moment) {
  if (isSlide(moment)) return { slide: { title: moment.title, ...moment.picture } };
  if (moment.picture) return { kind: OWN_KINDS[moment.picture.kind] };
  const { document, at } = moment,
    pass = readPass(document);
  return thumbnailOf(pass, readWhere(pass, `?${at}`));
}

export function drawThumbnail(thumbnail) {
  if (thumbnail?.kind) return drawSlideThumbnail({ title: thumbnail.kind });
  if (thumbnail?.slide) return drawSlideThumbnail(thumbnail.slide);
  const svg = svgElement("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "small-picture", "aria-hidden": "true" });
  if (!thumbnail) return svg;
  const { words, keys = null, arcs, isPair } = thumbnail,
    base = HEIGHT - EDGE - 2;
  const xIn = row => {
    const gap = (WIDTH - 2 * EDGE) / Math.max(row.length - 1, 1);
    return index => (row.length > 1 ? EDGE + index * gap : WIDTH / 2);
  };
  const [xOf, xOfKey] = [words, keys ?? words].map(xIn);
  for (const [query, key, weight] of arcs) {
    const [from, to] = [xOf(query), xOfKey(key)],
      top = base - Math.min(6 + 0.62 * Math.abs(from - to), base - 3) * 1.3,
      curve = keys
        ? `L${to} ${EDGE}`
        : query === key
          ? "c-9 -16 9 -16 0 0"
          : `C${from} ${top} ${to} ${top} ${to} ${base}`,
      width = (0.6 + 5 * weight).toFixed(1);
    svg.append(svgElement("path", { d: `M${from} ${base}${curve}`, "stroke-width": width, class: "arc" }));
  }
  for (const index of words.keys()) {
    const isQuery = index === arcs[0]?.[0],
      [r, name] = isQuery ? [3.4, "from"] : [2.2, ""];
    svg.append(svgElement("circle", { cx: xOf(index), cy: base, r, class: name }));
  }
  for (const index of (keys ?? []).keys()) svg.append(svgElement("circle", { cx: xOfKey(index), cy: EDGE, r: 2.2 }));
  if (isPair) {
    const sides = svgElement("text", { x: 3, y: 9, class: "pair" });
    sides.textContent = "A B";
    svg.append(sides);
  }
  return svg;
}

const SECOND_MS = 1000;
const BLACK = "The room sees a black screen. B shows the talk again.";
const OVER = "The room sees that the talk is over. Page Up goes back.";

// `next` is a promise of the following moment, null at the end; `planned` are the minutes of each. stage() reports what the audience sees.
export function makeSpeakerPanel(act, name) {
  const watch = makeStopwatch(() => sessionStorage, name),
    clock = h("p", { class: "clock" }),
    plan = h("p", { class: "plan" }),
    stageStatus = h("p", { class: "room", role: "status" }),
    notes = h("p", { class: "own-notes" }),
    answer = h("p", { class: "the-answer" }),
    nextBox = h("section", { class: "next" }),
    classPanel = makeClassPanel(act, makeHandOver());
  let shown = /** @type {any} */ (null); // the moment, so that late replies are dropped
  const tick = () => write(clock, `${timeText(watch.elapsed())} · ${new Date().toTimeString().slice(0, 5)}`),
    timer = setInterval(tick, SECOND_MS);
  const again = button("Start the clock again", () => {
    watch.restart();
    tick();
  });
  tick();
  const parts = [clock, plan, stageStatus, notes, answer, classPanel.element, nextBox, again];
  return {
    element: h("aside", { class: "speaker", "aria-label": "For the speaker" }, parts),
    stage({ isBlank, isOver, nextPress }) {
      write(stageStatus, isBlank ? BLACK : isOver ? OVER : "");
      classPanel.stage(nextPress);
    },
    classNow: classPanel.update,
    async update({ moment, next, planned, number }) {
      if (shown === moment) return;
      shown = moment;
      classPanel.ask(moment.question);
      write(notes, moment.notes || "No notes.");
      notes.classList.toggle("none", !moment.notes);
      write(answer, moment.question ? `Answer: ${answerOf(moment.question)}` : "");
      write(plan, planText(planned, number));
      const following = await (next?.catch(() => null) ?? null);
      if (shown !== moment) return;
      nextBox.replaceChildren(h("h2", {}, following ? "Next" : "This is the last moment."));
      if (following) {
        const thumbnail = /** @type {any} */ (thumbnailFrom(following));
        nextBox.append(drawThumbnail(thumbnail), h("p", {}, lineOf(following) || thumbnail.name));
      }
    },
    end: () => clearInterval(timer),
  };
}

// Goes on when its window, which is of that name, is loaded again.
export function makeStopwatch(storeOf, name) {
  const key = `attnviz clock ${name}`,
    kept = readStored(storeOf, key);
  let begun = 0;
  const start = from => {
    begun = from;
    writeStored(storeOf, key, begun);
  };
  start(Number.isFinite(kept) && kept <= Date.now() ? kept : Date.now());
  return { elapsed: () => Date.now() - begun, restart: () => start(Date.now()) };
}

// Milliseconds as 4:05.
export function timeText(ms) {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

// When a moment should end, out of the whole talk; empty where it has no planned minutes.
export function planText(planned, number) {
  const [here, total] = [planned.slice(0, number), planned].map(all => all.reduce((sum, each) => sum + each, 0));
  return planned[number - 1]
    ? `This moment ends at ${timeText(here * 60_000)} of ${timeText(total * 60_000)} planned`
    : "";
}
