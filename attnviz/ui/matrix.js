// Draws equations of matrices as real tables, and the breakdown of the selected cell under them.
//
// data = {
//   equations: [[{stage, head, symbol, title, counts, rows, columns, values, scale, limit, gap, moved, role, selected,
//                 sign, after, reads, shift, band, focusBand, hidden}]], the last of each being the result,
//   scene: when it is another than before, the page goes back to its top,
//   small: whether cells are dots without labels and digits; flowing: whether equations stand beside each other,
//   trail: [cell], those that were unfolded one after the other; a cell is [name, address],
//   breakdowns: [{cell, title, between, lines: [[[cell], sum, value]], conclusion, total}],
//   ahead: [[breakdown]], by line and cell, and behind: [breakdown], by place on the trail: what a click would show,
//   colours: {negative, positive, share}, needed by equations,
// }
// A null among the values is -inf: JSON has no such number.
// Everything a person typed arrives here as text and is only ever set as textContent.

// Root element -> what was drawn there: {signature, drawn, focused, send}. `focused` is the place of the cell that has the
// keyboard, [equation, matrix, row, column].
const states = new WeakMap();

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".picture");
  const page = getComputedStyle(root).getPropertyValue("--st-background-color");
  const state = states.get(root) ?? {};
  states.set(root, state);
  state.send = setTriggerValue;
  if (data.scene && state.scene && state.scene !== data.scene) turnPage();
  state.scene = data.scene;
  // Where only the selection is new, the tables stay: laying them out again is what takes time.
  const signature = JSON.stringify([data.equations.map((equation) => equation.map((m) => ({ ...m, selected: 0 }))), page]);
  if (data.equations.length && state.signature === signature) {
    data.equations.forEach((equation, e) => state.drawn[e].select(equation.map((matrix) => matrix.selected)));
    return;
  }
  state.signature = signature;
  draw(root, state, data, data.colours && readable(data.colours, page), parentElement);
}

function draw(root, state, data, colours, parentElement) {
  root.classList.toggle("small", Boolean(data.small));
  root.classList.toggle("flowing", Boolean(data.flowing));
  const status = element("p", "status");
  status.setAttribute("role", "status");
  const hadFocus = root.contains(parentElement.activeElement ?? document.activeElement) ? state.focused : null;
  state.drawn?.forEach((each) => each.player?.stop());
  state.drawn = data.equations.map((equation, e) =>
    drawEquation(equation, colours, data.small, {
      tell: (text) => { status.textContent = text; },
      pick: (m, row, column) => state.send("pick", [e, m, row, column]),
      remember: (m, row, column) => { state.focused = [e, m, row, column]; },
    }));
  root.replaceChildren(
    ...state.drawn.map((each) => each.element),
    ...(state.drawn.length ? [status] : []),
    ...unfoldable(data, state),
  );
  state.drawn.forEach(fit);
  if (hadFocus) {
    const [e, m, row, column] = hadFocus;
    state.drawn[e]?.tables[m]?.cells[row]?.[column]?.focus({ preventScroll: true });
  }
}

// A new step is read from its top. And a step that was clicked in the row of steps must not keep the keyboard, or the
// arrow keys would move inside the row; one that was reached by keyboard keeps it.
function turnPage() {
  document.querySelector('[data-testid="stMain"]')?.scrollTo({ top: 0 });
  const held = document.activeElement;
  if (held?.closest(".st-key-step") && !held.matches(":focus-visible")) held.blur();
}

// Tells CSS how much of a line is not cells (labels, signs, gaps), for the whole equation and for its widest matrix,
// so that cells can share what is left. Measured twice: captions overhang small cells, and labels grow with large ones.
function fit({ box, tables }) {
  const total = (numbers) => numbers.reduce((sum, number) => sum + number, 0);
  const columns = tables.map((table) => table.cells[0].length);
  box.style.setProperty("--columns", total(columns));
  box.style.setProperty("--widest", Math.max(...columns));
  let rest = 0, restOfOne = 0;
  ["equation smallest", "equation"].forEach((className) => {
    box.className = className;
    const cells = tables.map((table) => total(table.cells[0].map((cell) => cell.getBoundingClientRect().width)));
    const operands = [...box.children].map((child) => { // as wide as it would be if nothing had to be scrolled
      const scroller = child.querySelector(".scroller");
      return child.getBoundingClientRect().width - scroller.clientWidth + scroller.scrollWidth;
    });
    const gaps = (operands.length - 1) * parseFloat(getComputedStyle(box).columnGap || 0);
    rest = Math.max(rest, total(operands) + gaps - total(cells));
    restOfOne = Math.max(restOfOne, ...operands.map((width, m) => width - cells[m]));
    box.style.setProperty("--rest", `${Math.ceil(rest) + 2}px`);
    box.style.setProperty("--rest-of-one", `${Math.ceil(restOfOne) + 2}px`);
  });
}

function drawEquation(equation, colours, small, tools) {
  const box = element("div", "equation");
  const tables = equation.map((matrix) => drawMatrix(matrix, colours, small));
  const result = equation.length - 1;
  const outline = (row, column) => {
    tables.forEach((table, m) => {
      const { reads, shift, selected } = equation[m];
      if (reads) table.mark(reads, row, column + shift);
      else if (m !== result && selected) table.mark("cell", ...selected);
    });
    tables[result].mark("cell", row, column);
  };
  const rest = () => {
    const selected = equation[result].selected;
    if (selected) outline(...selected);
    tools.tell(selected ? tables[result].tells(...selected) : "");
  };
  tables.forEach((table, m) => {
    const point = (row, column) => {
      if (m === result) outline(row, column);
      tools.tell(table.tells(row, column));
    };
    table.grid.onpointerover = (event) => {
      const cell = event.target.closest("[data-row]");
      if (cell) point(Number(cell.dataset.row), Number(cell.dataset.column));
    };
    table.grid.onpointerleave = rest;
    table.grid.addEventListener("focusin", (event) => {
      const { row, column } = event.target.dataset;
      if (row === undefined) return;
      tools.remember(m, Number(row), Number(column));
      point(Number(row), Number(column));
    });
    table.grid.addEventListener("focusout", rest);
    const pick = (row, column) => {
      equation[m].selected = [row, column]; // at once; its terms come when the server has answered
      tools.pick(m, row, column);
    };
    table.grid.onclick = (event) => {
      const cell = event.target.closest("[data-row]");
      if (cell) pick(Number(cell.dataset.row), Number(cell.dataset.column));
    };
    table.grid.onkeydown = (event) => moveOrPick(event, table, pick);
    const { sign, after } = equation[m];
    const operand = element("div", "operand"); // a sign goes to the next line with its matrix
    if (sign) operand.append(element("span", "sign", sign));
    operand.append(table.figure);
    if (after) operand.append(element("span", "sign", after));
    box.append(operand);
  });
  rest();
  const select = (places) => {
    places.forEach((place, m) => { equation[m].selected = place; });
    rest();
  };
  const playable = !small && equation.slice(0, -1).some((matrix) => matrix.reads);
  const player = playable ? makePlayer(equation, tables, { tell: tools.tell, outline, rest }) : null;
  const whole = element("div");
  whole.append(box, ...(player ? [player.controls] : []));
  return { element: whole, box, tables, select, player };
}

// Arrow keys move inside the grid and must not reach the page, where they turn to another step.
function moveOrPick(event, table, pick) {
  const from = event.target.dataset;
  if (from.row === undefined) return;
  const row = Number(from.row), column = Number(from.column);
  const last = [table.cells.length - 1, table.cells[0].length - 1];
  const to = {
    ArrowUp: [row - 1, column], ArrowDown: [row + 1, column],
    ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
    Home: event.ctrlKey ? [0, 0] : [row, 0], End: event.ctrlKey ? last : [row, last[1]],
  }[event.key];
  const picks = event.key === "Enter" || event.key === " ";
  if (!to && !picks) return;
  event.preventDefault();
  event.stopPropagation();
  if (picks) { pick(row, column); return; }
  const next = table.cells[Math.min(Math.max(to[0], 0), last[0])][Math.min(Math.max(to[1], 0), last[1])];
  event.target.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

function drawMatrix(matrix, colours, small) {
  const figure = element("figure", `matrix ${matrix.role}`);
  const caption = element("figcaption");
  const lengths = `${matrix.rows.length} × ${matrix.columns.length}`;
  const shape = `${lengths}: ${matrix.counts}`;
  caption.append(typeset(matrix.symbol), element("span", "title", ` ${matrix.title}`), element("span", "shape", small ? lengths : shape));
  const grid = element("table");
  grid.setAttribute("role", "grid");
  grid.setAttribute("aria-label", `${matrix.title} ${plain(matrix.symbol)}, ${shape}`);
  const upright = matrix.columns.some((label) => [...label].length > 4) ? "upright" : "";
  const head = element("thead");
  if (matrix.band && !small) head.append(bandRow(matrix));
  const labels = element("tr");
  labels.append(element("td", "corner"));
  matrix.columns.forEach((label) => labels.append(header("col", label, upright)));
  if (!small) head.append(labels);
  const body = element("tbody");
  const selected = matrix.selected ?? [0, 0];
  const cells = matrix.values.map((numbers, row) => {
    const line = element("tr");
    if (!small) line.append(header("row", matrix.rows[row], ""));
    const drawn = numbers.map((value, column) => {
      const number = written(value, matrix.scale, matrix.gap);
      const cell = element("td", value === null || (matrix.scale === "flag" && !value) ? "hidden" : "", small ? "" : number);
      cell.setAttribute("role", "gridcell");
      if (small) cell.setAttribute("aria-label", number);
      cell.dataset.row = row;
      cell.dataset.column = column;
      cell.tabIndex = row === selected[0] && column === selected[1] ? 0 : -1;
      if (matrix.band && column && column % matrix.band === 0) cell.classList.add("new-band");
      if (matrix.focusBand !== null && matrix.band && Math.floor(column / matrix.band) !== matrix.focusBand) cell.classList.add("other-band");
      if (matrix.moved?.[row][column]) cell.classList.add("moved");
      paint(cell, value, matrix, colours);
      return cell;
    });
    line.append(...drawn);
    body.append(line);
    return drawn;
  });
  grid.append(head, body);
  const scroller = element("div", "scroller");
  scroller.append(grid);
  figure.append(caption, scroller);
  const mark = (reads, row, column) => {
    cells.forEach((line, r) => line.forEach((cell, c) => {
      const read = reads === "row" ? r === row : reads === "column" ? c === column : reads === "cell" ? r === row && c === column : false;
      cell.classList.toggle("read", read);
      if (reads === "cell") cell.setAttribute("aria-selected", read);
    }));
  };
  const tells = (row, column) => {
    const value = matrix.values[row][column];
    const head = matrix.focusBand === null ? matrix.head : `head ${Math.floor(column / matrix.band) + 1}`;
    const place = [head, matrix.rows[row], matrix.columns[column]].filter(Boolean).join(", ");
    const number = matrix.scale === "flag" ? (value ? "visible" : "hidden") : value === null ? matrix.gap : String(value);
    const why = value === null || (matrix.scale === "flag" && !value) ? `: ${matrix.hidden}` : "";
    return `${matrix.stage}[${place}] = ${number}${why}`;
  };
  return { figure, grid, cells, mark, tells };
}

function bandRow(matrix) {
  const row = element("tr");
  row.append(element("td", "corner"));
  for (let band = 0; band * matrix.band < matrix.columns.length; band += 1) {
    const cell = header("colgroup", `head ${band + 1}`, "band");
    cell.colSpan = matrix.band;
    if (matrix.focusBand !== null && band !== matrix.focusBand) cell.classList.add("other-band");
    row.append(cell);
  }
  return row;
}

// Shows a result being computed: its first cell product by product, then its row, then the rest, in about 4 seconds.
function makePlayer(equation, tables, { tell, outline, rest }) {
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
      tell(result.tells(Math.floor(last / width), last % width));
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

// The trail and the breakdowns. What was sent along of the next or an earlier cell is shown at once; the server's answer,
// with what can be seen from there, replaces it. The server is told the whole trail, as another click may come before.
function unfoldable(data, state) {
  const shown = [];
  const follow = (trail, breakdown) => {
    state.send("follow", trail.map(([, address]) => address).join("<"));
    if (!breakdown) return;
    const next = unfoldable({ trail, breakdowns: [breakdown] }, state);
    shown.forEach((each, i) => each.replaceWith(next[i]));
  };
  if (data.trail.length) {
    shown.push(drawTrail(data.trail, (place) => follow(data.trail.slice(0, place + 1), data.behind?.[place])));
  }
  const box = element("div", "breakdowns");
  box.append(...data.breakdowns.map((terms) => drawBreakdown(terms, (line, place) => {
    const before = data.trail.length ? data.trail : [terms.cell];
    follow([...before, terms.lines[line][0][place]], data.ahead?.[line]?.[place]);
  })));
  shown.push(box);
  return shown;
}

function drawTrail(cells, back) {
  const trail = element("nav", "trail");
  trail.setAttribute("aria-label", "The numbers that were taken apart");
  cells.forEach(([name], place) => {
    if (place) trail.append(element("span", "", " ← "));
    const crumb = element("button", "link", name);
    if (place === cells.length - 1) crumb.setAttribute("aria-current", "true");
    crumb.onclick = () => back(place);
    trail.append(crumb);
  });
  return trail;
}

function drawBreakdown(terms, unfold) {
  const box = element("section", "terms");
  box.append(element("h4", "", terms.title));
  const scroller = element("div", "scroller long");
  const table = element("table");
  const body = element("tbody");
  terms.lines.forEach(([names, sum, value], l) => {
    const line = element("tr");
    const name = element("td", "name");
    names.forEach(([each], c) => {
      if (c) name.append(terms.between);
      const cell = element("button", "link", each);
      cell.onclick = () => unfold(l, c);
      name.append(cell);
    });
    line.append(name, element("td", "sum", sum), element("td", "value", value));
    body.append(line);
  });
  const total = element("tr", "total");
  total.append(element("td", "name", ""), element("td", "sum", terms.conclusion), element("td", "value", terms.total));
  const foot = element("tfoot");
  if (terms.conclusion) foot.append(total);
  table.append(body, foot);
  scroller.append(table);
  box.append(scroller);
  return box;
}

function element(tag, className = "", text = null) {
  const made = document.createElement(tag);
  if (className) made.className = className.trim();
  if (text !== null) made.textContent = text;
  return made;
}

function header(scope, label, className) {
  const cell = element("th", className);
  cell.scope = scope;
  cell.title = label;
  cell.append(element("span", "", label));
  return cell;
}

// The vocabulary's symbols know ^ and _ with one character or a group in braces.
function typeset(symbol) {
  const box = element("span", "symbol");
  for (const [, mark, group, single, text] of symbol.matchAll(/([\^_])(?:\{([^}]*)\}|(.))|([^\^_]+)/gu)) {
    box.append(mark ? element(mark === "^" ? "sup" : "sub", "", group ?? single) : document.createTextNode(text));
  }
  return box;
}

function plain(symbol) {
  return symbol.replace(/[\^_{}]/g, "");
}

function written(value, scale = "signed", gap = "") {
  if (value === null) return gap;
  if (scale === "flag") return value ? "1" : "0";
  const size = Math.abs(value);
  if (size >= 1e4) return value.toExponential(1).replace("-", "−").replace("+", "");
  const text = value.toFixed(size >= 1000 ? 0 : size >= 100 ? 1 : 2);
  return (text === "-0.00" ? "0.00" : text).replace("-", "−");
}

function paint(cell, value, matrix, colours) {
  if (matrix.scale === "flag" || value === null) return;
  const strength = matrix.scale === "share" ? 0.95 * value : 0.9 * Math.min(Math.abs(value) / matrix.limit, 1);
  const hue = matrix.scale === "share" ? colours.share : value < 0 ? colours.negative : colours.positive;
  const mixed = hue.map((channel, i) => channel * strength + colours.page[i] * (1 - strength));
  cell.style.backgroundColor = `rgb(${mixed.map(Math.round).join(",")})`;
  cell.style.color = luminance(mixed) > 0.179 ? "#000" : "#fff"; // where contrast with black and with white are equal
}

function readable(colours, page) {
  const probe = document.createElement("canvas").getContext("2d");
  probe.fillStyle = page.trim() || "#fff";
  const hex = probe.fillStyle;
  return { ...colours, page: [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)) };
}

// Relative luminance, WCAG 2.2.
function luminance(rgb) {
  const [r, g, b] = rgb.map((channel) => {
    const c = channel / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
