// The page: the settings of a scene, what is said of it, and its pass in the viewer. On some pages a run of the page draws
// something else of the pass; there the settings stand alone.
import { element } from "./element.js";
import { makeNotices } from "./notices.js";
import { makeServer } from "./server.js";
import { makeSettings } from "./settings.js";
import { mount } from "./viewer.js";

// host: {post, address, rerun}: post(message) gives the server's answer; rerun(answer, isDone) has the page run until it has
// drawn what was done here. `left` is what an earlier page's end() gave. Returns {given(answer), end()}.
export function mountPage(root, host, left = null) {
  let viewer = null;
  const act = (name, message) => {
    server.act(name, message);
    root.ariaBusy = server.isWaiting;
  };
  const show = (answer, isDone) => {
    const isAlone = !Object.hasOwn(answer, "pass");
    if (isDone) host.address.move(answer.address);
    settings.update(answer, server.isWaiting);
    notices.update(answer);
    box.hidden = !answer.pass;
    if (answer.pass) {
      viewer ??= mount(box, { send: act, address: host.address }, left);
      viewer.show(answer.pass);
    }
    root.ariaBusy = server.isWaiting;
    if (isAlone) host.rerun(answer, isDone);
  };
  const server = makeServer({ post: (message) => host.post(message), look: host.address.read, show });
  const settings = makeSettings(act), notices = makeNotices(act), box = element("div", "viewer");
  const forget = host.address.onArrival(server.forget);
  root.replaceChildren(settings.element, notices.element, box);
  box.hidden = true;
  return {
    given: server.given,
    end: () => {
      settings.end();
      server.end();
      forget();
      return viewer?.end() ?? left;
    },
  };
}
