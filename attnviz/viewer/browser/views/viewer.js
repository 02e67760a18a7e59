// The viewer of one pass: its state (what is selected and shown), kept in sync with the views, the keyboard and the address.
import { readPass } from "../model/pass.js";
import { hasView, isOfSamePass, readWhere, revealAt, revealsOf, searchAt } from "../model/address.js";
import {
  QUESTIONS,
  atHeads,
  atStep,
  carried,
  fitted,
  focusOf,
  isHeads,
  isOfSheet,
  isSheet,
  withAnswerOfRow,
} from "../model/state.js";
import { lookAt, withPair } from "../model/looks.js";
import { isWritten, makePlay, nextRequest, ticksOf } from "../model/route.js";
import { destinationOf, makePresenting } from "../model/present.js";
import { coloursOf } from "../dom/colour.js";
import { afterFrame, h, makeFlash, onceSettled } from "../dom/element.js";
import { makeRequestsOnce } from "../shell/templates.js";
import { keepFocusNearby, makeTools } from "./tools.js";
import { isNarrowFrame } from "./oneWordPhone.js";
import { makeDownload } from "./download.js";
import { hasSeed, makePrintDialog, makePrinter, worksheetStarts } from "./print.js";
import { makeQrCode } from "./qrCode.js";
import { makeToolbar } from "./toolbar.js";
import { makeViews } from "./views.js";

const NOTICES = { on: "This is the last reveal. Home begins again, Esc leaves.", back: "This is the first reveal." };
const SHOWN_MS = 4000;

function makeEndNotice() {
  const line = h("p", { class: "edge", role: "status" });
  const show = makeFlash(line, SHOWN_MS);
  return { element: line, show: command => show(NOTICES[command]) };
}

// now() is null before there is a pass; begin() begins a talk of a model that writes, left() ends it; `endNotice` says that there is nothing
// further. Returns follow(command), which returns whether it did something.
function makeCommands(host, { now, go, send, begin, left, endNotice }) {
  const ofServer = (command, { pass, where }) => {
    if (command === "present" && isWritten(pass, where)) return begin;
    if (command === "compare") return () => send(pass.other ? "unpin" : "pin", true);
    const act = command === "on" ? nextRequest(pass, where) : null;
    return act && (() => send(...act));
  };
  return command => {
    const { pass, where } = now();
    if (!pass) return false;
    const act = host.alone ? null : ofServer(command, { pass, where });
    if (act) return act();
    if (command === "compare") return false;
    if (command === "moment") return host.talk?.collect(pass, where) ?? false;
    if (command === "example") return host.example?.() ?? false;
    const parts = destinationOf(pass, where, command),
      isOver = !parts && where.present && (command === "on" || command === "back");
    if (parts) go(parts);
    if (where.present && parts?.present === false) left();
    if (isOver) endNotice.show(command);
    return Boolean(parts) || isOver;
  };
}

const SETTLED_MS = 200; // a held key would write the address more often than browsers allow (Safari: 100 times in 30 s)

// `saved` is the state of an earlier viewer, which end() returns; render() draws the current state, sendToClass() sends it to the class.
// Of now() {pass, where, part} the last is how far Play is in a reveal.
function makeStandpoint(address, saved, { render, sendToClass }) {
  let pass = /** @type {any} */ (null), // a Pass, but for the start
    where = /** @type {any} */ (null),
    part = null,
    chosen = saved; // the last chosen {document, where}: while a sentence is typed, the selected words may be missing for a moment
  const setWhere = target => {
    const at = fitted(pass, target);
    where = { ...at, reveal: Number(at.reveal) < revealsOf(pass, at).length ? at.reveal : null };
  };
  const choose = target => {
    setWhere(target);
    chosen = { document: pass.document, where };
  };
  // A frame too narrow for the digits of all words begins with those of one.
  const inFrame = position =>
    isNarrowFrame(window) && !hasView(address.read()) ? { ...position, view: "sheet" } : position;
  const write = isNewPlace => {
    address.write(searchAt(pass, where, address.read()), isNewPlace);
    sendToClass();
  };
  const settled = onceSettled(() => write(false), SETTLED_MS);
  const stop = () => {
    play.end();
    part = null;
  };
  const goTo = parts => {
    const entered = parts.step && parts.step !== where.step ? atStep(pass, where, parts.step) : {};
    choose(withAnswerOfRow({ pass, where }, pass, { ...where, ...entered, ...parts }));
  };
  const play = makePlay(
    tick => {
      part = tick.part;
      goTo({ step: tick.step ?? where.step, reveal: tick.reveal });
      sendToClass();
      render();
    },
    () => {
      if (!play.isRunning) write(false);
      render();
    },
  );
  return {
    now: () => ({ pass, where, part }),
    play,
    go(parts) {
      const { step, view } = where,
        ofHeads = (/** @type {string} */ name) => name === "heads";
      settled.now();
      stop();
      goTo(parts);
      write(where.step !== step || ofHeads(where.view) !== ofHeads(view)); // Back leads from a head to all of them
      render();
    },
    // Changes where for a moment: the address and the class follow once it has settled.
    preview(parts) {
      stop();
      goTo(parts);
      render();
      settled.soon();
    },
    // Follows another device of the speaker, if its address is in this pass.
    lead(at) {
      if (!isOfSamePass(`?${at}`, address.read())) return false;
      stop();
      choose({ ...readWhere(pass, `?${at}`), present: where.present });
      write(false);
      render();
      return true;
    },
    willPresent() {
      chosen = { document: pass.document, where: { ...where, ...destinationOf(pass, where, "present") } };
    },
    show(next) {
      const before = pass && { pass, where };
      pass = next;
      const { document } = pass;
      if (chosen?.document.arrival === document.arrival) {
        const at = fitted(pass, carried(chosen, document));
        setWhere(before ? withAnswerOfRow(before, pass, at) : at);
      } else choose(inFrame(document.where));
      afterFrame(() => write(false)); // corrects what could not be read in the address, and what a late run wrote
      render();
    },
    follow() {
      settled.drop();
      stop();
      choose(inFrame(readWhere(pass, address.read())));
      render();
      sendToClass();
    },
    end: () => {
      settled.drop(); // the address may be another page's already
      return chosen;
    },
  };
}

/** Mounts the viewer. `host` is the page around it:
 *   send(event, message): sends an action to the server; returns false on a page without one, where `alone` is the notice that explains it
 *   address: read(), write(search, isNewPlace), onNavigate(listener)
 *   type(): focuses the sentence's text box; example(), with settings: shows the next example sentence, and returns whether there is one
 *   talk: {collect(pass, where), open(), label()} of the user's talk: adds what is shown, opens it, labels the button that does
 *   versions(pass, where, n), with a server: resolves to n documents of it with other seeds
 *   page, if the viewer can be downloaded: the bytes and the shell() of a page for it
 *   classBar(host), if a class can be opened: makes the speaker's bar; its host is as in makeClassBar
 * `saved` is what an earlier viewer's end() returned. Returns {show(document), end()}.
 * @param {HTMLElement} root @param {Host} host @param {any} saved */
export function mount(root, host, saved = null) {
  let showsChange = false;
  const render = () => keepFocusNearby(root, draw),
    standpoint = makeStandpoint(host.address, saved, { render, sendToClass }),
    { now, go, preview, play } = standpoint;
  function draw() {
    const { pass, where, part } = now(),
      { name, lines, isShown } = revealAt(pass, where, part);
    const colours = coloursOf(root); // asked before anything is changed, as it costs least then
    const lookAlone = { ...lookAt(pass, where, { showsChange }), reveal: name, lines, shown: isShown, colours };
    const look = withPair(lookAlone, pass, where, (other, there) => revealAt(other, there, part).isShown);
    root.dataset.reveal = name;
    root.classList.toggle("of-one-word", isSheet(pass, where));
    root.classList.toggle("of-heads", isHeads(pass, where));
    root.classList.toggle("asking", where.ask !== QUESTIONS[0]);
    presenting.show(where.present);
    views.update(pass, where, look);
  }
  function sendToClass() {
    const { pass, where } = now();
    classBar?.setPlace({
      at: searchAt(pass, { ...where, present: false }, host.address.read()).slice(1),
      pass,
      selected: () => ({ pass: now().pass, focus: focusOf(now().pass, now().where) }),
    });
  }
  const requests = makeRequestsOnce(host.alone ? () => {} : host.send);
  const send = (event, message) => {
    const isSent = host.send(event, message) !== false;
    if (!isSent) render(); // what was typed is the number of the pass again
    return isSent;
  };
  // A talk of a model that writes begins with nothing written. That is one step of the history: Back shows what was there.
  let hasBegun = false;
  const begin = () => {
    hasBegun = true;
    standpoint.willPresent();
    return send("anew", true);
  };
  // A translation, which its English still gives, is whole again after a talk that began so.
  const left = () => {
    const { next, words } = now().pass.document;
    if (hasBegun && !words.shared && next && !next.ends && !next.isFull) send("whole", true);
    hasBegun = false;
  };
  const tools = makeTools({
    go,
    preview,
    requests,
    send,
    alone: host.alone,
    now,
    show: is => {
      showsChange = is;
      render();
    },
  });
  const classBar =
      host.classBar?.({
        lead: standpoint.lead,
        changed() {
          if (!now().pass) return;
          classBar.takeFocus(); // from what opened it, which is hidden then: arrow keys lead the class
          render();
        },
        isPresented: () => now().where?.present,
        turn(what) {
          if (now().pass && what !== "answers") follow(what === "back" ? "back" : "on");
        },
      }) ?? null,
    endNotice = makeEndNotice(),
    follow = makeCommands(host, { now, go, send, begin, left, endNotice }),
    code = makeQrCode(window, !host.alone, classBar?.open),
    presenting = makePresenting(document, root, follow, code);
  const printer = makePrinter(window, root, now),
    { versions: makeVersions } = host,
    versions = makeVersions && (async n => (await makeVersions(now().pass, now().where, n)).map(readPass)),
    printDialog = makePrintDialog(printer.print, versions),
    download = makeDownload(host, now);
  const toolbar = makeToolbar(play, {
    startPlay: () => play.start(ticksOf(now().pass, now().where)),
    present: () => follow("present"),
    openClass: classBar?.open,
    isClass: () => classBar?.isOpen,
    look: view => go(view === "heads" ? atHeads(now().pass, now().where) : { view, reveal: null }),
    showCode: code.open,
    isLinked: !host.alone,
    shell: host.page,
    collect: host.talk && (() => follow("moment")),
    talk: host.talk,
    download: download.start,
    print: () => {
      const { pass, where } = now();
      if (isOfSheet(pass, where)) printDialog.open(worksheetStarts(pass, where), hasSeed(pass));
      else printer.print();
    },
    act: send,
    choose: route => go({ route }),
  });
  const views = makeViews(root, tools, {
    endNotice,
    toolbar,
    code,
    classBar,
    printDialog,
    follow,
    enter: ({ event, value }) => {
      send(event, value);
      host.type();
    },
    isPlaying: () => play.isRunning,
    isNew: saved?.isNew,
  });
  root.ontransitionend = ({ target }) => target === root && now().pass && render(); // another theme (frame.css)
  const forget = host.address.onNavigate(() => {
    requests.forget();
    standpoint.follow();
  });
  return {
    show: document => {
      const pass = readPass(document);
      requests.answered(pass);
      standpoint.show(pass);
      download.passLoaded();
    },
    end: () => {
      play.end();
      for (const each of [views, presenting, printer, classBar]) each?.end();
      forget();
      const chosen = standpoint.end();
      return chosen && { ...chosen, isNew: views.isNew() }; // the welcome stays where Streamlit draws the viewer anew
    },
  };
}
