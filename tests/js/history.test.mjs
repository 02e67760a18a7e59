import assert from "node:assert/strict";
import test from "node:test";
import { addressOf } from "../../attnviz/viewer/browser/shell/history.js";

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
    setTimeout: act => {
      window.later = act;
    },
    clearTimeout: () => {
      window.later = null;
    },
    addEventListener: (_, listener) => {
      listeners.push(listener);
    },
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
  address.shows(parameters);
  address.move();
}

const searches = ({ entries }) => entries.map(each => new URL(each).pathname + new URL(each).search);

test("a step is an entry of its own, another cell is not, and Back leads to the step before", () => {
  const window = browser("http://a.test/?seed=3");
  let arrived = 0;
  const address = addressOf(window);
  const forget = address.onArrival(() => {
    arrived += 1;
  });
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
    address.shows({ seed: "2", mask: "causal" }); // an answer that was on its way
    if (isToldAnew) address.show(shown({ seed: "2", mask: null }, "seed=2"));
    address.shows({ seed: "2", mask: null });
    address.move();
    window.later?.();
    assert.deepEqual(searches(window), ["/?seed=1", "/?seed=2", "/?seed=3"]);
  }
});

test("Streamlit is made to read the address again, without a place in the page and as if nothing else had happened", () => {
  const window = browser("http://a.test/?seed=3#top");
  const address = addressOf(window);
  address.onArrival(() => assert.fail("nobody has gone back"));
  address.readAgain();
  assert.deepEqual(window.read, ["http://a.test/?seed=3&reconnected="]);
  assert.deepEqual(window.entries, ["http://a.test/?seed=3#top"]);
  done(address, { seed: "4" });
  assert.equal(address.read(), "?seed=4");
});

test("where Back led while there was no server is told as what it is", () => {
  const { window, address } = backAtTwo();
  let arrived = 0;
  address.onArrival(() => {
    arrived += 1;
  });
  address.readAgain();
  assert.deepEqual([window.read, arrived], [["http://a.test/?seed=2"], 0]);
  window.back();
  assert.equal(arrived, 1, "later it leads somewhere as before");
});
