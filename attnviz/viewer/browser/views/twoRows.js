// Two rows of words: the text that is read above the one that is written from it, and lines between them as wide as attention weights. Where
// words change their order, lines cross. In a narrow frame the rows stand side by side as columns.
import { percent } from "../model/numeral.js";
import { pairOf } from "../model/looks.js";
import { startAt } from "../model/state.js";
import { captionOf, columnsOf, correctionOf, drawnOf, isMark, linesOf, looksOf } from "../model/twoTexts.js";
import { looksText, placeOfMost, readsInVain, rightOf, sureness, textsAt, textsOf } from "../model/twoTexts.js";
import { withoutNumber } from "../model/words.js";
import { button, h, memoLast, rovingFocus, scaleOf, setTabStop, svgElement, write } from "../dom/element.js";
import { makeMotion } from "../dom/motion.js";

const BAND_EMS = 0.42, // the width of all that a word reads
  LEAST_PX = 0.75, // of a line
  FAINTEST = 0.15;
const LETTER_EMS = 0.55,
  APART_EMS = 0.75; // the width of a letter, and the space between words
const NARROW_REM = 36; // the rows stand as columns in a frame below that
const GROWS_MS = 500, // in which the lines of a new word reach what it reads
  WORD_MS = 900; // from a word to the request for the next, while all are written

/** A curve through positions along and across the rows; in columns these change places. @param {number[][]} points @param {boolean} isColumn */
export const curveOf = (points, isColumn) => {
  const [from, ...rest] = points.map(([along, across]) =>
    (isColumn ? [across, along] : [along, across]).map(each => each.toFixed(2)).join(" "),
  );
  return `M${from}C${rest.join(" ")}`;
};

// Makes texts on plates: plate(along, across, text, way, yields) stands in the middle of a point, or beside it where `way` is 1 or -1; null if
// it would cover another and `yields`.
function makePlates({ isColumn, em }) {
  const places = /** @type {number[][]} */ ([]);
  return (along, across, text, way = 0, yields = false) => {
    const [x, y] = isColumn ? [across, along] : [along, across],
      [width, height] = [(0.6 * text.length + 0.3) * em, 1.3 * em],
      middle = x + (way * width) / 2,
      place = [middle - width / 2, y - height / 2, middle + width / 2, y + height / 2];
    const isOver = other => [0, 1].every(i => place[i] < other[i + 2] && other[i] < place[i + 2]);
    if (yields && places.some(isOver)) return null;
    places.push(place);
    return svgElement(
      "g",
      {},
      svgElement("rect", { x: place[0], y: place[1], width, height, rx: 0.3 * em }),
      svgElement("text", { x: middle, y: y + 0.35 * em, "text-anchor": "middle" }, text),
    );
  };
}

// A row of words. pick(place) is called for a click, keyMoved(place) for an arrow key.
function makeRow(name, pick, keyMoved) {
  const side = h("span", { class: "side" }),
    list = h("div", { class: "words", role: "listbox" }),
    words = /** @type {any[]} */ ([]);
  const isColumn = () => Boolean(list.closest(".column"));
  rovingFocus(list, () => (isColumn() ? words.map(word => [word]) : [words]), keyMoved);
  return {
    element: h("div", { class: `row ${name}` }, side, list),
    words,
    write(title, items) {
      write(side, title);
      list.ariaLabel = title;
      for (let place = words.length; place < items.length; place += 1) {
        words[place] = h("button", { type: "button", role: "option", onclick: () => pick(place) });
        words[place].append(h("span", { class: "text" }), h("span", { class: "sure" }));
      }
      words.length = items.length;
      if (list.children.length !== words.length) list.replaceChildren(...words);
      for (const [place, { text, className, sure, label, said, room }] of items.entries()) {
        const word = words[place],
          fit = Math.min(1, (LETTER_EMS * room + APART_EMS - 0.1) / (LETTER_EMS * withoutNumber(text).length));
        word.className = className;
        word.ariaLabel = label;
        word.ariaDescription = said;
        word.style.setProperty("--fit", fit.toFixed(3));
        write(word.firstChild, withoutNumber(text));
        write(word.lastChild, sure);
      }
    },
    light(held, lit, stop) {
      for (const [place, word] of words.entries()) {
        word.classList.toggle("held", place === held);
        word.classList.toggle("lit", lit.has(place));
        word.setAttribute("aria-selected", place === held);
      }
      setTabStop(words, words[Math.min(stop, words.length - 1)]);
    },
  };
}

// The text that pass A writes, in the columns of B's; words that B lacks are marked.
function makeTextOfA() {
  const side = h("span", { class: "side" }),
    words = h("div", { class: "words" });
  return {
    element: h("div", { class: "row of-a", hidden: true }, side, words),
    write(title, slots, inB) {
      const isSame = rightOf(
        slots.map(({ text }) => text),
        inB.map(({ text }) => text),
      );
      write(side, title);
      words.replaceChildren(
        ...slots.map(({ text }, nth) =>
          h(
            "span",
            { class: isMark(text) ? "mark" : "" },
            isSame[nth] || isMark(text) ? withoutNumber(text) : h("strong", {}, withoutNumber(text)),
            " ",
          ),
        ),
      );
    },
  };
}

// What the marks of two compared texts mean.
const marksText = slots =>
  `Underlined in A: unlike B.${slots.some(({ isRight, isNext }) => !isRight && !isNext) ? " Struck out: wrong." : ""}`;

/** @returns {View & {film(translations: any[] | null, place?: number): void, end(): void, isRunning: boolean}} */
export function makeTwoRows(tools) {
  const [lines, arcs, labels] = ["lines", "looks", "digits"].map(name => svgElement("g", { class: name })),
    read = makeRow("read", hold("key"), move("key")),
    written = makeRow("written", hold("query"), move("query")),
    ofA = makeTextOfA(),
    caption = h("p", { class: "caption" }),
    on = button("", () => tools.send("next", true), "primary"),
    play = button("", () => (isWriting ? stop() : start())),
    back = button("Delete", () => tools.send("shorter", true)),
    actionBar = h("p", { class: "acts" }, on, play, back),
    svg = svgElement("svg", { "aria-hidden": "true" }, lines, arcs, labels),
    below = h("div", { class: "below" }, caption, actionBar),
    box = h("div", { class: "two-rows", role: "group" }, svg, read.element, written.element, ofA.element, below);
  let shown = /** @type {any} */ (null),
    own = /** @type {any} */ (null), // the texts of the pass
    textsOfA = /** @type {any} */ (null), // the texts of a compared pass
    filmed = /** @type {any} */ (null), // those of the training in their place, while it is played
    held = /** @type {any} */ (undefined), // the picked word; undefined: the address decides, null: none
    laid = /** @type {any} */ (null),
    isWriting = false, // word after word, up to the end
    timer = 0;
  const texts = () => filmed ?? own,
    translations = () => shown.pass.document.model?.training?.translations ?? [],
    attention = () => shown.pass.document.layers.at(-1).attention;
  const columns = () => {
    const rooms = columnsOf(own, translations()),
      roomsOfA = textsOfA ? columnsOf({ ...textsOfA, keys: [] }, []) : [];
    return Array.from({ length: Math.max(rooms.length, roomsOfA.length) }, (_, nth) =>
      Math.max(rooms[nth] ?? 0, roomsOfA[nth] ?? 0),
    );
  };
  const sides = () => {
    const [queries, keys] = shown.pass.document.words.sides;
    return textsOfA ? [`B: ${queries}`, keys] : [queries, keys];
  };
  const isCovered = () => !shown.look.shown(attention(), shown.pass.indexAt(attention(), shown.where.cell));
  const heldNow = () => {
    if (filmed || isCovered()) return null;
    if (held !== undefined) return held;
    const { pass, where } = shown,
      first = startAt(pass.document, where.step),
      isStart = ["query", "key"].every(name => where.cell[name] === first[name]);
    return isStart ? null : { side: "query", place: where.cell.query };
  };
  const isOfHeld = ({ row, key }, now) => (now.side === "query" ? row : key) === now.place;
  // The read word whose own looks are drawn: the picked one, or what the picked one reads most.
  const looking = now =>
    now === null ? null : now.side === "key" ? now.place : placeOfMost(texts().weights[now.place]);
  // A read word with the row that reads it most.
  const readBy = key => ({ query: placeOfMost(own.weights.map(row => row[key])), key });
  const cellOf = (side, place) => ({
    ...shown.where.cell,
    ...(side === "query" ? { query: place, key: placeOfMost(own.weights[place]) } : readBy(place)),
  });
  // A second click shows all lines alike again.
  function hold(side) {
    return place => {
      if (filmed) return;
      const now = heldNow();
      held = now?.side === side && now?.place === place ? null : { side, place };
      tools.go({ cell: cellOf(side, place), picked: "", trail: [] });
    };
  }
  function move(side) {
    return place => {
      if (filmed) return;
      held = { side, place };
      tools.keyMoved(attention(), shown.pass.indexAt(attention(), cellOf(side, place)));
    };
  }
  box.addEventListener("keydown", event => {
    if (event.key !== "Escape" || !heldNow()) return;
    event.stopPropagation();
    held = null;
    tools.go({});
  });
  const writeAll = () => {
    const { pass, where } = shown,
      { unit } = pass.document.words,
      { keys, slots, weights } = texts(),
      { next } = pass.document,
      rooms = columns(),
      hasNumbers = own.weights.some(row => row.some(Boolean)), // which a question may cover
      now = heldNow();
    const itemOf = (text, nth, slot) => ({
      text,
      className: [isMark(text) && "mark", slot?.isNext && "next", slot && !slot.isRight && "wrong"]
        .filter(Boolean)
        .join(" "),
      sure: slot?.isNext && slot.share ? percent(slot.share) : "",
      label: `${text}${slot?.isNext ? `, next${sureness(slot.share)}` : ""}${slot && !slot.isRight ? ", wrong" : ""}`,
      said: filmed || !hasNumbers ? "" : captionOf(own, { side: slot ? "query" : "key", place: nth }, nth),
      room: rooms[nth],
    });
    box.ariaLabel = `What each ${unit} of the translation reads`;
    read.write(
      sides()[1],
      keys.map((text, nth) => itemOf(text, nth, null)),
    );
    written.write(
      sides()[0],
      slots.map((slot, nth) => itemOf(slot.text, nth, slot)),
    );
    ofA.element.hidden = !textsOfA || filmed !== null;
    if (textsOfA) ofA.write(`A: ${pass.document.words.sides[0]}`, textsOfA.slots, slots);
    const placesIn = row => new Set(drawnOf(row).map(([place]) => place)),
      [ofQuery, ofKey] = ["query", "key"].map(side => (now?.side === side ? now.place : -1));
    written.light(ofQuery, ofKey < 0 ? new Set() : placesIn(weights.map(row => row[ofKey])), where.cell.query);
    read.light(ofKey, ofQuery < 0 ? new Set() : placesIn(weights[ofQuery]), where.cell.key);
    const asked = looking(now),
      said = !filmed && isCovered() ? "" : captionOf(texts(), now, Math.min(where.cell.query, slots.length - 1));
    const [isMuted, isEncoderMuted] = [attention(), pass.document.layers[0].attention].map(
      each => !filmed && readsInVain(pass, each),
    );
    const parts = [
      said,
      said && isMuted && "Muted: what it reads is not passed on.",
      asked !== null && looksText(keys, asked, looksOf(pass, asked), pass.document.words.sides[1]),
      asked !== null && isEncoderMuted && "Muted: what it looks at is not passed on.",
      textsOfA && !filmed && marksText(slots),
      !filmed && !isCovered() && correctionOf(pass, own, translations().length > 0 && !pass.other),
    ];
    write(caption, parts.filter(Boolean).join(" "));
    lines.classList.toggle("muted", isMuted);
    arcs.classList.toggle("muted", isEncoderMuted);
    box.classList.toggle("filmed", filmed !== null);
    actionBar.hidden = !next || Boolean(tools.alone);
    on.hidden = isDone();
    write(on, `Next word: ${slots.at(-1).text}`);
    write(play, isWriting ? "❚❚ Pause" : isDone() ? "▶ Write again" : "▶ Write all");
    back.disabled = !next?.canShorten;
  };
  const isDone = () => {
    const { next } = shown.pass.document;
    return !next || next.ends || next.isFull;
  };
  const start = () => {
    isWriting = true;
    tools.send(isDone() ? "anew" : "next", true);
    writeAll();
  };
  const stop = () => {
    clearTimeout(timer);
    isWriting = false;
    if (shown) writeAll();
  };
  const end = () => {
    if (isWriting) stop();
  };
  const known = new Map(); // lines, each with what a click on it finds
  const lineAt = (row, key) => {
    const name = `${row}-${key}`;
    if (known.has(name)) return known.get(name);
    const target = svgElement("path", { class: "target" }),
      index = () => shown.pass.indexAt(attention(), { ...shown.where.cell, query: row, key });
    target.onclick = () => {
      if (filmed) return;
      held = { side: "query", place: row };
      tools.go({ cell: { ...shown.where.cell, query: row, key }, picked: "", trail: [] });
    };
    target.onpointerenter = () => !filmed && tools.point(attention(), index());
    target.onpointerleave = () => tools.point(attention(), null);
    known.set(name, svgElement("g", { "data-line": name }, svgElement("path", { class: "line" }), target));
    return known.get(name);
  };
  const paint = (path, d, width, weight) => {
    path.setAttribute("d", d);
    path.setAttribute("stroke-width", Math.max(width, LEAST_PX).toFixed(2));
    path.style.strokeOpacity = (FAINTEST + (1 - FAINTEST) * weight).toFixed(3);
  };
  const motion = makeMotion({
    element: box,
    draw({ weights, grown }) {
      const { from, to, inner, outer, isColumn, band } = laid,
        now = heldNow(),
        rank = line => Number(now !== null && isOfHeld(line, now)) + line.weight;
      const drawn = linesOf(weights, from, to, band).sort((one, other) => rank(one) - rank(other));
      const groups = drawn.map(line => {
        const group = lineAt(line.row, line.key),
          [path, target] = group.children,
          middle = (inner + outer) / 2,
          part = grown[line.row],
          points = [
            [line.from, inner],
            [line.from, middle],
            [line.to, middle],
            [line.to, outer],
          ];
        paint(path, curveOf(points, isColumn), line.width, line.weight);
        target.setAttribute("d", path.getAttribute("d"));
        path.setAttribute("pathLength", "1");
        path.setAttribute("stroke-dasharray", part < 1 ? `${part.toFixed(4)} 1` : "none");
        const isEnd = !now && isMark(texts().slots[line.row].text);
        group.setAttribute("class", now && !isOfHeld(line, now) ? "faint" : isEnd ? "end" : "");
        return group;
      });
      lines.replaceChildren(...groups);
    },
    print({ weights }) {
      const now = heldNow(),
        { from, to, inner, outer, isColumn, band, em } = laid,
        plate = makePlates(laid),
        texts = [];
      if (now !== null)
        for (const line of linesOf(weights, from, to, band).filter(each => isOfHeld(each, now))) {
          const [along, across, way] = now.side === "query" ? [line.to, outer, 1] : [from[line.row], inner, -1];
          texts.push(
            plate(along, across + way * (isColumn ? 0.3 : 1.2) * em, percent(line.weight), isColumn ? way : 0),
          );
        }
      drawLooks(looking(now), plate, texts);
      labels.replaceChildren(...texts.filter(Boolean));
    },
  });
  // A click on an arc, or on its percentage, explains that weight of the layer before; the picked word stays.
  const inspectLook = (query, { head, key }) => {
    if (filmed) return;
    held = heldNow();
    tools.pick(shown.pass.document.layers[0].attention, [head, query, key]);
  };
  // Arcs over the read text: what one of its words looks at in the layer before.
  function drawLooks(asked, plate, texts) {
    const { to, start, rise, isColumn, band, em } = laid,
      looks = asked === null ? [] : looksOf(shown.pass, asked).sort((one, other) => other.weight - one.weight),
      farthest = Math.max(1, ...looks.map(({ key }) => Math.abs(to[key] - to[asked]))),
      named = new Set();
    const drawn = looks.map(look => {
      const { head, heads, key, weight } = look,
        open = () => inspectLook(asked, look);
      const isSelf = key === asked,
        target = svgElement("path", { class: "target" }),
        far = Math.abs(to[key] - to[asked]) / farthest,
        high = rise * (isSelf ? 0.34 : 0.45 + 0.5 * far) * (1 - (heads > 1 ? 0.12 * head : 0)),
        lean = isSelf ? em : 0, // of a loop
        top = start - (4 / 3) * high,
        path = svgElement("path", { class: "line" });
      const points = [
        [to[asked] - 0.3 * lean, start],
        [to[asked] - lean, top],
        [to[key] + lean, top],
        [to[key] + 0.3 * lean, start],
      ];
      paint(path, curveOf(points, isColumn), 0.7 * weight * band, weight);
      target.setAttribute("d", path.getAttribute("d"));
      target.onclick = open;
      if (!isSelf && !named.has(head)) {
        const name = heads > 1 ? `head ${head + 1}` : "",
          said = [name, !(name && isColumn) && percent(weight)].filter(Boolean).join(": "); // a column lacks space for both
        const label = plate((to[asked] + to[key]) / 2, start - high, said, 0, true);
        label?.classList.add("open");
        label?.addEventListener("click", open);
        texts.push(label);
      }
      named.add(head);
      return svgElement("g", { "data-look": `${head}-${key}` }, path, target);
    });
    arcs.replaceChildren(...drawn.toReversed()); // where they meet, the largest is hit
  }
  const setColumns = memoLast(([letters, sides]) => {
    const ems = letters.map(n => LETTER_EMS * n + APART_EMS);
    const properties = {
      columns: ems.map(n => `minmax(0, ${n.toFixed(2)}fr)`).join(" "),
      widest: Math.max(...ems).toFixed(2),
      ems: ems.reduce((sum, n) => sum + n, 0).toFixed(2),
      side: LETTER_EMS * Math.max(...sides.map(({ length }) => length)) + 1,
    };
    for (const [name, value] of Object.entries(properties)) box.style.setProperty(`--${name}`, String(value));
  });
  const lay = memoLast(() => {
    const scale = scaleOf(box),
      { left, top } = box.getBoundingClientRect(),
      isColumn = box.classList.contains("column"),
      [keys, slots] = [read, written].map(({ words }) => words.map(word => word.getBoundingClientRect())),
      along = at => (isColumn ? (at.top + at.bottom) / 2 - top : (at.left + at.right) / 2 - left) / scale,
      em = Number.parseFloat(getComputedStyle(labels).fontSize),
      letter = Number.parseFloat(getComputedStyle(read.words[0]).fontSize);
    const edge = (all, [inColumn, inRow], most) =>
      most(...all.map(at => (isColumn ? at[inColumn] - left : at[inRow] - top))) / scale;
    const start = edge(keys, ["left", "top"], Math.min);
    return {
      isColumn,
      em,
      start,
      from: slots.map(along),
      to: keys.map(along),
      outer: edge(keys, ["right", "bottom"], Math.max),
      inner: edge(slots, ["left", "top"], Math.min),
      rise: Math.max(start - em, em),
      band: Math.max(8, BAND_EMS * letter),
    };
  });
  let drawn = "",
    lastState = "",
    lastNumbers = "",
    last = /** @type {string[]} */ ([]); // the words that were written when it was drawn
  const connect = () => {
    if (!shown || !box.clientWidth) return;
    const { keys, slots, weights } = texts(),
      rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize),
      before = laid;
    setColumns([columns(), sides()]);
    box.classList.toggle("column", box.clientWidth < NARROW_REM * rem);
    svg.setAttribute("viewBox", `0 0 ${box.clientWidth} ${box.clientHeight}`);
    const tops = [read, written, { element: below }].map(({ element }) => element.offsetTop),
      words = slots.filter(({ isNext }) => !isNext).map(({ text }) => text);
    laid = lay([box.clientWidth, tops, keys, slots.length, shown.where.present, document.fonts.status]);
    const moment = { weights, grown: weights.map(() => 1) },
      now = JSON.stringify([moment, heldNow()]);
    if (now === drawn && (before === laid || motion.isMoving)) return; // what moves is drawn where words are then
    const numbers = JSON.stringify(weights),
      state = JSON.stringify([heldNow(), weights.length, filmed !== null]),
      isOther = state === lastState && numbers !== lastNumbers && filmed === null; // numbers, of the same words
    lastState = state;
    lastNumbers = numbers;
    const isNew = words.length === last.length + 1 && String(last) === String(words.slice(0, -1)) && !filmed;
    drawn = now;
    last = words;
    if (isOther && !isNew) return motion.go(moment);
    motion.set({ weights, grown: moment.grown.map((_, row) => Number(!isNew || row < words.length)) });
    if (isNew) motion.go(moment, { ms: GROWS_MS });
  };
  new ResizeObserver(connect).observe(box);
  return {
    element: box,
    update(pass, where, look) {
      const before = shown?.pass.document,
        was = own;
      shown = { pass, where, look };
      own = textsOf(pass, where, look);
      const pair = pairOf(pass, where);
      textsOfA = pair && textsOf(pair.pass, pair.where, look.pair?.look ?? look);
      if (was?.slots.length !== own.slots.length) held = undefined;
      if (isWriting && before !== pass.document) {
        clearTimeout(timer);
        isWriting = !isDone() && String(was.keys) === String(own.keys);
        if (isWriting) timer = window.setTimeout(() => tools.send("next", true), WORD_MS);
      }
      writeAll();
    },
    connect,
    end,
    get isRunning() {
      return isWriting;
    },
    /** Shows what a model writes at a place of its training, null what it writes in the pass. */
    film(all, place = 0) {
      if (!shown || (all === null && filmed === null)) return;
      end();
      filmed = all && textsAt(all, own.keys, place, columnsOf(own, all).length);
      writeAll();
      connect();
    },
  };
}
