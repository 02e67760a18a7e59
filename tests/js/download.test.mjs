import assert from "node:assert/strict";
import test from "node:test";
import { bytesOf, fileName, isWhole, sizeText } from "../../attnviz/viewer/browser/views/download.js";

const documentOf = (values, sentence) => ({
  stages: { x: { values: ["AAAA"] }, q: { values } },
  link: sentence ? { sentence } : {},
  words: { query: ["a", "b"] },
});

test("heads that were not sent are counted as those that were", () => {
  const sent = documentOf(["AAAA", null, null]),
    whole = documentOf(["AAAA", "AAAA", "AAAA"]);
  assert.deepEqual([isWhole(sent), isWhole(whole)], [false, true]);
  assert.equal(bytesOf(sent, 100), 100 + JSON.stringify(whole).length);
});

test("a size is said in kB, and in MB from one on", () => {
  assert.deepEqual([392_600, 999_400, 1_726_000].map(sizeText), ["393 kB", "999 kB", "1.7 MB"]);
});

test("a file is named by its words, whatever they hold", () => {
  assert.equal(fileName(documentOf([], "../../<b>the</b> cat: 猫?")), "attnviz b the b cat 猫.html");
  assert.equal(fileName(documentOf([])), "attnviz a b.html");
  assert.ok(fileName(documentOf([], "word ".repeat(40))).length <= 65);
});
