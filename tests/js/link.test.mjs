import assert from "node:assert/strict";
import test from "node:test";
import { lengthOf, reachOf, spelledOut } from "../../attnviz/viewer/browser/dom/link.js";

test("a link says who can open it", () => {
  for (const host of ["localhost", "127.0.0.1", "127.9.0.1", "[::1]"])
    assert.match(reachOf(host, "http:"), /this machine/, host);
  for (const host of [
    "10.1.2.3",
    "192.168.0.7",
    "172.16.0.1",
    "172.31.9.9",
    "169.254.1.1",
    "[fd00::1]",
    "[fe80::1]",
    "lab-pc",
    "printer.local",
  ]) {
    assert.match(reachOf(host, "http:"), /own network/, host);
  }
  for (const host of ["attnviz.org", "8.8.8.8", "172.32.0.1", "193.168.0.1", "100.10.0.1", "[2001:db8::1]"])
    assert.equal(reachOf(host, "https:"), "Copied.", host);
  assert.match(reachOf("", "file:"), /this machine/);
});

test("a link has the sentence, also where the address leaves it out, and no other than the address's own", () => {
  const href = "http://127.0.0.1/?step=scores&cell=1.2.3.1.1";
  const link = new URL(spelledOut(href, { sentence: "the cat & the <mat>" }));
  assert.deepEqual(
    [...link.searchParams],
    [
      ["step", "scores"],
      ["cell", "1.2.3.1.1"],
      ["sentence", "the cat & the <mat>"],
    ],
  );
  assert.equal(spelledOut("http://a.org/?sentence=owls", { sentence: "owls" }), "http://a.org/?sentence=owls");
  assert.equal(spelledOut(href, {}), href);
});

test("a link that a server may refuse is said to be long", () => {
  const linkOf = n => spelledOut("http://127.0.0.1/", { sentence: "語".repeat(n) }); // nine bytes each
  assert.equal(lengthOf(linkOf(1300)), "");
  assert.match(lengthOf(linkOf(2000)), /^ It is 19 kB long/);
});
