// The page: the settings of a scene, what is said of it, and its view, which shows the pass or something of it.
import { mountAudit } from "./audit.js";
import { makeBanner } from "./banner.js";
import { element } from "../elements/element.js";
import { keepKeyboard } from "../seams/keyboard.js";
import { afterFrame } from "../elements/afterFrame.js";
import { makeNotices } from "./notices.js";
import { mountScript } from "./script.js";
import { makeSettings } from "../controls/settings.js";
import { mount } from "../viewer/viewer.js";
import { makeWaiting } from "../talk/waiting.js";

const VIEWS = {
  pass: { mount, style: "viewer" },
  audit: { mount: mountAudit, style: "audit" },
  script: { mount: mountScript, style: "script" },
};

// host: {server, address, run, page, desk, collect}: what is done here is told to the server; run(what) has the page run for what no
// act does; page, desk and collect are as viewer.js has them.
// `left` is what an earlier page's end() gave. Returns {given(answer), stand(where), end()}.
export function mountPage(root, { server, address, run, page, desk, collect }, left = null) {
  let mounted = null;
  const act = (name, message) => {
    server.act(name, message);
    wait(server.isWaiting);
  };
  const show = (answer, isDone) => {
    if (!root.isConnected) return; // one has gone to another page
    address.shows(answer.address);
    if (isDone) afterFrame(address.move);
    settings.update(answer, server.isWaiting);
    notices.update(answer);
    banner.update(answer);
    const { view } = answer,
      shown = answer[view];
    box.hidden = !shown;
    tellEmpty(box);
    if (shown) {
      box.classList.add(VIEWS[view].style);
      mounted ??= VIEWS[view].mount(
        box,
        { send: act, address, run, page, desk, collect, type: settings.type, example: settings.example },
        left,
      );
      mounted.show(shown);
    }
    afterFrame(() => wait(server.isWaiting));
  };
  const settings = makeSettings(act),
    notices = makeNotices(act),
    banner = makeBanner(act, run),
    box = element("div", "view");
  // Enter leaves a line that was typed: then the view has the keyboard, where keys are shortcuts. A click into it doesn't give it that.
  settings.element.addEventListener("keydown", ({ key, target }) => {
    if (key !== "Enter" || !target.matches(".typed") || target.matches(":focus")) return;
    box.tabIndex = -1;
    box.focus({ preventScroll: true });
  });
  box.addEventListener("blur", () => box.removeAttribute("tabindex"));
  const wait = makeWaiting(root, box),
    giveKeyboard = keepKeyboard(root);
  root.replaceChildren(settings.element, notices.element, banner.element);
  return {
    given: answer => {
      server.given(answer, show);
      if (server.isWaiting) wait(true); // where this is late, for another in its place
      giveKeyboard();
    },
    // The view stands here: below its settings, or where Streamlit's own text is between them.
    stand: where => {
      if (box.parentNode === where) return;
      if (where !== root) {
        where.replaceChildren(); // an earlier page's view is still there
        where.ariaBusy = false;
      }
      where.append(box);
      tellEmpty(box);
    },
    end: () => {
      settings.end();
      return mounted?.end() ?? left;
    },
  };
}

// Streamlit's text of a view can't be seen where that has nothing to show.
function tellEmpty(box) {
  box.getRootNode().host?.toggleAttribute("data-empty", box.hidden);
}
