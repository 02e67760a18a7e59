// What the glossary says of a pass: reads {document, cell}, writes the text of each term by its id.
import { readFileSync } from "node:fs";
import { readPass } from "../../attnviz/viewer/browser/pass/pass.js";
import { runsOf } from "../../attnviz/viewer/browser/words/glossary.js";
import { TERMS } from "../../attnviz/viewer/generated/glossaryTerms.js";

const { document, cell } = JSON.parse(readFileSync(0, "utf-8")),
  pass = readPass(document);
const said = TERMS.map(term => [
  term.id,
  runsOf(term, { pass, cell, tellsNumbers: true })
    .map(([, text]) => text)
    .join(""),
]);
process.stdout.write(JSON.stringify(Object.fromEntries(said)).replaceAll("\u00a0", " "));
