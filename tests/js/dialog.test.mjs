import assert from "node:assert/strict";
import test from "node:test";
import { openDialog } from "../../attnviz/viewer/browser/dom/popup.js";

// A dialog whose closing is heard of when it is told, and the children of where it stands.
function opened() {
  const children = new Set(),
    heard = new Set(),
    dialog = {
      open: false,
      showModal: () => (dialog.open = true),
      addEventListener: (_, listener) => heard.add(listener),
      remove: () => children.delete(dialog),
    };
  const open = () => openDialog(dialog, { append: each => children.add(each) });
  return { dialog, children, open, hear: () => heard.forEach(each => void each({ currentTarget: dialog })) };
}

test("a dialog that is open again stays when its earlier closing is heard of", () => {
  const { dialog, children, open, hear } = opened();
  open();
  dialog.open = false;
  open();
  hear();
  assert.deepEqual([...children], [dialog]);
  dialog.open = false;
  hear();
  assert.equal(children.size, 0);
});
