// “Talk to your neighbour” between two votes: the countdown on the projector and on phones, and the buttons that start and stop it.
import { button, h, write } from "../dom/element.js";

const TALK_SECONDS = [60, 90, 120]; // as classroom/commands.py has them
const SAME_MS = 2500; // within which a time that comes again is the one that runs
const TICK_MS = 500;

const clockOf = seconds => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;

// Counts down from the time left on the server; update(0) hides it.
export function makeNeighbourTimer(clock = Date.now) {
  const time = h("strong", { role: "timer" }),
    box = h("p", { class: "neighbour", hidden: true }, h("span", { role: "status" }, "Talk to your neighbour"), time);
  let ends = 0,
    timer = 0;
  function draw() {
    write(time, clockOf(Math.max(0, Math.ceil((ends - clock()) / 1000))));
  }
  return {
    element: box,
    update(seconds) {
      const at = clock() + 1000 * seconds;
      box.hidden = seconds <= 0;
      if (!seconds || Math.abs(at - ends) > SAME_MS) ends = at;
      clearInterval(timer);
      if (seconds) timer = setInterval(draw, TICK_MS);
      draw();
    },
    end: () => clearInterval(timer),
  };
}

// What begins and ends it, in a bar of buttons; act(command) sends a command to the room.
export function neighbourButtons({ round, isShown, talkSeconds }, act) {
  if (!round || isShown || round.number > 1) return [];
  if (talkSeconds > 0) return [button("End the talking", () => act({ do: "wait", seconds: 0 }))];
  const options = TALK_SECONDS.map(seconds => h("option", { value: String(seconds) }, `for ${seconds} s`)),
    picker = h(
      "select",
      { "aria-label": "Talk to your neighbour" },
      h("option", { value: "" }, "Talk to your neighbour"),
      options,
    );
  picker.onchange = () => {
    if (picker.value) act({ do: "wait", seconds: Number(picker.value) });
    picker.value = "";
  };
  return [picker];
}
