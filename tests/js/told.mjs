// What a pass says of some of its cells: reads {document, selection, cells} of each pass, writes an answer for each cell.
import { readFileSync } from "node:fs";
import { readPlace, searchAt } from "../../attnviz/viewer/browser/model/address.js";
import { readPass } from "../../attnviz/viewer/browser/model/pass.js";
import { atCell, fitted, focusOf } from "../../attnviz/viewer/browser/model/state.js";

const answers = JSON.parse(readFileSync(0, "utf-8")).map(({ document, selection, cells }) => {
  const pass = readPass(document),
    first = readPlace(pass, "");
  const shownAt = where => Object.values(focusOf(pass, where));
  return cells.map(([name, index]) => {
    const { lines, conclusion, formula, recipe } = pass.terms(name, index);
    const picked = fitted(pass, { ...first, ...atCell(pass, first, name, index) });
    return {
      address: pass.address(name, index),
      name: pass.nameOf(name, index),
      lines: lines.map(({ cells: read, text, value }) => [
        read.map(cell => [cell.name, cell.index]),
        text,
        String(value),
      ]),
      conclusion,
      formula,
      recipe,
      picked: shownAt(picked),
      linked: shownAt(fitted(pass, readPlace(pass, searchAt(pass, picked, "")))),
      story: pass
        .story(name, index, selection)
        .map(({ text }) => text)
        .join("")
        .replaceAll("\u00a0", " "), // which keeps a line from ending there
    };
  });
});
process.stdout.write(JSON.stringify(answers));
