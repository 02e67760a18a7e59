// The keyboard’s place while a viewer is drawn again.

const STOPS =
  '[role="gridcell"][tabindex="0"], [tabindex="0"]:not(:disabled, dfn), button:not(:disabled):not([tabindex="-1"])';

// Changes the viewer at `root`. If what had the keyboard is gone then, a cell or button near it gets it.
export function keepingFocus(root, change) {
  const focused = focusedIn(root),
    box = focused?.closest("section, aside, nav");
  change();
  const now = focusedIn(root),
    isVisible = each => Boolean(each?.checkVisibility());
  if (!focused || (isVisible(now) && !now.disabled)) return;
  const boxes = [box, ...root.querySelectorAll(".picture, .sheet, .all-heads, .way")].filter(isVisible),
    stops = boxes.flatMap(each => [...each.querySelectorAll(STOPS)]).filter(isVisible),
    cell = stops.find(each => each.matches('[role="gridcell"]') && each.closest("section") === box);
  (cell ?? stops[0])?.focus({ preventScroll: true });
}

function focusedIn(root) {
  const held = root.getRootNode().activeElement;
  return held && root !== held && root.contains(held) ? held : null;
}
