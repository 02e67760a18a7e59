// The pairing: what two passes beside each other are, where they part, and how they are looked at.
import { whenOther } from "../elements/whenOther.js";
import { button, choice } from "../elements/button.js";
import { element, redraw, write } from "../elements/element.js";
import { makeJoined } from "./joined.js";
import { pairOf } from "../scene/looks.js";
import { COMPARISONS } from "../scene/state.js";

const NAMES = { both: "A and B", difference: "B − A" };
const SAME_SO_FAR = "A is pinned. Change anything: what you see then is B.";

export function makePairing(tools) {
  const box = element("section", "pairing"),
    sides = element("p", "sides"),
    parted = element("p", "parted"),
    views = element("span"),
    joined = makeJoined();
  box.setAttribute("aria-label", "Two passes");
  const exchange = button("Swap", () => tools.send("exchange", true)),
    end = button("Unpin", () => tools.send("unpin", true));
  const acts = element("div", "acts"),
    first = button("", () => {}, "link");
  exchange.title = "A and B change places";
  acts.append(views, exchange, end);
  box.append(joined.element, sides, parted, acts);
  exchange.hidden = end.hidden = Boolean(tools.alone);
  const drawViews = whenOther(present =>
    redraw(views, [choice(COMPARISONS, present, compare => tools.go({ compare }), NAMES)]),
  );
  /** @type {View["update"]} */
  const update = (pass, where) => {
    const { other } = pass.document;
    box.hidden = !other;
    if (box.hidden) return;
    joined.update(pass);
    const { between } = other,
      rows = joined.element.hidden ? between : between.filter(([name]) => name !== "Sentence");
    redraw(
      sides,
      !between.length ? [SAME_SO_FAR] : rows.length ? [sideOf("A", rows, 1), " ", sideOf("B", rows, 2)] : [],
    );
    sides.title = between.map(([name, one, now]) => `${name}: ${now} instead of ${one}`).join("; ");
    write(first, other.parted);
    first.onclick = () => tools.pick(other.first, other.at);
    const word = pass.document.words.query[where.cell.query],
      isAlone = pairOf(pass, where).isThere ? "" : ` A has no “${word}”.`;
    redraw(parted, !between.length ? [] : [other.first ? first : other.parted, isAlone]);
    drawViews(where.compare);
  };
  return { element: box, update };
}

// The announcement as a pass is pinned, or becomes another than the one beside it; "" where none is.
/** @param {Pass} pass */
export function pairingText({ document: { other } }) {
  return !other ? "" : other.between.length ? `A and B beside each other. ${other.parted}` : SAME_SO_FAR;
}

// The settings in which one of two passes differs: of A in place 1, of B in place 2.
export function sideText(
  {
    document: {
      other: { between },
    },
  },
  place,
) {
  return textOf(between, place);
}

function textOf(rows, place) {
  return rows.map(each => `${each[0]}: ${each[place]}`).join("; ");
}

function sideOf(name, rows, place) {
  const side = element("span", `side ${name}`);
  side.append(element("strong", "", name), " ", textOf(rows, place));
  return side;
}
