// The foot of a lesson: ways back and on, how far one has come, and ways out of it.
import { button } from "../elements/button.js";
import { element, redraw, write } from "../elements/element.js";
import { onPlainClick } from "../elements/link.js";
import { makePopover } from "../elements/popover.js";

// `here` are the whereabouts. acts: {press, back, open(address), hrefOf(address), present, edit, showSpeaker, openClass, isClass()}: edit
// and showSpeaker are of a talk; openClass is there where a class can be opened. Returns {element, takeFocus(), update({ownSentence,
// prefersWalkthrough})}; the way on, or else the way back, takes the keyboard from what can't have it any more.
export function makeFoot(here, acts) {
  const box = element("footer", "to-come"), // until the first moment is there
    first = element("span", "first-ways"),
    ways = element("span", "ways-on"),
    dots = element("ol", "dots"),
    count = element("span", "count"),
    out = element("span", "ways-out");
  const show = button("Show me", acts.press, "check"),
    back = button("Back", acts.back),
    on = button("Next", acts.press),
    own = makeDoor("type your own sentence", acts),
    whole = makeDoor("open the whole walkthrough", acts),
    around = makeDoor("Look around from here", acts, "button"),
    presenting = button("Present", acts.present),
    editing = button("Edit", acts.edit),
    speaking = button("Speaker’s window", acts.showSpeaker),
    inClass = button("Class", acts.openClass),
    notes = makeNotes();
  dots.setAttribute("aria-label", "Moments");
  first.append(show, element("span", "", "or "), own.element, " · ", whole.element);
  ways.append(back, on);
  out.append(around.element, presenting, speaking, editing, inClass, notes.button, notes.panel);
  box.append(first, ways, dots, count, out);
  const isUsable = each => !each.disabled && each.checkVisibility({ visibilityProperty: true });
  const takeFocus = () => [on, show, back].find(isUsable)?.focus({ preventScroll: true });
  return {
    element: box,
    takeFocus,
    update({ ownSentence, prefersWalkthrough }) {
      const { place, moment } = here,
        [entry, isDone, isFirst, isClass] = [here.entry(), here.isDone(), here.isFirst(), acts.isClass()],
        isEnd = here.beside(1) === null;
      const held = box.getRootNode().activeElement;
      box.classList.remove("to-come");
      first.hidden = !isFirst;
      ways.hidden = isFirst;
      out.hidden = (isFirst && !place.present) || !moment;
      box.classList.toggle("prefers-walkthrough", isFirst && prefersWalkthrough);
      back.disabled = here.beside(-1) === null;
      on.disabled = isEnd && isDone;
      on.classList.toggle("check", isDone && !isEnd);
      inClass.hidden = !acts.openClass || isClass; // then its own bar has all of it
      write(
        on,
        isClass && moment?.question && !isDone
          ? "Reveal"
          : isDone && place.moment === entry.nMoments && !isEnd
            ? "Next lesson"
            : "Next",
      );
      own.update(ownSentence);
      whole.update("");
      if (moment) around.update(moment.at);
      write(presenting, place.present ? "Leave" : "Present");
      editing.hidden = !entry.isOwn || place.present;
      speaking.hidden = !here.isTalk() || "speaker" in place;
      notes.update(moment?.notes ?? "");
      redraw(
        dots,
        Array.from({ length: entry.nMoments }, (_, nth) => {
          const dot = element("li", nth + 1 < place.moment ? "done" : "");
          if (nth + 1 === place.moment) dot.setAttribute("aria-current", "step");
          dot.append(element("span", "heard", `moment ${nth + 1}`));
          return dot;
        }),
      );
      write(count, `${place.moment} of ${entry.nMoments}`);
      if (box.contains(held) && !isUsable(held)) takeFocus();
    },
  };
}

// A link into the walkthrough; it is opened within the page where that can be.
function makeDoor(text, { open, hrefOf }, className = "") {
  const made = element("a", className, text);
  let address = "";
  onPlainClick(made, () => open(address));
  return {
    element: made,
    update: to => {
      address = to;
      made.href = hrefOf(to);
    },
  };
}

function makeNotes() {
  const opener = button("Notes", null),
    panel = makePopover(opener, "notes", "Notes for the speaker");
  return {
    button: opener,
    panel,
    update: notes => {
      write(panel, notes);
      opener.hidden = !notes;
      if (!notes && panel.matches(":popover-open")) panel.hidePopover();
    },
  };
}
