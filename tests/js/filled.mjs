// Runs as they read for selections: reads {document, asked} of each pass, asked being pairs of runs and a selection, writes a text for each pair.
import { readFileSync } from "node:fs";
import { runsAt } from "../../attnviz/viewer/browser/elements/runs.js";
import { readPass } from "../../attnviz/viewer/browser/pass/pass.js";

const answers = JSON.parse(readFileSync(0, "utf-8")).map(({ document, asked }) => {
  const pass = readPass(document);
  return asked.map(([runs, cell]) =>
    runsAt(pass, runs, cell)
      .map(([, text]) => text)
      .join(""),
  );
});
process.stdout.write(JSON.stringify(answers).replaceAll("\u00a0", " ")); // which keeps a line from ending there
