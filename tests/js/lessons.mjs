// What the steps of passes say, and what stands beside their bands: reads {document, selections} of each pass, writes the lessons of each selection by their steps.
import { readFileSync } from "node:fs";
import { lessonAt } from "../../attnviz/viewer/browser/words/lesson.js";
import { runsAt } from "../../attnviz/viewer/browser/elements/runs.js";
import { readPass } from "../../attnviz/viewer/browser/pass/pass.js";

const answers = JSON.parse(readFileSync(0, "utf-8")).map(({ document, selections }) => {
  const pass = readPass(document);
  return selections.map((cell) => Object.fromEntries(document.steps.map(({ id, bands }) => {
    const beside = bands.map(({ said }) => runsAt(pass, said, cell));
    return [id, { ...lessonAt(pass, { step: id, cell }), beside }];
  })));
});
process.stdout.write(JSON.stringify(answers).replaceAll("\u00a0", " ")); // which keeps a line from ending there
