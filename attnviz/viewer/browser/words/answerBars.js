// Answer bars: how probable each answer is, and with which probability it is drawn where that is another.
import { button } from "../elements/button.js";
import { element, write } from "../elements/element.js";
import { percent } from "../pass/numeral.js";

const LEAST_SAID = 0.01; // a smaller share has no room over its bar

// The bars stay and say something else: making them anew with each letter takes longer than all else that it changes.
export function makeAnswerBars(tools) {
  const box = element("div", "bars-of");
  let bars = [];
  return {
    element: box,
    update({ beside, pass, name, labels, last, next, isSorted }) {
      const answers = [...labels.keys()], shares = answers.map((answer) => pass.number(name, [last, answer]));
      const inA = beside && answers.map((answer) => beside.toA(name, [last, answer])).map((index) => index && beside.pass.number(name, index));
      const most = Math.max(...shares, ...(inA ?? []), ...(next.drawing ? next.weights : []), 0.01);
      if (isSorted) answers.sort((one, other) => shares[other] - shares[one]);
      if (bars.length !== answers.length) {
        bars = answers.map(() => makeBar(tools));
        box.replaceChildren(...bars.map((bar) => bar.element));
      }
      bars.forEach((bar, nth) => {
        const answer = answers[nth];
        bar.update({
          name, index: [last, answer], label: labels[answer], share: shares[answer], most, comes: answer === next.answer,
          weight: next.drawing ? next.weights[answer] : null, shareInA: inA?.[answer] ?? null,
        });
      });
    },
  };
}

function makeBar({ pick, point }) {
  const made = button("", () => pick(shown.name, shown.index), "bar-of");
  const said = element("span", "share"), room = element("span", "room-of"), given = element("span", "given"), drawn = element("span", "weight"), line = element("span", "in-a"), name = element("span", "name");
  let shown = null;
  room.append(given, drawn, line);
  made.append(said, room, name);
  made.onpointerenter = made.onfocus = () => point(shown.name, shown.index);
  made.onpointerleave = made.onblur = () => point(shown.name, null);
  return {
    element: made,
    update(next) {
      shown = next;
      const { label, share, weight, most, shareInA } = next, high = (part) => `${(100 * part) / most}%`;
      write(said, share < LEAST_SAID ? "" : percent(share));
      write(name, label);
      given.style.height = high(share);
      drawn.style.height = high(weight ?? 0);
      line.hidden = shareInA === null;
      line.style.bottom = high(shareInA ?? 0);
      made.classList.toggle("comes", next.comes);
      made.classList.toggle("out", weight === 0);
      made.dataset.cell = `${next.name}[${next.index}]`;
      made.ariaLabel = `${label}: ${percent(share)}${weight === null ? "" : `, drawn with ${percent(weight)}`}${shareInA === null ? "" : `, in A ${percent(shareInA)}`}`;
    },
  };
}
