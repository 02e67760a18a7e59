// Play: a result computed before one's eyes.

// Shows a result being computed: its first cell product by product, then its row, then the rest, in about 4 seconds.
function makePlayer(equation, tables, { tell, tells, outline, rest }) {
  const result = tables.at(-1);
  const cells = result.cells.flat();
  const width = result.cells[0].length;
  const alongRow = equation.findIndex((matrix) => matrix.reads === "row");
  const alongColumn = equation.findIndex((matrix) => matrix.reads === "column" && matrix.values.length > 1);
  const products = alongRow < 0 ? 1 : equation[alongRow].columns.length;
  const lasts = [Math.min(1600, 300 * products), Math.min(1000, 150 * (width - 1)), Math.min(1400, 30 * (cells.length - width))];
  const whole = lasts[0] + lasts[1] + lasts[2];
  let elapsed = 0, since = null, frame = 0;

  const showProduct = (place) => {
    tables.slice(0, -1).forEach((table, m) => {
      const { reads, shift } = equation[m];
      if (reads === "row") table.mark("cell", 0, place);
      else if (reads === "column") table.mark("cell", m === alongColumn ? place : 0, shift);
      else table.mark(reads, 0, shift);
    });
    if (alongRow < 0 || alongColumn < 0) return;
    const factors = (p) => [equation[alongRow].values[0][p], equation[alongColumn].values[p][equation[alongColumn].shift]];
    const [a, b] = factors(place);
    const sum = Array.from({ length: place + 1 }, (_, p) => factors(p)).reduce((total, [x, y]) => total + x * y, 0);
    tell(`${written(a)} × ${written(b)}, ${place + 1} of ${products}: the sum is ${written(sum)} so far`);
  };
  const show = () => {
    let done;
    if (elapsed < lasts[0]) {
      done = 0;
      showProduct(Math.min(Math.floor((elapsed / lasts[0]) * products), products - 1));
    } else if (elapsed < lasts[0] + lasts[1]) {
      done = 1 + Math.floor(((elapsed - lasts[0]) / lasts[1]) * (width - 1));
    } else {
      done = width + Math.floor(((elapsed - lasts[0] - lasts[1]) / lasts[2]) * (cells.length - width));
    }
    cells.forEach((cell, place) => cell.classList.toggle("to-come", elapsed < whole && place >= done));
    if (elapsed < whole && done > 0) {
      const last = Math.min(done, cells.length) - 1;
      outline(Math.floor(last / width), last % width);
      tell(tells(equation.at(-1), Math.floor(last / width), last % width));
    }
    if (elapsed >= whole) rest();
    play.textContent = since !== null ? "❚❚ Pause" : elapsed >= whole ? "↻ Replay" : elapsed > 0 ? "▶ Go on" : "▶ Watch it being computed";
    skip.hidden = elapsed <= 0 || elapsed >= whole;
  };
  const step = (now) => {
    elapsed += Math.max(0, now - since); // a frame may have begun before the click
    since = now;
    if (elapsed >= whole) { elapsed = whole; since = null; } else frame = requestAnimationFrame(step);
    show();
  };
  const stop = () => { cancelAnimationFrame(frame); since = null; };
  const end = () => { stop(); elapsed = whole; show(); };

  const controls = element("p", "player");
  const play = element("button", "", "▶ Watch it being computed");
  const skip = element("button", "", "Skip");
  skip.hidden = true;
  controls.append(play, skip);
  play.onclick = () => {
    if (since !== null) { stop(); show(); return; }
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) { end(); return; }
    if (elapsed >= whole) elapsed = 0;
    since = performance.now();
    frame = requestAnimationFrame(step);
    show();
  };
  skip.onclick = end;
  return { controls, stop };
}
