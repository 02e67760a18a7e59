// Addresses as the viewer writes and reads them: reads {document, where, search} of each scene, writes {search, where}.
import { readFileSync } from "node:fs";
import { readPlace, searchAt } from "../../attnviz/viewer/browser/model/address.js";
import { readPass } from "../../attnviz/viewer/browser/model/pass.js";

const answers = JSON.parse(readFileSync(0, "utf-8")).map(({ document, where, search }) => {
  const pass = readPass(document);
  return { search: searchAt(pass, where, search), where: readPlace(pass, search) };
});
process.stdout.write(JSON.stringify(answers));
