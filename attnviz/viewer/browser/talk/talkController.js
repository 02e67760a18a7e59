// The user's talk in the app: stored in this browser, available on every page that can add to it, and the way back to it in mid-talk. Its UI
// (talkDock.js) loads when it is first used.
import { readStored, writeStored } from "../lesson/memory.js";
import { ID, searchOf } from "../lesson/course.js";
import { button, h, makeListeners } from "../dom/element.js";
import { spelledOut } from "../dom/link.js";
import { NOTHING, entryOf, filesOf, isTalk, makeTalkRequests, makeTalkUploads } from "./talkFiles.js";
import { searchAt } from "../model/address.js";
import { addressOf } from "../shell/history.js";
import { fetchJson } from "../shell/request.js";

const NAME = "attnviz talk";
const MOST_UNDONE = 50;

// Holds the user's talk, stores it in this browser and undoes changes. `storeOf()` returns a Storage or throws; without one the
// talk lasts until the page is left. Changes in other tabs arrive as `window`'s storage events.
export function makeTalkStore(storeOf, window) {
  let { talk, pictures, before } = readTalk(storeOf),
    isKept = true,
    lastChange = /** @type {string | null} */ (null); // typing into one box is one change
  const { add: onChange, call: notify } = makeListeners();
  const keep = () => {
    isKept =
      writeStored(storeOf, NAME, { talk, pictures, before: before.slice(-1) }) ||
      writeStored(storeOf, NAME, { talk, pictures: {}, before: [] }); // takes less space
  };
  const set = next => {
    talk = next;
    keep();
    notify();
  };
  window.addEventListener("storage", ({ key }) => {
    if (key !== NAME) return;
    ({ talk, pictures, before } = readTalk(storeOf));
    isKept = true;
    notify();
  });
  return {
    get isKept() {
      return isKept;
    },
    get talk() {
      return talk;
    },
    // All moments, with those that Undo could bring back.
    get moments() {
      return [talk, ...before].flatMap(({ moment }) => moment);
    },
    get canUndo() {
      return before.length > 0;
    },
    change(next, what = null) {
      if (what === null || what !== lastChange) before = [...before, talk].slice(-MOST_UNDONE);
      lastChange = what;
      set(next);
    },
    undo() {
      lastChange = null;
      if (before.length) set(before.pop());
    },
    pictureOf: at => pictures[at],
    keepPicture(at, picture) {
      const addresses = new Set([at, ...talk.moment.map(each => each.at)]),
        all = Object.entries({ ...pictures, [at]: picture });
      pictures = Object.fromEntries(all.filter(([address]) => addresses.has(address)));
      const wasKept = isKept;
      keep();
      if (isKept !== wasKept) notify();
    },
    onChange,
  };
}

function readTalk(storeOf) {
  const { talk, pictures, before } = readStored(storeOf, NAME) ?? {};
  if (!isTalk(talk)) return { talk: NOTHING, pictures: {}, before: [] };
  return { talk, pictures: pictures ?? {}, before: [before].flat().filter(isTalk) };
}

// The address of the shown scene in the walkthrough.
function shownAt(pass, where) {
  const { search } = new URL(spelledOut(window.location.href, pass.document.link));
  return searchAt(pass, { ...where, present: false, reveal: null }, search).slice(1);
}

const UNDER_WAY = "attnviz talk under way"; // {here, next, from, what}: addresses (`from` is where the talk was started) and what to do on arrival
const SHARED = "attnviz talk numbers"; // {names, tab}: the uploads of the moment that is open in the walkthrough, and the tab that has them
const UPLOADED = /own-(parameters|microgpt|code)/; // in an address
let controller = /** @type {ReturnType<typeof makeController> | null} */ (null);

// loadScript(name) is load() of shell/scriptLoader.js.
export function talkControllerAt(site, templates, loadScript) {
  controller ??= makeController(site, templates, loadScript);
  return controller;
}

const withCount = n => (n ? ` (${n})` : "");

function makeController(site, templates, loadScript) {
  const leave = () => {
    keep({});
    draw();
  };
  const onward = button("Back to the talk", () => goOn("here")),
    way = h("div", { class: "viewer talk-goes-on" }, onward, button("Leave it", leave));
  onward.title = "Page Down goes on with it, Page Up comes back to where you were";
  let home = /** @type {any} */ (null), // the parent of `way`
    openLessons = () => {}, // opens the page of lessons from here
    lessons = /** @type {any} */ (null), // the mounted page of lessons
    openScene = /** @type {any} */ (null), // opens a scene in the walkthrough
    dock = /** @type {any} */ (null); // once it is there
  const talkStore = makeTalkStore(() => localStorage, window),
    uploads = makeTalkUploads(indexedDB),
    requests = makeTalkRequests(site, templates, uploads);
  uploads.retain(filesOf(talkStore.moments));
  const dockHost = {
    site,
    give(position, what = "") {
      if (lessons) {
        lessons.go(position);
        lessons[what]?.();
        return;
      }
      const from = position.present ? window.location.search.slice(1) : null;
      keep({ here: searchOf(position), next: null, from, what });
      openLessons();
    },
    open(moment) {
      shareUploads(moment);
      if (openScene) openScene(moment.at);
      else window.location.assign(new URL(`walkthrough?${moment.at}`, site));
    },
  };
  async function loadDock() {
    const { makeTalkDock } = await loadScript("talk");
    dock ??= makeTalkDock(talkStore, requests, dockHost);
    dock.attachTo(home);
    return dock;
  }
  const inDock =
      act =>
      async (...args) =>
        (await loadDock())[act](...args),
    openDock = inDock("open"),
    label = () => `Your talk${withCount(talkStore.talk.moment.length)}`,
    momentAt = ({ moment }) => talkStore.talk.moment[moment - 1];
  const draw = () => {
    if (lessons !== null || !readResume().here) way.remove();
    else if (way.parentNode !== home) home.append(way);
  };
  function goOn(which) {
    const { here, next, from } = readResume();
    keep({ here: (which === "next" && next) || here, next: null, from });
    openLessons();
  }
  const onKey = event => {
    if (!way.isConnected || !["PageDown", "PageUp"].includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    goOn(event.key === "PageDown" ? "next" : "here");
  };
  window.addEventListener("keydown", onKey, true);
  return {
    dock: { open: openDock, label },
    // Adds the scene on screen as a moment. `tab` is the tab of its pass.
    collect(pass, where, tab) {
      const at = shownAt(pass, where),
        hasUploads = UPLOADED.test(decodeURIComponent(at));
      loadScript("talk").then(async ({ thumbnailOf, headingOf }) => {
        const picture = thumbnailOf(pass, where),
          title = headingOf(pass, where);
        (await loadDock()).collect({ at, picture, title }, hasUploads ? tab : null);
      });
      return true;
    },
    // The documents of what is shown with other seeds, for versions of a worksheet.
    async versions(pass, where, n) {
      const asked = { kind: "versions", at: shownAt(pass, where), n },
        { documents } = await fetchJson(new URL("talk", site), asked);
      return documents.map(templates.completeDocument);
    },
    // Sends a tab the uploads of the moment that it shows, if it lacks them. Resolves to whether it did.
    async restoreUploads({ tab, lacksFile }) {
      const { names = [], tab: last = null } = read(SHARED);
      if (!names.length || (last === tab && !lacksFile)) return false;
      write(SHARED, { names, tab });
      try {
        await requests.sendUploads(tab, names);
        return true;
      } catch {
        return false; // the walkthrough reports that they are missing
      }
    },
    setOpenLessons(open) {
      openLessons = open;
      lessons = null;
      openScene = null;
    },
    attachTo(root) {
      home = root;
      dock?.attachTo(root);
      draw();
    },
    lessonsHost: open => ({
      talk: {
        open: openDock,
        label,
        collectFrom: inDock("collectFrom"),
        startFrom: inDock("startFrom"),
        entry: () => entryOf(talkStore.talk),
        momentAt,
        nameOf: position => requests.nameOf(momentAt(position)),
        imageAt: async position => requests.image(momentAt(position)?.slide?.image ?? ""),
        fetchMoment: position => requests.moment(momentAt(position)),
        questions: form => requests.questionsFileOf(talkStore.talk, form),
        onChange: talkStore.onChange,
      },
      resumeSearch: () => readResume().here ?? "",
      shareUploads: ({ lesson, moment }) => shareUploads(lesson === ID ? talkStore.talk.moment[moment - 1] : {}),
      pause: (position, next) => keep({ ...readResume(), here: searchOf(position), next: next && searchOf(next) }),
      onLeave() {
        const { from } = readResume();
        keep({});
        if (from) open(from);
      },
    }),
    // Called once the page of lessons is mounted. Opens the talk of a link, if there is one.
    async lessonsMounted(page, open) {
      lessons = page;
      openScene = open;
      const { from, what } = readResume();
      keep({ from });
      page[what]?.();
      if (!window.location.hash.startsWith("#talk=")) return;
      const { hash } = window.location;
      addressOf(window).dropHash();
      if (await (await loadDock()).openLink(hash)) page.go({ lesson: ID, moment: 1, present: false });
    },
  };
}

const read = name => readStored(() => sessionStorage, name) ?? {};
// Without session storage a talk starts and ends on the page where it is shown.
const write = (name, parts) => writeStored(() => sessionStorage, name, parts);

// Notes which uploads the walkthrough needs for a moment.
const shareUploads = ({ uploads = [] }) => write(SHARED, { names: uploads });
const readResume = () => read(UNDER_WAY);
const keep = parts => write(UNDER_WAY, parts);
