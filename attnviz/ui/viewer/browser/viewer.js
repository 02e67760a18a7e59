// The viewer: shows one pass, given as a document, and remembers where one is in it. document.schema.json says what a
// document holds. Everything a person typed arrives as text and is only ever set as textContent.
import { readPlace, searchAt } from "./address.js";
import { makeAnnouncer } from "./announcer.js";
import { coloursOf } from "./colour.js";
import { element } from "./element.js";
import { makeErrands } from "./errand.js";
import { makeHeads } from "./heads.js";
import { later } from "./later.js";
import { makeLesson } from "./lesson.js";
import { lookAt } from "./looks.js";
import { makeMap } from "./map.js";
import { makePanel } from "./panel.js";
import { readPass } from "./pass.js";
import { makePicture } from "./picture.js";
import { makePlay, ticksOf } from "./play.js";
import { listenToPrinter } from "./print.js";
import { destinationOf, makePresenting } from "./present.js";
import { momentAt, momentsOf } from "./reveal.js";
import { atStep, carried, fitted } from "./state.js";
import { makeStatus } from "./status.js";
import { makeThread } from "./thread.js";
import { makeToolbar } from "./toolbar.js";
import { makeTools } from "./tools.js";
import { makeTraining } from "./training.js";
import { makeWay } from "./way.js";
import { makeWholePass } from "./wholepass.js";

// `host` is where the viewer stands: send(event, message) reaches the server; address has read(), write(search,
// isNewPlace) and onArrival(listener). `left` is what an earlier viewer's end() gave: one begins where it was left.
// Returns {show(document), end()}.
export function mount(root, host, left = null) {
  let pass = null, where = null, part = null, byHowMuch = false;

  const render = () => {
    const { name, lines, isShown } = momentAt(pass, where, part);
    const colours = coloursOf(root, pass.document.palette); // asked before anything is changed, as it costs least then
    const look = { ...lookAt(pass, where, byHowMuch), moment: name, lines, shown: isShown, colours };
    root.dataset.moment = name;
    root.classList.toggle("presenting", where.present);
    presenting.show(where.present);
    for (const view of views) view.update(pass, where, look);
  };
  const here = () => pass && { document: pass.document, where };
  const arrive = (place) => {
    const there = fitted(pass, place);
    where = { ...there, reveal: there.reveal < momentsOf(pass, there).length ? there.reveal : null };
  };
  const go = (parts, isPlaying = false) => {
    if (!isPlaying) {
      play.end();
      part = null;
    }
    const { step } = where;
    arrive({ ...where, ...(parts.step && parts.step !== step ? atStep(where, parts.step) : {}), ...parts });
    if (!isPlaying) write(where.step !== step);
    render();
  };
  const write = (isNewPlace) => host.address.write(searchAt(pass, where, host.address.read()), isNewPlace);
  const follow = (command) => {
    const parts = pass && destinationOf(pass, where, command);
    if (parts) go(parts);
    return Boolean(parts);
  };
  const play = makePlay((tick) => {
    part = tick.part;
    go({ reveal: tick.reveal }, true);
  }, () => {
    if (!play.isRunning) write(false);
    render();
  });
  const errands = makeErrands(host.send);
  const tools = makeTools({
    go,
    errands,
    send: host.send,
    now: () => ({ pass, where }),
    show: (is) => {
      byHowMuch = is;
      render();
    },
  });
  const presenting = makePresenting(document, follow);
  const toolbar = makeToolbar(play, { startPlay: () => play.start(ticksOf(pass, where)), present: () => follow("present") });
  const map = makeMap(tools), way = makeWay(map.element, (by) => follow(by > 0 ? "on" : "back"));
  const thread = makeThread(tools), lesson = makeLesson(), picture = makePicture(tools), wholePass = makeWholePass(tools);
  const training = makeTraining(tools), status = makeStatus(tools), heads = makeHeads(tools), panel = makePanel(tools);
  const announcer = makeAnnouncer(() => play.isRunning || training.isRunning);
  const columns = element("div", "columns"), main = element("div", "main"), foot = element("div", "foot");
  foot.append(toolbar.element, status.element);
  main.append(...[thread, lesson, picture, wholePass].map((view) => view.element), foot);
  panel.element.prepend(heads.element);
  columns.append(main, panel.element);
  root.replaceChildren(way.element, training.element, columns, announcer.element);
  const views = [way, map, training, thread, lesson, heads, panel, toolbar, picture, wholePass, status, announcer]; // large boxes get what is left
  const endPrinting = listenToPrinter(window, root, () => ({ pass, where }));
  root.ontransitionend = ({ target }) => { // another theme (frame.css)
    if (target === root && pass) render();
  };
  const forget = host.address.onArrival(() => {
    play.end();
    part = null;
    errands.forget();
    arrive(readPlace(pass, host.address.read()));
    render();
  });

  return {
    show: (document) => {
      const known = here() ?? left;
      pass = readPass(document);
      errands.answered(pass);
      arrive(known?.document.arrival === document.arrival ? carried(known, document) : document.where);
      later(() => write(false)); // what could not be read in it is mended, and what a late run has written of it
      render();
    },
    end: () => {
      play.end();
      training.end();
      presenting.end();
      endPrinting();
      forget();
      return here();
    },
  };
}
