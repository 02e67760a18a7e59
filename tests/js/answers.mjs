// What the browser's functions make of passes: `node answers.mjs NAME` maps a JSON list from stdin, for tests in Python.
import { readFileSync } from "node:fs";
import { readWhere, searchAt } from "../../attnviz/viewer/browser/model/address.js";
import { differencesOf, pairOf } from "../../attnviz/viewer/browser/model/looks.js";
import { readPass } from "../../attnviz/viewer/browser/model/pass.js";
import { atCell, atStep, fitted, focusOf, stepAt } from "../../attnviz/viewer/browser/model/state.js";
import { runsAt } from "../../attnviz/viewer/browser/dom/runs.js";
import { runsOf } from "../../attnviz/viewer/browser/views/glossary.js";
import { setIn } from "../../attnviz/viewer/browser/views/oneWordCells.js";
import { slotted } from "../../attnviz/viewer/browser/views/oneWordParts.js";
import { stepTextAt } from "../../attnviz/viewer/browser/views/stepText.js";
import { TERMS } from "../../attnviz/viewer/generated/glossaryTerms.js";

const textOf = runs => runs.map(([, text]) => text).join("");

const FUNCTIONS = {
  // The address written for a place, and the place read from an address.
  addresses({ document, where, search }) {
    const pass = readPass(document);
    return { search: searchAt(pass, where, search), where: readWhere(pass, search) };
  },

  // What a pass says of some of its cells.
  cells({ document, selection, cells }) {
    const pass = readPass(document),
      first = readWhere(pass, ""),
      shownAt = where => Object.values(focusOf(pass, where));
    return cells.map(([name, index]) => {
      const { lines, conclusion, formula, recipe } = pass.terms(name, index),
        picked = fitted(pass, { ...first, ...atCell(pass, first, name, index) }),
        sources = ({ cells: read }) => read.map(cell => [cell.name, cell.index]);
      return {
        address: pass.address(name, index),
        name: pass.nameOf(name, index),
        lines: lines.map(line => [sources(line), line.text, String(line.value)]),
        ...{ conclusion, formula, recipe },
        picked: shownAt(picked),
        linked: shownAt(fitted(pass, readWhere(pass, searchAt(pass, picked, "")))),
        story: pass
          .story(name, index, selection)
          .map(({ text }) => text)
          .join(""),
      };
    });
  },

  // Where each move of some walks leads, to a step or to a cell: the words there, and those of each stage that is shown.
  walks({ document, walks }) {
    const pass = readPass(document),
      labelsIn = (name, cell) => {
        const { axes } = pass.stages.get(name);
        return pass.indexAt(name, cell).map((position, nth) => [axes[nth].name, axes[nth].labels[position]]);
      };
    return walks.map(moves => {
      let where = fitted(pass, readWhere(pass, ""));
      return moves.map(move => {
        const parts = typeof move === "string" ? atStep(pass, where, move) : { cell: { ...where.cell, ...move } };
        where = fitted(pass, { ...where, ...parts });
        const { query, key } = pass.wordsAt(where.step),
          shown = stepAt(pass, where).stages.map(name => [name, labelsIn(name, where.cell)]);
        return { step: where.step, words: [query[where.cell.query], key[where.cell.key]], shown };
      });
    });
  },

  // Runs as they read for selections, beside a band if any.
  runs({ document, asked }) {
    const pass = readPass(document);
    return asked.map(([runs, cell, band]) => {
      const parts = band ? slotted(pass, { selection: cell }, [{ band }]) : [];
      return textOf(
        runsAt(
          pass,
          runs,
          cell,
          undefined,
          parts.flatMap(part => setIn(part, { pass })),
        ),
      );
    });
  },

  // The text of each term of the glossary by its id.
  glossary({ document, cell }) {
    const pass = readPass(document);
    return Object.fromEntries(TERMS.map(term => [term.id, textOf(runsOf(term, { pass, cell, tellsNumbers: true }))]));
  },

  // The texts of the steps for each selection.
  steps({ document, selections }) {
    const pass = readPass(document);
    return selections.map(cell =>
      Object.fromEntries(document.steps.map(({ id }) => [id, stepTextAt(pass, { step: id, cell })])),
    );
  },

  // Of two passes: where the last cell of each stage of B lies in A and back, the differences, and how words of A stand.
  pair(document) {
    const pass = readPass(document),
      { where, isThere, order, toA, toB } = pairOf(pass, document.where),
      limitsOf = ([name, { limit }]) => [name, [limit, pass.other.stages.get(name)?.limit ?? null]],
      differences = Object.entries(differencesOf(pass, document.where));
    const back = [...pass.stages].flatMap(([name, { shape }]) => {
      const last = shape.map(length => length - 1),
        there = toA(name, last);
      return there ? [[name, last, there, toB(name, there)]] : [];
    });
    return {
      ...{ cell: where.cell, isThere, order, back },
      limits: Object.fromEntries([...pass.stages].map(limitsOf)),
      differences: Object.fromEntries(differences.map(([name, numbers]) => [name, [...numbers].map(String)])),
    };
  },
};

const answers = JSON.parse(readFileSync(0, "utf-8")).map(FUNCTIONS[process.argv[2]]);
process.stdout.write(JSON.stringify(answers).replaceAll("\u00a0", " ")); // which keeps a line from ending there
