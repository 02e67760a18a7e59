// The speaker's side of a talk: notes in large letters, the answer, what comes next, and a clock beside the time that is planned.
import { button } from "../elements/button.js";
import { element, write } from "../elements/element.js";
import { answerOf } from "./question.js";
import { drawSmallPicture, smallPictureFrom } from "./talkPicture.js";

const SECOND_MS = 1000;
const BLACK = "The room sees a black screen. B shows the talk again.";
const OVER = "The room sees that the talk is over. Page Up goes back.";

// Returns {element, update({moment, next, planned, nth}), stage({isBlank, isOver}), end()}: `next` is a promise of the moment that
// follows, null at the end; `planned` are the minutes of each moment, of which this is the nth; stage() says what the room sees.
export function makeSpeakerPanel() {
  const box = element("aside", "speaker"),
    clock = element("p", "clock"),
    plan = element("p", "plan"),
    room = element("p", "room"),
    notes = element("p", "own-notes"),
    answer = element("p", "the-answer"),
    next = element("section", "next");
  box.setAttribute("aria-label", "For the speaker");
  let begun = Date.now(),
    described = null; // the moment that is described, so that what comes late is left
  const tick = () => write(clock, `${timeText(Date.now() - begun)} · ${new Date().toTimeString().slice(0, 5)}`);
  const timer = setInterval(tick, SECOND_MS);
  const again = button("Start the clock again", () => {
    begun = Date.now();
    tick();
  });
  tick();
  room.setAttribute("role", "status");
  box.append(clock, plan, room, notes, answer, next, again);
  return {
    element: box,
    stage: ({ isBlank, isOver }) => write(room, isBlank ? BLACK : isOver ? OVER : ""),
    async update({ moment, next: coming, planned, nth }) {
      if (described === moment) return;
      described = moment;
      write(notes, moment.notes || "No notes.");
      notes.classList.toggle("none", !moment.notes);
      write(answer, moment.question ? `Answer: ${answerOf(moment.question)}` : "");
      write(plan, planText(planned, nth));
      const following = await (coming?.catch(() => null) ?? null);
      if (described !== moment) return;
      next.replaceChildren(element("h2", "", following ? "Next" : "This is the last moment."));
      if (following) next.append(drawSmallPicture(smallPictureFrom(following)), element("p", "", lineOf(following)));
    },
    end: () => clearInterval(timer),
  };
}

// Of so many milliseconds, as 4:05.
export function timeText(ms) {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

// When the nth moment is to be over, and the whole talk, of the minutes of each; nothing where nobody has planned that.
export function planText(planned, nth) {
  const [here, whole] = [planned.slice(0, nth), planned].map(all => all.reduce((sum, each) => sum + each, 0));
  return whole ? `This moment ends at ${timeText(here * 60_000)} of ${timeText(whole * 60_000)} planned` : "";
}

function lineOf({ title, text, question }) {
  const words = text.map(([, run]) => run.text ?? run).join("");
  return [title, words, question?.prompt.map(([, run]) => run.text ?? run).join("")]
    .filter(Boolean)
    .join(" – ")
    .slice(0, 200);
}
