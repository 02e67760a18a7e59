// Runs as they read for selections: reads {document, asked} of each pass, asked being runs and a selection, and the band that
// they stand beside if any; writes a text for each.
import { readFileSync } from "node:fs";
import { runsAt } from "../../attnviz/viewer/browser/dom/runs.js";
import { readPass } from "../../attnviz/viewer/browser/model/pass.js";
import { slotted } from "../../attnviz/viewer/browser/views/bandParts.js";
import { setIn } from "../../attnviz/viewer/browser/views/bandFace.js";

const answers = JSON.parse(readFileSync(0, "utf-8")).map(({ document, asked }) => {
  const pass = readPass(document);
  return asked.map(([runs, cell, band]) =>
    runsAt(
      pass,
      runs,
      cell,
      undefined,
      band ? slotted(pass, { selection: cell }, [{ band }]).flatMap(part => setIn(part, { pass })) : [],
    )
      .map(([, text]) => text)
      .join(""),
  );
});
process.stdout.write(JSON.stringify(answers).replaceAll("\u00a0", " ")); // which keeps a line from ending there
