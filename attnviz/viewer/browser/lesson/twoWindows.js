// The two windows of a talk, as one of them sees it: what it tells the other, and what a speaker's has beside the talk.
import { makeSpeakerPanel } from "./speakerPanel.js";
import { makeTogether } from "./together.js";

// `name` is that of the pair in a speaker's window, else empty; `box` is the page, `body` what the speaker's part stands in; acts as
// makeTogether takes them. Returns {open(hrefOf), tell(), update(moment, room), end(), isSpeakers}: what the panel shows, as it takes it; isSpeakers
// says which of the two this is.
export function makeTwoWindows(window, name, { box, body }, acts) {
  const together = makeTogether(window, name, acts),
    panel = name ? makeSpeakerPanel() : null;
  if (panel) body.append(panel.element);
  box.classList.toggle("of-speaker", panel !== null);
  return {
    isSpeakers: panel !== null,
    open: together.open,
    tell: together.tell,
    update: (moment, room) => {
      panel?.update(moment);
      panel?.stage(room);
    },
    end: () => {
      together.end();
      panel?.end();
    },
  };
}
