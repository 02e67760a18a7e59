// Play: a result computed before one's eyes.
import { element } from "./element.js";
import { short } from "./numeral.js";
import { makeSchedule, sumUpTo } from "./schedule.js";

export function makePlayer(equation, tables, { say, describe, outline, rest }) {
  const cells = tables.at(-1).cells.flat();
  const width = tables.at(-1).cells[0].length;
  const alongRow = equation.findIndex((matrix) => matrix.reads === "row");
  const alongColumn = equation.findIndex((matrix) => matrix.reads === "column" && matrix.values.length > 1);
  const products = alongRow < 0 ? 1 : equation[alongRow].columns.length;
  const { whole, at } = makeSchedule(products, width, cells.length);
  let elapsed = 0, since = null, frame = 0;

  const showProduct = (place) => {
    tables.slice(0, -1).forEach((table, m) => {
      const { reads, shift } = equation[m];
      if (reads === "row") table.mark("cell", 0, place);
      else if (reads === "column") table.mark("cell", m === alongColumn ? place : 0, shift);
      else table.mark(reads, 0, shift);
    });
    if (alongRow >= 0 && alongColumn >= 0) say(soFar(equation[alongRow], equation[alongColumn], place));
  };
  const showCell = (last) => {
    const place = [Math.floor(last / width), last % width];
    outline(...place);
    say(describe(equation.at(-1), ...place));
  };
  const show = () => {
    const { product, done } = at(elapsed);
    cells.forEach((cell, place) => { cell.classList.toggle("to-come", place >= done); });
    if (product !== null) showProduct(product);
    else if (elapsed < whole) showCell(done - 1);
    else rest();
    play.textContent = invitation(since !== null, elapsed, whole);
    skip.hidden = elapsed <= 0 || elapsed >= whole;
  };
  const step = (now) => {
    elapsed = Math.min(elapsed + Math.max(0, now - since), whole); // a frame may have begun before the click
    since = elapsed < whole ? now : null;
    if (since !== null) frame = requestAnimationFrame(step);
    show();
  };
  const stop = () => {
    cancelAnimationFrame(frame);
    since = null;
  };
  const end = () => {
    stop();
    elapsed = whole;
    show();
  };

  const controls = element("p", "player");
  const play = element("button", "", invitation(false, 0, whole));
  const skip = element("button", "", "Skip");
  skip.hidden = true;
  controls.append(play, skip);
  play.onclick = () => {
    if (since !== null) {
      stop();
      show();
      return;
    }
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      end();
      return;
    }
    if (elapsed >= whole) elapsed = 0;
    since = performance.now();
    frame = requestAnimationFrame(step);
    show();
  };
  skip.onclick = end;
  return { controls, stop };
}

// What the button offers.
export function invitation(isRunning, elapsed, whole) {
  if (isRunning) return "❚❚ Pause";
  if (elapsed >= whole) return "↻ Replay";
  return elapsed > 0 ? "▶ Resume" : "▶ Watch it being computed";
}

// The product that the first cell of the result is at, and what its products add up to by then.
export function soFar(left, right, place) {
  const pairs = left.values[0].map((value, p) => [value, right.values[p][right.shift]]);
  const [a, b] = pairs[place];
  return `${short(a)} × ${short(b)}, ${place + 1} of ${pairs.length}: the sum is ${short(sumUpTo(pairs, place))} so far`;
}
