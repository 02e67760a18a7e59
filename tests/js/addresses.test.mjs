import assert from "node:assert/strict";
import test from "node:test";
import { readFileSync } from "node:fs";
import { lengthOf, reachOf, spelledOut } from "../../attnviz/viewer/browser/dom/link.js";
import { isSame, mended, readWhere, searchAt } from "../../attnviz/viewer/browser/model/address.js";
import { readPass } from "../../attnviz/viewer/browser/model/pass.js";
import { stepsOf } from "../../attnviz/viewer/browser/model/state.js";
import { addressOf } from "../../attnviz/viewer/browser/shell/history.js";
import { codedOf, modulesOf } from "../../attnviz/viewer/browser/views/qrCode.js";
import { documentOf } from "./documents.mjs";

const PASS = readPass(documentOf());
const FIRST = readWhere(PASS, "");
const PLACES = [
  FIRST,
  { ...FIRST, step: "softmax", picked: "attention", present: true, reveal: 3 },
  { ...FIRST, step: "output", cell: { ...FIRST.cell, head: 1, query: 5, key: 0, feature: 3, dimension: 7 }, reveal: 0 },
  { ...FIRST, step: "whole-pass", trail: ["output[1,0]", "concat[1,5]"], ask: "slope", order: "index" },
  { ...FIRST, ask: "whatif" },
  { ...FIRST, step: "scores", view: "sheet", reveal: 0 },
  { ...FIRST, step: "scores", view: "sheet", present: true },
  { ...FIRST, step: "output", cell: { ...FIRST.cell, answer: 3 } },
];

test("an address gives back the place that was written into it, and keeps what belongs to the server", () => {
  const ofServer = { sentence: "the cat&sat", heads: "4", seed: "3" };
  for (const place of PLACES) {
    for (const search of ["", "?sentence=the+cat%26sat&heads=4", "?step=mask&trail=q[0,1,2]&reveal=9&seed=3"]) {
      const written = searchAt(PASS, place, search);
      assert.deepEqual(readWhere(PASS, written), place);
      for (const [name, text] of Object.entries(ofServer))
        assert.equal(new URLSearchParams(written).get(name), search.includes(name) ? text : null, written);
      assert.equal(searchAt(PASS, place, written), written);
    }
  }
  assert.equal(searchAt(PASS, FIRST, "?step=mask"), "");
  assert.equal(searchAt(PASS, PLACES[2], ""), "?step=output&cell=2.6.1.4.8&reveal=0");
  assert.equal(searchAt(PASS, PLACES.at(-1), ""), "?step=output&cell=1.2.3.1.1.4");
  assert.equal(searchAt(PASS, PLACES[3], ""), "?step=whole-pass&trail=output[1,0]<concat[1,5]&ask=slope&order=index");
});

test("whatever an address holds, it is read as a place of the pass", () => {
  const names = ["step", "cell", "picked", "trail", "ask", "order", "view", "present", "reveal"],
    numbers = ["99999", "1.2.3", "0.1.1.1.1", "1.1.1.1.1.0", "1.1.1.1.1.1.1", "9.9.9.9.9", "-1", "1e3"];
  for (const text of ["", "softmax", ...numbers, "%00", "null", "what IF", "[]", "a<b<c"]) {
    const { step, cell, reveal } = readWhere(PASS, `?${names.map(name => `${name}=${text}`).join("&")}`);
    assert.ok(stepsOf(PASS).includes(step), text);
    assert.deepEqual(PASS.within(cell), cell, text);
    assert.ok(Math.min(...Object.values(cell)) >= 0, text);
    assert.ok(reveal === null || Number.isInteger(reveal), text);
  }
});

test("a step is found by its id and by its title, in upper or lower case, a question likewise", () => {
  for (const text of ["softmax", "Softmax", "SOFTMAX"]) assert.equal(readWhere(PASS, `?step=${text}`).step, "softmax");
  assert.equal(readWhere(PASS, "?step=q, k, v").step, "qkv");
  assert.equal(readWhere(PASS, "?ask=WhatIf").ask, "whatif");
});

test("what old addresses say of how one looks is read as its id of now", () => {
  const ids = { "ask=what made it": "made", "ask=What+would+move+it": "slope", "ask=what if": "whatif" },
    others = { "order=large ones first": "large", "order=in order": "index", "route=every+step": "every-step" };
  for (const [text, id] of Object.entries({ ...ids, ...others }))
    assert.equal(readWhere(PASS, `?${text}`)[text.split("=")[0]], id);
});

test("what is mended on arrival is mended in the address, and nothing else is touched", () => {
  assert.equal(mended("", { model: "who-is-it" }), "?model=who-is-it");
  assert.equal(mended("?embed=true&d_model=999&stp=1", { d_model: "128", stp: null }), "?embed=true&d_model=128");
  assert.equal(mended("?sentence=a%20b", { sentence: "a b" }), "?sentence=a%20b");
  assert.equal(mended("?sentence=a%20b", {}), "?sentence=a%20b");
});

test("addresses say the same in any order, and whatever Streamlit adds for itself", () => {
  assert.ok(isSame("sentence=a+b&seed=2", "?seed=2&sentence=a%20b&embed=true&embed_options=dark_theme"));
  assert.ok(!isSame("seed=2", "?seed=3"));
  assert.ok(!isSame("", "?seed=3"));
});

// A browser's window, as far as it is about addresses; `entries` are its history.
function browser(href) {
  const listeners = [];
  const window = {
    entries: [new URL(href).href],
    at: 0,
    now: 10_000,
    read: [],
    location: {
      get href() {
        return window.entries[window.at];
      },
      get pathname() {
        return new URL(this.href).pathname;
      },
      get search() {
        return new URL(this.href).search;
      },
      hash: "",
    },
    performance: { now: () => window.now },
    setTimeout: act => Object.assign(window, { later: act }),
    clearTimeout: () => Object.assign(window, { later: null }),
    addEventListener: (_, listener) => listeners.push(listener),
    PopStateEvent: class {},
    dispatchEvent: () => {
      window.read.push(window.location.href); // Streamlit hears it too
      for (const listener of listeners) listener();
    },
    back: () => {
      window.at -= 1;
      for (const listener of listeners) listener();
    },
  };
  window.history = {
    state: {},
    pushState(_, __, url) {
      window.entries = [...window.entries.slice(0, window.at + 1), new URL(url, window.location.href).href];
      window.at += 1;
    },
    replaceState(_, __, url) {
      window.entries[window.at] = new URL(url, window.location.href).href;
    },
  };
  return window;
}

const shown = (address, read, page = "walkthrough") => ({ page, address, read });

// What is done is shown, and then written.
function done(address, parameters) {
  address.setParameters(parameters);
  address.move();
}

const searches = ({ entries }) => entries.map(each => new URL(each).pathname + new URL(each).search);

test("a step is an entry of its own, another cell is not, and Back leads to the step before", () => {
  const window = browser("http://a.test/?seed=3");
  let arrived = 0;
  const address = addressOf(window);
  const forget = address.onNavigate(() => (arrived += 1));
  address.write("?seed=3&step=mask", true);
  address.write("?seed=3&step=mask&cell=1.1.1.1.1", false);
  address.write("?seed=3&step=softmax", true);
  assert.deepEqual(searches(window), ["/?seed=3", "/?seed=3&step=mask&cell=1.1.1.1.1", "/?seed=3&step=softmax"]);
  window.back();
  assert.deepEqual([address.read(), arrived], ["?seed=3&step=mask&cell=1.1.1.1.1", 1]);
  forget();
  window.back();
  assert.equal(arrived, 1);
});

test("what Streamlit writes of the parameters is not taken, and of another page its path alone", () => {
  const window = browser("http://a.test/?seed=3&step=mask");
  addressOf(window);
  for (const url of ["/", "/?seed=4", "/audit?seed=4", "/audit"]) window.history.pushState({}, "", url);
  window.history.replaceState({}, "", "/audit?seed=5");
  assert.deepEqual(searches(window), ["/?seed=3&step=mask", "/audit?seed=3&step=mask"]);
});

test("a path and what is shown there are one entry however long it takes, what follows is another", () => {
  const window = browser("http://a.test/?seed=3");
  const address = addressOf(window);
  const come = (page, seed) => {
    window.now += 5000;
    address.show(shown({ seed }, "", page));
  };
  come("walkthrough", "3");
  window.history.pushState({}, "", "/audit");
  come("walkthrough", "3"); // late
  come("audit", "4");
  come("audit", "5");
  assert.deepEqual(searches(window), ["/?seed=3", "/audit?seed=4", "/audit?seed=5"]);
});

test("what says the same in other words is no step, and what follows it is", () => {
  const window = browser("http://a.test/?sentence=a%20cat&seed=3");
  const address = addressOf(window);
  address.show(shown({ seed: "3", sentence: "a cat" }, "sentence=a%20cat&seed=3"));
  window.now += 5000;
  done(address, { seed: "3", sentence: "a cat" });
  window.now += 100;
  done(address, { seed: "4", sentence: "a cat" });
  assert.equal(window.entries.length, 2);
});

test("what is mended on arrival is no entry", () => {
  const window = browser("http://a.test/?seed=-1&step=mask");
  addressOf(window).show(shown({ seed: "0", step: "tokens" }, "seed=-1&step=mask"));
  assert.deepEqual(searches(window), ["/?seed=0&step=tokens"]);
});

test("a page has one address, however often a viewer comes and goes", () => {
  const window = browser("http://a.test/");
  const address = addressOf(window),
    { pushState } = window.history;
  assert.equal(addressOf(window), address);
  assert.equal(window.history.pushState, pushState);
});

// A page whose seed was 1, then 2, then 3, and which Back has led to 2; what the server shows of a seed.
function backAtTwo() {
  const window = browser("http://a.test/?seed=1");
  const address = addressOf(window);
  for (const seed of ["1", "2", "3"]) {
    window.now += 5000;
    address.show(shown({ seed }, "seed=1"));
  }
  window.back();
  return { window, address };
}

test("what the server was asked for before Back changes no address, and what is asked for after it does", () => {
  const { window, address } = backAtTwo();
  window.history.pushState({}, "", "/audit");
  address.show(shown({ seed: "9" }, "seed=1"));
  assert.deepEqual(searches(window), ["/?seed=1", "/?seed=2", "/?seed=3"]);
  address.show(shown({ seed: "2", mask: null }, "seed=2"));
  assert.deepEqual([address.read(), window.later], ["?seed=2", null]);
  window.now += 5000;
  address.show(shown({ seed: "7" }, "seed=2"));
  assert.deepEqual(searches(window), ["/?seed=1", "/?seed=2", "/?seed=7"]);
});

test("an answer to the first Back is none to the second, and one that came with a later change is to both", () => {
  const { window, address } = backAtTwo();
  window.back();
  address.show(shown({ seed: "2" }, "seed=2"));
  assert.equal(address.read(), "?seed=1");
  address.show(shown({ seed: "5" }, "seed=1"));
  assert.deepEqual(searches(window), ["/?seed=5", "/?seed=2", "/?seed=3"]);
});

test("where Back is never answered the address follows what is shown in the end", () => {
  const { window, address } = backAtTwo();
  address.show(shown({ seed: "9", mask: null }, ""));
  window.later();
  assert.deepEqual(searches(window), ["/?seed=1", "/?seed=9", "/?seed=3"]);
});

test("what is done leads on by one entry, keeps the viewer's place, and is one entry with what follows soon", () => {
  const window = browser("http://a.test/?seed=3&step=mask");
  const address = addressOf(window);
  address.show(shown({ seed: "3" }, "seed=3&step=mask"));
  window.now += 5000;
  done(address, { seed: "4", mask: "causal" });
  window.now += 300;
  done(address, { seed: "5", mask: null });
  window.now += 5000;
  done(address, { seed: "5", mask: null });
  done(address, { seed: null, mask: null });
  assert.deepEqual(searches(window), ["/?seed=3&step=mask", "/?seed=5&step=mask", "/?step=mask"]);
});

test("what is done while nobody knows yet where Back led changes no address until it is shown", () => {
  const { window, address } = backAtTwo();
  done(address, { seed: "9" });
  assert.deepEqual(searches(window), ["/?seed=1", "/?seed=2", "/?seed=3"]);
  address.show(shown({ seed: "2" }, "seed=2"));
  done(address, { seed: "9" });
  assert.deepEqual(searches(window), ["/?seed=1", "/?seed=2", "/?seed=9"]);
});

test("where Back is never answered the address follows what was done last", () => {
  const { window, address } = backAtTwo();
  done(address, { seed: "9" });
  window.later();
  assert.deepEqual(searches(window), ["/?seed=1", "/?seed=9", "/?seed=3"]);
});

test("what is written late changes no address that Back has led to and that is shown", () => {
  for (const isToldAnew of [true, false]) {
    // Streamlit doesn't call again with what it called with last
    const { window, address } = backAtTwo();
    address.setParameters({ seed: "2", mask: "causal" }); // an answer that was on its way
    if (isToldAnew) address.show(shown({ seed: "2", mask: null }, "seed=2"));
    address.setParameters({ seed: "2", mask: null });
    address.move();
    window.later?.();
    assert.deepEqual(searches(window), ["/?seed=1", "/?seed=2", "/?seed=3"]);
  }
});

test("Streamlit is made to read the address again, without a place in the page and as if nothing else had happened", () => {
  const window = browser("http://a.test/?seed=3#top");
  const address = addressOf(window);
  address.onNavigate(() => assert.fail("nobody has gone back"));
  address.readAgain();
  assert.deepEqual(window.read, ["http://a.test/?seed=3&reconnected="]);
  assert.deepEqual(window.entries, ["http://a.test/?seed=3#top"]);
  done(address, { seed: "4" });
  assert.equal(address.read(), "?seed=4");
});

test("where Back led while there was no server is told as what it is", () => {
  const { window, address } = backAtTwo();
  let arrived = 0;
  address.onNavigate(() => (arrived += 1));
  address.readAgain();
  assert.deepEqual([window.read, arrived], [["http://a.test/?seed=2"], 0]);
  window.back();
  assert.equal(arrived, 1, "later it leads somewhere as before");
});

test("a link says who can open it", () => {
  for (const host of ["localhost", "127.0.0.1", "127.9.0.1", "[::1]"])
    assert.match(reachOf(host, "http:"), /this machine/, host);
  const ownNetwork = "10.1.2.3 192.168.0.7 172.16.0.1 172.31.9.9 169.254.1.1 [fd00::1] [fe80::1] lab-pc printer.local";
  for (const host of ownNetwork.split(" ")) assert.match(reachOf(host, "http:"), /own network/, host);
  for (const host of ["attnviz.org", "8.8.8.8", "172.32.0.1", "193.168.0.1", "100.10.0.1", "[2001:db8::1]"])
    assert.equal(reachOf(host, "https:"), "Copied.", host);
  assert.match(reachOf("", "file:"), /this machine/);
});

test("a link has the sentence, also where the address leaves it out, and no other than the address's own", () => {
  const href = "http://127.0.0.1/?step=scores&cell=1.2.3.1.1";
  const link = new URL(spelledOut(href, { sentence: "the cat & the <mat>" }));
  const expected = { step: "scores", cell: "1.2.3.1.1", sentence: "the cat & the <mat>" };
  assert.deepEqual([...link.searchParams], Object.entries(expected));
  assert.equal(spelledOut("http://a.org/?sentence=owls", { sentence: "owls" }), "http://a.org/?sentence=owls");
  assert.equal(spelledOut(href, {}), href);
});

test("a link that a server may refuse is said to be long", () => {
  const linkOf = n => spelledOut("http://127.0.0.1/", { sentence: "語".repeat(n) }); // nine bytes each
  assert.equal(lengthOf(linkOf(1300)), "");
  assert.match(lengthOf(linkOf(2000)), /^ It is 19 kB long/);
});

const SEEN = "step=scores&view=sheet&present=1",
  LOOKED = "cell=1.2.3.1.1&picked=scores&trail=scores[0,1,2]%3Cq[0,1,0]&ask=what+if&order=in+order";
const codedLink = (bytes, rest = SEEN, host = "http://192.0.2.7:8501") =>
  `${host}/?${rest}&sentence=`.padEnd(bytes, "a");
const parametersOf = link => [...new URL(link).searchParams.keys()];

test("up to 300 bytes an address is coded as it is, with nothing to be said of it", () => {
  for (const rest of [SEEN, `${SEEN}&${LOOKED}`])
    assert.deepEqual(codedOf(codedLink(300, rest)), { address: codedLink(300, rest), notices: [] });
});

test("a longer one is coded without the selection and the numbers set by hand, and it is said which of them are missing", () => {
  const { address, notices } = codedOf(codedLink(301, `${SEEN}&reveal=2&changes=scores[0,1,2]=3&${LOOKED}`));
  assert.deepEqual(parametersOf(address), ["step", "view", "present", "sentence"]);
  assert.deepEqual(notices, [
    "Left out, as a code has room for 300 bytes: the selection, how far the step has come, the numbers set by hand.",
  ]);
  const moved = codedOf(codedLink(301, `${SEEN}&changes=scores[0,1,2]=3`));
  assert.deepEqual(moved.notices, ["Left out, as a code has room for 300 bytes: the numbers set by hand."]);
});

test("one that is too long even so has no code, and that is said", () => {
  for (const rest of [SEEN, `${SEEN}&${LOOKED}`]) {
    const { address, notices } = codedOf(codedLink(500, rest));
    assert.equal(address, "");
    assert.match(notices.join(), /^No code: the address has \d+ bytes, more than the 300 /);
  }
});

test("of this machine's own address it is said that no one else can open it, and what helps", () => {
  for (const host of ["http://localhost:8501", "http://127.0.0.1:8501", "http://[::1]:8501"]) {
    const { address, notices } = codedOf(codedLink(90, SEEN, host));
    assert.ok(address.startsWith(host));
    assert.match(notices.join(), /^This address only works on this computer.*attnviz --address 0\.0\.0\.0/);
  }
  assert.deepEqual(codedOf(codedLink(90, SEEN, "https://attnviz.example.edu")).notices, []);
});

// tests/data/README-qr-codes.md says how another library made them.
const RECORDED = JSON.parse(readFileSync(new URL("../data/qr_codes.json", import.meta.url), "utf-8"));

test("a code is, module by module, the one that another library makes of the same text", () => {
  const actual = RECORDED.map(({ text }) => text.length);
  assert.deepEqual(actual, [62, 300]);
  for (const { text, rows } of RECORDED) {
    const { size, isDark } = modulesOf(text),
      places = Array.from({ length: size }, (_, place) => place);
    const actual = places.map(y => places.map(x => (isDark(x, y) ? "#" : ".")).join(""));
    assert.deepEqual(actual, rows);
  }
});
