// Settings: a line of controls, and More with those that are changed seldom and what keys do. What they are is data from
// the server.
import { makeControls } from "./controls.js";
import { element } from "../elements/element.js";
import { makeMore } from "./more.js";

// act(event, value) is called as somebody changes something, in the order of what was done: what is typed goes before what
// is picked next. update(shown, isWaiting) shows the settings; isWaiting says that there are acts without an answer.
export function makeSettings(act) {
  const box = element("div", "settings");
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", "Settings");
  const send = () => {
    line.send();
    more.send();
  };
  const tell = (event, value) => {
    send();
    act(event, value);
  };
  const line = makeControls(box, tell),
    more = makeMore(tell);
  let examples = { options: [] };
  box.append(more.button, more.panel);
  return {
    element: box,
    update({ settings, view }, isWaiting) {
      examples = settings.line.find(({ event }) => event === "example") ?? { options: [] };
      line.update(settings.line, isWaiting);
      more.update(settings.more, view === "pass", isWaiting);
    },
    // The keyboard goes to the sentence, to be typed over.
    type: () => {
      const sentence = box.querySelector(".live .typed");
      sentence.focus();
      sentence.select();
    },
    // The example after the one that is shown, from the last to the first. Returns whether there is one.
    example: () => {
      const { options, value } = examples;
      if (options.length)
        tell("example", options[(options.findIndex(each => each.value === value) + 1) % options.length].value);
      return options.length > 0;
    },
    end: send,
  };
}
