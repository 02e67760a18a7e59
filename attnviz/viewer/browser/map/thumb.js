// Thumbs: a stage as a small true picture of itself, a dot for each number.
import { placeAt, unflattened } from "../pass/axes.js";
import { background, css, mixed } from "../elements/colour.js";
import { element } from "../elements/element.js";
import { spotOf, tileAt, tiling } from "../scene/tiling.js";

const SHADES = 128; // of the scale, on either side of zero
const LEVELS = 32; // of how strongly numbers are drawn
const FAINTEST = 0.1; // of a number that takes no part
const CURVE_OF_PARTS = 0.6; // below 1, so that small parts are seen

const SMALL = 3; // pixels of a cell that would be overlooked alone
const SEEN = 0.2; // of the strongest part: smaller ones have no dot of their own

export function makeThumb(name) {
  const box = element("div", "thumb"),
    canvas = element("canvas"),
    frame = element("div", "frame");
  box.append(canvas, frame);
  let stage = null,
    tiled = null;
  return {
    name,
    element: box,
    canvas,
    get tiled() {
      return tiled;
    },
    // Makes it as large as `room` allows. Returns whether it is as large as before.
    resize(pass, room) {
      const before = tiled;
      stage = pass.stages.get(name);
      tiled = tiling(stage, room);
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
    for (let place = 0; place < length / heads; place += 1)
      image.data.set(colourAt(head * (length / heads) + place), 4 * place);
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

// The strongest parts, large enough to be seen.
function drawDots(canvas, tiled, { shape, length }, strengths, colourAt) {
  const pen = canvas.getContext("2d"),
    ratio = globalThis.devicePixelRatio,
    least = SEEN * strongest(strengths);
  for (let place = 0; place < length; place += 1) {
    if (strengths[place] <= least) continue;
    const { x, y } = spotOf(tiled, unflattened(shape, place));
    pen.fillStyle = css(colourAt(place).slice(0, 3));
    pen.fillRect(x * ratio, y * ratio, SMALL * ratio, SMALL * ratio);
  }
}

function strongest(strengths) {
  return strengths.reduce((most, each) => Math.max(most, each), 0) || 1;
}

// A function from a number's place in its stage to its colour.
/** @param {Pass} pass */
function paintOf(pass, name, colours, strengths) {
  const { scale, limit, hiddenBy } = pass.stages.get(name);
  const values = pass.numbers(name),
    hider = hiddenBy ? pass.numbers(hiddenBy) : [];
  const ramp = inksOf(scale, colours),
    hidden = ramp.length - 2,
    visible = ramp.length - 1;
  const inkAt = place => {
    const value = values[place];
    if (scale === "flag") return value ? visible : hidden;
    if (hider[place] === -Infinity) return hidden;
    if (Number.isNaN(value)) return visible; // it was not sent yet
    return SHADES + Math.round(Math.max(-1, Math.min(1, value / limit)) * SHADES);
  };
  if (!strengths) return place => ramp[inkAt(place)];
  const largest = strongest(strengths),
    faded = [];
  return place => {
    const level = Math.round(LEVELS * (strengths[place] / largest) ** CURVE_OF_PARTS);
    faded[level] ??= ramp.map(ink =>
      opaque(mixed(ink.slice(0, 3), colours.page, FAINTEST + ((1 - FAINTEST) * level) / LEVELS)),
    );
    return faded[level][inkAt(place)];
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
