// The first of the app's scripts: what the lessons and the page of a pass share. Their own come with it, and those that a first answer can do
// without come late.
import { makeLate } from "../shell/late.js";
import { makeTemplates } from "../shell/templates.js";
import { talkControllerAt } from "../talk/talkController.js";
import { h } from "../dom/element.js";
import { makePlaceholder } from "../dom/placeholder.js";
import { SPEAKER, readStored } from "../lesson/memory.js";

const text = new TextDecoder(),
  templates = makeTemplates();
let late = /** @type {ReturnType<typeof makeLate> | null} */ (null);

// The rest of the scripts, for whoever stays: a lecture hall's network may be gone when they are needed.
function prefetchOnceUsed({ prefetch }) {
  const { requestIdleCallback = setTimeout } = window,
    begin = () => {
      for (const each of USES) window.removeEventListener(each, begin, true);
      requestIdleCallback(prefetch);
    };
  for (const each of USES) window.addEventListener(each, begin, true);
}

const USES = ["pointerdown", "keydown"];

/** Returns what Streamlit calls on every run. `first` is this script as a module, `others` are those that came with it.
 * @param {URL} site @param {any} first @param {any[]} others */
export default function (site, first, others) {
  if (!late) {
    late = makeLate(site, first);
    prefetchOnceUsed(late);
  }
  for (const each of others) late.add(each);
  const shared = late,
    controller = talkControllerAt(site, templates, shared),
    classBar = host =>
      makeLateClassBar(
        async () => (await shared("classes")).makeSpeakerBar(site, templates, host),
        () => sessionStorage,
      ),
    app = { site, templates, controller, late: shared, classBar, shell: first.page };
  return ({ data, parentElement, setTriggerValue }) => {
    const root = parentElement.querySelector(".attnviz");
    shared.adoptStyles(parentElement);
    if (root.classList.contains("outlet")) return shared.get("pass").join({ outlet: root });
    const answer = templates.complete(JSON.parse(text.decode(data)));
    return answer.lessons
      ? shared.get("lessons").showLessons(root, answer, app, address => setTriggerValue("opened", address))
      : shared.get("pass").showPass(root, answer, app, what => setTriggerValue("run", what));
  };
}

/** A class bar as makeClassBar() makes it, whose script comes with load(): at once if this browser's tab has a class, else as one is opened.
 * @param {() => Promise<any>} load @param {() => Storage} storeOf */
export function makeLateClassBar(load, storeOf) {
  const wasSpeaker = readStored(storeOf, SPEAKER) !== null;
  let firstPlace = /** @type {any} */ (null);
  // The bar is told the first place, too: a page opened to follow another device has been led there, but not to where its user has gone since.
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
