// The viewer: shows one pass, given as a document, and remembers where one is in it. generated/contract.d.ts says what a
// document holds. Everything a person typed arrives as text and is only ever set as textContent.
import { afterFrame } from "../elements/afterFrame.js";
import { coloursOf } from "../elements/colour.js";
import { isNarrowFrame } from "../elements/narrow.js";
import { readPass } from "../pass/pass.js";
import { makeTools } from "../picture/tools.js";
import { hasView, isOfSamePass, readPlace, searchAt } from "../scene/address.js";
import { isOfSheet, isSheet } from "../scene/bands.js";
import { lookAt, withPair } from "../scene/looks.js";
import { makePlay, ticksOf } from "../scene/play.js";
import { destinationOf, makePresenting } from "../scene/present.js";
import { revealAt, revealsOf } from "../scene/reveal.js";
import { atStep, carried, fitted, focusOf, QUESTIONS } from "../scene/state.js";
import { beginnings } from "../sheet/worksheet.js";
import { makeRequestsOnce } from "../talk/requestOnce.js";
import { makeCommands } from "./commands.js";
import { makeDownload } from "./download.js";
import { makeEdge } from "./edge.js";
import { keepingFocus } from "./keepFocus.js";
import { makePrinter } from "./print.js";
import { makePrintDialog } from "./printDialog.js";
import { makeQrCode } from "./qrCode.js";
import { makeToolbar } from "./toolbar.js";
import { makeViews } from "./views.js";

// `host` is where the viewer stands: collect(pass, where), where there is a talk of one's own, keeps what is shown for it; send(event, message) reaches the server; type() gives the keyboard to the sentence; example(),
// where there are settings, takes the next of the example sentences, and says whether there is one;
// address has read(), write(search, isNewPlace) and onArrival(listener);
// page, where the viewer can be downloaded, has the bytes and the shell() of a page for it; alone, where there is no server, says
// so: send says false then. desk(lead, changed, isPresented), where a class can be opened, makes what its speaker has. `left` is what an earlier viewer's end() gave: one begins where it was left.
// Returns {show(document), end()}.
/** @param {HTMLElement} root @param {Host} host */
export function mount(root, host, left = null) {
  let pass = /** @type {Pass} */ (null),
    where = /** @type {Where} */ (null);
  let part = null,
    byHowMuch = false;
  let chosen = left; // where somebody went last, in which document: what is typed on the way to other words may lack those picked
  const now = () => ({ pass, where }),
    here = () => ({ document: pass.document, where });

  const draw = () => {
    const { name, lines, isShown } = revealAt(pass, where, part);
    const colours = coloursOf(root, pass.document.palette); // asked before anything is changed, as it costs least then
    const lookAlone = { ...lookAt(pass, where, byHowMuch), reveal: name, lines, shown: isShown, colours };
    const look = withPair(lookAlone, pass, where, (other, there) => revealAt(other, there, part).isShown);
    root.dataset.reveal = name;
    root.classList.toggle("presenting", where.present);
    root.classList.toggle("of-one-word", isSheet(pass, where));
    root.classList.toggle("asking", where.ask !== QUESTIONS[0]);
    presenting.show(where.present);
    views.update(pass, where, look);
  };
  const render = () => keepingFocus(root, draw);

  const arrive = place => {
    const at = fitted(pass, place);
    where = { ...at, reveal: at.reveal < revealsOf(pass, at).length ? at.reveal : null };
  };
  // A frame too narrow for the digits of all words begins with those of one.
  const inFrame = place =>
    isNarrowFrame(window) && !hasView(host.address.read()) ? { ...place, view: "sheet" } : place;
  const write = isNewPlace => {
    host.address.write(searchAt(pass, where, host.address.read()), isNewPlace);
    tellClass();
  };
  const tellClass = () =>
    desk?.shows({
      at: searchAt(pass, { ...where, present: false }, host.address.read()).slice(1),
      pass,
      selected: () => ({ pass, focus: focusOf(pass, where) }),
    });
  // Goes where another device of the speaker's has led the class, where that is in this pass.
  const lead = at => {
    const { present } = where,
      search = host.address.read();
    if (!isOfSamePass(`?${at}`, search)) return false;
    stop();
    arrive({ ...readPlace(pass, `?${at}`), present });
    chosen = here();
    write(false);
    render();
    return true;
  };
  const stop = () => {
    play.end();
    part = null;
  };
  const go = (parts, isPlaying = false) => {
    if (!isPlaying) stop();
    const { step } = where;
    arrive({ ...where, ...(parts.step && parts.step !== step ? atStep(pass, where, parts.step) : {}), ...parts });
    chosen = here();
    if (isPlaying) tellClass();
    else write(where.step !== step);
    render();
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
  // A talk of a model that writes begins with nothing written. That is one step of the history: Back shows what was there.
  const begin = () => {
    chosen = { ...here(), where: { ...where, ...destinationOf(pass, where, "present") } };
    return send("sentence", "");
  };
  const tools = makeTools({
    go,
    errands,
    send,
    alone: host.alone,
    now,
    show: is => {
      byHowMuch = is;
      render();
    },
  });

  const desk =
      host.desk?.(
        lead,
        () => {
          if (!pass) return;
          desk.takeFocus(); // from what opened it, which is hidden then: arrow keys lead the class
          render();
        },
        () => where?.present,
      ) ?? null,
    edge = makeEdge(),
    follow = makeCommands(host, { now, go, send, begin, edge }),
    code = makeQrCode(window, !host.alone, desk?.open),
    presenting = makePresenting(document, root, follow, code);
  const printer = makePrinter(window, root, now),
    printDialog = makePrintDialog(printer.print),
    download = makeDownload(host, now);
  const toolbar = makeToolbar(play, {
    startPlay: () => play.start(ticksOf(pass, where)),
    present: () => follow("present"),
    openClass: desk?.open,
    isClass: () => desk?.isOpen,
    look: view => go({ view, reveal: null }),
    showCode: code.open,
    isLinked: !host.alone,
    shell: host.page,
    collect: host.collect && (() => follow("moment")),
    download: download.start,
    print: () => (isOfSheet(pass, where) ? printDialog.open(beginnings(pass, where)) : printer.print()),
    act: send,
    choose: route => go({ route }),
  });
  const views = makeViews(root, tools, {
    edge,
    toolbar,
    code,
    desk,
    printDialog,
    follow,
    enter: ({ event, value }) => {
      send(event, value);
      host.type();
    },
    isPlaying: () => play.isRunning,
    isNew: left?.isNew,
  });
  root.ontransitionend = ({ target }) => {
    // another theme (frame.css)
    if (target === root && pass) render();
  };
  const forget = host.address.onArrival(() => {
    stop();
    errands.forget();
    arrive(inFrame(readPlace(pass, host.address.read())));
    chosen = here();
    render();
    tellClass();
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
      download.arrived();
    },
    end: () => {
      play.end();
      for (const each of [views, presenting, printer]) each.end();
      desk?.end();
      forget();
      return chosen && { ...chosen, isNew: views.isNew() }; // the welcome stays where Streamlit draws the viewer anew
    },
  };
}
