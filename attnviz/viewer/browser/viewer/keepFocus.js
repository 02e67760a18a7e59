// The keyboard stays in the viewer: where what had it goes or can't be used any more, what stands in its place gets it.

const STOPS =
  '[role="gridcell"][tabindex="0"], [tabindex="0"]:not(:disabled, dfn), button:not(:disabled):not([tabindex="-1"])';

export function keepingFocus(root, change) {
  const held = focusedIn(root),
    box = held?.closest("section, aside, nav");
  change();
  if (!held || isUsable(focusedIn(root))) return;
  const places = [box, ...root.querySelectorAll(".picture, .sheet, .way")].filter(each => each?.checkVisibility());
  const stops = places.flatMap(each => [...each.querySelectorAll(STOPS)]).filter(each => each.checkVisibility());
  (stops.find(each => each.matches('[role="gridcell"]') && each.closest("section") === box) ?? stops[0])?.focus({
    preventScroll: true,
  });
}

function focusedIn(root) {
  const held = root.getRootNode().activeElement;
  return held && root !== held && root.contains(held) ? held : null;
}

function isUsable(held) {
  return Boolean(held) && !held.disabled && held.checkVisibility();
}
