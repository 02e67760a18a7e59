// The diagram of a pass: its steps in columns, their stages as thumbnails, and arrows between them.
import { positionAt, unflattened } from "../model/axes.js";
import { spotOf, tileAt, tiling } from "../fit/fit.js";
import { background, css, mixed } from "../dom/colour.js";
import { h, svgElement } from "../dom/element.js";
import { makeMotion } from "../dom/motion.js";

// The stages of a step in columns: each one further than the last that it is computed from.
export function depthsOf(stages, arrows) {
  const depths = new Map();
  for (const stage of stages) {
    const before = arrows.filter(([from, to]) => to === stage && depths.has(from)).map(([from]) => depths.get(from));
    depths.set(stage, Math.max(-1, ...before) + 1);
  }
  const length = Math.max(-1, ...depths.values()) + 1;
  return Array.from({ length }, (_, depth) => stages.filter(stage => depths.get(stage) === depth));
}

// The map with one layer open and each other folded into one step, whose `opens` is the name of the layer that begins with it.
export function folded({ columns, arrows }, open, standsFor, nameOf) {
  const replacements = new Map(),
    steps = [];
  for (const column of columns) {
    const { layer } = column,
      isFirst = layer > 0 && steps.at(-1)?.layer !== layer;
    const isFolded = layer > 0 && layer !== open;
    if (isFolded) for (const stage of column.stages) replacements.set(stage, standsFor(layer));
    if (isFolded && isFirst) steps.push({ ...column, title: nameOf(layer), stages: [standsFor(layer)], opens: "" });
    if (!isFolded) steps.push({ ...column, opens: isFirst ? nameOf(layer) : "" });
  }
  const between = arrows
    .map(arrow => arrow.map(stage => replacements.get(stage) ?? stage))
    .filter(([from, to]) => from !== to);
  return { columns: steps, arrows: [...new Map(between.map(arrow => [arrow.join(), arrow])).values()] };
}

// The steps in rows: one for each layer, the first and the last with what comes before and after.
export function inRows(columns) {
  const rows = [/** @type {any[]} */ ([])];
  for (const column of columns) {
    if (column.layer > rows.length) rows.push([]);
    rows[rows.length - 1].push(column);
  }
  return rows;
}

const SHADES = 128; // of the scale, on either side of zero
const MUTED = 0.12; // how much of its colour a number keeps that is off the path

const SMALL = 3; // pixels of a cell that would be overlooked alone

export function makeThumb(name) {
  const canvas = h("canvas"),
    frame = h("div", { class: "frame" });
  let stage, tiled;
  const setFrame = ({ x, y }, width, height) =>
    Object.assign(frame.style, {
      left: `${x - 1}px`,
      top: `${y - 1}px`,
      width: `${width + 2}px`,
      height: `${height + 2}px`,
    });
  return {
    name,
    element: h("div", { class: "thumb" }, canvas, frame),
    canvas,
    get tiled() {
      return tiled;
    },
    // Sizes the thumb to a space. Returns whether its size stayed.
    resize(pass, space) {
      const before = tiled;
      stage = pass.stages.get(name);
      tiled = tiling(stage, space);
      Object.assign(canvas.style, { width: `${tiled.width}px`, height: `${tiled.height}px` });
      return before?.width === tiled.width && before.height === tiled.height;
    },
    // Draws the stage. `parts` (flat) are how much each number contributes: those off the path are muted.
    draw(pass, colours, parts) {
      const isOnPath = parts ? onPathBy(parts) : () => true,
        inkAt = inksOf(pass, name, colours, isOnPath);
      drawTiles(canvas, tiled, pass.stages.get(name), inkAt);
      if (parts && tiled.cell < SMALL) drawDots(canvas, tiled, pass.stages.get(name), isOnPath, inkAt);
    },
    markHead(head) {
      frame.hidden = tiled.heads === 1;
      const tile = tiled.hasHeads ? positionAt(stage.axes[0], { head }) : 0;
      setFrame(tileAt(tiled, tile), tiled.columns * tiled.cell, tiled.rows * tiled.cell);
    },
    markCell(index) {
      frame.hidden = index === null;
      if (index) setFrame(spotOf(tiled, index), tiled.cell, tiled.cell);
    },
  };
}

function drawTiles(canvas, tiled, { length }, inkAt) {
  const { heads, rows, columns, cell, width, height } = tiled,
    ratio = globalThis.devicePixelRatio,
    size = { width: Math.max(1, Math.round(width * ratio)), height: Math.max(1, Math.round(height * ratio)) },
    pen = canvas.getContext("2d"),
    brush = brushFor(columns, rows),
    image = brush.createImageData(columns, rows);
  if (canvas.width === size.width && canvas.height === size.height) pen.clearRect(0, 0, size.width, size.height);
  else Object.assign(canvas, size);
  pen.imageSmoothingEnabled = cell * ratio < 1;
  for (let head = 0; head < heads; head += 1) {
    for (let position = 0; position < length / heads; position += 1)
      image.data.set(inkAt(head * (length / heads) + position), 4 * position);
    brush.putImageData(image, 0, 0);
    const { x, y } = tileAt(tiled, head);
    pen.drawImage(brush.canvas, 0, 0, columns, rows, x * ratio, y * ratio, columns * cell * ratio, rows * cell * ratio);
  }
}

let brush = null;

// The canvas of one head, a pixel for each number: always the same and as small as possible, as a new one, and a copy of it, take long.
function brushFor(width, height) {
  brush ??= h("canvas", { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  const { canvas } = brush;
  if (canvas.width < width || canvas.height < height)
    Object.assign(canvas, { width: Math.max(width, canvas.width), height: Math.max(height, canvas.height) });
  return brush;
}

// Dots on the numbers on the path, large enough to see.
function drawDots(canvas, tiled, { shape, length }, isOnPath, inkAt) {
  const pen = canvas.getContext("2d"),
    ratio = globalThis.devicePixelRatio;
  for (let position = 0; position < length; position += 1) {
    if (!isOnPath(position)) continue;
    const { x, y } = spotOf(tiled, unflattened(shape, position));
    pen.fillStyle = css(inkAt(position).slice(0, 3));
    pen.fillRect(x * ratio, y * ratio, SMALL * ratio, SMALL * ratio);
  }
}

/** Whether the number at a position contributes nearly as much as the one that contributes most. @param {Float64Array} parts */
export function onPathBy(parts) {
  const least = LEAST_PART * (parts.reduce((most, each) => Math.max(most, each), 0) || 1);
  return position => parts[position] >= least;
}

/** A function from a number's position in its stage to its colour. @param {Pass} pass */
function inksOf(pass, name, colours, isOnPath) {
  const { scale, limit, hiddenBy } = pass.stages.get(name),
    values = pass.numbers(name),
    mask = hiddenBy ? pass.numbers(hiddenBy) : [],
    ramp = rampOf(scale, colours),
    [hidden, plain] = [ramp.length - 2, ramp.length - 1];
  const nthAt = position => {
    const value = values[position];
    if (scale === "flag") return value ? plain : hidden;
    if (mask[position] === -Infinity) return hidden;
    if (Number.isNaN(value)) return plain; // it was not sent yet
    return SHADES + Math.round(Math.max(-1, Math.min(1, value / limit)) * SHADES);
  };
  const muted = [];
  return position => {
    const nth = nthAt(position);
    if (isOnPath(position)) return ramp[nth];
    muted[nth] ??= opaque(mixed(ramp[nth].slice(0, 3), colours.page, MUTED));
    return muted[nth];
  };
}

const ramps = new WeakMap(); // colours -> {scale: ramp}

// The colours of a scale from its low end to its high one, then that of a hidden number, and of one that has no size.
function rampOf(scale, colours) {
  if (!ramps.has(colours)) ramps.set(colours, {});
  const known = ramps.get(colours),
    { text, page } = colours;
  known[scale] ??= [
    ...Array.from({ length: 2 * SHADES + 1 }, (_, i) =>
      background((i - SHADES) / SHADES, { scale, limit: 1 }, colours),
    ),
    mixed(text, page, 0.22),
    mixed(text, page, 0.07),
  ].map(opaque);
  return known[scale];
}

const opaque = colour => [...colour, 255];

const WHOLE = { part: 1 };
const PATH_MS = 600;
const LANE = 6; // pixels under the stages that an arrow leads past, and over a row that it leads down to

// `pairs` are pairs of ends {element, middle}, from left to right or from one row to a later one. Arrows bend between `columns`. Returns where
// the two ends of each are, as parts of the way through all rows.
function drawArrows(svg, origin, pairs, columns) {
  const { left, top, width, height } = origin.getBoundingClientRect();
  const boxOf = ({ element, middle = null }) => {
    const at = element.getBoundingClientRect();
    return {
      row: element.closest(".row"),
      left: at.left - left,
      right: at.right - left,
      middle: (middle ?? at.top + at.height / 2) - top,
      bottom: at.bottom - top,
    };
  };
  const rows = [...origin.children],
    partAt = (row, x) => (rows.indexOf(row) + x / width) / rows.length;
  const boxes = columns.map(element => boxOf({ element })),
    drawn = pairs.map(pair => {
      const [from, to] = pair.map(boxOf),
        paths = [pathOf(from, to, boxes, top), `M ${to.left - 5} ${to.middle - 2.5} l 4 2.5 l -4 2.5 z`];
      return { paths, parts: [partAt(from.row, from.right), partAt(to.row, to.left)] };
    });
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`); // only now: positions asked for after a change cost a layout
  while (svg.childElementCount > drawn.length) svg.lastChild.remove();
  while (svg.childElementCount < drawn.length)
    svg.append(
      svgElement("g", {}, ...["arrow", "tip"].map(name => svgElement("path", { class: name, pathLength: 1 }))),
    );
  for (const [nth, group] of [...svg.children].entries()) {
    for (const [part, path] of [...group.children].entries())
      if (path.getAttribute("d") !== drawn[nth].paths[part]) path.setAttribute("d", drawn[nth].paths[part]);
  }
  return drawn.map(({ parts }) => parts);
}

function pathOf(from, to, columns, top) {
  if (from.row !== to.row) return pathAlong(from, to, to.row.getBoundingClientRect().top - top - LANE);
  const between = columns.filter(({ row, left, right }) => row === from.row && left > from.right && right < to.left);
  if (between.length) return pathAlong(from, to, Math.max(...between.map(({ bottom }) => bottom)) + LANE);
  const half = (from.right + to.left) / 2;
  return `M ${from.right + 1} ${from.middle} C ${half} ${from.middle}, ${half} ${to.middle}, ${to.left - 3} ${to.middle}`;
}

// A path along a horizontal lane, which may run back to the left.
function pathAlong(from, to, lane) {
  const start = from.right + 7,
    end = to.left - 8,
    bend = Math.sign(end - start) * 8;
  return (
    `M ${from.right + 1} ${from.middle} C ${start} ${from.middle}, ${start - bend / 2} ${lane}, ${start + bend} ${lane}` +
    ` L ${end - bend} ${lane} C ${end + bend / 2} ${lane}, ${end} ${to.middle}, ${to.left - 3} ${to.middle}`
  );
}

// `draw` has step(column, depths) and stage(thumb), which return elements for a step of the map and a thumb of a stage.
export function makeDiagram(box, draw) {
  const [arrows, path] = ["arrows", "arrows path"].map(name =>
      svgElement("svg", { class: name, "aria-hidden": "true" }),
    ),
    rows = h("div", { class: "rows" });
  box.append(h("div", { class: "diagram" }, arrows, rows, path));
  let known = new Map(), // what a step is made of -> {element, thumbs}
    thumbs = [],
    steps = [],
    pairs = [],
    followed = [],
    followedKey = "",
    spans = [],
    built = "";
  const makeStep = (column, depths) => {
    const inColumns = depths.map(stages =>
      stages.map(name => Object.assign(makeThumb(name), { beside: stages.length })),
    );
    const drawn = inColumns.map(column => h("span", { class: "depth" }, column.map(draw.stage)));
    return { element: draw.step(column, h("span", { class: "depths" }, drawn)), thumbs: inColumns.flat() };
  };
  // Lays out rows of columns of the map; steps that stay the same stay where they are. Returns whether any is new.
  const build = (columns, arrowsOfMap, names = /** @type {string[]} */ ([])) => {
    const next = JSON.stringify([columns, arrowsOfMap, names]);
    if (next === built) return false;
    built = next;
    pairs = arrowsOfMap;
    const before = known;
    known = new Map();
    const stepsInRows = columns.map(row =>
      row.map(column => {
        const depths = depthsOf(column.stages, arrowsOfMap),
          key = JSON.stringify([column, depths]),
          step = before.get(key) ?? makeStep(column, depths);
        known.set(key, step);
        return step;
      }),
    );
    setChildren(
      rows,
      stepsInRows.map((_, nth) => rows.children[nth] ?? h("div", { class: "row" })),
    );
    for (const [nth, row] of stepsInRows.entries()) {
      const box = rows.children[nth];
      const steps = row.map(step => step.element);
      setChildren(box, steps);
      if (columns.length > 1) box.dataset.layer = names[nth];
      else delete box.dataset.layer;
    }
    thumbs = stepsInRows.flat().flatMap(step => step.thumbs);
    steps = stepsInRows.flat().map(step => step.element);
    observer.disconnect();
    for (const step of steps) observer.observe(step);
    return true;
  };
  // Where arrows begin and end: a thumb with the symbol beside it, at the height of a cell; or another element.
  const endOf = ({ name, index = null, element = null }) => {
    if (element) return { element };
    const { canvas, tiled } = thumbs.find(thumb => thumb.name === name),
      at = canvas.closest(".aside") ?? canvas;
    return {
      element: at,
      middle: index && canvas.getBoundingClientRect().top + spotOf(tiled, index).y + tiled.cell / 2,
    };
  };
  // An arrow that ends at a symbol points to that.
  const entryOf = cell => {
    const end = endOf(cell),
      symbol = end.element.classList.contains("aside") && end.element.firstChild.getBoundingClientRect();
    return symbol ? { ...end, middle: Math.min(Math.max(Number(end.middle), symbol.top + 4), symbol.bottom - 4) } : end;
  };
  const connect = () => {
    const columns = [...rows.querySelectorAll(".depth")],
      isFollowed = pair => followed.some(({ from, to }) => from.name === pair[0] && to.name === pair[1]),
      others = pairs.filter(pair => !isFollowed(pair)).map(pair => pair.map(name => endOf({ name })));
    drawArrows(arrows, rows, others, columns);
    spans = drawArrows(
      path,
      rows,
      followed.map(({ from, to }) => [endOf(from), entryOf(to)]),
      columns,
    );
    if (!motion.isMoving) motion.set(WHOLE);
  };
  // Draws the arrows of the path up to a part of the way.
  const drawPath = ({ part }) => {
    for (const [nth, group] of [...path.children].entries()) {
      const [start, end] = spans[nth],
        drawn = part === 1 ? 1 : Math.min(1, Math.max(0, (part - start) / Math.max(end - start, 1e-3)));
      const [arrow, tip] = group.children;
      arrow.style.strokeDasharray = drawn < 1 ? `${drawn} 2` : "";
      tip.style.visibility = drawn < 1 ? "hidden" : "";
    }
  };
  const motion = makeMotion({ element: path, draw: drawPath });
  // The path that arrows follow, as steps {from, to} of cells or elements; one with another key is drawn from left to right.
  const follow = (path, key) => {
    const isOther = key !== followedKey;
    followed = path;
    followedKey = key;
    connect();
    if (!isOther) return;
    motion.set({ part: 0 });
    motion.go(WHOLE, { ms: PATH_MS });
  };
  const observer = new ResizeObserver(connect); // a font that loads moves everything in a row
  return { rows, build, connect, follow, thumbs: () => thumbs, steps: () => steps };
}

// Sets a box's children. Those in order already stay in the page, to avoid a new layout.
function setChildren(box, elements) {
  for (const each of [...box.children]) if (!elements.includes(each)) each.remove();
  for (const [nth, each] of elements.entries())
    if (box.children[nth] !== each) box.insertBefore(each, box.children[nth] ?? null);
}

const LEAST_PART = 0.2; // of the largest: what contributes less is off the path

/** @typedef {{ from: Cell, to: Cell }} PathStep */

/** The steps of the path among some stages, from the number back: of each stage that a number is computed from, its largest term.
 * @param {Pass} pass @param {Cell} cell @param {Set<string>} stages @returns {PathStep[]} */
export function pathTo(pass, cell, stages) {
  const steps = /** @type {PathStep[]} */ ([]),
    cells = new Map([[pass.address(cell.name, cell.index), cell]]);
  for (const to of cells.values()) {
    for (const from of sourcesOf(pass, to, stages)) {
      steps.push({ from, to });
      cells.set(pass.address(from.name, from.index), from); // visited in turn, once
    }
  }
  return steps;
}

/** The cells of its largest terms; stages that aren't among `stages`, such as a mask that hides nothing, are passed through. @param {Pass} pass @param {Cell} cell
 * @param {Set<string>} stages @returns {Cell[]} */
function sourcesOf(pass, { name, index }, stages) {
  const lines = (pass.terms(name, index)?.lines ?? []).filter(({ value }) => !Number.isNaN(value)),
    sizeOf = (/** @type {{ value: number }} */ { value }) => Math.abs(value),
    largest = Math.max(...lines.map(sizeOf)),
    sources = /** @type {Map<string, Cell>} */ (new Map());
  for (const line of lines.sort((one, other) => sizeOf(other) - sizeOf(one))) {
    if (sizeOf(line) < LEAST_PART * largest) break;
    for (const from of line.cells) if (!sources.has(from.name)) sources.set(from.name, from);
  }
  return [...sources.values()].flatMap(from => (stages.has(from.name) ? [from] : sourcesOf(pass, from, stages)));
}
