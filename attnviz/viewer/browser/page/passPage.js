// Entry point of the page of a pass in the app: connects it to the server, and keeps its state while Streamlit reruns.
import { addressOf } from "../shell/history.js";
import { makeServer, postTo } from "../shell/server.js";
import { cleanupIfGone } from "../shell/streamlit.js";
import { currentFile, sendFile } from "../shell/upload.js";
import { mountPage } from "./page.js";

let mounted = /** @type {{ page?: any, outlet?: any }} */ ({}); // the outlet is an element elsewhere on Streamlit's page

// Puts the page's view into its outlet once both exist. Streamlit draws them by separate calls, in either order.
export function join(part) {
  mounted = { ...mounted, ...part };
  if (mounted.page && mounted.outlet) mounted.page.attachTo(mounted.outlet);
}

const pages = new WeakMap(); // root -> its page
// These outlive a page, so that unsent actions still reach the server and the viewer keeps its position.
let server = /** @type {ReturnType<typeof makeServer> | null} */ (null),
  savedView = null,
  tab = ""; // the server's name for this browser tab

/** run(what) reruns the page. `app` is as in component.js. */
export function showPass(root, answer, { site, templates, controller, shell, classBar }, run) {
  controller.setOpenLessons(() => run("lessons"));
  tab = answer.tab;
  const host = () => ({
    address: addressOf(window),
    server: serverAt(site, templates),
    classBar,
    run,
    talk: { ...controller.dock, collect: (pass, where) => controller.collect(pass, where, tab) },
    versions: controller.versions,
    page: shell && {
      bytes: shell.bytes,
      shell: async () => readShell((await import(new URL(shell.path, site).href)).shell),
    },
  });
  const shown = pages.get(root) ?? mountPage(root, host(), savedView);
  pages.set(root, shown);
  if (answer.view === "pass") {
    shown.attachTo(root);
    controller.attachTo(root);
  } else join({ page: shown });
  shown.update(answer);
  controller.restoreUploads(answer).then(areRestored => {
    if (areRestored) serverAt(site, templates).act("nothing", true);
    else if (answer.lacksFile) resendFile(answer, site, templates);
  });
  return cleanupIfGone(root, () => {
    if (pages.delete(root)) savedView = shown.end();
  });
}

// Sends the user's file again to a server process that lacks it, and then requests the scene.
async function resendFile({ tab: newTab }, site, templates) {
  const file = currentFile(window),
    isWanted = () => currentFile(window) === file && file?.tab === newTab;
  if (!file || file.tab === newTab) return;
  file.tab = newTab; // once
  if (await sendFile(new URL("arrays", site), newTab, file, isWanted)) serverAt(site, templates).act("nothing", true);
}

// The empty page that a downloaded viewer goes into. Parsed but never shown, so its scripts don't run.
const readShell = html => new DOMParser().parseFromString(html, "text/html");

function serverAt(site, templates) {
  if (!server) {
    const address = addressOf(window);
    server = makeServer({ post: postTo(new URL("actions", site), templates), look: address.read });
    address.onNavigate(server.forget);
  }
  return server;
}
