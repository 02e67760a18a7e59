import assert from "node:assert/strict";
import test from "node:test";
import { onReconnect } from "../../attnviz/viewer/browser/shell/streamlit.js";

test("a run is asked for each time that the server is back, and never while it stays", () => {
  let state = "CONNECTED",
    changed,
    asked = 0;
  class Observer {
    constructor(hears) {
      changed = hears;
    }
    observe() {}
    disconnect() {
      changed = () => {};
    }
  }
  const becomes = next => {
    state = next;
    changed();
  };
  const end = onReconnect(
    { querySelector: () => ({ getAttribute: () => state }) },
    () => {
      asked += 1;
    },
    Observer,
  );
  becomes("CONNECTED");
  assert.equal(asked, 0);
  for (const next of ["PINGING_SERVER", "CONNECTING", "CONNECTED", "CONNECTED"]) becomes(next);
  assert.equal(asked, 1);
  for (const next of ["DISCONNECTED_FOREVER", "CONNECTED"]) becomes(next);
  assert.equal(asked, 2);
  end();
  for (const next of ["CONNECTING", "CONNECTED"]) becomes(next);
  assert.equal(asked, 2);
});
