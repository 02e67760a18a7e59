// Cells as one drawing, for matrices of more cells than a page can hold as elements. One real cell stands on the drawing and
// moves with the keyboard.
import { css, mixed } from "../elements/colour.js";
import { element } from "../elements/element.js";
import { faceAt } from "./face.js";

export function makeCanvas([rows, columns]) {
  const grid = element("div", "cells drawn");
  const canvas = element("canvas");
  const row = element("div");
  let cell = makeCell();
  row.setAttribute("role", "row");
  row.append(cell);
  grid.append(canvas, row);
  grid.setAttribute("aria-rowcount", rows);
  grid.setAttribute("aria-colcount", columns);
  let size = [1, 1],
    describe = _place => "",
    here = [0, 0],
    isMoving = false;
  const stand = place => {
    here = place;
    Object.assign(cell.dataset, { row: place[0], column: place[1] });
    row.setAttribute("aria-rowindex", place[0] + 1);
    cell.setAttribute("aria-colindex", place[1] + 1);
    cell.setAttribute("aria-label", describe(place));
    cell.tabIndex = describe(place) ? 0 : -1;
    Object.assign(cell.style, { left: `${place[1] * size[0]}px`, top: `${place[0] * size[1]}px` });
  };
  const focus = place => {
    if (!describe(place)) return false;
    const before = cell; // another element, as what has the keyboard is heard but once
    cell = makeCell();
    row.append(cell);
    stand(place);
    isMoving = true;
    cell.focus();
    isMoving = false;
    before.remove();
    return true;
  };
  const placeIn = event => {
    if (event.target === cell && !(event instanceof PointerEvent)) return here;
    const { left, top } = canvas.getBoundingClientRect();
    return [inside((event.clientY - top) / size[1], rows), inside((event.clientX - left) / size[0], columns)];
  };
  grid.addEventListener("click", event => {
    if (event.target !== cell) focus(placeIn(event)); // as a click into a table's cell does
  });
  return {
    element: grid,
    update(slot, paint, described, geometry) {
      describe = described;
      size = geometry.cell;
      draw(canvas, slot, paint, geometry);
      stand(here);
    },
    select(place) {
      if (!isMoving && !cell.matches(":focus")) stand(place);
    },
    focus,
    size: () => [rows, columns],
    placeIn,
  };
}

function makeCell() {
  const cell = element("div", "here");
  cell.setAttribute("role", "gridcell");
  return cell;
}

function inside(place, length) {
  return Math.min(Math.max(Math.floor(place), 0), length - 1);
}

function draw(canvas, slot, paint, { cell: [width, height], font, written }) {
  const [rows, columns] = slot.size;
  const ratio = globalThis.devicePixelRatio;
  canvas.width = Math.round(columns * width * ratio);
  canvas.height = Math.round(rows * height * ratio);
  Object.assign(canvas.style, { width: `${columns * width}px`, height: `${rows * height}px` });
  const pen = canvas.getContext("2d");
  const gap = Math.min(width, height) >= 6 ? 1 : 0;
  const hatched = hatching(pen, paint.colours);
  pen.scale(ratio, ratio);
  pen.font = `${font}px ${paint.family}`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const face = faceAt(slot, paint, row, column);
      const [x, y] = [column * width, row * height];
      pen.fillStyle =
        face.kind === "hidden" ? hatched : (face.colour ?? css(mixed(paint.colours.text, paint.colours.page, 0.05)));
      pen.fillRect(x, y, width - gap, height - gap);
      if (face.marked) drawMark(pen, x + width - gap, y, Math.min(width, height, 14) / 2, paint.colours);
      if (!written) continue;
      pen.fillStyle = face.ink ?? css(paint.colours.text);
      pen.fillText(face.text, x + width / 2, y + height / 2);
    }
  }
}

function drawMark(pen, right, top, size, { text }) {
  pen.fillStyle = css(text);
  pen.beginPath();
  pen.moveTo(right - size, top);
  pen.lineTo(right, top);
  pen.lineTo(right, top + size);
  pen.fill();
}

// Stripes, in pixels of the screen: they look the same however small a cell is.
function hatching(pen, { text, page }) {
  const tile = element("canvas");
  tile.width = 6;
  tile.height = 6;
  const brush = tile.getContext("2d");
  brush.fillStyle = css(mixed(text, page, 0.1));
  brush.fillRect(0, 0, 6, 6);
  brush.strokeStyle = css(mixed(text, page, 0.36));
  brush.lineWidth = 1.5;
  for (const shift of [-6, 0, 6]) {
    brush.moveTo(shift, 6);
    brush.lineTo(shift + 6, 0);
  }
  brush.stroke();
  return pen.createPattern(tile, "repeat");
}
