// Frames: outlines around cells of a matrix, as few as there can be.
import { element } from "../elements/element.js";

// `places` as rectangles {row, column, rows, columns}: one, if they fill it, else one for each.
export function rectangles(places) {
  if (!places.length) return [];
  const [rows, columns] = [0, 1].map(axis => places.map(place => place[axis]));
  const [top, left] = [Math.min(...rows), Math.min(...columns)];
  const whole = { row: top, column: left, rows: Math.max(...rows) - top + 1, columns: Math.max(...columns) - left + 1 };
  const distinct = new Set(places.map(String)).size;
  if (distinct === whole.rows * whole.columns) return [whole];
  return places.map(([row, column]) => ({ row, column, rows: 1, columns: 1 }));
}

export function drawFrames(box, frames, [width, height]) {
  box.replaceChildren(
    ...frames.map(({ row, column, rows, columns, kind }) => {
      const frame = element("div", `frame ${kind}`);
      Object.assign(frame.style, {
        left: `${column * width}px`,
        top: `${row * height}px`,
        width: `${columns * width}px`,
        height: `${rows * height}px`,
      });
      return frame;
    }),
  );
}
