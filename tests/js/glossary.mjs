// What the glossary says of passes: reads {document, cell} of each, writes the text of each term by its id.
import { readFileSync } from "node:fs";
import { readPass } from "../../attnviz/viewer/browser/model/pass.js";
import { runsOf } from "../../attnviz/viewer/browser/views/glossary.js";
import { TERMS } from "../../attnviz/viewer/generated/glossaryTerms.js";

const said = JSON.parse(readFileSync(0, "utf-8")).map(({ document, cell }) => {
  const pass = readPass(document);
  return Object.fromEntries(
    TERMS.map(term => [
      term.id,
      runsOf(term, { pass, cell, tellsNumbers: true })
        .map(([, text]) => text)
        .join(""),
    ]),
  );
});
process.stdout.write(JSON.stringify(said).replaceAll("\u00a0", " "));
