// A box that holds a number, to type another or to drag it to one.
import { digits } from "../model/numeral.js";
import { h, write } from "./element.js";

const PAUSE_MS = 100; // between two numbers that are sent during a drag
const SLACK_PX = 3; // a pointer moves this far before it drags
const MASK = /^mask(?:_\d+)?$/; // of all layers, or of one

/** Calls set(cell, number) for each new number; -Infinity hides a key. @param {(cell: Cell, number: number) => void} set */
export function makeNumberInput(set) {
  const title = "Type a number and press Enter, or drag sideways",
    input = h("input", { type: "text", inputMode: "decimal", autocomplete: "off", title }),
    box = h("label", { class: "by-hand" }, "Set by hand ", input),
    hide = h("button"),
    hint = h("span", { class: "hint", role: "alert" }),
    line = h("div", { class: "setting" }, box, hide, hint);
  let cell = /** @type {Cell | null} */ (null),
    value = 0,
    unit = 1,
    isEdited = false,
    isDragged = false;
  // All of its digits are for who is about to change it.
  const show = () => {
    const text = input.matches(":focus") ? String(value) : digits(value);
    input.value = Number.isFinite(value) ? text : "";
    input.placeholder = Number.isFinite(value) ? "" : "hidden: −∞";
    input.removeAttribute("aria-invalid");
    hint.textContent = "";
    isEdited = false;
  };
  const send = throttled(set);
  const change = (/** @type {number} */ number) => {
    input.value = String(number);
    send(cell, number);
  };
  input.oninput = () => {
    isEdited = true;
  };
  input.onfocus = () => {
    if (isEdited) return;
    show();
    input.select(); // or what is typed would come after it
  };
  input.onblur = () => {
    if (!isEdited) show();
  };
  input.onchange = () => {
    if (!isEdited) return; // the change event of a box that got another cell's number
    const number = numberIn(input.value),
      isNumber = Number.isFinite(number);
    input.setAttribute("aria-invalid", !isNumber);
    hint.textContent = isNumber ? "" : "Type a number, such as −1.5 or 2e3.";
    if (!isNumber) return;
    isEdited = false;
    set(/** @type {Cell} */ (cell), number);
  };
  input.onkeydown = (/** @type {KeyboardEvent} */ event) => {
    const up = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
    if (event.key === "Escape" && isEdited) {
      event.stopPropagation();
      show();
    } else if (up) {
      event.preventDefault();
      const number = numberIn(input.value);
      if (Number.isFinite(number)) change(rounded(number + up * 10 * unit, unit));
    }
  };
  input.onpointerdown = (/** @type {PointerEvent} */ down) => {
    const start = Number.isFinite(value) ? value : 0;
    input.onpointermove = (/** @type {PointerEvent} */ event) => {
      const distance = event.clientX - down.clientX;
      if (!isDragged && Math.abs(distance) < SLACK_PX) return;
      if (!isDragged) input.setPointerCapture(down.pointerId);
      isDragged = true;
      change(rounded(start + distance * unit, unit));
    };
    input.onpointerup = input.onpointercancel = () => {
      input.onpointermove = input.onpointerup = input.onpointercancel = null;
      isDragged = false;
    };
  };
  /** @param {Pass} pass @param {Cell} focus */
  const update = (pass, focus) => {
    const { scale, limit, hiddenBy } = pass.stages.get(focus.name),
      isFlag = scale === "flag",
      isOther = !cell || pass.address(cell.name, cell.index) !== pass.address(focus.name, focus.index);
    if (isOther && isEdited) input.onchange(); // what was typed belongs to the previous cell
    cell = focus;
    const number = pass.number(focus.name, focus.index);
    value = number ?? 0;
    line.hidden = number === undefined;
    unit = 10 ** Math.floor(Math.log10((limit || 1) / 100)); // per pixel: some 200 reach the end of the colour scale
    box.hidden = isFlag;
    hide.hidden = !isFlag && !MASK.test(focus.name) && focus.name !== hiddenBy;
    const isVisible = isFlag ? value === 1 : value !== -Infinity;
    write(hide, isVisible ? "Hide this key" : "Show this key");
    hide.onclick = () => set(focus, isFlag ? Number(!isVisible) : isVisible ? -Infinity : 0);
    if (isOther || !(isEdited || isDragged)) show();
  };
  return { element: line, update };
}

/** The typed number, with either kind of minus; NaN if it is none. @param {string} text */
const numberIn = text => Number(text.trim().replaceAll("−", "-") || Number.NaN);
/** @param {number} number @param {number} unit */
const rounded = (number, unit) => Number((Math.round(number / unit) * unit).toPrecision(12));

/** Calls at most once per PAUSE_MS, the last call included. @param {(...args: any[]) => void} call */
function throttled(call) {
  let timer = 0,
    last = /** @type {any[] | null} */ (null);
  const next = () => {
    timer = 0;
    if (last === null) return;
    call(...last);
    last = null;
    timer = setTimeout(next, PAUSE_MS);
  };
  return (/** @type {any[]} */ ...values) => {
    last = values;
    if (!timer) next();
  };
}
