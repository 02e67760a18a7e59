// The page: the settings of a scene, what is said of it, and its pass in the viewer. On some pages a run of the page draws
// something else of the pass; there the settings stand alone.
import { element } from "./element.js";
import { later } from "./later.js";
import { makeNotices } from "./notices.js";
import { makeSettings } from "./settings.js";
import { mount } from "./viewer.js";
import { makeWaiting } from "./waiting.js";

// host: {server, address, rerun}: what is done here is told to the server; rerun has the page run until it has drawn that.
// `left` is what an earlier page's end() gave. Returns {given(answer), end()}.
export function mountPage(root, { server, address, rerun }, left = null) {
  let viewer = null;
  const act = (name, message) => {
    server.act(name, message);
    wait(server.isWaiting);
  };
  const show = (answer, isDone) => {
    if (!root.isConnected) return; // one has gone to another page
    const isAlone = !Object.hasOwn(answer, "pass");
    if (isDone && !answer.name) later(() => address.move(answer.address)); // which is that of the one scene without a name
    settings.update(answer, server.isWaiting);
    notices.update(answer);
    box.hidden = !answer.pass;
    if (answer.pass) {
      viewer ??= mount(box, { send: act, address }, left);
      viewer.show(answer.pass);
    }
    later(() => wait(server.isWaiting));
    if (isAlone) rerun.answered(answer, isDone);
  };
  const wait = makeWaiting(root), settings = makeSettings(act), notices = makeNotices(act), box = element("div", "viewer");
  const forget = address.onArrival(rerun.end);
  root.replaceChildren(settings.element, notices.element, box);
  box.hidden = true;
  return {
    given: (answer) => server.given(answer, show),
    end: () => {
      settings.end();
      rerun.end();
      forget();
      return viewer?.end() ?? left;
    },
  };
}
