// The diagram of a pass: its steps in columns, their stages as thumbnails, and arrows between them.
import { placeAt, unflattened } from "../model/axes.js";
import { spotOf, tileAt, tiling } from "../fit/tiling.js";
import { background, css, mixed } from "../dom/colour.js";
import { element, h, svgElement } from "../dom/element.js";

export function depthsOf(stages, arrows) {
  const depths = new Map();
  for (const stage of stages) {
    const before = arrows
      .filter(([from, to]) => to === stage && depths.has(from))
      .map(([from]) => depths.get(from) + 1);
    depths.set(stage, Math.max(0, ...before));
  }
  return Array.from({ length: Math.max(-1, ...depths.values()) + 1 }, (_, depth) =>
    stages.filter(stage => depths.get(stage) === depth),
  );
}

// The map with one layer open and each other folded into one step, which leads to its first and shows the stage `standsFor(layer)`. A
// step's `opens` is the name of the layer that begins with it.
export function folded({ columns, arrows }, open, standsFor) {
  const inPlaceOf = new Map(),
    made = [];
  for (const column of columns) {
    const { layer } = column,
      isFirst = layer > 0 && made.at(-1)?.layer !== layer;
    const isFolded = layer > 0 && layer !== open;
    if (isFolded) for (const stage of column.stages) inPlaceOf.set(stage, standsFor(layer));
    if (isFolded && isFirst) made.push({ ...column, title: nameOf(layer), stages: [standsFor(layer)], opens: "" });
    if (!isFolded) made.push({ ...column, opens: isFirst ? nameOf(layer) : "" });
  }
  const between = arrows
    .map(arrow => arrow.map(stage => inPlaceOf.get(stage) ?? stage))
    .filter(([from, to]) => from !== to);
  return { columns: made, arrows: [...new Map(between.map(arrow => [arrow.join(), arrow])).values()] };
}

// The steps in rows: one for each layer, the first and the last with what comes before and after.
export function inRows(columns) {
  const rows = [[]];
  for (const column of columns) {
    if (column.layer > rows.length) rows.push([]);
    rows.at(-1).push(column);
  }
  return rows;
}

// The name of a layer; "" where a pass has but one.
export function nameOf(layer) {
  return layer ? `Layer ${layer}` : "";
}

const SHADES = 128; // of the scale, on either side of zero
const LEVELS = 32; // of how strongly numbers are drawn
const FAINTEST = 0.1; // of a number that takes no part
const CURVE_OF_PARTS = 0.6; // below 1, so that small parts are seen

const SMALL = 3; // pixels of a cell that would be overlooked alone
const SEEN = 0.2; // of the strongest part: smaller ones have no dot of their own

export function makeThumb(name) {
  const canvas = element("canvas"),
    frame = element("div", "frame");
  const box = h("div", { class: "thumb" }, canvas, frame);
  let stage = null,
    tiled = null;
  return {
    name,
    element: box,
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
    // Draws the stage. `strengths` (flat) say how strongly each number is drawn, if not all alike.
    draw(pass, colours, strengths) {
      const colourAt = paintOf(pass, name, colours, strengths);
      drawTiles(canvas, tiled, pass.stages.get(name), colourAt);
      if (strengths && tiled.cell < SMALL) drawDots(canvas, tiled, pass.stages.get(name), strengths, colourAt);
    },
    markHead(head) {
      frame.hidden = tiled.heads === 1;
      const tile = tiled.hasHeads ? placeAt(stage.axes[0], { head }) : 0;
      put(frame, tileAt(tiled, tile), tiled.columns * tiled.cell, tiled.rows * tiled.cell);
    },
    // Frames one number, or none.
    markCell(index) {
      frame.hidden = index === null;
      if (index) put(frame, spotOf(tiled, index), tiled.cell, tiled.cell);
    },
  };
}

function put(frame, { x, y }, width, height) {
  Object.assign(frame.style, {
    left: `${x - 1}px`,
    top: `${y - 1}px`,
    width: `${width + 2}px`,
    height: `${height + 2}px`,
  });
}

function drawTiles(canvas, tiled, { length }, colourAt) {
  const { heads, rows, columns, cell, width, height } = tiled;
  const ratio = globalThis.devicePixelRatio;
  const size = { width: Math.max(1, Math.round(width * ratio)), height: Math.max(1, Math.round(height * ratio)) };
  const pen = canvas.getContext("2d"),
    brush = brushFor(columns, rows),
    image = brush.createImageData(columns, rows);
  if (canvas.width === size.width && canvas.height === size.height) pen.clearRect(0, 0, size.width, size.height);
  else Object.assign(canvas, size);
  pen.imageSmoothingEnabled = cell * ratio < 1;
  for (let head = 0; head < heads; head += 1) {
    for (let position = 0; position < length / heads; position += 1)
      image.data.set(colourAt(head * (length / heads) + position), 4 * position);
    brush.putImageData(image, 0, 0);
    const { x, y } = tileAt(tiled, head);
    pen.drawImage(brush.canvas, 0, 0, columns, rows, x * ratio, y * ratio, columns * cell * ratio, rows * cell * ratio);
  }
}

let brush = null;

// The canvas of one head, a pixel for each number: always the same, as a new one takes longer than all it draws. It is as small
// as it can be, as all of it is copied for each head.
function brushFor(width, height) {
  brush ??= Object.assign(element("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  const { canvas } = brush;
  if (canvas.width < width || canvas.height < height)
    Object.assign(canvas, { width: Math.max(width, canvas.width), height: Math.max(height, canvas.height) });
  return brush;
}

// Dots on the strongest parts, large enough to see.
function drawDots(canvas, tiled, { shape, length }, strengths, colourAt) {
  const pen = canvas.getContext("2d"),
    ratio = globalThis.devicePixelRatio,
    least = SEEN * strongest(strengths);
  for (let position = 0; position < length; position += 1) {
    if (strengths[position] <= least) continue;
    const { x, y } = spotOf(tiled, unflattened(shape, position));
    pen.fillStyle = css(colourAt(position).slice(0, 3));
    pen.fillRect(x * ratio, y * ratio, SMALL * ratio, SMALL * ratio);
  }
}

function strongest(strengths) {
  return strengths.reduce((most, each) => Math.max(most, each), 0) || 1;
}

// A function from a number's position in its stage to its colour.
/** @param {Pass} pass */
function paintOf(pass, name, colours, strengths) {
  const { scale, limit, hiddenBy } = pass.stages.get(name);
  const values = pass.numbers(name),
    hider = hiddenBy ? pass.numbers(hiddenBy) : [];
  const ramp = inksOf(scale, colours),
    hidden = ramp.length - 2,
    visible = ramp.length - 1;
  const inkAt = position => {
    const value = values[position];
    if (scale === "flag") return value ? visible : hidden;
    if (hider[position] === -Infinity) return hidden;
    if (Number.isNaN(value)) return visible; // it was not sent yet
    return SHADES + Math.round(Math.max(-1, Math.min(1, value / limit)) * SHADES);
  };
  if (!strengths) return position => ramp[inkAt(position)];
  const largest = strongest(strengths),
    faded = [];
  return position => {
    const level = Math.round(LEVELS * (strengths[position] / largest) ** CURVE_OF_PARTS);
    faded[level] ??= ramp.map(ink =>
      opaque(mixed(ink.slice(0, 3), colours.page, FAINTEST + ((1 - FAINTEST) * level) / LEVELS)),
    );
    return faded[level][inkAt(position)];
  };
}

const inks = new WeakMap(); // colours -> {scale: its inks}

// The colours of a scale from its low end to its high one, then that of a hidden number, and of one that has no size.
function inksOf(scale, colours) {
  if (!inks.has(colours)) inks.set(colours, {});
  const made = inks.get(colours);
  made[scale] ??= makeInks(scale, colours);
  return made[scale];
}

function makeInks(scale, colours) {
  const ramp = Array.from({ length: 2 * SHADES + 1 }, (_, i) =>
    background((i - SHADES) / SHADES, { scale, limit: 1 }, colours),
  );
  return [...ramp, mixed(colours.text, colours.page, 0.22), mixed(colours.text, colours.page, 0.07)].map(opaque);
}

function opaque(colour) {
  return [...colour, 255];
}

const LANE = 6; // pixels under the stages that an arrow leads past, and over a row that it leads down to

// `pairs` are [element, element], from left to right or from one row to a later one. `columns` are those between which there
// is room to bend.
function drawArrows(svg, origin, pairs, columns) {
  const { left, top, width, height } = origin.getBoundingClientRect();
  const placeOf = element => {
    const at = element.getBoundingClientRect();
    return {
      row: element.closest(".row"),
      left: at.left - left,
      right: at.right - left,
      middle: at.top - top + at.height / 2,
      bottom: at.bottom - top,
    };
  };
  const positions = columns.map(placeOf);
  const ways = pairs.map(pair => {
    const [from, to] = pair.map(placeOf);
    return [pathOf(from, to, positions, top), `M ${to.left - 5} ${to.middle - 2.5} l 4 2.5 l -4 2.5 z`];
  });
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`); // only now: places asked for after a change cost a layout
  while (svg.childElementCount > ways.length) svg.lastChild.remove();
  while (svg.childElementCount < ways.length) svg.append(makeArrow());
  ways.forEach((way, nth) => {
    way.forEach((d, part) => {
      const path = svg.children[nth].children[part];
      if (path.getAttribute("d") !== d) path.setAttribute("d", d);
    });
  });
}

function makeArrow() {
  const group = svgElement("g");
  group.append(...["arrow", "tip"].map(name => svgElement("path", { class: name })));
  return group;
}

function pathOf(from, to, columns, top) {
  if (from.row !== to.row) return by(from, to, to.row.getBoundingClientRect().top - top - LANE);
  const between = columns.filter(
    column => column.row === from.row && column.left > from.right && column.right < to.left,
  );
  return between.length ? by(from, to, Math.max(...between.map(column => column.bottom)) + LANE) : straight(from, to);
}

function straight(from, to) {
  const half = (from.right + to.left) / 2;
  return `M ${from.right + 1} ${from.middle} C ${half} ${from.middle}, ${half} ${to.middle}, ${to.left - 3} ${to.middle}`;
}

// A path along a horizontal lane, which may run back to the left.
function by(from, to, lane) {
  const out = from.right + 7,
    back = to.left - 8,
    way = Math.sign(back - out) * 8;
  return (
    `M ${from.right + 1} ${from.middle} C ${out} ${from.middle}, ${out - way / 2} ${lane}, ${out + way} ${lane}` +
    ` L ${back - way} ${lane} C ${back + way / 2} ${lane}, ${back} ${to.middle}, ${to.left - 3} ${to.middle}`
  );
}

// `draw` are step(column, depths) and stage(thumb), which give elements for a step of the map and a thumb of a stage.
export function makeDiagram(box, draw) {
  const arrows = svgElement("svg", { class: "arrows", "aria-hidden": "true" }),
    rows = element("div", "rows");
  const whole = h("div", { class: "diagram" }, arrows, rows);
  box.append(whole);
  let made = new Map(), // what a step is made of -> {element, thumbs}
    thumbs = [],
    steps = [],
    pairs = [],
    built = "";

  const makeStep = (column, depths) => {
    const thumbsOf = [];
    const inside = h(
      "span",
      { class: "depths" },
      ...depths.map(stages => {
        const depth = element("span", "depth"),
          small = stages.map(name => Object.assign(makeThumb(name), { beside: stages.length }));
        thumbsOf.push(...small);
        depth.append(...small.map(draw.stage));
        return depth;
      }),
    );
    return { element: draw.step(column, inside), thumbs: thumbsOf };
  };
  // Lays out rows of columns of the map; steps that stay the same stay where they are. Returns whether any is another.
  const build = (columns, arrowsOfMap) => {
    const next = JSON.stringify([columns, arrowsOfMap]);
    if (next === built) return false;
    built = next;
    pairs = arrowsOfMap;
    const before = made;
    made = new Map();
    const inRows = columns.map(row =>
      row.map(column => {
        const depths = depthsOf(column.stages, arrowsOfMap),
          key = JSON.stringify([column, depths]);
        made.set(key, before.get(key) ?? makeStep(column, depths));
        return made.get(key);
      }),
    );
    putInto(
      rows,
      inRows.map((_, position) => rows.children[position] ?? element("div", "row")),
    );
    for (const [place, row] of inRows.entries()) {
      putInto(
        rows.children[place],
        row.map(step => step.element),
      );
      if (columns.length > 1) rows.children[place].dataset.layer = nameOf(place + 1);
      else delete rows.children[place].dataset.layer;
    }
    thumbs = inRows.flat().flatMap(step => step.thumbs);
    steps = inRows.flat().map(step => step.element);
    observer.disconnect();
    for (const step of steps) observer.observe(step);
    return true;
  };
  const connect = () => {
    const endOf = Object.fromEntries(thumbs.map(({ name, canvas }) => [name, canvas.closest(".aside") ?? canvas])); // a symbol beside it too
    drawArrows(
      arrows,
      rows,
      pairs.map(pair => pair.map(name => endOf[name])),
      [...rows.querySelectorAll(".depth")],
    );
  };
  const observer = new ResizeObserver(connect); // a font that arrives moves all that stands in a row
  return { rows, build, connect, thumbs: () => thumbs, steps: () => steps };
}

// Sets a box's children. Those in order already stay in the page, to avoid a new layout.
function putInto(box, elements) {
  for (const each of [...box.children]) if (!elements.includes(each)) each.remove();
  elements.forEach((each, position) => {
    if (box.children[position] !== each) box.insertBefore(each, box.children[position] ?? null);
  });
}
