// The viewer: shows one pass, given as a document, and remembers where one is in it. generated/contract.d.ts says what a
// document holds. Everything a person typed arrives as text and is only ever set as textContent.
import { hasView, readPlace, searchAt } from "../scene/address.js";
import { isNarrowFrame } from "../elements/narrow.js";
import { makeBrush } from "../picture/brush.js";
import { makeAnnouncer } from "./announcer.js";
import { coloursOf } from "../elements/colour.js";
import { element } from "../elements/element.js";
import { fileName, filled, headsMissing, saveFile } from "./download.js";
import { makeQrCode } from "./qrCode.js";
import { makeRequestsOnce } from "../talk/requestOnce.js";
import { makeEdge } from "./edge.js";
import { makeHeads } from "../map/heads.js";
import { afterFrame } from "../elements/afterFrame.js";
import { keepingFocus } from "./keepFocus.js";
import { makeStepText } from "../words/stepText.js";
import { lookAt, withPair } from "../scene/looks.js";
import { makeGlossary } from "../words/glossary.js";
import { makeMap } from "../map/map.js";
import { makeOffer } from "../words/offer.js";
import { makeNextLetter } from "../words/nextLetter.js";
import { makePairing } from "../words/pairing.js";
import { makePanel } from "../panel/panel.js";
import { readPass } from "../pass/pass.js";
import { makePicture } from "../picture/picture.js";
import { makePlay, ticksOf } from "../scene/play.js";
import { makePrinter } from "./print.js";
import { makePrintDialog } from "./printDialog.js";
import { destinationOf, makePresenting } from "../scene/present.js";
import { isOfSheet, isSheet } from "../scene/bands.js";
import { revealAt, revealsOf } from "../scene/reveal.js";
import { askedOnward, isWritten } from "../scene/route.js";
import { atStep, carried, fitted, QUESTIONS } from "../scene/state.js";
import { makeSheet } from "../sheet/sheet.js";
import { beginnings } from "../sheet/worksheet.js";
import { makeStatus } from "./status.js";
import { makeThread } from "../words/thread.js";
import { makeToolbar } from "./toolbar.js";
import { makeTools } from "../picture/tools.js";
import { makeTraining } from "../training/training.js";
import { makeStepButtons } from "../map/stepButtons.js";
import { makeWholePass } from "../map/wholepass.js";

// `host` is where the viewer stands: send(event, message) reaches the server; type() gives the keyboard to the sentence; example(),
// where there are settings, takes the next of the example sentences, and says whether there is one;
// address has read(), write(search, isNewPlace) and onArrival(listener);
// page, where the viewer can be downloaded, has the bytes and the shell() of a page for it; alone, where there is no server, says
// so: send says false then. `left` is what an earlier viewer's end() gave: one begins where it was left.
// Returns {show(document), end()}.
/** @param {HTMLElement} root @param {Host} host */
export function mount(root, host, left = null) {
  let pass = /** @type {Pass} */ (null),
    where = /** @type {Where} */ (null);
  let part = null,
    byHowMuch = false;
  let isWanted = false; // whether the page is downloaded as soon as all heads are here
  let chosen = left; // where somebody went last, in which document: what is typed on the way to other words may lack those picked

  const render = () => keepingFocus(root, draw);
  const draw = () => {
    const { name, lines, isShown } = revealAt(pass, where, part);
    const colours = coloursOf(root, pass.document.palette); // asked before anything is changed, as it costs least then
    const own = { ...lookAt(pass, where, byHowMuch), reveal: name, lines, shown: isShown, colours };
    const look = withPair(own, pass, where, (other, there) => revealAt(other, there, part).isShown);
    root.dataset.reveal = name;
    root.classList.toggle("presenting", where.present);
    root.classList.toggle("of-one-word", isSheet(pass, where));
    root.classList.toggle("asking", where.ask !== QUESTIONS[0]);
    presenting.show(where.present);
    for (const view of views) view.update(pass, where, look);
  };
  const here = () => ({ document: pass.document, where });
  const arrive = place => {
    const there = fitted(pass, place);
    where = { ...there, reveal: there.reveal < revealsOf(pass, there).length ? there.reveal : null };
  };
  // A frame too narrow for the digits of all words begins with those of one.
  const inFrame = place =>
    isNarrowFrame(window) && !hasView(host.address.read()) ? { ...place, view: "sheet" } : place;
  const go = (parts, isPlaying = false) => {
    if (!isPlaying) {
      play.end();
      part = null;
    }
    const { step } = where;
    arrive({ ...where, ...(parts.step && parts.step !== step ? atStep(pass, where, parts.step) : {}), ...parts });
    chosen = here();
    if (!isPlaying) write(where.step !== step);
    render();
  };
  const write = isNewPlace => host.address.write(searchAt(pass, where, host.address.read()), isNewPlace);
  const follow = command => {
    if (pass && command === "present" && !host.alone && isWritten(pass, where)) return writeAgain();
    if (pass && command === "compare") return host.alone ? false : send(pass.beside ? "unpin" : "pin", true);
    const asked = pass && command === "on" && !host.alone ? askedOnward(pass, where) : null;
    if (asked) return send(asked[0], asked[1]);
    if (pass && command === "example") return host.example?.() ?? false;
    const parts = pass && destinationOf(pass, where, command),
      isOver = pass && !parts && where.present && (command === "on" || command === "back");
    if (parts) go(parts);
    if (isOver) edge.say(command);
    return Boolean(parts) || isOver;
  };
  // A talk of a model that writes begins with nothing written. That is one step of the history: Back shows what was there.
  const writeAgain = () => {
    chosen = { ...here(), where: { ...where, ...destinationOf(pass, where, "present") } };
    return send("sentence", "");
  };
  const play = makePlay(
    tick => {
      part = tick.part;
      go({ step: tick.step ?? where.step, reveal: tick.reveal }, true);
    },
    () => {
      if (!play.isRunning) write(false);
      render();
    },
  );
  const errands = makeRequestsOnce(host.alone ? () => {} : host.send);
  const send = (event, message) => {
    const isSent = host.send(event, message) !== false;
    if (!isSent) render(); // what was typed is the number of the pass again
    return isSent;
  };
  const save = async () => {
    const { document } = pass,
      there = where;
    isWanted = false;
    saveFile(filled(await host.page.shell(), document, there), fileName(document));
  };
  const download = () => {
    const missing = headsMissing(pass.document);
    isWanted = !host.alone && missing.length > 0;
    if (isWanted) host.send("need", missing);
    else save();
  };
  const tools = makeTools({
    go,
    errands,
    send,
    alone: host.alone,
    now: () => ({ pass, where }),
    show: is => {
      byHowMuch = is;
      render();
    },
  });
  const enter = ({ event, value }) => {
    send(event, value);
    host.type();
  };
  const code = makeQrCode(window, !host.alone),
    presenting = makePresenting(document, root, follow, code);
  const printer = makePrinter(window, root, () => ({ pass, where })),
    printDialog = makePrintDialog(printer.print);
  const print = () => (isOfSheet(pass, where) ? printDialog.open(beginnings(pass, where)) : printer.print());
  const toolbar = makeToolbar(play, {
    startPlay: () => play.start(ticksOf(pass, where)),
    present: () => follow("present"),
    look: view => go({ view, reveal: null }),
    showCode: code.open,
    isLinked: !host.alone,
    shell: host.page,
    download,
    print,
    act: send,
    choose: route => go({ route }),
  });
  const map = makeMap(tools),
    way = makeStepButtons(map.element, tools, by => follow(by > 0 ? "on" : "back"));
  const nextLetter = makeNextLetter(tools),
    offer = makeOffer(tools),
    pairing = makePairing(tools),
    thread = makeThread(tools),
    stepText = makeStepText(enter, left?.isNew),
    brush = makeBrush(tools),
    picture = makePicture(tools, brush),
    wholePass = makeWholePass(tools);
  const sheet = makeSheet(tools),
    training = makeTraining(tools),
    status = makeStatus(tools),
    heads = makeHeads(tools),
    panel = makePanel(tools);
  const glossary = makeGlossary(root),
    edge = makeEdge(),
    announcer = makeAnnouncer(() => play.isRunning || training.isRunning || nextLetter.isRunning);
  const columns = element("div", "columns"),
    main = element("div", "main"),
    foot = element("div", "foot");
  foot.append(toolbar.element, status.element);
  main.append(
    ...[pairing, thread, stepText, nextLetter, offer, brush, sheet, picture, wholePass].map(view => view.element),
    foot,
  );
  panel.element.prepend(heads.element);
  columns.append(main, panel.element);
  root.replaceChildren(
    way.element,
    training.element,
    columns,
    announcer.element,
    edge.element,
    glossary.element,
    code.element,
    printDialog.element,
  );
  const views = [
    way,
    map,
    training,
    offer,
    pairing,
    nextLetter,
    thread,
    stepText,
    heads,
    panel,
    toolbar,
    brush,
    sheet,
    picture,
    wholePass,
    status,
    announcer,
    code,
    { update: thread.connect },
    glossary,
  ]; // large boxes get what is left; arcs ask where all stands
  root.ontransitionend = ({ target }) => {
    // another theme (frame.css)
    if (target === root && pass) render();
  };
  const forget = host.address.onArrival(() => {
    play.end();
    part = null;
    errands.forget();
    arrive(inFrame(readPlace(pass, host.address.read())));
    chosen = here();
    render();
  });

  return {
    show: document => {
      pass = readPass(document);
      errands.answered(pass);
      if (chosen?.document.arrival === document.arrival) arrive(carried(chosen, document));
      else {
        arrive(inFrame(document.where));
        chosen = here();
      }
      afterFrame(() => write(false)); // what could not be read in it is mended, and what a late run has written of it
      render();
      if (isWanted) save();
    },
    end: () => {
      play.end();
      training.end();
      nextLetter.end();
      presenting.end();
      glossary.end();
      printer.end();
      forget();
      return chosen && { ...chosen, isNew: stepText.isNew }; // the welcome stays where Streamlit draws the viewer anew
    },
  };
}
