// Collecting values: strips of cells shrink to their attention weights and slide into one stack, whose columns add up to what the
// head collects. The same picture adds up the output, of the heads' parts or of W_O's rows.
import { changeAt } from "../model/changes.js";
import { digits, percent, short } from "../model/numeral.js";
import { css, textOn } from "../dom/colour.js";
import { button, choice, h, redraw, rovingFocus, setTabStop, svgElement, write } from "../dom/element.js";
import { isCalm, makeMotion } from "../dom/motion.js";
import { drawRuns } from "../dom/runs.js";
import { drawWays, runsOf } from "./oneWordCells.js";
import { collectionOf, layoutOf, momentOf, numbersIn } from "./collection.js";

const MOVE_MS = 550,
  HOLD_MS = 900; // between the moves of Play

const SENTENCES = {
  values: unit => `Each strip is the value of one ${unit}, a cell for each dimension.`,
  "times weight": () => "Each value times its attention weight: a strip is as high as its weight.",
  stack: (_, kind) =>
    kind === "values"
      ? "Stacked: each column adds up to one number of what the head collects."
      : "Stacked: each column adds up to one number of the output.",
  stir: () => "Stirred: each column’s mean, with the weights as amounts, is what the head collects.",
  parts: () => "Each head’s part of the output is a strip.",
  rows: () => "Each number that the head collected has a row of the output parameters.",
  "times numbers": () => "Each row is multiplied by its number: one below zero turns its signs around.",
};
const MUTED = "Muted: the others keep their weights. (A mask would share its part out among them.)",
  PREVIEW = " A preview: numbers elsewhere on the page are unchanged.";

const set = (element, attributes) => {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value.toFixed(2));
};

const text = (className, size, anchor, attributes = {}) =>
  svgElement("text", { class: className, "font-size": size.toFixed(1), "text-anchor": anchor, ...attributes });

// Makes a group of the drawing a button.
function makeTarget(group, act) {
  group.setAttribute("role", "button");
  group.onclick = act;
  group.onkeydown = event => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    act();
  };
  return group;
}

const isStackedIn = name => name === "stack" || name === "stir";
const isTarget = group => group.getAttribute("role") === "button" && !group.classList.contains("off");

// The elements of a drawing with these rows and columns. press(key) is a click on a word, pick(cell) on a number.
function buildDrawing(
  svg,
  { rows, columns, sumCells, kind },
  { letter, left, cell, isWide, stackX, small, leastDigits, label: nameWidth, weightX },
  { press, pick, addressOf },
) {
  const width = cell * columns.length;
  const numberAt = (group, at) => {
    group.setAttribute("data-cell", addressOf(at));
    return makeTarget(group, () => pick(at.name, at.index));
  };
  const heads = columns.map((label, nth) => {
    const x = left + cell * (nth + 0.5),
      head = text("soft", small, "middle", { x, y: 1.1 * letter });
    head.append(nth ? label : `dim ${label}`);
    return head;
  });
  const lines = rows.map(({ key, isOthers, values, cells }) => {
    const target = svgElement("rect", { class: "target", x: -2, y: -letter, width: nameWidth, height: 2 * letter }),
      label = text(isOthers ? "soft" : "name", isOthers ? small : letter, "start", { x: 0, y: 0.35 * letter }),
      weight = text(kind === "values" ? "digits weight" : "digits", small, "end", { x: weightX, y: 0.3 * letter }),
      word = svgElement("g", { class: "of-strip" }, target, label, weight),
      trace = svgElement("rect", { class: "empty", x: left, width }),
      hold = svgElement("line", { class: "hold", x1: left - 0.45 * letter, x2: left - 0.45 * letter }),
      tag = text("digits", small, "end", { x: stackX - 0.5 * letter });
    const faces = values.map((_, nth) => {
      const rect = svgElement("rect", { width: cell.toFixed(2) }),
        number = text("digits", letter, "middle"),
        group = svgElement("g", { class: "cell" }, rect, number);
      return { group: cells ? numberAt(group, cells[nth]) : group, rect, number };
    });
    if (key !== null) makeTarget(word, () => press(key)).setAttribute("data-act", `word ${key}`);
    const strip = svgElement("g", {}, ...faces.map(({ group }) => group));
    return { word, label, weight, trace, hold, tag, faces, strip };
  });
  const sums = sumCells.map((at, nth) => {
    const x = stackX + cell * nth,
      area = svgElement("rect", { class: "target", x, y: -letter, width: cell, height: 2 * letter }),
      number = text("digits sum", Math.max(Math.min(1.2 * letter, cell / 3.9), leastDigits), "middle", {
        x: x + cell / 2,
        y: 0,
      });
    return { number, group: numberAt(svgElement("g", { class: "cell" }, area, number), at) };
  });
  const empty = svgElement("rect", { class: "empty", x: stackX, width }),
    rule = svgElement("line", { class: "rule", x1: stackX, x2: stackX + width }),
    isTight = isWide && cell < 6 * letter, // the stack ends where the picture does
    title = text("soft digits", small, isTight ? "end" : "start", { x: isTight ? stackX + width : stackX });
  const groups = lines.map(({ word, trace, hold, tag, strip }) => svgElement("g", {}, word, trace, hold, strip, tag));
  svg.replaceChildren(...heads, empty, ...groups, rule, title, ...sums.map(({ group }) => group));
  const targets = () => [
    ...lines.map(({ word, faces }) => [word, ...faces.map(({ group }) => group)].filter(isTarget)),
    sums.map(({ group }) => group).filter(isTarget),
  ];
  return { lines, sums, empty, rule, title, targets: () => targets().filter(({ length }) => length) };
}

// Positions, heights and colours of a moment.
function place({ lines, sums, empty, rule, title }, { letter, cell }, { strips, stackY, tall, stacked, weighed }) {
  const foot = stackY + tall;
  strips.forEach(({ middle, y, height, x, at, piece, there, fills }, nth) => {
    const { word, trace, hold, tag, faces, strip } = lines[nth];
    word.setAttribute("transform", `translate(0 ${middle.toFixed(2)})`);
    set(hold, { y1: y, y2: y + height, opacity: weighed });
    set(trace, { y, height, opacity: 0.6 * Math.max(stacked, 1 - there) });
    set(strip, { opacity: there });
    set(tag, { y: at + piece / 2 + 0.3 * letter });
    faces.forEach(({ rect, number }, column) => {
      set(rect, { x: x + column * cell, y: at, height: piece });
      rect.style.fill = css(fills[column].map(Math.round));
      set(number, { x: x + (column + 0.5) * cell, y: at + piece / 2 });
    });
  });
  set(empty, { y: stackY, height: tall, opacity: stacked });
  set(rule, { y1: foot + 4, y2: foot + 4, opacity: stacked });
  set(title, { y: stackY - 0.6 * letter });
  for (const { group } of sums) group.setAttribute("transform", `translate(0 ${(foot + 1.3 * letter).toFixed(2)})`);
}

// Words, digits and names of a moment at rest, in the phase of that name.
function print({ lines, sums, title }, { collection, layout, pass, withoutText }, name, { strips }) {
  const { rows, sumCells, kind, isSumShown } = collection,
    { letter, cell, isWide } = layout,
    isStacked = isStackedIn(name);
  rows.forEach((row, nth) => {
    const { word, label, weight, tag, faces } = lines[nth],
      numbers = numbersIn(row, name),
      isProduct = numbers !== row.values,
      { piece, fills } = strips[nth],
      size = Math.min(0.95 * letter, cell / 3.7, 0.8 * piece),
      hasDigits = !row.isMuted && name !== "stir" && size >= layout.leastDigits,
      share = percent(row.weight);
    write(label, row.name);
    const ofValues = name === "values" ? "" : row.isMuted ? "muted" : share;
    write(weight, kind === "values" ? ofValues : kind === "products" ? `${short(row.factor)} ×` : "");
    write(tag, isStacked && isWide && !row.isMuted && name !== "stir" && piece >= 0.9 * letter ? row.name : "");
    word.classList.toggle("muted", row.isMuted);
    if (row.key !== null)
      word.setAttribute("aria-label", withoutText ? `${row.name}, ${share}` : `Mute “${row.name}”, ${share}`);
    if (row.key !== null && !withoutText) word.setAttribute("aria-pressed", row.isMuted);
    faces.forEach(({ group, rect, number }, column) => {
      number.setAttribute("font-size", Math.max(size, 1).toFixed(1));
      number.style.fill = css(textOn(fills[column]));
      write(number, hasDigits ? short(numbers[column]) : "");
      rect.classList.toggle("merged", name === "stir");
      group.classList.toggle("off", row.isMuted);
      const at = row.cells?.[column];
      const told = isProduct ? `, times ${short(row.factor)} = ${digits(numbers[column])}` : "";
      if (at)
        group.setAttribute("aria-label", `${pass.nameOf(at.name, at.index)} = ${digits(row.values[column])}${told}`);
    });
  });
  sumCells.forEach((at, nth) => {
    const { number, group } = sums[nth],
      isThere = isStacked && isSumShown;
    write(number, isThere ? short(collection.sums[nth]) : "");
    group.classList.toggle("off", !isThere);
    const label = isThere ? `${pass.nameOf(at.name, at.index)} = ${digits(collection.sums[nth])}` : "still to come";
    group.setAttribute("aria-label", label);
  });
  write(title, isStacked ? titleOf(collection) : "");
}

function titleOf({ kind, rows }) {
  if (kind !== "values") return "each column’s sum";
  const kept = rows.reduce((sum, { weight, isMuted }) => sum + (isMuted ? 0 : weight), 0);
  return 1 - kept > 1e-9
    ? `${percent(kept)} taken; the rest of the stack stays empty`
    : "weight × value; below, their sums";
}

/** `actions` are those of the One word view, `withoutText` is as there; redrawAll() draws that view again, after a preview. Returns {element,
 * read(content), update(collection, content, size), hide(), mark(address)}. */
export function makeCollectValues(actions, withoutText, redrawAll) {
  const previews = new Set(), // addresses of attention weights
    caption = h("div", { class: "collected" }),
    controls = h("p", { class: "phases" }),
    note = h("p", { class: "note", role: "status" }),
    svg = svgElement("svg", { role: "group" }),
    box = h(
      "section",
      { class: "collecting", "aria-label": "Collecting values", hidden: true },
      caption,
      controls,
      svg,
      note,
    );
  let shown = null, // {collection, content, layout, step}
    phase = 0,
    chosen = null, // the phase that was asked for, until another step
    drawing = null,
    timer = 0,
    drawn = "",
    built = "",
    marked = "";
  const motion = makeMotion({
    element: svg,
    draw: moment => place(drawing, shown.layout, moment),
    print: moment => {
      const { collection, layout, content } = shown;
      print(drawing, { collection, layout, pass: content.pass, withoutText }, collection.phases[phase], moment);
      mark();
    },
  });
  rovingFocus(svg, () => drawing?.targets() ?? []);
  rovingFocus(controls, () => [[...controls.querySelectorAll("button")]]);

  const momentAt = nth => momentOf(shown.collection, nth, shown.layout, shown.content.paint.colours);
  const go = (nth, options = {}) => {
    phase = nth;
    say();
    motion.go(momentAt(nth), { ms: MOVE_MS, ...options });
  };
  // From the strips alone to the phase `end`, with a hold at each.
  const play = (end, hold) => {
    clearTimeout(timer);
    if (isCalm()) return go(end);
    const later = nth => {
      timer = setTimeout(
        () => go(nth, { isQuiet: !hold && nth < end, after: () => nth < end && later(nth + 1) }),
        hold,
      );
    };
    phase = 0;
    say();
    motion.set(momentAt(0));
    later(1);
  };
  const choose = nth => {
    clearTimeout(timer);
    chosen = nth;
  };
  const press = key => {
    const { collection, content } = shown,
      { cell, isSet } = collection.rows.find(row => row.key === key),
      address = content.pass.address(cell.name, cell.index);
    if (withoutText) return actions.select("key", key, false);
    clearTimeout(timer);
    if (actions.alone) {
      if (!previews.delete(address)) previews.add(address);
      redrawAll();
    } else if (isSet) actions.send("drop", changeAt(content.pass, cell.name, cell.index));
    else actions.set(cell, 0);
  };

  // The sentences, and the phases' buttons.
  const say = () => {
    const { collection, content } = shown,
      { part, first, kind, phases, rows, more, isPreview } = collection,
      { unit } = content.pass.wordsAt(content.where.step),
      offered = collection.isSumShown ? phases : phases.slice(0, phases.indexOf("stack"));
    const ways = withoutText || content.where.present ? [] : drawWays({ ...first, isTraced: false }, content, actions),
      ofBand = withoutText ? [] : [...drawRuns(runsOf(part, content.paint)), " "],
      left = more ? ` … ${more} more dimensions.` : "";
    redraw(caption, [...ofBand, h("span", {}, SENTENCES[phases[phase]](unit, kind) + left), ...ways]);
    const phaseButtons = choice(offered, phases[phase], text => {
      choose(phases.indexOf(text));
      go(chosen);
    });
    const playButton = button("▶ Replay", () => {
      choose(offered.length - 1);
      play(chosen, HOLD_MS);
    });
    redraw(controls, [phaseButtons, playButton]);
    const buttons = [...controls.querySelectorAll("button")];
    setTabStop(buttons, buttons[Math.min(phase, buttons.length - 1)]);
    const hint = withoutText || kind !== "values" ? "" : `Click a ${unit} to mute it.`;
    write(note, rows.some(({ isMuted }) => isMuted) ? MUTED + (isPreview ? PREVIEW : "") : hint);
  };
  const mark = () => {
    for (const each of svg.querySelectorAll("[data-cell]"))
      each.classList.toggle("focus", each.getAttribute("data-cell") === marked);
    const stops = drawing.targets().flat(),
      focused = svg.getRootNode().activeElement,
      isMarked = each => each.getAttribute("data-cell") === marked;
    setTabStop(
      [...svg.querySelectorAll("[role=button]")],
      stops.includes(focused) ? focused : (stops.find(isMarked) ?? stops[0]),
    );
  };

  return {
    element: box,
    read: (content, most) => collectionOf(content, previews, most),
    /** `size` is {width, height, letter, leastDigits}, in pixels; a null `height` is as high as it takes. `hasArrived`: from another step. */
    update(collection, content, { width, height, letter, leastDigits }, hasArrived) {
      const { where, paint, pass } = content,
        { rows, columns, kind } = collection,
        end = collection.phases.indexOf("stack") - (collection.isSumShown ? 0 : 1),
        step = `${where.step} ${collection.isSumShown}`,
        isNewStep = step !== shown?.step;
      if (isNewStep) chosen = null;
      box.hidden = false;
      box.style.fontSize = `${letter.toFixed(1)}px`;
      shown = { collection, content, layout: shown?.layout, step };
      const aim = Math.min(chosen ?? end, collection.phases.length - 1),
        state = JSON.stringify([step, width, height, letter, rows, collection.sums, paint.colours.page]);
      if (state === drawn) return say();
      clearTimeout(timer);
      drawn = state;
      phase = aim;
      say();
      const taken = [caption, controls, note].reduce((sum, each) => sum + each.offsetHeight, letter),
        layout = layoutOf(collection, { width, height: height === null ? null : height - taken, letter, leastDigits });
      shown.layout = layout;
      svg.setAttribute("height", Math.ceil(layout.height));
      const shape = JSON.stringify([
        width,
        letter,
        kind,
        columns,
        paint.colours.page,
        rows.map(({ key, name, cells }) => [key, name, cells]),
      ]);
      if (shape === built && !(hasArrived && isNewStep)) return go(aim);
      built = shape;
      drawing = buildDrawing(svg, collection, layout, {
        press,
        pick: actions.pick,
        addressOf: at => pass.address(at.name, at.index),
      });
      motion.set(momentAt(aim));
      if (hasArrived && isNewStep && aim > 0) play(aim, 0);
    },
    hide() {
      if (box.hidden) return;
      motion.finish();
      clearTimeout(timer); // which may begin as a motion ends
      box.hidden = true;
      shown = null;
      drawn = built = "";
    },
    mark(address) {
      marked = address;
      if (drawing && !box.hidden) mark();
    },
  };
}
