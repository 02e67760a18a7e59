// The viewer: shows one pass, given as a document, and remembers where one is in it. generated/contract.d.ts says what a
// document holds. Everything a person typed arrives as text and is only ever set as textContent.
import { coloursOf } from "../elements/colour.js";
import { readPass } from "../pass/pass.js";
import { makeTools } from "../picture/tools.js";
import { revealAt, searchAt } from "../scene/address.js";
import { QUESTIONS, focusOf, isOfSheet, isSheet } from "../scene/state.js";
import { lookAt, withPair } from "../scene/looks.js";
import { ticksOf } from "../scene/route.js";
import { makePresenting } from "../scene/present.js";
import { beginnings } from "../sheet/worksheet.js";
import { makeRequestsOnce } from "../shell/templates.js";
import { makeCommands } from "./commands.js";
import { makeDownload } from "./download.js";
import { makeEdge } from "./edge.js";
import { keepingFocus } from "./keepFocus.js";
import { makePrinter } from "./print.js";
import { makePrintDialog } from "./printDialog.js";
import { makeQrCode } from "./qrCode.js";
import { makeStandpoint } from "./standpoint.js";
import { makeToolbar } from "./toolbar.js";
import { makeViews } from "./views.js";

// `host` is where the viewer stands:
//   collect(pass, where), where there is a talk of one's own, keeps what is shown for it
//   send(event, message) reaches the server; alone, where there is none, says so: send says false then
//   type() gives the keyboard to the sentence; example(), where there are settings, takes the next of the example sentences, and says
//   whether there is one
//   address has read(), write(search, isNewPlace) and onArrival(listener)
//   page, where the viewer can be downloaded, has the bytes and the shell() of a page for it
//   desk(lead, changed, isPresented), where a class can be opened, makes what its speaker has
// `left` is what an earlier viewer's end() gave: one begins where it was left. Returns {show(document), end()}.
/** @param {HTMLElement} root @param {Host} host */
export function mount(root, host, left = null) {
  let byHowMuch = false;
  const render = () => keepingFocus(root, draw),
    standpoint = makeStandpoint(host.address, left, { render, tell: tellClass }),
    { now, go, through, play } = standpoint;

  function draw() {
    const { pass, where, part } = now(),
      { name, lines, isShown } = revealAt(pass, where, part);
    const colours = coloursOf(root, pass.document.palette); // asked before anything is changed, as it costs least then
    const lookAlone = { ...lookAt(pass, where, byHowMuch), reveal: name, lines, shown: isShown, colours };
    const look = withPair(lookAlone, pass, where, (other, there) => revealAt(other, there, part).isShown);
    root.dataset.reveal = name;
    root.classList.toggle("of-one-word", isSheet(pass, where));
    root.classList.toggle("asking", where.ask !== QUESTIONS[0]);
    presenting.show(where.present);
    views.update(pass, where, look);
  }
  function tellClass() {
    const { pass, where } = now();
    desk?.shows({
      at: searchAt(pass, { ...where, present: false }, host.address.read()).slice(1),
      pass,
      selected: () => ({ pass: now().pass, focus: focusOf(now().pass, now().where) }),
    });
  }

  const errands = makeRequestsOnce(host.alone ? () => {} : host.send);
  const send = (event, message) => {
    const isSent = host.send(event, message) !== false;
    if (!isSent) render(); // what was typed is the number of the pass again
    return isSent;
  };
  // A talk of a model that writes begins with nothing written. That is one step of the history: Back shows what was there.
  const begin = () => {
    standpoint.willPresent();
    return send("sentence", "");
  };
  const tools = makeTools({
    go,
    through,
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
        standpoint.lead,
        () => {
          if (!now().pass) return;
          desk.takeFocus(); // from what opened it, which is hidden then: arrow keys lead the class
          render();
        },
        () => now().where?.present,
      ) ?? null,
    edge = makeEdge(),
    follow = makeCommands(host, { now, go, send, begin, edge }),
    code = makeQrCode(window, !host.alone, desk?.open),
    presenting = makePresenting(document, root, follow, code);
  const printer = makePrinter(window, root, now),
    printDialog = makePrintDialog(printer.print),
    download = makeDownload(host, now);
  const toolbar = makeToolbar(play, {
    startPlay: () => play.start(ticksOf(now().pass, now().where)),
    present: () => follow("present"),
    openClass: desk?.open,
    isClass: () => desk?.isOpen,
    look: view => go({ view, reveal: null }),
    showCode: code.open,
    isLinked: !host.alone,
    shell: host.page,
    collect: host.collect && (() => follow("moment")),
    download: download.start,
    print: () => {
      const { pass, where } = now();
      if (isOfSheet(pass, where)) printDialog.open(beginnings(pass, where));
      else printer.print();
    },
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
    if (target === root && now().pass) render();
  };
  const forget = host.address.onArrival(() => {
    errands.forget();
    standpoint.follow();
  });

  return {
    show: document => {
      const pass = readPass(document);
      errands.answered(pass);
      standpoint.show(pass);
      download.arrived();
    },
    end: () => {
      play.end();
      for (const each of [views, presenting, printer, desk]) each?.end();
      forget();
      const chosen = standpoint.left();
      return chosen && { ...chosen, isNew: views.isNew() }; // the welcome stays where Streamlit draws the viewer anew
    },
  };
}
