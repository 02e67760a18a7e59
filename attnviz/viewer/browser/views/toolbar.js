// The toolbar: one step on or back, play, the views, what to compare with, and the menu of ways out.
import { LABELS } from "../../generated/where.js";
import { ROUTES, hasSheet, isFirst, isOfSheet, isSheet, stepAt } from "../model/state.js";
import { areLettersOn } from "../model/shortcuts.js";
import { SPEEDS } from "../model/route.js";
import { revealsOf } from "../model/address.js";
import { afterFrame, button, choice, h, makeFlash, makePopover, makeScroller, memoLast } from "../dom/element.js";
import { redraw, write } from "../dom/element.js";
import { copyLink } from "../dom/link.js";
import { bytesOf, sizeText } from "./download.js";

// act(name, message) reaches the server.
function makeCompareMenu(act) {
  const opener = button("Compare"),
    panel = makePopover(opener, "compare", "Compare");
  panel.onbeforetoggle = () => {
    const { left, top } = opener.getBoundingClientRect();
    Object.assign(panel.style, { left: `${left}px`, bottom: `${globalThis.innerHeight - top + 6}px` });
  };
  panel.ontoggle = ({ newState }) => {
    if (newState === "open") panel.querySelector("button")?.focus();
  };
  const item = (text, name, message, className = "") => {
    const choose = () => {
      panel.hidePopover();
      act(name, message);
    };
    return button(text, choose, className);
  };
  const draw = memoLast(([pairs, isPinned]) => {
    opener.title = areLettersOn() ? "Key C" : "";
    redraw(panel, [
      item("Pin this pass, then change anything", "pin", true, "primary"),
      ...pairs.map(({ id, label }) => item(label, "pair", id)),
      ...(isPinned ? [item("Unpin", "unpin", true)] : []),
    ]);
  });
  return { button: opener, panel, update: ({ document: { pairs, other } }) => draw([pairs, other !== null]) };
}

/** @returns {View} */
export function makeToolbar(play, props) {
  const { startPlay, present, openClass, isClass, look, showCode, isLinked } = props,
    { shell, download, print, act, choose, collect } = props;
  let link, measured;
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
    status = h("span", { class: "copied", role: "status" });
  const report = makeFlash(status, 5000),
    copy = button("Copy link", async () => report(await copyLink(window, link)));
  const inClass = button("Class", openClass, "", { title: "Phones in the room follow you, and answer your questions" }),
    qrCode = button("QR code", showCode),
    printed = button("Print", print, "", { hidden: isSandboxed(window) }), // from which nothing is printed
    page = button("↓ Page", download, "", {
      title: "Download as a page: one file, which opens without a server",
      hidden: !shell,
    }),
    collecting = button("Add this moment", collect, "", { hidden: !collect });
  for (const each of [copy, qrCode, compare.button]) each.hidden = !isLinked;
  for (const each of [copy, qrCode, compare.button, page, printed, collecting]) each.classList.add("aside"); // not needed in a talk (talk.css)
  for (const each of [compare.button, copy, page, collecting]) each.classList.add("at-desk"); // not used from a screen in a room
  const code = makeScroller(h("pre", { role: "group", "aria-label": "The step in NumPy" })),
    numpy = h("details", { class: "numpy" }, h("summary", {}, "In NumPy"), code),
    playing = [start, back, forward, speed],
    shown = [views, routes, compare.button, compare.panel, presenting],
    shared = [inClass, copy, qrCode, printed, page, collecting],
    box = h("div", { class: "toolbar" }, playing, shown, shared, numpy, status);
  const drawRoutes = memoLast(route => redraw(routes, [choice(ROUTES, route, choose, LABELS)]));
  const drawViews = memoLast(([view, unit]) => {
    const names = { sheet: `One ${unit}`, matrices: `All ${unit}s` };
    redraw(views, [choice(Object.keys(names), view, look, names)]);
  });
  /** @type {View["update"]} */
  const update = (pass, where) => {
    const { numpy: lines } = stepAt(pass, where),
      areKeysOn = areLettersOn();
    link = pass.document.link;
    if (shell && measured !== pass.document) afterFrame(() => nameSize(page, bytesOf(pass.document, shell.bytes)));
    measured = pass.document;
    start.hidden = !revealsOf(pass, where).length && !isSheet(pass, where);
    write(start, play.isRunning ? "❚❚ Pause" : play.isUnderWay ? "▶ Go on" : "▶ Play");
    for (const each of [back, forward, speed]) each.hidden = !play.isRunning && !play.isUnderWay;
    drawViews([where.view, pass.document.words.unit]);
    drawRoutes(where.route);
    routes.hidden = !where.present || !isOfSheet(pass, where);
    views.hidden = !hasSheet(pass) || isFirst(pass, where); // which draws the same in both
    views.title = areKeysOn ? "Key W" : "";
    write(presenting, where.present ? "Leave" : "Present");
    presenting.title = areKeysOn ? "Key P" : "";
    inClass.hidden = !openClass || isClass(); // the class has a bar of its own
    qrCode.title = areKeysOn ? "Key Q" : "";
    collecting.title = `Keeps what you see for a talk of your own${areKeysOn ? ": key M" : ""}`;
    compare.update(pass);
    numpy.hidden = !lines.length;
    write(code, lines.join("\n"));
  };
  return { element: box, update };
}

// Whether the page is in a frame that may not affect the page around it, as in a notebook.
const isSandboxed = ({ self, top, origin }) => self !== top && origin === "null";

function nameSize(page, bytes) {
  write(page, `↓ Page, ${sizeText(bytes)}`);
  page.setAttribute("aria-label", `Download as a page, ${sizeText(bytes)}`);
}

function drawSpeeds(play) {
  const options = [...SPEEDS.keys()].map(name => h("option", {}, name)),
    speed = h("select", { "aria-label": "Speed" }, options);
  speed.value = play.speed;
  speed.onchange = () => {
    play.speed = speed.value;
  };
  return speed;
}
