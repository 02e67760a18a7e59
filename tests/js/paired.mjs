// What the viewer makes of documents with a pass beside theirs, read from stdin: where each cell of B lies in A and back, the
// differences, and how words of A stand.
import { readFileSync } from "node:fs";
import { readPass } from "../../attnviz/viewer/browser/model/pass.js";
import { differencesOf, pairOf } from "../../attnviz/viewer/browser/model/looks.js";

const told = JSON.parse(readFileSync(0, "utf-8")).map(document => {
  const pass = readPass(document),
    { where } = document,
    pair = pairOf(pass, where),
    differences = differencesOf(pass, where);
  return {
    cell: pair.where.cell,
    isThere: pair.isThere,
    order: pair.order,
    limits: Object.fromEntries(
      [...pass.stages].map(([name, { limit }]) => [name, [limit, pass.other.stages.get(name)?.limit ?? null]]),
    ),
    differences: Object.fromEntries(
      Object.entries(differences).map(([name, numbers]) => [name, [...numbers].map(String)]),
    ),
    back: [...pass.stages].flatMap(([name, { shape }]) => {
      const last = shape.map(length => length - 1),
        there = pair.toA(name, last);
      return there ? [[name, last, there, pair.toB(name, there)]] : [];
    }),
  };
});
console.log(JSON.stringify(told));
