// Entry point of the app's first script: the modules that the lessons and the page of a pass share. Each page adds scripts of its own, and
// what the first screen doesn't need loads later.
import { makeScriptLoader } from "../shell/scriptLoader.js";
import { makeTemplates } from "../shell/templates.js";
import { talkControllerAt } from "../talk/talkController.js";
import { h } from "../dom/element.js";
import { makePlaceholder } from "../dom/placeholder.js";
import { SPEAKER, readStored } from "../lesson/memory.js";

const text = new TextDecoder(),
  templates = makeTemplates();
let loader = /** @type {ReturnType<typeof makeScriptLoader> | null} */ (null);

// Fetches the remaining scripts after the first click or key: a lecture hall's network may be down by the time they are needed.
function prefetchOnceUsed({ prefetch }) {
  const { requestIdleCallback = setTimeout } = window,
    begin = () => {
      for (const each of USES) window.removeEventListener(each, begin, true);
      requestIdleCallback(prefetch);
    };
  for (const each of USES) window.addEventListener(each, begin, true);
}

const USES = ["pointerdown", "keydown"];

/** Returns the function that Streamlit calls on every run. `first` is this script as a module; `others` loaded along with it.
 * @param {URL} site @param {any} first @param {any[]} others */
export default function (site, first, others) {
  if (!loader) {
    loader = makeScriptLoader(site, first);
    prefetchOnceUsed(loader);
  }
  for (const each of others) loader.add(each);
  const { load: loadScript, get: getScript, adoptStyles } = loader,
    controller = talkControllerAt(site, templates, loadScript),
    classBar = host =>
      makeLateClassBar(
        async () => (await loadScript("classes")).makeSpeakerBar(site, templates, host),
        () => sessionStorage,
      ),
    app = { site, templates, controller, loadScript, classBar, shell: first.page };
  return ({ data, parentElement, setTriggerValue }) => {
    const root = parentElement.querySelector(".attnviz");
    adoptStyles(parentElement);
    if (root.classList.contains("outlet")) return getScript("pass").join({ outlet: root });
    const answer = templates.complete(JSON.parse(text.decode(data)));
    return answer.lessons
      ? getScript("lessons").showLessons(root, answer, app, address => setTriggerValue("opened", address))
      : getScript("pass").showPass(root, answer, app, what => setTriggerValue("run", what));
  };
}

/** A class bar as makeClassBar() makes it. Its script loads at once if this tab has a class, else when one is opened; load() resolves to the bar.
 * @param {() => Promise<any>} load @param {() => Storage} storeOf */
export function makeLateClassBar(load, storeOf) {
  const wasSpeaker = readStored(storeOf, SPEAKER) !== null;
  let firstPlace = /** @type {any} */ (null);
  // Where the page was opened to follow another device, its first place is the one that it was led to; the user chose later ones.
  async function loadBar() {
    const made = await load();
    if (firstPlace) made.setPlace(firstPlace);
    return made;
  }
  const bar = makePlaceholder(loadBar, {
    element: h("section", { hidden: true }),
    dialogs: h("div", { hidden: true }),
  });
  if (wasSpeaker) bar.load();
  return {
    get element() {
      return bar.element("element");
    },
    get dialogs() {
      return bar.element("dialogs");
    },
    get isOpen() {
      return bar.part ? bar.part.isOpen : wasSpeaker;
    },
    attachTo: body => bar.call("attachTo", body),
    takeFocus: () => bar.part?.takeFocus(),
    async open() {
      await bar.load();
      await bar.part?.open();
    },
    act: what => bar.part?.act(what),
    sendReport: () => bar.part?.sendReport(),
    setPlace(at) {
      firstPlace ??= at;
      bar.call("setPlace", at);
    },
    end: bar.end,
  };
}
