// The code of a class: what people type is short, and what a phone's camera reads lets in without a code.
import assert from "node:assert/strict";
import { test } from "node:test";
import { joinAddresses } from "../../attnviz/viewer/browser/classroom/classBar.js";

test("the code is typed after the site's address, and the QR code holds the link besides, where there is one", () => {
  const site = "https://example.org/course/?lesson=a#b";
  assert.deepEqual(joinAddresses(site, { code: "KTQWRM", link: "secret" }), {
    typed: "example.org/course/KTQWRM",
    coded: "https://example.org/course/KTQWRM#secret",
  });
  assert.equal(joinAddresses("http://localhost:8501/", { code: "KTQWRM" }).coded, "http://localhost:8501/KTQWRM");
});
