// Presenting: what the keys and a remote's buttons do, in a talk and out of it.
import { listenToKeys } from "./shortcuts.js";
import { isSheet } from "./bands.js";
import { atHead, besideStep, isFirst, VIEWS } from "./state.js";
import { backward, firstOf, onward } from "./reveal.js";

// Where a command leads from here, as parts of `where`; null if it leads nowhere.
export function destinationOf(pass, where, command) {
  const by = command.endsWith("back") ? -1 : 1, step = besideStep(pass, where, by);
  if (command.startsWith("head")) return atHead(pass, where, by);
  if (command === "leave") return where.present ? { present: false, reveal: null } : null;
  if (command === "view") return { view: VIEWS.find((view) => view !== where.view), reveal: null };
  if (command === "present") return where.present ? { present: false, reveal: null } : presentedFrom(pass, where);
  if (!where.present) return step && { step };
  return by > 0 ? onward(pass, where, step) : backward(pass, where, step);
}

// The sheet is presented from its first band on: what comes before is seen on the page.
function presentedFrom(pass, here) {
  const where = { ...here, view: "sheet" }, isOnIt = isSheet(pass, where);
  const step = (!isOnIt && isFirst(pass, where) && besideStep(pass, where, 1)) || where.step;
  return { present: true, view: "sheet", step, reveal: firstOf(pass, { ...where, step }) };
}

// Tells the page of the viewer at `root` whether it is a screen in a room, so that it hides what is not the picture. Returns
// what ends it all.
export function makePresenting(page, root, follow) {
  const end = listenToKeys(page, root, follow, () => page.documentElement.hasAttribute("data-presenting"));
  return {
    show: (present) => page.documentElement.toggleAttribute("data-presenting", present),
    end: () => {
      end();
      page.documentElement.removeAttribute("data-presenting");
    },
  };
}
