// A box that holds a number, to type another or to drag it to one.
import { element, h, write } from "./element.js";

const PAUSE_MS = 100; // between two numbers that are sent during a drag
const SLACK_PX = 3; // a pointer moves this far before it drags
const MASK = /^mask(?:_\d+)?$/; // of all layers, or of one

// Calls set(cell, number) for each new number; -Infinity hides a key.
export function makeByHand(set) {
  const box = element("label", "by-hand", "Set by hand ");
  const input = h("input", {
    type: "text",
    inputMode: "decimal",
    autocomplete: "off",
    title: "Type a number and press Enter, or drag sideways",
  });
  const hide = element("button", "", "");
  const line = element("div", "setting"),
    hint = element("span", "hint");
  hint.setAttribute("role", "alert");
  box.append(input);
  line.append(box, hide, hint);
  let cell = null,
    value = 0,
    unit = 1,
    isEdited = false,
    isDragged = false;

  const show = () => {
    input.value = Number.isFinite(value) ? String(value) : "";
    input.placeholder = Number.isFinite(value) ? "" : "hidden: −∞";
    input.removeAttribute("aria-invalid");
    hint.textContent = "";
    isEdited = false;
  };
  const send = paced(set);
  input.oninput = () => {
    isEdited = true;
  };
  input.onchange = () => {
    if (!isEdited) return; // the change event of a box that got another cell's number
    const number = numberIn(input.value);
    input.setAttribute("aria-invalid", !Number.isFinite(number));
    hint.textContent = Number.isFinite(number) ? "" : "Type a number, such as −1.5 or 2e3.";
    if (Number.isFinite(number)) {
      isEdited = false;
      set(cell, number);
    }
  };
  input.onkeydown = event => {
    const up = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (event.key === "Escape" && isEdited) {
      event.stopPropagation();
      show();
    } else if (up) {
      event.preventDefault();
      const number = numberIn(input.value);
      if (Number.isFinite(number)) change(rounded(number + up * 10 * unit, unit));
    }
  };
  const change = number => {
    input.value = String(number);
    send(cell, number);
  };
  input.onpointerdown = down => {
    const from = Number.isFinite(value) ? value : 0;
    input.onpointermove = event => {
      const way = event.clientX - down.clientX;
      if (!isDragged && Math.abs(way) < SLACK_PX) return;
      if (!isDragged) input.setPointerCapture(down.pointerId);
      isDragged = true;
      change(rounded(from + way * unit, unit));
    };
    input.onpointerup = input.onpointercancel = () => {
      input.onpointermove = input.onpointerup = input.onpointercancel = null;
      isDragged = false;
    };
  };
  const update = (pass, focus) => {
    const stage = pass.stages.get(focus.name),
      isFlag = stage.scale === "flag";
    const isOther = !cell || pass.address(cell.name, cell.index) !== pass.address(focus.name, focus.index);
    if (isOther && isEdited) input.onchange(); // what was typed belongs to the previous cell
    cell = focus;
    value = pass.number(focus.name, focus.index);
    line.hidden = value === undefined;
    unit = unitOf(stage.limit);
    box.hidden = isFlag;
    hide.hidden = !isFlag && !MASK.test(focus.name) && focus.name !== stage.hiddenBy;
    const isVisible = isFlag ? value === 1 : value !== -Infinity;
    write(hide, isVisible ? "Hide this key" : "Show this key");
    hide.onclick = () => set(cell, isFlag ? Number(!isVisible) : isVisible ? -Infinity : 0);
    if (isOther || !(isEdited || isDragged)) show();
  };
  return { element: line, input, update };
}

// The typed number, with either kind of minus; NaN if it is none.
function numberIn(text) {
  return Number(text.trim().replaceAll("−", "-") || Number.NaN);
}

// The change per pixel of dragging: a power of ten, so that some 200 pixels reach the end of the colour scale.
function unitOf(limit) {
  return 10 ** Math.floor(Math.log10((limit || 1) / 100));
}

function rounded(number, unit) {
  return Number((Math.round(number / unit) * unit).toPrecision(12));
}

// Calls at most once per PAUSE_MS, the last call included.
function paced(call) {
  let timer = null,
    last = null;
  const next = () => {
    timer = null;
    if (last === null) return;
    call(...last);
    last = null;
    timer = setTimeout(next, PAUSE_MS);
  };
  return (...values) => {
    last = values;
    if (timer === null) next();
  };
}
