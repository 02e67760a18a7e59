// The toolbar: one step on or back, play, the views, what to compare with, and the menu of ways out.
import { LABELS } from "../../generated/where.js";
import { ROUTES, hasSheet, isFirst, isOfSheet, isSheet, stepAt } from "../model/state.js";
import { areLettersOn } from "../model/shortcuts.js";
import { SPEEDS } from "../model/route.js";
import { revealsOf } from "../model/address.js";
import {
  afterFrame,
  button,
  choice,
  closingPopover,
  h,
  makeFlash,
  makeMenu,
  makeScroller,
  memoLast,
} from "../dom/element.js";
import { redraw, write } from "../dom/element.js";
import { copyLink } from "../dom/link.js";
import { bytesOf, sizeText } from "./download.js";
import { drawComparison } from "./pairing.js";

const MOST_PAIRS = 6; // the others are folded

// act(name, message) reaches the server.
function makeCompareMenu(act) {
  const opener = button("Compare", null, "at-desk"), // not used from a screen in a room (talk.css)
    panel = makeMenu(opener, "compare", "Compare");
  const choosing = (name, message) => closingPopover(panel, () => act(name, message)),
    item = (text, name, message, className = "") => button(text, choosing(name, message), className);
  const drawPair = ({ id, label }) => item(label, "pair", id),
    drawLikely = pair => {
      const each = drawPair(pair);
      each.prepend(drawComparison(pair.id));
      return each;
    };
  const draw = memoLast(([pairs, isPinned]) => {
    opener.title = areLettersOn() ? "Key C" : "";
    redraw(panel, [
      item("Keep this and change anything", "pin", true, "primary"),
      ...pairs.slice(0, MOST_PAIRS).map(drawLikely),
      pairs.length > MOST_PAIRS &&
        h("details", {}, h("summary", {}, "More comparisons"), pairs.slice(MOST_PAIRS).map(drawPair)),
      ...(isPinned ? [item("Unpin", "unpin", true)] : []),
    ]);
  });
  return { button: opener, panel, update: ({ document: { pairs, other } }) => draw([pairs, other !== null]) };
}

// What takes a pass elsewhere: to other people, onto paper, into a file, a talk or code. report(text) shows what was done.
function makeShareMenu({ openClass, isClass, showCode, isLinked, shell, download, print, collect, talk }, report) {
  const opener = button("Share"),
    panel = makeMenu(opener, "share", "Share"),
    label = h("span"),
    code = makeScroller(h("pre", { role: "group", "aria-label": "The step in NumPy" })),
    numpy = h("details", { class: "numpy" }, h("summary", {}, "In NumPy"), code);
  let link, measured;
  const item = (text, act) => button(text, closingPopover(panel, act), "", { hidden: !act });
  const copy = item("Copy link", isLinked && (async () => report(await copyLink(window, link)))),
    qrCode = item("QR code", isLinked && showCode),
    inClass = item("Open a class: phones follow you", openClass),
    printed = item("Print", !isSandboxed(window) && print), // a sandboxed frame prints nothing
    page = item(label, shell && download),
    collecting = item("Add this moment to my talk", collect),
    opening = item("", talk?.open);
  const items = [copy, qrCode, inClass, printed, page, collecting, opening, numpy];
  panel.addEventListener("beforetoggle", () => write(opening, talk?.label() ?? ""));
  panel.append(...items);
  return {
    button: opener,
    panel,
    update({ document }, lines) {
      link = document.link;
      for (const [each, key] of /** @type {const} */ ([
        [qrCode, "Q"],
        [collecting, "M"],
      ]))
        if (areLettersOn()) each.setAttribute("aria-keyshortcuts", key);
        else each.removeAttribute("aria-keyshortcuts");
      if (shell && measured !== document)
        afterFrame(() => write(label, `Download as a page, ${sizeText(bytesOf(document, shell.bytes, isLinked))}`));
      measured = document;
      inClass.hidden = !openClass || isClass(); // the class has a bar of its own
      numpy.hidden = !lines.length;
      write(code, lines.join("\n"));
      opener.hidden = items.every(each => each.hidden);
    },
  };
}

/** @returns {View} */
export function makeToolbar(play, props) {
  const { startPlay, present, look, isLinked, act, choose } = props;
  const start = button("", () => {
    if (play.isRunning) play.pause();
    else if (play.isUnderWay) play.resume();
    else startPlay();
  });
  const back = button("‹", () => play.step(-1), "", { "aria-label": "One reveal back" }),
    forward = button("›", () => play.step(1), "", { "aria-label": "One reveal on" }),
    speed = drawSpeeds(play),
    views = h("span", { class: "views" }),
    routes = h("span", { class: "routes" }),
    compare = makeCompareMenu(act),
    presenting = button("Present", present),
    status = h("span", { class: "copied", role: "status" }),
    share = makeShareMenu(props, makeFlash(status, 5000)),
    playing = [start, back, forward, speed],
    menus = [compare.button, compare.panel, presenting, share.button, share.panel],
    box = h("div", { class: "toolbar" }, playing, views, routes, menus, status);
  compare.button.hidden = !isLinked;
  const drawRoutes = memoLast(route => redraw(routes, [choice(ROUTES, route, choose, LABELS)]));
  const drawViews = memoLast(([view, unit, isOnSheet]) => {
    const names = { ...(isOnSheet && { sheet: `One ${unit}` }), matrices: `All ${unit}s`, heads: "All heads" },
      now = Object.hasOwn(names, view) ? view : "matrices";
    redraw(views, [choice(Object.keys(names), now, look, names)]);
  });
  /** @type {View["update"]} */
  const update = (pass, where) => {
    const areKeysOn = areLettersOn();
    start.hidden = !revealsOf(pass, where).length && !isSheet(pass, where);
    write(start, play.isRunning ? "❚❚ Pause" : play.isUnderWay ? "▶ Go on" : "▶ Play");
    for (const each of [back, forward, speed]) each.hidden = !play.isRunning && !play.isUnderWay;
    drawViews([where.view, pass.document.words.unit, hasSheet(pass)]);
    drawRoutes(where.route);
    routes.hidden = !where.present || !isOfSheet(pass, where);
    views.hidden = isFirst(pass, where); // which draws the same in all of them
    views.title = areKeysOn ? "Keys W and H" : "";
    write(presenting, where.present ? "Leave" : "Present");
    presenting.title = areKeysOn ? "Key P" : "";
    compare.update(pass);
    share.update(pass, stepAt(pass, where).numpy);
  };
  return { element: box, update };
}

// Whether the page is in a frame that may not affect the page around it, as in a notebook.
const isSandboxed = ({ self, top, origin }) => self !== top && origin === "null";

function drawSpeeds(play) {
  const options = [...SPEEDS.keys()].map(name => h("option", {}, name)),
    speed = h("select", { "aria-label": "Speed" }, options);
  speed.value = play.speed;
  speed.onchange = () => {
    play.speed = speed.value;
  };
  return speed;
}
