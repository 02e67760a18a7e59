// Answer bars: how probable each answer is, and with which probability it is drawn where that is another.
import { button } from "../elements/button.js";
import { element, write } from "../elements/element.js";
import { rovingFocus, setTabStop } from "../elements/roving.js";
import { percent } from "../pass/numeral.js";

const LEAST_SHARE = 0.01; // a smaller share has no room over its bar
const MOST_IN_A_TALK = 10; // bars; the other answers have one together

// The bars stay and say something else: making them anew with each letter takes longer than all else that it changes.
export function makeAnswerBars(tools) {
  const box = element("div", "bars-of");
  let bars = [];
  box.setAttribute("role", "toolbar"); // which keeps its arrow keys: on the page they lead to another step
  box.setAttribute("aria-label", "What comes next");
  rovingFocus(box, () => [bars.map(bar => bar.element)]);
  return {
    element: box,
    update({ pair, pass, name, labels, last, next, isSorted, isTalk }) {
      const all = [...labels.keys()],
        shares = all.map(answer => pass.number(name, [last, answer]));
      const inA =
        pair && all.map(answer => pair.toA(name, [last, answer])).map(index => index && pair.pass.number(name, index));
      const answers = isTalk ? mostOf(all, shares, next.answer) : all,
        rest = all.filter(answer => !answers.includes(answer)),
        sumOf = numbers => rest.reduce((sum, answer) => sum + numbers[answer], 0);
      const most = Math.max(
        ...(rest.length ? [sumOf(shares)] : []),
        ...shares,
        ...(inA ?? []),
        ...(next.drawing ? next.weights : []),
        0.01,
      );
      if (isSorted || isTalk) answers.sort((one, other) => shares[other] - shares[one]);
      const count = answers.length + Math.min(rest.length, 1);
      if (bars.length !== count) {
        bars = Array.from({ length: count }, () => makeBar(tools));
        box.replaceChildren(...bars.map(bar => bar.element));
        setTabStop([...box.children], box.firstChild);
      }
      if (rest.length)
        bars.at(-1).update({
          name,
          index: null,
          label: `other ${rest.length}`,
          share: sumOf(shares),
          most,
          comes: false,
          weight: next.drawing ? sumOf(next.weights) : null,
          shareInA: inA ? sumOf(inA) : null,
        });
      answers.forEach((answer, nth) => {
        const bar = bars[nth];
        bar.update({
          name,
          index: [last, answer],
          label: labels[answer],
          share: shares[answer],
          most,
          comes: answer === next.answer,
          weight: next.drawing ? next.weights[answer] : null,
          shareInA: inA?.[answer] ?? null,
        });
      });
    },
  };
}

// The most probable answers, and among them the one that comes next.
function mostOf(all, shares, next) {
  const ranked = [...all].sort(
    (one, other) => Number(other === next) - Number(one === next) || shares[other] - shares[one],
  );
  return ranked.slice(0, MOST_IN_A_TALK);
}

function makeBar({ pick, point }) {
  const made = button("", () => pick(shown.name, shown.index), "bar-of");
  const number = element("span", "share"),
    room = element("span", "room-of"),
    given = element("span", "given"),
    drawn = element("span", "weight"),
    line = element("span", "in-a"),
    name = element("span", "name");
  let shown = null;
  room.append(given, drawn, line);
  made.append(number, room, name);
  made.onpointerenter = made.onfocus = () => point(shown.name, shown.index);
  made.onpointerleave = made.onblur = () => point(shown.name, null);
  return {
    element: made,
    update(next) {
      shown = next;
      const { label, share, weight, most, shareInA } = next,
        high = part => `${(100 * part) / most}%`;
      write(number, share < LEAST_SHARE ? "" : percent(share));
      write(name, label);
      given.style.height = high(share);
      drawn.style.height = high(weight ?? 0);
      line.hidden = shareInA === null;
      line.style.bottom = high(shareInA ?? 0);
      made.classList.toggle("comes", next.comes);
      made.classList.toggle("out", weight === 0);
      made.disabled = next.index === null;
      made.dataset.cell = made.disabled ? "" : `${next.name}[${next.index}]`;
      made.ariaLabel = `${label}: ${percent(share)}${weight === null ? "" : `, drawn with ${percent(weight)}`}${shareInA === null ? "" : `, in A ${percent(shareInA)}`}`;
    },
  };
}
