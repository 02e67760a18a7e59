// The remote of a lesson or a talk: what its keys do, Enter and the numbers of moments among them.
const ENTER = ["Enter", " "];
const CONTROL = "a, button, input, select, textarea, summary, dfn, [role=grid], [role=listbox]";

// `here` are the whereabouts. acts: {press(), back(), collect(), present(is), goTo(number)}: what a press, Page Up and, where there is a talk
// of one's own, M do, and the ways into a talk and to a moment. Returns {follow(command), end()}; the commands are those of
// scene/shortcuts.js.
export function makeRemote(document, here, { press, back, collect = null, present, goTo }) {
  let typed = 0; // the number of a moment that Enter leads to
  const onKey = event => {
    const held = event.composedPath().find(each => each.closest);
    if (!ENTER.includes(event.key) || event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
    if (typed && event.key === "Enter") {
      event.preventDefault();
      goTo(typed);
      typed = 0;
      return;
    }
    if (held?.closest(CONTROL)) return;
    event.preventDefault();
    press();
  };
  document.addEventListener("keydown", onKey);
  return {
    follow(command) {
      const number = command.startsWith("band") ? Number(command.slice(5)) : 0,
        count = here.entry().nMoments,
        isPresented = here.place.present;
      typed = number <= count ? number : 0;
      if (command.startsWith("band")) return typed > 0;
      if (command === "first" || command === "last") return goTo(command === "first" ? 1 : count);
      if (command === "on") return press();
      if (command === "back") return back();
      if (command === "moment") return Boolean(collect?.());
      if (command === "present") return present(!isPresented);
      if (command === "leave") return isPresented && present(false);
      return false;
    },
    end: () => document.removeEventListener("keydown", onKey),
  };
}
