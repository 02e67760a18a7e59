// Workings: how a number of the sheet in a hand was computed, which opens below its row: what is multiplied line by line,
// of a share the value that it is a share of, and the same number in a pass beside it.
import { LABELS } from "../../generated/where.js";
import { button } from "../elements/button.js";
import { element } from "../elements/element.js";
import { digits } from "../pass/numeral.js";
import { drawBeside } from "../picture/beside.js";
import { QUESTIONS } from "../scene/state.js";

const MOST = 12,
  ALONE = 10; // of more lines the largest stand alone, the others together

// `part` is where it stands, `collected` the band of the values that are taken in its shares.
export function drawWorkings(
  { band: { array } },
  { cell: { name, index } },
  { pass, where, look },
  acts,
  collected = null,
) {
  const box = element("div", "workings"),
    terms = pass.terms(name, index),
    isShare = Boolean(collected) && !array && pass.stages.get(name).scale === "share";
  const story = array ? [] : drawStory(pass.story(name, index, where.cell)),
    areProducts = terms && !array && isProduct(terms);
  if (!array) box.append(...drawBeside(pass, where, look, { name, index }));
  if (!areProducts) box.append(...story);
  if (!terms) box.append(element("p", "", `${pass.nameOf(name, index)} is on its way.`));
  else if (array) box.append(drawSum(terms.lines[index.at(-1)]));
  else if (areProducts) box.append(drawProducts(pass, terms, pass.number(name, index)), ...story);
  else if (terms.lines.length === 1) box.append(drawSum(terms.lines[0]));
  else
    box.append(
      element(
        "p",
        "sum",
        terms.lines.length ? `${digits(pass.number(name, index))} = ${terms.conclusion}` : terms.recipe,
      ),
    );
  if (isShare) box.append(drawValue(pass, collected, pass.number(name, index), where.cell));
  if (acts.ask) box.append(drawQuestions(acts));
  return box;
}

// Its numbers are no buttons here, which would be too small for a finger.
function drawStory(pieces) {
  if (!pieces.length) return [];
  const line = element("p", "story");
  line.append(...pieces.map(({ text, style }) => element("span", style ?? "", text)));
  return [line];
}

function drawSum({ text, value }) {
  return element("p", "sum", `${text} = ${digits(value)}`);
}

function isProduct({ lines, between }) {
  return lines.length > 1 && between === " × " && lines.every(({ cells }) => cells.length === 2);
}

// The products, a line each, and the sum.
/** @param {Pass} pass */
function drawProducts(pass, { lines }, total) {
  const names = lines[0].cells.map(({ name }) => pass.stages.get(name)),
    size = ({ value }) => -Math.abs(value);
  const largest =
    lines.length > MOST ? [...lines].sort((one, other) => size(one) - size(other)).slice(0, ALONE) : lines;
  const alone = lines.filter(line => largest.includes(line)),
    others = lines.filter(line => !largest.includes(line));
  const rows = alone.map(({ cells, value, place }) => [
    labelOf(place),
    ...cells.map(({ name, index }) => digits(pass.number(name, index))),
    digits(value),
  ]);
  const together = others.length
    ? [[`other ${others.length}`, "", "", digits(others.reduce((sum, { value }) => sum + value, 0))]]
    : [];
  return tableOf([runsOver(lines), ...names, "product"], [...rows, ...together], ["sum", "", "", digits(total)]);
}

// The noun for the lines of a sum: dimensions, neurons or words.
function runsOver([{ place }]) {
  return place?.style === "word" ? "" : (place?.text.split(" ")[0] ?? "");
}

function labelOf(place) {
  return place ? place.text.replace("dimension ", "") : "";
}

// The value that a share is taken of, dimension by dimension.
/** @param {Pass} pass */
function drawValue(pass, { cells }, share, { key }) {
  const rows = cells.rows.labels.map((label, row) => {
    const value = pass.number(cells.name, cells.index(row, key));
    return [label, digits(share), digits(value), digits(share * value)];
  });
  return tableOf(["dimension", { one: "share" }, cells.stage, "product"], rows, null);
}

function tableOf(names, rows, total) {
  const table = element("table", "factors"),
    head = element("thead"),
    body = element("tbody"),
    line = element("tr");
  line.append(
    ...names.map(name => {
      const made = element("th", name.role ?? "", name.one ?? name);
      made.scope = "col";
      return made;
    }),
  );
  head.append(line);
  body.append(...rows.map(lineOf));
  table.append(head, body);
  if (total) {
    const foot = element("tfoot");
    foot.append(lineOf(total));
    table.append(foot);
  }
  return table;
}

function lineOf([label, ...numbers]) {
  const line = element("tr"),
    name = element("th", "", label);
  name.scope = "row";
  line.append(name, ...numbers.map(text => element("td", "", text)));
  return line;
}

// Further questions on the number, which the panel answers.
function drawQuestions({ ask }) {
  const line = element("p", "questions");
  line.append(
    ...QUESTIONS.slice(1).map(question =>
      button(`${LABELS[question][0].toUpperCase()}${LABELS[question].slice(1)}?`, () => ask(question)),
    ),
  );
  return line;
}
