import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { makeLateClassBar } from "../../attnviz/viewer/browser/page/component.js";
import { makeScriptLoader } from "../../attnviz/viewer/browser/shell/scriptLoader.js";
import { makePlaceholder } from "../../attnviz/viewer/browser/dom/placeholder.js";
import { install } from "./fakeDom.mjs";

install();
globalThis.CSSStyleSheet = class {
  replaceSync() {}
};
const MISSING = "Part of this page hasn’t loaded. Nothing is lost; we keep trying.",
  FAILED = "Part of this page couldn’t start. Reloading usually helps.";

// A page with late scripts: `after` has each one's name with the names of those that it builds on. write() puts a script there.
function pageOf(t, after) {
  const folder = mkdtempSync(join(tmpdir(), "late")),
    scripts = Object.fromEntries(Object.entries(after).map(([name, after]) => [name, { path: `${name}.mjs`, after }])),
    loader = makeScriptLoader(pathToFileURL(`${folder}/`), { modules: {}, styles: {}, scripts }),
    root = document.createElement("div");
  document.body.append(root);
  t.after(() => rmSync(folder, { recursive: true }));
  loader.adoptStyles(root);
  return {
    loader,
    notice: () => root.textContent,
    press: () => root.querySelector("button").dispatchEvent(new Event("click")),
    write(name, before = "") {
      const made = `{ added: {}, exports: { name } }`,
        text = `export const name = "${name}", styles = {};\nexport default modules => { ${before} return ${made}; };\n`;
      writeFileSync(join(folder, `${name}.mjs`), text);
    },
  };
}

// Waits for files, whose time is not the test's clock.
async function until(isDone) {
  for (let n = 0; n < 2000 && !isDone(); n += 1) await new Promise(setImmediate);
  assert.ok(isDone());
}

test("a script that throws is reported, and fetched anew as it is requested again", async t => {
  const page = pageOf(t, { broken: [], user: ["broken"] });
  page.write("broken", `throw new Error("broken");`);
  page.write("user");
  await assert.rejects(page.loader.load("user"), /broken/);
  assert.equal(page.notice(), `${FAILED}Reload`);
  page.write("broken");
  assert.deepEqual(await page.loader.load("user"), { name: "user" });
  assert.equal(page.notice(), "");
});

test("prefetch goes on after a script that throws, which nobody has asked for", async t => {
  const page = pageOf(t, { broken: [], user: ["broken"], last: [] });
  page.write("broken", "throw new Error();");
  for (const name of ["user", "last"]) page.write(name);
  await page.loader.prefetch();
  assert.deepEqual([page.loader.get("user"), page.loader.get("last")], [undefined, { name: "last" }]);
  assert.equal(page.notice(), "");
  await assert.rejects(page.loader.load("broken"));
  assert.equal(page.notice(), `${FAILED}Reload`);
});

test("prefetch tries a script that is missing ever more rarely, and a request at once and every 4 seconds", async t => {
  const page = pageOf(t, { gone: [], last: [] }),
    pauses = [];
  let wake = () => {};
  t.mock.method(globalThis, "setTimeout", (act, ms) => {
    pauses.push(ms);
    wake = act;
  });
  page.write("last");
  const pausesAre = expected => until(() => JSON.stringify(pauses) === JSON.stringify(expected));
  const prefetched = page.loader.prefetch();
  await pausesAre([4000]);
  assert.deepEqual(page.loader.get("last"), { name: "last" }, "it doesn't wait for the one that is missing");
  for (const more of [8000, 16000, 32000, 60000, 60000]) {
    wake();
    await pausesAre([...pauses, more]);
  }
  assert.equal(page.notice(), "", "nobody waits");
  const goOn = wake,
    asked = page.loader.load("gone");
  await pausesAre([...pauses, 4000]);
  assert.equal(page.notice(), `${MISSING}Try again`);
  page.write("gone");
  page.press();
  assert.deepEqual(await asked, { name: "gone" });
  assert.equal(page.notice(), "");
  goOn();
  await prefetched;
});

test("a placeholder passes its latest calls on, gives way once, and tries again after a failure", async () => {
  const calls = [],
    made = {
      element: document.createElement("b"),
      show: (...given) => calls.push(given),
      end: () => calls.push("end"),
    },
    tries = [() => Promise.reject(new Error("broken")), async () => made],
    body = document.createElement("div"),
    placeholder = makePlaceholder(() => tries.shift()(), { element: document.createElement("i") });
  body.append(placeholder.element("element"));
  placeholder.call("show", 1, 2);
  placeholder.call("show", 3, 4);
  await assert.rejects(placeholder.load(), /broken/);
  await Promise.all([placeholder.load(), placeholder.load()]);
  assert.equal(body.firstChild, made.element);
  placeholder.call("show", 5);
  placeholder.end();
  assert.deepEqual(calls, [[3, 4], [5], "end"]);
});

test("what comes after its placeholder has ended is ended and not shown", async () => {
  const calls = [],
    placeholder = makePlaceholder(async () => ({ end: () => calls.push("end"), show: () => calls.push("show") }), {});
  const coming = placeholder.load();
  placeholder.call("show");
  placeholder.end();
  await coming;
  assert.deepEqual([calls, placeholder.part], [["end"], null]);
});

test("a late class bar learns where its page began, and where its user has gone meanwhile", async () => {
  const places = [],
    nodes = { element: document.createElement("b"), dialogs: document.createElement("b") },
    made = { ...nodes, open: () => {}, setPlace: at => places.push(at) },
    bar = makeLateClassBar(
      async () => made,
      () => ({ getItem: () => null }),
    );
  document.createElement("div").append(bar.element, bar.dialogs);
  for (const at of ["softmax", "mask", "weighted sum"]) bar.setPlace(at);
  await bar.open();
  assert.deepEqual(places, ["softmax", "weighted sum"]);
});
