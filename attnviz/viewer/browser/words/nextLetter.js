// The next letter: what may come next as bars, how one of them is chosen, and the text written on with it.
import { button, choice } from "../elements/button.js";
import { element, redraw, write } from "../elements/element.js";
import { drawBoxes, drawHow } from "./drawingBoxes.js";
import { makeAnswerBars } from "./answerBars.js";
import { drawNames } from "./writtenName.js";
import { pairOf } from "../scene/looks.js";
import { isFirst } from "../scene/state.js";
import { whenOther } from "../elements/whenOther.js";

const PACE_MS = 180; // from a letter that is drawn to the wish for the next, while it writes to the end
const ORDER = { size: "by probability", name: "by alphabet" };
const MANY = 100; // names at a click

/** @returns {View} */
export function makeNextLetter(tools) {
  const box = element("section", "next-letter"),
    line = element("p", "line"),
    how = element("span"),
    order = element("span", "order"),
    boxes = element("p", "how"),
    bars = makeAnswerBars(tools),
    kept = element("p", "kept");
  box.setAttribute("aria-label", "The next letter");
  const back = button("Delete", () => tools.send("shorter", true)),
    on = button("", () => tools.send("next", true), "primary"),
    status = element("span", "said");
  const play = button("", () => (timer === null ? start() : stop()));
  status.setAttribute("role", "status");
  let shown = null,
    timer = null,
    sorted = ORDER.size,
    listed = null;
  back.ariaLabel = "Delete the last letter";
  for (const each of [back, on, play, how, boxes]) each.hidden = Boolean(tools.alone);
  const names = button(`${MANY} names`, () => tools.send("names", true)),
    list = element("div", "names-of");
  names.hidden = Boolean(tools.alone);
  list.popover = "auto";
  line.append(back, on, play, status, how, order, names);
  box.append(line, boxes, bars.element, kept, list);
  box.hidden = true;

  const drawWays = whenOther(([drawing, offered]) => {
    redraw(how, [drawHow(drawing, tools)]);
    redraw(boxes, drawBoxes(drawing, offered, tools));
  });
  const drawOrder = whenOther(present =>
    redraw(order, [
      choice(Object.values(ORDER), present, text => {
        sorted = text;
        draw();
      }),
    ]),
  );
  const isDone = ({ ends, isFull }) => ends || isFull;
  const start = () => {
    timer = 0;
    tools.send("next", true);
    draw();
  };
  const stop = () => {
    clearTimeout(timer);
    timer = null;
    draw();
  };
  const draw = () => {
    const { pass } = shown,
      { document } = pass,
      { next, model, link } = document;
    const name = model.answers,
      labels = pass.stages.get(name).axes[1].labels,
      last = pass.stages.get(name).shape[0] - 1;
    write(on, isDone(next) ? "Next letter" : `Next letter: ${labels[next.answer]}`);
    on.disabled = play.disabled = isDone(next);
    back.disabled = !next.canShorten;
    write(play, timer === null ? "▶ Write to the end" : "❚❚ Pause");
    write(
      status,
      next.ends
        ? `It ends here: “${link.sentence}”.`
        : next.isFull
          ? `The context is full: ${pass.document.words.query.length} tokens.`
          : "",
    );
    drawWays([next.drawing, next.offered]);
    drawOrder(sorted);
    if (next.names && next.names !== listed) {
      list.replaceChildren(
        ...drawListed(next.names, text => {
          list.hidePopover();
          tools.send("sentence", text);
        }),
      );
      list.showPopover();
    }
    listed = next.names;
    const pair = pairOf(pass, shown.where);
    write(kept, [pair ? "Bars are B, lines A." : "", next.kept.at(-1)?.text ?? ""].join(" ").trim());
    bars.update({
      pair,
      pass,
      name,
      labels,
      last,
      next,
      isSorted: sorted === ORDER.size,
      isTalk: shown.where.present,
    });
  };
  return {
    element: box,
    get isRunning() {
      return timer !== null;
    },
    update(pass, where) {
      const { next } = pass.document,
        isOther = shown?.pass.document !== pass.document;
      const isHere = Boolean(next) && isFirst(pass, where);
      box.hidden = !isHere;
      if (!isHere) {
        clearTimeout(timer);
        timer = null;
        return;
      }
      shown = { pass, where };
      if (isOther && timer !== null) {
        clearTimeout(timer);
        timer = isDone(next) ? null : setTimeout(() => tools.send("next", true), PACE_MS);
      }
      draw();
    },
    end: () => clearTimeout(timer),
  };
}

function drawListed({ listed, text, about }, take) {
  const names = element("div", "listed");
  drawNames(names, listed, take);
  return [
    element("p", "said", text),
    names,
    element(
      "p",
      "note",
      `Bold: held out, and never trained on. Italic: new, in no list. Underlined twice: in the list that training draws from, but not drawn by then. Others: trained on. ${about}`,
    ),
  ];
}
