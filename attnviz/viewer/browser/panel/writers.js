// Writers: a logit at the last token as the sum of what wrote to the residual stream: what entered, each head, each neuron.
import { button } from "../elements/button.js";
import { element } from "../elements/element.js";
import { numbersOf } from "../pass/chunks.js";
import { digits } from "../pass/numeral.js";
import { lights } from "./numberStory.js";

const MOST = 6; // that stand alone; the others are added up

// Nothing for a number that is no logit of the last token, and no probability that comes of one.
/** @param {Pass} pass */
export function drawWriters(pass, { name, index }, isThere, tools) {
  const { model, next } = pass.document,
    { parts } = next ?? {};
  if (
    !parts ||
    !isThere ||
    ![model.answers, "logits"].includes(name) ||
    index[0] !== pass.stages.get(name).shape[0] - 1
  )
    return [];
  const [last, answer] = index,
    labels = pass.stages.get("logits").axes[1].labels,
    width = labels.length;
  const values = numbersOf(parts.values, parts.writers.length * width),
    partOf = writer => values[writer * width + answer];
  const order = [...parts.writers.keys()].sort((one, other) => Math.abs(partOf(other)) - Math.abs(partOf(one)));
  const alone = order.slice(0, MOST),
    others = order.slice(MOST),
    most = Math.abs(partOf(order[0])) || 1;
  const heads = [...parts.writers.keys()].filter(writer => parts.writers[writer].isHead);
  const lines = alone.map(writer =>
    drawWriter(
      pass,
      parts.writers[writer],
      partOf(writer),
      most,
      fromKey(pass, parts, heads.indexOf(writer), answer),
      tools,
    ),
  );
  const rest = others.length
    ? [
        drawLine(
          `${others.length} others together`,
          others.reduce((sum, writer) => sum + partOf(writer), 0),
          most,
        ),
      ]
    : [];
  const box = element("section", "writers"),
    head = element(
      "p",
      "",
      `The logit of “${labels[answer]}”, ${digits(pass.number("logits", [last, answer]))}, as a sum of what wrote to the residual stream:`,
    );
  const list = element("ul");
  box.setAttribute("aria-label", "The logit as a sum");
  list.append(...lines, ...rest);
  box.append(head, list);
  return [box];
}

// The key from which a head adds most, and how much; nothing of what is no head.
/** @param {Pass} pass */
function fromKey(pass, { byKey }, head, answer) {
  if (head < 0 || !byKey) return "";
  const { places } = byKey,
    width = places[0].length,
    values = numbersOf(byKey.values, places.length * width);
  return ` (from “${pass.document.words.key[places[head][answer]]}” ${digits(values[head * width + answer])})`;
}

/** @param {Pass} pass */
function drawWriter(pass, { label, cell }, value, most, from, { pick, point }) {
  const target = pass.read(cell),
    link = button(label, () => pick(target.name, target.index), "link");
  lights(link, target, point);
  return drawLine([link, from], value, most);
}

function drawLine(label, value, most) {
  const line = element("li"),
    name = element("span", "name"),
    bar = element("span", `bar ${value < 0 ? "down" : "up"}`),
    fill = element("span");
  name.append(...[label].flat());
  fill.style.width = `${(50 * Math.abs(value)) / most}%`;
  bar.append(fill);
  line.append(name, bar, element("span", "value", digits(value)));
  return line;
}
