// The main component, which Streamlit calls on every run: the page with its settings and view, lessons and classes.
import { makeClassBar } from "../classroom/classBar.js";
import { makeSpeaker } from "../classroom/classSpeaker.js";
import { addressOf } from "../shell/history.js";
import { momentsFrom, questionsFrom, searchOf } from "../lesson/course.js";
import { mountLessons } from "../lesson/lessons.js";
import { talkControllerAt } from "../talk/talkController.js";
import { openFor, openTalk } from "./classLinks.js";
import { mountPage } from "./page.js";
import { cleanupIfGone } from "../shell/streamlit.js";
import { makeClassLine, makeServer, postTo } from "../shell/server.js";
import { currentFile, sendFile } from "../shell/upload.js";
import { makeTemplates } from "../shell/templates.js";

let pair = /** @type {{ page?: any, outlet?: any }} */ ({}); // the outlet is an element elsewhere on Streamlit's page

// Puts the page's view into its outlet once both exist. Streamlit draws them by separate calls, in either order.
export function join(part) {
  pair = { ...pair, ...part };
  if (pair.page && pair.outlet) pair.page.standIn(pair.outlet);
}

const text = new TextDecoder(),
  templates = makeTemplates(),
  pages = new WeakMap(); // root -> its page
// These outlast a page: unsent actions still reach the server, and the viewer's position is kept.
let server = /** @type {ReturnType<typeof makeServer> | null} */ (null),
  savedView = null,
  tab = "", // the server's name for this browser tab
  speaker = /** @type {ReturnType<typeof makeSpeaker> | null} */ (null); // of a class

export default function ({ data, parentElement, setTriggerValue }, site, page) {
  const root = parentElement.querySelector(".attnviz");
  if (root.classList.contains("outlet")) return join({ outlet: root });
  const answer = templates.complete(JSON.parse(text.decode(data))),
    controller = talkControllerAt(site, templates);
  if (answer.lessons) return showLessons(root, answer, site, controller, address => setTriggerValue("opened", address));
  controller.openLessonsBy(() => setTriggerValue("run", "lessons"));
  tab = answer.tab;
  const host = () => ({
    address: addressOf(window),
    server: serverAt(site),
    classBar: classBarAt(site),
    run: what => setTriggerValue("run", what),
    talk: { ...controller.dock, collect: (pass, where) => controller.collect(pass, where, tab) },
    versions: controller.versions,
    page: page && {
      bytes: page.bytes,
      shell: async () => readShell((await import(new URL(page.path, site).href)).shell),
    },
  });
  const shown = pages.get(root) ?? mountPage(root, host(), savedView);
  pages.set(root, shown);
  if (answer.view === "pass") {
    shown.standIn(root);
    controller.standIn(root);
  } else join({ page: shown });
  shown.update(answer);
  controller.restoreUploads(answer).then(areRestored => {
    if (areRestored) serverAt(site).act("nothing", true);
    else if (answer.lacksFile) resendFile(answer, site);
  });
  return cleanupIfGone(root, () => {
    if (pages.delete(root)) savedView = shown.end();
  });
}

// The page of lessons. It fetches moments from the server one by one and sends nothing.
function showLessons(root, course, site, controller, open) {
  const talkHost = controller.lessonsHost(open);
  const host = {
    ...talkHost,
    address: addressOf(window),
    fetchMoment: momentsFrom(site, templates),
    has: () => true,
    opensSentences: true,
    hrefTo: searchOf,
    open(address, position) {
      talkHost.shareUploads(position);
      open(address);
      return true;
    },
    hrefOf: address => String(new URL(`walkthrough${address && `?${address}`}`, site)),
    hrefOfPage: name => String(new URL(name, site)),
    questions: questionsFrom(site),
    store: () => localStorage,
    classBar: classBarAt(site),
    isLinked: true,
  };
  const begin = () => {
    const page = mountLessons(root, course, host);
    controller.mounted(page, open);
    return page;
  };
  const shown = pages.get(root) ?? begin();
  pages.set(root, shown);
  controller.standIn(root);
  return cleanupIfGone(root, () => {
    if (pages.delete(root)) shown.end();
  });
}

function speakerAt(site) {
  speaker ??= makeSpeaker(makeClassLine(site, templates), () => sessionStorage);
  return speaker;
}

// Returns a function that makes the bar of a class's speaker for a page.
const classBarAt = site => host => {
  const mySpeaker = speakerAt(site),
    open = at => openFor(site, mySpeaker, mySpeaker.now.number, at, host.isPresented());
  return makeClassBar(mySpeaker, site, { ...host, open, openTalk: () => openTalk(site, mySpeaker) });
};

// Sends the user's file again to a server process that lacks it, and then requests the scene.
async function resendFile({ tab: newTab }, site) {
  const file = currentFile(window),
    isWanted = () => currentFile(window) === file && file?.tab === newTab;
  if (!file || file.tab === newTab) return;
  file.tab = newTab; // once
  if (await sendFile(new URL("arrays", site), newTab, file, isWanted)) serverAt(site).act("nothing", true);
}

// The empty page that a downloaded viewer goes into. Parsed but never shown, so its scripts don't run.
const readShell = html => new DOMParser().parseFromString(html, "text/html");

function serverAt(site) {
  if (!server) {
    const address = addressOf(window);
    server = makeServer({ post: postTo(new URL("actions", site), templates), look: address.read });
    address.onArrival(server.forget);
  }
  return server;
}
