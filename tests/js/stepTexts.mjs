// What the steps of passes say: reads {document, selections} of each pass, writes the texts for each selection by their steps.
import { readFileSync } from "node:fs";
import { stepTextAt } from "../../attnviz/viewer/browser/views/stepText.js";
import { readPass } from "../../attnviz/viewer/browser/model/pass.js";

const answers = JSON.parse(readFileSync(0, "utf-8")).map(({ document, selections }) => {
  const pass = readPass(document);
  return selections.map(cell =>
    Object.fromEntries(document.steps.map(({ id }) => [id, stepTextAt(pass, { step: id, cell })])),
  );
});
process.stdout.write(JSON.stringify(answers).replaceAll("\u00a0", " ")); // which keeps a line from ending there
