import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { codedOf, modulesOf } from "../../attnviz/viewer/browser/views/qrCode.js";

const SEEN = "step=scores&view=sheet&present=1",
  LOOKED = "cell=1.2.3.1.1&picked=scores&trail=scores[0,1,2]%3Cq[0,1,0]&ask=what+if&order=in+order";
const addressOf = (bytes, rest = SEEN, host = "http://192.0.2.7:8501") =>
  `${host}/?${rest}&sentence=`.padEnd(bytes, "a");
const parametersOf = link => [...new URL(link).searchParams.keys()];

test("up to 300 bytes an address is coded as it is, with nothing to be said of it", () => {
  for (const rest of [SEEN, `${SEEN}&${LOOKED}`])
    assert.deepEqual(codedOf(addressOf(300, rest)), { address: addressOf(300, rest), notices: [] });
});

test("a longer one is coded without the selection and the numbers set by hand, and it is said which of them are missing", () => {
  const { address, notices } = codedOf(addressOf(301, `${SEEN}&reveal=2&changes=scores[0,1,2]=3&${LOOKED}`));
  assert.deepEqual(parametersOf(address), ["step", "view", "present", "sentence"]);
  assert.deepEqual(notices, [
    "Left out, as a code has room for 300 bytes: the selection, how far the step has come, the numbers set by hand.",
  ]);
  const moved = codedOf(addressOf(301, `${SEEN}&changes=scores[0,1,2]=3`));
  assert.deepEqual(moved.notices, ["Left out, as a code has room for 300 bytes: the numbers set by hand."]);
});

test("one that is too long even so has no code, and that is said", () => {
  for (const rest of [SEEN, `${SEEN}&${LOOKED}`]) {
    const { address, notices } = codedOf(addressOf(500, rest));
    assert.equal(address, "");
    assert.match(notices.join(), /^No code: the address has \d+ bytes, more than the 300 /);
  }
});

test("of this machine's own address it is said that no one else can open it, and what helps", () => {
  for (const host of ["http://localhost:8501", "http://127.0.0.1:8501", "http://[::1]:8501"]) {
    const { address, notices } = codedOf(addressOf(90, SEEN, host));
    assert.ok(address.startsWith(host));
    assert.match(notices.join(), /^No one else can open it.*attnviz --address 0\.0\.0\.0/);
  }
  assert.deepEqual(codedOf(addressOf(90, SEEN, "https://attnviz.example.edu")).notices, []);
});

// tests/data/README-qr-codes.md says how another library made them.
const RECORDED = JSON.parse(readFileSync(new URL("../data/qr_codes.json", import.meta.url), "utf-8"));

test("a code is, module by module, the one that another library makes of the same text", () => {
  assert.deepEqual(
    RECORDED.map(({ text }) => text.length),
    [62, 300],
  );
  for (const { text, rows } of RECORDED) {
    const { size, isDark } = modulesOf(text),
      places = Array.from({ length: size }, (_, place) => place);
    assert.deepEqual(
      places.map(y => places.map(x => (isDark(x, y) ? "#" : ".")).join("")),
      rows,
    );
  }
});
