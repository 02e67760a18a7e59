// Heads: all heads of the step's result as small pictures, to choose one.
import { element, write } from "../elements/element.js";
import { rovingFocus, setTabStop } from "../elements/roving.js";
import { isHeaded } from "../pass/axes.js";
import { slotsOf, stepAt, withHead } from "../scene/state.js";
import { makeThumb } from "./thumb.js";

const MAX_NAMED_HEADS = 5; // heads whose names have room

/** @returns {View} */
export function makeHeads(tools) {
  const box = element("div", "heads"),
    line = element("div", "choices"),
    note = element("p");
  line.setAttribute("role", "radiogroup");
  line.setAttribute("aria-label", "Head");
  box.append(line, note);
  let buttons = [],
    built = "",
    drawn = null,
    shown = null,
    turned = null; // the button of another head than before

  const build = (name, heads) => {
    if (`${name} ${heads}` === built) return false;
    built = `${name} ${heads}`;
    drawn = null;
    buttons = Array.from({ length: heads }, (_, head) => {
      const button = element("button"),
        thumb = makeThumb(name);
      button.type = "button";
      button.setAttribute("role", "radio");
      button.append(
        element("span", "", heads > MAX_NAMED_HEADS ? String(head + 1) : `head ${head + 1}`),
        thumb.element,
      );
      button.onclick = () => choose(head);
      return Object.assign(button, { thumb });
    });
    line.classList.toggle("many", heads > MAX_NAMED_HEADS);
    return true;
  };
  const choose = head => tools.go(withHead(shown.where, head));
  rovingFocus(line, () => [buttons], choose);
  return {
    element: box,
    update(pass, where, look) {
      shown = { pass, where };
      const name = headedAt(pass, where);
      const heads = name ? pass.stages.get(name).shape[0] : 1;
      box.hidden = heads < 2;
      if (box.hidden) return;
      const isOther = build(name, heads);
      const { colours } = look;
      buttons.forEach((button, head) => {
        if (drawn?.pass !== look.pass || drawn.colours !== colours) {
          const alone = headOf(look.pass, name, head);
          button.thumb.resize(
            alone,
            buttons.length > MAX_NAMED_HEADS
              ? { width: 26, height: 30, largest: 7 }
              : { width: 56, height: 40, largest: 7 },
          );
          button.thumb.draw(alone, colours);
        }
        button.setAttribute("aria-checked", head === where.cell.head);
      });
      if (isOther) line.replaceChildren(...buttons); // once they are drawn: a canvas on a page that is new there costs a layout
      write(note, isSent(pass, name) ? "" : "Grey heads are not loaded yet: click one to load it.");
      setTabStop(buttons, buttons[where.cell.head]);
      if (drawn?.head !== where.cell.head) turned = buttons[where.cell.head];
      drawn = { pass: look.pass, colours, head: where.cell.head };
    },
    // Only the row of heads scrolls, never the page.
    connect() {
      if (turned) line.scrollLeft = turned.offsetLeft - (line.clientWidth - turned.offsetWidth) / 2;
      turned = null;
    },
  };
}

// The stage whose heads are shown: the step's result, or its attention where that has none.
/** @param {Pass} pass @param {Where} where */
function headedAt(pass, where) {
  const step = stepAt(pass, where);
  const results = slotsOf(step)
    .filter(slot => slot.result)
    .map(slot => slot.stage);
  return [...results, step.attention].find(name => pass.stages.has(name) && isHeaded(pass.stages.get(name)));
}

/** @param {Pass} pass */
function isSent(pass, name) {
  return !pass.numbers(name).some(Number.isNaN);
}

// A pass in which one head is all there is of a stage.
/** @param {Pass} pass */
function headOf(pass, name, head) {
  const stage = pass.stages.get(name),
    [heads, ...shape] = stage.shape,
    length = stage.length / heads;
  const part = numbers => numbers.subarray(head * length, (head + 1) * length);
  return {
    stages: new Map([[name, { ...stage, shape, axes: stage.axes.slice(1), length }]]),
    numbers: each => part(pass.numbers(each)),
  };
}
